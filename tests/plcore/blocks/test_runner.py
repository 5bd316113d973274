"""Guarantees of all runners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from plcore.blocks import ProcessPool, RunnerError, dask_cluster, make_runner, parts, processes
from plcore.blocks.parts import check_code, code_and_versions, code_here, map_part
from plcore.blocks.processes import Inline
from plcore.blocks.runner import BlockError, Runner, alone, said
from tests.plcore.blocks.tasks import Number, jobs, square, square_but_seven, square_when_told, threads, times


def test_every_job_returns_exactly_one_result(runner: Runner, tmp_path: Path) -> None:
    asked = jobs(tmp_path, 9)
    found = dict(runner.map(square, asked))
    assert set(found) == set(asked)
    for job, written in found.items():
        assert written == (str(job.path), 2)
        assert map_part(job.path).tolist() == [job.number, job.number**2]
    assert times(tmp_path) == dict.fromkeys(range(9), 1)


def test_empty_job_list_gives_no_results(runner: Runner) -> None:
    assert list(runner.map(square, [])) == []


def test_failed_job_is_reported_with_its_reason_in_one_line(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(BlockError) as refused:
        list(runner.map(square_but_seven, jobs(tmp_path, 9)))
    assert str(refused.value).startswith("Squaring 7 cannot be done: ValueError: seven is not a number for this")
    assert refused.value.job == jobs(tmp_path, 9)[7]


def test_runner_continues_working_after_failure(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(BlockError):
        list(runner.map(square_but_seven, jobs(tmp_path, 9)))
    assert len(list(runner.map(square, jobs(tmp_path, 3)))) == 3


def test_cancelled_work_ends_after_the_running_jobs(runner: Runner, tmp_path: Path) -> None:
    done = []
    for job, _ in runner.map(square, jobs(tmp_path, 50)):
        done.append(job)
        runner.cancel()
    assert 1 <= len(done) <= 6
    assert len(list(runner.map(square, jobs(tmp_path, 3)))) == 3, "the next work is not cancelled"


def test_closing_the_iterator_cancels_pending_jobs(runner: Runner, tmp_path: Path) -> None:
    found = runner.map(square, jobs(tmp_path, 50))
    next(found)
    found.close()  # type: ignore[attr-defined]
    runner.close()
    assert len(times(tmp_path)) <= 6


def test_libraries_in_workers_use_one_thread(runner: Runner) -> None:
    with threadpool_limits(2):  # which this process would take
        assert threads(0) == 2
        assert [most for _, most in runner.map(threads, [0])] == [1]


def test_jobs_are_consumed_lazily(runner: Runner, tmp_path: Path) -> None:
    taken: list[int] = []

    def coming() -> Iterator[Number]:
        for job in jobs(tmp_path, 50):
            taken.append(job.number)
            yield job

    found = runner.map(square, coming())
    next(found)
    assert len(taken) <= 6
    assert len(list(found)) == 49


def test_callback_is_called_while_waiting_and_can_cancel(
    others: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (dask_cluster, processes):
        monkeypatch.setattr(module, "LOOK", 0.01)
    asked = jobs(tmp_path, 3)
    go = asked[0].marks / "go"

    def enough() -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        list(others.map(square_when_told, asked, enough))
    assert len(list(others.map(square_when_told, asked, go.touch))) == 3


def test_runner_without_workers_calls_the_function_directly() -> None:
    assert alone(np.square, 3) == 9


def test_error_without_a_message_is_reported_by_its_type() -> None:
    assert said(ValueError("two\n lines")) == "ValueError: two lines"
    assert said(MemoryError()) == "MemoryError."


def test_runner_is_chosen_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE", 1)
    assert isinstance(make_runner("", tmp_path), Inline)
    pool = make_runner("processes:3", tmp_path)
    assert isinstance(pool, ProcessPool)
    assert pool.n_processes == 3
    assert make_runner("processes", tmp_path).n_processes >= 1  # type: ignore[attr-defined]
    with pytest.raises(RunnerError, match=r"tcp://127\.0\.0\.1:1"):
        make_runner("tcp://127.0.0.1:1", tmp_path)


# Numeric libraries of a process; other code is refused.


def test_fingerprint_covers_code_and_library_versions() -> None:
    mine = code_and_versions()
    assert {"plcore", "Python", "numpy", "numba", "scikit-learn"} <= set(mine)
    assert mine == code_and_versions()


def test_worker_with_other_versions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = code_here()
    check_code(mine)
    monkeypatch.setattr(parts, "_sources", lambda: "later")
    assert code_here() != mine
    with pytest.raises(RuntimeError, match=r"other versions than the caller: later 3\..*, there \w{12} 3\."):
        check_code(mine)
