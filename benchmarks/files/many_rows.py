"""Many rows: ranked in blocks by processes and by Dask, and as a project."""

from __future__ import annotations

import codecs
import csv
import json
import os
import pty
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import homes
from benchmarks.files.imports import import_drawn
from benchmarks.harness import ROOT, Table, benchmark, clocked, command_of, folder, kept, mode, page, size_of, sized
from benchmarks.processes import Watch, own_memory, watched
from plcore import compile_kernels
from plcore.blocks import Inline, make_runner, map_part
from plcore.neighbors import RowParts, find_parts, scale_rows
from plcore.neighbors.graph import neighbor_weights
from plcore.query import EffectRanker
from plcore.tables import find_row_files, read_in_parts
from workflow.answering import loop, press
from workflow.models.large_tables import rank_files
from workflow.projects import progress
from workflow.rows import queue

DASK = "dask", "distributed"
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
"""Settings of Dask that docs/scale.md recommends for workers."""


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
    """Write X.npy and S.npy of these rows, block by block."""
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
    """Write a Parquet file per block: x, a list of 64 numbers of single precision, and three candidates of 16."""
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
def dask_workers(n_workers: int, memory: str) -> Iterator[str]:
    """Start a Dask cluster on this machine and yield its address."""
    from dask import config
    from distributed import LocalCluster

    how = {"n_workers": n_workers, "threads_per_worker": 1, "processes": True, "memory_limit": memory}
    with config.set(QUIET), LocalCluster(dashboard_address=":0", host="127.0.0.1", **how) as local:
        yield local.scheduler_address


def ranked(table: Path, where: Path, runner_name: str) -> tuple[Watch, dict[str, float], Any, dict[str, bytes], int]:
    """Rank a table with the named runner: return its cost, the start of each kind of block, the ranking, its parts."""
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
    size, _ = size_of(where, "part-*.npy")
    shutil.rmtree(where)
    return watch, begun, ranking, parts, size


@benchmark("Many rows in blocks, by one process, two, and two Dask workers", packages=DASK)
def cluster() -> str:
    table = Table("by | CPU s | wall s | peak MB | CPU next to one process | times faster", ".0f")
    with folder(large=True) as here:
        rows = write_arrays(here / "table", ROWS)
        ranked(write_arrays(here / "few", 2 * BLOCK), here / "warm", "")  # compile before timing
        one, begun, ranking, parts, size = ranked(rows, here / "inline", "")
        pool, _, _, by_pool, _ = ranked(rows, here / "pool", "processes:2")
        with dask_workers(2, "4GB") as address:
            dask, _, _, by_dask, _ = ranked(rows, here / "dask", address)
        if by_pool != parts or by_dask != parts:
            raise RuntimeError("Not all leave the same files.")
    for name, cost in (("one process", one), ("a pool of two", pool), ("two Dask workers", dask)):
        beside = () if cost is one else (f"{cost.cpu / one.cpu - 1:+.0%}", f"{one.wall / cost.wall:.2f}")
        table.add(name, cost.cpu, cost.wall, cost.peak, *beside)
    stages, times = Table("blocks | s", ".1f"), list(begun.values())
    for name, first, last in zip(begun, times, times[1:], strict=False):
        stages.add(name, last - first)
    return page(
        f"""{ROWS:,} rows of `curved` of [neighbors](neighbors.md), {D} features, {K} neighbours with the row itself,
{CLASSES} classes with {CANDIDATES} candidates a row, from X.npy and S.npy on disk to the first {TOP:,} questions,
blocks of {BLOCK:,} rows: the whole of `winnow rank --cluster`. {ranking.told()} CPU seconds cover all processes, with
the scheduler and the start of workers (for Dask, only processes that start during the measurement); memory is private
memory without mapped files, the largest sum over all processes. Parts on disk: {size:,.0f} MB. All three write the same
{len(parts)} files, bit for bit.""",
        "Targets: at most 25% more CPU than one process, at least 1.6 times faster with two.",
        table,
        "Steps of one process, wall seconds:",
        stages,
    )


# Ten million rows through the shell

MANY = sized(10_000_000, tiny=12_000)
WORKERS, MEMORY, ANSWERS = 2, "4GB", 10
SHELL_BLOCK = 100_000  # rows, of `winnow rank`
TOLD_BLOCKS = re.compile(r"([a-z][a-z, ]*): ([\d,]+) of ([\d,]+) blocks")


def said_by(command: list[str], out: Path, environment: dict[str, str]) -> Iterator[str]:
    """Yield what a command prints to a terminal on standard error, as it arrives; its standard output goes to a
    file."""
    ours, theirs = pty.openpty()
    with out.open("wb") as file:
        how = {"stdout": file, "stderr": theirs, "env": {**os.environ, **environment}, "cwd": ROOT}
        process = subprocess.Popen(command, **how)
    os.close(theirs)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
    try:
        while some := os.read(ours, 4096):
            yield decoder.decode(some)
    except OSError:  # Linux signals the end of a terminal this way
        pass
    finally:
        os.close(ours)
        if process.poll() is None:
            process.terminate()
        status = process.wait()
    if status:
        raise subprocess.CalledProcessError(status, command)


def told_by(command: list[str], out: Path, **environment: str) -> dict[str, Any]:
    """Return what a command and its child processes cost, seconds by kind of block, and its last message."""
    kind, said, kinds, begun = "start", "", {"start": 0.0}, time.perf_counter()
    with Watch(every=1.0) as watch:
        for some in said_by(command, out, environment):
            said, now = (said + some)[-2000:], time.perf_counter()
            kinds[kind], begun = kinds.get(kind, 0.0) + now - begun, now
            for told in TOLD_BLOCKS.findall(some):
                if told[0] != kind:
                    kind = told[0]
                    print(f"{time.strftime('%H:%M:%S')} {kind}, {told[1]} of {told[2]}", flush=True)
    return {"cpu": watch.cpu, "wall": watch.wall, "peak": watch.peak, "kinds": kinds, "said": said.strip()}


def rank_through_shell(place: Path, table: Path) -> dict[str, Any]:
    """Rank the first rows with two Dask workers that the command starts."""
    shutil.rmtree(place / "home", ignore_errors=True)  # left by an aborted run
    command = [sys.executable, "-m", "winnow_labels", "rank", "--cluster", str(table), "--top", str(TOP)]
    with dask_workers(WORKERS, MEMORY) as address:
        home = {"WINNOW_HOME": str(place / "home"), "WINNOW_CLUSTER": address}
        return told_by(command, place / "ranking.csv", **home)


def engine(place: Path, table: Path) -> dict[str, Any]:
    """Ask ten questions and label every row, with the query engine alone, in one process."""
    out = place / "engine.json"
    cost = told_by(command_of(ask, str(place), str(table)), out, OMP_NUM_THREADS="1")
    return cost | {"found": json.loads(out.read_text().splitlines()[-1])}


class NotDone(Inline):
    """Refuses to compute: all parts must already exist."""

    def map(self, function: Any, jobs: Any) -> Any:
        for job in jobs:
            raise RuntimeError(f"This part is missing: {job}.")
        return iter(())


def graph_of(place: Path, table: Path) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Return neighbors int32 (n, K), weights int64 (n, K), candidates bool (n, m) and the classes, from the parts."""
    blocks, runner = place / "home" / "blocks", NotDone()
    files = find_row_files(table, blocks)
    read = read_in_parts(runner, blocks, files, SHELL_BLOCK)
    rows = RowParts(blocks, read.rows, SHELL_BLOCK, files.n_rows, files.n_features)
    neighbors = np.empty((files.n_rows, K), dtype=np.int32)
    weights = np.empty((files.n_rows, K), dtype=np.int64)
    for name in find_parts(runner, scale_rows(runner, rows), K - 1).names:
        part = map_part(blocks / name)
        own, distances = part["row"], np.zeros((len(part), K))
        distances[:, 1:] = np.sqrt(part["squared"])
        neighbors[own, 0], neighbors[own, 1:] = own, part["neighbors"]
        weights[own] = neighbor_weights(distances, "linear")
    packed = map_part(blocks / read.candidates)
    sets = np.unpackbits(packed, axis=1, bitorder="little", count=len(read.classes)).view(bool)
    return neighbors, weights, sets, read.classes


def export(path: Path, ranker: EffectRanker, classes: tuple[str, ...]) -> int:
    """Write the most-voted label of every row, block by block; return its bytes."""
    names = pa.array(classes)
    schema = pa.schema([("row", pa.int64()), ("label", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, ranker.n_targets_, BLOCK):
            rows = np.arange(first, min(first + BLOCK, ranker.n_targets_))
            most = pa.array(ranker.votes_.most(rows).astype(np.int32))
            labels = pa.DictionaryArray.from_arrays(most, names)
            file.write_table(pa.table([pa.array(rows + 1), labels], schema=schema))
    return path.stat().st_size


def ask(where: str, table: str) -> dict[str, Any]:
    """Return CPU seconds, from a separate process. Only the measured steps are computed again."""
    compile_kernels()
    place, found = Path(where), {}
    before, begun = own_memory(), time.process_time()

    def took() -> float:
        nonlocal begun
        since, begun = begun, time.process_time()
        return begun - since

    neighbors, weights, sets, classes = graph_of(place, Path(table))
    found["read"] = took()
    ranker = EffectRanker("apl", K).fit_graph(neighbors, weights, sets, np.arange(len(neighbors)))
    found["fit"] = took()
    row, _ = int(ranker.next()[0]), ranker.settled_
    found["first"] = took()
    with (place / "ranking.csv").open() as file:
        by_blocks = [int(line["row"]) - 1 for line in csv.DictReader(file)]
    if ranker.top(len(by_blocks)).tolist() != by_blocks:
        raise RuntimeError("The blocks have ranked the rows otherwise than one process does.")
    found["same"], found["answers"] = len(by_blocks), []
    took()
    for _ in range(ANSWERS):  # answered with the first candidate
        ranker.update(row, np.arange(len(classes)) == sets[row].argmax())
        row, _ = int(ranker.next()[0]), ranker.settled_
        found["answers"].append(took())
    found["resident"] = own_memory() - before
    took()
    found["exported"] = export(place / "labels.parquet", ranker, classes)
    found["export"] = took()
    return found


@benchmark("Ten million rows", packages=DASK, long=True)
def ten_million() -> str:
    with folder(large=True) as place:
        table = write_parquet(place / f"table-{MANY}", MANY)
        ranked = kept("ten_million", "rank", lambda: rank_through_shell(place, table), place)
        asked = kept("ten_million", "engine", lambda: engine(place, table), place)
        (given, n_files), (left, n_parts) = size_of(table), size_of(place / "home" / "blocks", "part-*.npy")
    found = asked["found"]
    steps, kinds = Table("step | CPU s | wall s | peak MB", ",.0f"), Table("blocks | s", ",.0f")
    steps.add("import, neighbours, first ranking: two Dask workers", *(ranked[key] for key in ("cpu", "wall", "peak")))
    steps.add("ten answers and a label for every row: one process", *(asked[key] for key in ("cpu", "wall", "peak")))
    for kind, seconds in ranked["kinds"].items():
        kinds.add(kind, seconds)
    after = Table("what | CPU s")
    for what, seconds in (
        ("read neighbours and candidates from the parts", found["read"]),
        ("score all rows", found["fit"]),
        ("the first question, and the share of predictions that no answer can change", found["first"]),
        ("the longest of ten answers, each with new scores, the next question and that share", max(found["answers"])),
        (
            f"the label with most votes of every row, a Parquet file of {found['exported'] / 1e6:,.0f} MB",
            found["export"],
        ),
    ):
        after.add(what, seconds)
    return page(
        f"""{MANY:,} rows of `curved` of [neighbors](neighbors.md), {D} features of single precision, {CLASSES}
classes with {CANDIDATES} candidates a row, as {n_files} Parquet files of {BLOCK:,} rows ({given / 1e3:.1f} GB). Then
`winnow rank --cluster` in a shell, with {WORKERS} Dask workers of {MEMORY} each: import, neighbours by cells, effect
scores, the first {TOP:,} rows to ask about. It told: "{ranked["said"].splitlines()[-1]}" CPU seconds are those of all
processes, scheduler and start of workers included; memory is private memory without mapped files, the largest sum over
all processes, sampled every second. Parts on disk: {left / 1e3:.1f} GB in {n_parts:,}
files.""",
        steps,
        "Where the first of these spent its time, wall seconds on a shared machine:",
        kinds,
        "## After the ranking",
        f"""No project is made of the table, for which its features would be in memory as doubles,
{MANY * D * 8 / 1e9:.1f} GB ([large_project](large_project.md) measures projects). Only the query engine is measured
(`plcore.query.EffectRanker`) on the neighbours and candidates of the parts, in one process without features.""",
        after,
        f"""Ten answers, milliseconds: {", ".join(f"{seconds * 1e3:.2f}" for seconds in found["answers"])}. The engine
holds {1e6 * found["resident"] / MANY:,.0f} bytes a row, beyond a process that has loaded everything. Its first
{found["same"]:,} rows are those of the ranking by blocks, in the same order.""",
    )


# A project of many rows

SEARCHED = sized((100_000, 300_000), tiny=(1_000,), full=(1_000_000, 3_000_000, 10_000_000))
DRAWN = sized((100_000, 300_000, 1_000_000, 3_000_000), tiny=(1_000,), full=())
"""Sizes with drawn neighbours: the search is measured by `neighbors` and `cluster`."""
ENOUGH, MORE = 1_000_000, 10_000_000
"""Minimum size for an extrapolation, and the size that it is made for."""
PRESSES = 10
STEPS = {
    "import": "import: parts read and checked, the project made and stored, s",
    "open": "opening, until the first question, s",
    "press": "a press: the median of ten answers, each with the next question, ms",
    "queue": "the first page of the queue, ms",
    "search": "a search in the queue, ms",
    "progress": "Progress, ms",
    "export": "`winnow export` to Parquet, s",
}
SPACE = {
    "import": "import, own memory",
    "import, mapped": "import, mapped files",
    "opened": "opened project, own memory above that of a process without one",
    "used": "the same after ten answers, queue, search and Progress",
    "export": "export, own memory",
    "parts": "on disk: the parts",
    "home": "on disk: the project, its table and its neighbours",
    "labels": "on disk: the labels",
}
WINNOW = [sys.executable, "-m", "winnow_labels"]


def visit() -> dict[str, Any]:
    """Open project 1 in a separate process and use it as people do; return CPU seconds and MB."""
    with homes.owner_of(os.environ["WINNOW_HOME"]) as owner:
        seat, before, cpu = owner.at(1), own_memory(), {}
        question, cpu["open"] = clocked(lambda: loop.next_question(seat))
        opened, presses = own_memory() - before, []
        for _ in range(PRESSES):
            now = question
            told, spent = clocked(
                lambda now=now: press.press(seat, now.token, "is", [now.choices[0]], shown=now.shown, zone="UTC")
            )
            question = told.after.question
            presses.append(spent)
        cpu["press"] = statistics.median(presses)
        for _ in range(2):  # the second visit counts: the first fills the caches
            cpu["queue"] = clocked(lambda: queue.list_queue(seat))[1]
            cpu["search"] = clocked(lambda: queue.list_queue(seat, "class 07 09"))[1]
            found, cpu["progress"] = clocked(lambda: progress.read_progress(seat))
        memory = {"opened": opened, "used": own_memory() - before}
        return {"cpu": cpu, "memory": memory, "recall": found.recall}


def run(place: Path, n_rows: int, drawn: bool) -> dict[str, Any]:
    """Return CPU seconds and MB of all steps at this many rows."""
    called = f"{n_rows}{'-drawn' * drawn}"
    home = place / f"home-{called}"
    shutil.rmtree(home, ignore_errors=True)  # left by an aborted run
    table = write_parquet(place / f"table-{n_rows}", n_rows)
    command = command_of(import_drawn, table, home) if drawn else [*WINNOW, "import", str(table)]
    said, imported = watched(command, every=0.05, WINNOW_HOME=str(home))
    assert f"Project 1: {n_rows} rows" in said, said
    said, _ = watched(command_of(visit), every=0.05, WINNOW_HOME=str(home))
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    target = place / f"labels-{called}.parquet"
    _, exported = watched([*WINNOW, "export", "1", "--to", str(target)], every=0.05, WINNOW_HOME=str(home))
    assert pq.read_metadata(target).num_rows == n_rows
    found["cpu"] |= {"import": imported.cpu, "export": exported.cpu}
    found["memory"] |= {
        "import": imported.largest, "import, mapped": imported.largest_mapped, "export": exported.largest,
        "parts": size_of(table)[0], "home": size_of(home)[0], "labels": target.stat().st_size / 1e6,
    }  # fmt: skip
    shutil.rmtree(home)
    target.unlink()
    return found


def tables(found: dict[int, dict[str, Any]]) -> str:
    """Return the measurements by size."""
    sizes = [f"{n:,}" for n in found]
    cpu, memory = Table(["CPU", *sizes], ",.1f"), Table(["MB", *sizes], ",.0f")
    for step, words in STEPS.items():
        cpu.add(words, *((1e3 if words.endswith("ms") else 1) * one["cpu"][step] for one in found.values()))
    for what, words in SPACE.items():
        memory.add(words, *(one["memory"][what] for one in found.values()))
    return page(cpu, memory)


def ahead(found: dict[int, dict[str, Any]]) -> str:
    """Extrapolate to more rows from the two largest sizes; empty if these are too small."""
    if len(found) < 2 or max(found) < ENOUGH:
        return ""
    (fewer, small), (most, large) = list(found.items())[-2:]

    def a_row(figure: Callable[[dict[str, Any]], float]) -> float:
        return (figure(large) - figure(small)) / (most - fewer)

    held, making = (1e6 * a_row(lambda one, what=what: one["memory"][what]) for what in ("opened", "import"))
    opening, exporting = (a_row(lambda one, step=step: one["cpu"][step]) for step in ("open", "export"))
    return f"""Between the last two sizes, each further row takes {held:,.0f} bytes of the opened project's own memory
    and
{making:,.0f} at the peak of the import, {1e6 * opening:.1f} CPU microseconds to open and {1e6 * exporting:.1f} to
export. Extrapolated, not measured: {MORE:,} rows would hold {held * MORE / 1e9:.1f} GB open, take
{making * MORE / 1e9:.1f} GB to import, and {opening * MORE:,.0f} CPU seconds to open and {exporting * MORE:,.0f} to
export; without the search for neighbours ([scale](../../docs/scale.md))."""


@benchmark("A project of many rows" + ", their neighbours searched" * (mode() == "full"), full=True)
def large_project() -> str:
    """Rows of `curved` of [neighbors](neighbors.md): {D} features as a column of lists of single precision, {CLASSES}
    classes with {CANDIDATES} candidates a row, as Parquet files of {BLOCK:,} rows in a folder. Import and export are
    commands in separate processes; the project is opened and used in another. CPU seconds of all processes of a
    step, milliseconds of waiting times; wall times are left out, since the machine was shared. Memory is that of the
    largest process of a step, without pages of mapped files, which the system reclaims at will. Targets: no figure
    grows faster than the rows, and an answer does not grow.

    The command `winnow import` finds the neighbours, exactly or by cells, whichever is cheaper:
    """
    with folder(large=True) as place:
        searched, drawn = (
            {
                n: kept("large_project", f"{n}{'-drawn' * by_chance}", lambda f=(place, n, by_chance): run(*f), place)
                for n in sizes
            }
            for sizes, by_chance in ((SEARCHED, False), (DRAWN, True))
        )
    # An exact search has no recall to measure.
    recall = ", ".join(
        f"{1.0 if one['recall'] is None else one['recall']:.3f} at {n:,} rows" for n, one in searched.items()
    )
    with_drawn = "With random neighbours instead of the search, whose cost is in [neighbors](neighbors.md):"
    return page(
        tables(searched),
        *((with_drawn, tables(drawn), ahead(drawn)) if drawn else ()),
        f"Of the true neighbours of a sample the search found {recall}." if mode() == "full" else "",
    )
