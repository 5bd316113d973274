"""`winnow rank FILES`: a table on disk, ranked in blocks by each runner."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from tests.plcore.tables.large import NAMES, rows_and_sets, write_arrays, write_parquet
from tests.test_cli import Shell, shell
from tests.workflow.compared import Findings, findings
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import small_frame

__all__ = ["findings", "shell"]


def test_table_on_disk_is_ranked_without_project(shell: Shell, tmp_path: Path) -> None:
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


def test_columns_and_reverse_lists_are_chosen_by_options(shell: Shell, tmp_path: Path) -> None:
    X, sets = rows_and_sets(150)
    path = write_parquet(tmp_path / "t", X, sets, NAMES, [])
    some = ("--candidates", "birds", "--number", "x0", "--number", "x1", "--reverse", "--neighbors", 4)
    assert len(shell.done("rank", path, *some).splitlines()) > 100


def test_missing_dask_is_reported_in_one_line(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_arrays(tmp_path / "t", *rows_and_sets(50))
    monkeypatch.setenv("WINNOW_CLUSTER", "tcp://10.0.0.1:8786")
    monkeypatch.setitem(sys.modules, "distributed", None)
    for words in ((path,), (path, "--cluster"), ("--cluster", path), ("--cluster", "--top", 3, path)):
        line = shell.refused("rank", *words)
        assert "tcp://10.0.0.1:8786 is the scheduler of a Dask cluster, and Dask is not installed here" in line
        assert "pip install 'plcore[cluster]'" in line
    for words in (("--cluster", "tcp://a:1", path), ("--cluster=tcp://a:1", path), (path, "--cluster", "tcp://a:1")):
        assert "tcp://a:1 is the scheduler" in shell.refused("rank", *words)


@pytest.mark.proof
def test_process_pool_ranks_like_single_process(shell: Shell, tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "t", *rows_and_sets(150))
    one = shell.done("rank", path, "--block", 100)
    for part in (tmp_path / "home" / "blocks").iterdir():
        part.unlink()
    assert shell.done("rank", "--block", 100, "--cluster", "processes:2", path) == one


def test_input_that_cannot_be_ranked_is_refused_in_one_line(shell: Shell, tmp_path: Path) -> None:
    X, sets = rows_and_sets(50)
    assert "There is no" in shell.refused("rank", tmp_path / "nowhere")
    for option in (("--top", 3), ("--reverse",), ("--cluster",), ("--cluster", "processes:2")):
        assert "work with FILES only" in shell.refused("rank", 1, *option)
    assert "Fix: name the id of a project, or a table on disk" in shell.refused("rank", "one")
    sets[7] = False
    line = shell.refused("rank", write_arrays(tmp_path / "t", X, sets))
    assert "Reading the rows from 0 of S.npy cannot be done" in line
    assert "Row 8: There is no candidate" in line


# `--cluster [ADDRESS]`: one way to say who does the long work, in `rank`, `simulate` and `compare`.


ASKED = "is the scheduler of a Dask cluster, and Dask is not installed here. Fix: pip install 'plcore[cluster]'"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    small_frame().to_csv(path, index=False)
    return path


@pytest.fixture
def no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a missing Dask fail at once."""
    monkeypatch.setitem(sys.modules, "distributed", None)


@pytest.mark.parametrize(
    "command", ["rank", *(pytest.param(one, marks=pytest.mark.proof) for one in ("compare", "simulate"))]
)
@pytest.mark.usefixtures("no_dask")
class TestOneWay:
    def test_cluster_address_may_precede_or_follow_table(self, shell: Shell, table: Path, command: str) -> None:
        here = "tcp://10.0.0.1:8786"
        for words in (
            ("--cluster", here, table),
            (f"--cluster={here}", table),
            (table, "--cluster", here),
            ("--cluster", here, "--", table),
        ):
            assert f"{here} {ASKED}" in shell.refused(command, *words)

    def test_cluster_option_without_address_uses_setting(
        self, shell: Shell, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WINNOW_CLUSTER", "tls://10.0.0.2:8786")
        for words in (
            (table,),
            (table, "--cluster"),
            ("--cluster", table),
            (f"--cluster={table}",),
            ("--cluster", "--", table),
            ("--cluster", "--json", table),
        ):
            status, out, err = shell(command, *words)
            assert status
            assert f"tls://10.0.0.2:8786 {ASKED}" in out + err
        assert f"tcp://a:1 {ASKED}" in shell.refused(command, "--cluster", "tcp://a:1", table)

    def test_cluster_option_without_address_needs_setting(
        self, shell: Shell, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WINNOW_CLUSTER", " ")  # whose variable is unset
        for words in ((table, "--cluster"), ("--cluster", table), ("--cluster", "", table), ("--cluster", " ", table)):
            line = shell.refused(command, *words)
            assert "--cluster without an address uses WINNOW_CLUSTER, which is not set. Fix:" in line

    def test_ambiguous_cluster_arguments_are_refused(self, shell: Shell, table: Path, command: str) -> None:
        assert "must be a Dask scheduler's address" in shell.refused(command, "--cluster", "10.0.0.1", table)
        assert "must be a Dask scheduler's address" in shell.refused(command, "--cluster", "http://a:1", table)
        for alone in ((), ("--cluster",), ("--cluster", "tcp://a:1"), ("--cluster", "processes")):
            assert "Missing argument" in shell.refused(command, *alone)
        assert "unexpected extra argument" in shell.refused(command, table, "more", "--cluster")


def test_compare_uses_cluster_option(shell: Shell, table: Path, findings: Findings, no_dask: None) -> None:
    shell.done("import", table)
    assert json.loads(shell.done("compare", 1, "--json", "--cluster", "processes:1"))["best"] == "clpl"
    assert "tcp://a:1 is the scheduler" in shell.refused("compare", "--cluster", "tcp://a:1", 1)
    assert "which is not set" in shell.refused("compare", "--cluster", 1)


# `winnow simulate FILE`: runs replayed on a table of known truth.


SOME = ("--strategy", "apl", "--strategy", "random", "--answers", 4, "--runs", 2)


def test_strategies_are_compared_on_file(shell: Shell, table: Path, tmp_path: Path) -> None:
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


@pytest.mark.proof  # the pool of `rank` is the same, and `test_replays` compares the runs
def test_process_pool_simulates_like_single_process(shell: Shell, table: Path, tmp_path: Path) -> None:
    words = ("simulate", table, "--strategy", "random", "--answers", 2, "--runs", 2)
    one = shell.done(*words)
    for part in (tmp_path / "home" / "blocks").iterdir():
        part.unlink()
    assert shell.done(*words, "--cluster", "processes:2") == one


def test_simulation_shows_progress_on_terminal(shell: Shell, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    _, _, err = shell("simulate", table, "--strategy", "random", "--answers", 2, "--runs", 2)
    assert "[------------------------] runs: 0 of 2" in err
    assert "[############------------] runs: 1 of 2" in err
    assert "[########################] runs: 2 of 2" in err


def test_input_that_cannot_be_replayed_is_refused_in_one_line(shell: Shell, table: Path, tmp_path: Path) -> None:
    assert "nowhere.csv" in shell.refused("simulate", tmp_path / "nowhere.csv")
    assert "There is no strategy 'best'" in shell.refused("simulate", table, "--strategy", "best")
    assert "no true labels" in shell.refused("simulate", table, "--truth", "", *SOME)
    assert "from 1 to the 42 rows" in shell.refused("simulate", table, "--answers", 43)
    vector_frame().to_csv(tmp_path / "vectors.csv", index=False)
    assert "are not replayed" in shell.refused("simulate", tmp_path / "vectors.csv")
    for option in (("--runs", 2), ("--strategy", "apl"), ("--truth", "t"), ("--cluster", "processes")):
        assert "work with a FILE only" in shell.refused("simulate", 1, *option)
