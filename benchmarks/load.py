"""Thirty people at one server beside a training model, and sixty at two servers on PostgreSQL: how long each waits.

`SECONDS=60 python -m benchmarks load`; people press as the card does, about a second after each question came.
"""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sqlalchemy import func, select

from benchmarks import report
from benchmarks.latency import LARGE, large_project, wait_for_version
from benchmarks.press_run import birdsong
from db.models import ModelRow
from tests.browser.server import Server
from tests.live_page import LivePage
from tests.postgres import running
from tests.postgres_programs import find
from workflow import projects
from workflow.home import Home, open_home
from workflow.people import members, team
from workflow.seat import Seat
from workflow.settings import Settings

PEOPLE = 30  # at each server
SECONDS = float(os.environ.get("SECONDS", "120"))
THINKING = 0.5, 1.5  # seconds between a question and its answer
FIRST = 2  # presses of each person that warm up


@dataclass
class Found:
    """waits : ms of each press      per_session : MB of the server's memory that each open page has taken
    trained : models of the large project that were published meanwhile
    refused : what was said of presses that were not saved"""

    waits: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    per_session: list[float] = field(default_factory=list)
    trained: int = 0


def anonymous(server: Server) -> float:
    """MB of the server's own process that are no pages of files."""
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1e3


def answering(page: LivePage, seed: int, found: Found, stop: threading.Event) -> None:
    """One person, until all stop."""
    dice, number = random.Random(seed), 0
    while not stop.wait(dice.uniform(*THINKING)) and page.question is not None:
        label = page.question["question"]["rows"][0]["label"]
        begun = time.perf_counter()
        said = page.press("is", [label])
        waited = 1e3 * (time.perf_counter() - begun)
        number += 1
        if not said.startswith("Saved"):
            found.refused.append(said)
        elif number > FIRST:
            found.waits.append(waited)


def run(place: Mapping[str, str], n_servers: int, *, at_large: bool = False) -> Found:
    """place : variables of the database, of none: SQLite      at_large : they all answer in the large project"""
    found, beside, stop = Found(), Found(), threading.Event()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        environment = {"WINNOW_HOME": str(folder / "home"), "WINNOW_DATABASE_URL": "", **place}
        home = open_home(Settings.from_environment(environment))
        stack.callback(home.close)
        large = large_project(home)
        project = large if at_large else birdsong_project(home)
        cookies = secrets(home, [project, large], n_servers * PEOPLE + 1)
        servers = [Server(folder / "home", more=place) for _ in range(n_servers)]
        for server in servers:
            stack.callback(server.stop)
            server.start()
        pages = []
        for server in servers:
            mine = [cookies.pop() for _ in range(PEOPLE)]
            opened = [open_page(stack, server, mine[0], project)]
            before = anonymous(server)
            opened += [open_page(stack, server, one, project) for one in mine[1:]]
            found.per_session.append((anonymous(server) - before) / (PEOPLE - 1))
            pages += opened
        trainer = open_page(stack, servers[0], cookies.pop(), large)
        wait_for_version(home, large, -1)
        people = [
            threading.Thread(target=answering, args=(page, seed, found, stop))
            for seed, page in enumerate(pages)
        ]
        people.append(threading.Thread(target=answering, args=(trainer, -1, beside, stop)))
        first = published(home, large)
        for one in people:
            one.start()
        time.sleep(SECONDS)
        stop.set()
        for one in people:
            one.join()
        found.trained = published(home, large) - first
    return found


def published(home: Home, project: int) -> int:
    """How often its model was trained."""
    with home.database.read() as session:
        return session.execute(
            select(func.count()).select_from(ModelRow).where(ModelRow.project_id == project)
        ).scalar_one()


def birdsong_project(home: Home) -> int:
    """BirdSong by PL-KNN and effect scores."""
    owner = Seat(home, team.ensure_owner(home).id)
    return projects.create_project(owner, "birdsong", *birdsong())


def secrets(home: Home, of: list[int], number: int) -> list[str]:
    """Sign-ins of so many people who may answer in these projects."""
    owner = Seat(home, team.ensure_owner(home).id)
    made = []
    for name in (f"Person {k}" for k in range(number)):
        made.append(team.redeem_link(home, team.make_link(owner, name)))
        members.share(owner, name, of, "annotator")
    return made


def open_page(stack: ExitStack, server: Server, secret: str, project: int) -> LivePage:
    return stack.enter_context(
        LivePage(server.port, f"winnow_signin_{server.port}={secret}", f"project={project}")
    )


def line(what: str, found: Found) -> str:
    waits = np.array(found.waits)
    figures = " | ".join(f"{np.percentile(waits, at):.0f}" for at in (50, 95, 100))
    many, rate, memory = len(waits), len(waits) / SECONDS, max(found.per_session)
    return f"| {what} | {many:,} | {rate:.0f} | {figures} | {len(found.refused)} | {found.trained} | {memory:.1f} |"


def main() -> None:
    lines = [line(f"{PEOPLE} people, one server, SQLite", run({}, 1))]
    lines.append(line("the same, all of them in the large project", run({}, 1, at_large=True)))
    if (programs := find()) is not None:
        with running(programs) as server, server.empty_database() as url:
            found = run({"WINNOW_DATABASE_URL": url}, 2)
        lines.append(line(f"{2 * PEOPLE} people, two servers, PostgreSQL", found))
    else:
        lines.append("| PostgreSQL | not run: there is none | | | | | | | |")
    report.write(
        "load",
        "Many people at once",
        f"""
Everybody has the Annotate page of BirdSong open (4,998 rows, 13 classes, PL-KNN, effect scores). One person more
answers in a project of {LARGE[0]:,} rows x {LARGE[1]} features, whose linear model is trained anew after every answer
by workers of lower priority, on the same {os.cpu_count()} cores as servers, database and people. Each answers
{THINKING[0]} to {THINKING[1]} s after a question came, for {SECONDS:.0f} s, as the card does and through the guard.
*ms*: from the press until the answer is stored, synced, and the next question is there. *Refused*: presses that were
not saved, a locked database among them. *Trained*: models of the large project that were published meanwhile. *MB*:
anonymous memory of a server for each page that was opened, of 29 after the first.
Target: p95 at most 150 ms, none refused.

| what | answers | a second | p50 ms | p95 ms | max ms | refused | trained | MB |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
"""
        + "\n".join(lines),
        ("streamlit", "SQLAlchemy", "psycopg"),
    )


if __name__ == "__main__":
    main()
