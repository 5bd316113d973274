"""Rows that show what a class looks like, marked by the owner; the question card shows them on demand.

A mark holds the row's number and the name of its class at that time. A name always belongs to its class
(`plcore.loop.classes`), so examples survive renames and merges of classes. A row is shown only while its answered label
is still that class, and never to anyone who is asked about it. A row that needs several annotators can only be marked
and shown once enough have answered, because the others would learn its label.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from db import members, questions
from plcore import AnswerError
from plcore.loop import ClassError, Learner, Place
from workflow.access import Right
from workflow.answering.asked import checked_note
from workflow.opened import Opened
from workflow.rows.finding import check_row
from workflow.rows.row import RowView, row_view
from workflow.seat import Seat

EXAMPLE, QUALIFICATION = "example", "qualification"
PURPOSES = (EXAMPLE, QUALIFICATION)
"""Purposes that a row can be marked for: shown next to every question, or asked before someone starts. Never both: a
person who has seen a row with its label need not be asked about it."""

NOTE_LENGTH = 200
MOST_SHOWN = 60
"""Limit of the examples that a card shows."""


@dataclass(frozen=True)
class ClassExample:
    """A marked row with its class, by the present name, and the owner's note, "" without one."""

    view: RowView
    label: str
    note: str


@dataclass(frozen=True)
class Marking:
    """Whether a row can be marked, and how it is marked now.

    labels : classes that it can be an example of      why_not : why there are none, else ""
    purposes : what it can be marked for      purpose : what it is marked for, None if it is not
    """

    labels: tuple[str, ...]
    why_not: str
    purposes: tuple[str, ...]
    purpose: str | None
    label: str | None
    note: str


def marking(seat: Seat, row: int) -> Marking:
    """Describe how a row is marked, for the owner."""
    with seat.learner(Right.REVIEW) as opened:
        check_row(opened.learner.table, row)
        found = members.of_row(opened.session, opened.project_id, row)
        labels, why_not = _may_show(opened, row)
        return Marking(
            labels=labels,
            why_not=why_not,
            purposes=PURPOSES if opened.kind.CAN_QUALIFY else (EXAMPLE,),
            purpose=None if found is None else found.purpose,
            label=None if found is None else label_now(opened, found.label),
            note="" if found is None else found.note,
        )


def mark(seat: Seat, row: int, label: str, note: str = "", purpose: str = EXAMPLE) -> None:
    """Mark a row as an example of its class, in place of an earlier mark. note : at most NOTE_LENGTH characters

    Raises AnswerError if answers do not give the row this label, it is held out, the note is too long or cannot be
    stored, or projects of this kind have no qualification.
    """
    note = " ".join(note.split())
    checked_note(note, NOTE_LENGTH)
    with seat.learner(Right.REVIEW) as opened:
        check_row(opened.learner.table, row)
        allowed = PURPOSES if opened.kind.CAN_QUALIFY else (EXAMPLE,)
        if purpose not in allowed:
            raise AnswerError(f"A row can be marked for {' or '.join(allowed)} here. Got {purpose!r}.")
        labels, why_not = _may_show(opened, row)
    if why_not:
        raise AnswerError(why_not)
    if label not in labels:
        raise AnswerError(f"The row has {', '.join(labels)} by its answers, not {label!r}. Fix: choose one of these.")
    with seat.writing(Right.REVIEW) as writing:
        members.put_example(
            writing.session,
            writing.project.id,
            members.Marked(row, label, purpose, note, writing.person.id, datetime.now(UTC)),
        )


def unmark(seat: Seat, row: int) -> None:
    """Remove the mark of a row; harmless if it has none."""
    with seat.writing(Right.REVIEW) as writing:
        members.remove_example(writing.session, writing.project.id, row)


def class_examples(seat: Seat) -> tuple[ClassExample, ...]:
    """Return the examples that may be shown to this person now, in the order of the classes; never the row they are
    asked about."""
    with seat.learner(Right.ANSWER) as opened:
        asked = questions.get(opened.session, opened.project_id, opened.person_id)
        found = standing_examples(opened, EXAMPLE)
        return tuple(one for one in found if asked is None or one.view.row != asked.row)[:MOST_SHOWN]


def standing_examples(opened: Opened[Learner], purpose: str) -> list[ClassExample]:
    """Return the rows with this mark whose answered label is still that class, in the order of the classes."""
    marked = members.list_examples(opened.session, opened.project_id, purpose)
    if not marked:
        return []
    learner = opened.learner
    may_be_shown, found = learner.pool.shown_to_all(), []
    for one in marked:
        label = label_now(opened, one.label)
        if label is not None and may_be_shown[one.row] and label in learner.pool.answered_labels(one.row):
            found.append(ClassExample(row_view(learner.table, one.row), label, one.note))
    order = {label: place for place, label in enumerate(learner.classes)}
    return sorted(found, key=lambda one: (order[one.label], one.view.row))


def label_now(opened: Opened[Learner], label: str) -> str | None:
    """Return the present name of a class; None if it was withdrawn."""
    classes = opened.kind.CLASSES
    if classes is None:
        return label
    try:
        return classes(opened.learner).class_map.now(label)
    except ClassError:
        return None


def _may_show(opened: Opened[Learner], row: int) -> tuple[tuple[str, ...], str]:
    """Return (the labels that the row can be an example of, why there are none)."""
    learner = opened.learner
    labels = learner.pool.answered_labels(row) if learner.pool.shown_to_all()[row] else ()
    if labels:
        return labels, ""
    if learner.pool.answered_labels(row) and _waits(learner, row):
        return (), (
            "This row waits for the answers of more people, who are not to know its label. It can be an example once "
            "enough have answered."
        )
    held = ""
    if learner.pool.test_rows[row]:
        held = "This is a test row"
    elif learner.pool.blind_rows[row]:
        held = "This is a blind check"
    if held:
        return (), (f"{held}. It cannot be an example: accuracy is measured on it, so its label must stay hidden.")
    return (), "A row can be an example once answers have decided its label. Fix: answer or correct it first."


def _waits(learner: Learner, row: int) -> bool:
    """Whether the row needs more independent annotators. Held-out rows are handled elsewhere."""
    pool = learner.pool
    held = pool.test_rows[row] or learner.pool.blind_rows[row]
    return bool(learner.settings.several and not held and pool.places_left(Place(row)))
