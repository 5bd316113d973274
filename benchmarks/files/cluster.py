"""Neighbours and first ranking of many rows by one process, by a pool and by two Dask workers: CPU, peak, wall."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Table, folder, page, sized
from benchmarks.processes import Watch
from plcore.blocks import make_runner
from workflow.models.large_tables import rank_files

TITLE = "Many rows in blocks, by one process, two, and two Dask workers"
PACKAGES = ("numpy", "scikit-learn", "numba", "dask", "distributed")
D, K, CLASSES, CANDIDATES, TOP = 64, 10, 16, 3, 1000
ROWS, BLOCK = sized((1_000_000, 100_000), tiny=(12_000, 6_000))
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**26,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
"""Settings of Dask as docs/scale.md gives them to workers."""


def drawn_block(first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of `curved`: X (b, 64) and S bool (b, 16), three candidates each."""
    surface = np.random.default_rng(0).normal(size=(10, D))
    rng = np.random.default_rng([1, first])
    X = np.tanh(rng.normal(size=(end - first, 10)) @ surface) + 0.05 * rng.normal(size=(end - first, D))
    S = np.zeros((end - first, CLASSES), dtype=bool)
    chosen = rng.random((end - first, CLASSES)).argpartition(CANDIDATES, axis=1)[:, :CANDIDATES]
    np.put_along_axis(S, chosen, True, axis=1)
    return X, S


def write_arrays(where: Path, n_rows: int) -> Path:
    """Write X.npy and S.npy of such rows, block by block."""
    where.mkdir()
    X = np.lib.format.open_memmap(where / "X.npy", "w+", np.float32, (n_rows, D))
    S = np.lib.format.open_memmap(where / "S.npy", "w+", np.bool_, (n_rows, CLASSES))
    for first in range(0, n_rows, BLOCK):
        end = min(first + BLOCK, n_rows)
        X[first:end], S[first:end] = drawn_block(first, end)
    for one in (X, S):
        one.flush()
    return where


def write_parquet(where: Path, n_rows: int) -> Path:
    """Write Parquet files of a block each: x, a list of 64 numbers of single precision, and three candidates of 16."""
    where.mkdir(parents=True, exist_ok=True)
    names = pa.array([f"class {number:02d}" for number in range(CLASSES)])
    for first in range(0, n_rows, BLOCK):
        path = where / f"rows-{first:010d}.parquet"
        if path.exists():
            continue
        X, sets = drawn_block(first, min(first + BLOCK, n_rows))
        labels = names.take(pa.array(np.nonzero(sets)[1].astype(np.int32)))
        starts = np.arange(len(X) + 1, dtype=np.int32) * CANDIDATES
        x = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel().astype(np.float32)), D)
        table = pa.table({"x": x, "candidates": pa.ListArray.from_arrays(starts, labels)})
        aside = path.with_suffix(".half")
        pq.write_table(table, aside, compression="none", use_dictionary=["candidates.list.element"])
        aside.replace(path)
    return where


@contextmanager
def cluster(n_workers: int, memory: str) -> Iterator[str]:
    """Give the address of a Dask cluster on this machine."""
    from dask import config
    from distributed import LocalCluster

    how = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "memory_limit": memory}
    with config.set(QUIET), LocalCluster(dashboard_address=":0", host="127.0.0.1", **how) as local:
        yield local.scheduler_address


def ranked(
    table: Path, where: Path, runner_name: str
) -> tuple[Watch, dict[str, float], Any, dict[str, bytes], int]:
    """Rank a table by the runner that is named: its cost, when each kind of block was begun, the ranking, its parts."""
    where.mkdir()
    begun: dict[str, float] = {}

    def progress(what: str, _done: int, _total: int) -> None:
        begun.setdefault(what, time.perf_counter())

    how = {"n_neighbors": K, "most": TOP, "search": "approximate", "block": BLOCK, "progress": progress}
    with Watch() as watch:
        runner = make_runner(runner_name, where)
        try:
            ranking = rank_files(runner, table, where, **how)
            begun["end"] = time.perf_counter()
        finally:
            runner.close()
    parts = {path.name: sha256(path.read_bytes()).digest() for path in where.glob("part-*.npy")}
    size = sum(path.stat().st_size for path in where.glob("part-*.npy"))
    shutil.rmtree(where)
    return watch, begun, ranking, parts, size


def measure() -> str:
    table = Table("by | CPU s | wall s | peak MB | CPU beside one process | times faster")
    with folder(large=True) as here:
        rows = write_arrays(here / "table", ROWS)
        ranked(write_arrays(here / "few", 2 * BLOCK), here / "warm", "")  # compiled before it is timed
        one, begun, ranking, parts, size = ranked(rows, here / "inline", "")
        pool, _, _, by_pool, _ = ranked(rows, here / "pool", "processes:2")
        with cluster(2, "4GB") as address:
            dask, _, _, by_dask, _ = ranked(rows, here / "dask", address)
        if by_pool != parts or by_dask != parts:
            raise RuntimeError("Not all leave the same files.")
    for name, cost in (("one process", one), ("a pool of two", pool), ("two Dask workers", dask)):
        beside = () if cost is one else (f"{cost.cpu / one.cpu - 1:+.0%}", f"{one.wall / cost.wall:.2f}")
        table.add(name, f"{cost.cpu:.0f}", f"{cost.wall:.0f}", f"{cost.peak:.0f}", *beside)
    stages, times = Table("blocks | s"), list(begun.values())
    for name, first, last in zip(begun, times, times[1:], strict=False):
        stages.add(name, f"{last - first:.1f}")
    return page(
        f"""{ROWS:,} rows of `curved` of [neighbors](neighbors.md), {D} features, {K} neighbours with the row itself,
{CLASSES} classes with {CANDIDATES} candidates a row, from X.npy and S.npy on disk to the first {TOP:,} questions,
blocks of {BLOCK:,} rows: the whole of `winnow rank --cluster`. {ranking.told()} CPU seconds are those of all
processes, scheduler and start of workers included (of Dask, those that begin while it is measured); memory is what is
a process's own, without files that are mapped, summed over all processes, at its largest. Parts on disk:
{size / 2**20:,.0f} MB. All three leave the same {len(parts)} files, bit for bit.""",
        "Targets: at most 25 % more CPU than one process, at least 1.6 times faster with two.",
        table,
        "What one process does, wall seconds:",
        stages,
    )
