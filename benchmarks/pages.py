"""From a click to a page that is drawn to its end, in a real browser: every page at 100,000 rows, and 1,000 classes.

Measured inside the page: until Streamlit says that its script has ended, no part of the page before is left, and what
stands last on the page is there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from benchmarks import report
from plcore import LabelTable, LearnerSettings, Roles
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from workflow import answering, projects
from workflow.home import Home, open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS, FEATURES, CLASSES = 100_000, 64, 10
MANY_CLASSES = 1_000
ANSWERS = 300
TIMES = 5
TARGET, TARGET_CLICK, TARGET_CLASSES = (
    1000,
    400,
    300,
)  # ms: by load, by click, by click where classes are many

LAST = {
    "home": "words('Signed in as')",
    "annotate": "inside('.card')?.dataset.token",
    "progress": "count('.js-plotly-plot .main-svg') > 3 && words('When to stop')",
    "map": "count('.js-plotly-plot canvas, .js-plotly-plot .main-svg') && words('Rows that look alike')",
    "queue": "words('rows are open')",
    "review": "count('[data-testid=stDataFrame] canvas') && words('answered rows')",
    "disputes": "inside('.card')?.innerText.includes('No disputes')",
    "team": "count('[data-testid=stDataFrame] canvas') && words('On all rows that several have answered')",
    "models": "words('CLPL')",
    "import": "words('Choose a file') && words('Sounds or pictures in a zip')",
    "export": "count('[data-testid=stDataFrame] canvas') > 1",
    "settings": "words('Put away') && words('Save name and description')",
    "people": "words('Make a sign-in link') && words('Name of a new group')",
    "backups": "words('There is no backup yet')",
    "audit": "count('[data-testid=stDataFrame] canvas') && words('Answers on Review')",
    "account": "words('Signed-in browsers') && words('New token')",
}
"""Each page, and what stands last on it, in JavaScript."""

WATCH = (
    """
window.drawn = (page) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`not drawn within a minute: ${page}`)), 60000);
  const count = (css) => document.querySelectorAll(css).length;
  const words = (text) => document.querySelector("[data-testid=stMain]")?.innerText.includes(text);
  const inside = (css) => {
    for (const node of document.querySelectorAll("*")) {
      const found = node.shadowRoot?.querySelector(css);
      if (found) return found;
    }
  };
  const app = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
  const there = { LAST }[page];
  const look = () => {
    const still = app() === "notRunning" && !count("[data-stale=true]");
    if (still && there()) resolve(performance.now());
    else setTimeout(look, 5);
  };
  look();
});
"""
).replace("LAST", ", ".join(f"{name}: () => {last}" for name, last in LAST.items()))

CLICK = """
async ([page, name]) => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const find = () => [...document.querySelectorAll("a")].find((one) => new URL(one.href).pathname === `/${page}`);
  const headings = () => [...document.querySelectorAll("[data-testid=stTopNavSection]")];
  for (let at = 0; !find(); at++) {  // below one of the headings; the navigation itself is drawn anew at times
    headings()[at % (headings().length || 1)]?.click();
    await pause(100);
  }
  const begun = performance.now();
  find().click();
  await pause(20);
  return await drawn(name) - begun;
}
"""
"""Milliseconds from a press of a page's name, in the navigation, whose heading is open if it stands below one."""


def table(rows: int, features: int, classes: int, seed: int = 0) -> LabelTable:
    """Rows whose features tell the classes apart to some degree, with about three candidates each."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=rows)
    X = rng.normal(size=(classes, features))[truth] * 0.5 + rng.normal(size=(rows, features))
    others = rng.integers(classes, size=(rows, 2))
    names = np.array([f"class{k:04d}" for k in range(classes)])
    frame = pd.DataFrame(X.round(4), columns=[f"f{k:02d}" for k in range(features)])
    frame.insert(
        0,
        "candidates",
        ["|".join(names[sorted({own, *more})]) for own, more in zip(truth, others, strict=True)],
    )
    return LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=tuple(frame.columns[1:])))


def project(home: Home, name: str, data: LabelTable) -> int:
    """A project as the Import page makes it where nothing is chosen, and some answers in its log."""
    owner = team.ensure_owner(home).id
    settings = projects.default_settings(data)
    assert isinstance(settings, LearnerSettings)
    made = projects.create_project(Seat(home, owner), name, data, settings)
    for _ in range(ANSWERS):
        question = answering.next_question(Seat(home, owner, made))
        assert question is not None
        best = int(np.argmax(question.probabilities))
        answering.submit_answer(Seat(home, owner, made), question.token, "is", [question.choices[best]])
    return made


def clicks(page: Page, name: str, away: str) -> list[float]:
    """Milliseconds from a click in the navigation to the page drawn; before each the browser is on another page."""
    found = []
    for _ in range(TIMES + 1):  # the first warms up
        page.evaluate(CLICK, [path(away), away])
        page.wait_for_timeout(400)
        found.append(page.evaluate(CLICK, [path(name), name]))
    return found[1:]


def path(name: str) -> str:
    """Of a page, in its address."""
    return "" if name == "home" else name


def loads(page: Page, address: str, name: str) -> list[float]:
    """Milliseconds from the address to the page drawn, with everything that the browser loads for it."""
    found = []
    for _ in range(TIMES):
        page.goto(address, wait_until="commit")
        found.append(page.evaluate("name => drawn(name)", name))
    return found


def line(name: str, clicked: Sequence[float], loaded: Sequence[float], target: int) -> str:
    """target : of a click, ms"""
    click, load = float(np.median(clicked)), float(np.median(loaded))
    late = [way for way, over in (("click", click > target), ("load", load > TARGET)) if over]
    return f"| {name} | {click:.0f} | {max(clicked):.0f} | {target:,} | {load:.0f} | {TARGET:,} | {', '.join(late)} |"


def load_average() -> str:
    """What else the machine had to do."""
    return f"Processes that wanted a core meanwhile, on average of 15 minutes: {os.getloadavg()[2]:.1f}."


def measured(page: Page, base: str, number: int, names: Sequence[str], target: int) -> list[str]:
    """A line for each of these pages of a project."""
    page.goto(f"{base}/annotate?project={number}")
    page.evaluate("drawn('annotate')")  # the learner is built
    lines = []
    for name in names:
        clicked = clicks(page, name, away="import" if name != "import" else "home")
        loaded = loads(page, f"{base}/{path(name)}?project={number}", name)
        lines.append(line(name.capitalize(), clicked, loaded, target))
    return lines


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = open_home(Settings.from_environment({"WINNOW_HOME": str(Path(folder) / "home")}))
        large = project(home, "large", table(ROWS, FEATURES, CLASSES))
        team.make_link(Seat(home, team.ensure_owner(home).id), "Ada")
        many = project(home, "many classes", table(5 * MANY_CLASSES, FEATURES, MANY_CLASSES))
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            page.goto(server.link)
            page.evaluate("drawn('home')")
            rows = measured(page, server.base, large, list(LAST), TARGET_CLICK)
            classes = measured(page, server.base, many, ["annotate"], TARGET_CLASSES)
            classes += measured(page, server.base, many, ["settings"], TARGET_CLICK)
            browser.close()
        finally:
            server.stop()
            home.close()
    head = "| page | click, median ms | longest | target | load, median ms | target | over its target |\n"
    head += "|---|---|---|---|---|---|---|\n"
    report.write(
        "pages",
        "From a click to the page drawn",
        f"""
Chromium headless on the same machine as the server, warm, {TIMES} times each. *Click*: in the navigation, from another
page, until the script has ended and what stands last on the page is there. *Load*: the same from the address, with all
that the browser fetches and starts for it; where there are plots, plotly.js, 4.7 MB from the browser's cache, which
it compiles anew at every load. {load_average()}

**{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers**, a project as the Import page makes it;
two people, no row on which they differ.

{head}{chr(10).join(rows)}

**{MANY_CLASSES:,} classes**, {5 * MANY_CLASSES:,} rows.

{head}{chr(10).join(classes)}
""",
        ("streamlit", "numpy", "plotly", "playwright"),
    )


if __name__ == "__main__":
    main()
