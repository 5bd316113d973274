"""CPU of a press on the server's side: the answer, the next question and the standing, without Streamlit or a
browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, in_process, load_average, only, page, sized, trees
from workflow.answering import loop
from workflow.people import goals, qualification
from workflow.projects import standing
from workflow.seat import Seat

try:
    from workflow.answering import press
except ImportError:  # a tree from before there was one use case for a press
    press = None

TITLE = "What a press costs"
PACKAGES = ("SQLAlchemy", "psycopg", "numpy")
RUNS, PRESSES = sized((2, 100), tiny=(1, 3))
FIRST = sized(120, tiny=3)  # presses that warm up, and fill the history
CASES = {
    "birdsong": "one label: BirdSong, PL-KNN",
    "all": "one label, cheapest form, shortlists, coverage, blind checks",
    "long": f"one label, {homes.LONG_ROWS:,} rows, a log of {homes.LOG:,} entries",
    "vectors": "label vectors: scene, 294 features, 6 labels",
}


def answer_to(question: Any) -> tuple[str, list[str]]:
    """Return what is pressed: the model's first choice; of label vectors yes and no in turn."""
    if not hasattr(question, "choices"):
        return ("yes" if question.view.row % 2 else "no"), []
    return "is", [question.choices[int(np.argmax(question.probabilities))]]


def presses(seat: Seat, number: int) -> Iterator[tuple[float, float, float]]:
    """Give, of each press, CPU ms of answer, next question and standing; of what else the page asks; wall ms."""
    question = loop.next_question(seat)
    for _ in range(number):
        kind, labels = answer_to(question)
        begun, wall = time.thread_time(), time.perf_counter()
        if press is not None:
            told = press.press(seat, question.token, kind, labels, shown=question.shown, zone="Europe/Berlin")
            question = told.after.question
        else:
            loop.submit_answer(seat, question.token, kind, labels, shown=question.shown)
            question = loop.next_question(seat)
            standing.standing(seat)
        pressed, waited = time.thread_time(), time.perf_counter()
        if press is None:
            qualification.now(seat)
            goals.day(seat, "Europe/Berlin")
        loop.get_ready(seat)
        yield 1e3 * (pressed - begun), 1e3 * (time.thread_time() - pressed), 1e3 * (waited - wall)


def one_run(case: str, url: str) -> list[float]:
    """In a process of its own: the medians."""
    with folder() as place, homes.owner_of(place, **homes.place_of(url)) as owner:
        seat = homes.project(owner, case)
        found = list(presses(seat, FIRST + PRESSES))[FIRST:]
        return list(np.median(found, axis=0))


def rows(table: Table, case: str, server: Any) -> None:
    """Add a line for each tree: the least of the medians of its runs, the trees in turns."""
    found: dict[str, list[list[float]]] = {name: [] for name in trees()}
    for name, tree in list(trees().items()) * RUNS:
        found[name].append(database_run(case, server, tree))
    least = {name: np.min(runs, axis=0) for name, runs in found.items()}
    for name, figures in least.items():
        beside = (
            f"{least['before'][0] / figures[0]:.1f} times less" if name == "now" and len(least) > 1 else ""
        )
        database = "SQLite" if server is None else "PostgreSQL"
        table.add(CASES[case], database, name, *(f"{one:.1f}" for one in figures), beside)


def database_run(case: str, server: Any, tree: Path) -> list[float]:
    if server is None:
        return in_process(one_run, case, "", tree=tree)
    with server.empty_database() as url:
        return in_process(one_run, case, url, tree=tree)


def measure() -> str:
    table = Table("case | database | tree | press | page | wall | press against before")
    for case in only(CASES):
        rows(table, case, None)
    with homes.postgres("fsync=on") as server:
        for case in only(CASES) if server else ():
            rows(table, case, server)
    return page(
        f"""CPU ms of the thread that answers, on the server's side alone and without Streamlit: *press* is the answer,
the next question and the standing beside the card; *page* what the Annotate page asks besides; *wall* is the press with
its waiting for the disk or the database server. Median of {PRESSES} presses after a history of more than a hundred
answers; least of {RUNS} runs, before and now in turns. {load_average()}
Target: 10 CPU ms on SQLite and 15 CPU ms on PostgreSQL for press and page together.""",
        table,
        "" if server else "Not run on PostgreSQL: there is none.",
    )
