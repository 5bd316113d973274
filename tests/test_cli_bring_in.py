"""The command line: a project file of another Winnow is imported, whole or not at all."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import Shell, shell, table
from tests.workflow.backups.forging import forged
from workflow.server.home import close_home

pytestmark = pytest.mark.slow

__all__ = ["shell", "table"]


@pytest.fixture
def taken(shell: Shell, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a project with three answers, downloaded from a first Winnow. The shell is at a second one."""
    shell.done("import", table, "--setting", "truth_role=hidden")
    shell.done("simulate", 1, "--answers", 3)
    file = tmp_path / "birds.zip"
    assert shell.done("backup", "--project", 1, file).endswith(f"winnow bring-in {file}\n")
    elsewhere(shell, tmp_path, monkeypatch)
    return file


def elsewhere(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a new Winnow in the shell from now on."""

    close_home()
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "elsewhere"))


def there(shell: Shell) -> list[tuple[int, str, int]]:
    return [(one["id"], one["name"], one["answered"]) for one in json.loads(shell.done("projects", "--json"))]


def refused_and_nothing_stored(shell: Shell, tmp_path: Path, *words: object) -> str:
    before = there(shell)
    line = shell.refused("bring-in", *words)
    assert there(shell) == before
    home = tmp_path / "elsewhere"
    assert not list(home.glob("tables/*")), "no table of it is left"
    assert not list(home.glob(".bringing-*"))
    return line


def test_import_of_project_keeps_log_and_answers(shell: Shell, taken: Path) -> None:
    status, out, err = shell("bring-in", taken)
    assert (status, out) == (0, "Project 1: birds.\n"), err
    assert "People with the same name here: owner.\n" in err
    assert there(shell) == [(1, "birds", 3)]
    assert "holds" in shell.done("verify", 1)
    assert shell("simulate", 1, "--answers", 1)[0] == 0, "and it goes on"


def test_taken_name_is_refused_and_another_can_be_given(shell: Shell, taken: Path, tmp_path: Path) -> None:
    shell.done("bring-in", taken)
    line = shell.refused("bring-in", taken)
    assert "birds" in line
    assert there(shell) == [(1, "birds", 3)]
    assert shell.done("bring-in", taken, "--name", "birds of before") == "Project 2: birds of before.\n"
    assert there(shell) == [(1, "birds", 3), (2, "birds of before", 3)]
    assert "80" in shell.refused("bring-in", taken, "--name", "x" * 81)


def test_damaged_file_is_refused_in_one_line(shell: Shell, taken: Path, tmp_path: Path) -> None:
    whole = taken.read_bytes()
    for at in (100, -1, len(whole) // 2):
        content = bytearray(whole)
        content[at] ^= 1
        taken.write_bytes(content)
        line = refused_and_nothing_stored(shell, tmp_path, taken)
        assert "birds.zip is damaged at " in line, at


def test_truncated_file_is_refused_in_one_line(shell: Shell, taken: Path, tmp_path: Path) -> None:
    taken.write_bytes(taken.read_bytes()[:-1000])
    assert "birds.zip is damaged at its end" in refused_and_nothing_stored(shell, tmp_path, taken)


def test_file_without_seal_is_refused_in_one_line(shell: Shell, taken: Path, tmp_path: Path) -> None:
    """The same members, packed by another program: nothing shows that they are unchanged."""
    other = tmp_path / "packed.zip"
    with zipfile.ZipFile(taken) as given, zipfile.ZipFile(other, "w") as packed:
        for name in given.namelist():
            packed.writestr(name, given.read(name))
    line = refused_and_nothing_stored(shell, tmp_path, other)
    assert "packed.zip is damaged at its end" in line
    assert "the seal that ends every backup" in line


def test_forged_file_is_refused_in_one_line(shell: Shell, taken: Path, tmp_path: Path) -> None:
    """The answer is a class that the table does not have: it is checked in addition to the file's seal."""

    def change(content: dict[str, Any]) -> None:
        content["rows"]["entries"][0]["labels"] = ["unheard of"]

    line = refused_and_nothing_stored(shell, tmp_path, forged(taken, tmp_path, change))
    assert "holds no project that works" in line


@pytest.mark.usefixtures("taken")
def test_file_that_is_no_project_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    shell.done("backup", tmp_path / "backup.zip")
    (tmp_path / "text.zip").write_text("id,candidates\n")
    for what, said in {"backup": "restore", "text": "not a backup of Winnow", "missing": "does not exist"}.items():
        line = refused_and_nothing_stored(shell, tmp_path, tmp_path / f"{what}.zip")
        assert f"{what}.zip" in line
        assert said in line


def test_wrong_setting_is_refused_in_one_line(shell: Shell, taken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_PORT", "x")

    close_home()
    assert "WINNOW_PORT" in shell.refused("bring-in", taken)
