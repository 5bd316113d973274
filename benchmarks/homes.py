"""Homes of Winnow with projects, people, servers and a browser, for the benchmarks of the app.

Functions that are also measured in another checkout (`--before`) use only what both have.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sqlalchemy import insert

from benchmarks.harness import ROOT, data_folder, sized
from db.models import EntryRow
from plcore import LabelTable, LearnerSettings, Roles
from workflow.answering import oracle, room
from workflow.people import members, team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.server import Server
    from tests.live_page import LivePage

FEATURES, CLASSES = 16, 10
LONG_ROWS, LOG = sized(40_000, tiny=3_000), sized(20_000, tiny=50)
LARGE = sized((100_000, 64, 10), tiny=(1_000, 8, 4))
"""Rows, features and classes of the project that is retrained continuously."""


@contextmanager
def owner_of(folder: Path | str, **more: str) -> Iterator[Seat]:
    """Open a home and yield its owner's seat. more : further variables, of the database or a limit"""
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(folder), **more}))
    try:
        yield Seat(home, team.ensure_owner(home).id)
    finally:
        home.close()


def mixture(
    rows: int, features: int, classes: int, rng: np.random.Generator, spread: float = 0.5
) -> tuple[np.ndarray, np.ndarray]:
    """Return X and true classes of rows whose features separate the classes partly."""
    truth = rng.integers(classes, size=rows)
    return rng.normal(size=(classes, features))[truth] * spread + rng.normal(size=(rows, features)), truth


def ambiguous_mixture(
    size: tuple[int, int, int], share: float, spread: float = 0.5, prefix: str = "class"
) -> LabelTable:
    """Return such rows, each false label a candidate with this probability. size : rows, features, classes"""
    rng = np.random.default_rng(0)
    X, truth = mixture(*size, rng, spread)
    sets = rng.random((size[0], size[2])) < share
    sets[np.arange(size[0]), truth] = True
    return table_of(X, [np.flatnonzero(row).tolist() for row in sets], prefix)


def table_of(X: np.ndarray, sets: Sequence[Sequence[int]], prefix: str = "class") -> LabelTable:
    """Return a table with these features and each row's candidates."""
    frame = pd.DataFrame(X.round(4), columns=[f"f{k:03d}" for k in range(X.shape[1])])
    frame.insert(0, "candidates", ["|".join(f"{prefix}{k}" for k in one) for one in sets])
    return LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=tuple(frame.columns[1:])))


def birdsong() -> tuple[LabelTable, LearnerSettings]:
    """Return a table of 4,998 rows, 38 features, 13 classes."""
    frame = birdsong_frame()
    roles = Roles(id="id", candidates="candidates", truth="bird", numbers=tuple(frame.columns[3:]))
    return LabelTable.from_frame(frame, roles), LearnerSettings(model="plknn")


def birdsong_frame() -> pd.DataFrame:
    data = np.load(data_folder() / "birdsong.npz")
    names = np.array([f"bird{k:02d}" for k in range(data["S"].shape[1])])
    frame = pd.DataFrame(data["X"], columns=[f"f{k:02d}" for k in range(data["X"].shape[1])])
    frame.insert(0, "id", [f"clip{k:05d}" for k in range(len(frame))])
    frame.insert(1, "candidates", ["|".join(names[row.astype(bool)]) for row in data["S"]])
    frame.insert(2, "bird", names[data["y"]])
    return frame


def scene() -> tuple[LabelTable, Any]:
    """Return a table of 2,407 rows, 294 features, 6 labels; in nine rows of ten, two thirds of the labels are
    unknown."""
    data = np.load(data_folder() / "scene.npz")
    rng = np.random.default_rng(0)
    holes = (rng.random(data["Y"].shape) < 2 / 3) & (rng.random(len(data["Y"])) < 0.9)[:, None]
    table = vectors(data["X"], np.where(holes, "", data["Y"].astype(str)), [str(one) for one in data["label_names"]])
    return table, managing.default_settings(table)


def vectors(X: np.ndarray, cells: np.ndarray, labels: Sequence[str]) -> LabelTable:
    """Return a table of features and label vectors, whose cells are "1", "0" or empty."""
    frame = pd.DataFrame(X.round(4), columns=[f"f{k:03d}" for k in range(X.shape[1])])
    numbers = tuple(frame.columns)
    for k, name in enumerate(labels):
        frame[name] = cells[:, k]
    return LabelTable.from_frame(frame, Roles(label_columns=tuple(labels), label_vectors=True, numbers=numbers))


def long_table(rows: int = LONG_ROWS) -> tuple[LabelTable, LearnerSettings]:
    """Return a table with three candidates in each row."""
    X, truth = mixture(rows, FEATURES, CLASSES, np.random.default_rng(0))
    sets = np.sort((truth[:, None] + [0, 3, 5]) % CLASSES, axis=1)
    return table_of(X, sets.tolist()), LearnerSettings(model="plknn")


def find_neighbors(seat: Seat) -> None:
    """Find the neighbours that a project of many rows needs; an earlier checkout needs none."""
    with suppress(ImportError):
        from workflow.models import neighbors

        neighbors.find(seat, "benchmark")


def large_project(seat: Seat) -> int:
    """Create a project of LARGE size whose linear model is retrained after every answer."""
    settings = LearnerSettings(model="plsvc", strategy="margin", train_every=1, train_seconds=0.0)
    return managing.create_project(seat, "large", ambiguous_mixture(LARGE, 0.3), settings)


def project(seat: Seat, case: str, length: int = LOG) -> Seat:
    """Create a project: "birdsong", "all" (its questions), "long" (its log), "vectors". length : of the log of a long
    one"""
    table, settings = {"vectors": scene, "long": long_table}.get(case, birdsong)()
    if case == "all":
        settings = replace(settings, strategy="cover", control_share=0.1)
    seat = seat.at(managing.create_project(seat, case, table, settings))
    if case == "all":
        oracle.answer_for_me(seat, sized(200, tiny=20))
        room.change_room(seat, replace(room.room_of(seat), forms="cheapest", shortlist=0.95))
    if case == "long":
        fill_log(seat, length, table)
    return seat


def entry(seat: Seat, seq: int, length: int, **more: Any) -> dict[str, Any]:
    """Return a line of a log of this length, written by one person with an answer every ten seconds until now."""
    at = datetime.now(UTC) - timedelta(seconds=60 + 10 * (length - seq))
    return {
        "project_id": seat.project_id, "seq": seq, "kind": "is", "label": "",
        "person_id": seat.person_id, "revision": 0,
        "at": at, "target_seq": None, "strategy": "apl", "score": 0.5, "model_version": seq - 1, "seconds": 4.5,
        "note": None, "predicted": None, "flagged": False, "asked": None, **more,
    }  # fmt: skip


def write_log(seat: Seat, lines: list[dict[str, Any]]) -> None:
    with seat.home.database.write() as session:
        for begin in range(0, len(lines), 10_000):
            session.execute(insert(EntryRow), lines[begin : begin + 10_000])


def fill_log(seat: Seat, length: int, table: LabelTable) -> None:
    """Write answers, each about another row until all but the last 2,000 have one; then corrections of the same
    rows."""
    candidates, n = np.asarray(table.candidates), len(table.ids) - 2_000
    lines = []
    for number in range(length):
        row, again = number % n, number // n
        before = [table.classes[k] for k in np.flatnonzero(candidates[row])]
        lines.append(
            entry(seat, number + 1, length, row=row, labels=before[:1], token=f"{seat.person_id}.{row}.{again}",
                  revision=again, before=before, after=before[:1], predicted=before[0], asked={"form": "which"})
        )  # fmt: skip
    write_log(seat, lines)


def drawn_graph(n: int, n_held: int, k: int) -> Any:
    """Return a graph of random neighbours with nearby row numbers: finding true ones is measured by `neighbors`."""
    from plcore.arrays import large_array
    from plcore.neighbors.graph import Graph

    rng = np.random.default_rng(1)
    parts = []
    for size, own in ((n, 1), (n_held, 0)):
        neighbors, weights = (large_array((size, k), kind) for kind in (np.int32, np.int64))
        for first in range(0, size, 100_000):
            rows = np.arange(first, min(first + 100_000, size))
            steps = np.cumsum(rng.integers(1, max(2, min(7, n // k)), (len(rows), k)), axis=1)
            neighbors[rows] = (rows[:, None] + steps) % n
            neighbors[rows, :own] = rows[:, None][:, :own]
            weights[rows] = rng.integers(2**22, 2**24, (len(rows), k))
        parts += [neighbors, weights]
    return Graph(*parts, "approximate", 1.0)


def draw_neighbors() -> None:
    """From now on, use random neighbours for projects created in this process."""
    from plcore.loop.one_label import asking

    def find(X: Any, unseen: Any, settings: Any, _tell: object = None) -> Any:
        return drawn_graph(X.shape[0], 0 if unseen is None else unseen.shape[0], settings.n_neighbors)

    asking.find_graph = find  # type: ignore[attr-defined]


# Servers, people and browsers


def sign_ins(seat: Seat, number: int, projects: Sequence[int]) -> list[str]:
    """Return the cookie secrets of this many people who may answer in these projects."""
    made = []
    for name in (f"Person {k}" for k in range(number)):
        made.append(team.redeem_link(seat.home, team.make_link(seat, name)))
        members.share(seat, name, list(projects), "annotator")
    return made


def cookie_of(port: int, secret: str) -> str:
    return f"winnow_signin_{port}={secret}"


def open_page(stack: ExitStack, server: Server, secret: str, number: int) -> LivePage:
    """Open the Annotate page of a project like a browser, but without one."""
    from tests.live_page import LivePage

    return stack.enter_context(LivePage(server.port, cookie_of(server.port, secret), f"project={number}"))


def pressed(view: LivePage) -> tuple[str, float]:
    """Answer with the first choice; return what the card said, and the ms until then."""
    begun = time.perf_counter()
    said = view.press("is", [view.question["question"]["rows"][0]["label"]])
    return said, 1e3 * (time.perf_counter() - begun)


@contextmanager
def serving(folder: Path, **more: str) -> Iterator[Server]:
    """Run a server on this home."""
    from tests.browser.server import Server

    server = Server(folder, more=more)
    try:
        yield server.start()
    finally:
        server.stop()


@contextmanager
def browser() -> Iterator[Browser]:
    """Run the tests' Chromium."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGUMENTS
    from tests.browser.obtain import obtain

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
        yield chromium
        chromium.close()


@contextmanager
def browsing(folder: Path, *scripts: str) -> Iterator[tuple[Server, Page]]:
    """Run a server on this home, and a browser page signed in as its owner. scripts : init scripts of every page"""
    with serving(folder) as server, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        for script in scripts:
            page.add_init_script(script)
        page.goto(server.link)
        yield server, page


@contextmanager
def database(name: str, *options: str) -> Iterator[Mapping[str, str] | None]:
    """Yield the environment variables of a new database, "SQLite" or "PostgreSQL"; None if there is no PostgreSQL."""
    from tests.postgres import running
    from tests.postgres_programs import find

    if name == "SQLite":
        yield {"WINNOW_DATABASE_URL": ""}
    elif (programs := find()) is None:
        yield None
    else:
        with running(programs, list(options)) as server, server.empty_database() as url:
            yield {"WINNOW_DATABASE_URL": url}


@contextmanager
def working(home: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker on this home, started as by the server."""
    environment = {**os.environ, "WINNOW_HOME": str(home)}
    command = [sys.executable, str(ROOT / "worker.py"), "--with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, **how) as worker:
        assert worker.stdin is not None
        with worker.stdin:
            yield worker


def wait_for_version(home: Home, project_id: int, beyond: int) -> int:
    """Wait for a published version beyond this number, and return the newest."""
    from tests.workflow.world import newest_version

    until = time.monotonic() + 300
    while time.monotonic() < until:
        if (found := newest_version(home, project_id)) > beyond:
            return found
        time.sleep(0.2)
    raise AssertionError("no model was published")
