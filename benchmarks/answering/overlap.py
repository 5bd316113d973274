"""A press with several people at a row: what it costs beside one answer a row, until many rows are answered."""

from __future__ import annotations

import time

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, page, percentiles, sized
from plcore.loop import EntryKind
from tests.workflow.crowd import crowd_project
from workflow.answering import loop
from workflow.seat import Seat

TITLE = "Presses with several people at a row"
PACKAGES = ("numpy", "SQLAlchemy")
ROWS, ANSWERED, PEOPLE = sized((4_000, 2_000, 20), tiny=(100, 10, 4))
MEASURED = 500  # presses, the last ones


def press_until(overlap: int, fold: str) -> np.ndarray:
    """Return the seconds of every press, people in turns, until ANSWERED rows have their answers."""
    with folder() as place, homes.owner_of(place / "home") as owner:
        project, people = crowd_project(owner.home, PEOPLE, ROWS, overlap=overlap, fold=fold)
        seats = [Seat(owner.home, person, project) for person in people]
        shown = [loop.next_question(seat) for seat in seats]
        rng, times = np.random.default_rng(0), []
        for number in range(ANSWERED * overlap):
            at = number % PEOPLE
            label = shown[at].choices[int(rng.random() < 0.2)]
            begun = time.perf_counter()
            loop.submit_answer(seats[at], shown[at].token, EntryKind.IS, [label])
            shown[at] = loop.next_question(seats[at])
            times.append(time.perf_counter() - begun)
    return np.array(times)


def measure() -> str:
    table = Table("people a row | rule | presses | a second | p50 ms | p95 ms | max ms")
    for overlap, fold in ((1, "latest"), (3, "majority"), (3, "dawid-skene")):
        times = press_until(overlap, fold)
        last = percentiles(1000 * times[-MEASURED:], digits=1)
        table.add(overlap, fold, f"{len(times):,}", f"{len(times) / times.sum():.0f}", *last)
    return page(
        f"""{PEOPLE} people take turns at a project of {ROWS:,} rows, 3 classes, PL-KNN, on SQLite, until {ANSWERED:,}
rows have their answers; no browser. A press is the answer, stored, and the person's next question. The rate is of all
presses, the times are of the last {MEASURED}.""",
        table,
    )
