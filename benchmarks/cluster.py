"""Neighbours and first ranking of many rows by one process, by a pool and by two Dask workers: CPU, peak, wall.

`python -m benchmarks cluster` takes 1e6 rows.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import report
from plcore.common.runners import make_runner
from workflow.outgoing.large_tables import LargeRanking, rank_files

D, K, CLASSES, CANDIDATES = 64, 10, 16, 3
TOP = 1000
BLOCK = 100_000
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
"""Settings of Dask as docs/scale.md gives them to workers."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """cpu, wall : seconds      peak : bytes that are a process's own (no mapped files), largest sum over all at once"""

    cpu: float
    wall: float
    peak: int


def children_of(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for tasks in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in tasks.read_text().split()]
            except OSError:
                continue
    return found


class Watch:
    """CPU seconds and own memory of this process and all below it, looked at every so many seconds; what looking takes,
    more for more processes, is not counted."""

    def __init__(self, every: float = 0.1) -> None:
        self._every = every
        self._seconds: dict[int, float] = {}
        self.peak = 0
        self._looking = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on)

    def __enter__(self) -> Watch:
        self._look()
        self._before = sum(self._seconds.values())
        self.peak, self._begun = 0, time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()
        self.cost = self.so_far()

    def so_far(self) -> Cost:
        cpu = sum(list(self._seconds.values())) - self._before - self._looking
        return Cost(cpu, time.perf_counter() - self._begun, self.peak)

    def _look_on(self) -> None:
        while not self._over.wait(self._every):
            self._look()
            self._looking = time.thread_time()

    def _look(self) -> None:
        own = 0
        for pid in children_of(os.getpid()):
            try:
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
            except OSError:
                continue
            self._seconds[pid] = (int(stat[11]) + int(stat[12])) / TICK
            own += (resident - shared) * PAGE
        self.peak = max(self.peak, own)


def drawn_block(first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows first..end - 1 of `curved`: X (b, 64) and S bool (b, 16), three candidates each."""
    surface = np.random.default_rng(0).normal(size=(10, D))
    rng = np.random.default_rng([1, first])
    X = np.tanh(rng.normal(size=(end - first, 10)) @ surface) + 0.05 * rng.normal(size=(end - first, D))
    S = np.zeros((end - first, CLASSES), dtype=bool)
    chosen = rng.random((end - first, CLASSES)).argpartition(CANDIDATES, axis=1)[:, :CANDIDATES]
    np.put_along_axis(S, chosen, True, axis=1)
    return X, S


def write_table(folder: Path, n_rows: int) -> Path:
    """X.npy and S.npy of such rows, written block by block."""
    folder.mkdir()
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n_rows, D))
    S = np.lib.format.open_memmap(folder / "S.npy", "w+", np.bool_, (n_rows, CLASSES))
    for first in range(0, n_rows, BLOCK):
        end = min(first + BLOCK, n_rows)
        X[first:end], S[first:end] = drawn_block(first, end)
    X.flush()
    S.flush()
    return folder


@contextmanager
def cluster(n_workers: int, memory: str) -> Iterator[str]:
    """The address of a Dask cluster on this machine."""
    from dask import config
    from distributed import LocalCluster

    with (
        config.set(QUIET),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=memory,
            dashboard_address=":0",
            host="127.0.0.1",
        ) as local,
    ):
        yield local.scheduler_address


class Stages:
    """When each kind of block was begun."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}
        self.ended = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self.begun:
            print(f"{time.strftime('%H:%M:%S')} {what} of {total}", flush=True)
        self.begun.setdefault(what, time.perf_counter())

    def lines(self) -> list[str]:
        names, times = list(self.begun), [*self.begun.values(), self.ended]
        return [f"| {name} | {times[i + 1] - times[i]:.1f} |" for i, name in enumerate(names)]


def measured(table: Path, folder: Path, where: str) -> tuple[Cost, Stages, LargeRanking]:
    """What ranking a table costs, by the runner that is named."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    stages = Stages()
    with Watch() as watch:
        runner = make_runner(where, folder)
        try:
            ranking = rank_files(
                runner,
                table,
                folder,
                n_neighbors=K,
                most=TOP,
                search="approximate",
                block=BLOCK,
                progress=stages,
            )
            stages.ended = time.perf_counter()
        finally:
            runner.close()
    return watch.cost, stages, ranking


def line(name: str, cost: Cost, one: Cost | None = None) -> str:
    beside = "" if one is None else f"{cost.cpu / one.cpu - 1:+.0%} | {one.wall / cost.wall:.2f}"
    return f"| {name} | {cost.cpu:.0f} | {cost.wall:.0f} | {cost.peak / 2**20:.0f} | {beside or ' | '} |"


def parts_of(folder: Path) -> dict[str, bytes]:
    return {path.name: sha256(path.read_bytes()).digest() for path in folder.glob("part-*.npy")}


def main() -> None:
    n_rows = 1_000_000
    with tempfile.TemporaryDirectory(dir=report.RESULTS.parent) as place:
        here = Path(place)
        table = write_table(here / "table", n_rows)
        measured(write_table(here / "few", 2 * BLOCK), here / "warm", "")  # compiled before it is timed
        shutil.rmtree(here / "warm")
        one, stages, ranking = measured(table, here / "inline", "")
        parts = parts_of(here / "inline")
        size = sum(path.stat().st_size for path in (here / "inline").glob("part-*.npy"))
        shutil.rmtree(here / "inline")
        pool, _, _ = measured(table, here / "pool", "processes:2")
        assert parts_of(here / "pool") == parts
        shutil.rmtree(here / "pool")
        with cluster(2, "4GB") as address:
            dask, _, _ = measured(table, here / "dask", address)
        assert parts_of(here / "dask") == parts
    report.write(
        "cluster",
        "Many rows in blocks, by one process, two, and two Dask workers",
        f"""
{n_rows:,} rows of `curved` of [neighbors](neighbors.md), {D} features, {K} neighbours with the row itself, {CLASSES}
classes with {CANDIDATES} candidates a row, from X.npy and S.npy on disk to the first {TOP:,} questions, blocks of
{BLOCK:,} rows: the whole of `winnow rank --cluster`. {ranking.told()} CPU seconds are those of all processes, scheduler
and start of workers included (of Dask, those that begin while it is measured); memory is what is a process's own,
without files that are mapped, summed over all processes, at its largest. Parts on disk: {size / 2**20:,.0f} MB. All
three leave the same {len(parts)} files, bit for bit.

Targets: at most 25 % more CPU than one process, at least 1.6 times faster with two.

| by | CPU s | wall s | peak MB | CPU beside one process | times faster |
|---|---|---|---|---|---|
{line("one process", one)}
{line("a pool of two", pool, one)}
{line("two Dask workers", dask, one)}

What one process does, wall seconds:

| blocks | s |
|---|---|
{chr(10).join(stages.lines())}
""",
        ("numpy", "scikit-learn", "numba", "dask", "distributed"),
    )


if __name__ == "__main__":
    main()
