"""Opening a project with a long log, from its checkpoint and without one: CPU seconds and peak memory of a process.

`python -m benchmarks.opening vectors` shows label vectors alone, and writes nothing.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import insert

import plcore.loop.one_label.asking
from benchmarks import press_run, report
from db.models import EntryRow
from plcore import LabelTable, Roles
from plcore.common import AnyArray, IntArray
from plcore.loop.label_vectors import BMLCS, LabelVectorSettings
from plcore.loop.one_label import LearnerSettings
from plcore.neighbors.graph import Graph
from workflow import answering, projects
from workflow.home import open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS, ENTRIES = (100_000, 1_000_000), 100_000
VECTOR_ROWS, VECTOR_ENTRIES, LABELS = 100_000, 20_000, 10
TARGETS = {100_000: (3, 30), 1_000_000: (15, 120)}  # CPU s with a checkpoint, and without
MOST_MB = 1_500
K = LearnerSettings().n_neighbors


def drawn_graph(_X: AnyArray, unseen: AnyArray | None, settings: LearnerSettings) -> Graph:
    """Neighbours near in number: to find those of a million rows takes long, and opening reads them from a file."""
    n, k = len(_X), settings.n_neighbors
    rng = np.random.default_rng(1)

    def near(size: int, *, own: bool) -> AnyArray:
        steps = np.cumsum(rng.integers(1, 7, (size, k)), axis=1)
        found = (np.arange(size)[:, None] + steps) % n
        found[:, :1] = np.arange(size)[:, None] if own else found[:, :1]
        return found.astype(np.int32)

    def weights(size: int) -> IntArray:
        return np.asarray(rng.integers(2**22, 2**24, (size, k)))

    held = 0 if unseen is None else len(unseen)
    return Graph(near(n, own=True), weights(n), near(held, own=False), weights(held), "exact", 1.0)


def make(folder: str, rows: int) -> None:
    """A project of so many rows, in a process that ends with it; its log is empty."""
    plcore.loop.one_label.asking.find_graph = drawn_graph
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    table, settings = press_run.long_table(rows)
    projects.create_project(Seat(home, team.ensure_owner(home).id), "long", table, settings)
    home.close()


def make_vectors(folder: str) -> None:
    """A project of label vectors, of which two cells in three are not known, and a log of answers about one label each.

    One person answers yes and no in turn, label by label, row by row.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(VECTOR_ROWS, press_run.FEATURES))
    truth = X @ rng.normal(size=(press_run.FEATURES, LABELS)) > 0
    cells = np.where(rng.random(truth.shape) < 1 / 3, truth.astype(int).astype(str), "")
    numbers = tuple(f"f{k:02d}" for k in range(press_run.FEATURES))
    labels = tuple(f"label{k}" for k in range(LABELS))
    frame = pd.DataFrame(X.round(4), columns=list(numbers))
    for k, name in enumerate(labels):
        frame[name] = cells[:, k]
    table = LabelTable.from_frame(frame, Roles(label_columns=labels, label_vectors=True, numbers=numbers))
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    seat = Seat(home, team.ensure_owner(home).id)
    project = projects.create_project(seat, "vectors", table, LabelVectorSettings(model=BMLCS))
    first = datetime.now(UTC) - timedelta(seconds=60 + 10 * VECTOR_ENTRIES)
    places = np.argwhere(cells == "")[:VECTOR_ENTRIES].tolist()
    lines = [
        {
            "project_id": project, "seq": seq, "kind": "yes" if truth[row, column] else "no", "row": row,
            "label": labels[column], "labels": [labels[column]], "person_id": seat.person_id,
            "token": f"{row}.{column}", "revision": 0, "at": first + timedelta(seconds=10 * seq), "target_seq": None,
            "strategy": "information", "score": 0.5, "model_version": seq - 1, "before": [""],
            "after": ["1" if truth[row, column] else "0"], "seconds": 4.5, "note": None, "predicted": None,
            "flagged": False, "asked": None,
        }
        for seq, (row, column) in enumerate(places, start=1)
    ]  # fmt: skip
    with home.database.write() as session:
        session.execute(insert(EntryRow), lines)
    home.close()


def fill(folder: str, rows: int, length: int) -> None:
    """Bring the log to this length."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    seat = Seat(home, team.ensure_owner(home).id)
    (project,) = projects.list_projects(seat)
    table = home.read_table(next(home.tables_dir.glob("*.parquet")).stem)
    press_run.fill_log(home, project.id, seat.person_id, length, table)
    home.close()


def visit(folder: str, whose: str) -> None:
    """Print CPU seconds to the first question, of the home and the log, and peak MB of this process.

    whose : "process", or "thread" where a model is fitted beside
    """
    clock = time.thread_time if whose == "thread" else time.process_time
    begun = clock()
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    seat = Seat(home, team.ensure_owner(home).id)
    (project,) = projects.list_projects(seat)
    answering.next_question(seat.at(project.id))
    spent = clock() - begun
    home.close()
    print(json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))


def in_process(*words: str) -> str:
    command = [sys.executable, "-m", "benchmarks.opening", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def visited(folder: str, whose: str = "process") -> tuple[float, float]:
    spent, peak = json.loads(in_process("visit", folder, whose).splitlines()[-1])
    return spent, peak


def size_of(folder: str) -> float:
    """MB of the checkpoint."""
    return sum(one.stat().st_size for one in (Path(folder) / "cache" / "checkpoints").iterdir()) / 1e6


def vector_lines() -> list[str]:
    """The rows of the table of label vectors."""
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "home")
        in_process("vectors", folder)
        without, with_one = visited(folder, "thread"), visited(folder, "thread")
        return [
            f"| no checkpoint | {without[0]:.1f} | {without[1]:,.0f} |",
            f"| with a checkpoint of its last entry | {with_one[0]:.1f} | {with_one[1]:,.0f} |",
            f"| the checkpoint's file: {size_of(folder):.1f} MB | | |",
        ]


def main() -> None:
    lines = []
    for rows in ROWS:
        with tempfile.TemporaryDirectory() as place:
            folder = str(Path(place) / "home")
            in_process("make", folder, str(rows))
            empty = visited(folder)
            in_process("fill", folder, str(rows), str(ENTRIES))
            found = {
                "no entries": empty,
                "no checkpoint": visited(folder),  # which makes one
                "with a checkpoint of its last entry": visited(folder),
            }
            size = size_of(folder)
        with_one, without = TARGETS[rows]
        targets = {"no checkpoint": without, "with a checkpoint of its last entry": with_one}
        for what, (spent, peak) in found.items():
            target = f"{targets[what]}" if what in targets else ""
            lines.append(f"| {rows:,} | {what} | {spent:.1f} | {target} | {peak:,.0f} |")
            print(lines[-1], flush=True)
        lines.append(f"| {rows:,} | the checkpoint's file: {size:.1f} MB | | | |")
    report.write(
        "opening",
        "Opening a project with a long log",
        f"""
CPU seconds of a new process from opening the home to the first question, and the most memory that it had, its imports
among it. One label, PL-KNN, {press_run.FEATURES} features, {press_run.CLASSES} classes, three candidates a row; the
neighbours are drawn, and read from their file; a log of {ENTRIES:,} entries, written by one person. Target of memory
with a checkpoint: {MOST_MB:,} MB.

| rows | {ENTRIES:,} entries | CPU s | target | peak MB |
|--:|---|--:|--:|--:|
"""
        + "\n".join(lines)
        + f"""

## Label vectors

{VECTOR_ROWS:,} rows, {LABELS} labels, two cells in three not known, {press_run.FEATURES} features; a log of
{VECTOR_ENTRIES:,} answers about one label each. CPU seconds of the thread that opens the project; BML-CS is fitted
beside it, as at every start, and the first question does not wait for it.

| {VECTOR_ENTRIES:,} entries | CPU s | peak MB |
|---|--:|--:|
"""
        + "\n".join(vector_lines())
        + "\n",
        ("numpy", "SQLAlchemy", "numba"),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder, rows]:
            make(folder, int(rows))
        case ["fill", folder, rows, length]:
            fill(folder, int(rows), int(length))
        case ["visit", folder, whose]:
            visit(folder, whose)
        case ["vectors", folder]:
            make_vectors(folder)
        case ["vectors"]:
            print("\n".join(vector_lines()))
        case _:
            main()
