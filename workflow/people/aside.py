"""Excluding a person's answers, and counting them again. Both are entries of the log, so labels and models follow, and
any earlier state can be restored."""

from __future__ import annotations

from db import entries, questions
from db.entries import NO_ROW, NewEntry
from plcore.loop import EntryKind, asides_after
from workflow.access import NotFound, Right
from workflow.answering.turn import AnyTurn
from workflow.log.reading import read_class_changes
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.seat import Seat


def set_aside(seat: Seat, person_id: int) -> None:
    """Exclude all answers of this person, earlier and later ones. They stay in the log. Idempotent.

    Raises NotFound if the person has answered nothing here, NotAllowed unless the seat's person is an owner, NotSaved,
    StaleQuestion.
    """
    with seat.turn(Right.OWN) as turn:
        if person_id not in entries.people_of(turn.session, turn.project_id):
            raise NotFound(
                f"Person {person_id} has answered nothing in this project, so there is nothing to exclude. "
                "Fix: choose someone on the Team page."
            )
        if str(person_id) not in _asides(turn):
            _write(turn, EntryKind.ASIDE, person_id, labels=(str(person_id),))


def count_again(seat: Seat, person_id: int) -> None:
    """Count this person's answers as if they had never been excluded; does nothing if they count already.

    Raises as `set_aside`, except that the person need not have answered.
    """
    with seat.turn(Right.OWN) as turn:
        target = _asides(turn).get(str(person_id))
        if target is not None:
            _write(turn, EntryKind.WITHDRAW, person_id, target=target)


def _asides(turn: AnyTurn) -> dict[str, int]:
    """Return {annotator: seq of the entry that excludes their answers}."""
    return asides_after(read_class_changes(turn.session, turn.project_id))


def _write(turn: AnyTurn, kind: EntryKind, about: int, labels: tuple[str, ...] = (), target: int | None = None) -> None:
    session, project_id = turn.session, turn.project_id
    classes = tuple(turn.learner.pool.classes)
    entries.append(
        session,
        NewEntry(
            project_id=project_id,
            kind=kind,
            row=NO_ROW,
            labels=labels,
            person_id=turn.person_id,
            token=f"aside.{entries.last_seq(session, project_id)}",
            revision=entries.count_for(session, project_id, turn.person_id, NO_ROW),
            target_seq=target,
            before=classes,
            after=classes,
            at=turn.now,
        ),
    )
    # The choices on a screen may have changed, and so may the rows that are asked at all.
    questions.close_reservations(session, project_id)
    audit.note(
        session,
        EventKind.ANSWERS_COUNT_AGAIN if target is not None else EventKind.ANSWERS_SET_ASIDE,
        person_id=turn.person_id,
        about_id=about,
        project_id=project_id,
    )
