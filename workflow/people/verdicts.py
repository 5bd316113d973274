"""What reviewers store of disputes (`workflow.people.disputes`): verdicts, which are entries of the log, and notes
beside a row, which are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from db import dispute_notes, review
from plcore import AnswerError
from plcore.loop import EntryKind, Place
from workflow.access import Right
from workflow.common.found import check_row, taken_back
from workflow.common.history import stored_by
from workflow.common.notes import checked_note
from workflow.common.present_names import names_now
from workflow.common.turn import StaleQuestion

if TYPE_CHECKING:
    from workflow.common.answers import Saved
    from workflow.common.opened import Opened
    from workflow.seat import Seat


def settle(seat: Seat, row: int, token: str, labels: Sequence[str] = (), note: str | None = None) -> Saved:
    """Give the verdict on a row in dispute, exactly once; one entry of the kind `verdict`.

    token : of the row as it was opened      labels : what it is, one class or several; none: a bad item
    A token that was used gives the earlier entry with ``repeated`` set; nothing is stored.

    Raises
    ------
    StaleQuestion
        The row is not, or no longer, in dispute, or this person has said something else about it since it was opened.
    AnswerError
        A label is no class, or the project knows no disputes, or the note is too long. Nothing is stored.
    NotSaved, NotAllowed, NotFound
    """
    note, place = checked_note(note), Place(row)
    with seat.turn(Right.REVIEW) as turn:
        if not turn.opened.kind.HAS_DISPUTES:
            raise AnswerError(
                "Disputes are not listed in this project, whose rows have several labels. Fix: settle them by a "
                "correction on Review."
            )
        check_row(turn.learner.table, row)
        if token != turn.token(place, turn.revision(place)):
            earlier = stored_by(turn.session, turn.project_id, token)
            other = earlier is not None and earlier.kind != EntryKind.VERDICT
            if earlier is None or other or (earlier.person_id, earlier.row) != (turn.person_id, row):
                raise StaleQuestion(
                    "You have answered this row anew since you opened it. Fix: open it again."
                )
            return turn.saved(earlier, repeated=True)
        if row not in turn.learner.pool.disputed():
            raise StaleQuestion(
                "People do not disagree on this row, or not any more; the project is as it was."
            )
        stored = turn.writer(place).write(
            EntryKind.VERDICT,
            names_now(turn.learner.pool.class_map, labels),
            token=token,
            strategy="dispute",
            model_version=turn.learner.model_version,
            predicted=_predicted(turn.opened, row),
            note=note,
        )
        open_now = turn.open_now()
        if open_now is not None and open_now.row == row:
            turn.close_question()  # it is answered by this
        return turn.saved(stored)


def discuss(seat: Seat, row: int, text: str) -> None:
    """Leave a note beside a row, for all who review; it is no answer, and no entry.

    Raises
    ------
    AnswerError
        The note is empty or too long.
    NotSaved, NotAllowed, NotFound
    """
    with seat.learner(Right.REVIEW) as opened:
        check_row(opened.learner.table, row)
    said = checked_note(text)
    if said is None:
        raise AnswerError("The note is empty. Fix: write what others should know of this row.")
    with seat.writing(Right.REVIEW) as writing:
        new = dispute_notes.DisputeNote(row, writing.person.id, datetime.now(UTC), said)
        dispute_notes.add(writing.session, writing.project.id, new)


def _predicted(opened: Opened[Any], row: int) -> str | None:
    """What the model said of the row before people spoke, by its present name."""
    log = review.of_row(opened.session, opened.project_id, row)
    withdrawn = taken_back(log)
    said = [one.predicted for one in log if one.predicted is not None and one.seq not in withdrawn]
    return names_now(opened.learner.pool.class_map, said[-1:])[0] if said else None
