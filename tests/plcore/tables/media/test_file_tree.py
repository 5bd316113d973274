"""Archives and folders of files: names, base names, and stored files."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, TableError
from plcore.tables import KeptFiles, lay_out
from plcore.tables.media import file_tree
from plcore.tables.media import file_tree as folders
from plcore.tables.media.file_tree import (
    MAX_FILE_MB,
    MAX_RECORDING_MB,
    MAX_ZIP_MB,
    Archive,
    FilesByBaseName,
    FileTree,
    Folder,
    MediaError,
    base_name,
    is_litter,
    is_plain_table,
    most_mb,
    path_fault,
)
from plcore.tables.media.files import MediaFiles
from plcore.tables.readers.parquet import EmbeddedFiles
from plcore.tables.readers.recognise import read_table
from tests.plcore.tables.media.sound.recordings import tone, written
from tests.plcore.tables.zips import WAV, contents, make_zip, picture
from tests.present import present


class Tree(FileTree):
    what = "box"

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files
        super().__init__(files)

    def open(self, name: str) -> BinaryIO:
        return BytesIO(self._files[name])

    def close(self) -> None:
        """Does nothing: no file is open."""


@pytest.mark.parametrize(
    ("names", "tables"),
    [
        (["a.csv", "b.png"], ["a.csv"]),
        (["a.json", "a.csv"], ["a.csv", "a.json"]),
        (["a.parquet", "b.wav"], ["a.parquet"]),
        (["x/1.BirdNET.results.csv", "x/2.BirdNET.results.csv", "x/3.BirdNET.results.csv"], None),
        (["t.txt", "b.wav"], ["t.txt"]),
    ],
)
def test_tables_are_listed_by_name(names: list[str], tables: list[str] | None) -> None:
    assert list(Tree(dict.fromkeys(names, b"a\tb\n")).table_names) == (tables or names)


def test_tree_without_table_is_refused() -> None:
    with pytest.raises(TableError, match="The box contains no table"):
        Tree({"read me.txt": b"no tabs"})


def test_files_next_to_table_come_before_those_at_top() -> None:
    tree = Tree({"in/t.csv": b"", "a.png": b"top", "in/a.png": b"beside", "b.png": b"top"})
    assert (tree.find("a.png"), tree.find("b.png")) == ("in/a.png", "b.png")


def test_sizes_and_paths_are_known_and_litter_is_ignored() -> None:
    assert [most_mb(name) for name in ("a.WAV", "t.csv", "a.png")] == [MAX_RECORDING_MB, MAX_ZIP_MB, MAX_FILE_MB]
    assert path_fault("a/b.png") is None
    assert all(path_fault(path) for path in ("../a", "/a", "C:/a", "a//b", "a\\b", "a\0"))
    assert is_litter("__MACOSX/a")
    assert is_plain_table("A.TSV")


def test_files_in_memory_are_written_and_read_back(tmp_path: Path) -> None:
    files = MediaFiles(EmbeddedFiles({"x.png": picture(1), "y.png": picture(2), "z": b"no picture"}))
    names = [files.look_at("image", cell)[0] for cell in ("x.png", "y.png")]
    found = lay_out(files, names, tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == sorted(names)
    kept = KeptFiles(found)
    with kept.open(names[1]) as file:
        assert file.read() == picture(2)
    kept.close()
    with pytest.raises(KeyError):
        kept.open(names[1])


@pytest.mark.parametrize("by_base_name", [False, True])
def test_files_of_folder_are_not_copied(by_base_name: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("id,labels\n1,a\n")
    (tmp_path / "in" / "x.png").write_bytes(picture())
    folder = Folder(tmp_path / "in")
    files = MediaFiles(FilesByBaseName(folder) if by_base_name else folder)
    name = files.look_at("image", "x.png")[0]
    assert lay_out(files, [name], tmp_path / "kept") == {name: tmp_path / "in" / "x.png"}
    assert not (tmp_path / "kept").exists()


def files(*names: str) -> FilesByBaseName:
    return FilesByBaseName(Archive(make_zip({"t.csv": b"a\n1\n", **{name: name.encode() for name in names}})))


@pytest.mark.parametrize(
    "path",
    [
        "C:\\rec\\a.wav", "/data/x/a.wav", "a.wav", " A.WAV ", "..\\..\\a.wav", "\\\\server\\share\\a.wav",
        "file:///x/a.wav",
    ],
)  # fmt: skip
def test_path_of_another_machine_is_found_by_its_base_name(path: str) -> None:
    found = files("clips/a.wav", "b.wav")
    assert found.find(path) == "clips/a.wav"
    assert contents(found, "clips/a.wav") == b"clips/a.wav"


def test_accents_and_capitals_make_no_difference() -> None:
    assert files("Zaunko\u0308nig.wav").find("D:/x/zaunk\u00f6nig.WAV") == "Zaunk\u00f6nig.wav"


def test_folders_distinguish_files_with_the_same_name() -> None:
    found = files("site1/IMG 1.JPG", "site2/IMG 1.JPG", "site2/old/IMG 1.JPG")
    assert found.find("C:\\cams\\site1\\img 1.jpg") == "site1/IMG 1.JPG"
    assert found.find("/mnt/site2/IMG 1.JPG") == "site2/IMG 1.JPG"
    assert found.find("old/IMG 1.JPG") == "site2/old/IMG 1.JPG"
    with pytest.raises(MediaError) as caught:
        found.find("IMG 1.JPG")
    assert "3 files of that name" in caught.value.args[0]
    assert "folders" in caught.value.args[1]


@pytest.mark.parametrize("path", ["c.wav", "a.wav/", "", "t.csv", "a"])
def test_missing_file_is_reported(path: str) -> None:
    with pytest.raises(MediaError, match="contains no file named"):
        files("a.wav").find(path)


@given(st.lists(st.sampled_from(["a", "b", "C"]), min_size=1, max_size=4), st.sampled_from(["/", "\\"]))
def test_file_is_found_by_a_longer_path(folders: list[str], slash: str) -> None:
    """Whatever folders precede those in the zip."""
    inside = "/".join([*folders[1:], "x.wav"])
    found = files(inside)
    assert found.find(slash.join([*folders, "x.wav"])) == inside
    assert base_name(slash.join([*folders, "x.wav"])) == "x.wav"


def test_closing_releases_the_archive() -> None:
    found = FilesByBaseName(Archive(make_zip({"t.csv": b"a\n1\n", "a.wav": WAV})))
    found.close()
    with pytest.raises(MediaError):
        found.open("a.wav")


CSV = b"candidates,image,call\na|b,pictures/a.png,low.wav\nb|c,b.png,low.wav\na,,high.wav\n"
FILES = {
    "t.csv": CSV,
    "pictures/a.png": picture(1),
    "b.png": picture(2),
    "low.wav": written(tone(300, 1)).getvalue(),
    "high.wav": written(tone(2500, 1)).getvalue(),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "birds"
    for name, data in FILES.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return top


def test_folder_is_read_like_its_zip(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "more.csv").write_bytes(b"x\n1\n")
    (folder / "Thumbs.db").write_bytes(b"")
    tables = []
    for source in (folder, make_zip(FILES)):
        reading = read_table(source)
        assert reading.format.endswith("of a table (CSV) and its files")
        tables.append(LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files))
    one, other = tables
    assert one.roles == other.roles
    assert one.media.kept_names() == other.media.kept_names()
    np.testing.assert_array_equal(one.media.sounds, other.media.sounds)
    np.testing.assert_array_equal(one.media.looks, other.media.looks)


def test_folder_lists_its_table_and_files(folder: Path) -> None:
    tree = Folder(folder)
    assert tree.table_names == ("t.csv",)
    assert tree.table("t.csv") == CSV
    assert set(tree.names()) == set(FILES) - {"t.csv"}
    assert contents(tree, tree.find("./pictures/a.png")) == picture(1)
    with pytest.raises(MediaError, match=r"the folder contains no file 'gone\.png'"):
        tree.find("gone.png")
    for path in ("../secret", "/etc/passwd", "a/../../b"):
        with pytest.raises(MediaError):
            tree.find(path)
    tree.close()


def test_files_that_are_too_large_or_cannot_be_read_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Folder(folder)
    monkeypatch.setattr(file_tree, "MAX_FILE_MB", 0.0001)
    with pytest.raises(MediaError, match=r"MB; at most 0\.0001 are allowed"):
        tree.open("b.png")
    (folder / "b.png").unlink()
    with pytest.raises(MediaError, match="cannot be read"):
        tree.open("b.png")


def test_folders_without_table_or_with_too_many_files_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "read me.txt").write_text("no tabs")
    with pytest.raises(TableError, match="The folder contains no table"):
        Folder(tmp_path / "words")
    with pytest.raises(OSError, match="gone"):
        Folder(tmp_path / "gone")
    (folder / "Zu\u0308rich.png").write_bytes(b"")
    (folder / "Z\u00fcrich.png").write_bytes(b"")
    with pytest.raises(TableError, match="two files named 'Z\u00fcrich"):
        Folder(folder)
    (folder / "Z\u00fcrich.png").unlink()
    monkeypatch.setattr(folders, "MAX_FILES", 3)
    with pytest.raises(TableError, match="more than 3 files"):
        Folder(folder)


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("y.png", "c1/Y.png"),
        ("C1/y.PNG", "c1/Y.png"),
        ("/home/ann/birds/c1/x.png", "c1/x.png"),
        ("C:\\birds\\c2\\x.png", "c2/x.png"),
        ("../c2/x.png", "c2/x.png"),
        ("y", "c1/Y.png"),
        ("c1/x", "c1/x.png"),
    ],
)
def test_file_is_found_by_the_end_of_its_path(cell: str, found: str) -> None:
    archive = Archive(make_zip({"t.csv": b"image\nx.png\n", "c1/x.png": b"1", "c2/x.png": b"2", "c1/Y.png": b"3"}))
    assert archive.find(cell) == found
    assert archive.inexact == {cell: found}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("gs://bucket/c1/x.png", "c1/x.png"),
        ("https://birds.example.org/c2/x.png?width=800#top", "c2/x.png"),
        ("s3://bucket/birds/c1/x.png", "c1/x.png"),
        ("s3://bucket/2024/may/Y.png", "c1/Y.png"),
        ("https://birds.example.org/fr%C3%BCh.png", "fr\u00fch.png"),
    ],
)
def test_file_of_an_address_is_found_in_the_zip(cell: str, found: str) -> None:
    names = ("c1/x.png", "c2/x.png", "c1/Y.png", "fr\u00fch.png")
    archive = Archive(make_zip({"t.csv": b"image\nx.png\n", **{name: name.encode() for name in names}}))
    assert archive.find(cell) == found
    with pytest.raises(MediaError, match=r"contains no file 's3://bucket/c3/x\.png'"):
        archive.find("s3://bucket/c3/x.png")
    assert FilesByBaseName(archive).find(cell) == found


@pytest.mark.parametrize("folder", ["img/", "birds/img/", "photos/", ""])
def test_list_of_addresses_learns_from_the_pictures_in_its_zip(folder: str) -> None:
    lines = [f"gs://bucket/img/{k}.jpg,{'daisy' if k % 2 else 'rose,tulip'}" for k in range(4)]
    pictures = {f"{folder}{k}.jpg": picture(k, "JPEG") for k in range(4)}
    reading = read_table(make_zip({"list.csv": "\n".join(lines).encode(), **pictures}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    assert (table.roles.image, table.roles.image_features, table.roles.candidates) == ("item", True, "labels")
    assert table.classes == ("daisy", "rose", "tulip")
    assert present(table.media.images)[0] != present(table.media.images)[1]


def test_file_found_by_its_whole_path_is_exact() -> None:
    archive = Archive(make_zip({"a/t.csv": b"image\nx.png\n", "a/c1/x.png": b"1", "y.png": b"2"}))
    assert [archive.find("c1/x.png"), archive.find("./c1/x.png"), archive.find("y.png")] == ["a/c1/x.png"] * 2 + [
        "y.png"
    ]
    assert not archive.inexact


def test_base_name_in_other_folders_is_inexact() -> None:
    files = FilesByBaseName(Archive(make_zip({"t.csv": b"image\nx.png\n", "c1/x.wav": WAV, "y.wav": WAV})))
    assert [files.find("C:\\c2\\x.wav"), files.find("C:\\c2\\y.wav")] == ["c1/x.wav", "y.wav"]
    assert files.inexact == {"C:\\c2\\x.wav": "c1/x.wav"}


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("x.png", "Write the path of the file that is meant: the zip holds 'c1/x.png', 'c2/x.png'."),
        ("c3/x.png", "Write the path of the file that is meant: the zip holds 'c1/x.png', 'c2/x.png'."),
        ("c3/Y.png", "Write the path of the file that is meant: the zip holds 'c1/Y.png'."),
        ("z.png", "Put the file into the zip, or leave the cell empty."),
        ("t.csv", "Put the file into the zip, or leave the cell empty."),
        ("x", "Put the file into the zip, or leave the cell empty."),
    ],
)
def test_ambiguous_or_other_path_finds_no_file(cell: str, told: str) -> None:
    archive = Archive(make_zip({"t.csv": b"image\nx.png\n", "c1/x.png": b"1", "c2/x.png": b"2", "c1/Y.png": b"3"}))
    with pytest.raises(MediaError) as caught:
        archive.find(cell)
    assert caught.value.args[1] == told


def test_two_paths_never_mean_one_file() -> None:
    archive = Archive(make_zip({"t.csv": b"image\nx.png\n", "x.png": b"1"}))
    assert [archive.find("a/x.png"), archive.find("a/x.png"), archive.find("x.png")] == ["x.png"] * 3
    with pytest.raises(MediaError, match="the zip contains no file"):
        archive.find("b/x.png")
