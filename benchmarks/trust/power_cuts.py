"""Power cuts: is every acknowledged answer there when the disk has lost unsynced data, and does Winnow
start?"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from benchmarks import homes
from benchmarks.harness import ROOT, Table, benchmark, folder, page, sized
from benchmarks.trust.power_disk import SAID, Disk, Op, build, lay_down, read_journal, say
from benchmarks.trust.trust import Found, pressing
from db import entries
from db import projects as stored_projects
from plcore import LabelTable, LearnerSettings
from tests.browser.server import START, Server
from tests.workflow.files.test_finding import ZIP
from tests.workflow.world import ROLES, small_frame
from workflow import importing
from workflow.answering import loop
from workflow.backups import making
from workflow.backups.archive import check_archive
from workflow.backups.manifest import BackupError
from workflow.files import stored as files
from workflow.log.verifying import verify_project
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.settings import SettingsError

CUTS, EVERY_START = sized((700, 1), tiny=(3, 100))  # EVERY_START: each one, or some, of the moments of the first start
SECONDS = sized(20.0, tiny=1.0)  # of people answering
PEOPLE = 4
ROWS = sized(2_000, tiny=200)
SOURCE = Path(__file__).with_name("power_journal.c")


class Told(dict[str, str]):
    """Acknowledged labels by token; every entry is recorded in the journal."""

    def __init__(self, journal: str, project: int) -> None:
        super().__init__()
        self.journal, self.project = journal, project

    def __setitem__(self, token: str, label: str) -> None:
        say(self.journal, "answer", str(self.project), token, label)
        super().__setitem__(token, label)


@dataclass
class Cuts:
    """Number of cuts, and findings of all of them together.

    refused : starts refused with a message before anything was acknowledged      wrong : violations
    """

    cuts: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)


def work(journal: str, home: str) -> None:
    """Do the work that happens while people answer, in a separate process: `python -c` of this.

    It creates the home, the people and the first project, and prints what the others need; then, for every
    line of input, it creates another project with a new table, one with files, and a backup. It records what
    a caller would be told.
    """
    with homes.owner_of(home) as owner:

        def make(name: str, table: LabelTable, settings: Any) -> Seat:
            made = owner.at(managing.create_project(owner, name, table, settings))
            say(journal, "project", str(made.project_id))
            return made

        def answer(seat: Seat) -> None:
            question = loop.next_question(seat)
            label = question.choices[0]
            loop.submit_answer(seat, question.token, "is", [label])
            say(journal, "answer", str(seat.project_id), question.token, label)

        settings = LearnerSettings(model="plsvc", strategy="margin", train_every=5)
        first = make("people", LabelTable.from_frame(small_frame(ROWS), ROLES), settings).project_id or 0
        print(json.dumps([first, homes.sign_ins(owner, PEOPLE, [first])]), flush=True)
        for number, _ in enumerate(sys.stdin):
            table = LabelTable.from_frame(small_frame(60, number), ROLES)
            seat = make(f"more {number}", table, LearnerSettings(n_neighbors=4))
            answer(seat)
            upload = importing.read_upload(ZIP)
            checked = importing.check(upload, upload.suggest_roles()).table
            assert checked is not None
            make(f"files {number}", checked, managing.default_settings(checked))
            files.make_folder(owner.home.backups_dir)
            # The server makes some of its own, named by the second.
            path = owner.home.backups_dir / f"beside-{number}.zip"
            making.make(owner.home, path)
            say(journal, "backup", path.name)
            answer(seat)
            print("done", flush=True)


def record(place: Path) -> tuple[list[Op], Path]:
    """Return everything that happened since the first start, and the disk: the home, and temporary files."""
    library, journal, disk = place / "power.so", str(place / "journal"), place / "disk"
    home, moment = disk / "home", disk / "tmp"  # a loaded table is linked from there
    build(SOURCE, library)
    for one in (disk, home, moment):
        one.mkdir(mode=0o700)
    watched = {"LD_PRELOAD": str(library), "POWER_ROOT": str(disk), "POWER_JOURNAL": journal, "TMPDIR": str(moment)}
    code = "import sys; from benchmarks.trust.power_cuts import work; work(*sys.argv[1:])"
    beside = subprocess.Popen(
        [sys.executable, "-c", code, journal, str(home)], cwd=ROOT, env={**os.environ, **watched},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert beside.stdin is not None
    assert beside.stdout is not None
    project, secrets = json.loads(beside.stdout.readline())
    server = Server(home, command=START, more=watched)  # a fork of a loaded process would not have the library
    try:
        server.start(timeout=300)
        told, stop = Found(acknowledged=Told(journal, project)), threading.Event()
        cookies = [homes.cookie_of(server.port, secret) for secret in secrets]
        people = [threading.Thread(target=pressing, args=(server.port, one, project, told, stop)) for one in cookies]
        for one in people:
            one.start()
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            beside.stdin.write("more\n")
            beside.stdin.flush()
            if beside.stdout.readline() != "done\n":
                raise RuntimeError("the work alongside has ended")
        stop.set()
        for one in people:
            one.join()
        server.kill()  # open files stay as they are
    finally:
        server.stop()
        beside.stdin.close()
        beside.wait()
    ops = read_journal(Path(journal))
    compare(ops, disk)
    return ops, disk


def empty(root: Path) -> Disk:
    """Return the disk before the first operation: two empty folders."""
    disk = Disk(root, root.stat().st_ino)
    for one in (root / "home", root / "tmp"):
        disk.folders[one.stat().st_ino] = str(one)
        disk.names[str(one)] = disk.lasting[str(one)] = None
    return disk


def of_home(found: dict[str, bytes | None]) -> dict[str, bytes | None]:
    return {path.removeprefix("home/"): content for path, content in found.items() if path.startswith("home/")}


def compare(ops: list[Op], root: Path) -> None:
    """Raise if the journal does not lead to the present files: then it has missed an operation."""
    disk, home = empty(root), root / "home"
    for op in ops:
        disk.take(op)
    seen = {path: content for path, content in of_home(disk.as_seen()).items() if content is not None}
    there = {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }
    other = [path for path in sorted(seen.keys() | there.keys()) if seen.get(path) != there.get(path)]
    if other:
        raise RuntimeError(f"changes of files went past the journal: {', '.join(other)}")


def look(place: Path, told: list[list[str]], cuts: Cuts) -> None:
    """Start on what is left, and compare."""
    answers = {one[2]: one for one in told if one[0] == "answer"}
    cuts.cuts += 1
    cuts.acknowledged += len(answers)
    try:
        with homes.owner_of(place) as owner:
            compare_home(owner, told, answers, cuts)
            backups = owner.home.backups_dir
    except SettingsError as error:
        said = str(error).replace(str(place), "")
        (cuts.wrong if told else cuts.refused)[said.partition(" Fix:")[0]] += 1
        cuts.lost += len(answers)
        return
    for name in (one[1] for one in told if one[0] == "backup"):
        try:
            check_archive(backups / name)
        except (OSError, BackupError) as error:
            cuts.wrong[f"backup: {type(error).__name__}"] += 1


def compare_home(owner: Seat, told: list[list[str]], answers: dict[str, list[str]], cuts: Cuts) -> None:
    home = owner.home
    with home.database.read() as session:
        if (said := session.execute(text("PRAGMA integrity_check")).scalar_one()) != "ok":
            cuts.wrong[str(said)] += 1
    there = {one.id for one in managing.list_projects(owner)}
    if gone := {int(one[1]) for one in told if one[0] == "project"} - there:
        cuts.wrong["a project is gone"] += len(gone)
    stored: dict[str, Any] = {}
    for number in there:
        seat = owner.at(number)
        with home.database.read() as session:
            log = entries.after(session, number, 0)
            project = stored_projects.get(session, number)
        assert project is not None
        stored |= {one.token: one.labels for one in log}
        cuts.doubled += len(log) - len({(one.person_id, one.row) for one in log})
        try:
            verify_project(seat)
            if (question := loop.next_question(seat)) is not None and hasattr(question, "choices"):
                loop.submit_answer(seat, question.token, "is", [question.choices[0]])
        except Exception as error:  # any error counts
            cuts.wrong[f"{type(error).__name__}: {error}".replace(str(home.settings.home), "")[:150]] += 1
        names = home.read_table(project.table_hash).media.kept_names()
        for path in (files.path_of(home.media_dir, name) for name in names):
            if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != path.stem:
                cuts.wrong["an image or a recording is missing or damaged"] += 1
    cuts.lost += sum(stored.get(token) != (one[3],) for token, one in answers.items())


def often(ops: list[Op], dice: random.Random) -> list[int]:
    """Return random moments of cuts, a third of them right after a change or a sync of names."""
    names = [number for number, op in enumerate(ops) if op.kind in b"crul"]
    return sorted(dice.choice(names) + 1 if dice.random() < 1 / 3 else dice.randrange(len(ops)) for _ in range(CUTS))


def of_the_start(ops: list[Op]) -> range:
    """Return all moments before anything was acknowledged."""
    return range(0, next(number for number, op in enumerate(ops) if op.kind == SAID), EVERY_START)


def cut(ops: list[Op], disk: Disk, moments: Sequence[int], place: Path, dice: random.Random) -> Cuts:
    """Cut at each of these moments, which are in order. disk : before the first operation"""
    cuts = Cuts()
    said = [number for number, op in enumerate(ops) if op.kind == SAID]
    taken = 0
    for number, moment in enumerate(moments):
        for op in ops[taken:moment]:
            disk.take(op)
        taken = moment
        told = [json.loads(ops[k].a) for k in said[: bisect(said, moment - 1)]]
        left = place / "left"
        lay_down(of_home(disk.after_cut(dice)), left)
        look(left, told, cuts)
        shutil.rmtree(left)
        if number % 50 == 49:
            print(number + 1, cuts, flush=True)
    return cuts


def counted(found: Counter[str]) -> str:
    return "; ".join(f"{count} x {what}" for what, count in sorted(found.items())) or "none"


@benchmark("Power cuts")
def power_cuts() -> str:
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        raise SystemExit("power_cuts needs Linux and gcc.")
    table = Table(
        "when | cuts | acknowledged | lost | doubled | anything else wrong | refused in words, when nothing was told"
    )
    with folder() as place:
        ops, disk = record(place)
        dice = random.Random(1)
        for when, moments in (("every moment of the first start", of_the_start(ops)), ("random", often(ops, dice))):
            cuts = cut(ops, empty(disk), moments, place, dice)
            figures = (f"{one:,}" for one in (cuts.cuts, cuts.acknowledged, cuts.lost, cuts.doubled))
            table.add(when, *figures, counted(cuts.wrong), counted(cuts.refused))
    kinds = Counter(op.kind for op in ops)
    told = Counter(json.loads(op.a)[0] for op in ops if op.kind == SAID)
    return page(
        f"""A library that is loaded before all others (`benchmarks/trust/power_journal.c`) notes every change of a
file in WINNOW_HOME and among temporary files, and every sync, in one order for all processes, from the first start on.
Meanwhile {PEOPLE} people
answer through the websocket, a model is trained, and next to them projects are made with tables, images and
recordings, and backups: {kinds[b"w"]:,} writes, {kinds[b")"] + kinds[b"]"]:,} syncs,
{sum(kinds[bytes([one])] for one in b"cmlrud"):,} names; {told["answer"]} answers, {told["project"]} projects and
{told["backup"]} backups were acknowledged. The files that follow from the journal are compared with those on the
disk: nothing has passed it by. It does not see what is written through a mapping: SQLite's `-shm`, which is left out
and made again.""",
        """A cut is a moment of it: at first each one of the first start, before anyone was told of anything; then
random ones, every third right after a name. What was synced by then is there; of the rest nothing, all, the first of
it, or any choice of sectors of 512 bytes and of names (`benchmarks/trust/power_disk.py`), which is harder than most
file systems are. Winnow is opened on what is left. *Acknowledged* adds up, over all cuts, the answers of which
someone had been told before the cut. After every cut SQLite checks itself, log and table of every project are folded
again, its files are hashed, the acknowledged backups are read, and a question of each project is answered.""",
        table,
    )
