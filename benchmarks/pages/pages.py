"""Pages in a real browser, Home by the number of projects, layouts of the map."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import trustworthiness
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import minmax_scale
from sqlalchemy import Engine, event

from benchmarks import homes
from benchmarks.answering.presses import answer_to
from benchmarks.data import REAL, exact_set, partial_set
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    clocked,
    folder,
    in_process,
    in_turns,
    load_average,
    page,
    sized,
    tabled,
)
from db import projects
from plcore import LabelTable
from tests.browser import room
from tests.browser.test_owner import packed, raven
from workflow.answering import loop
from workflow.people import team
from workflow.projects import managing
from workflow.rows import instance_map
from workflow.seat import Seat

ROWS, FEATURES, CLASSES = sized((100_000, 64, 10), tiny=(500, 4, 4))
MANY_CLASSES = sized(1_000, tiny=20)
ANSWERS = sized(300, tiny=30)
TIMES = sized(5, tiny=1)
TARGET, TARGET_CLICK, TARGET_CLASSES = (1000, 400, 300)  # ms: by load, by click, by click with many classes

LAST = {
    "home": "words('Signed in as')",
    "annotate": "inside('.card')?.dataset.token",
    "progress": "count('.js-plotly-plot .main-svg') && words('When to stop')",
    "map": "count('.js-plotly-plot canvas, .js-plotly-plot .main-svg') && words('Rows that are similar for the model')",
    "queue": "inside('.list')",
    "review": "inside('.list')",
    "disputes": "inside('.card')?.innerText.includes('No disputes')",
    "team": "inside('.team')",
    "models": "inside('.models')",
    "import": "inside('input[type=file]') && words('Sounds or pictures in a zip')",
    "export": "count('[data-testid=stDataFrame] canvas')",
    "settings": "count('[data-testid=stTabs]')",
    "people": "words('Make a sign-in link') && words('New group')",
    "backups": "words('There is no backup yet')",
    "audit": "count('[data-testid=stTable]') && words('Answers on Review')",
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


@tabled("page | click, median ms | longest | target | load, median ms | target | over its target", ".0f")
def measured(view: Any, base: str, number: int, pages: Sequence[tuple[str, int]]) -> Rows:
    """Return a line for each of these pages of a project. pages : with the target of a click in ms"""
    path_of = {name: "" if name == "home" else name for name in LAST}
    view.goto(f"{base}/annotate?project={number}")
    view.evaluate("drawn('annotate')")  # builds the learner
    for name, target in pages:
        away, clicks, loads = "import" if name != "import" else "home", [], []
        for _ in range(TIMES + 1):
            view.evaluate(CLICK, [path_of[away], away])
            view.wait_for_timeout(400)
            clicks.append(view.evaluate(CLICK, [path_of[name], name]))
        for _ in range(TIMES):
            view.goto(f"{base}/{path_of[name]}?project={number}", wait_until="commit")
            loads.append(view.evaluate("name => drawn(name)", name))
        clicks = clicks[1:]  # the first warms up
        click, load = np.median(clicks), np.median(loads)
        late = [way for way, over in (("click", click > target), ("load", load > TARGET)) if over]
        yield name.capitalize(), click, max(clicks), target, load, TARGET, ", ".join(late)


@benchmark("From a click to the page drawn", packages=("plotly", "playwright"))
def pages() -> str:
    """Chromium headless on the same machine as the server, warm, {TIMES} times each. *Click*: in the navigation, from
    another page, until the script has ended and the last element of the page is there. *Load*: the same from the
    address, with all that the browser fetches and starts for it; where there are plots, plotly.js, 4.7 MB from the
    browser's cache, which it compiles again at every load. {load}

    **{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers**, a project as the Import page makes
    it; two people, no row with different answers.
    """
    with folder() as place, homes.owner_of(place / "home") as owner:
        large = project(owner, "large", table_of(ROWS, CLASSES))
        team.make_link(owner, "Ada")
        many = project(owner, "many classes", table_of(5 * MANY_CLASSES, MANY_CLASSES))
        with homes.browsing(place / "home", WATCH) as (server, view):
            view.evaluate("drawn('home')")
            rows = measured(view, server.base, large, [(name, TARGET_CLICK) for name in LAST])
            of_many = ("annotate", TARGET_CLASSES), ("settings", TARGET_CLICK)
            classes = measured(view, server.base, many, of_many)
    return page(rows, f"**{MANY_CLASSES:,} classes**, {5 * MANY_CLASSES:,} rows.", classes)


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


@benchmark("First load in a browser with an empty cache", packages=("playwright",))
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
        f"""Chromium headless on the same machine as the server, with only its sign-in, {TIMES} times each,
medians; the demo of digits. *On the wire*: all HTTP responses, compressed; *of the page*: messages of Streamlit over
its WebSocket. A *long task* keeps the page from answering for 50 ms or more; *blocked* is the time of all long tasks
beyond their first 50 ms. The files of Annotate that weigh most: {weighs}. {load_average()} Target: drawn in {TARGET:,}
ms.""",
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
    """Thirty detections of a detector's table, answered as a bird owner does (`tests/browser/test_owner.py`): from the
    press to the next question's spectrogram on the canvas. The next one is fetched while the person listens."""
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
        table, "The target is 300 ms for every question after the first, when the next recording could be prefetched."
    )


# Home

PROJECTS = sized((10, 1_000), tiny=(2, 4))
FEW_ROWS, SOME = 40, 6
RUNS, VISITS = sized((2, 3), tiny=(1, 1))
TARGET_HOME = 50  # ms


def make(place: Path, number: int) -> tuple[int, int, int]:
    """Make a home with this many projects, of both kinds in turn. In each second pair of projects the owner and an
    annotator of all projects have answered. Return their ids, and that of a stranger."""
    with homes.owner_of(place) as owner:
        X, truth = homes.mixture(FEW_ROWS, 4, 3, np.random.default_rng(0))
        cells = np.where(np.eye(3, dtype=bool)[truth], "1", "")
        tables = homes.table_of(X, [[one, (one + 1) % 3] for one in truth]), homes.vectors(X, cells, "abc")
        made = [managing.create_project(owner, f"project {k}", table) for k, table in enumerate(tables)]
        with owner.home.database.write() as session:
            columns = [vars(projects.get(session, one)).copy() for one in made]
            for one in columns:
                for name in ("id", "name", "archived_at", "deleted_at", "stop_rules"):
                    one.pop(name)
            for k in range(2, number):
                made.append(projects.add(session, name=f"project {k}", **columns[k % 2]))
        homes.sign_ins(owner, 1, made)
        people = {one.name: one.id for one in team.list_people(owner)}
        annotator = people["Person 0"]
        team.redeem_link(owner.home, team.make_link(owner, "Stranger"))
        lines = []
        for k, project in enumerate(made):
            for seq in range(1, SOME * (k % 4 < 2) + 1):
                seat = Seat(owner.home, annotator if seq % 2 else owner.person_id, project)
                said = {"kind": "yes", "label": "a", "labels": []} if k % 2 else {"labels": ["class0"]}
                lines.append(homes.entry(seat, seq, SOME, row=seq, token=str(seq), before=[], after=[], **said))
        homes.write_log(owner, lines)
        (stranger,) = {one.id for one in team.list_people(owner)} - set(people.values())
    return owner.person_id, annotator, stranger


def visits(place: str, owner: int, annotator: int, stranger: int) -> list[float]:
    """Return CPU ms of the owner's first visit in this process; then of a later visit, the least of some, and its
    number of SQL statements, of the owner and of the annotator. stranger : a person without projects"""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import AppTest

    from pages.parts import frame
    from workflow.server.home import home

    os.environ["WINNOW_HOME"] = place
    shutil.rmtree(home().cache_dir / "counts", ignore_errors=True)
    # A server does this once, when it starts.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    script = str(Path(str(frame.__file__)).parents[1] / "main.py")
    noted = [0]

    @event.listens_for(Engine, "before_cursor_execute")
    def note(*said: object) -> None:
        noted[-1] += not str(said[2]).startswith("BEGIN")

    def visit(who: int) -> float:
        frame.person_id = lambda: who  # the header of the guard, which AppTest does not send
        test, begun = AppTest.from_file(script, default_timeout=600), time.process_time()
        test.run()
        used = time.process_time() - begun
        assert not test.exception
        noted.append(0)
        return 1e3 * used

    visit(stranger)  # imports the pages
    found = [visit(owner)]
    for who in (owner, annotator):
        visit(who)
        found += [min(visit(who) for _ in range(VISITS)), noted[-2]]
    return found


LATER = "{0}: later visit, CPU ms | {0}: SQL statements"


@benchmark(
    "Home, by the number of projects",
    head=f"projects | checkout | owner: first visit, CPU ms | {LATER.format('owner')} | {LATER.format('annotator')}",
    form=",.0f",
)
def home_projects() -> Rows:
    """CPU time of a visit of Home: Streamlit draws the page in the process of the benchmark and `AppTest` reads it. The
    least of {RUNS} processes, and in each of them of {VISITS} later visits. *First visit*: in a new process with
    modules imported, which counts the logs for the first time. Projects are of both kinds in turn, with {FEW_ROWS}
    rows; each second one has {SOME} answers. {load} Target: a later visit with 1,000 projects in {TARGET_HOME} ms."""
    for number in PROJECTS:
        with folder() as place:
            call = partial(in_process, visits, str(place), *make(place, number))
            found = in_turns(RUNS, lambda tree, call=call: call(tree=tree))
        for name, figures in found.items():
            yield number, name, *map(float, figures)


# The map

SETS = sized(("digits", "pendigits", "satimage", "birdsong", "usps"), tiny=("iris",))
NEAREST = 10


@benchmark(
    "Layouts of the map",
    head="set | rows x features | variance in two axes | trustworthiness, axes | t-SNE | with twice as many rounds | "
    "same class, axes | t-SNE | s, axes | s, t-SNE",
)
def maps() -> Rows:
    """At most {instance_map.MOST:,} rows, as the map draws them; features from 0 to 1. *Trustworthiness* of the
    {NEAREST} nearest, 1 is the best; *same class*: share of rows whose nearest neighbour on the map has the same true
    class, which no layout uses. Seconds of one core."""
    for name in SETS:
        X, *_, y = partial_set(name) if name in REAL else exact_set(name)
        rows = instance_map.rows_on_map(len(X))
        X, y = minmax_scale(X[rows]), y[rows]  # as in a project
        (axes, share), seconds = clocked(lambda X=X: instance_map.principal_axes(X))
        laid, laid_seconds = clocked(lambda X=X: instance_map.beside_neighbors(X))
        twice = instance_map.beside_neighbors(X, 2 * instance_map.ROUNDS)
        kept = [f"{trustworthiness(X, one, n_neighbors=NEAREST):.3f}" for one in (axes, laid, twice)]
        nearest = (NearestNeighbors(n_neighbors=1).fit(one).kneighbors()[1][:, 0] for one in (axes, laid))
        same = (f"{np.mean(y[rows] == y):.0%}" for rows in nearest)
        size = f"{len(X):,} x {X.shape[1]}"
        yield name, size, f"{share:.0%}", *kept, *same, f"{seconds:.2f}", f"{laid_seconds:.1f}"
