"""Opening a project: its learner caught up with the log, for one thread at a time.

Start, refresh, a second tab, a second annotator and a restart share one code path: the learner applies the log entries
that it has not seen. Memory follows the log, never leads.
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


# Checkpoints of learners on disk, so that opening a project need not apply its whole log: one file per project.
#
# They are only a cache. A file is read only if it is whole, was made by this code, and fits this database, table,
# settings and changes of the classes, and a log whose entry at that place is unchanged. Otherwise it is ignored: the
# log is read from its first entry, and the file rewritten.

logger = logging.getLogger("winnow")

MANY_ENTRIES, SHARE = 2_000, 50
"""A checkpoint is written once the log has this many entries more than the last one, and a 50th more: applying them
then takes longer than writing it."""

_DIGEST = hashlib.sha256().digest_size
_OF = "of"
"""Name of the array that identifies the state in a file."""


@dataclass(frozen=True)
class Checkpoint:
    """A learner's state on disk. seq : of its last entry      arrays : the learner's state"""

    seq: int
    arrays: dict[str, AnyArray]


class Unwritten(NamedTuple):
    """A checkpoint in memory. It does not follow the learner, so that it can be written while someone else uses it."""

    path: Path
    arrays: dict[str, AnyArray]

    def write(self) -> None:
        """Write it to disk. If that fails, the next start takes longer, nothing else."""
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
    """Whether a learner that has applied entry `seq` is due for a checkpoint. last : seq of the latest checkpoint, 0
    for none"""
    return seq - last >= max(MANY_ENTRIES, last // SHARE)


def kept(
    home: Home, session: Session, project: Project, settings: KindSettings, changes: Sequence[ClassChange]
) -> Checkpoint | None:
    """Return the project's checkpoint under these settings and changes; None if there is none of exactly this state."""
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
    """Take a checkpoint of the learner, to replace the project's last.

    session : a transaction in which the log ends with the last entry that the learner has applied
    """
    arrays = learner.checkpoint()
    changes = read_class_changes(session, project.id)
    state = _state(session, project, learner.settings, changes, learner.seq)
    return Unwritten(_path(home, project.id), arrays | {_OF: np.frombuffer(state.encode(), dtype=np.uint8)})


def _path(home: Home, project_id: int) -> Path:
    return home.cache_dir / "checkpoints" / f"{project_id}.npz"


def _state(session: Session, project: Project, settings: KindSettings, changes: Sequence[ClassChange], seq: int) -> str:
    """Return the key of a checkpoint after entry `seq`, from everything it depends on.

    The log only grows, so its last entry identifies those before it. Two logs that diverged, as after restoring a
    backup, may have entries with the same token there, but not with the same time.
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
    """Return the key of the code that builds learners from logs, and of the libraries it computes with."""
    found = hashlib.sha256()
    folder = Path(plcore.__file__).parent
    for path in (*sorted(folder.rglob("*.py")), Path(reading.__file__), Path(__file__)):
        found.update(path.name.encode())
        found.update(path.read_bytes())
    libraries = [version(name) for name in ("numpy", "numba", "scipy", "scikit-learn")]
    return f"{found.hexdigest()} {sys.version} {libraries}"


FEW = 20
"""Entries that a learner applies while it holds the write lock; more than that it applies before."""

MANY = 200
"""Entries that are applied at once while no one uses the project: a newcomer waits a few hundredths of a second."""

OPENED = 8
"""Bytes of memory that opening a project takes, per byte of a small table's file: 7.5 with 100,000 rows of 4 numbers,
3.3 with 16 numbers."""

LAID_OUT = 100_000_000, 0.6
"""The same for a large table, whose text and numbers are on disk (`plcore.tables.storing`): a constant, and a factor
per byte of the file. 100,000 rows of 64 numbers took 160 MB, 300,000 rows 165 MB, a million rows 0.8 GB."""

NEWS_AGE = 3.0
"""Seconds. A person who waits for the next question does not wait for a new model, too: the page loads it once the
question is drawn (`workflow.answering.loop.get_ready`). Only if that has not happened for this long, it is loaded
before the question.
"""


def opening_takes(size: int) -> int:
    """Estimate the bytes of memory that opening a project takes. size : bytes of its table's file"""
    least, each = LAID_OUT
    return min(OPENED * size, least + round(each * size))


def find_kind(home: Home, enter: Enter) -> AnyKind:
    """Return the kind of a seat's project. enter : as for `open_to_read`"""
    with home.database.read() as session:
        return kind_of(enter(session).project)


def find_slot(home: Home, project_id: int, enter: Enter) -> Slot:
    """Return the slot of the project's learner. None is made for an unchecked id: it would stay forever.

    enter : as for `open_to_read`
    """
    if not home.shelf.has(project_id):
        with home.database.read() as session:
            enter(session)
    return home.shelf.slot(project_id)


@contextmanager
def open_to_read(home: Home, project_id: int, enter: Enter) -> Iterator[Opened[Learner]]:
    """Open the project with the read transaction in which its learner caught up: both see the same log.

    enter : checks the person and their rights in that transaction, and finds the project
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
def open_to_write(home: Home, project_id: int, enter: Enter, *, lasting: bool = True) -> Iterator[Opened[Learner]]:
    """Open the project as ``open_to_read``, with a write transaction that is committed at the end of the block; the
    learner then applies what was written.

    lasting : as for `db.engine.Database.write`; False if no entry is written

    Also raises NotSaved if the database cannot be written.
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
                        raise RuntimeError("An entry of the log was written in a transaction that need not last.")
            if learner is not None:
                for entry in opened.written:
                    learner.apply(learner_entry(entry))
                slot.kept.note(opened.written)
                return
            with open_to_read(home, project_id, enter):
                pass  # building or catching up takes too long to hold the write lock


def take_checkpoint(opened: Opened[Learner]) -> Unwritten | None:
    """Take a checkpoint of the open learner if it is due; written once others can use the learner."""
    slot, learner = opened.home.shelf.slot(opened.project_id), opened.learner
    if learner.waits or not is_due(slot.checkpoint, learner.seq):
        return None
    slot.checkpoint = learner.seq  # even if the disk is full: it is tried once
    return take(opened.home, opened.session, opened.project, learner)


def apply_news(home: Home, project_id: int, slot: Slot) -> bool:
    """Let the learner in memory apply what others have written, so that the next user does not wait for it. Returns
    False if the learner is in use, or has missed too much: the next user then applies it, and rebuilds if needed."""
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
        reading.person, reading.role, home, reading.session, reading.project, kind, learner, kept, reading.before
    )


def _caught_up(
    home: Home, slot: Slot, session: Session, project: Project, height: int, most: int | None = None
) -> Learner | None:
    """Return the learner after every entry of the log. None if it must be rebuilt: there is none, the settings or
    classes have changed, the neighbours it waits for are there, or it used another database file. Also None if it has
    missed more than `most` entries.

    height : seq of the log's latest entry
    """
    if slot.read_from != home.database.times_replaced:
        slot.learner, slot.kept, slot.read_from = None, KeptLog(), home.database.times_replaced
    learner = slot.learner
    if learner is not None and learner.seq > height:
        # An older database was restored under the running server.
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


def _build(home: Home, kind: AnyKind, reading: Reading, changes: tuple[ClassChange, ...]) -> tuple[Learner, int]:
    """Build the learner of the stored table under these changes of its classes, after the entries of its log, so that a
    fit it starts never sees an empty log. Also returns the seq of its checkpoint, 0 for none."""
    project = reading.project
    settings = kind.read_settings(project.settings)
    with home.database.read() as session:
        checkpoint = kept(home, session, project, settings, changes)
    given = None if checkpoint is None else checkpoint.arrays
    learner = kind.build_learner(home, project.table_hash, settings, changes, given)
    with home.database.read() as session:
        if not follow(session, project.id, learner.pool, learner.apply):
            return learner, 0  # a change of the classes came in between: build it once more
        at = 0 if checkpoint is None else checkpoint.seq
        if learner.waits or not is_due(at, learner.seq):
            return learner, at
        made = take(home, session, project, learner)
    made.write()
    return learner, learner.seq


def _training(home: Home, project_id: int, slot: Slot, enter: Enter, learner: Learner) -> BackgroundTraining:
    kind = find_kind(home, enter)
    return kind.background_training(home, project_id, learner, slot.lock)


# Following the logs across servers: learners in memory apply the entries of other processes before anyone asks for
# them.
#
# PostgreSQL sends notifications (`db.identity`). Entries that were not announced or not applied here are applied by the
# next user, as always: nothing waits for notifications, and they hold up no answer.

PATIENCE = 1.0
"""Seconds it listens before it checks whether to stop."""
TOGETHER = 0.1
"""Seconds for which notifications are collected: when many people answer, entries are applied together, or by the next
annotator."""
AGAIN = 5.0
"""Seconds until it listens again after PostgreSQL was unavailable."""


class Follower:
    """A thread that applies what other processes write to the logs of open projects. Does nothing on SQLite."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._listener: Listener | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def start(self) -> None:
        if not self._home.database.is_sqlite:
            self._thread.start()

    def stop(self) -> None:
        """Stop, and return once nothing is being applied. Harmless if it was never started."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._leave()

    def look(self, seconds: float) -> dict[int, int]:
        """Apply the entries announced since the last call; returns {project: seq of its latest entry}. The first call
        applies what all open projects missed, and listens from then on.

        seconds : how long to wait for the first notification      Raises DatabaseUnavailableError, SQLAlchemyError
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
                continue  # not in memory here, or written by this process
            try:
                apply_news(self._home, project, slot)
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
            except Exception as error:  # PostgreSQL may be unavailable for a while
                self._leave()
                faults.say(error, "Updates from other servers could not be read; retrying.")
                self._stop.wait(AGAIN)

    def _leave(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
