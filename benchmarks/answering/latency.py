"""Key press to next question, in a real browser against a real server: idle, while a model trains, by table size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.answering import press
from benchmarks.harness import Table, benchmark, folder, page, percentiles, sized
from tests.browser import room
from workflow.projects import managing

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


def presses(view: Any, address: str, key: Callable[[], str]) -> np.ndarray:
    """Return the milliseconds of PRESSES answers by keyboard alone. address : "" if the page is already
    open"""
    if address:
        view.goto(address)
    view.locator(room.CARD).wait_for(timeout=120_000)
    view.evaluate("window.times = []")
    for number in range(PRESSES):
        pressed = key()
        view.wait_for_timeout(200)
        view.keyboard.press(pressed)
        view.wait_for_timeout(SETTLED)
        view.wait_for_function("count => window.times.length > count", arg=number)
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
                times = presses(view, address, key)
                table.add(what, len(times), *percentiles(times))
            last = homes.wait_for_version(seat.home, large, first)
    return page(
        f"""Chromium headless on the same machine as the server, {PRESSES} answers by keyboard alone, about a second
apart, from the keydown event to the first frame with the next question. Each answer is one synchronous commit to
SQLite. BirdSong: 4,998 rows, 38 features, 13 classes, effect scores; once more after 200 answers, with questions in
the cheapest form, a tenth of them blind checks, and the choices shown first that hold the truth in 95%. Scene: 2,407
rows whose labels are vectors with holes, BML-CS. The large project has {m} classes and asks by margin; its model is
trained again after every answer by a worker of lower priority and came to version {last}. Target: p50 at most 40 ms,
p95 at most 70 ms, all four.""",
        table,
    )


SIZES = sized((10_000, 1_000_000), tiny=(500, 1_000))
MEASURED = sized(200, tiny=3)  # key presses without a browser


@benchmark("A key press, by the size of the table", packages=("playwright",))
def press_rows() -> str:
    table = Table("rows | CPU ms | of the first | p50 ms | p95 ms", ".2f")
    with folder() as place:
        with homes.owner_of(place / "home") as seat:
            ids = [managing.create_project(seat, f"{n:,}", *homes.long_table(n)) for n in SIZES]
            for one in ids:
                homes.find_neighbors(seat.at(one))
            going = [press.presses(seat.at(one), press.FIRST + MEASURED) for one in ids]
            each = [
                [next(one)[0] for one in going] for _ in range(press.FIRST + MEASURED)
            ]  # alternating between the projects
            cpu = np.median(each[press.FIRST :], axis=0)
        with homes.browsing(place / "home", WATCH) as (server, view):
            for n, one, spent in zip(SIZES, ids, cpu, strict=True):
                times = presses(view, f"{server.base}/annotate?project={one}", lambda: "1")
                table.add(n, spent, spent / cpu[0], *percentiles(times, 50, 95))
    return page(
        f"""PL-KNN with effect scores, 16 features, 10 classes, three candidates a row. CPU of the thread that answers,
for the answer, the next question and the standing next to the card, SQLite, median of {MEASURED} presses, the projects
in turns in one process. Then {PRESSES} answers by keyboard in Chromium on the same machine, from key to next question.
Target: at a million rows at most 1.3 times the CPU at ten thousand, and p95 at most 100 ms.""",
        table,
    )
