"""Presses: CPU of the server, in a real browser, up to the model that knows the answer."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    clocked,
    folder,
    in_process,
    in_turns,
    only,
    page,
    percentiles,
    sized,
)
from plcore import Entry, LabelTable, LearnerSettings
from plcore.arrays import one_thread_for_good
from plcore.loop import MODEL_ENTRIES, EntryKind, Upkeep
from plcore.loop.one_label import OneLabelPool, Trainer
from tests.browser import room
from tests.workflow.crowd import crowd_project
from tests.workflow.world import opened
from workflow.answering import loop
from workflow.answering.press import press as press_once
from workflow.projects import managing
from workflow.seat import Seat

RUNS, TIMED = sized((2, 100), tiny=(1, 3))
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
    """Yield for each answer CPU ms of answer, next question and standing; of other requests of the page; wall ms."""
    question = loop.next_question(seat)
    for _ in range(number):
        kind, labels = answer_to(question)
        begun, wall = time.thread_time(), time.perf_counter()
        pressed = press_once(seat, question.token, kind, labels, shown=question.shown, zone="Europe/Berlin")
        question = pressed.after.question
        answered, waited = time.thread_time(), time.perf_counter()
        loop.get_ready(seat)
        yield 1e3 * (answered - begun), 1e3 * (time.thread_time() - answered), 1e3 * (waited - wall)


def one_run(case: str) -> list[float]:
    """Return the medians, measured in a separate process."""
    with folder() as place, homes.owner_of(place, WINNOW_DATABASE_URL=os.environ["WINNOW_DATABASE_URL"]) as owner:
        found = list(presses(homes.project(owner, case), FIRST + TIMED))[FIRST:]
        return list(np.median(found, axis=0))


@benchmark("Cost of a key press", packages=("psycopg",))
def press() -> str:
    """CPU ms of the thread that answers, on the server, without Streamlit: *press* is the answer, the
    next question and the counts next to the card; *page* what the Annotate page also asks; *wall* includes waiting for
    the disk or the database server. Median of {TIMED} presses after a history of more than a hundred answers; least of
    {RUNS} runs, before and now in turns. {load} Target: 10 CPU ms on SQLite and 15 CPU ms on PostgreSQL for press and
    page together."""
    table, none = Table("case | database | tree | press | page | wall | press, relative to before", ".1f"), ""
    for name, case in product(("SQLite", "PostgreSQL"), only(CASES)):

        def measure(tree: Path, name: str = name, case: str = case) -> list[float]:
            with homes.database(name, "fsync=on") as place:
                return [] if place is None else in_process(one_run, case, tree=tree, **place)

        least = in_turns(RUNS, measure)
        if not len(least["now"]):
            none = "Not run on PostgreSQL: there is none."
            continue
        for tree, figures in least.items():
            is_after = tree == "now" and "before" in least
            beside = f"{least['before'][0] / figures[0]:.1f} times less" if is_after else ""
            table.add(CASES[case], name, tree, *figures, beside)
    return page(table, none)


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


@benchmark(
    "Presses with several annotators per row",
    head="people a row | rule | presses | a second | p50 ms | p95 ms | max ms",
    form=".0f",
)
def overlap() -> Rows:
    """{PEOPLE} people take turns at a project of {ROWS:,} rows, 3 classes, PL-KNN, on SQLite, until {ANSWERED:,} rows
    have their answers; no browser. A press is the answer, stored, and the person's next question. The rate is of all
    presses, the times are of the last {LAST}."""
    for people, fold in ((1, "latest"), (3, "majority"), (3, "dawid-skene")):
        times = press_until(people, fold)
        yield people, fold, len(times), len(times) / times.sum(), *percentiles(1000 * times[-LAST:], digits=1)


# In a browser

PRESSES = sized(200, tiny=2)
SETTLED = 600  # ms without interaction after an answer

# An init script, so that its listener comes before the card's own, which stops key events. It checks one node
# once per frame: polling the page more often, as Playwright does, slows down what is measured.
WATCH = """
(() => {
  window.times = [];
  let root;
  const token = () => {
    if (!root?.host?.isConnected)
      root = [...document.querySelectorAll("*")].map((one) => one.shadowRoot)
        .find((one) => one?.querySelector(".card"));
    return root?.querySelector(".card")?.dataset.token;
  };
  window.addEventListener("keydown", (event) => {
    if (event.key === ".") return;  // it brings the other choices of the same question
    const begun = performance.now(), shown = token();
    const look = () => {
      const now = token();
      if (now && now !== shown) window.times.push(performance.now() - begun);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, true);
})();
"""


def browsed(view: Any, address: str, key: Callable[[], str]) -> np.ndarray:
    """Return the milliseconds of PRESSES answers by keyboard alone. address : "" if the page is already open"""
    if address:
        view.goto(address)
    view.locator(room.CARD).wait_for(timeout=120_000)
    view.evaluate("window.times = []")
    for number in range(PRESSES):
        pressed = key()
        view.wait_for_timeout(200)
        view.keyboard.press(pressed)
        view.wait_for_timeout(SETTLED)
        room.until(view, "count => window.times.length > count", number)
    return np.array(view.evaluate("window.times"))


def key_of_truth(view: Any, truth: dict[str, str]) -> str:
    """Return the key that answers with the truth, in any form of question."""
    label = truth[room.row_id(view)]
    if view.locator(".verdicts.two").count():
        return "1" if view.locator(".single .named").inner_text() == label else "2"
    choice = view.locator(".choice", has=view.locator(".label").get_by_text(label, exact=True))
    if not choice.count():
        view.keyboard.press(".")
    return choice.get_attribute("data-key") or ""


def key_of_vectors(view: Any) -> str:
    """Return the key for no to one label, or for the labels of a row that the model predicts."""
    return "n" if view.locator(".verdicts").count() else "Enter"


@benchmark("Key press to next question", packages=("playwright",))
def latency() -> str:
    frame = homes.birdsong_frame()
    truth = dict(zip(frame.id, frame.bird, strict=True))
    table = Table("project | presses | p50 ms | p95 ms | max ms")
    n, d, m = homes.LARGE
    with folder() as place, homes.owner_of(place / "home") as seat:
        large = homes.large_project(seat)
        every, vectors = homes.project(seat, "all").project_id, homes.project(seat, "vectors").project_id
        with homes.browsing(place / "home", WATCH) as (server, view):
            first = homes.wait_for_version(seat.home, large, -1)
            room.import_csv(view, server.base, frame, "birdsong")
            cases: tuple[tuple[str, int | None, Callable[[], str]], ...] = (
                ("BirdSong, PL-KNN, nothing else runs", None, lambda: room.key_for(view, truth[room.row_id(view)])),
                ("BirdSong, PL-KNN, cheapest form, shortlists, coverage", every, partial(key_of_truth, view, truth)),
                ("label vectors: scene, 294 features, 6 labels", vectors, partial(key_of_vectors, view)),
                (f"{n:,} x {d}, PLSVC, always training", large, lambda: "1"),
            )
            for what, project, key in cases:
                address = f"{server.base}/annotate?project={project}" if project else ""
                times = browsed(view, address, key)
                table.add(what, len(times), *percentiles(times))
            last = homes.wait_for_version(seat.home, large, first)
    return page(
        f"""Chromium headless on the same machine as the server, {PRESSES} answers by keyboard alone, about a second
apart, from the keydown event to the first frame with the next question. Each answer is one synchronous commit to
SQLite. BirdSong: 4,998 rows, 38 features, 13 classes, effect scores; again after 200 answers, with questions in the
cheapest form, a tenth of them blind checks, and shortlists that contain the truth in 95% of the rows. Scene: 2,407 rows
whose label vectors have missing labels, BML-CS. The large project has {m} classes and asks by margin; its model is
trained again after every answer by a worker of lower priority and came to version {last}. Target: p50 at most 40 ms,
p95 at most 70 ms, all four.""",
        table,
    )


SIZES = sized((10_000, 1_000_000), tiny=(500, 1_000))
MEASURED = sized(200, tiny=3)  # key presses without a browser


@benchmark(
    "A key press, by the size of the table",
    packages=("playwright",),
    head="rows | CPU ms | of the first | p50 ms | p95 ms",
    form=".2f",
)
def press_rows() -> Rows:
    """PL-KNN with effect scores, 16 features, 10 classes, three candidates a row. CPU of the thread that answers, for
    the answer, the next question and the counts next to the card, SQLite, median of {MEASURED} presses, the projects
    in turns in one process. Then {PRESSES} answers by keyboard in Chromium on the same machine, from key to next
    question. Target: at a million rows at most 1.3 times the CPU at ten thousand, and p95 at most 100 ms."""
    with folder() as place:
        with homes.owner_of(place / "home") as seat:
            ids = [managing.create_project(seat, f"{n:,}", *homes.long_table(n)) for n in SIZES]
            for one in ids:
                homes.find_neighbors(seat.at(one))
            going = [presses(seat.at(one), FIRST + MEASURED) for one in ids]
            each = [
                [next(one)[0] for one in going] for _ in range(FIRST + MEASURED)
            ]  # alternating between the projects
            cpu = np.median(each[FIRST:], axis=0)
        with homes.browsing(place / "home", WATCH) as (server, view):
            for n, one, spent in zip(SIZES, ids, cpu, strict=True):
                times = browsed(view, f"{server.base}/annotate?project={one}", lambda: "1")
                yield n, spent, spent / cpu[0], *percentiles(times, 50, 95)


# Up to the model that knows the answer

TRAINED_ROWS, FEATURES, CLASSES = SIZE = sized((2_000, 768, 10), tiny=(120, 8, 4))
ANSWERS = sized(10, tiny=1)
PATIENCE = 120.0


def seconds_to_see(seat: Seat) -> float:
    """Return the wall seconds from an answer until the learner has adopted a version that includes it."""
    question = loop.next_question(seat)
    assert question is not None
    begun = time.perf_counter()
    saved = loop.submit_answer(seat, question.token, "is", [question.choices[0]])
    wait_for(seat, saved.seq)
    return time.perf_counter() - begun


def wait_for(seat: Seat, version: int) -> None:
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        with opened(seat.home, seat.person_id, seat.project_id) as learner:
            if learner.version_published is not None and learner.version_published >= version:
                return
        time.sleep(0.02)
    raise AssertionError(f"version {version} was not published within {PATIENCE} s")


def seconds_of_cpu(model: str, data: LabelTable) -> tuple[float, float]:
    """Return the CPU seconds of a model's first version, and the median of the versions after one more answer each."""
    pool = OneLabelPool(data, LearnerSettings(model=model, strategy="margin", control_share=0.08))
    trainer, begun = clocked(lambda: Trainer(pool))
    first, later = begun + clocked(trainer.train)[1], []
    for seq, row in enumerate([int(row) for row in pool.train if pool.is_open(row)][:3], 1):
        pool.apply(Entry(seq, "is", row, "ann", pool.names(pool.candidates[row])[:1]))
        later.append(clocked(trainer.train)[1])
    return first, float(np.median(later))


@benchmark(
    "From an answer to the retrained model",
    head="model | median s | longest s | CPU s, first version | CPU s, the next",
)
def retraining() -> Rows:
    """{TRAINED_ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers one after the other, each
    trained at once by a worker process: wall seconds from the key press until the server uses the model version with
    that answer. Each fit starts afresh, not from the previous version (docs/decisions/0009); the
    options are those of `plcore.loop.MODEL_ENTRIES`. Target: 2 s. The table also has the CPU seconds of one thread in
    this process, for a project's first version and for later ones: the kernel ridge chooses its settings and computes
    its kernel only for the first."""
    one_thread_for_good()
    # Like embeddings: a linear rule separates the classes to about nine in ten; a fifth of the labels are false.
    data = homes.ambiguous_mixture(SIZE, 0.2, 0.15, "c")
    with folder() as place, homes.owner_of(place) as owner, homes.working(place):
        for model in (one.name for one in MODEL_ENTRIES.values() if one.upkeep is Upkeep.TRAINED):
            settings = LearnerSettings(
                model=model, strategy="margin", train_every=1, train_seconds=0.0, control_share=0.08
            )
            seat = owner.at(managing.create_project(owner, model, data, settings))
            wait_for(seat, 0)
            times = [seconds_to_see(seat) for _ in range(ANSWERS)]
            managing.archive_project(seat)
            yield model, *(f"{one:.2f}" for one in (np.median(times), max(times), *seconds_of_cpu(model, data)))
