"""Many people at servers: their waiting times, and what is lost when servers and workers are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path

from sqlalchemy import func, select, text

from benchmarks import homes
from benchmarks.harness import Table, benchmark, folder, load_average, page, percentiles, sized
from benchmarks.processes import family, memory
from db import entries
from db.models import ModelRow, TrainingRow
from plcore import LearnerSettings
from tests.browser.loaded import Forked
from tests.browser.server import Server
from tests.live_page import LivePage
from tests.two_servers import GONE, make_team, stored
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
LASTS = {False: 25, True: 2}  # kills per project; other workers skip a project that has ended two workers
LONGEST = 1.0  # maximum seconds of load before a kill
OTHERS = 0.3  # maximum seconds that others continue after it
COUNTED = ("kills", "presses", "cut", "lost", "other", "doubled")


@dataclass
class Found:
    """acknowledged : labels by token that the screen reported as saved      broken : violations

    counts : of COUNTED, where "cut" are answers interrupted by a kill; and "at_work", workers killed while they trained
    """

    acknowledged: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)


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
        told.counts["cut"] += sent


@contextmanager
def under_load(servers: Sequence[Server], secrets: list[str], project: int, told: Found) -> Iterator[None]:
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
            told.broken |= {str(said)} - {"ok"}
    stored = {one.token: one.labels for one in log}
    of_each = Counter((one.person_id, one.row) for one in log)
    labels = [(stored.get(token), label) for token, label in told.acknowledged.items()]
    found = {
        "presses": len(labels),
        "doubled": sum(of_each.values()) - len(of_each),
        "lost": sum(there is None for there, _ in labels),
        "other": sum(there is not None and there != (label,) for there, label in labels),
    }
    for name, figure in found.items():
        told.counts[name] = figure
    try:
        verify_project(seat)
    except LogError as error:
        told.broken.add(str(error))


def was_training(home: Home, pid: int) -> bool:
    """Return whether a worker with this process id still holds the lease of a project."""
    with home.database.read() as session:
        held = select(TrainingRow.worker).where(~TrainingRow.ended, TrainingRow.worker.like(f"%-{pid}-%"))
        return bool(session.execute(held).all())


def started_by(parent: int) -> list[int]:
    """Return process ids of the training processes that a server has started."""
    found = []
    for pid in family(parent)[1:]:
        with suppress(OSError):  # it has ended
            found += [pid] if b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes() else []
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

    def __init__(self, place: Path, database: Mapping[str, str], n_servers: int, *, workers: bool) -> None:
        self.home, self.database, self.workers, self._count = place / "home", database, workers, 0
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
            told.counts["at_work"] += bool(worker) and was_training(owner.home, worker)

    def kill_a_server(self, told: Found, dice: random.Random) -> None:
        """Kill a server while people answer; the next server, or the process that counts, opens the rest first."""
        with under_load(self.servers, self.secrets, self.project, told):
            time.sleep(dice.uniform(0, LONGEST))
            killed = dice.choice(self.servers)
            kill(killed)
            if len(self.servers) > 1:
                time.sleep(dice.uniform(0, OTHERS))
        told.counts["kills"] += 1
        steps = [killed.start, lambda: self.check(told)]
        for step in steps if dice.random() < 0.5 else steps[::-1]:
            step()

    def kill_a_worker(self, told: Found, dice: random.Random) -> None:
        """Kill a worker while people answer and at least one is running; it is replaced at once."""
        if self.worker is None:
            self.worker = start_worker(self.environment)
        with under_load(self.servers, self.secrets, self.project, told):
            time.sleep(dice.uniform(0, LONGEST))
            servers = [one.process.pid for one in self.servers if one.process is not None]
            killed = dice.choice([self.worker.pid, *(pid for one in servers for pid in started_by(one))])
            os.kill(killed, signal.SIGKILL)
            time.sleep(dice.uniform(0, OTHERS))
        told.counts["kills"] += 1
        if killed == self.worker.pid:
            self.worker = None
        self.check(told, killed)

    def close(self) -> None:
        for server in self.servers:
            kill(server)
        if self.worker is not None:
            os.kill(self.worker.pid, signal.SIGKILL)


def kill_under_load(database: Mapping[str, str], n_servers: int, *, workers: bool, seed: int) -> Found:
    """Kill a server or a worker this many times, or until the time is over; return the totals."""
    dice, total, until = random.Random(seed), Found(), time.monotonic() + 60 * MINUTES
    kills = WORKER_KILLS if workers else KILLS
    with folder() as place, ExitStack() as stack:
        world = World(place, database, n_servers, workers=workers)
        stack.callback(world.close)
        for server in world.servers:
            server.start()
        while total.counts["kills"] < kills and time.monotonic() < until:
            told = Found()
            while (
                told.counts["kills"] < min(LASTS[workers], kills - total.counts["kills"]) and time.monotonic() < until
            ):
                (world.kill_a_worker if workers else world.kill_a_server)(told, dice)
            total.counts.update(told.counts)
            total.broken |= told.broken
            print(n_servers, "servers", "workers" * workers, dict(total.counts), flush=True)
            if total.counts["kills"] < kills:
                world.new_project()
    return total


def one_run(case: tuple[bool, str]) -> Found | None:
    """case : whether workers are killed, and the database, PostgreSQL with two servers; None if there is none"""
    workers, name = case
    with homes.database(name) as place:
        n_servers = 1 if name == "SQLite" else 2
        return None if place is None else kill_under_load(place, n_servers, workers=workers, seed=n_servers)


@benchmark("Kills under load", packages=("psycopg",))
def trust() -> str:
    """`SIGKILL` to a server with all its workers, or to one worker, at a random moment up to {LONGEST:.0f} s after
    {PEOPLE} people at each server have begun to answer without a pause, with the requests of the card, through the
    guard.
    *Acknowledged*: the card showed *Saved*. *Cut*: pressed, but killed before the reply; such a press is stored
    once or not at all. Then the log is searched for acknowledged answers that are missing (*lost*) or have another
    label (*other*), and rows with two answers of one person (*doubled*). *Integrity*, after every kill: SQLite's own
    check finds nothing, and replaying the log on the table gives for every entry the stored result."""
    table, at_work = Table("killed | kills | acknowledged | cut | lost | other | doubled | integrity"), 0
    cases = list(product((False, True), ("SQLite", "PostgreSQL")))
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as runs:
        for (workers, name), found in zip(cases, runs.map(one_run, cases), strict=True):
            what = f"{'worker' if workers else 'server'}, {name}{', two servers' * (name == 'PostgreSQL')}"
            if found is None:
                table.add(what, "not run: there is none")
                continue
            at_work += found.counts["at_work"]
            figures = (f"{found.counts[name]:,}" for name in COUNTED)
            table.add(what, *figures, "; ".join(sorted(found.broken)) or "right every time")
    return page(
        f"""Under load only servers and workers have the database open. The files of a killed server are opened first
        by the next server in half of the cases, by the checking process in the others. Servers and workers are forked
from a process that has loaded the packages and opened nothing, which makes a start six times faster. Of the workers,
{at_work} were in the middle of a training.""",
        table,
    )


# Two servers

TEAM, ANSWERS = sized((20, 200), tiny=(2, 4))


def killed_midway(database: Mapping[str, str], place: Path) -> tuple[float, ...]:
    team = make_team({"WINNOW_HOME": str(place), **database}, TEAM, ANSWERS)
    with ExitStack() as stack:
        servers = [stack.enter_context(homes.serving(place, **database)) for _ in range(2)]
        begun = time.perf_counter()
        team.answer(servers, kill_at=TEAM * ANSWERS // 2)
        seconds = time.perf_counter() - begun
        found = stored(stack.enter_context(homes.owner_of(place, **database)).home, team)
    if team.faults:
        raise RuntimeError(f"{len(team.faults)} people saw what no one should see: {team.faults[:3]}")
    lost = found.lost, found.other, found.twice, team.behind
    return len(team.acknowledged), team.moved, team.cut, *lost, seconds


@benchmark("Two servers, one PostgreSQL, one of them killed", packages=("psycopg",))
def two_servers() -> str:
    table = Table("acknowledged | moved | cut | lost | other | twice | behind | seconds", ",.0f")
    with homes.database("PostgreSQL", "fsync=on") as database, folder() as place:
        if database is None:
            raise SystemExit("two_servers needs PostgreSQL. Fix: make postgres.")
        table.add(*killed_midway(database, place / "home"))
    return page(
        f"""{TEAM} people give {ANSWERS} answers each in one project, half of them at each of two servers, with the
        requests of the card, through the guard, without a pause. Once half of all answers are saved the first server
        is killed with
`SIGKILL`. People who lose their server continue on the other with the same sign-in (*moved*); requests in flight are
*cut*, and stored once or not at all. *Acknowledged*: the card showed *Saved*. *Lost*: of these, not in the log;
*other*: with another label. *Twice*: rows with more than one entry. *Behind*: next questions chosen without an answer,
at either server, that had been acknowledged before the request. Servers, database and people share {os.cpu_count()}
cores with whatever else ran. {load_average()}""",
        table,
    )


# Waiting times

CROWD = sized(30, tiny=2)  # at each server
SECONDS = sized(120, tiny=5)
THINKING = 0.5, 1.5  # seconds between a question and its answer
FIRST = sized(2, tiny=0)  # warm-up answers of each person


@dataclass
class Waits:
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


def answering(view: LivePage, seed: int, found: Waits, stop: threading.Event) -> None:
    """Answer as one person, until all stop."""
    dice = random.Random(seed)
    for number in count():
        if stop.wait(dice.uniform(*THINKING)) or view.question is None:
            return
        said, waited = homes.pressed(view)
        if not said.startswith("Saved"):
            found.refused.append(said)
        elif number >= FIRST:
            found.waits.append(waited)


def published(home: Home, project: int) -> int:
    """Return how often its model was trained."""
    with home.database.read() as session:
        counted = select(func.count()).select_from(ModelRow).where(ModelRow.project_id == project)
        return session.execute(counted).scalar_one()


def waits_of(place: Mapping[str, str], n_servers: int, *, at_large: bool = False) -> Waits:
    """Run people at servers. place : variables of the database      at_large : they all answer in the large
    project"""
    found, beside, stop = Waits(), Waits(), threading.Event()
    with folder() as where, ExitStack() as stack:
        seat = stack.enter_context(homes.owner_of(where / "home", **place))
        large = homes.large_project(seat)
        project = large if at_large else managing.create_project(seat, "birdsong", *homes.birdsong())
        cookies = homes.sign_ins(seat, n_servers * CROWD + 1, [project, large])
        servers = [stack.enter_context(homes.serving(where / "home", **place)) for _ in range(n_servers)]
        pages = []
        for server in servers:
            pages.append(homes.open_page(stack, server, cookies.pop(), project))
            before = anonymous(server)
            pages += [homes.open_page(stack, server, cookies.pop(), project) for _ in range(CROWD - 1)]
            found.per_session.append((anonymous(server) - before) / (CROWD - 1))
        trainer = homes.open_page(stack, servers[0], cookies.pop(), large)
        homes.wait_for_version(seat.home, large, -1)
        people = [threading.Thread(target=answering, args=(view, k, found, stop)) for k, view in enumerate(pages)]
        people.append(threading.Thread(target=answering, args=(trainer, -1, beside, stop)))
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

    for what, name, n_servers, at_large in (
        (f"{CROWD} people, one server, SQLite", "SQLite", 1, False),
        ("the same, all of them in the large project", "SQLite", 1, True),
        (f"{2 * CROWD} people, two servers, PostgreSQL", "PostgreSQL", 2, False),
    ):
        with homes.database(name) as place:
            if place is None:
                table.add("PostgreSQL", "not run: there is none")
                continue
            found = waits_of(place, n_servers, at_large=at_large)
        many, mb = len(found.waits), f"{max(found.per_session):.1f}"
        waits = percentiles(found.waits)
        table.add(what, many, f"{many / SECONDS:.0f}", *waits, len(found.refused), found.trained, mb)
    n, d, _ = homes.LARGE
    return page(
        f"""Each person has the Annotate page of BirdSong open (4,998 rows, 13 classes, PL-KNN, effect scores).
One more person answers in a project of {n:,} rows x {d} features, whose linear model is retrained after every answer
by workers of lower priority, on the same {os.cpu_count()} cores as servers, database and people. Each answers
{THINKING[0]} to {THINKING[1]} s after a question came, for {SECONDS} s, with the requests of the card, through the
guard. *ms*:
from the press until the answer is stored, synced, and the next question is there. *Refused*: presses that were not
saved, for example because the database was locked. *Trained*: models of the large project that were published during
the run. *MB*: anonymous memory of a server for each page that was opened after the first. Target: p95 at most 150 ms,
none refused.""",
        table,
    )
