"""The answering loop: show a question, store what the person said, let the learner follow.

Screen says saved only after commit; the learner moves only after commit. Each shown question has a token
(person, row, revision) that the database holds unique, so a double press, a replayed rerun, a second tab
and the back button are all harmless.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy.exc import OperationalError

from db import entries, questions
from db.engine import DatabaseBusyError
from plcore import AnswerError, Entry
from workflow import access
from workflow.learners import learner_entry
from workflow.rows import RowView, row_view
from workflow.standing import RESERVED_FOR, Saved, saved_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import ActiveLearner, LabelTable
    from plcore import Question as Asked
    from workflow.home import Home

__all__ = [
    "AnswerError",
    "NotSaved",
    "OpenQuestion",
    "StaleQuestion",
    "next_question",
    "submit_answer",
    "undo",
]

logger = logging.getLogger("winnow")


class StaleQuestion(ValueError):  # noqa: N818 - a state of affairs, which the page words
    """The question answered is not the one open before this person: another tab was faster."""


class NotSaved(RuntimeError):  # noqa: N818 - a state of affairs, which the page words
    """The database could not be written: a full disk, a lost connection. Nothing was stored."""


@dataclass(frozen=True)
class OpenQuestion:
    """A question as a page shows it."""

    token: str
    view: RowView
    choices: tuple[str, ...]
    probabilities: tuple[float, ...]
    strategy: str
    score: float
    decides: int
    undecided: int
    model_version: int


def next_question(home: Home, person_id: int, project_id: int) -> OpenQuestion | None:
    """The question open before this person, or a new one; None when there is nothing left to ask them.

    Raises
    ------
    NotAllowed
        The person is unknown or disabled.
    """
    now = datetime.now(UTC)
    with home.learners.open(home, person_id, project_id) as learner:
        with home.database.read() as session:
            open_now = questions.get(session, project_id, person_id)
            taken = questions.reserved_rows(session, project_id, person_id, now - RESERVED_FOR)
        asked = _still_to_ask(learner, open_now, person_id, taken)
        if asked is None:
            asked = learner.next_question(str(person_id), exclude=frozenset(taken))
        if asked is None:
            return None
        return _show(home, learner, asked, person_id, project_id, open_now, now)


def submit_answer(
    home: Home, person_id: int, project_id: int, token: str, kind: str, labels: Sequence[str] = ()
) -> Saved:
    """Store one answer (or skip) to the question with this token; exactly once.

    Raises
    ------
    StaleQuestion
        The token is not that of the question open before this person, and was never answered.
    AnswerError
        The answer does not fit the question. Nothing is stored.
    NotSaved
        The database could not be written.
    NotAllowed
        The person is unknown or disabled.
    """
    now = datetime.now(UTC)
    with home.learners.open(home, person_id, project_id) as learner:
        with _writing(home) as session:
            access.require_person(session, person_id)
            access.require_project(session, project_id)
            question = questions.get(session, project_id, person_id)
            if question is None or question.token != token:
                earlier = entries.with_token(session, project_id, token)
                if earlier is None or earlier.person_id != person_id:
                    raise StaleQuestion("That question is no longer open before you.")
                return saved_of(learner, earlier, repeated=True)
            if kind == "withdraw":
                raise AnswerError("Kind 'withdraw' is not an answer: use undo.")
            draft = entries.NewEntry(
                project_id=project_id,
                kind=kind,
                row=question.row,
                label=question.label,
                labels=tuple(labels),
                person_id=person_id,
                token=question.token,
                revision=question.revision,
                target_seq=None,
                strategy=question.strategy,
                score=question.score,
                model_version=question.model_version,
                seconds=(now - question.shown_at).total_seconds(),
                at=now,
                before=_labels_at(learner, question.row),
                after=_labels_after(learner, person_id, question.row, kind, tuple(labels)),
            )
            stored = entries.append(session, draft)
            questions.delete(session, project_id, person_id)
        learner.apply(learner_entry(stored))
        return saved_of(learner, stored)


def undo(home: Home, person_id: int, project_id: int, token: str | None = None) -> Saved | None:
    """Withdraw this person's latest entry (a new entry says so) and put its row before them again.

    ``token`` is that of the question on screen; a stale one changes nothing, so that a doubled press
    cannot withdraw two answers. None where the person has nothing to withdraw.
    """
    now = datetime.now(UTC)
    with home.learners.open(home, person_id, project_id) as learner:
        with _writing(home) as session:
            access.require_person(session, person_id)
            access.require_project(session, project_id)
            open_now = questions.get(session, project_id, person_id)
            if token is not None and (open_now is None or open_now.token != token):
                raise StaleQuestion("That question is no longer open before you; nothing was undone.")
            last = entries.last_open(session, project_id, person_id)
            if last is None:
                return None
            revision = entries.count_for(session, project_id, person_id, last.row, last.label)
            stored = entries.append(
                session,
                entries.NewEntry(
                    project_id=project_id,
                    kind="withdraw",
                    row=last.row,
                    label=last.label,
                    labels=(),
                    person_id=person_id,
                    token=question_token(person_id, last.row, revision),
                    revision=revision,
                    target_seq=last.seq,
                    strategy=None,
                    score=None,
                    model_version=learner.model_version,
                    seconds=None,
                    at=now,
                    before=_labels_at(learner, last.row),
                    after=_labels_after(learner, person_id, last.row, "withdraw", (), target=last.seq),
                ),
            )
            questions.delete(session, project_id, person_id)
        learner.apply(learner_entry(stored))
        if learner.may_ask(last.row, str(person_id)):
            _show(home, learner, learner.question_for(last.row), person_id, project_id, None, now)
        return Saved(stored.seq, "withdraw", last.row, str(learner.table.ids[last.row]), tuple(last.labels))


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


def question_token(person_id: int, row: int, revision: int) -> str:
    """The name of one showing: the same person, row and revision always give the same token."""
    return f"{person_id}.{row}.{revision}"


def _still_to_ask(
    learner: ActiveLearner[LabelTable],
    open_now: questions.OpenQuestion | None,
    person_id: int,
    taken: set[int],
) -> Asked | None:
    """The question already before this person, if it still makes sense: a refresh shows it again."""
    if open_now is None or open_now.row in taken or not learner.may_ask(open_now.row, str(person_id)):
        return None
    return learner.question_for(open_now.row)


def _show(
    home: Home,
    learner: ActiveLearner[LabelTable],
    asked: Asked,
    person_id: int,
    project_id: int,
    open_now: questions.OpenQuestion | None,
    now: datetime,
) -> OpenQuestion:
    """Reserve the row for this person (a write only where something changes) and word the question."""
    if open_now is not None and open_now.row == asked.row:
        token = open_now.token
        if now - open_now.reserved_at > RESERVED_FOR / 2:
            with _writing(home) as session:
                questions.renew(session, project_id, person_id, now)
    else:
        with _writing(home) as session:
            revision = entries.count_for(session, project_id, person_id, asked.row, None)
            token = question_token(person_id, asked.row, revision)
            questions.put(
                session,
                questions.OpenQuestion(
                    project_id=project_id,
                    person_id=person_id,
                    row=asked.row,
                    label=None,
                    token=token,
                    revision=revision,
                    strategy=asked.strategy,
                    score=asked.score,
                    model_version=asked.model_version,
                    decides=asked.decides,
                    undecided=asked.undecided,
                    shown_at=now,
                    reserved_at=now,
                ),
            )
    return OpenQuestion(
        token=token,
        view=row_view(learner.table, asked.row),
        choices=asked.choices,
        probabilities=asked.probabilities,
        strategy=asked.strategy,
        score=asked.score,
        decides=asked.decides,
        undecided=asked.undecided,
        model_version=asked.model_version,
    )


def _labels_at(learner: ActiveLearner[LabelTable], row: int) -> tuple[str, ...]:
    return tuple(name for name, may in zip(learner.classes, learner.candidates[row], strict=True) if may)


def _labels_after(
    learner: ActiveLearner[LabelTable],
    person_id: int,
    row: int,
    kind: str,
    labels: tuple[str, ...],
    target: int | None = None,
) -> tuple[str, ...]:
    """The row's candidates once this entry counts; raises AnswerError before anything is written."""
    entry = Entry(
        seq=learner.seq + 1, kind=kind, row=row, annotator=str(person_id), labels=labels, target=target
    )
    after = learner.candidates_after(entry)
    return tuple(name for name, may in zip(learner.classes, after, strict=True) if may)
