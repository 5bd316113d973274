"""From a click to a page that is drawn to its end, in a real browser: every page at 100,000 rows, and 1,000 classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.answering.press import answer_to
from benchmarks.harness import Table, folder, load_average, page, sized
from plcore import LabelTable
from workflow.answering import loop
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat

TITLE = "From a click to the page drawn"
PACKAGES = ("streamlit", "numpy", "plotly", "playwright")
ROWS, FEATURES, CLASSES = sized((100_000, 64, 10), tiny=(500, 4, 4))
MANY_CLASSES = sized(1_000, tiny=20)
ANSWERS = sized(300, tiny=30)
TIMES = sized(5, tiny=1)
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
"""Each page, and what comes last on it, in JavaScript."""

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
"""Milliseconds from a press of a page's name, in the navigation, whose heading is open if it is below one."""


def table_of(rows: int, classes: int) -> LabelTable:
    """Return rows whose features tell the classes apart to some degree, with about three candidates each."""
    rng = np.random.default_rng(0)
    X, truth = homes.mixture(rows, FEATURES, classes, rng)
    others = rng.integers(classes, size=(rows, 2))
    sets = [sorted({own, *more}) for own, more in zip(truth.tolist(), others.tolist(), strict=True)]
    return homes.table_of(X, sets)


def project(owner: Seat, name: str, data: LabelTable) -> int:
    """Make a project as the Import page does where nothing is chosen, with some answers in its log."""
    seat = owner.at(managing.create_project(owner, name, data, managing.default_settings(data)))
    for _ in range(ANSWERS):
        question = loop.next_question(seat)
        assert question is not None
        loop.submit_answer(seat, question.token, *answer_to(question))
    return seat.project_id or 0


def path(name: str) -> str:
    """Return the part of the address of a page."""
    return "" if name == "home" else name


def clicks(view: Any, name: str, away: str) -> list[float]:
    """Return ms from a click in the navigation to the page drawn; before each the browser is on another page."""
    found = []
    for _ in range(TIMES + 1):  # the first warms up
        view.evaluate(CLICK, [path(away), away])
        view.wait_for_timeout(400)
        found.append(view.evaluate(CLICK, [path(name), name]))
    return found[1:]


def loads(view: Any, address: str, name: str) -> list[float]:
    """Return ms from the address to the page drawn, with everything that the browser loads for it."""
    found = []
    for _ in range(TIMES):
        view.goto(address, wait_until="commit")
        found.append(view.evaluate("name => drawn(name)", name))
    return found


def measured(view: Any, base: str, number: int, pages: Sequence[tuple[str, int]]) -> Table:
    """Return a line for each of these pages of a project. pages : with the target of a click, ms"""
    table = Table("page | click, median ms | longest | target | load, median ms | target | over its target")
    view.goto(f"{base}/annotate?project={number}")
    view.evaluate("drawn('annotate')")  # the learner is built
    for name, target in pages:
        clicked = clicks(view, name, away="import" if name != "import" else "home")
        loaded = loads(view, f"{base}/{path(name)}?project={number}", name)
        click, load = float(np.median(clicked)), float(np.median(loaded))
        late = [way for way, over in (("click", click > target), ("load", load > TARGET)) if over]
        figures = f"{click:.0f}", f"{max(clicked):.0f}", f"{target:,}", f"{load:.0f}", f"{TARGET:,}"
        table.add(name.capitalize(), *figures, ", ".join(late))
    return table


def measure() -> str:
    with folder() as place, homes.owner_of(place / "home") as owner:
        large = project(owner, "large", table_of(ROWS, CLASSES))
        team.make_link(owner, "Ada")
        many = project(owner, "many classes", table_of(5 * MANY_CLASSES, MANY_CLASSES))
        with homes.browsing(place / "home", WATCH) as (server, view):
            view.evaluate("drawn('home')")
            rows = measured(view, server.base, large, [(name, TARGET_CLICK) for name in LAST])
            of_many = ("annotate", TARGET_CLASSES), ("settings", TARGET_CLICK)
            classes = measured(view, server.base, many, of_many)
    return page(
        f"""Chromium headless on the same machine as the server, warm, {TIMES} times each. *Click*: in the navigation,
from another page, until the script has ended and what comes last on the page is there. *Load*: the same from the
address, with all that the browser fetches and starts for it; where there are plots, plotly.js, 4.7 MB from the
browser's cache, which it compiles again at every load. {load_average()}""",
        f"""**{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers**, a project as the Import page
makes it; two people, no row on which they differ.""",
        rows,
        f"**{MANY_CLASSES:,} classes**, {5 * MANY_CLASSES:,} rows.",
        classes,
    )
