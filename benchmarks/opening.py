"""Opening a project with a long log, from its checkpoint and without one: CPU seconds and peak memory of a process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import plcore.loop.one_label.asking
from benchmarks import press_run, report
from plcore.common import AnyArray, IntArray
from plcore.loop.one_label import LearnerSettings
from plcore.neighbors.graph import Graph
from workflow import answering, projects
from workflow.home import open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS, ENTRIES = (100_000, 1_000_000), 100_000
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


def fill(folder: str, rows: int, length: int) -> None:
    """Bring the log to this length."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    seat = Seat(home, team.ensure_owner(home).id)
    (project,) = projects.list_projects(seat)
    table = home.read_table(next(home.tables_dir.glob("*.parquet")).stem)
    press_run.fill_log(home, project.id, seat.person_id, length, table)
    home.close()


def visit(folder: str) -> None:
    """Print CPU seconds to the first question, of the home and the log, and peak MB of this process."""
    begun = time.process_time()
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    seat = Seat(home, team.ensure_owner(home).id)
    (project,) = projects.list_projects(seat)
    answering.next_question(seat.at(project.id))
    spent = time.process_time() - begun
    home.close()
    print(json.dumps([spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))


def in_process(*words: str) -> str:
    command = [sys.executable, "-m", "benchmarks.opening", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def visited(folder: str) -> tuple[float, float]:
    spent, peak = json.loads(in_process("visit", folder).splitlines()[-1])
    return spent, peak


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
            size = sum(one.stat().st_size for one in (Path(folder) / "cache" / "checkpoints").iterdir())
        with_one, without = TARGETS[rows]
        targets = {"no checkpoint": without, "with a checkpoint of its last entry": with_one}
        for what, (spent, peak) in found.items():
            target = f"{targets[what]}" if what in targets else ""
            lines.append(f"| {rows:,} | {what} | {spent:.1f} | {target} | {peak:,.0f} |")
            print(lines[-1], flush=True)
        lines.append(f"| {rows:,} | the checkpoint's file: {size / 1e6:.1f} MB | | | |")
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
        + "\n",
        ("numpy", "SQLAlchemy", "numba"),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder, rows]:
            make(folder, int(rows))
        case ["fill", folder, rows, length]:
            fill(folder, int(rows), int(length))
        case ["visit", folder]:
            visit(folder)
        case _:
            main()
