"""CPU time of an answer on the server, without Streamlit or a browser; and with several people at each
row."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness, homes
from benchmarks.harness import Table, benchmark, folder, in_process, in_turns, only, page, percentiles, sized
from plcore.loop import EntryKind
from tests.workflow.crowd import crowd_project
from workflow.answering import loop
from workflow.answering.press import press as press_once
from workflow.seat import Seat

RUNS, PRESSES = sized((2, 100), tiny=(1, 3))
FIRST = sized(120, tiny=3)  # answers for warm-up, which fill the history
CASES = {
    "birdsong": "one label: BirdSong, PL-KNN",
    "all": "one label, cheapest form, shortlists, coverage, blind checks",
    "long": f"one label, {homes.LONG_ROWS:,} rows, a log of {homes.LOG:,} entries",
    "vectors": "label vectors: scene, 294 features, 6 labels",
}
ROWS, ANSWERED, PEOPLE = sized((4_000, 2_000, 20), tiny=(100, 10, 4))
LAST = 500  # measured answers of several people


def answer_to(question: Any) -> tuple[str, list[str]]:
    """Return the answer: the model's first choice; for label vectors yes and no in turn."""
    if not hasattr(question, "choices"):
        return ("yes" if question.view.row % 2 else "no"), []
    return "is", [question.choices[int(np.argmax(question.probabilities))]]


def presses(seat: Seat, number: int) -> Iterator[tuple[float, float, float]]:
    """Yield for each answer CPU ms of answer, next question and standing; of other requests of the page; wall
    ms."""
    question = loop.next_question(seat)
    for _ in range(number):
        kind, labels = answer_to(question)
        begun, wall = time.thread_time(), time.perf_counter()
        pressed = press_once(seat, question.token, kind, labels, shown=question.shown, zone="Europe/Berlin")
        question = pressed.after.question
        answered, waited = time.thread_time(), time.perf_counter()
        loop.get_ready(seat)
        yield 1e3 * (answered - begun), 1e3 * (time.thread_time() - answered), 1e3 * (waited - wall)


def one_run(case: str, url: str) -> list[float]:
    """Return the medians, measured in a separate process."""
    with folder() as place, homes.owner_of(place, **homes.place_of(url)) as owner:
        found = list(presses(homes.project(owner, case), FIRST + PRESSES))[FIRST:]
        return list(np.median(found, axis=0))


def add_case(table: Table, case: str, server: Any) -> None:
    """Add a line for each tree. server : PostgreSQL, or None for SQLite"""

    def measure(tree: Path) -> list[float]:
        if server is None:
            return in_process(one_run, case, "", tree=tree)
        with server.empty_database() as url:
            return in_process(one_run, case, url, tree=tree)

    least = in_turns(RUNS, measure)
    for name, figures in least.items():
        is_after = name == "now" and "before" in least
        beside = f"{least['before'][0] / figures[0]:.1f} times less" if is_after else ""
        table.add(CASES[case], "PostgreSQL" if server else "SQLite", name, *figures, beside)


@benchmark("What a press costs", packages=("psycopg",))
def press() -> str:
    table = Table("case | database | tree | press | page | wall | press against before", ".1f")
    for case in only(CASES):
        add_case(table, case, None)
    with homes.postgres("fsync=on") as server:
        for case in only(CASES) if server else ():
            add_case(table, case, server)
    return page(
        f"""CPU ms of the thread that answers, on the server's side alone and without Streamlit: *press* is the answer,
the next question and the standing next to the card; *page* what the Annotate page asks besides; *wall* is the press
with
its waiting for the disk or the database server. Median of {PRESSES} presses after a history of more than a hundred
answers; least of {RUNS} runs, before and now in turns. {harness.load_average()}
Target: 10 CPU ms on SQLite and 15 CPU ms on PostgreSQL for press and page together.""",
        table,
        "" if server else "Not run on PostgreSQL: there is none.",
    )


def press_until(overlap: int, fold: str) -> np.ndarray:
    """Return the seconds of every answer, people in turns, until ANSWERED rows have all their answers."""
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


@benchmark("Presses with several people at a row")
def overlap() -> str:
    table = Table("people a row | rule | presses | a second | p50 ms | p95 ms | max ms", ".0f")
    for people, fold in ((1, "latest"), (3, "majority"), (3, "dawid-skene")):
        times = press_until(people, fold)
        table.add(people, fold, len(times), len(times) / times.sum(), *percentiles(1000 * times[-LAST:], digits=1))
    return page(
        f"""{PEOPLE} people take turns at a project of {ROWS:,} rows, 3 classes, PL-KNN, on SQLite, until {ANSWERED:,}
rows have their answers; no browser. A press is the answer, stored, and the person's next question. The rate is of all
presses, the times are of the last {LAST}.""",
        table,
    )
