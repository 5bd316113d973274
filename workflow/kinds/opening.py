"""Opening a project: its learner caught up with the log, for one thread at a time.

Start, refresh, second tab, second annotator and restart are one code path here: the log entries that the learner has
not seen are applied. Memory follows the log, never leads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from db import entries
from workflow.common.log import follow, read_class_changes
from workflow.common.opened import Opened
from workflow.kinds import Kind, kind_of
from workflow.saving import saving

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import ClassChange, Learner
    from workflow.common.opened import Reading
    from workflow.home import Home
    from workflow.shelf import BackgroundTraining, Slot

    Enter = Callable[[Session], Reading]

FEW = 20
"""Entries that a learner takes in while everybody else waits for their turn to write; more of them it reads before."""

NEWS_AGE = 3.0
"""Seconds. A person who waits for the next question does not wait for a new model too: the page takes it in once the
question is drawn (`workflow.answering.get_ready`), and only where nobody has done so for that long it comes before the
question.
"""


def find_kind(home: Home, enter: Enter) -> Kind:
    """The kind of the project of a seat. enter : as for `open_to_read`"""
    with home.database.read() as session:
        return kind_of(enter(session).project)


@contextmanager
def open_to_read(home: Home, project_id: int, enter: Enter) -> Iterator[Opened[Any]]:
    """The project with the read transaction that its learner was caught up in: both know the same log.

    enter : checks in that transaction who is there and what they may do, and finds the project
    """
    slot = home.shelf.slot(project_id)
    with slot.lock:
        while True:
            slot.take_news(partial(_training, home, project_id, slot, enter))
            with home.database.read() as session:  # begun under the lock, so that it sees the newest entries
                reading = enter(session)
                kind = kind_of(reading.project)
                learner = _caught_up(slot, kind, reading)
                if learner is not None:
                    yield _opened(home, reading, kind, learner)
                    return
                changes = read_class_changes(session, project_id)
            slot.renew(_build(home, kind, reading, changes))


@contextmanager
def open_to_write(home: Home, project_id: int, enter: Enter) -> Iterator[Opened[Any]]:
    """As ``open_to_read`` with a write transaction, which is committed at the end of the block; then the learner takes
    in what was written in it.

    Raises NotSaved too, where the database cannot be written.
    """
    slot = home.shelf.slot(project_id)
    with slot.lock:
        while True:
            slot.take_news(partial(_training, home, project_id, slot, enter), older=NEWS_AGE)
            with saving(home) as session:
                entries.lock(session, project_id)
                reading = enter(session)
                kind = kind_of(reading.project)
                learner = _caught_up(slot, kind, reading, FEW)
                if learner is not None:
                    opened = _opened(home, reading, kind, learner)
                    yield opened
            if learner is not None:
                for entry in opened.written:
                    learner.apply(entry)
                return
            with open_to_read(home, project_id, enter):
                pass  # to build it, or to catch up, takes too long for others to wait for their turn to write


def _opened(home: Home, reading: Reading, kind: Kind, learner: Learner) -> Opened[Any]:
    return Opened(reading.person, reading.role, home, reading.session, reading.project, kind, learner)


def _caught_up(slot: Slot, kind: Kind, reading: Reading, most: int | None = None) -> Learner | None:
    """The learner after every entry of the log; None where it must be built anew: there is none, or the settings or
    the classes are others now. None, too, where it has missed more than `most` entries.
    """
    learner = slot.learner
    if learner is None or learner.settings != kind.read_settings(reading.project.settings):
        return None
    followed = follow(reading.session, reading.project.id, learner.pool, learner.apply, most)
    return learner if followed else None


def _build(home: Home, kind: Kind, reading: Reading, changes: tuple[ClassChange, ...]) -> Learner:
    """The learner of the stored table under these changes of its classes, after the entries of its log: a fit that is
    begun with it must not be one of an empty log."""
    project = reading.project
    learner = kind.build_learner(home, project.table_hash, kind.read_settings(project.settings), changes)
    with home.database.read() as session:
        follow(session, project.id, learner.pool, learner.apply)
    return learner


def _training(home: Home, project_id: int, slot: Slot, enter: Enter, learner: Learner) -> BackgroundTraining:
    kind = find_kind(home, enter)
    return kind.background_training(home, project_id, learner, slot.lock)
