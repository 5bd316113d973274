"""Where images and recordings are kept: whole under their name, once, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from plcore.tables import KeptFiles
from tests.plcore.tables.zips import WAV
from tests.workflow.files.test_finding import FILES, ZIP
from workflow import importing
from workflow.files import stored


def upload() -> importing.LabelTable:
    found = importing.read_upload(ZIP)
    checked = importing.check(found, found.suggest_roles())
    assert checked.table is not None
    return checked.table


def test_two_letters_of_a_name_are_its_folder(tmp_path: Path) -> None:
    assert stored.path_of(tmp_path, "abcd.png") == tmp_path / "ab" / "abcd.png"
    assert stored.address("abcd.png") == "files/abcd.png"


def test_every_file_that_the_table_names_is_kept_and_twice_is_harmless(tmp_path: Path) -> None:
    table, folder = upload(), tmp_path / "media"
    stored.keep(folder, table)
    names = table.media.kept_names()
    found = {path.name: path for path in folder.rglob("*.*") if path.is_file()}
    assert set(found) == names
    assert {path.read_bytes() for path in found.values()} == {WAV, *FILES.values()}
    times = {name: path.stat().st_mtime_ns for name, path in found.items()}
    stored.keep(folder, table)
    assert {name: path.stat().st_mtime_ns for name, path in found.items()} == times
    assert not list(folder.glob(".new-*"))


def test_where_one_cannot_be_read_none_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, read = upload(), []
    assert table.media.files is not None
    real = KeptFiles.open

    def failing(self: KeptFiles, name: str) -> BinaryIO:
        read.append(name)
        if len(read) == len(table.media.kept_names()):
            raise OSError("gone")
        return real(self, name)

    monkeypatch.setattr(KeptFiles, "open", failing)
    with pytest.raises(OSError, match="gone"):
        stored.keep(tmp_path / "media", table)
    assert not [path for path in (tmp_path / "media").rglob("*") if path.is_file()]
