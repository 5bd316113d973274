"""A folder of a table and its files: read where it lies, as a zip of the same is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plcore import LabelTable, TableError
from plcore.tables.media import file_tree
from plcore.tables.media import file_tree as folders
from plcore.tables.media.file_tree import Folder, MediaError
from plcore.tables.readers.recognise import read_table
from tests.plcore.tables.media.sound.recordings import tone, written
from tests.plcore.tables.zips import contents, make_zip, picture

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


def test_a_folder_is_read_as_a_zip_of_it(folder: Path) -> None:
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


def test_files_are_opened_where_they_lie(folder: Path) -> None:
    tree = Folder(folder)
    assert tree.table_names == ("t.csv",)
    assert tree.table("t.csv") == CSV
    assert set(tree.names()) == set(FILES) - {"t.csv"}
    assert contents(tree, tree.find("./pictures/a.png")) == picture(1)
    with pytest.raises(MediaError, match=r"the folder holds no file 'gone\.png'"):
        tree.find("gone.png")
    for path in ("../secret", "/etc/passwd", "a/../../b"):
        with pytest.raises(MediaError):
            tree.find(path)
    tree.close()


def test_files_that_are_too_large_or_cannot_be_read_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Folder(folder)
    monkeypatch.setattr(file_tree, "MAX_FILE_MB", 0.0001)
    with pytest.raises(MediaError, match=r"MB; at most 0\.0001 are taken"):
        tree.open("b.png")
    (folder / "b.png").unlink()
    with pytest.raises(MediaError, match="cannot be read"):
        tree.open("b.png")


def test_folders_without_a_table_or_with_too_much_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TableError, match="The folder holds no table"):
        Folder(folder / "pictures")
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
