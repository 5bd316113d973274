"""Pages in a real browser: from a click to drawn, downloads of the first visit, from an answer to a
spectrogram."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.answering.press import answer_to
from benchmarks.harness import Table, benchmark, folder, load_average, page, sized
from plcore import LabelTable
from tests.browser import room
from tests.browser.test_owner import packed, raven
from workflow.answering import loop
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat

ROWS, FEATURES, CLASSES = sized((100_000, 64, 10), tiny=(500, 4, 4))
MANY_CLASSES = sized(1_000, tiny=20)
ANSWERS = sized(300, tiny=30)
TIMES = sized(5, tiny=1)
TARGET, TARGET_CLICK, TARGET_CLASSES = (1000, 400, 300)  # ms: by load, by click, by click with many classes

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
    "settings": "words('Archive') && words('Save name and description')",
    "people": "words('Make a sign-in link') && words('New group')",
    "backups": "words('There is no backup yet')",
    "audit": "count('[data-testid=stDataFrame] canvas') && words('Answers on Review')",
    "account": "words('Signed-in browsers') && words('New token')",
}
"""Each page, and the last element drawn on it, in JavaScript."""

INSIDE = """
window.inside = (css) => {
  for (const node of document.querySelectorAll("*")) {
    const found = node.shadowRoot?.querySelector(css);
    if (found) return found;
  }
  return document.querySelector(css);
};
"""
"""Finds a node in another one's shadow DOM."""

WATCH = (
    INSIDE
    + """
window.drawn = (page) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error(`not drawn within a minute: ${page}`)), 60000);
  const count = (css) => document.querySelectorAll(css).length;
  const words = (text) => document.querySelector("[data-testid=stMain]")?.innerText.includes(text);
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
  for (let at = 0; !find(); at++) {  // below one of the headings; the navigation itself is redrawn at times
    headings()[at % (headings().length || 1)]?.click();
    await pause(100);
  }
  const begun = performance.now();
  find().click();
  await pause(20);
  return await drawn(name) - begun;
}
"""
"""Measures the milliseconds from a click on a page's name in the navigation; the heading above it, if any, is
open."""


def table_of(rows: int, classes: int) -> LabelTable:
    """Return rows whose features separate the classes partly, with about three candidates each."""
    rng = np.random.default_rng(0)
    X, truth = homes.mixture(rows, FEATURES, classes, rng)
    others = rng.integers(classes, size=(rows, 2))
    sets = [sorted({own, *more}) for own, more in zip(truth.tolist(), others.tolist(), strict=True)]
    return homes.table_of(X, sets)


def project(owner: Seat, name: str, data: LabelTable) -> int:
    """Create a project as the Import page does with default choices, with some answers in its log."""
    seat = owner.at(managing.create_project(owner, name, data, managing.default_settings(data)))
    for _ in range(ANSWERS):
        question = loop.next_question(seat)
        assert question is not None
        loop.submit_answer(seat, question.token, *answer_to(question))
    return seat.project_id or 0


def path(name: str) -> str:
    """Return the part of the address that names a page."""
    return "" if name == "home" else name


def clicks(view: Any, name: str, away: str) -> list[float]:
    """Return ms from a click in the navigation to the page drawn; before each click the browser shows another
    page."""
    found = []
    for _ in range(TIMES + 1):  # the first warms up
        view.evaluate(CLICK, [path(away), away])
        view.wait_for_timeout(400)
        found.append(view.evaluate(CLICK, [path(name), name]))
    return found[1:]


def loads(view: Any, address: str, name: str) -> list[float]:
    """Return ms from opening the address to the page drawn, including everything that the browser loads."""
    found = []
    for _ in range(TIMES):
        view.goto(address, wait_until="commit")
        found.append(view.evaluate("name => drawn(name)", name))
    return found


def measured(view: Any, base: str, number: int, pages: Sequence[tuple[str, int]]) -> Table:
    """Return a line for each of these pages of a project. pages : with the target of a click in ms"""
    table = Table("page | click, median ms | longest | target | load, median ms | target | over its target", ".0f")
    view.goto(f"{base}/annotate?project={number}")
    view.evaluate("drawn('annotate')")  # builds the learner
    for name, target in pages:
        clicked = clicks(view, name, away="import" if name != "import" else "home")
        loaded = loads(view, f"{base}/{path(name)}?project={number}", name)
        click, load = float(np.median(clicked)), float(np.median(loaded))
        late = [way for way, over in (("click", click > target), ("load", load > TARGET)) if over]
        table.add(name.capitalize(), click, max(clicked), target, load, TARGET, ", ".join(late))
    return table


@benchmark("From a click to the page drawn", packages=("plotly", "playwright"))
def pages() -> str:
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


# Files that a new browser loads

LONG = """
window.long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask", buffered: true });
"""
"""Tasks of 50 ms or more, during which the page does not respond."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
FIGURES = {
    "requests": "requests", "wire": "kB on the wire", "socket": "kB of the page", "busy": "CPU of its thread, ms",
    "painted": "first seen, ms", "drawn": "drawn, ms", "tasks": "long tasks", "longest": "longest, ms",
    "blocked": "blocked, ms",
}  # fmt: skip


def first_visit(chromium: Any, state: Any, address: str, name: str) -> tuple[Counter[str], dict[str, float]]:
    """Load a page, one of LAST, in a browser with only its sign-in: return FIGURES, and kB by address."""
    found: Counter[str] = Counter()
    urls: dict[str, str] = {}
    weights: dict[str, float] = {}
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)
    view = context.new_page()
    view.add_init_script(LONG)
    view.add_init_script(WATCH)
    session = context.new_cdp_session(view)

    def ended(one: dict[str, Any]) -> None:
        found["requests"] += 1
        found["wire"] += one["encodedDataLength"] / 1e3
        if (url := urls.get(one["requestId"])) is not None:
            weights[url.partition("?")[0]] = one["encodedDataLength"] / 1e3

    def framed(one: dict[str, Any]) -> None:
        found["socket"] += len(one["response"]["payloadData"]) * 0.75e-3  # base64 encoded

    session.on("Network.responseReceived", lambda one: urls.update({one["requestId"]: one["response"]["url"]}))
    session.on("Network.loadingFinished", ended)
    session.on("Network.webSocketFrameReceived", framed)
    session.send("Network.enable")
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    view.goto(address, wait_until="commit")
    found["drawn"] = view.evaluate("name => drawn(name)", name)
    view.wait_for_timeout(500)  # pending requests, and the last long task, which is reported afterwards
    found["painted"] = view.evaluate(PAINTED)
    tasks = view.evaluate("window.long")
    found["tasks"], found["longest"] = len(tasks), max(tasks, default=0)
    found["blocked"] = sum(one - 50 for one in tasks)
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    found["busy"] = 1000 * metrics["TaskDuration"]
    context.close()
    return found, weights


@benchmark("What a browser that was never here loads", packages=("playwright",))
def first_load() -> str:
    table, weighs = Table(["page", *FIGURES.values()], ",.0f"), ""
    with folder() as place, homes.serving(place / "home") as server, homes.browser() as chromium:
        view = chromium.new_page()
        view.add_init_script(WATCH)
        view.goto(server.link)
        view.evaluate("drawn('home')")
        state = view.context.storage_state()
        view.context.close()
        for name, address in (("home", server.base), ("annotate", f"{server.base}/annotate?project=1")):
            # The first visit fills the compression cache and builds the learner.
            visits = [first_visit(chromium, state, address, name) for _ in range(TIMES + 1)][1:]
            table.add(name.capitalize(), *(np.median([one[key] for one, _ in visits]) for key in FIGURES))
            files = sorted(visits[-1][1].items(), key=lambda pair: -pair[1])[:4]
            weighs = ", ".join(f"{url.rpartition('/')[2] or 'the page'} {size:,.0f} kB" for url, size in files)
    return page(
        f"""Chromium headless on the same machine as the server, with nothing but its sign-in, {TIMES} times each,
medians; the demo of digits. *On the wire*: of all answers over HTTP, packed as they come; *of the page*: what Streamlit
tells of it by its WebSocket. A *long task* keeps the page from answering for 50 ms or more; *blocked* is all of them
beyond their first 50. The files of Annotate that weigh most: {weighs}. {load_average()}
Target: drawn in {TARGET:,} ms.""",
        table,
    )


# From an answer to the next recording drawn

DETECTIONS = sized(15, tiny=2)
LISTENED = sized((3_000, 0), tiny=(0,))  # ms before each answer

DRAWN = """
(key) => new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error("not drawn within half a minute")), 30000);
  const before = inside(".card").dataset.token;
  const begun = performance.now();
  const look = () => {
    const card = inside(".card");
    if (card && card.dataset.token !== before && inside(".spectrogram.there")) resolve(performance.now() - begun);
    else requestAnimationFrame(look);
  };
  window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true }));
  look();
})
"""


@benchmark("From an answer to the next spectrogram", packages=("soundfile",))
def hearing() -> str:
    table = Table(f"listened before the answer | median, ms | slowest of {DETECTIONS}, ms", ".0f")
    with folder() as place, homes.browsing(place / "home", INSIDE) as (server, view):
        view.goto(f"{server.base}/import")
        file = {"name": "Dawn chorus.zip", "mimeType": "application/zip", "buffer": packed(raven())}
        view.locator(room.TABLE_BOX).set_input_files(file)
        view.get_by_role("button", name="Create project").click(timeout=60_000)
        view.locator(room.CARD).wait_for(timeout=60_000)
        view.locator(".spectrogram.there").wait_for()
        view.evaluate(DRAWN, "1")  # the first one fills the server's cache
        for listened in LISTENED:
            times = []
            for _ in range(DETECTIONS):
                view.wait_for_timeout(listened)
                times.append(float(view.evaluate(DRAWN, "1")))
            table.add(f"{listened / 1000:g} s", np.median(times), max(times))
    return page(
        """Thirty detections of a detector's table, answered as a bird owner does (`tests/browser/test_owner.py`): from
the press to the next question's spectrogram on the canvas. The next one is fetched while the person listens.""",
        table,
        "The target is 300 ms after the first, where the next one could be fetched ahead.",
    )
