"""Ten million rows through the shell: `winnow rank --cluster` with two Dask workers of 4 GB; answers and labels then.

It takes hours. `--folder PLACE` keeps what it makes there: the same command goes on where another was stopped, and
counts all of them together.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.files.cluster import BLOCK, CANDIDATES, CLASSES, TOP, D, K, cluster, write_parquet
from benchmarks.harness import ROOT, Table, folder, page, sized
from benchmarks.processes import Watch, own_memory
from plcore import compile_kernels
from plcore.blocks import Inline, map_part
from plcore.neighbors import RowParts, find_parts, scale_rows
from plcore.neighbors.graph import neighbor_weights
from plcore.query import EffectRanker
from plcore.tables import find_row_files, read_in_parts

TITLE = "Ten million rows"
PACKAGES = ("numpy", "pyarrow", "scikit-learn", "numba", "dask", "distributed")
ROWS = sized(10_000_000, tiny=12_000)
WORKERS, MEMORY, ANSWERS = 2, "4GB", 10
NOTED_EVERY = 10.0
"""Seconds: a run that is killed has lost the count of so many at most."""
TOLD_BLOCKS = re.compile(r"([a-z][a-z, ]*): ([\d,]+) of ([\d,]+) blocks")
FOUND, TOLD, ENGINE = "ranking.csv", "ranking.txt", "engine.json"
ENGINE_CODE = "import sys; from benchmarks.files.ten_million import ask; ask(*sys.argv[1:])"


@dataclass
class Attempt:
    """What a step has cost until it ended or was stopped: CPU and wall seconds, MB at the peak, wall seconds by kind of
    block. step : "rank" or "engine"      done : it ended well"""

    step: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: float = 0.0
    kinds: dict[str, float] = field(default_factory=dict)
    done: bool = False


class Notes:
    """All attempts so far, in a file beside the data."""

    def __init__(self, place: Path) -> None:
        self._path = place / "measured.json"
        said = json.loads(self._path.read_text()) if self._path.exists() else []
        self.attempts = [Attempt(**one) for one in said]

    def write(self) -> None:
        aside = self._path.with_suffix(".half")
        aside.write_text(json.dumps([asdict(one) for one in self.attempts], indent=1))
        aside.replace(self._path)

    def of(self, step: str) -> list[Attempt]:
        return [one for one in self.attempts if one.step == step]

    def whole(self, step: str) -> Attempt:
        """Return all attempts together."""
        parts, whole = self.of(step), Attempt(step)
        whole.cpu, whole.wall = sum(one.cpu for one in parts), sum(one.wall for one in parts)
        whole.peak, whole.done = max(one.peak for one in parts), any(one.done for one in parts)
        for kind, seconds in (pair for one in parts for pair in one.kinds.items()):
            whole.kinds[kind] = whole.kinds.get(kind, 0.0) + seconds
        return whole


def said_by(command: list[str], out: Path, environment: dict[str, str]) -> Iterator[str]:
    """Give what a command says to a terminal on standard error, as it comes; its standard output goes to a file."""
    ours, theirs = pty.openpty()
    with out.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=theirs, env={**os.environ, **environment}, cwd=ROOT
        )
    os.close(theirs)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # what is read may end within a character
    try:
        while True:
            try:
                some = os.read(ours, 4096)
            except OSError:  # Linux's word for the end of a terminal
                break
            if not some:
                break
            yield decoder.decode(some)
    finally:
        os.close(ours)
        if process.poll() is None:
            process.terminate()
        status = process.wait()
    if status:
        raise subprocess.CalledProcessError(status, command)


def watched(notes: Notes, step: str, command: list[str], out: Path, environment: dict[str, str]) -> str:
    """Have a command done, and note what it costs with all that runs beside it; return what it said last."""
    attempt = Attempt(step)
    notes.attempts.append(attempt)
    kind, begun, noted, said = "start", time.perf_counter(), 0.0, ""

    def note(watch: Watch, *, done: bool = False) -> None:
        attempt.cpu, attempt.wall, attempt.peak, attempt.done = watch.cpu, watch.wall, watch.peak, done
        notes.write()

    with Watch(every=1.0) as watch:
        for some in said_by(command, out, environment):
            said = (said + some)[-2000:]
            now = time.perf_counter()
            attempt.kinds[kind] = attempt.kinds.get(kind, 0.0) + now - begun
            begun = now
            for told in TOLD_BLOCKS.findall(some):
                if told[0] != kind:
                    kind = told[0]
                    print(f"{time.strftime('%H:%M:%S')} {kind}, {told[1]} of {told[2]}", flush=True)
            if now - noted > NOTED_EVERY:
                note(watch)
                noted = now
    note(watch, done=True)
    return said


def rank(notes: Notes, place: Path, table: Path) -> None:
    """The first ranking, by two Dask workers that are started for it."""
    command = [sys.executable, "-m", "winnow_labels", "rank", "--cluster", str(table), "--top", str(TOP)]
    aside = place / "ranking.half"
    with cluster(WORKERS, MEMORY) as address:
        environment = {"WINNOW_HOME": str(place / "home"), "WINNOW_CLUSTER": address}
        said = watched(notes, "rank", command, aside, environment)
    (place / TOLD).write_text(said.strip().splitlines()[-1])
    aside.replace(place / FOUND)


def engine(notes: Notes, place: Path, table: Path) -> None:
    """Ten answers and a label for every row, by the engine of the query alone, in one process."""
    aside = place / "engine.half"
    command = [sys.executable, "-c", ENGINE_CODE, str(place), str(table)]
    watched(notes, "engine", command, aside, {"OMP_NUM_THREADS": "1"})
    aside.replace(place / ENGINE)


class NotDone(Inline):
    """Refuses to do anything: all parts have to be there."""

    def map(self, function: Callable[[Any], Any], jobs: Any) -> Any:
        for job in jobs:
            raise RuntimeError(f"This part is missing: {job}.")
        return iter(())


def graph_of(place: Path, table: Path) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Return neighbors int32 (n, K), weights int64 (n, K), candidates bool (n, m) and the classes, from the parts."""
    blocks, runner = place / "home" / "blocks", NotDone()
    files = find_row_files(table, blocks)
    read = read_in_parts(runner, blocks, files, BLOCK)
    rows = RowParts(blocks, read.rows, BLOCK, files.n_rows, files.n_features)
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
    """Write the label with most votes of every row, block by block; return its bytes."""
    names = pa.array(classes)
    schema = pa.schema([("row", pa.int64()), ("label", pa.dictionary(pa.int32(), pa.string()))])
    with pq.ParquetWriter(path, schema) as file:
        for first in range(0, ranker.n_targets_, BLOCK):
            rows = np.arange(first, min(first + BLOCK, ranker.n_targets_))
            most = pa.array(ranker.votes_.most(rows).astype(np.int32))
            labels = pa.DictionaryArray.from_arrays(most, names)
            file.write_table(pa.table([pa.array(rows + 1), labels], schema=schema))
    return path.stat().st_size


def ask(where: str, table: str) -> None:
    """In a process of its own: print CPU seconds as JSON. Nothing is computed again but what is measured."""
    compile_kernels()
    place, told = Path(where), {}
    before, begun = own_memory(), time.process_time()

    def took() -> float:
        nonlocal begun
        since, begun = begun, time.process_time()
        return begun - since

    neighbors, weights, sets, classes = graph_of(place, Path(table))
    told["read"] = took()
    ranker = EffectRanker("apl", K).fit_graph(neighbors, weights, sets, np.arange(len(neighbors)))
    told["fit"] = took()
    row, _ = int(ranker.next()[0]), ranker.settled_
    told["first"] = took()
    with (place / FOUND).open() as file:
        by_blocks = [int(line["row"]) - 1 for line in csv.DictReader(file)]
    if ranker.top(len(by_blocks)).tolist() != by_blocks:
        raise RuntimeError("The blocks have ranked the rows otherwise than one process does.")
    told["same"], told["answers"] = len(by_blocks), []
    took()
    for _ in range(ANSWERS):  # answered with the first candidate
        ranker.update(row, np.arange(len(classes)) == sets[row].argmax())
        row, _ = int(ranker.next()[0]), ranker.settled_
        told["answers"].append(took())
    told["resident"] = own_memory() - before
    took()
    told["exported"] = export(place / "labels.parquet", ranker, classes)
    told["export"] = took()
    print(json.dumps(told))


def size_of(where: Path, pattern: str) -> tuple[float, int]:
    """Return GB, and how many files."""
    sizes = [path.stat().st_size for path in where.glob(pattern)]
    return sum(sizes) / 1e9, len(sizes)


def measure() -> str:
    with folder(large=True) as place:
        table = write_parquet(place / f"table-{ROWS}", ROWS)
        notes = Notes(place)
        for step in (rank, engine):
            if not any(one.done for one in notes.of(step.__name__)):
                step(notes, place, table)
        return told(notes, place, table)


def told(notes: Notes, place: Path, table: Path) -> str:
    ranked, found = notes.whole("rank"), json.loads((place / ENGINE).read_text())
    given, files = size_of(table, "*.parquet")
    left, parts = size_of(place / "home" / "blocks", "part-*.npy")
    goes = len(notes.of("rank"))
    steps, kinds, after = Table("step | CPU s | wall s | peak MB"), Table("blocks | s"), Table("what | CPU s")
    for what, cost in (
        ("import, neighbours, first ranking: two Dask workers", ranked),
        ("ten answers and a label for every row: one process", notes.whole("engine")),
    ):
        steps.add(what, f"{cost.cpu:,.0f}", f"{cost.wall:,.0f}", f"{cost.peak:,.0f}")
    for kind, seconds in ranked.kinds.items():
        kinds.add(kind, f"{seconds:,.0f}")
    after.add("read neighbours and candidates from the parts", f"{found['read']:.1f}")
    after.add("score all rows", f"{found['fit']:.1f}")
    after.add(
        "the first question, and the share of predictions that no answer can change", f"{found['first']:.2f}"
    )
    longest = "the longest of ten answers, each with new scores, the next question and that share"
    after.add(longest, f"{max(found['answers']):.3f}")
    size = f"{found['exported'] / 1e6:,.0f} MB"
    after.add(
        f"the label with most votes of every row, into a Parquet file of {size}", f"{found['export']:.1f}"
    )
    answers = ", ".join(f"{seconds * 1e3:.2f}" for seconds in found["answers"])
    return page(
        f"""{ROWS:,} rows of `curved` of [neighbors](neighbors.md), {D} features of single precision, {CLASSES}
classes with {CANDIDATES} candidates a row, as {files} Parquet files of {BLOCK:,} rows ({given:.1f} GB). Then `winnow
rank --cluster` in a shell, with {WORKERS} Dask workers of {MEMORY} each: import, neighbours by cells, effect scores,
the first {TOP:,} rows to ask about. It told: "{(place / TOLD).read_text()}" CPU seconds are those of all processes,
scheduler and start of workers included; memory is what is a process's own, without files that are mapped, summed over
all processes, at its largest, looked at every second. {"In one go." if goes == 1 else f"In {goes} goes."} What a
stopped one had cost is counted, and what it had finished was not done again. Parts on disk: {left:.1f} GB in
{parts:,} files.""",
        steps,
        "Where the first of these spent its time, wall seconds on a machine that others used meanwhile:",
        kinds,
        "## After the ranking",
        f"""No project is made of the table, for which its features would be in memory as doubles,
{ROWS * D * 8 / 1e9:.1f} GB ([large_project](large_project.md) measures projects). What is measured is the engine of
the query alone (`plcore.query.EffectRanker`) on the neighbours and candidates that the parts hold, in one process
without features.""",
        after,
        f"""Ten answers, milliseconds: {answers}. The engine holds {1e6 * found["resident"] / ROWS:,.0f} bytes a row,
beyond a process that has loaded everything. Its first {found["same"]:,} rows are those of the ranking by blocks, in the
same order.""",
    )
