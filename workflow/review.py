"""Review: find answered rows, and look at one with all that was said about it. Correcting: `workflow.correcting`. Of
label vectors: `workflow.vector_review`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from db import entries
from db import review as found_in
from plcore.loop.classes import ClassError, ClassMap
from workflow import access
from workflow.answered import (
    PAGE,
    Found,
    Offered,
    ReviewList,
    Search,
    Told,
    check_row,
    checked_kinds,
    found_line,
    inside,
    names_of,
    offered,
    rows_holding,
    taken_back,
    told_about,
    told_line,
)
from workflow.correcting import ANSWERED, may_correct
from workflow.rows import RowView, row_view
from workflow.turns import row_token

if TYPE_CHECKING:
    from db.people import Person
    from workflow.home import Home

__all__ = [
    "PAGE",
    "Found",
    "Offered",
    "ReviewList",
    "RowReview",
    "Search",
    "Told",
    "find",
    "offered",
    "open_row",
]


@dataclass(frozen=True)
class RowReview:
    """A row opened. token : for a correction      out : it is a bad item now      flagged : by its latest answer"""

    view: RowView
    token: str
    imported: tuple[str, ...]
    candidates: tuple[str, ...]
    out: bool
    history: tuple[Told, ...]
    may_correct: bool
    classes: tuple[str, ...]
    flagged: bool


def find(home: Home, person_id: int, project_id: int, search: Search, page: int = 0) -> ReviewList:
    """The answered rows that fit; an annotator finds their own answers alone.

    Raises
    ------
    NotAllowed, NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        table, class_map = learner.table, learner.pool.class_map
    with home.database.read() as session:
        person = access.require_person(session, person_id)
        names = names_of(session)
        wanted = _wanted(search, person, class_map)
        if words := search.words.lower().split():
            holds = rows_holding(table, words)
            places = [place for place in found_in.places(session, project_id, wanted) if holds[place[1]]]
            total = len(places)
            page = inside(page, total)
            on_page = [seq for seq, _ in places[page * PAGE : (page + 1) * PAGE]]
            answers = found_in.with_seqs(session, project_id, on_page)
        else:
            total = found_in.count(session, project_id, wanted)
            page = inside(page, total)
            answers = found_in.page(session, project_id, wanted, page * PAGE, PAGE)
    rows = tuple(
        found_line(table, names, one, _now(class_map, one.labels), _said(class_map, one.predicted))
        for one in answers
    )
    return ReviewList(rows, total, page)


def open_row(home: Home, person_id: int, project_id: int, row: int) -> RowReview:
    """The row and its whole history; an annotator sees rows they have answered, and their own part of the history.

    Raises
    ------
    NotFound
        There is no such row, or it is none of this person's.
    NotAllowed
    """
    with home.learners.open(home, person_id, project_id) as learner:
        check_row(learner.table, row)
        table, state, class_map = learner.table, learner.state(row), learner.pool.class_map
    with home.database.read() as session:
        person = access.require_person(session, person_id)
        told, visible = told_about(session, project_id, row, person)
        names = names_of(session)
        revision = entries.count_for(session, project_id, person_id, row)
    gone = taken_back(told)
    standing = [one for one in told if one.kind in ANSWERED and one.seq not in gone]
    return RowReview(
        view=row_view(table, row),
        token=row_token(person_id, row, revision, class_map),
        imported=state.original,
        candidates=state.candidates,
        out=state.bad,
        history=tuple(
            told_line(
                names,
                one,
                _now(class_map, one.labels),
                _now(class_map, one.before),
                _now(class_map, one.after),
                _said(class_map, one.predicted),
                taken_back=one.seq in gone,
            )
            for one in visible
        ),
        may_correct=may_correct(told, person),
        classes=class_map.classes,
        flagged=bool(standing) and standing[-1].flagged,
    )


def _wanted(search: Search, person: Person, class_map: ClassMap) -> found_in.Wanted:
    renamed = {
        name: now
        for label in class_map.classes
        for name in class_map.names_of(label)
        if name != (now := label)
    }
    return found_in.Wanted(
        kinds=checked_kinds(search),
        person_id=search.person_id if person.is_owner else person.id,
        labels=class_map.names_of(search.label) if search.label is not None else (),
        flagged=search.flagged,
        disagrees=search.disagrees,
        now=renamed,
    )


def _now(class_map: ClassMap, names: Sequence[str | None]) -> tuple[str, ...]:
    """Names of any time as they are now, each once; a class that was taken back keeps the name it had."""
    known = []
    for name in names:
        try:
            known.append(class_map.now(name or ""))
        except ClassError:
            known.append(name or "")
    return tuple(dict.fromkeys(known))


def _said(class_map: ClassMap, predicted: str | None) -> str | None:
    return None if predicted is None else _now(class_map, (predicted,))[0]
