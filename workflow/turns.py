"""One person's turn at a project: nobody else writes meanwhile, and the learner knows every entry there is."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

from db import entries, questions
from db.engine import DatabaseBusyError
from workflow import access
from workflow.learner_entries import follow
from workflow.learners import catch_up
from workflow.room import RoomSettings
from workflow.showing import OpenQuestion, worded
from workflow.standing import RESERVED_FOR

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import ActiveLearner, LabelTable
    from plcore import Question as Asked
    from workflow.home import Home

logger = logging.getLogger("winnow")


class StaleQuestion(ValueError):  # noqa: N818 - a state of affairs, which the page words
    """The question answered is not, or no longer, this person's to answer."""


class NotSaved(RuntimeError):  # noqa: N818 - a state of affairs, which the page words
    """The database could not be written: a full disk, a lost connection. Nothing was stored."""


@dataclass(frozen=True)
class Turn:
    """What a use case needs while it is this person's turn."""

    session: Session
    learner: ActiveLearner[LabelTable]
    person_id: int
    project_id: int
    now: datetime
    room: RoomSettings

    @property
    def annotator(self) -> str:
        return str(self.person_id)

    def open_now(self) -> questions.OpenQuestion | None:
        """The question that is before this person."""
        return questions.get(self.session, self.project_id, self.person_id)

    def taken(self) -> set[int]:
        """Rows that are before other people."""
        since = self.now - RESERVED_FOR
        return questions.reserved_rows(self.session, self.project_id, self.person_id, since)

    def show(self, asked: Asked) -> OpenQuestion:
        """Reserve the row for this person and word the question; the same showing keeps its token and its start."""
        open_now = self.open_now()
        shown_at = open_now.shown_at if open_now is not None and open_now.row == asked.row else self.now
        revision = entries.count_for(self.session, self.project_id, self.person_id, asked.row)
        token = question_token(self.person_id, asked.row, revision)
        questions.put(
            self.session,
            questions.OpenQuestion(
                project_id=self.project_id,
                person_id=self.person_id,
                row=asked.row,
                token=token,
                revision=revision,
                strategy=asked.strategy,
                score=asked.score,
                model_version=asked.model_version,
                decides=asked.decides,
                undecided=asked.undecided,
                predicted=asked.predicted,
                shown_at=shown_at,
                reserved_at=self.now,
            ),
        )
        return worded(self.learner, self.room, self.person_id, asked, token)


@contextmanager
def take_turn(home: Home, person_id: int, project_id: int) -> Iterator[Turn]:
    """A write transaction with the learner caught up inside it; after the commit the learner follows.

    Raises
    ------
    NotSaved
        The database could not be written.
    NotAllowed, NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        with _writing(home) as session:
            access.require_person(session, person_id)
            room = RoomSettings.from_json(access.require_project(session, project_id).room)
            entries.lock(session, project_id)
            # Another process may have committed since the learner was opened.
            if not follow(session, project_id, learner.pool, learner.apply):
                raise StaleQuestion("The classes were changed a moment ago; the question is asked anew.")
            yield Turn(session, learner, person_id, project_id, datetime.now(UTC), room)
        catch_up(home, project_id, learner)


def question_token(person_id: int, row: int, revision: int) -> str:
    """The name of one showing: the same person, row and revision always give the same token."""
    return f"{person_id}.{row}.{revision}"


def still_to_ask(
    learner: ActiveLearner[LabelTable],
    open_now: questions.OpenQuestion | None,
    person_id: int,
    taken: set[int],
) -> Asked | None:
    """The question already before this person, if it still makes sense: a refresh shows it again."""
    if open_now is None or open_now.row in taken or not learner.may_ask(open_now.row, str(person_id)):
        return None
    return learner.question_for(open_now.row)


def as_stored(asked: Asked, stored: questions.OpenQuestion) -> bool:
    """Whether the log would say of the question what the screen says: why it was asked, by which model."""
    parts = ("strategy", "score", "model_version", "decides", "undecided", "predicted")
    return all(getattr(asked, part) == getattr(stored, part) for part in parts)


def show_again(home: Home, person_id: int, project_id: int, row: int) -> None:
    """Put a row back before the person who has just dealt with it, where it is still theirs to answer."""
    try:
        with take_turn(home, person_id, project_id) as turn:
            if row not in turn.taken() and turn.learner.may_ask(row, turn.annotator):
                turn.show(turn.learner.question_for(row))
    except NotSaved:
        logger.warning("Row %d could not be shown again at once.", row)


@contextmanager
def _writing(home: Home) -> Iterator[Session]:
    """A write transaction whose failure is said in words; the log is as it was."""
    try:
        with home.database.write() as session:
            yield session
    except (OperationalError, DatabaseBusyError) as error:
        logger.exception("The database could not be written.")
        raise NotSaved(
            "The database could not be written (is the disk full?). Nothing was stored; try again."
        ) from error
    except entries.DuplicateEntry as error:
        raise StaleQuestion("This question was answered a moment ago, in another tab.") from error
