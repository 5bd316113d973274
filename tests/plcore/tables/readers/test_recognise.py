"""Formats are recognised by their bytes: each in every compression, and everything else refused with a message."""

from __future__ import annotations

import gzip
import io
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable
from plcore.tables.problems import TableError
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import gunzip, read_table
from tests.plcore.tables.readers.cases import refused
from tests.plcore.tables.readers.test_excel import workbook
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET, KALEIDOSCOPE, RAVEN
from tests.plcore.tables.zips import CSV, birds, forged, make_zip, picture

gzipped = partial(gzip.compress, mtime=0)  # the same bytes every time: they name the tests
FRAME = pd.DataFrame({"id": ["a", "b"], "label": ["wren", "robin|é"]})


def npz() -> bytes:
    out = io.BytesIO()
    np.savez(out, X=np.eye(3)[:2], S=np.eye(3)[:2])
    return out.getvalue()


def files() -> dict[str, tuple[bytes, str]]:
    """A file of each format by its name, with the format's name in words."""
    return {
        "a.csv": (FRAME.to_csv(index=False).encode(), "CSV"),
        "a.tsv": (FRAME.to_csv(index=False, sep="\t").encode("utf-16"), "CSV"),
        "a.json": (FRAME.to_json(orient="records").encode(), "JSON"),
        "a.jsonl": (FRAME.to_json(orient="records", lines=True).encode(), "JSON Lines"),
        "a.parquet": (FRAME.to_parquet(), "Parquet"),
        "a.xlsx": (workbook({"S": [list(FRAME.columns), *FRAME.to_numpy().tolist()]}), "workbook, sheet 'S'"),
    }


@pytest.mark.parametrize("name", files())
def test_format_is_found_by_its_bytes_in_every_compression(name: str, tmp_path: Path) -> None:
    data, words = files()[name]
    (tmp_path / name).write_bytes(data)
    readings = {
        words: [read_table(data), read_table(data, "x"), read_table(tmp_path / name)],
        f"{words}, packed with gzip": [read_table(gzipped(data), f"{name}.gz")],
        f"zip of a table ({words}) and its files": [read_table(make_zip({f"in/{name}": data, "a.png": picture()}))],
    }
    for format_, each in readings.items():
        for reading in each:
            assert reading.format == format_
            assert reading.cells.to_dict("list") == FRAME.to_dict("list")
            assert (reading.files is not None) == format_.startswith("zip")


@pytest.mark.public_data
@pytest.mark.parametrize(
    ("count", "largest"), [(3, 10_000), pytest.param(11, 10_000_000, marks=pytest.mark.proof)], ids=["small", "all"]
)
def test_every_compressed_public_table_is_read(count: int, largest: int, data_folder: Path) -> None:
    paths = [path for path in sorted(data_folder.glob("*.csv.gz")) if path.stat().st_size < largest]
    assert len(paths) == count
    for path in paths:
        reading = read_table(path)
        plain = gzip.decompress(path.read_bytes())
        assert reading.format == "CSV, packed with gzip"
        frame = pd.read_csv(io.BytesIO(plain), dtype=str, keep_default_na=False)
        assert reading.cells.to_numpy().tolist() == frame.to_numpy().tolist()


def test_arrays_in_a_zip_next_to_other_files_are_read() -> None:
    reading = read_table(make_zip({"bench.npz": npz(), "README": b"words"}))
    assert reading.format == "zip of a table (NumPy arrays) and its files"
    assert reading.suggest_roles().form == "json"


def test_images_next_to_a_table_of_any_format_are_found() -> None:
    rows = [{"candidates": "wren|robin", "image": "a.png"}, {"candidates": "wren", "image": None}]
    reading = read_table(make_zip({"a.jsonl": "\n".join(map(json.dumps, rows)).encode(), "a.png": picture()}))
    assert reading.suggest_roles().image == "image"
    assert reading.files.look_at("image", "a.png")[0].endswith(".png")


def test_svg_drawings_named_in_cells_are_refused() -> None:
    csv = b"candidates,image\nwren|robin,a.svg\nrobin,pictures/B.svg\nwren,\n"
    words = refused(make_zip({"birds.csv": csv, "a.svg": b"<svg/>", "pictures/B.svg": b"<svg/>"}))
    assert "Row 1 (line 2), column 'image': SVG images are not taken: they can carry programs." in words
    assert "The same holds in 1 other row: row 2 (line 3)." in words
    logo = read_table(make_zip(birds() | {"logo.svg": b"<svg/>"}))
    assert len(logo.cells) == 3  # no cell names it


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty"),
        (b"<!doctype html><html><body>Sign in</body></html>", "This is a web page"),
        (b"%PDF-1.7", "This is a PDF document."),
        (b"Rar!\x1a\x07", "This is a RAR archive."),
        (b"7z\xbc\xaf\x27\x1c", "This is a 7z archive."),
        (b"BZh91AY", "This is a bzip2 archive."),
        (b"\xfd7zXZ\0", "This is an xz archive."),
        (b"\x28\xb5\x2f\xfd", "This is a zstd archive."),
        (b"SQLite format 3\0", "This is an SQLite database."),
        (picture(), "This is an image."),
        (picture(kind="JPEG"), "This is an image."),
        (picture(kind="GIF"), "This is an image."),
        (gzipped(gzipped(CSV)), "The gzip file holds another archive."),
        (gzipped(make_zip({"a.csv": CSV})), "The gzip file holds another archive."),
        (gzipped(CSV)[:-12], "ends in the middle"),
        (gzipped(CSV)[:-8] + bytes(8), "The gzip file is damaged"),
        (make_zip({"a.txt": b"no tabs"}), "contains no table"),
        (make_zip({"a.json": b"[]", "b.parquet": b"PAR1"}), "holds 2 tables"),
        (make_zip({"a.csv": make_zip({"b.csv": CSV})}), "holds another archive"),
        (make_zip({"a.csv": gzipped(CSV)}), "gzip"),
        (b"PAR1PAR1", "The Parquet file cannot be read"),
        (b"ARROW1\0\0", "The Feather file cannot be read"),
        (b"PK\x03\x04", "The zip cannot be read"),
    ],
)
def test_file_that_is_no_table_is_refused_with_a_message(data: bytes, words: str) -> None:
    assert words in refused(data)


def test_gzip_of_several_members_is_read() -> None:
    assert gunzip(gzipped(b"id,n\n") + gzipped(b"a,1\n")) == b"id,n\na,1\n"
    assert gunzip(gzipped(b"")) == b""


def test_gzip_bomb_is_refused_while_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.tables.readers.recognise.MAX_ZIP_MB", 2)
    data = gzipped(bytes(50_000_000))
    assert len(data) < 60_000
    with pytest.raises(TableError, match="more than 2 MB"):
        gunzip(data)


def test_uncertain_encoding_is_reported() -> None:
    reading = read_table("name,n\nMüller,1\n".encode("cp1252"))
    assert reading.cells["name"].tolist() == ["Müller"]
    (note,) = reading.notes
    assert note.startswith("Read as Windows-1252, which the file does not say itself.")
    lines = read_table('{"name": "Müller"}\n{"name": "Größe"}\n'.encode("cp1252"))
    assert lines.cells["name"].tolist() == ["Müller", "Größe"]
    assert lines.notes == reading.notes


def test_roles_are_guessed_if_the_format_defines_none() -> None:
    reading = read_table(CSV)
    assert reading == TableReading(reading.cells, "CSV")
    assert reading.suggest_roles().candidates == "candidates"


STARTS = [
    *(b"", b"PK\x03\x04", b"\x1f\x8b\x08\0", b"PAR1", b"ARROW1\0\0", b"\xd0\xcf\x11\xe0"),
    *(b"{", b'[{"a":', b"@relation x\n", b"1 1:2\n", b"\xff\xfe", b"sep=;\n", b"<html>"),
    b"MATLAB 5.0 MAT-file".ljust(126) + b"IM",
]


@given(st.sampled_from(STARTS), st.binary(max_size=120))
def test_any_bytes_are_read_or_refused(start: bytes, rest: bytes) -> None:
    try:
        reading = read_table(start + rest)
    except TableError as error:
        problems = error.problems
    else:
        problems = ()
        assert len(reading.cells)
        assert reading.cells.columns.is_unique
    assert all(problem.message and problem.fix for problem in problems)


@given(st.sampled_from(sorted(files())), st.integers(0, 10**6), st.binary(min_size=1, max_size=8), st.booleans())
def test_damaged_files_are_read_or_refused(name: str, place: int, junk: bytes, packed: bool) -> None:
    data = files()[name][0]
    data = make_zip({name: data}) if packed else data
    place %= len(data)
    try:
        reading = read_table(data[:place] + junk + data[place + len(junk) :])
    except TableError:
        return
    assert len(reading.cells)


def test_forged_workbook_is_refused() -> None:
    data = files()["a.xlsx"][0]
    with pytest.raises(TableError, match="damaged"):
        read_table(forged(data, "xl/workbook.xml", 24, "<I", 5))


VOTES = b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt1,cid,wren\nt2,ann,owl\n"
SETS = b"id,labels\nt2,owl|wren\nt1,wren\n"
LINES = b'{"id": "t1", "candidates": [{"label": "wren", "p": 0.7}, {"label": "owl", "p": 0.3}]}\n'
ROWS = b"task,grams,picture\nt1,9.5,a.png\nt2,210,\n"


@pytest.mark.parametrize(
    ("names", "about", "sets"),
    [
        (("votes.csv", "tasks.csv"), VOTES, ["robin wren", "owl"]),
        (("z.csv", "a.tsv"), SETS, ["wren", "owl wren"]),
        (("model.jsonl", "rows.csv"), LINES, ["owl wren", "owl wren"]),
    ],
)
def test_zip_of_rows_and_their_candidates_is_joined(names: tuple[str, str], about: bytes, sets: list[str]) -> None:
    files = dict(zip(names, (about, ROWS), strict=True))
    for order in (files, dict(reversed(files.items()))):
        reading = read_table(make_zip({**order, "a.png": picture()}))
        assert reading.format.startswith("zip of two tables (")
        table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
        found = [" ".join(np.array(table.classes)[row]) for row in table.candidates]
        assert (table.roles.numbers, table.roles.image, found) == (("grams",), "picture", sets)
        assert bool(table.media.images[0])


def test_two_unrelated_tables_are_refused() -> None:
    assert "holds 2 tables" in refused(make_zip({"a.csv": ROWS, "b.csv": ROWS}))
    assert "holds 2 tables" in refused(make_zip({"a.csv": VOTES, "b.csv": SETS}))
    assert "No column of the other table" in refused(make_zip({"a.csv": VOTES, "b.csv": b"task,w\nt8,1\n"}))
    assert "header" in refused(make_zip({"a.csv": VOTES, "b.csv": b"task,grams\n"}))


def test_metadata_file_is_not_read_as_rows() -> None:
    for about in (b'{"made": "2024"}', b"not json at all"):
        reading = read_table(make_zip({"rows.csv": CSV, "about.json": about}))
        assert reading.format == "zip of a table (CSV) and its files"


def test_tables_of_one_detector_are_concatenated() -> None:
    """As in a folder of results: one table per recording, and one of the settings."""
    files = {
        "a.BirdNET.selection.table.txt": RAVEN,
        "b.BirdNET.selection.table.txt": RAVEN.replace(b"/a/", b"/b/"),
        "c.BirdNET.selection.table.txt": RAVEN.replace(b"/a/", b"/c/"),
        "readme.txt": b"plain words",
    }
    reading = read_table(make_zip(files))
    assert reading.format == "zip of 3 tables of detections"
    assert reading.cells["Begin Path"].tolist()[::3] == ["/a/b.wav", "/b/b.wav", "/c/b.wav"]
    assert any("one after the other" in note for note in reading.notes)
    tables = {"a.BirdNET.results.csv": KALEIDOSCOPE, "BirdNET_analysis_params.csv": b"a,b\n1,2\n"}
    assert read_table(make_zip(tables)).cells["IN FILE"].tolist() == ["a.wav"]


def test_tables_of_several_layouts_are_refused() -> None:
    files = {"a.BirdNET.csv": KALEIDOSCOPE, "b.BirdNET.csv": KALEIDOSCOPE, "c.BirdNET.csv": b"x,y\n1,2\n"}
    with pytest.raises(TableError, match="holds 3 tables"):
        read_table(make_zip(files))
    files["c.BirdNET.csv"] = BIRDNET
    with pytest.raises(TableError, match=r"in 2 layouts: Kaleidoscope table, 'a\.BirdNET\.csv'; BirdNET table"):
        read_table(make_zip(files))
    files["c.BirdNET.csv"] = b"x,y\n1\n"
    with pytest.raises(TableError, match="holds 3 tables"):
        read_table(make_zip(files))


def test_text_without_tabs_is_not_table_of_zip() -> None:
    with pytest.raises(TableError, match="no table"):
        read_table(make_zip({"readme.txt": b"plain, words\n1, 2\n"}))
