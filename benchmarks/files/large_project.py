"""A project of many rows, from Parquet parts to exported labels: the cost of every step, and memory of the
open project.

`--full` takes one, three and ten million rows, with searched neighbours: an hour of one core and 25 GB of
disk. `--folder PLACE` stores the measurements there: the same command continues after an interruption.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks import homes
from benchmarks.files.cluster import BLOCK, CANDIDATES, CLASSES, D, write_parquet
from benchmarks.files.import_rows import create
from benchmarks.harness import Table, benchmark, clocked, folder, kept, mode, page, size_of, sized
from benchmarks.processes import own_memory, watched
from workflow import importing
from workflow.answering import loop, press
from workflow.projects import progress
from workflow.rows import queue

ROWS = sized((100_000, 300_000), tiny=(1_000,), full=(1_000_000, 3_000_000, 10_000_000))
DRAWN = sized((100_000, 300_000, 1_000_000, 3_000_000), tiny=(1_000,), full=())
"""Sizes with drawn neighbours: the search is measured by `neighbors` and `cluster`."""
ENOUGH, MORE = 1_000_000, 10_000_000
"""Minimum size for an extrapolation, and the size that it is made for."""
ANSWERS = 10
STEPS = {
    "import": "import: parts read and checked, the project made and stored, s",
    "open": "opened, to the first question, s",
    "press": "a press: the median of ten answers, each with the next question, ms",
    "queue": "the first page of the queue, ms",
    "search": "a search in the queue, ms",
    "progress": "Progress, ms",
    "export": "`winnow export` to Parquet, s",
}
MEMORY = {
    "import": "import, its own",
    "import, mapped": "import, mapped files",
    "opened": "opened project, its own, without what a process has that opened none",
    "used": "the same after ten answers, queue, search and Progress",
    "export": "export, its own",
    "parts": "on disk: the parts",
    "home": "on disk: the project, its table and its neighbours",
    "labels": "on disk: the labels",
}
CODE = "import sys; from benchmarks.files import large_project as it; getattr(it, sys.argv[1])(*sys.argv[2:])"
OURS = [sys.executable, "-c", CODE]
WINNOW = [sys.executable, "-m", "winnow_labels"]


def import_drawn(table: str) -> None:
    """Do what `winnow import` does, with drawn neighbours, in a separate process."""
    homes.draw_neighbors()
    with homes.owner_of(os.environ["WINNOW_HOME"]) as seat:
        upload, read = importing.read_as_named(Path(table), {})
        print(f"Project {create(seat, read, upload)}: {read.n_rows} rows")


def visit() -> None:
    """Open project 1 in a separate process and use it as people do; print CPU seconds and MB."""
    with homes.owner_of(os.environ["WINNOW_HOME"]) as owner:
        seat, before, cpu = owner.at(1), own_memory(), {}
        question, cpu["open"] = clocked(lambda: loop.next_question(seat))
        opened, presses = own_memory() - before, []
        for _ in range(ANSWERS):
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
        print(json.dumps({"cpu": cpu, "memory": memory, "recall": found.recall}), flush=True)
        os._exit(0)  # skip the orderly shutdown


def run(place: Path, n_rows: int, drawn: bool) -> dict[str, Any]:
    """Return CPU seconds and MB of all steps at this many rows."""
    called = f"{n_rows}{'-drawn' * drawn}"
    home = place / f"home-{called}"
    shutil.rmtree(home, ignore_errors=True)  # left by an aborted run
    table = write_parquet(place / f"table-{n_rows}", n_rows)
    command = [*OURS, "import_drawn", str(table)] if drawn else [*WINNOW, "import", str(table)]
    said, imported = watched(command, every=0.05, WINNOW_HOME=str(home))
    assert f"Project 1: {n_rows} rows" in said, said
    said, _ = watched([*OURS, "visit"], every=0.05, WINNOW_HOME=str(home))
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
    for what, words in MEMORY.items():
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
    return f"""Between the last two sizes a row more takes {held:,.0f} bytes of the opened project's own memory and
{making:,.0f} at the peak of the import, {1e6 * opening:.1f} CPU microseconds to open and {1e6 * exporting:.1f} to
export. By that, which is reckoned and not measured, {MORE:,} rows would hold {held * MORE / 1e9:.1f} GB open, take
{making * MORE / 1e9:.1f} GB to import, and {opening * MORE:,.0f} CPU seconds to open and {exporting * MORE:,.0f} to
export; the search for neighbours next to ([scale](../../docs/scale.md))."""


@benchmark("A project of many rows" + ", their neighbours searched" * (mode() == "full"), full=True)
def large_project() -> str:
    with folder(large=True) as place:
        searched, drawn = (
            {
                n: kept("large_project", f"{n}{'-drawn' * by_chance}", lambda f=(place, n, by_chance): run(*f), place)
                for n in sizes
            }
            for sizes, by_chance in ((ROWS, False), (DRAWN, True))
        )
    # An exact search has no recall to measure.
    recall = ", ".join(
        f"{1.0 if one['recall'] is None else one['recall']:.3f} at {n:,} rows" for n, one in searched.items()
    )
    with_drawn = "With random neighbours instead of the search, whose cost is in [neighbors](neighbors.md):"
    return page(
        f"""Rows of `curved` of [neighbors](neighbors.md): {D} features as a column of lists of single precision,
{CLASSES} classes with {CANDIDATES} candidates a row, as Parquet files of {BLOCK:,} rows in a folder. Import and
export are commands in processes of their own; the project is opened and used in another. CPU seconds of all processes
of a step, milliseconds of what people wait for; wall times are left out, for others used the machine. Memory is that
of the largest process of a step, its own apart from pages of mapped files, which the system takes back at will.
Targets: what grows grows as the rows or less, a press does not.""",
        "The command `winnow import` finds the neighbours, exactly or by cells, whichever is cheaper:",
        tables(searched),
        *((with_drawn, tables(drawn), ahead(drawn)) if drawn else ()),
        f"Of the true neighbours of a sample the search found {recall}." if mode() == "full" else "",
    )
