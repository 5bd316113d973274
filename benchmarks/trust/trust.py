"""Servers and workers killed at random moments while people answer: is every acknowledged answer there
afterwards, exactly once, and is everything consistent?"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

from sqlalchemy import select, text
from websockets.exceptions import WebSocketException

from benchmarks import homes
from benchmarks.harness import Table, benchmark, folder, page, sized
from db import entries
from db.models import TrainingRow
from plcore import LearnerSettings
from tests.browser.loaded import Forked
from tests.browser.server import Server
from tests.live_page import LivePage
from tests.workflow.world import small_table
from workflow.log.columns import LogError
from workflow.log.verifying import verify_project
from workflow.people import members
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

KILLS, WORKER_KILLS = sized((250, 100), tiny=(2, 2))  # on each of the two databases
MINUTES = sized(60.0, tiny=1.0)  # after which each of the four runs stops
PEOPLE = sized(4, tiny=2)  # at each server
ROWS = sized(2_000, tiny=200)
LASTS = {False: 25, True: 2}  # kills per project; a project that has cost two workers is left alone by others
LONGEST = 1.0  # maximum seconds of load before a kill
OTHERS = 0.3  # maximum seconds that others continue after it
GONE = (OSError, WebSocketException, HTTPException)
COUNTED = ("kills", "presses", "cut", "lost", "other", "doubled", "at_work")


@dataclass
class Found:
    """acknowledged : labels by token that the screen reported as saved      cut : answers interrupted by a
    kill
    at_work : workers that were training when they were killed"""

    acknowledged: dict[str, str] = field(default_factory=dict)
    kills: int = 0
    presses: int = 0
    cut: int = 0
    lost: int = 0
    other: int = 0
    doubled: int = 0
    at_work: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, project: Found) -> None:
        """Add the figures of another project."""
        project.presses = len(project.acknowledged)
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(project, name))
        self.broken += project.broken


def pressing(port: int, cookie: str, project: int, told: Found, stop: threading.Event) -> None:
    """Answer as one person with the first choice, again and again, until the server is gone."""
    sent = False
    try:
        with LivePage(port, cookie, f"project={project}") as view:
            while not stop.is_set() and view.question is not None:
                label = view.question["question"]["rows"][0]["label"]
                token, sent = view.question["token"], True
                said = view.press("is", [label])
                sent = False
                if said.startswith("Saved"):
                    told.acknowledged[token] = label
    except GONE:
        told.cut += sent


@contextmanager
def load(servers: Sequence[Server], secrets: list[str], project: int, told: Found) -> Iterator[None]:
    """Let people answer at every server meanwhile. Those who lose the server continue at the next load."""
    stop = threading.Event()
    places = [server.port for server in servers for _ in range(PEOPLE)]
    threads = [
        threading.Thread(target=pressing, args=(port, homes.cookie_of(port, secret), project, told, stop))
        for port, secret in zip(places, secrets, strict=True)
    ]
    for one in threads:
        one.start()
    before = len(told.acknowledged)
    while len(told.acknowledged) < before + len(servers):  # so that answers are always in progress
        if not any(one.is_alive() for one in threads):
            raise RuntimeError("no one could answer: " + "\n".join(servers[0].lines[-30:]))
        time.sleep(0.01)
    yield
    stop.set()
    for one in threads:
        one.join()


def check(seat: Seat, told: Found) -> None:
    """Compare acknowledged answers with stored ones, and the table with the log."""
    with seat.home.database.read() as session:
        log = entries.after(session, seat.project_id or 0, 0)
        if seat.home.database.is_sqlite:
            said = session.execute(text("PRAGMA integrity_check")).scalar_one()
            told.broken += [str(said)] if said != "ok" else []
    stored = {one.token: one.labels for one in log}
    of_each = Counter((one.person_id, one.row) for one in log)
    told.doubled = sum(count - 1 for count in of_each.values())
    told.lost = sum(token not in stored for token in told.acknowledged)
    told.other = sum(stored.get(token, (label,)) != (label,) for token, label in told.acknowledged.items())
    try:
        verify_project(seat)
    except LogError as error:
        told.broken.append(str(error))


def was_training(home: Home, pid: int) -> bool:
    """Return whether a worker with this process id still holds the lease of a project."""
    with home.database.read() as session:
        held = select(TrainingRow.worker).where(~TrainingRow.ended, TrainingRow.worker.like(f"%-{pid}-%"))
        return bool(session.execute(held).all())


def started_by(parent: int) -> list[int]:
    """Return process ids of the training processes that a server has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            its = int((path.parent / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if its == parent and b"worker.py" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has ended
    return found


def kill(server: Server) -> None:
    """Send kill -9 to a server and all that it has started: each worker has its own session."""
    assert server.process is not None
    workers = started_by(server.process.pid)
    server.kill()
    for pid in workers:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def start_worker(environment: dict[str, str]) -> Forked:
    """Start another worker in addition to those of the servers, with `worker.py`."""
    code = "import runpy; runpy.run_path('worker.py', run_name='__main__')"
    worker = Forked({**os.environ, **environment}, code)
    assert worker.stdout is not None
    threading.Thread(target=worker.stdout.read, daemon=True).start()  # its output must not fill the pipe
    return worker


class World:
    """A home, its people and its servers. Only the servers and workers have the database open under load.

    workers : one more, in addition to those of the servers
    """

    def __init__(self, place: Path, url: str, n_servers: int, *, workers: bool) -> None:
        self.home, self.database, self.workers, self._count = place / "home", homes.place_of(url), workers, 0
        self.environment = {"WINNOW_HOME": str(self.home), **self.database}
        self.new_project(n_servers * PEOPLE)  # now, because a server would create the demo first
        self.servers = [Server(self.home, more=self.database) for _ in range(n_servers)]
        self.worker: Forked | None = None

    def new_project(self, people: int = 0) -> None:
        """Create a project. people : create this many for it; otherwise use the existing ones"""
        of_model = {"model": "plsvc", "strategy": "margin", "train_every": 5} if self.workers else {}
        settings = LearnerSettings(n_neighbors=4, **of_model)
        self._count += 1
        with homes.owner_of(self.home, **self.database) as owner:
            self.project = managing.create_project(owner, f"trust {self._count}", small_table(ROWS), settings)
            if people:
                self.secrets = homes.sign_ins(owner, people, [self.project])
                return
            for number in range(len(self.secrets)):
                members.share(owner, f"Person {number}", [self.project], "annotator")

    def check(self, told: Found, worker: int = 0) -> None:
        """Check everything. worker : process id of the one that was killed"""
        with homes.owner_of(self.home, **self.database) as owner:
            check(owner.at(self.project), told)
            told.at_work += bool(worker) and was_training(owner.home, worker)

    def kill_a_server(self, told: Found, dice: random.Random) -> None:
        """Kill a server while people answer; the next server, or the process that counts, opens the rest
        first."""
        with load(self.servers, self.secrets, self.project, told):
            time.sleep(dice.uniform(0, LONGEST))
            killed = dice.choice(self.servers)
            kill(killed)
            if len(self.servers) > 1:
                time.sleep(dice.uniform(0, OTHERS))
        told.kills += 1
        steps = [killed.start, lambda: self.check(told)]
        for step in steps if dice.random() < 0.5 else steps[::-1]:
            step()

    def kill_a_worker(self, told: Found, dice: random.Random) -> None:
        """Kill a worker while people answer and at least one is running; it is replaced at once."""
        if self.worker is None:
            self.worker = start_worker(self.environment)
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
        for server in self.servers:
            kill(server)
        if self.worker is not None:
            os.kill(self.worker.pid, signal.SIGKILL)


def kill_under_load(url: str, n_servers: int, *, workers: bool, seed: int) -> Found:
    """Kill a server or a worker this many times, or until the time is over; return the totals."""
    dice, total, until = random.Random(seed), Found(), time.monotonic() + 60 * MINUTES
    kills = WORKER_KILLS if workers else KILLS
    with folder() as place, ExitStack() as stack:
        world = World(place, url, n_servers, workers=workers)
        stack.callback(world.close)
        for server in world.servers:
            server.start()
        while total.kills < kills and time.monotonic() < until:
            told = Found()
            while told.kills < min(LASTS[workers], kills - total.kills) and time.monotonic() < until:
                (world.kill_a_worker if workers else world.kill_a_server)(told, dice)
            total.add(told)
            what = f"{'workers' if workers else 'servers'}, {'PostgreSQL' if url else 'SQLite'}"
            print(f"{what}: {total.kills} kills, {total.presses} acknowledged", flush=True)
            if total.kills < kills:
                world.new_project()
    return total


def one_run(case: tuple[bool, bool]) -> Found | None:
    """case : whether workers are killed, whether on PostgreSQL with two servers; returns None if there is no
    PostgreSQL"""
    workers, on_postgres = case
    if not on_postgres:
        return kill_under_load("", 1, workers=workers, seed=1)
    with homes.postgres() as server:
        if server is None:
            return None
        with server.empty_database() as url:
            return kill_under_load(url, 2, workers=workers, seed=2)


@benchmark("Kills under load", packages=("psycopg",))
def trust() -> str:
    table, at_work = Table("killed | kills | acknowledged | cut | lost | other | doubled | integrity"), 0
    cases = [(workers, on_postgres) for workers in (False, True) for on_postgres in (False, True)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as runs:
        for (workers, on_postgres), found in zip(cases, runs.map(one_run, cases), strict=True):
            where = "PostgreSQL, two servers" if on_postgres else "SQLite"
            what = f"{'worker' if workers else 'server'}, {where}"
            if found is None:
                table.add(what, "not run: there is none")
                continue
            at_work += found.at_work
            figures = (f"{getattr(found, name):,}" for name in COUNTED[:-1])
            table.add(what, *figures, "; ".join(sorted(set(found.broken))) or "right every time")
    return page(
        f"""`SIGKILL` to a server with all its workers, or to one worker, at a random moment up to {LONGEST:.0f} s
after {PEOPLE} people at each server have begun to answer without a pause, as the card does and through the guard.
*Acknowledged*: the card said *Saved*. *Cut*: pressed, and the kill came before an answer; such a press is stored once
or not at all. Then it is looked for: what was acknowledged and is not in the log (*lost*) or with another label
(*other*), rows with two answers of one person (*doubled*). *Integrity*, after every kill: SQLite's own check finds
nothing, and the log folded again from the table says of every entry what was stored live.""",
        f"""Under load no one but servers and workers has the database open. What a killed server leaves behind is
opened first by the next server in half of the cases, by whoever counts in the others. Servers and workers are forked
from a process that has loaded the packages and opened nothing, which makes a start six times faster. Of the workers,
{at_work} were in the middle of a training.""",
        table,
    )
