"""Opening a project: its learner caught up with the log, for one thread at a time.

Start, refresh, second tab, second annotator and restart are one code path here: the log entries that the learner has
not seen are applied. Memory follows the log, never leads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from db import entries, projects
from workflow.common.kept import KeptLog
from workflow.common.log import follow, learner_entry, read_class_changes, take_in
from workflow.common.opened import Opened
from workflow.kinds import Kind, checkpoints, kind_of
from workflow.saving import saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from plcore.loop import ClassChange, Learner
    from workflow.common.opened import Reading
    from workflow.home import Home
    from workflow.shelf import BackgroundTraining, Slot

    Enter = Callable[[Session], Reading]

FEW = 20
"""Entries that a learner takes in while everybody else waits for their turn to write; more of them it reads before."""

MANY = 200
"""Entries that are taken in at once while nobody is at the project: who comes meanwhile waits a few hundredths of a
second."""

OPENED = 8
"""Bytes that opening a project takes in memory, for each of a small table's file: 7.5 of 100,000 rows of 4 numbers, 3.3
of 16."""

LAID_OUT = 100_000_000, 0.6
"""The same of a large one, whose text and numbers lie on the disk (`plcore.tables.table_file`): so many, and for each
of the file. Of 100,000 rows of 64 numbers 160 MB, of 300,000 165 MB, of a million 0.8 GB."""

NEWS_AGE = 3.0
"""Seconds. A person who waits for the next question does not wait for a new model too: the page takes it in once the
question is drawn (`workflow.answering.get_ready`), and only where nobody has done so for that long it comes before the
question.
"""


def opening_takes(size: int) -> int:
    """Bytes of memory that opening a project takes, about. size : bytes of its table's file"""
    least, each = LAID_OUT
    return min(OPENED * size, least + round(each * size))


def find_kind(home: Home, enter: Enter) -> Kind:
    """The kind of the project of a seat. enter : as for `open_to_read`"""
    with home.database.read() as session:
        return kind_of(enter(session).project)


def find_slot(home: Home, project_id: int, enter: Enter) -> Slot:
    """Where the project's learner is kept. None is made for a number that somebody only names: it would stay for good.

    enter : as for `open_to_read`
    """
    if not home.shelf.has(project_id):
        with home.database.read() as session:
            enter(session)
    return home.shelf.slot(project_id)


@contextmanager
def open_to_read(home: Home, project_id: int, enter: Enter) -> Iterator[Opened[Any]]:
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
) -> Iterator[Opened[Any]]:
    """As ``open_to_read`` with a write transaction, which is committed at the end of the block; then the learner takes
    in what was written in it.

    lasting : as for `db.engine.Database.write`; False where no entry is written

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


def take_checkpoint(opened: Opened[Any]) -> checkpoints.Unwritten | None:
    """A checkpoint of the learner that is open to be read, where it is worth one: to be written once others have it."""
    slot, learner = opened.home.shelf.slot(opened.project_id), opened.learner
    if not checkpoints.is_due(slot.checkpoint, learner.seq):
        return None
    slot.checkpoint = learner.seq  # also where there is no room: it is tried once
    return checkpoints.take(opened.home, opened.session, opened.project, opened.kind, learner)


def take_in_news(home: Home, project_id: int, slot: Slot) -> bool:
    """Let the learner in memory take in what others have written, so that nobody waits for it who comes next. False
    where somebody is at it now, or much was missed: who comes next takes it in themselves, and builds what must be.
    """
    if not slot.lock.acquire(blocking=False):
        return False
    try:
        with home.database.read() as session:
            project = projects.get(session, project_id)
            height = entries.last_seq(session, project_id)
            return _caught_up(home, slot, session, project, height, MANY) is not None
    finally:
        slot.lock.release()


def _opened(home: Home, reading: Reading, kind: Kind, learner: Learner, kept: KeptLog) -> Opened[Any]:
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
    """The learner after every entry of the log; None where it must be built anew: there is none, or the settings or
    the classes are others now, or it has learnt from another database file. None, too, where it has missed more than
    `most` entries.

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
    if height == learner.seq:
        return learner
    if most is not None and height - learner.seq > most:
        return None
    missed = entries.after(session, project.id, learner.seq)
    if not take_in(learner.pool, missed, learner.apply):
        return None
    slot.kept.note(missed)
    return learner


def _build(home: Home, kind: Kind, reading: Reading, changes: tuple[ClassChange, ...]) -> tuple[Learner, int]:
    """The learner of the stored table under these changes of its classes, after the entries of its log: a fit that is
    begun with it must not be one of an empty log. And the seq of the checkpoint that there is of it, 0 for none."""
    project = reading.project
    settings = kind.read_settings(project.settings)
    with home.database.read() as session:
        kept = checkpoints.kept(home, session, project, settings, changes)
    given = None if kept is None else kept.arrays
    learner = kind.build_learner(home, project.table_hash, settings, changes, given)
    with home.database.read() as session:
        if not follow(session, project.id, learner.pool, learner.apply):
            return learner, 0  # a change of the classes came in between: it is built once more
        at = 0 if kept is None else kept.seq
        if not checkpoints.is_due(at, learner.seq):
            return learner, at
        made = checkpoints.take(home, session, project, kind, learner)
    made.write()
    return learner, learner.seq


def _training(home: Home, project_id: int, slot: Slot, enter: Enter, learner: Learner) -> BackgroundTraining:
    kind = find_kind(home, enter)
    return kind.background_training(home, project_id, learner, slot.lock)
