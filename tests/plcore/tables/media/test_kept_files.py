"""Files are laid out under the names by which they are kept; those of a folder stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore.tables import KeptFiles, lay_out
from plcore.tables.media.file_tree import FilesByBaseName, Folder
from plcore.tables.media.files import MediaFiles
from plcore.tables.readers.parquet import EmbeddedFiles
from tests.plcore.tables.zips import picture


def test_files_in_memory_are_written_and_can_be_had_again(tmp_path: Path) -> None:
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
def test_files_of_a_folder_are_not_copied(by_base_name: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.csv").write_text("id,labels\n1,a\n")
    (tmp_path / "in" / "x.png").write_bytes(picture())
    folder = Folder(tmp_path / "in")
    files = MediaFiles(FilesByBaseName(folder) if by_base_name else folder)
    name = files.look_at("image", "x.png")[0]
    assert lay_out(files, [name], tmp_path / "kept") == {name: tmp_path / "in" / "x.png"}
    assert not (tmp_path / "kept").exists()
