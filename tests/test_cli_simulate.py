"""`winnow simulate FILE`: runs replayed on a table of known truth."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.test_cli import Shell, shell
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import small_frame

__all__ = ["shell"]

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


def test_what_cannot_be_replayed_is_refused_in_one_line(shell: Shell, table: Path, tmp_path: Path) -> None:
    assert "nowhere.csv" in shell.refused("simulate", tmp_path / "nowhere.csv")
    assert "There is no strategy 'best'" in shell.refused("simulate", table, "--strategy", "best")
    assert "no true labels" in shell.refused("simulate", table, "--truth", "", *SOME)
    assert "from 1 to the 42 rows" in shell.refused("simulate", table, "--answers", 43)
    vector_frame().to_csv(tmp_path / "vectors.csv", index=False)
    assert "are not replayed" in shell.refused("simulate", tmp_path / "vectors.csv")
    for option in (("--runs", 2), ("--strategy", "apl"), ("--truth", "t"), ("--cluster", "processes")):
        assert "are of a FILE, not of a project" in shell.refused("simulate", 1, *option)
