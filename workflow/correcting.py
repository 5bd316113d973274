"""Correcting an answered row. No entry is changed: a correction is an answer of the reviewer's, with a token of its
own, and the learner follows it as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from db import entries, questions, review
from plcore import AnswerError, Entry
from workflow import access
from workflow.history import SECOND, stored_by
from workflow.labeling import NOTE_LENGTH, checked_note
from workflow.standing import Saved, saved_of
from workflow.turns import NotSaved, RowTurn, StaleQuestion, question_token, take_turn

if TYPE_CHECKING:
    from db.people import Person
    from workflow.home import Home

__all__ = [
    "ANSWERED",
    "CORRECTIONS",
    "NOTE_LENGTH",
    "AnswerError",
    "NotSaved",
    "StaleQuestion",
    "correct",
    "may_correct",
]

CORRECTIONS = ("is", "among", "not", "none", "bad")
ANSWERED = (*CORRECTIONS, "unsure")
"""Kinds of entries that say something about a row."""


def correct(
    home: Home,
    person_id: int,
    project_id: int,
    row: int,
    token: str,
    kind: str,
    labels: Sequence[str] = (),
    *,
    note: str | None = None,
    flagged: bool = False,
) -> Saved:
    """Answer a row anew, exactly once. The owner may, and whoever has answered the row themselves.

    Where `labels` are none of the row's candidates, an entry `none` goes before the answer: none of those was right.
    A token that was used gives the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    ------
    StaleQuestion
        This person has said something else about the row since it was opened. Nothing is stored.
    AnswerError
        The answer does not fit the row, or the note is too long. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    note = checked_note(note)
    if kind not in CORRECTIONS:
        raise AnswerError(f"A correction is one of {', '.join(CORRECTIONS)}. Got {kind!r}.")
    with take_turn(home, person_id, project_id) as turn:
        person = access.require_person(turn.session, person_id)
        told = review.of_row(turn.session, project_id, row)
        if not may_correct(told, person):
            raise access.NotAllowed("Only the owner, or who has answered a row, may correct it.")
        revision = entries.count_for(turn.session, project_id, person_id, row)
        if token != question_token(person_id, row, revision):
            earlier = stored_by(turn.session, project_id, token)
            if earlier is None or (earlier.person_id, earlier.row) != (person_id, row):
                raise StaleQuestion("This row was answered anew since you opened it. Fix: open it again.")
            return saved_of(turn.learner, earlier, repeated=True)
        gone = {one.target_seq for one in told if one.kind == "withdraw"}
        said = [one.predicted for one in told if one.predicted is not None and one.seq not in gone]
        more: dict[str, Any] = {
            "strategy": "review",
            "model_version": turn.learner.model_version,
            "predicted": said[-1] if said else None,  # what the model said before people spoke
            "note": note,
            "flagged": flagged,
        }
        stored = _write(turn, row, token, kind, tuple(labels), more)
        open_now = questions.get(turn.session, project_id, person_id)
        if open_now is not None and open_now.row == row:
            questions.delete(turn.session, project_id, person_id)
        return saved_of(turn.learner, stored)


def _write(
    turn: RowTurn, row: int, token: str, kind: str, labels: tuple[str, ...], more: dict[str, Any]
) -> entries.Entry:
    """One entry, or where the labels are no candidates, `none` and then the answer."""
    writer, learner = turn.writer(row), turn.learner
    try:
        learner.check(Entry(learner.seq + 1, kind, row, turn.annotator, labels))
    except AnswerError:
        wanted = {"is": len(labels) == 1, "among": len(labels) >= 1}.get(kind, False)
        if not wanted or len(set(labels)) != len(labels) or not set(labels) <= set(learner.classes):
            raise
        writer.write("none", token=token, **more)
        if not set(labels) <= {*writer.left, *learner.state(row).original}:
            raise
        return writer.write(kind, labels, token=f"{token}{SECOND}", **more)
    return writer.write(kind, labels, token=token, **more)


def may_correct(told: Sequence[entries.Entry], person: Person) -> bool:
    """Whether this person may correct a row of which this was told: the owner what anybody has answered, others what
    they have answered themselves; answers taken back do not count.
    """
    gone = {one.target_seq for one in told if one.kind == "withdraw"}
    answers = [one for one in told if one.kind in ANSWERED and one.seq not in gone]
    return any(person.is_owner or one.person_id == person.id for one in answers)
