"""A Dask cluster: the checks before it works, and workers that are killed at work."""

from __future__ import annotations

import sys
from concurrent.futures import Future
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plcore.blocks import dask_cluster, parts
from plcore.blocks.dask_cluster import AHEAD, DaskCluster, sees
from plcore.blocks.parts import map_part
from plcore.blocks.runner import BlockError, RunnerError
from tests.plcore.blocks.local_cluster import two_workers
from tests.plcore.blocks.tasks import die_the_first_time, jobs, square, square_but_die_at_seven, square_when_told


def test_missing_dask_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RunnerError, match=r"Dask is not installed here. Fix: pip install 'plcore\[cluster\]'"):
        DaskCluster("tcp://10.0.0.1:8786", tmp_path)


def test_existing_folder_is_visible_and_missing_folder_is_not(tmp_path: Path) -> None:
    assert sees(str(tmp_path))
    assert not sees(str(tmp_path / "nowhere"))


class Started:
    """A client of a cluster whose workers join one after the other and run jobs immediately."""

    def __init__(self) -> None:
        self.handed_over = 0
        self.workers = {"first": 1}

    def nthreads(self) -> dict[str, int]:
        return self.workers

    def submit(self, _alone: Any, function: Any, job: Any, **_: Any) -> Any:
        self.handed_over += 1
        future: Future[Any] = Future()
        future.set_result(function(job))
        return future

    def cancel(self, _left: Any) -> None:
        pass


def test_workers_that_join_later_get_jobs() -> None:
    runner = DaskCluster.__new__(DaskCluster)
    runner._client = client = Started()
    found = runner.map(abs, range(-30, 0))
    next(found)
    assert client.handed_over == AHEAD + 1
    client.workers = {"first": 1, "second": 4}
    next(found)
    assert client.handed_over == 2 + 5 * AHEAD
    assert len(list(found)) == 28


class Lost(Future[Any]):
    """A finished job whose result is lost with its worker, if it is one of the first. status : as in Dask's futures"""

    status, lost, made = "finished", 1, 0

    def __init__(self) -> None:
        super().__init__()
        Lost.made += 1
        self.number = Lost.made

    def result(self, timeout: float | None = None) -> Any:
        if self.number <= self.lost:
            raise TimeoutError
        return super().result(timeout)


@pytest.mark.parametrize("status", ["finished", "error"])
def test_lost_result_is_computed_again(monkeypatch: pytest.MonkeyPatch, status: str) -> None:
    monkeypatch.setattr(Lost, "status", status)
    monkeypatch.setattr(Lost, "made", 0)
    monkeypatch.setitem(globals(), "Future", Lost)
    runner = DaskCluster.__new__(DaskCluster)
    runner._client, runner._dask = Started(), SimpleNamespace(KilledWorker=KeyError, CancelledError=OSError)
    if status == "error":
        with pytest.raises(BlockError):  # the job itself has raised it
            list(runner.map(abs, range(-3, 0)))
    else:
        assert sorted(result for _, result in runner.map(abs, range(-3, 0))) == [1, 2, 3]


def test_hint_to_wait_longer_is_left_out_if_there_is_no_such_setting(tmp_path: Path) -> None:
    runner = DaskCluster.__new__(DaskCluster)
    runner._client = client = Started()
    client.workers = {}
    runner._address, runner._patience, runner._setting = "tcp://10.0.0.1:8786", 0, ""
    with pytest.raises(RunnerError, match=r"Fix: start some \(dask worker tcp://10\.0\.0\.1:8786 --nthreads 1\)\.$"):
        runner._check(tmp_path)


def test_workers_with_several_threads_are_refused(tmp_path: Path) -> None:
    runner = DaskCluster.__new__(DaskCluster)
    runner._client = client = Started()
    client.workers = {"first": 1, "second": 4}
    with pytest.raises(RunnerError, match=r"The worker second does 4 jobs at a time .*Fix: start it with --nthreads 1"):
        runner._check(tmp_path)


@pytest.mark.dask
class TestCluster:
    def test_unreachable_scheduler_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dask_cluster, "PATIENCE", 1)
        with pytest.raises(RunnerError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:1 "):
            DaskCluster("tcp://127.0.0.1:1", tmp_path)

    def test_workers_with_other_code_are_refused(
        self, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = parts._version
        monkeypatch.setattr(parts, "_version", lambda name: "1.0" if name == "numba" else real(name))
        with pytest.raises(RunnerError, match=rf"has other versions: numba {real('numba')}, here 1\.0\. Fix"):
            DaskCluster(cluster.scheduler_address, tmp_path)

    def test_folder_invisible_to_workers_is_refused(
        self, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dask_cluster, "sees", blind)
        with pytest.raises(RunnerError, match=r"does not see the folder .*Fix: share it under the same path"):
            DaskCluster(cluster.scheduler_address, tmp_path)
        assert not list(tmp_path.iterdir())

    def test_cluster_without_workers_is_refused(self, tmp_path: Path) -> None:
        from distributed import LocalCluster

        with (
            LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as empty,
            pytest.raises(RunnerError) as refused,
        ):
            DaskCluster(empty.scheduler_address, tmp_path, 0, "WINNOW_CLUSTER_WAIT")
        at = empty.scheduler_address
        assert str(refused.value) == (
            f"No worker is at the cluster {at}; Winnow waited for one, 0 seconds. Fix: start some (dask worker {at} "
            "--nthreads 1), or wait longer (WINNOW_CLUSTER_WAIT, in seconds)."
        )

    def test_waiting_ends_when_the_last_worker_is_gone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from distributed import LocalCluster

        times = iter(range(0, 1000, 10))
        monkeypatch.setattr(dask_cluster, "LOOK", 0.01)
        monkeypatch.setattr(dask_cluster, "monotonic", lambda: next(times))
        monkeypatch.setattr(dask_cluster, "GATHERED", 1)  # the worker may end between finishing and being read
        with LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
        ) as local:
            runner = DaskCluster(local.scheduler_address, tmp_path, 25)
            (first,) = jobs(tmp_path, 1)

            def all_go() -> None:
                local.scale(0)
                (first.marks / "go").touch()

            asked = runner.map(square_when_told, (replace(first, number=one) for one in count()), all_go)
            with pytest.raises(RunnerError, match=r"Winnow waited for one, 25 seconds\. .*wait longer \(patience, in"):
                list(asked)
            assert next(times) == 50, "0: one was there; 10: missed; 20, 30: waited for; 40: given up"
            runner.close()

    def test_blocks_of_killed_workers_are_computed_by_others(self, cluster: Any, tmp_path: Path) -> None:
        runner = DaskCluster(cluster.scheduler_address, tmp_path)
        asked = jobs(tmp_path, 5)
        found = [job.number for job, _ in runner.map(die_the_first_time, asked)]
        runner.close()
        assert sorted(found) == list(range(5))
        assert [map_part(job.path).tolist() for job in asked] == [[one, one**2] for one in range(5)]

    def test_block_that_kills_its_workers_is_named_and_the_cluster_continues(self, tmp_path: Path) -> None:
        with two_workers(allowed_failures=0) as cluster:
            runner = DaskCluster(cluster.scheduler_address, tmp_path)
            with pytest.raises(BlockError, match="Squaring 7 cannot be done: the workers that had it died, 1 in turn"):
                list(runner.map(square_but_die_at_seven, jobs(tmp_path, 8)[7:]))
            assert len(list(runner.map(square, jobs(tmp_path, 3)))) == 3
            runner.close()


def blind(_: str) -> bool:
    return False
