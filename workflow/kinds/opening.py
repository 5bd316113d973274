"""Opening a project: its learner caught up with the log, for one thread at a time.

Start, refresh, second tab, second annotator and restart are one code path here: the log entries that the learner has
not seen are applied. Memory follows the log, never leads.
"""

from __future__ import annotations

import functools
import hashlib
import io
import logging
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import plcore
from db import entries, projects
from db.identity import Listener, read_identity
from db.projects import NoSuchProjectError, Project
from workflow import kinds
from workflow.answering.history import KeptLog
from workflow.files.stored import whole_file
from workflow.kinds import AnyKind, kind_of
from workflow.log import reading
from workflow.log.reading import follow, learner_entry, read_class_changes, take_in
from workflow.opened import Opened
from workflow.saving import FaultLog, saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.arrays import AnyArray
    from plcore.loop import ClassChange, Learner
    from workflow.kinds.kind import KindSettings
    from workflow.opened import Reading
    from workflow.server.home import Home
    from workflow.server.shelf import BackgroundTraining, Slot

    Enter = Callable[[Session], Reading]


# Checkpoints of learners on disk, so that opening a project need not apply its whole log: one file for each
# project.
#
# A cache and nothing more. A file is read only where it was made by this code, of this database, table, settings and
# changes of the classes, and of a log that had then the very entry it has now at that place; and where it is whole.
# Any other is as if it were not there: the log is read from its first entry, and the file rewritten.

logger = logging.getLogger("winnow")

MANY_ENTRIES, SHARE = 2_000, 50
"""A checkpoint is made where the log has this many entries more than the last one had, and a 50th more: to take them in
takes longer than to write it."""

_DIGEST = hashlib.sha256().digest_size
_OF = "of"
"""The array that says of what state a file is."""


@dataclass(frozen=True)
class Checkpoint:
    """seq : of the last entry in it      arrays : what the learner is made of"""

    seq: int
    arrays: dict[str, AnyArray]


class Unwritten(NamedTuple):
    """A checkpoint in memory. It does not follow the learner, so that it can be written while someone else uses it."""

    path: Path
    arrays: dict[str, AnyArray]

    def write(self) -> None:
        """Put it on disk. If that cannot be done the next start takes longer, nothing else."""
        file = io.BytesIO()
        np.savez(file, **self.arrays)  # type: ignore[arg-type]
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with whole_file(self.path) as whole:
                whole.write(hashlib.sha256(file.getbuffer()).digest())
                whole.write(file.getbuffer())
        except OSError:
            logger.exception("The checkpoint %s could not be written.", self.path.name)


def is_due(last: int, seq: int) -> bool:
    """Whether a learner that has applied entry `seq` is worth a checkpoint. last : seq of the latest, 0 for none"""
    return seq - last >= max(MANY_ENTRIES, last // SHARE)


def kept(
    home: Home, session: Session, project: Project, settings: KindSettings, changes: Sequence[ClassChange]
) -> Checkpoint | None:
    """The project's checkpoint under these settings and changes; None if there is none of this very state."""
    path = _path(home, project.id)
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        logger.exception("The checkpoint %s cannot be read; the whole log is.", path.name)
        return None
    try:
        if hashlib.sha256(whole[_DIGEST:]).digest() != whole[:_DIGEST]:
            raise ValueError("It is not what was written.")
        with np.load(io.BytesIO(whole[_DIGEST:]), allow_pickle=False) as file:
            arrays = dict(file)
        state = arrays.pop(_OF).tobytes().decode()
        seq = int(state.partition(" ")[0])
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile):
        logger.warning("The checkpoint %s is damaged; the whole log is read.", path.name)
        return None
    if state != _state(session, project, settings, changes, seq):
        logger.info("The checkpoint %s is of another state; the whole log is read.", path.name)
        return None
    return Checkpoint(seq, arrays)


def take(home: Home, session: Session, project: Project, learner: Learner) -> Unwritten:
    """A checkpoint of the learner, to replace the project's last.

    session : a transaction in which the log ends with the last entry that the learner has applied
    """
    arrays = learner.checkpoint()
    changes = read_class_changes(session, project.id)
    state = _state(session, project, learner.settings, changes, learner.seq)
    return Unwritten(_path(home, project.id), arrays | {_OF: np.frombuffer(state.encode(), dtype=np.uint8)})


def _path(home: Home, project_id: int) -> Path:
    return home.cache_dir / "checkpoints" / f"{project_id}.npz"


def _state(
    session: Session, project: Project, settings: KindSettings, changes: Sequence[ClassChange], seq: int
) -> str:
    """Names what a checkpoint after entry `seq` is of, and all that it depends on.

    The log only grows, so its last entry stands for those before it: two logs that went apart, as after a backup was
    put back, may have entries of one token there, but not of one moment.
    """
    identity = read_identity(session.connection())
    parts = (
        _code(),
        identity and identity.id,
        project.id,
        project.created_at,
        project.table_hash,
        settings,
        tuple(changes),
        entries.get(session, project.id, seq),
    )
    return f"{seq} {hashlib.sha256(repr(parts).encode()).hexdigest()}"


@functools.cache
def _code() -> str:
    """Names the code that makes learners of logs, and the libraries it computes with."""
    found = hashlib.sha256()
    folder = Path(plcore.__file__).parent
    for path in (*sorted(folder.rglob("*.py")), Path(reading.__file__), Path(__file__)):
        found.update(path.name.encode())
        found.update(path.read_bytes())
    libraries = [version(name) for name in ("numpy", "numba", "scipy", "scikit-learn")]
    return f"{found.hexdigest()} {sys.version} {libraries}"


FEW = 20
"""Entries that a learner applies while everyone else waits for their turn to write; more of them it reads before."""

MANY = 200
"""Entries that are applied at once while no one is at the project: who comes meanwhile waits a few hundredths of a
second."""

OPENED = 8
"""Bytes of memory that opening a project takes, for each of a small table's file: 7.5 of 100,000 rows of 4 numbers, 3.3
of 16."""

LAID_OUT = 100_000_000, 0.6
"""The same of a large one, whose text and numbers are on the disk (`plcore.tables.storing`): so many, and for each
of the file. Of 100,000 rows of 64 numbers 160 MB, of 300,000 165 MB, of a million 0.8 GB."""

NEWS_AGE = 3.0
"""Seconds. A person who waits for the next question does not wait for a new model too: the page takes it in once the
question is drawn (`workflow.answering.loop.get_ready`), and only where no one has done so for that long it comes before
the question.
"""


def opening_takes(size: int) -> int:
    """Bytes of memory that opening a project takes, about. size : bytes of its table's file"""
    least, each = LAID_OUT
    return min(OPENED * size, least + round(each * size))


def find_kind(home: Home, enter: Enter) -> AnyKind:
    """The kind of the project of a seat. enter : as for `open_to_read`"""
    with home.database.read() as session:
        return kind_of(enter(session).project)


def find_slot(home: Home, project_id: int, enter: Enter) -> Slot:
    """Where the project's learner is kept. None is made for a number that someone only names: it would stay for good.

    enter : as for `open_to_read`
    """
    if not home.shelf.has(project_id):
        with home.database.read() as session:
            enter(session)
    return home.shelf.slot(project_id)


@contextmanager
def open_to_read(home: Home, project_id: int, enter: Enter) -> Iterator[Opened[Learner]]:
    """The project with the read transaction that its learner was caught up in: both know the same log.

    enter : checks in that transaction who is there and what they may do, and finds the project
    """
    slot = find_slot(home, project_id, enter)
    with slot.lock:
        while True:
            slot.take_news(partial(_training, home, project_id, slot, enter))
            with home.database.read() as session:  # begun under the lock, so that it sees the newest entries
                reading = enter(session)
                kind = kind_of(reading.project)
                learner = _caught_up(home, slot, session, reading.project, reading.height)
                if learner is not None:
                    yield _opened(home, reading, kind, learner, slot.kept)
                    return
                changes = read_class_changes(session, project_id)
            home.shelf.make_room(project_id, opening_takes(home.table_size(reading.project.table_hash)))
            slot.renew(*_build(home, kind, reading, changes))
            home.shelf.make_room(project_id)


@contextmanager
def open_to_write(
    home: Home, project_id: int, enter: Enter, *, lasting: bool = True
) -> Iterator[Opened[Learner]]:
    """As ``open_to_read`` with a write transaction, which is committed at the end of the block; then the learner takes
    in what was written in it.

    lasting : as for `db.engine.Database.write`; False if no entry is written

    Raises NotSaved too, where the database cannot be written.
    """
    slot = find_slot(home, project_id, enter)
    with slot.lock:
        while True:
            slot.take_news(partial(_training, home, project_id, slot, enter), older=NEWS_AGE)
            with saving(home, lasting=lasting, project=project_id) as session:
                reading = enter(session)
                kind = kind_of(reading.project)
                learner = _caught_up(home, slot, session, reading.project, reading.height, FEW)
                if learner is not None:
                    opened = _opened(home, reading, kind, learner, slot.kept)
                    yield opened
                    if opened.written and not lasting:
                        raise RuntimeError(
                            "An entry of the log was written in a transaction that need not last."
                        )
            if learner is not None:
                for entry in opened.written:
                    learner.apply(learner_entry(entry))
                slot.kept.note(opened.written)
                return
            with open_to_read(home, project_id, enter):
                pass  # to build it, or to catch up, takes too long for others to wait for their turn to write


def take_checkpoint(opened: Opened[Learner]) -> Unwritten | None:
    """A checkpoint of the learner that is open to be read, if it is worth one: to be written once others have it."""
    slot, learner = opened.home.shelf.slot(opened.project_id), opened.learner
    if learner.waits or not is_due(slot.checkpoint, learner.seq):
        return None
    slot.checkpoint = learner.seq  # also if there is no room: it is tried once
    return take(opened.home, opened.session, opened.project, learner)


def take_in_news(home: Home, project_id: int, slot: Slot) -> bool:
    """Let the learner in memory apply what others have written, so that no one waits for it who comes next. False
    if someone uses it now, or much was missed: who comes next takes it in themselves, and builds what must be."""
    if not slot.lock.acquire(blocking=False):
        return False
    try:
        with home.database.read() as session:
            project = projects.get(session, project_id)
            height = entries.last_seq(session, project_id)
            return _caught_up(home, slot, session, project, height, MANY) is not None
    finally:
        slot.lock.release()


def _opened(home: Home, reading: Reading, kind: AnyKind, learner: Learner, kept: KeptLog) -> Opened[Learner]:
    return Opened(
        reading.person,
        reading.role,
        home,
        reading.session,
        reading.project,
        kind,
        learner,
        kept,
        reading.before,
    )


def _caught_up(
    home: Home, slot: Slot, session: Session, project: Project, height: int, most: int | None = None
) -> Learner | None:
    """The learner after every entry of the log; None if it must be rebuilt: there is none, or the settings or
    the classes are others now, the neighbours it waits for are there, or it has learnt from another database file.
    None, too, if it has missed more than `most` entries.

    height : seq of the log's latest entry
    """
    if slot.read_from != home.database.times_replaced:
        slot.learner, slot.kept, slot.read_from = None, KeptLog(), home.database.times_replaced
    learner = slot.learner
    if learner is not None and learner.seq > height:
        # A database of before was put back under the server.
        learner = slot.learner = None
        slot.kept = KeptLog()
    if learner is None or learner.settings != kind_of(project).read_settings(project.settings):
        return None
    if learner.waits and kinds.finding(home, project) is None:
        return None
    if height == learner.seq:
        return learner
    if most is not None and height - learner.seq > most:
        return None
    missed = entries.after(session, project.id, learner.seq)
    if not take_in(learner.pool, missed, learner.apply):
        return None
    slot.kept.note(missed)
    return learner


def _build(
    home: Home, kind: AnyKind, reading: Reading, changes: tuple[ClassChange, ...]
) -> tuple[Learner, int]:
    """The learner of the stored table under these changes of its classes, after the entries of its log: a fit that is
    begun with it must not be one of an empty log. And the seq of the checkpoint that there is of it, 0 for none."""
    project = reading.project
    settings = kind.read_settings(project.settings)
    with home.database.read() as session:
        checkpoint = kept(home, session, project, settings, changes)
    given = None if checkpoint is None else checkpoint.arrays
    learner = kind.build_learner(home, project.table_hash, settings, changes, given)
    with home.database.read() as session:
        if not follow(session, project.id, learner.pool, learner.apply):
            return learner, 0  # a change of the classes came in between: it is built once more
        at = 0 if checkpoint is None else checkpoint.seq
        if learner.waits or not is_due(at, learner.seq):
            return learner, at
        made = take(home, session, project, learner)
    made.write()
    return learner, learner.seq


def _training(home: Home, project_id: int, slot: Slot, enter: Enter, learner: Learner) -> BackgroundTraining:
    kind = find_kind(home, enter)
    return kind.background_training(home, project_id, learner, slot.lock)


# Following the logs across servers: what another process has written, the learners in memory here have applied
# before anyone asks.
#
# PostgreSQL tells of it (`db.identity`). What is not told, or not applied here, is applied by who comes next, as
# ever: nothing waits for news, and no answer is held up by them.

PATIENCE = 1.0
"""Seconds for which it listens before it looks whether it is to end."""
TOGETHER = 0.1
"""Seconds for which news are gathered: where many answer, they are applied together, or by who answers next."""
AGAIN = 5.0
"""Seconds after which it listens again where PostgreSQL was not there."""


class Follower:
    """Takes in, in a thread of its own, what other processes write to the logs of open projects. Nothing on SQLite."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._listener: Listener | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def start(self) -> None:
        if not self._home.database.is_sqlite:
            self._thread.start()

    def stop(self) -> None:
        """Returns once nothing is applied any more. Harmless if it was never started."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._leave()

    def look(self, seconds: float) -> dict[int, int]:
        """Take in what was told since the last look; {project: seq of its latest entry} of it. The first look applies
        what was missed by all open projects, and listens from then on.

        seconds : it waits so long for the first news      Raises DatabaseUnavailableError, SQLAlchemyError
        """
        if self._listener is None:
            self._listener = Listener(self._home.settings.database_url)
            news = dict.fromkeys(self._home.shelf.opened(), -1)
        else:
            news = self._listener.wait(seconds)
        opened = self._home.shelf.opened() if news else {}
        for project, seq in news.items():
            slot = opened.get(project)
            learner = None if slot is None else slot.learner
            if slot is None or learner is None or 0 <= seq <= learner.seq:
                continue  # no one needs it here, or it was written here
            try:
                take_in_news(self._home, project, slot)
            except NoSuchProjectError:
                continue  # it was deleted meanwhile
        return news

    def _follow(self) -> None:
        faults = FaultLog()
        while not self._stop.is_set():
            try:
                if self.look(PATIENCE):
                    self._stop.wait(TOGETHER)
                faults.well()
            except Exception as error:  # PostgreSQL may be away for a while
                self._leave()
                faults.say(error, "News of other servers could not be taken in; it is tried again.")
                self._stop.wait(AGAIN)

    def _leave(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
