"""Correcting an answered row. No entry is changed: a correction is an answer of the reviewer's, with a token of its
own, and the learner follows it as any other. Of label vectors: `workflow.vector_correcting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from db import entries, questions, review
from plcore import AnswerError, Entry
from workflow import access
from workflow.history import SECOND, stored_by
from workflow.labeling import NOTE_LENGTH, checked_note
from workflow.saving import NotSaved
from workflow.standing import Saved, saved_of
from workflow.turns import CellTurn, RowTurn, StaleQuestion, take_turn

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
    "begin",
    "correct",
    "finish",
    "may_correct",
]

AnyTurn = RowTurn | CellTurn

CORRECTIONS = ("is", "among", "not", "none", "bad")
ANSWERED = (*CORRECTIONS, "yes", "no", "unsure")
"""Kinds of entries that say something about a row, in a project of either kind."""


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
        told, earlier = begin(turn, row, token)
        if earlier is not None:
            return earlier
        gone = {one.target_seq for one in told if one.kind == "withdraw"}
        said = [one.predicted for one in told if one.predicted is not None and one.seq not in gone]
        more: dict[str, Any] = {
            "strategy": "review",
            "model_version": turn.learner.model_version,
            "predicted": said[-1] if said else None,  # what the model said before people spoke
            "note": note,
            "flagged": flagged,
        }
        return finish(turn, _write(turn, row, token, kind, tuple(labels), more))


def begin(turn: AnyTurn, row: int, token: str) -> tuple[list[entries.Entry], Saved | None]:
    """Every entry about the row that is to be corrected; and, where the token was used before, what that stored.

    Raises
    ------
    NotAllowed, StaleQuestion
    """
    told = review.of_row(turn.session, turn.project_id, row)
    revision = entries.count_for(turn.session, turn.project_id, turn.person_id, row)
    if token != turn.token(row, None, revision):
        earlier = stored_by(turn.session, turn.project_id, token)
        if earlier is None or (earlier.person_id, earlier.row) != (turn.person_id, row):
            raise StaleQuestion("This row was answered anew since you opened it. Fix: open it again.")
        return told, saved_of(turn.learner, earlier, repeated=True)
    if not may_correct(told, access.require_person(turn.session, turn.person_id)):
        raise access.NotAllowed("Only the owner, or who has answered a row, may correct it.")
    return told, None


def finish(turn: AnyTurn, stored: entries.Entry) -> Saved:
    """After the last entry of a correction: a question about the row that this person had open is answered by it."""
    open_now = turn.open_now()
    if open_now is not None and open_now.row == stored.row:
        questions.delete(turn.session, turn.project_id, turn.person_id)
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
