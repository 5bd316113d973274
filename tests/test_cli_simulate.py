"""`winnow simulate FILE`: runs replayed on a table of known truth; and `--cluster`, there and in `compare`."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from tests.test_cli import Shell, shell
from tests.workflow.compared import Findings, findings
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import small_frame

__all__ = ["findings", "shell"]

SOME = ("--strategy", "apl", "--strategy", "random", "--answers", 4, "--runs", 2)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    small_frame().to_csv(path, index=False)
    return path


def test_strategies_are_compared_on_a_file(shell: Shell, table: Path, tmp_path: Path) -> None:
    status, out, err = shell("simulate", table, *SOME)
    assert status == 0
    assert err == "2 runs by each strategy on 60 rows of known truth.\n"
    lines = list(csv.DictReader(out.splitlines()))
    assert [(one["strategy"], int(one["answers"])) for one in lines] == [
        (name, answers) for name in ("apl", "random") for answers in range(5)
    ]
    assert all(0 <= float(one["error"]) <= 1 and float(one["spread"]) >= 0 for one in lines)
    assert not (tmp_path / "home" / "winnow.sqlite3").exists(), "no database is needed"
    parts = {one: one.stat().st_mtime_ns for one in (tmp_path / "home" / "blocks").iterdir()}
    assert shell.done("simulate", table, *SOME) == out
    found = json.loads(shell.done("simulate", table, *SOME, "--json"))
    assert (found["rows"], found["runs"], len(found["points"])) == (60, 2, 10)
    assert parts == {one: one.stat().st_mtime_ns for one in (tmp_path / "home" / "blocks").iterdir()}
    assert shell.done("simulate", table, *SOME, "--seed", 1) != out


def test_a_pool_finds_the_same(shell: Shell, table: Path, tmp_path: Path) -> None:
    words = ("simulate", table, "--strategy", "random", "--answers", 2, "--runs", 2)
    one = shell.done(*words)
    for part in (tmp_path / "home" / "blocks").iterdir():
        part.unlink()
    assert shell.done(*words, "--cluster", "processes:2") == one


def test_who_looks_on_sees_a_bar(shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _, _, err = shell("simulate", table, "--strategy", "random", "--answers", 2, "--runs", 2)
    assert "[------------------------] runs: 0 of 2" in err
    assert "[############------------] runs: 1 of 2" in err
    assert "[########################] runs: 2 of 2" in err


@pytest.mark.parametrize("command", ["compare", "simulate"])
def test_without_dask_one_line_says_what_to_install(
    shell: Shell, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = shell.refused(command, table, "--cluster", "tcp://10.0.0.1:8786")
    assert "tcp://10.0.0.1:8786 is the scheduler of a Dask cluster, and Dask is not installed here" in line
    monkeypatch.setenv("WINNOW_CLUSTER", "tcp://10.0.0.2:8786")
    assert "tcp://10.0.0.2:8786 is the scheduler" in shell.refused(command, table)
    assert "a Dask scheduler's address" in shell.refused(command, table, "--cluster", "10.0.0.1")


def test_a_project_is_compared_by_whom_the_option_names(
    shell: Shell, table: Path, findings: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.done("import", table)
    assert json.loads(shell.done("compare", 1, "--json", "--cluster", "processes:1"))["best"] == "clpl"
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "tcp://a:1 is the scheduler" in shell.refused("compare", 1, "--cluster", "tcp://a:1")


def test_what_cannot_be_replayed_is_refused_in_one_line(shell: Shell, table: Path, tmp_path: Path) -> None:
    assert "nowhere.csv" in shell.refused("simulate", tmp_path / "nowhere.csv")
    assert "There is no strategy 'best'" in shell.refused("simulate", table, "--strategy", "best")
    assert "no true labels" in shell.refused("simulate", table, "--truth", "", *SOME)
    assert "from 1 to the 42 rows" in shell.refused("simulate", table, "--answers", 43)
    vector_frame().to_csv(tmp_path / "vectors.csv", index=False)
    assert "are not replayed" in shell.refused("simulate", tmp_path / "vectors.csv")
    for option in (
        ("--runs", 2),
        ("--strategy", "apl"),
        ("--truth", "t"),
        ("--cluster", "processes"),
    ):
        assert "are of a FILE, not of a project" in shell.refused("simulate", 1, *option)
