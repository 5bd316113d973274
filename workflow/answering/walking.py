"""Several questions in one pass: after an answer in one project, others ask the same person about the same row.

The first project names the others (`RoomSettings.further`), and its order chooses the rows. Each project keeps its own
log, tokens, reservations and blind checks. They are opened one after the other, never one inside another, so that no
two people wait for each other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from db import entries
from plcore import AnswerError
from plcore.loop import CONTROL, EntryKind, Place
from workflow.access import NotAllowed, NotFound, Right
from workflow.answering.asked import Saved, saved_of
from workflow.answering.history import latest_standing
from workflow.answering.room_settings import RoomSettings
from workflow.answering.turn import StaleQuestion
from workflow.answering.undoing import own_answers
from workflow.people.qualification import require_qualified
from workflow.projects.linking import RowKey, find_row, key_of

if TYPE_CHECKING:
    from db.projects import Project
    from workflow.answering.turn import AnyTurn
    from workflow.seat import Seat


class WalkStep(NamedTuple):
    """A project of a walk. name : of its question"""

    project_id: int
    name: str


@dataclass(frozen=True)
class Walk:
    """Several questions about a row, as one person's card shows them.

    lead : the project that names the others
    place, of, name : of this project's question, from 0; the number of questions; what it asks about
    last : this person's latest entry, and its project, if it is in another project than this
    undo : project and seq of the answer that undo withdraws, if it is in another project
    """

    lead: int
    place: int
    of: int
    name: str
    last: tuple[str, Saved] | None
    undo: tuple[int, int] | None


def steps_of(seat: Seat, lead: int | None = None) -> tuple[WalkStep, ...]:
    """Return the projects that ask this person about the same rows, in order; () if this project is not one of
    several.

    lead : the first one, as the address of the page names it; None: this one
    """
    try:
        with seat.at(lead or seat.project_id or 0).reading(Right.ANSWER) as reading:
            steps, further = [_step(reading.project)], RoomSettings.from_json(reading.project.room).further
    except (NotFound, NotAllowed):
        if lead is None:
            raise
        return ()
    for one in further:
        with suppress(NotFound, NotAllowed), seat.at(one).reading(Right.ANSWER) as reading:
            steps.append(_step(reading.project))
    is_here = any(one.project_id == seat.project_id for one in steps)
    return tuple(steps) if is_here and len(steps) > 1 else ()


def _step(project: Project) -> WalkStep:
    return WalkStep(project.id, str(project.roles.get("candidates") or project.name))


def walk_on(seat: Seat, steps: Sequence[WalkStep], row: int | None) -> int:
    """Put the next question before this person, and return its project; that of the seat if nothing is left.

    row : the row that they answered in the seat's project; None: the next row comes
    steps : of `steps_of`
    """
    ids = [one.project_id for one in steps]
    if row is not None:
        after = ids[ids.index(seat.project_id or 0) + 1 :]
        if (found := _ask_first(seat, after, row, _key_at(seat, row))) is not None:
            return found
    for other in map(seat.at, ids[1:]):
        due = _due_check(other)
        if due is not None and (found := _ask_first(seat, ids, due, _key_at(other, due))) is not None:
            return found
    for one in ids:
        with suppress(NotFound, NotAllowed, StaleQuestion), seat.at(one).turn(lasting=False) as turn:
            require_qualified(turn.opened)
            if turn.show_next() is not None:
                return one
    return seat.project_id or 0


def _key_at(seat: Seat, row: int) -> RowKey:
    with seat.learner(Right.ANSWER) as opened:
        return key_of(opened.learner.table, row)


def _ask_first(seat: Seat, ids: Collection[int], row: int, key: RowKey) -> int | None:
    """Ask about this row in the first of these projects in which it is open to this person; None: in none."""
    return next((one for one in ids if _ask(seat.at(one), row, key)), None)


def _ask(seat: Seat, row: int, key: RowKey) -> bool:
    with suppress(NotFound, NotAllowed, StaleQuestion, AnswerError), seat.turn(lasting=False) as turn:
        require_qualified(turn.opened)
        found = find_row(turn.learner.table, row, key)
        if found is None or turn.is_taken(Place(found)):
            return False
        if not turn.may_choose(Place(found), drawn=_check_of(turn) == found):
            return False
        turn.show(Place(found))
        return True
    return False


def _due_check(seat: Seat) -> int | None:
    """Return the row of the blind check that is this person's next question there by the project's own order."""
    with suppress(NotFound, NotAllowed), seat.learner(Right.ANSWER) as opened:
        require_qualified(opened)
        return _check_of(opened.kind.make_turn(opened))
    return None


def _check_of(turn: AnyTurn) -> int | None:
    if not turn.learner.pool.control_is_due():
        return None
    asked = turn.best(turn.taken)
    return asked.row if asked is not None and asked.strategy == CONTROL else None


def continues_walk(saved: Saved) -> bool:
    """Return whether the other projects ask about the row, too: not about one that is out."""
    return saved.kind != EntryKind.BAD


def walk_of(seat: Seat, steps: Sequence[WalkStep]) -> Walk | None:
    """Return the card's view of the walk; None if there are no steps."""
    if not steps:
        return None
    place = next(number for number, one in enumerate(steps) if one.project_id == seat.project_id)
    ends = [_end_of(seat.at(one.project_id)) for one in steps]
    last = max(range(len(steps)), key=lambda number: (ends[number].at, number == place))
    undo = max(range(len(steps)), key=lambda number: (ends[number].undo_at, number == place))
    said, seq = ends[last].saved, ends[undo].undo
    return Walk(
        lead=steps[0].project_id,
        place=place,
        of=len(steps),
        name=steps[place].name,
        last=None if last == place or said is None else (steps[last].name, said),
        undo=None if undo == place or seq is None else (steps[undo].project_id, seq),
    )


class _End(NamedTuple):
    """The end of a person's log in a project: the latest entry and the answer that undo withdraws, with times."""

    at: float
    saved: Saved | None
    undo_at: float
    undo: int | None


def _end_of(seat: Seat) -> _End:
    with seat.learner(Right.ANSWER) as opened:
        last, undo = opened.own_log.last, latest_standing(own_answers(opened))
        answer = None if undo is None else entries.get(opened.session, opened.project_id, undo)
        saved = None if last is None else replace(saved_of(opened.learner, last), rows=len(opened.own_log.rows))
        return _End(_moment(last), saved, _moment(answer), undo)


def _moment(entry: entries.LogEntry | None) -> float:
    at: datetime | None = None if entry is None else entry.at
    return 0.0 if at is None else at.timestamp()
