"""Key press to next question, in a real browser against a real server: idle, and while a model trains.

Measured inside the page: from the keydown event to the first frame in which the card carries the next token.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from benchmarks import press_run, report
from plcore import LabelTable, LearnerSettings, Roles
from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from tests.conftest import DATA
from tests.workflow.world import newest_version
from workflow import oracle, projects
from workflow.home import Home, open_home
from workflow.people import team
from workflow.room import change_room, room_of
from workflow.seat import Seat
from workflow.settings import Settings

PRESSES = 200
BEFORE = 200  # answers from which on the form of a question is chosen
SETTLED = 600  # ms in which the page is left alone after a press
LARGE = 100_000, 64, 10  # rows, features, classes

# An init script, so that its listener comes before the card's own, which lets no later one see the key. It looks once
# a frame, at one node: what asks the page more often, as Playwright's own waiting does, slows down what it measures.
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


def measure(page: Page, key: Callable[[], str]) -> np.ndarray:
    """Milliseconds of PRESSES answers by keyboard alone, about a second apart."""
    page.evaluate("window.times = []")
    for number in range(PRESSES):
        pressed = key()
        page.wait_for_timeout(200)
        page.keyboard.press(pressed)
        page.wait_for_timeout(SETTLED)
        page.wait_for_function("count => window.times.length > count", arg=number)
    return np.array(page.evaluate("window.times"))


def large_project(home: Home) -> int:
    """A project of LARGE size whose linear model is trained anew after every answer."""
    n, d, m = LARGE
    rng = np.random.default_rng(0)
    truth = rng.integers(m, size=n)
    X = rng.normal(size=(m, d))[truth] * 0.5 + rng.normal(size=(n, d))
    sets = rng.random((n, m)) < 0.3
    sets[np.arange(n), truth] = True
    names = [f"class{k}" for k in range(m)]
    frame = pd.DataFrame(X.round(4), columns=[f"f{k:02d}" for k in range(d)])
    frame.insert(0, "candidates", ["|".join(names[k] for k in np.flatnonzero(row)) for row in sets])
    roles = Roles(candidates="candidates", numbers=tuple(frame.columns[1:]))
    settings = LearnerSettings(model="plsvc", strategy="margin", train_every=1, train_seconds=0.0)
    owner = team.ensure_owner(home).id
    return projects.create_project(Seat(home, owner), "large", LabelTable.from_frame(frame, roles), settings)


def project_with_all(home: Home, frame: pd.DataFrame) -> int:
    """BirdSong, in which questions are put in the cheapest form, shortlists are shown and the first questions go by
    coverage, after BEFORE answers."""
    roles = Roles(id="id", candidates="candidates", truth="bird", numbers=tuple(frame.columns[3:]))
    settings = LearnerSettings(model="plknn", strategy="cover", control_share=0.1)
    table = LabelTable.from_frame(frame, roles)
    seat = Seat(home, team.ensure_owner(home).id)
    seat = seat.at(projects.create_project(seat, "birdsong, all of it", table, settings))
    oracle.answer_for_me(seat, BEFORE)
    change_room(seat, replace(room_of(seat), forms="cheapest", shortlist=0.95))
    return seat.project_id or 0


def key_of_truth(page: Page, label: str) -> str:
    """The key that answers with the truth, in whichever form the question is put."""
    if page.locator(".verdicts.two").count():
        return "1" if page.locator(".single .named").inner_text() == label else "2"
    choice = page.locator(".choice", has=page.locator(".label").get_by_text(label, exact=True))
    if not choice.count():
        page.keyboard.press(".")
    return choice.get_attribute("data-key") or ""


def vectors_project(home: Home) -> int:
    """Scene with two thirds of its labels unknown in nine rows of ten, asked about as the defaults have it."""
    table, settings = press_run.scene()
    return projects.create_project(Seat(home, team.ensure_owner(home).id), "scene", table, settings)


def key_of_vectors(page: Page) -> str:
    """No to one label, or the labels of a row as the model has them."""
    return "n" if page.locator(".verdicts").count() else "Enter"


def wait_for_version(home: Home, project_id: int, beyond: int, timeout: float = 300) -> int:
    """The newest published version once there is one beyond this number."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        found = newest_version(home, project_id)
        if found > beyond:
            return found
        time.sleep(0.2)
    raise AssertionError("no model was published")


def main() -> None:
    frame = room.birdsong_frame(DATA)
    truth = dict(zip(frame.id, frame.bird, strict=True))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = open_home(Settings.from_environment({"WINNOW_HOME": str(Path(folder) / "home")}))
        large = large_project(home)
        whole = project_with_all(home, frame)
        vectors = vectors_project(home)
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            page.goto(server.link)
            first = wait_for_version(home, large, -1)
            room.import_csv(page, server.base, frame, "birdsong")
            idle = measure(page, lambda: room.key_for(page, truth[room.row_id(page)]))
            page.goto(f"{server.base}/annotate?project={whole}")
            page.locator(room.CARD).wait_for()
            all_of_it = measure(page, lambda: key_of_truth(page, truth[room.row_id(page)]))
            page.goto(f"{server.base}/annotate?project={vectors}")
            page.locator(room.CARD).wait_for()
            of_vectors = measure(page, partial(key_of_vectors, page))
            page.goto(f"{server.base}/annotate?project={large}")
            page.locator(room.CARD).wait_for(timeout=60_000)
            training_times = measure(page, lambda: "1")
            last = wait_for_version(home, large, first)
            browser.close()
        finally:
            server.stop()
            home.close()
    lines = [
        f"| {name} | {len(times)} | "
        + " | ".join(f"{np.percentile(times, at):.0f}" for at in (50, 95, 100))
        + " |"
        for name, times in (
            ("BirdSong, PL-KNN, nothing else runs", idle),
            ("BirdSong, PL-KNN, cheapest form, shortlists, coverage", all_of_it),
            ("label vectors: scene, 294 features, 6 labels", of_vectors),
            (f"{LARGE[0]:,} x {LARGE[1]}, PLSVC, always training", training_times),
        )
    ]
    report.write(
        "latency",
        "Key press to next question",
        f"""
Chromium headless on the same machine as the server, {PRESSES} answers by keyboard alone, about a second apart. Each
answer is one synchronous commit to SQLite before the next question is shown. BirdSong: 4,998 rows, 38 features, 13
classes, 3,332 trained on, effect scores; once more after {BEFORE} answers, with questions in the cheapest form, a tenth
of them blind checks, and the choices shown first that hold the truth in 95 %. Scene: 2,407
rows whose labels are vectors with holes, BML-CS. The large project has {LARGE[2]} classes
and asks by margin; its model is trained anew after every answer by a worker process of lower priority; meanwhile it
came to version {last}.
Target: p50 at most 40 ms, p95 at most 70 ms, all four.

| project | presses | p50 ms | p95 ms | max ms |
|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n",
        ("streamlit", "numpy", "SQLAlchemy", "playwright"),
    )


if __name__ == "__main__":
    main()
