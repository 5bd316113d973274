"""From a click to a page that is drawn to its end, in a real browser: 100,000 rows, and 1,000 classes.

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
TARGET, TARGET_CLASSES = 1000, 300  # ms

LAST = {
    "home": "words('Signed in as')",
    "annotate": "inside('.card')?.dataset.token",
    "queue": "words('rows are open')",
    "progress": "count('.js-plotly-plot .main-svg') > 3 && words('When to stop')",
    "map": "count('.js-plotly-plot canvas, .js-plotly-plot .main-svg') && words('Rows that look alike')",
    "review": "count('[data-testid=stDataFrame] canvas') && words('answered rows')",
    "export": "count('[data-testid=stDataFrame] canvas') > 1",
    "settings": "words('Put away') && words('Save name and description')",
    "import": "words('Choose a file') && words('Images or sound?')",
}
"""Each page, and what stands last on it."""

WATCH = """
window.drawn = (last) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`not drawn within a minute: ${last}`)), 60000);
  const count = (css) => document.querySelectorAll(css).length;
  const words = (text) => document.querySelector("[data-testid=stMain]")?.innerText.includes(text);
  const inside = (css) => {
    for (const node of document.querySelectorAll("*")) {
      const found = node.shadowRoot?.querySelector(css);
      if (found) return found;
    }
  };
  const app = () => document.querySelector("[data-testid=stApp]")?.dataset.testScriptState;
  const there = new Function("count", "words", "inside", `return ${last}`);
  const look = () => {
    const still = app() === "notRunning" && !count("[data-stale=true]");
    if (still && there(count, words, inside)) resolve(performance.now());
    else setTimeout(look, 5);
  };
  look();
});
"""

CLICK = """
async ([page, last]) => {
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const find = () => [...document.querySelectorAll("a")].find((one) => new URL(one.href).pathname === `/${page}`);
  while (!find()) await pause(5);  // the navigation itself is drawn anew at times
  const begun = performance.now();
  find().click();
  await pause(20);
  return await drawn(last) - begun;
}
"""


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
        page.evaluate(CLICK, [away, LAST[away or "home"]])
        page.wait_for_timeout(400)
        found.append(page.evaluate(CLICK, [name if name != "home" else "", LAST[name]]))
    return found[1:]


def loads(page: Page, address: str, last: str) -> list[float]:
    """Milliseconds from the address to the page drawn, with everything that the browser loads for it."""
    found = []
    for _ in range(TIMES):
        page.goto(address, wait_until="commit")
        found.append(page.evaluate("last => drawn(last)", last))
    return found


def line(name: str, clicked: Sequence[float], loaded: Sequence[float], target: int) -> str:
    click, load = float(np.median(clicked)), float(np.median(loaded))
    late = [way for way, over in (("click", click > target), ("load", load > max(target, TARGET))) if over]
    return f"| {name} | {click:.0f} | {max(clicked):.0f} | {load:.0f} | {', '.join(late)} |"


def load_average() -> str:
    """What else the machine had to do."""
    return f"Processes that wanted a core meanwhile, on average of 15 minutes: {os.getloadavg()[2]:.1f}."


def measured(page: Page, base: str, number: int, names: Sequence[str], target: int) -> list[str]:
    """A line for each of these pages of a project."""
    page.goto(f"{base}/annotate?project={number}")
    page.evaluate("last => drawn(last)", LAST["annotate"])  # the learner is built
    lines = []
    for name in names:
        away = "import" if name != "import" else ""
        clicked = clicks(page, name, away)
        address = f"{base}/{name if name != 'home' else ''}?project={number}"
        lines.append(line(name.capitalize(), clicked, loads(page, address, LAST[name]), target))
    return lines


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = open_home(Settings.from_environment({"WINNOW_HOME": str(Path(folder) / "home")}))
        large = project(home, "large", table(ROWS, FEATURES, CLASSES))
        many = project(home, "many classes", table(5 * MANY_CLASSES, FEATURES, MANY_CLASSES))
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            page.goto(server.link)
            page.evaluate("last => drawn(last)", LAST["home"])
            rows = measured(page, server.base, large, list(LAST), TARGET)
            classes = measured(page, server.base, many, ["annotate"], TARGET_CLASSES)
            classes += measured(page, server.base, many, ["settings"], TARGET)
            browser.close()
        finally:
            server.stop()
            home.close()
    head = "| page | click, median ms | click, longest ms | load, median ms | over its target |\n"
    head += "|---|---|---|---|---|\n"
    report.write(
        "pages",
        "From a click to the page drawn",
        f"""
Chromium headless on the same machine as the server, warm, {TIMES} times each. *Click*: in the navigation, from another
page, until the script has ended and what stands last on the page is there. *Load*: the same from the address, with all
that the browser fetches and starts for it; where there are plots, plotly.js, 4.7 MB from the browser's cache, which
it compiles anew at every load. {load_average()}

**{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers**, a project as the Import page makes it.
Target: {TARGET:,} ms, by click and by load.

{head}{chr(10).join(rows)}

**{MANY_CLASSES:,} classes**, {5 * MANY_CLASSES:,} rows.
Target for a click to the Annotate page: {TARGET_CLASSES} ms, else {TARGET:,} ms.

{head}{chr(10).join(classes)}
""",
        ("streamlit", "numpy", "plotly", "playwright"),
    )


if __name__ == "__main__":
    main()
