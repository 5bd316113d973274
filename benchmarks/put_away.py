"""Twenty projects opened in turn in one process under a limit: what it takes, and what coming back to one costs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import press_run, report
from workflow import answering, projects
from workflow.common.machine import own_memory
from workflow.home import open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

PROJECTS, ROWS, ROUNDS = 20, 100_000, 2
LIMITS = 2_000, 450  # MB: all stay in memory; some are put away


def make(folder: str) -> None:
    """The projects, of one table, in a process that ends with it."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
    table, settings = press_run.long_table(ROWS)
    seat = Seat(home, team.ensure_owner(home).id)
    for number in range(PROJECTS):
        projects.create_project(seat, f"project {number}", table, settings)
    home.close()


def visit(folder: str, limit: int) -> None:
    """Print of each visit its seconds of CPU and of the clock to the first question, and the MB in memory after it."""
    home = open_home(Settings.from_environment({"WINNOW_HOME": folder, "WINNOW_MEMORY_MB": str(limit)}))
    seat = Seat(home, team.ensure_owner(home).id)
    numbers = sorted(one.id for one in projects.list_projects(seat))
    visits = []
    for number in numbers * ROUNDS:
        cpu, wall = time.process_time(), time.perf_counter()
        answering.next_question(seat.at(number))
        taken = (own_memory() or 0) / 1e6
        visits.append((time.process_time() - cpu, time.perf_counter() - wall, taken, home.shelf.n_open()))
    home.close()
    print(json.dumps(visits))


def in_process(*arguments: str) -> str:
    command = [sys.executable, "-m", "benchmarks.put_away", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "home")
        in_process("make", home)
        lines = []
        for limit in LIMITS:
            visits = np.array(json.loads(in_process("visit", home, str(limit)).splitlines()[-1]))
            again = visits[PROJECTS:]
            lines.append(
                f"| {limit:,} | {visits[:, 2].max():,.0f} | {visits[-1, 3]:.0f} | {np.median(again[:, 0]):.2f} | "
                f"{again[:, 0].max():.2f} | {again[:, 1].max():.2f} |"
            )
    report.write(
        "put_away",
        "Many projects under a limit of memory",
        f"""
{PROJECTS} projects of {ROWS:,} rows, 16 features and 10 classes, PL-KNN, few answers, opened in turn {ROUNDS} times in
one process with `WINNOW_MEMORY_MB`; each visit opens the project where it is not in memory and asks for a question.
Memory is what the process alone has, pages of files not counted, after each visit.
Target: never above 2,000 MB, each back within 2 s.

| limit, MB | most MB | projects in memory at the end | back: CPU s p50 | most | clock s most |
|---|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n",
        ("numpy", "SQLAlchemy"),
    )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(folder)
        case ["visit", folder, limit]:
            visit(folder, int(limit))
        case _:
            main()
