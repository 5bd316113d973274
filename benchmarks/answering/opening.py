"""Opening a project with a long log, from its checkpoint and without one: CPU seconds and peak memory of a process."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, in_process, page, sized
from benchmarks.processes import peak
from plcore.loop.label_vectors import BMLCS, LabelVectorSettings
from workflow.answering import loop
from workflow.projects import managing

TITLE = "Opening a project with a long log"
PACKAGES = ("numpy", "SQLAlchemy", "numba")
ROWS, ENTRIES = sized(((100_000, 1_000_000), 100_000), tiny=((3_000,), 100))
VECTOR_ROWS, VECTOR_ENTRIES, LABELS = sized((100_000, 20_000, 10), tiny=(200, 30, 3))
TARGETS = {100_000: (30, 3), 1_000_000: (120, 15)}  # CPU s without a checkpoint, and with
STATES = "no checkpoint", "with a checkpoint of its last entry"


def make(place: str, rows: int) -> None:
    """In a process that ends with it: a project of so many rows and an empty log."""
    homes.draw_neighbors()
    with homes.owner_of(place) as seat:
        managing.create_project(seat, "long", *homes.long_table(rows))


def make_vectors(place: str) -> None:
    """A project of label vectors, two cells in three unknown, and a log of answers yes and no, label by label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(VECTOR_ROWS, homes.FEATURES))
    truth = X @ rng.normal(size=(homes.FEATURES, LABELS)) > 0
    cells = np.where(rng.random(truth.shape) < 1 / 3, truth.astype(int).astype(str), "")
    labels = [f"label{k}" for k in range(LABELS)]
    with homes.owner_of(place) as owner:
        table = homes.vectors(X, cells, labels)
        seat = owner.at(managing.create_project(owner, "vectors", table, LabelVectorSettings(model=BMLCS)))
        lines = []
        for seq, (row, column) in enumerate(np.argwhere(cells == "")[:VECTOR_ENTRIES].tolist(), start=1):
            yes, name = bool(truth[row, column]), labels[column]
            what = {
                "kind": "yes" if yes else "no",
                "row": row,
                "label": name,
                "labels": [name],
                "before": [""],
            }
            after = {"token": f"{row}.{column}", "after": ["1" if yes else "0"], "strategy": "information"}
            lines.append(homes.entry(seat, seq, VECTOR_ENTRIES, **what, **after))
        homes.write_log(seat, lines)


def fill(place: str) -> None:
    """Bring the log to its length."""
    with homes.owner_of(place) as owner:
        (project,) = managing.list_projects(owner)
        table = owner.home.read_table(next(owner.home.tables_dir.glob("*.parquet")).stem)
        homes.fill_log(owner.at(project.id), ENTRIES, table)


def visit(place: str, whose: str) -> tuple[float, float]:
    """CPU seconds from opening the home to the first question, and peak MB. whose : "thread": a model is fitted
    beside"""
    clock = time.thread_time if whose == "thread" else time.process_time
    begun = clock()
    with homes.owner_of(place) as owner:
        (project,) = managing.list_projects(owner)
        loop.next_question(owner.at(project.id))
        return clock() - begun, peak()


def size_of(place: str) -> str:
    """Say how large the checkpoint is; few answers have none."""
    size = sum(one.stat().st_size for one in Path(place).glob("cache/checkpoints/*")) / 1e6
    return f"the checkpoint's file: {size:.1f} MB"


def measure() -> str:
    table = Table(f"rows | {ENTRIES:,} entries | CPU s | target | peak MB")
    for rows in ROWS:
        with folder() as where:
            place = str(where / "home")
            in_process(make, place, rows)
            found = [("no entries", "", in_process(visit, place, "process"))]
            in_process(fill, place)
            for state, target in zip(STATES, TARGETS.get(rows, ("", "")), strict=True):  # the first makes one
                found.append((state, target, in_process(visit, place, "process")))
            for state, target, (spent, most) in found:
                table.add(f"{rows:,}", state, f"{spent:.1f}", target, f"{most:,.0f}")
            table.add(f"{rows:,}", size_of(place))
    vectors = Table(f"{VECTOR_ENTRIES:,} entries | CPU s | peak MB")
    with folder() as where:
        place = str(where / "home")
        in_process(make_vectors, place)
        for state in STATES:
            spent, most = in_process(visit, place, "thread")
            vectors.add(state, f"{spent:.1f}", f"{most:,.0f}")
        vectors.add(size_of(place))
    return page(
        f"""CPU seconds of a new process from opening the home to the first question, and the most memory that it had,
its imports among it. One label, PL-KNN, {homes.FEATURES} features, {homes.CLASSES} classes, three candidates a row;
the neighbours are drawn, and read from their file; a log of {ENTRIES:,} entries, written by one person. Target of
memory with a checkpoint: 1,500 MB.""",
        table,
        "## Label vectors",
        f"""{VECTOR_ROWS:,} rows, {LABELS} labels, two cells in three not known, {homes.FEATURES} features; a log of
{VECTOR_ENTRIES:,} answers about one label each. CPU seconds of the thread that opens the project; BML-CS is fitted
beside it, as at every start, and the first question does not wait for it.""",
        vectors,
    )
