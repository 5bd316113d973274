"""`winnow rank FILES`: a table on disk, ranked in blocks; and by whom."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.plcore.tables.large import NAMES, rows_and_sets, write_arrays, write_parquet
from tests.test_cli import Shell, shell

__all__ = ["shell"]


def test_a_table_on_disk_is_ranked_without_a_project(shell: Shell, tmp_path: Path) -> None:
    X, sets = rows_and_sets(300)
    path = write_parquet(tmp_path / "t", X, sets, NAMES, [120])
    words = ("rank", path, "--top", 20, "--neighbors", 5, "--block", 100)
    lines = shell.done(*words).splitlines()
    assert lines[0] == "place,row,score,candidates"
    assert [line.split(",")[0] for line in lines[1:]] == [str(place) for place in range(1, 21)]
    for line in lines[1:]:
        _, row, score, names = line.split(",")
        assert names.split("|") == [NAMES[label] for label in range(5) if sets[int(row) - 1, label]]
        assert float(score) > 0
    assert not (tmp_path / "home" / "winnow.sqlite3").exists(), "no database is needed"
    parts = {one: one.stat().st_mtime_ns for one in (tmp_path / "home" / "blocks").iterdir()}
    status, out, err = shell(*words, "--recall", 1)
    assert status == 0
    assert out.splitlines() == lines
    assert err == "300 rows; exact neighbours.\n"
    assert parts == {one: one.stat().st_mtime_ns for one in (tmp_path / "home" / "blocks").iterdir()}


def test_columns_and_lists_can_be_asked_for(shell: Shell, tmp_path: Path) -> None:
    X, sets = rows_and_sets(150)
    path = write_parquet(tmp_path / "t", X, sets, NAMES, [])
    some = ("--candidates", "birds", "--number", "x0", "--number", "x1", "--reverse", "--neighbors", 4)
    assert len(shell.done("rank", path, *some).splitlines()) > 100


def test_without_dask_one_line_says_what_to_install(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_arrays(tmp_path / "t", *rows_and_sets(50))
    monkeypatch.setenv("WINNOW_CLUSTER", "tcp://10.0.0.1:8786")
    monkeypatch.setitem(sys.modules, "distributed", None)
    for words in ((path,), (path, "--cluster"), ("--cluster", path), ("--cluster", "--top", 3, path)):
        line = shell.refused("rank", *words)
        assert (
            "tcp://10.0.0.1:8786 is the scheduler of a Dask cluster, and Dask is not installed here" in line
        )
        assert "pip install 'plcore[cluster]'" in line
    for words in (
        ("--cluster", "tcp://a:1", path),
        ("--cluster=tcp://a:1", path),
        (path, "--cluster", "tcp://a:1"),
    ):
        assert "tcp://a:1 is the scheduler" in shell.refused("rank", *words)


def test_a_pool_ranks_as_the_command_itself(shell: Shell, tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "t", *rows_and_sets(150))
    one = shell.done("rank", path, "--block", 100)
    for part in (tmp_path / "home" / "blocks").iterdir():
        part.unlink()
    assert shell.done("rank", "--block", 100, "--cluster", "processes:2", path) == one


def test_what_cannot_be_ranked_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    assert "There is no" in shell.refused("rank", tmp_path / "nowhere")
    for option in (("--top", 3), ("--reverse",), ("--cluster",), ("--cluster", "processes:2")):
        assert "are of FILES, not of a project" in shell.refused("rank", 1, *option)
    assert "Fix: name the id of a project, or a table on disk" in shell.refused("rank", "one")
    sets[7] = False
    line = shell.refused("rank", write_arrays(tmp_path / "t", X, sets))
    assert "Reading the rows from 0 of S.npy cannot be done" in line
    assert "Row 8: There is no candidate" in line
