"""Pictures and recordings of a table: detection, the resulting table, and messages about the others."""

from __future__ import annotations

import base64
import hashlib
import io
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from plcore import LabelTable, Roles, TableError, read_cells, suggest_roles
from plcore.tables.media import files as media_files
from plcore.tables.media.cells import check_media
from plcore.tables.media.file_tree import Archive, MediaError
from plcore.tables.media.files import MediaFiles, audio_ending, is_kept_name, read_image
from plcore.tables.media.images import describe
from plcore.tables.media.kept_names import read_kept_names
from tests.conftest import ROOT
from tests.plcore.tables.zips import WAV, birds, contents, make_zip, picture


def opened(files: dict[str, bytes]) -> tuple[LabelTable, Roles, MediaFiles]:
    """The table of a zip with guessed roles."""
    archive = Archive(make_zip(files))
    cells = read_cells(archive.table(archive.table_names[0]))
    found = MediaFiles(archive)
    roles = suggest_roles(cells, files=True)
    return LabelTable.from_cells(cells, roles, found), roles, found


def kept(data: bytes, ending: str = "png") -> str:
    return f"{hashlib.sha256(data).hexdigest()}.{ending}"


def said(csv: bytes, **files: bytes) -> str:
    with pytest.raises(TableError) as caught:
        opened(birds(**files) | {"birds.csv": csv})
    return str(caught.value)


def test_zip_becomes_a_table_that_names_files_by_content() -> None:
    table, roles, files = opened(birds())
    assert (roles.image, roles.image_features, roles.id) == ("image", True, None)
    assert list(table.media.images) == [kept(picture(1)), kept(picture(2)), ""]
    assert table.media.kept_names() == {kept(picture(1)), kept(picture(2))}
    assert contents(files, kept(picture(2))) == picture(2)
    assert list(table.cells["image"]) == ["a.png", "pictures/b.png", ""]  # the text stays


def test_pictures_are_features_and_a_missing_one_gets_the_mean() -> None:
    table, _, _ = opened(birds())
    features = table.features().fit(table)
    X = features.transform(table)
    looks = [describe(Image.open(io.BytesIO(picture(seed)))) for seed in (1, 2)]
    np.testing.assert_array_equal(X[:2], np.array(looks, dtype=np.float64))
    np.testing.assert_allclose(X[2], (X[0] + X[1]) / 2)
    np.testing.assert_allclose(np.linalg.norm(X[:2], axis=1), 1, rtol=1e-6)
    assert len(features.feature_names_) == features.n_features_ == X.shape[1] == 192
    first = table.features().fit(table, np.array([0])).transform(table)
    np.testing.assert_allclose(first[2], first[0])  # the mean of the training rows, no others


def test_pictures_add_to_numbers_categories_and_words() -> None:
    csv = b"candidates,image,w,kind,note\na|b,a.png,1,x,one two\nb,pictures/b.png,3,y,two three\na,,2,x,four\n"
    archive = Archive(make_zip(birds() | {"birds.csv": csv}))
    cells, files = read_cells(csv), MediaFiles(archive)
    roles = Roles(candidates="candidates", image="image", image_features=True, numbers=("w",), categories=("kind",))
    table = LabelTable.from_cells(cells, roles, files)
    X = table.features().fit(table).transform(table)
    assert isinstance(X, np.ndarray)
    assert X.shape == (3, 1 + 2 + 192)
    np.testing.assert_allclose(X[:, 0], [0, 1, 0.5])
    worded = LabelTable.from_cells(cells, replace(roles, numbers=(), text="note"), files)
    both = worded.features().fit(worded)
    dense = both.transform(worded)
    assert isinstance(dense, np.ndarray)
    assert dense.shape == (3, len(both.feature_names_))
    assert {"note: one", "note: two", "note: three", "note: four"} <= set(both.feature_names_[194:])
    assert both.blocks_ == ((slice(2, 194), False), (slice(194, both.n_features_), True))
    looks = dense[:, 2:194] / np.linalg.norm(dense[0, 2:194])
    np.testing.assert_allclose(looks, X[:, 3:], rtol=1e-6, atol=1e-9)
    without = LabelTable.from_cells(cells, replace(roles, image_features=False), files)
    assert without.media.looks is None
    assert without.features().fit(without).transform(without).shape == (3, 3)


def test_suggested_roles_learn_from_images() -> None:
    measured = suggest_roles(read_cells(b"candidates,image,w\na|b,a.png,1\nb,b.png,2\n"), files=True)
    assert (measured.image_features, measured.numbers) == (True, ("w",))
    alone = suggest_roles(read_cells(b"candidates,image\na|b,a.png\nb,B.JPG\n"), files=True)
    assert (alone.image, alone.image_features) == ("image", True)
    no_files = suggest_roles(read_cells(b"candidates,image\na|b,a.png\nb,b.png\n"))
    assert (no_files.image, no_files.image_features) == (None, False)
    sound = suggest_roles(read_cells(b"candidates,song,w\na|b,a.wav,1\nb,,2\n"), files=True)
    assert (sound.audio, sound.image) == ("song", None)


def test_pictures_in_cells_can_be_features() -> None:
    url = "data:image/png;base64," + base64.b64encode(picture(1)).decode()
    csv = f'candidates,image\na|b,"{url}"\nb,\n'.encode()
    table = LabelTable.read_csv(csv)
    assert table.roles.image_features
    assert table.media.images is None
    np.testing.assert_array_equal(table.media.looks[0], describe(Image.open(io.BytesIO(picture(1)))))
    broken = csv.replace(b"iVBORw0KGgo", b"iVBORw0KGgx")
    with pytest.raises(TableError, match=r"Row 1 .*column 'image'.* not an image"):
        LabelTable.read_csv(broken)


def test_stored_table_keeps_names_and_descriptors_but_not_files(tmp_path: Path) -> None:
    table, _, _ = opened(birds(**{"birds.csv": b"candidates,image,call\na|b,a.png,x.wav\nb,,\n", "x.wav": WAV}))
    digest = table.write_named(tmp_path)
    again = LabelTable.read(tmp_path / f"{digest}.parquet")
    assert list(again.media.images) == list(table.media.images) == [kept(picture(1)), ""]
    assert list(again.media.audio) == [kept(WAV, "wav"), ""]
    np.testing.assert_array_equal(again.media.looks, table.media.looks)
    assert again.media.files is None
    assert again.roles == table.roles
    assert again.write(tmp_path / "again.parquet") == digest
    assert read_kept_names(tmp_path / f"{digest}.parquet") == table.media.kept_names()
    for array in (again.media.images, again.media.looks):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    plain = LabelTable.read_csv(b"candidates,w\na|b,1\nb,2\n")
    plain.write(tmp_path / "plain.parquet")
    assert read_kept_names(tmp_path / "plain.parquet") == frozenset()
    assert LabelTable.read(tmp_path / "plain.parquet").media.images is None


def test_invalid_files_are_refused_with_row_column_and_fix() -> None:
    csv = b"candidates,image\na|b,none.png\nb,text.png\na,../z.png\na,bomb.png\nb,cut.png\na,a.png\n"
    text = said(csv, **{"text.png": b"no image", "bomb.png": declared(60_000, 60_000), "cut.png": picture(1)[:-40]})
    lines = text.splitlines()
    assert len(lines) == 4
    assert "The same holds in 1 other row: row 5 (line 6)" in lines[1]
    for line, row, words in zip(
        lines,
        range(1, 5),
        ("no file 'none.png'", "not an image that can be read", "dots alone", "at most 50 million"),
        strict=True,
    ):
        assert line.startswith(f"Row {row} (line {row + 1}), column 'image': ")
        assert words in line
        assert "Fix: " in line


def declared(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it is this large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(8000, 7000), (10_000, 10_000), (100_000, 100_000)])
def test_pictures_that_declare_too_many_pixels_are_not_decoded(size: tuple[int, int]) -> None:
    with pytest.raises(MediaError, match="at most 50 million"):
        read_image(declared(*size))


@pytest.mark.parametrize(("kind", "ending"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif")])
def test_stored_picture_gets_the_ending_of_its_format(kind: str, ending: str) -> None:
    data = picture(3, kind)
    table, _, _ = opened(birds(**{"a.png": data}))
    assert table.media.images[0] == kept(data, ending)


def test_multi_picture_photograph_is_read_as_jpeg() -> None:
    ramp, out = np.tile(np.arange(0, 256, 4, dtype=np.uint8), (64, 1)), io.BytesIO()
    views = [Image.fromarray(ramp), Image.fromarray(ramp.T.copy())]
    views[0].save(out, "MPO", save_all=True, append_images=views[1:])
    assert Image.open(io.BytesIO(out.getvalue())).format == "MPO"
    ending, look = read_image(out.getvalue())
    assert ending == "jpg"
    near, far = (np.linalg.norm(look - describe(view)) for view in views)
    assert near < far / 3


def test_photograph_taken_sideways_is_described_upright() -> None:
    upright = Image.new("L", (80, 60))
    upright.paste(255, (0, 0, 80, 20))
    out = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown turned by a quarter, clockwise
    upright.rotate(90, expand=True).save(out, "PNG", exif=exif)
    np.testing.assert_allclose(read_image(out.getvalue())[1], describe(upright), atol=1e-6)


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "PPM", "ICO", "PDF", "JPEG2000"])
def test_unsupported_picture_formats_are_refused(kind: str) -> None:
    with pytest.raises(MediaError, match="not an image"):
        read_image(picture(3, kind, (16, 16)))


def test_svg_drawings_are_refused() -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    assert "not an image" in said(b"candidates,image\na|b,x.png\nb,a.png\n", **{"x.png": svg})


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (WAV, "wav"),
        (b"ID3\x04rest", "mp3"),
        (b"\xff\xfb\x90\x00", "mp3"),
        (b"\xff\xf3\x90\x00", "mp3"),
        (b"OggS\x00", "ogg"),
        (b"fLaC\x00", "flac"),
        (b"\0\0\0\x20ftypM4A \0", "m4a"),
    ],
)
def test_recordings_are_recognised_by_their_first_bytes(data: bytes, ending: str) -> None:
    assert audio_ending(data) == ending


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"RIFF\0\0\0\0AVI ", b"<html>", b"\xff\xd8\xff\xe0", b"\0\0\0\x20ftypavif"]
)
def test_unsupported_sound_formats_are_refused(data: bytes) -> None:
    with pytest.raises(MediaError, match="not a recording"):
        audio_ending(data)


def test_recordings_require_a_zip() -> None:
    roles = Roles(candidates="candidates", audio="song", numbers=("w",))
    with pytest.raises(TableError, match=r"Row 1 .*column 'song'.*Import a zip"):
        LabelTable.from_cells(read_cells(b"candidates,song,w\na|b,a.wav,1\nb,,2\n"), roles)
    missing = said(b"candidates,song,w\na|b,a.wav,1\nb,,2\n")
    assert "column 'song': the zip contains no file 'a.wav'" in missing


def test_picture_names_without_a_zip_are_reported() -> None:
    roles = Roles(candidates="candidates", image="image", numbers=("w",))
    with pytest.raises(TableError, match=r"If it names a file: import a zip"):
        LabelTable.from_cells(read_cells(b"candidates,image,w\na|b,a.png,1\nb,,2\n"), roles)


def test_column_without_pictures_is_refused_as_a_feature() -> None:
    roles = Roles(candidates="candidates", image="image", image_features=True)
    with pytest.raises(TableError, match="every cell is empty"):
        LabelTable.from_cells(read_cells(b"candidates,image\na|b,\nb,\n"), roles)
    with pytest.raises(TableError, match="no column of images"):
        LabelTable.from_cells(read_cells(b"candidates,image\na|b,\nb,\n"), replace(roles, image=None))


def test_checking_stops_after_many_invalid_files(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(media_files, "read_image", lambda data: looked.append(1) or read_image(data))
    rows = "".join(f"a|b,{n}.png\n" for n in range(200))
    csv = f"candidates,image\n{rows}".encode()
    text = said(csv, **{f"{n}.png": b"no" for n in range(200)})
    assert len(text.splitlines()) == 2
    assert "The same holds in at least 49 other" in text
    assert len(looked) == 50


def test_files_are_checked_once_with_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(media_files, "read_image", lambda data: looked.append(1) or read_image(data))
    rows = "".join(f"a|b,{n}.png\n" for n in range(120)) * 2
    csv = f"candidates,image\n{rows}b,\n".encode()
    files = MediaFiles(Archive(make_zip({"t.csv": csv} | {f"{n}.png": picture(n) for n in range(120)})))
    cells = read_cells(csv)
    roles = suggest_roles(cells, files=True)
    told: list[float] = []
    check_media(files, cells, roles, told.append)
    assert told == [0, 50 / 120, 100 / 120]
    LabelTable.from_cells(cells, roles, files)
    LabelTable.from_cells(cells, roles, files)
    assert len(looked) == 120


@pytest.mark.parametrize(
    "name",
    ["", "a.png", "../x.png", "0" * 64, "0" * 64 + ".svg", "0" * 64 + ".png\n", "A" * 64 + ".png", "0" * 63 + "/.png"],
)  # fmt: skip
def test_other_names_are_not_stored_names(name: str) -> None:
    assert not is_kept_name(name)


def test_stored_names_are_recognised() -> None:
    assert is_kept_name(kept(b"x"))
    assert is_kept_name(kept(b"x", "m4a"))


GOOD = {kind: picture(7, kind, (20, 20)) for kind in ("PNG", "JPEG", "WEBP", "GIF")}


@given(
    st.sampled_from(sorted(GOOD)),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=5),
    st.integers(0, 10_000),
)
def test_damaged_pictures_are_read_or_refused_with_a_message(
    kind: str, changes: list[tuple[int, int]], length: int
) -> None:
    data = bytearray(GOOD[kind])
    for place, value in changes:
        data[place % len(data)] = value
    with suppress(MediaError):
        ending, look = read_image(bytes(data[: max(20, length)]))
        assert ending in media_files.CONTENT_TYPES
        assert np.isfinite(look).all()


def test_large_image_needs_little_more_memory_than_its_pixels(tmp_path: Path) -> None:
    side = 4000  # 16 million points of four bytes
    Image.new("RGBA", (side, side), (10, 200, 30, 120)).save(tmp_path / "large.png", compress_level=1)
    measure = (
        "import resource, sys; from pathlib import Path; from plcore.tables.media.files import read_image\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); read_image(Path(sys.argv[1]).read_bytes()); print(peak() - before)"
    )
    command = [sys.executable, "-c", measure, str(tmp_path / "large.png")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 1.6 * 4 * side * side  # kilobytes
