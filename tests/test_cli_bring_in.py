"""The command line: a project file of another Winnow is imported, whole or not at all."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.test_cli import Shell, shell, table
from tests.workflow.backups.forging import checked_here, forged
from workflow.server.home import close_home

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("checked_here")]

__all__ = ["checked_here", "shell", "table"]


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


def test_import_keeps_log_and_answers_under_a_name_that_is_free(shell: Shell, taken: Path) -> None:
    status, out, err = shell("bring-in", taken)
    assert (status, out) == (0, "Project 1: birds.\n"), err
    assert "People with the same name here: owner.\n" in err
    assert there(shell) == [(1, "birds", 3)]
    assert "holds" in shell.done("verify", 1)
    assert "birds" in shell.refused("bring-in", taken)
    assert "80" in shell.refused("bring-in", taken, "--name", "x" * 81)
    assert there(shell) == [(1, "birds", 3)]
    assert shell.done("bring-in", taken, "--name", "birds of before") == "Project 2: birds of before.\n"
    assert there(shell) == [(1, "birds", 3), (2, "birds of before", 3)]
    assert shell("simulate", 1, "--answers", 1)[0] == 0, "and it goes on"


def test_wrong_file_is_refused_in_one_line_and_nothing_is_stored(shell: Shell, taken: Path, tmp_path: Path) -> None:
    """One of each sort: of each byte and part, see tests/workflow/backups."""
    whole = taken.read_bytes()
    (tmp_path / "damaged.zip").write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    (tmp_path / "short.zip").write_bytes(whole[:-1000])
    (tmp_path / "text.zip").write_text("id,candidates\n")
    with zipfile.ZipFile(taken) as given, zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        for name in given.namelist():
            packed.writestr(name, given.read(name))
    shell.done("backup", tmp_path / "backup.zip")

    def change(content: dict[str, Any]) -> None:
        content["rows"]["entries"][0]["labels"] = ["of a class that the table does not have"]

    home, other = tmp_path / "elsewhere", forged(taken, tmp_path, change)
    for file, *said in (
        ("damaged.zip", "damaged.zip is damaged at "),
        ("short.zip", "short.zip is damaged at its end"),
        ("packed.zip", "packed.zip is damaged at its end", "the seal that ends every backup"),
        (other.name, "contains no project that works"),
        ("backup.zip", "backup.zip", "restore"),
        ("text.zip", "text.zip", "not a backup of Winnow"),
        ("missing.zip", "missing.zip", "does not exist"),
    ):
        line = shell.refused("bring-in", tmp_path / file)
        assert [one for one in said if one not in line] == [], line
        assert not list(home.glob("tables/*")), "no table of it is left"
        assert not list(home.glob(".bringing-*"))
    assert there(shell) == []
