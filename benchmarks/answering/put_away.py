"""Twenty projects opened in turn in one process under a limit: what it takes, and what coming back to one costs."""

from __future__ import annotations

import time

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, in_process, page, sized
from workflow.answering import loop
from workflow.projects import managing
from workflow.server.shelf import own_memory

TITLE = "Many projects under a limit of memory"
PACKAGES = ("numpy", "SQLAlchemy")
PROJECTS, ROWS, ROUNDS = sized((20, 100_000, 2), tiny=(2, 500, 2))
LIMITS = 2_000, 450  # MB: all stay in memory; some are put away


def make(place: str) -> None:
    """In a process that ends with it: the projects, of one table."""
    table, settings = homes.long_table(ROWS)
    with homes.owner_of(place) as seat:
        for number in range(PROJECTS):
            managing.create_project(seat, f"project {number}", table, settings)


def visit(place: str, limit: int) -> list[tuple[float, ...]]:
    """Of each visit: seconds of CPU and of the clock to the first question, MB in memory, projects open after it."""
    visits = []
    with homes.owner_of(place, WINNOW_MEMORY_MB=str(limit)) as seat:
        for number in sorted(one.id for one in managing.list_projects(seat)) * ROUNDS:
            cpu, wall = time.process_time(), time.perf_counter()
            loop.next_question(seat.at(number))
            taken = (own_memory() or 0) / 1e6
            spent = time.process_time() - cpu, time.perf_counter() - wall
            visits.append((*spent, taken, seat.home.shelf.n_open()))
    return visits


def measure() -> str:
    table = Table(
        "limit, MB | most MB | projects in memory at the end | back: CPU s p50 | most | clock s most"
    )
    with folder() as where:
        place = str(where / "home")
        in_process(make, place)
        for limit in LIMITS:
            visits = np.array(in_process(visit, place, limit))
            cpu, wall = visits[PROJECTS:, 0], visits[PROJECTS:, 1]
            most = f"{np.median(cpu):.2f}", f"{cpu.max():.2f}", f"{wall.max():.2f}"
            table.add(f"{limit:,}", f"{visits[:, 2].max():,.0f}", f"{visits[-1, 3]:.0f}", *most)
    return page(
        f"""{PROJECTS} projects of {ROWS:,} rows, 16 features and 10 classes, PL-KNN, few answers, opened in turn
{ROUNDS} times in one process with `WINNOW_MEMORY_MB`; each visit opens the project where it is not in memory and asks
for a question. Memory is what the process alone has, pages of files not counted, after each visit. Target: never
above 2,000 MB, each back within 2 s.""",
        table,
    )
