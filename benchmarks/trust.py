"""Servers and workers that are killed at random moments while people answer: is every answer that was acknowledged
there afterwards, once, and does everything hold?

`KILLS=250 WORKER_KILLS=100 python -m benchmarks trust` is the test in full, so many of each on each of the two
databases; without these it is a quick one. `MINUTES=30` ends each of the four runs after so long, with what it has.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from sqlalchemy import select, text
from websockets.exceptions import WebSocketException

from benchmarks import report
from benchmarks.forked import Forked, ForkedServer, Loaded, started_by
from db import entries
from db.models import TrainingRow
from plcore import LearnerSettings
from tests.live_page import LivePage
from tests.postgres import running
from tests.postgres_programs import find
from tests.workflow.world import small_table
from workflow import projects
from workflow.common.log_columns import LogError
from workflow.home import Home, open_home
from workflow.outgoing.verifying import verify_project
from workflow.people import members, team
from workflow.seat import Seat
from workflow.settings import Settings

KILLS, WORKER_KILLS = int(os.environ.get("KILLS", "10")), int(os.environ.get("WORKER_KILLS", "6"))
MINUTES = float(os.environ.get("MINUTES", "inf"))
AT_ONCE = 2  # runs
PEOPLE = 4  # at each server
ROWS = 2_000  # of a project
PROJECT = {
    False: 25,
    True: 2,
}  # kills that a project lasts for; one that has cost two workers is left alone by others
LONGEST = 1.0  # seconds of load before a kill, at most
OTHERS = 0.3  # seconds that others go on for after it, at most
GONE = (OSError, WebSocketException, HTTPException)


@dataclass
class Found:
    """acknowledged : labels by token, as the screen said they were saved      cut : presses that a kill answered
    at_work : workers that were training when they were killed"""

    kills: int = 0
    presses: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    lost: int = 0
    other: int = 0
    doubled: int = 0
    at_work: int = 0
    broken: list[str] = field(default_factory=list)


def pressing(port: int, cookie: str, project: int, told: Found, stop: threading.Event) -> None:
    """One person: the first choice, again and again, until the server is gone."""
    sent = False
    try:
        with LivePage(port, cookie, f"project={project}") as page:
            while not stop.is_set() and page.question is not None:
                label = page.question["question"]["rows"][0]["label"]
                token, sent = page.question["token"], True
                said = page.press("is", [label])
                sent = False
                if said.startswith("Saved"):
                    told.acknowledged[token] = label
    except GONE:
        told.cut += sent


@contextmanager
def load(servers: Sequence[ForkedServer], secrets: list[str], project: int, told: Found) -> Iterator[None]:
    """People at every server answer meanwhile. Whoever loses the server goes on when there is load again."""
    stop = threading.Event()
    threads = [
        threading.Thread(
            target=pressing,
            args=(server.port, f"winnow_signin_{server.port}={secret}", project, told, stop),
        )
        for number, server in enumerate(servers)
        for secret in secrets[number * PEOPLE : (number + 1) * PEOPLE]
    ]
    for one in threads:
        one.start()
    before = len(told.acknowledged)
    while len(told.acknowledged) < before + len(servers):  # every time somebody is in the middle of something
        if not any(one.is_alive() for one in threads):
            raise RuntimeError("nobody could answer: " + servers[0].lines()[-2000:])
        time.sleep(0.01)
    yield
    stop.set()
    for one in threads:
        one.join()


def check(home: Home, owner: int, project: int, told: Found) -> None:
    """Compare what was acknowledged with what is stored, and table and log with each other."""
    with home.database.read() as session:
        log = entries.after(session, project, 0)
        if home.database.is_sqlite:
            said = session.execute(text("PRAGMA integrity_check")).scalar_one()
            if said != "ok":
                told.broken.append(str(said))
    stored = {one.token: one.labels for one in log}
    of_each = Counter((one.person_id, one.row) for one in log)
    told.doubled = sum(count - 1 for count in of_each.values())
    told.lost = sum(token not in stored for token in told.acknowledged)
    told.other = sum(stored.get(token, (label,)) != (label,) for token, label in told.acknowledged.items())
    try:
        verify_project(Seat(home, owner, project))
    except LogError as error:
        told.broken.append(str(error))


def was_training(home: Home, pid: int) -> bool:
    """Whether a worker with this process id still holds a project that it will never give back."""
    with home.database.read() as session:
        held = select(TrainingRow.worker).where(~TrainingRow.ended, TrainingRow.worker.like(f"%-{pid}-%"))
        return bool(session.execute(held).all())


class World:
    """A home, its people and its servers. Nobody but the servers and workers has the database open under load.

    place : variables of the database, of none: SQLite      workers : one more, beside those of the servers
    """

    def __init__(self, folder: Path, place: Mapping[str, str], n_servers: int, *, workers: bool) -> None:
        (folder / "said").mkdir()
        self.environment = {"WINNOW_HOME": str(folder / "home"), "WINNOW_DATABASE_URL": "", **place}
        self.workers, self._count = workers, 0
        self.names = [f"Person {number}" for number in range(n_servers * PEOPLE)]
        with self.opened() as home:
            self.owner = team.ensure_owner(home).id
            links = [team.make_link(Seat(home, self.owner), name) for name in self.names]
            self.secrets = [team.redeem_link(home, link) for link in links]
        self.new_project()  # now, for a server would make the demo first
        self.loaded = Loaded(folder / "said")
        self.servers = [
            ForkedServer(self.loaded, folder / "home", self.environment) for _ in range(n_servers)
        ]
        self.worker: Forked | None = None

    @contextmanager
    def opened(self) -> Iterator[Home]:
        home = open_home(Settings.from_environment(self.environment))
        try:
            yield home
        finally:
            home.close()

    def new_project(self) -> None:
        of_model = {"model": "plsvc", "strategy": "margin", "train_every": 5} if self.workers else {}
        settings = LearnerSettings(n_neighbors=4, **of_model)
        self._count += 1
        with self.opened() as home:
            seat = Seat(home, self.owner)
            self.project = projects.create_project(seat, f"trust {self._count}", small_table(ROWS), settings)
            for name in self.names:
                members.share(seat, name, [self.project], "annotator")

    def check(self, told: Found, worker: int = 0) -> None:
        """worker : process id of the one that was killed"""
        with self.opened() as home:
            check(home, self.owner, self.project, told)
            if worker:
                told.at_work += was_training(home, worker)

    def kill_a_server(self, told: Found, dice: random.Random) -> None:
        """While people answer; what is left is opened first by the next server, or by whoever counts."""
        with load(self.servers, self.secrets, self.project, told):
            time.sleep(dice.uniform(0, LONGEST))
            killed = dice.choice(self.servers)
            killed.kill()
            if len(self.servers) > 1:
                time.sleep(dice.uniform(0, OTHERS))
        told.kills += 1
        if dice.random() < 0.5:
            self.check(told)
            killed.start()
        else:
            killed.start()
            self.check(told)

    def kill_a_worker(self, told: Found, dice: random.Random) -> None:
        """While people answer, and one worker at least is there; it has a successor at once."""
        if self.worker is None:
            self.worker = self.loaded.fork("worker.py", self.environment)
        with load(self.servers, self.secrets, self.project, told):
            time.sleep(dice.uniform(0, LONGEST))
            servers = [one.process.pid for one in self.servers if one.process is not None]
            killed = dice.choice([self.worker.pid, *(pid for one in servers for pid in started_by(one))])
            os.kill(killed, signal.SIGKILL)
            time.sleep(dice.uniform(0, OTHERS))
        told.kills += 1
        if killed == self.worker.pid:
            self.worker = None
        self.check(told, killed)

    def close(self) -> None:
        for one in (*self.servers, *([self.worker] if self.worker else [])):
            one.kill()
        self.loaded.close()


def kill_under_load(url: str, n_servers: int, kills: int, *, workers: bool, seed: int) -> Found:
    """So many kills of a server or of a worker, or as many as there is time for; the totals."""
    dice, total, until = random.Random(seed), Found(), time.monotonic() + 60 * MINUTES
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        place = {"WINNOW_DATABASE_URL": url} if url else {}
        world = World(Path(folder), place, n_servers, workers=workers)
        stack.callback(world.close)
        for server in world.servers:
            server.start()
        while total.kills < kills and time.monotonic() < until:
            told = Found()
            while told.kills < min(PROJECT[workers], kills - total.kills) and time.monotonic() < until:
                (world.kill_a_worker if workers else world.kill_a_server)(told, dice)
            add(total, told)
            what = f"{'workers' if workers else 'servers'}, {'PostgreSQL' if url else 'SQLite'}"
            print(f"{what}: {total.kills} kills, {total.presses} acknowledged", flush=True)
            if total.kills < kills:
                world.new_project()
    return total


def add(total: Found, told: Found) -> None:
    """The figures of one project more."""
    total.presses += len(told.acknowledged)
    for name in ("kills", "cut", "lost", "other", "doubled", "at_work"):
        setattr(total, name, getattr(total, name) + getattr(told, name))
    total.broken += told.broken


def line(what: str, found: Found) -> str:
    faults = "right every time" if not found.broken else "; ".join(sorted(set(found.broken)))
    figures = found.kills, found.presses, found.cut, found.lost, found.other, found.doubled
    return f"| {what} | " + " | ".join(f"{one:,}" for one in figures) + f" | {faults} |"


def one_run(case: tuple[bool, bool]) -> Found | None:
    """(whether workers are killed, whether on PostgreSQL with two servers); None where there is no PostgreSQL."""
    workers, postgres = case
    kills = WORKER_KILLS if workers else KILLS
    if not postgres:
        return kill_under_load("", 1, kills, workers=workers, seed=1)
    if (programs := find()) is None:
        return None
    with running(programs) as server, server.empty_database() as url:
        return kill_under_load(url, 2, kills, workers=workers, seed=2)


def main() -> None:
    lines, at_work = [], 0
    cases = [(workers, postgres) for workers in (False, True) for postgres in (False, True)]
    with ProcessPoolExecutor(AT_ONCE, mp_context=multiprocessing.get_context("spawn")) as runs:
        for (workers, postgres), found in zip(cases, runs.map(one_run, cases), strict=True):
            what = (
                f"{'worker' if workers else 'server'}, {'PostgreSQL, two servers' if postgres else 'SQLite'}"
            )
            at_work += found.at_work if found else 0
            lines.append(line(what, found) if found else f"| {what} | not run: there is none | | | | | |")
    report.write(
        "trust",
        "Kills under load",
        f"""
`SIGKILL` to a server with all its workers, or to one worker, at a random moment up to {LONGEST:.0f} s after {PEOPLE}
people at each server have begun to answer without a pause, as the card does and through the guard. *Acknowledged*: the
card said *Saved*. *Cut*: pressed, and the kill came before an answer; such a press is stored once or not at all. Then
it is looked for: what was acknowledged and is not in the log (*lost*) or with another label (*other*), rows with two
answers of one person (*doubled*). *Integrity*, after every kill: SQLite's own check finds nothing, and the log folded
anew from the table says of every entry what was stored live.

Under load nobody but servers and workers has the database open. What a killed server leaves behind is opened first by
the next server in half of the cases, by whoever counts in the others. Servers and workers are forked from a process
that has loaded the packages and opened nothing, which makes a start six times faster. Of the workers, {at_work} were
in the middle of a training.

| killed | kills | acknowledged | cut | lost | other | doubled | integrity |
|---|--:|--:|--:|--:|--:|--:|---|
"""
        + "\n".join(lines),
        ("streamlit", "SQLAlchemy", "psycopg"),
    )


if __name__ == "__main__":
    main()
