"""Ten million rows through the shell: `winnow rank --cluster` with two Dask workers of 4 GB; answers and labels then.

`python -m benchmarks ten_million` takes a folder of its own and some hours. `python -m benchmarks.ten_million --folder
PLACE` keeps what it makes there: the same command goes on where another was stopped, and counts all of them together.
`--rows 200000` shows how it looks after two minutes, and writes no result.
"""

from __future__ import annotations

import argparse
import codecs
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import report
from benchmarks.cluster import BLOCK, CANDIDATES, CLASSES, D, Watch, cluster, drawn_block
from benchmarks.ten_million_engine import FOUND, TOLD

ROWS = 10_000_000
WORKERS, MEMORY = 2, "4GB"
NOTED_EVERY = 10.0
"""Seconds: who is killed has lost the count of so many at most."""
TOLD_BLOCKS = re.compile(r"([a-z][a-z, ]*): ([\d,]+) of ([\d,]+) blocks")


@dataclass
class Attempt:
    """What a step has cost until it ended or was stopped: CPU and wall seconds, bytes at the peak, wall seconds by kind
    of block.

    step : "rank" or "engine"      done : it ended well
    """

    step: str
    cpu: float = 0.0
    wall: float = 0.0
    peak: int = 0
    kinds: dict[str, float] = field(default_factory=dict)
    done: bool = False


class Notes:
    """All attempts so far, in a file beside the data."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "measured.json"
        said = json.loads(self._path.read_text()) if self._path.exists() else []
        self.attempts = [Attempt(**one) for one in said]

    def write(self) -> None:
        aside = self._path.with_suffix(".half")
        aside.write_text(json.dumps([asdict(one) for one in self.attempts], indent=1))
        aside.replace(self._path)

    def of(self, step: str) -> list[Attempt]:
        return [one for one in self.attempts if one.step == step]

    def is_done(self, step: str) -> bool:
        return any(one.done for one in self.of(step))


def write_table(folder: Path, n_rows: int) -> Path:
    """Parquet files of a block each: x, a list of 64 numbers of single precision, and three candidates of 16."""
    folder.mkdir(parents=True, exist_ok=True)
    names = pa.array([f"class {number:02d}" for number in range(CLASSES)])
    for first in range(0, n_rows, BLOCK):
        path = folder / f"rows-{first:010d}.parquet"
        if path.exists():
            continue
        X, sets = drawn_block(first, min(first + BLOCK, n_rows))
        labels = np.nonzero(sets)[1].astype(np.int32)
        table = pa.table(
            {
                "x": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), D),
                "candidates": pa.ListArray.from_arrays(
                    np.arange(len(X) + 1, dtype=np.int32) * CANDIDATES, names.take(pa.array(labels))
                ),
            }
        )
        aside = path.with_suffix(".half")
        pq.write_table(table, aside, compression="none", use_dictionary=["candidates.list.element"])
        aside.replace(path)
    return folder


def said_by(command: list[str], out: Path, environment: dict[str, str]) -> Iterator[str]:
    """What a command says to a terminal on standard error, as it comes; its standard output goes to a file."""
    ours, theirs = pty.openpty()
    with out.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=theirs, env=environment)
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


def measured(notes: Notes, step: str, command: list[str], out: Path, environment: dict[str, str]) -> str:
    """Have a command done, and note what it costs with all that runs beside it; what it said last."""
    attempt = Attempt(step)
    notes.attempts.append(attempt)
    kind, begun, noted, said = "start", time.perf_counter(), 0.0, ""
    with Watch(every=1.0) as watch:

        def note(*, done: bool = False) -> None:
            cost = watch.so_far()
            attempt.cpu, attempt.wall, attempt.peak, attempt.done = cost.cpu, cost.wall, cost.peak, done
            notes.write()

        for some in said_by(command, out, {**os.environ, **environment}):
            said = (said + some)[-2000:]
            now = time.perf_counter()
            attempt.kinds[kind] = attempt.kinds.get(kind, 0.0) + now - begun
            begun = now
            for told in TOLD_BLOCKS.findall(some):
                if told[0] != kind:
                    kind = told[0]
                    print(f"{time.strftime('%H:%M:%S')} {kind}, {told[1]} of {told[2]}", flush=True)
            if now - noted > NOTED_EVERY:
                note()
                noted = now
        note(done=True)
    return said


def rank(notes: Notes, folder: Path, table: Path) -> None:
    """The first ranking, by two Dask workers that are started for it."""
    command = [sys.executable, "-m", "winnow", "rank", "--cluster", str(table), "--top", "1000"]
    with cluster(WORKERS, MEMORY) as address:
        environment = {"WINNOW_HOME": str(folder / "home"), "WINNOW_CLUSTER": address}
        aside = folder / "ranking.half"
        said = measured(notes, "rank", command, aside, environment)
    (folder / TOLD).write_text(said.strip().splitlines()[-1])
    aside.replace(folder / FOUND)


def engine(notes: Notes, folder: Path, table: Path) -> None:
    """Ten answers and a label for every row, by the engine of the query alone, in one process."""
    command = [sys.executable, "-m", "benchmarks.ten_million_engine", str(folder), str(table)]
    aside = folder / "engine.half"
    measured(notes, "engine", command, aside, {})
    aside.replace(folder / "engine.json")


def summed(attempts: list[Attempt]) -> Attempt:
    whole = Attempt(attempts[0].step)
    for one in attempts:
        whole.cpu, whole.wall, whole.peak = (
            whole.cpu + one.cpu,
            whole.wall + one.wall,
            max(whole.peak, one.peak),
        )
        for kind, seconds in one.kinds.items():
            whole.kinds[kind] = whole.kinds.get(kind, 0.0) + seconds
    return whole


def size_of(folder: Path, pattern: str) -> float:
    """GB."""
    return sum(path.stat().st_size for path in folder.glob(pattern)) / 1e9


def body(notes: Notes, folder: Path, table: Path, n_rows: int) -> str:
    ranked, asked = summed(notes.of("rank")), summed(notes.of("engine"))
    found = json.loads((folder / "engine.json").read_text())
    blocks, told = folder / "home" / "blocks", (folder / TOLD).read_text()
    files, parts = len(list(table.glob("*.parquet"))), len(list(blocks.glob("part-*.npy")))
    given, left = size_of(table, "*.parquet"), size_of(blocks, "part-*.npy")
    times = "In one go." if len(notes.of("rank")) == 1 else f"In {len(notes.of('rank'))} goes."
    size = found["exported"] / 1e6
    answers = ", ".join(f"{seconds * 1e3:.2f}" for seconds in found["answers"])
    kinds = "\n".join(f"| {kind} | {seconds:,.0f} |" for kind, seconds in ranked.kinds.items())
    return f"""
{n_rows:,} rows of `curved` of [neighbors](neighbors.md), {D} features of single precision, {CLASSES} classes with
{CANDIDATES} candidates a row, as {files} Parquet files of {BLOCK:,} rows ({given:.1f} GB). Then `winnow rank --cluster`
in a shell, with {WORKERS} Dask workers of {MEMORY} each: import, neighbours by cells, effect scores, the first 1,000
rows to ask about. It told: "{told}" CPU seconds are those of all processes,
scheduler and start of workers included; memory is what is a process's own, without files that are mapped, summed over
all processes, at its largest, looked at every second. {times} What a stopped one had cost is counted, and what it had
finished was not done again. Parts on disk: {left:.1f} GB in {parts:,} files.

| step | CPU s | wall s | peak MB |
|---|---|---|---|
{step_line("import, neighbours, first ranking: two Dask workers", ranked)}
{step_line("ten answers and a label for every row: one process", asked)}

Where the first of these spent its time, wall seconds on a machine that others used meanwhile:

| blocks | s |
|---|---|
{kinds}

## After the ranking

No project is made of the table, for which its features would be in memory as doubles, {n_rows * D * 8 / 1e9:.1f} GB
([large_project](large_project.md) measures projects). What is measured is the engine of the query alone
(`plcore.query.EffectRanker`) on the neighbours and candidates that the parts hold, in one process without features.

| what | CPU s |
|---|---|
| read neighbours and candidates from the parts | {found["read"]:.1f} |
| score all rows | {found["fit"]:.1f} |
| the first question, and the share of predictions that no answer can change | {found["first"]:.2f} |
| the longest of ten answers, each with new scores, the next question and that share | {max(found["answers"]):.3f} |
| the label with most votes of every row, into a Parquet file of {size:,.0f} MB | {found["export"]:.1f} |

Ten answers, milliseconds: {answers}. The engine holds {found["resident"] / n_rows:,.0f} bytes a row, beyond a process
that has loaded everything. Its first {found["same"]:,} rows are those of the ranking by blocks, in the same order.
"""


def step_line(what: str, cost: Attempt) -> str:
    return f"| {what} | {cost.cpu:,.0f} | {cost.wall:,.0f} | {cost.peak / 2**20:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--rows", type=int, default=ROWS, help=f"with others than {ROWS:,} nothing is written"
    )
    parser.add_argument("--folder", type=Path, help="kept, so that the same command can go on")
    parser.add_argument("names", nargs="*")  # `python -m benchmarks ten_million` leaves its own name here
    told = parser.parse_args()
    if told.folder is not None:
        told.folder.mkdir(parents=True, exist_ok=True)
        run(told.folder, told.rows)
        return
    with tempfile.TemporaryDirectory(dir=report.RESULTS.parent) as place:
        run(Path(place), told.rows)


def run(folder: Path, n_rows: int) -> None:
    """Go on from what is in the folder."""
    table = write_table(folder / f"table-{n_rows}", n_rows)
    notes = Notes(folder)
    for step in (rank, engine):
        if not notes.is_done(step.__name__):
            step(notes, folder, table)
    text = body(notes, folder, table, n_rows)
    if n_rows != ROWS:
        print(text)
        return
    packages = ("numpy", "pyarrow", "scikit-learn", "numba", "dask", "distributed")
    report.write("ten_million", "Ten million rows", text, packages)


if __name__ == "__main__":
    main()
