"""Waiting times of thirty people at one server with a training model, and of sixty at two servers on
PostgreSQL."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from sqlalchemy import func, select

from benchmarks import homes
from benchmarks.harness import Table, benchmark, folder, page, percentiles, sized
from benchmarks.processes import memory
from db.models import ModelRow
from tests.browser.server import Server
from tests.live_page import LivePage
from workflow.projects import managing
from workflow.server.home import Home

PEOPLE = sized(30, tiny=2)  # at each server
SECONDS = sized(120, tiny=5)
THINKING = 0.5, 1.5  # seconds between a question and its answer
FIRST = sized(2, tiny=0)  # warm-up answers of each person


@dataclass
class Found:
    """waits : ms of each answer      refused : messages about answers that were not saved      per_session :
    MB of server memory per open page      trained : models of the large project published meanwhile"""

    waits: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    per_session: list[float] = field(default_factory=list)
    trained: int = 0


def anonymous(server: Server) -> float:
    """Return the server process's MB that are not pages of files."""
    assert server.process is not None
    return memory(server.process.pid)["Anonymous"]


def answering(view: LivePage, seed: int, found: Found, stop: threading.Event, thinking: tuple[float, float]) -> None:
    """Answer as one person, until all stop."""
    dice, number = random.Random(seed), 0
    while not stop.wait(dice.uniform(*thinking)) and view.question is not None:
        label = view.question["question"]["rows"][0]["label"]
        begun = time.perf_counter()
        said = view.press("is", [label])
        waited = 1e3 * (time.perf_counter() - begun)
        number += 1
        if not said.startswith("Saved"):
            found.refused.append(said)
        elif number > FIRST:
            found.waits.append(waited)


def published(home: Home, project: int) -> int:
    """Return how often its model was trained."""
    with home.database.read() as session:
        counted = select(func.count()).select_from(ModelRow).where(ModelRow.project_id == project)
        return session.execute(counted).scalar_one()


def run(place: Mapping[str, str], n_servers: int, *, at_large: bool = False) -> Found:
    """Run people at servers. place : variables of the database      at_large : they all answer in the large
    project"""
    found, beside, stop = Found(), Found(), threading.Event()
    with folder() as where, ExitStack() as stack:
        seat = stack.enter_context(homes.owner_of(where / "home", **place))
        large = homes.large_project(seat)
        project = large if at_large else managing.create_project(seat, "birdsong", *homes.birdsong())
        cookies = homes.sign_ins(seat, n_servers * PEOPLE + 1, [project, large])
        servers = [stack.enter_context(homes.serving(where / "home", **place)) for _ in range(n_servers)]
        pages = []
        for server in servers:
            pages.append(homes.open_page(stack, server, cookies.pop(), project))
            before = anonymous(server)
            pages += [homes.open_page(stack, server, cookies.pop(), project) for _ in range(PEOPLE - 1)]
            found.per_session.append((anonymous(server) - before) / (PEOPLE - 1))
        trainer = homes.open_page(stack, servers[0], cookies.pop(), large)
        homes.wait_for_version(seat.home, large, -1)
        jobs = [(view, seed, found, stop, THINKING) for seed, view in enumerate(pages)]
        people = [
            threading.Thread(target=answering, args=one) for one in (*jobs, (trainer, -1, beside, stop, THINKING))
        ]
        first = published(seat.home, large)
        for one in people:
            one.start()
        time.sleep(SECONDS)
        stop.set()
        for one in people:
            one.join()
        found.trained = published(seat.home, large) - first
    return found


@benchmark("Many people at once", packages=("psycopg",))
def load() -> str:
    table = Table("what | answers | a second | p50 ms | p95 ms | max ms | refused | trained | MB")

    def add(what: str, found: Found) -> None:
        many = len(found.waits)
        waits = percentiles(found.waits)
        rest = len(found.refused), found.trained, f"{max(found.per_session):.1f}"
        table.add(what, f"{many:,}", f"{many / SECONDS:.0f}", *waits, *rest)

    add(f"{PEOPLE} people, one server, SQLite", run(homes.place_of(""), 1))
    add("the same, all of them in the large project", run(homes.place_of(""), 1, at_large=True))
    with homes.postgres() as server:
        if server is None:
            table.add("PostgreSQL", "not run: there is none")
        else:
            with server.empty_database() as url:
                add(f"{2 * PEOPLE} people, two servers, PostgreSQL", run(homes.place_of(url), 2))
    n, d, _ = homes.LARGE
    return page(
        f"""Everyone has the Annotate page of BirdSong open (4,998 rows, 13 classes, PL-KNN, effect scores). One
person more answers in a project of {n:,} rows x {d} features, whose linear model is trained again after every answer
by workers of lower priority, on the same {os.cpu_count()} cores as servers, database and people. Each answers
{THINKING[0]} to {THINKING[1]} s after a question came, for {SECONDS} s, as the card does and through the guard. *ms*:
from the press until the answer is stored, synced, and the next question is there. *Refused*: presses that were not
saved, a locked database among them. *Trained*: models of the large project that were published meanwhile. *MB*:
anonymous memory of a server for each page that was opened after the first.
Target: p95 at most 150 ms, none refused.""",
        table,
    )
