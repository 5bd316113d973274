"""Rows that show what a class looks like, marked by the owner; the question card shows them on demand.

A mark holds the row's number and the name that the class had then: a name that was ever used belongs to its class for
good (`plcore.loop.classes`), so that renames and merges of classes keep the examples. A row is shown only while its
answered label is still that class, and never to anyone who is asked about it. If several people answer a row, that is
once enough have: it can neither be marked nor is it shown while it waits for others, who would know its label.
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
"""Possible kinds of row marked for: shown next to every question, or asked before someone starts. Never both: who
has seen
a row with its label need not be asked about it."""

NOTE_LENGTH = 200
MOST_SHOWN = 60
"""Examples that a card shows at most."""


@dataclass(frozen=True)
class ClassExample:
    """A marked row with its class, by the present name, and the owner's note, "" without one."""

    view: RowView
    label: str
    note: str


@dataclass(frozen=True)
class Marking:
    """Whether a row can be marked, and how it is marked now.

    labels : of which of these classes it can be an example      why_not : why of none, "" if it can
    purposes : what it can be marked for      purpose : what it is marked for, None if it is not
    """

    labels: tuple[str, ...]
    why_not: str
    purposes: tuple[str, ...]
    purpose: str | None
    label: str | None
    note: str


def marking(seat: Seat, row: int) -> Marking:
    """How a row is marked, for the owner."""
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

    Raises AnswerError: the row has no such label by answers, or it is held out; the note is too long or cannot be
    stored; or the kind of project knows no qualification.
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
        raise AnswerError(
            f"The row has {', '.join(labels)} by its answers, not {label!r}. Fix: choose one of these."
        )
    with seat.writing(Right.REVIEW) as writing:
        members.put_example(
            writing.session,
            writing.project.id,
            members.Marked(row, label, purpose, note, writing.person.id, datetime.now(UTC)),
        )


def unmark(seat: Seat, row: int) -> None:
    """Take the mark of a row away; harmless if it has none."""
    with seat.writing(Right.REVIEW) as writing:
        members.remove_example(writing.session, writing.project.id, row)


def class_examples(seat: Seat) -> tuple[ClassExample, ...]:
    """The examples that may be shown to this person now, in the order of the classes; never the row before them."""
    with seat.learner(Right.ANSWER) as opened:
        asked = questions.get(opened.session, opened.project_id, opened.person_id)
        found = standing_examples(opened, EXAMPLE)
        return tuple(one for one in found if asked is None or one.view.row != asked.row)[:MOST_SHOWN]


def standing_examples(opened: Opened[Learner], purpose: str) -> list[ClassExample]:
    """The rows marked for this whose answered label is still that class, in the order of the classes."""
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
    """The present name of a class; None if it was withdrawn."""
    classes = opened.kind.CLASSES
    if classes is None:
        return label
    try:
        return classes(opened.learner).class_map.now(label)
    except ClassError:
        return None


def _may_show(opened: Opened[Learner], row: int) -> tuple[tuple[str, ...], str]:
    """(the labels of which the row can be an example, why it can be of none)"""
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
        return (), (
            f"{held}. It can be no example: accuracy is measured on it, so no one may learn its label from here."
        )
    return (), "A row can be an example once answers have decided its label. Fix: answer or correct it first."


def _waits(learner: Learner, row: int) -> bool:
    """Whether more people are to answer the row, each for themselves. Held-out rows are told of otherwise."""
    pool = learner.pool
    held = pool.test_rows[row] or learner.pool.blind_rows[row]
    return bool(learner.settings.several and not held and pool.places_left(Place(row)))
