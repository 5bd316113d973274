"""Power cuts: what a disk may hold afterwards, by the journal of `power_journal.c`, and whether Winnow starts on it."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import time
from bisect import bisect
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sqlalchemy import text

from benchmarks import homes
from benchmarks.harness import ROOT, Table, benchmark, command_of, folder, page, sized
from benchmarks.trust.kills import Found, pressing
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

HEAD = struct.Struct("<c3xIIQQ")
SECTOR = 512
SAID = b"A"
"""Op of an acknowledgement, recorded by the person who received it."""
NOT_KEPT = "-shm"
"""SQLite's index of its log: changed through a mapping, and rebuilt by the process that opens the database
first."""


@dataclass(frozen=True)
class Op:
    """One record. inode : of the file or folder      offset : of the write, or the new length"""

    kind: bytes
    inode: int
    offset: int
    a: bytes
    b: bytes


def read_journal(path: Path) -> list[Op]:
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, n_a, n_b, inode, offset = HEAD.unpack_from(data, at)
        at += HEAD.size
        found.append(Op(kind, inode, offset, data[at : at + n_a], data[at + n_a : at + n_a + n_b]))
        at += n_a + n_b
    return found


def say(journal: str, *words: str) -> None:
    """Record an acknowledgement."""
    text = json.dumps(words).encode()
    file = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, HEAD.pack(SAID, len(text), 0, 0, 0) + text)
    finally:
        os.close(file)


def put(content: bytearray, op: Op) -> None:
    """Apply a write, or a change of length."""
    end = op.offset + (len(op.a) if op.kind == b"w" else 0)
    if len(content) < end:
        content.extend(bytes(end - len(content)))
    if op.kind == b"w":
        content[op.offset : end] = op.a
    else:
        del content[end:]


@dataclass
class File:
    """live : as processes see it      lasting : synced content      pending : (when, change) since"""

    live: bytearray = field(default_factory=bytearray)
    lasting: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, Op]] = field(default_factory=list)

    def sync(self, begun: int) -> None:
        """Make all changes before this moment permanent."""
        for _, op in (one for one in self.pending if one[0] < begun):
            put(self.lasting, op)
        self.pending = [one for one in self.pending if one[0] >= begun]

    def after_cut(self, dice: random.Random) -> bytes:
        content = bytearray(self.lasting)
        way = dice.choice(("nothing", "all", "the first", "sectors"))
        ops = [op for _, op in self.pending]
        if way == "all":
            return bytes(self.live)
        if way == "the first" and ops:
            whole = dice.randrange(len(ops))
            for op in ops[:whole]:
                put(content, op)
            for piece in sectors(ops[whole]):
                if dice.random() < 0.5:
                    break
                put(content, piece)
        elif way == "sectors":
            share = dice.random()
            for op in ops:
                for piece in sectors(op):
                    if dice.random() < share:
                        put(content, piece)
        if len(content) < len(self.live) and dice.random() < 0.3:
            content.extend(bytes(len(self.live) - len(content)))
        return bytes(content)


def sectors(op: Op) -> Iterator[Op]:
    """Yield the parts of a change that a disk may write separately."""
    if op.kind != b"w":
        yield op
        return
    at = 0
    while at < len(op.a):
        n = SECTOR - (op.offset + at) % SECTOR
        yield Op(b"w", op.inode, op.offset + at, op.a[at : at + n], b"")
        at += n


Names = dict[str, File | None]
"""Paths; the value of a folder is None."""
Change = tuple[bytes, str, str, "File | None"]


def rename_in(names: Names, change: Change) -> None:
    """Apply the change of a name, as far as still possible."""
    kind, a, b, file = change
    if kind in b"cml":
        names[b or a] = file
    elif kind == b"r":
        names.pop(a, None)
        names[b] = file
    else:
        names.pop(a, None)


class Disk:
    """The files below a folder, initially empty, reconstructed from the records one by one."""

    def __init__(self, root: Path, inode: int) -> None:
        self.root, self.now = str(root), 0
        self.files: dict[int, File] = {}
        self.folders = {inode: self.root}
        self.names: Names = {}
        self.lasting: Names = {}
        self.pending: list[tuple[int, Change]] = []
        self._begun: dict[int, deque[int]] = {}

    def take(self, op: Op) -> None:
        """Apply the next record."""
        self.now += 1
        kind, a, b = op.kind, os.fsdecode(op.a) if op.kind in b"cmlrud" else "", os.fsdecode(op.b)
        if kind in b"wt":
            file = self.files.setdefault(op.inode, File())
            put(file.live, op)
            file.pending.append((self.now, op))
        elif kind in b"([":
            self._begun.setdefault(op.inode, deque()).append(self.now)
        elif kind in b")]":
            self._sync(op.inode, self._begun[op.inode].popleft(), everything=kind == b"]")
        elif kind in b"cmlrud":
            file = None
            if kind == b"c":
                file = self.files[op.inode] = File()
            elif kind == b"m":
                self.folders[op.inode] = a
            else:
                file = self.names.get(a)
            if kind == b"r" and a in self.names and file is None:
                raise NotImplementedError(f"a folder is renamed: {a}")
            change = kind, a, b, file
            rename_in(self.names, change)
            self.pending.append((self.now, change))

    def _sync(self, inode: int, begun: int, *, everything: bool) -> None:
        for file in self.files.values() if everything else filter(None, [self.files.get(inode)]):
            file.sync(begun)
        folder = self.folders.get(inode)
        kept = []
        for when, change in self.pending:
            inside = folder in {str(PurePosixPath(path).parent) for path in change[1:3] if path}
            if when < begun and (everything or inside):
                rename_in(self.lasting, change)
            else:
                kept.append((when, change))
        self.pending = kept

    def after_cut(self, dice: random.Random) -> dict[str, bytes | None]:
        """Return a possible set of files, by path below the folder; None for a folder."""
        names, changes = dict(self.lasting), [change for _, change in self.pending]
        way = dice.choice(("nothing", "all", "the first", "any"))
        share = dice.random()
        if way == "the first":
            changes = changes[: dice.randrange(len(changes) + 1)]
        elif way == "any":
            changes = [change for change in changes if dice.random() < share]
        for change in changes if way != "nothing" else ():
            rename_in(names, change)
        return self._below(
            names, {path: None if file is None else file.after_cut(dice) for path, file in names.items()}
        )

    def as_seen(self) -> dict[str, bytes | None]:
        """Return the files as processes see them now."""
        return self._below(
            self.names, {path: None if file is None else bytes(file.live) for path, file in self.names.items()}
        )

    def _below(self, names: Names, contents: dict[str, bytes | None]) -> dict[str, bytes | None]:
        """Drop names in folders that do not exist."""
        there = {self.root} | {path for path, file in names.items() if file is None}
        found = {}
        for path, content in contents.items():
            above = {str(one) for one in PurePosixPath(path).parents if str(one).startswith(self.root)}
            if above <= there and not path.endswith(NOT_KEPT):
                found[os.path.relpath(path, self.root)] = content
        return found


def lay_down(found: dict[str, bytes | None], folder: Path) -> None:
    """Create these files in a new folder."""
    folder.mkdir(mode=0o700)
    for path, content in sorted(found.items()):
        if content is None:
            (folder / path).mkdir(mode=0o700, exist_ok=True)
        else:
            (folder / path).write_bytes(content)


# Cuts

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
    """Findings of all cuts together. counts : "cuts", "acknowledged", "lost", "doubled"

    refused : starts refused with a message before anything was acknowledged      wrong : violations
    """

    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)


def work(journal: str, home: str) -> None:
    """Do the work that happens while people answer, in a separate process: `python -c` of this.

    It creates the home, the people and the first project, and prints what the others need; then, for every line of
    input, it creates another project with a new table, one with files, and a backup. It records the acknowledgements
    that a caller would get.
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
            # The server makes backups itself, named by the second.
            path = owner.home.backups_dir / f"beside-{number}.zip"
            making.make(owner.home, path)
            say(journal, "backup", path.name)
            answer(seat)
            print("done", flush=True)


def record(place: Path) -> tuple[list[Op], Path]:
    """Return everything that happened since the first start, and the disk: the home, and temporary files."""
    library, journal, disk = place / "power.so", str(place / "journal"), place / "disk"
    home, moment = disk / "home", disk / "tmp"  # a loaded table is linked from there
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    for one in (disk, home, moment):
        one.mkdir(mode=0o700)
    watched = {"LD_PRELOAD": str(library), "POWER_ROOT": str(disk), "POWER_JOURNAL": journal, "TMPDIR": str(moment)}
    beside = subprocess.Popen(
        command_of(work, journal, str(home)), cwd=ROOT, env={**os.environ, **watched},
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
    """Start on the remaining files, and compare."""
    answers = {one[2]: one for one in told if one[0] == "answer"}
    cuts.counts.update(cuts=1, acknowledged=len(answers))
    try:
        with homes.owner_of(place) as owner:
            compare_home(owner, told, answers, cuts)
            backups = owner.home.backups_dir
    except SettingsError as error:
        said = str(error).replace(str(place), "")
        (cuts.wrong if told else cuts.refused)[said.partition(" Fix:")[0]] += 1
        cuts.counts["lost"] += len(answers)
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
        cuts.counts["doubled"] += len(log) - len({(one.person_id, one.row) for one in log})
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
    cuts.counts["lost"] += sum(stored.get(token) != (one[3],) for token, one in answers.items())


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


def listing(found: Counter[str]) -> str:
    return "; ".join(f"{count} x {what}" for what, count in sorted(found.items())) or "none"


@benchmark("Power cuts")
def power_cuts() -> str:
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        raise SystemExit("power_cuts needs Linux and gcc.")
    table = Table(
        "when | cuts | acknowledged | lost | doubled | anything else wrong | refused with a message, before anything "
        "was acknowledged"
    )
    with folder() as place:
        ops, disk = record(place)
        dice = random.Random(1)
        told = next(number for number, op in enumerate(ops) if op.kind == SAID)
        names = [number for number, op in enumerate(ops) if op.kind in b"crul"]
        often = (dice.choice(names) + 1 if dice.random() < 1 / 3 else dice.randrange(len(ops)) for _ in range(CUTS))
        for when, moments in (
            ("every moment of the first start", range(0, told, EVERY_START)),
            ("random", sorted(often)),
        ):
            cuts = cut(ops, empty(disk), moments, place, dice)
            figures = (f"{cuts.counts[one]:,}" for one in ("cuts", "acknowledged", "lost", "doubled"))
            table.add(when, *figures, listing(cuts.wrong), listing(cuts.refused))
    kinds = Counter(op.kind for op in ops)
    told = Counter(json.loads(op.a)[0] for op in ops if op.kind == SAID)
    return page(
        f"""A library that is loaded before all others (`benchmarks/trust/power_journal.c`) records every change of a
        file in WINNOW_HOME and among temporary files, and every sync, in one order for all processes, from the first
        start.
Meanwhile {PEOPLE} people
answer through the websocket, a model is trained, and next to them projects are made with tables, images and
recordings, and backups: {kinds[b"w"]:,} writes, {kinds[b")"] + kinds[b"]"]:,} syncs,
{sum(kinds[bytes([one])] for one in b"cmlrud"):,} names; {told["answer"]} answers, {told["project"]} projects and
{told["backup"]} backups were acknowledged. The files rebuilt from the journal are compared with those on the disk:
nothing is missing in it. It does not see writes through a mapping: SQLite's `-shm`, which is left out
and made again.""",
        """A cut is a moment of the journal: first every moment of the first start, before anything was acknowledged;
        then random ones, every third right after a name. Synced data survives. Of the rest, nothing, everything, a
        prefix, or any choice of sectors of 512 bytes and of names survives (`benchmarks/trust/power.py`), which is
        stricter than most file systems. Winnow is opened on the remaining files. *Acknowledged*: answers acknowledged
        before the cut, summed over all cuts. After every cut SQLite checks itself, the log of every project is replayed
        on its table, its files are hashed, the acknowledged backups are read, and a question of each project is
        answered.""",
        table,
    )
