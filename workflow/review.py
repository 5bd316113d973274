"""Review: find answered rows, and look at one with all that was said about it. Correcting: `workflow.correcting`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from db import entries, people
from db import review as found_in
from plcore.classes import ClassError, ClassMap
from workflow import access
from workflow.correcting import ANSWERED, may_correct
from workflow.rows import RowView, row_view
from workflow.turns import question_token

if TYPE_CHECKING:
    from db.people import Person
    from plcore import LabelTable
    from workflow.home import Home

PAGE = 50
"""Rows on a page."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is looked for; the defaults find every answered row. kind : one of ANSWERED      label : a class of now

    words : all of them in the row's id or text      disagrees : answered otherwise than the model said when asked
    """

    label: str | None = None
    person_id: int | None = None
    kind: str | None = None
    flagged: bool = False
    disagrees: bool = False
    words: str = ""


@dataclass(frozen=True)
class Found:
    """A row's latest answer (of that person, where one was asked for), under the names of now."""

    seq: int
    row: int
    row_id: str
    kind: str
    labels: tuple[str, ...]
    predicted: str | None
    person: str
    at: datetime
    flagged: bool
    note: str | None


@dataclass(frozen=True)
class ReviewList:
    """One page of what was found, newest first. page : from 0, inside what there is"""

    rows: tuple[Found, ...]
    total: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


@dataclass(frozen=True)
class Told:
    """One entry about a row, under the names of now. taken_back : by a later entry"""

    seq: int
    at: datetime
    person: str
    kind: str
    labels: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    note: str | None
    flagged: bool
    predicted: str | None
    taken_back: bool


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


@dataclass(frozen=True)
class Offered:
    """What can be looked for. everybody : this person may see the answers of others, `people` (id, name)

    anything : there is an answer to look at
    """

    classes: tuple[str, ...]
    people: tuple[tuple[int, str], ...]
    everybody: bool
    anything: bool


def offered(home: Home, person_id: int, project_id: int) -> Offered:
    """What a search can be about.

    Raises
    ------
    NotAllowed, NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        classes = tuple(learner.classes)
    with home.database.read() as session:
        person = access.require_person(session, person_id)
        whose = None if person.is_owner else person.id
        return Offered(
            classes=classes,
            people=tuple((one.id, one.name) for one in people.listed(session)) if person.is_owner else (),
            everybody=person.is_owner,
            anything=found_in.any_answer(session, project_id, ANSWERED, whose),
        )


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
        known = people.listed(session)
        wanted = _wanted(search, person, class_map)
        if words := search.words.lower().split():
            holds = _rows_holding(table, words)
            places = [place for place in found_in.places(session, project_id, wanted) if holds[place[1]]]
            total = len(places)
            page = _inside(page, total)
            on_page = [seq for seq, _ in places[page * PAGE : (page + 1) * PAGE]]
            answers = found_in.with_seqs(session, project_id, on_page)
        else:
            total = found_in.count(session, project_id, wanted)
            page = _inside(page, total)
            answers = found_in.page(session, project_id, wanted, page * PAGE, PAGE)
    names = {one.id: one.name for one in known}
    return ReviewList(
        rows=tuple(
            Found(
                seq=one.seq,
                row=one.row,
                row_id=str(table.ids[one.row]),
                kind=one.kind,
                labels=_now(class_map, one.labels),
                predicted=_now(class_map, (one.predicted,))[0] if one.predicted is not None else None,
                person=names.get(one.person_id, ""),
                at=one.at,
                flagged=one.flagged,
                note=one.note,
            )
            for one in answers
        ),
        total=total,
        page=page,
    )


def open_row(home: Home, person_id: int, project_id: int, row: int) -> RowReview:
    """The row and its whole history; an annotator sees rows they have answered, and their own part of the history.

    Raises
    ------
    NotFound
        There is no such row, or it is none of this person's.
    NotAllowed
    """
    with home.learners.open(home, person_id, project_id) as learner:
        table = learner.table
        if not 0 <= row < table.n_rows:
            raise access.NotFound(f"There is no row {row + 1}. Fix: choose one from the list.")
        state, class_map = learner.state(row), learner.pool.class_map
    with home.database.read() as session:
        person = access.require_person(session, person_id)
        told = found_in.of_row(session, project_id, row)
        mine = [one for one in told if one.person_id == person.id]
        if not person.is_owner and not mine:
            raise access.NotFound("This row has no answer of yours. Fix: choose one from the list.")
        names = {one.id: one.name for one in people.listed(session)}
        revision = entries.count_for(session, project_id, person_id, row)
    gone = {one.target_seq for one in told if one.kind == "withdraw"}
    history = tuple(
        Told(
            seq=one.seq,
            at=one.at,
            person=names.get(one.person_id, ""),
            kind=one.kind,
            labels=_now(class_map, one.labels),
            before=_now(class_map, one.before),
            after=_now(class_map, one.after),
            note=one.note,
            flagged=one.flagged,
            predicted=_now(class_map, (one.predicted,))[0] if one.predicted is not None else None,
            taken_back=one.seq in gone,
        )
        for one in (told if person.is_owner else mine)
    )
    standing = [one for one in told if one.kind in ANSWERED and one.seq not in gone]
    return RowReview(
        view=row_view(table, row),
        token=question_token(person_id, row, revision),
        imported=state.original,
        candidates=state.candidates,
        out=state.bad,
        history=history,
        may_correct=may_correct(told, person),
        classes=class_map.classes,
        flagged=bool(standing) and standing[-1].flagged,
    )


def _wanted(search: Search, person: Person, class_map: ClassMap) -> found_in.Wanted:
    if search.kind is not None and search.kind not in ANSWERED:
        raise ValueError(f"kind must be one of {', '.join(ANSWERED)}, or None. Got {search.kind!r}.")
    renamed = {
        name: now
        for label in class_map.classes
        for name in class_map.names_of(label)
        if name != (now := label)
    }
    return found_in.Wanted(
        kinds=ANSWERED if search.kind is None else (search.kind,),
        person_id=search.person_id if person.is_owner else person.id,
        labels=class_map.names_of(search.label) if search.label is not None else (),
        flagged=search.flagged,
        disagrees=search.disagrees,
        now=renamed,
    )


def _rows_holding(table: LabelTable, words: Sequence[str]) -> np.ndarray:
    """(n,) whether all words are in the row's id or text, whatever their case."""
    ids = pa.array(table.ids.astype(str), pa.large_string())
    parts = [ids]
    if table.roles.text:
        parts.append(pa.array(table.cells[table.roles.text], pa.large_string()))
    text = pc.utf8_lower(pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string())))
    found = np.ones(table.n_rows, dtype=bool)
    for word in words:
        found &= pc.match_substring(text, word).to_numpy(zero_copy_only=False)
    return found


def _inside(page: int, total: int) -> int:
    return min(max(0, page), max(0, -(-total // PAGE) - 1))


def _now(class_map: ClassMap, names: Sequence[str | None]) -> tuple[str, ...]:
    """Names of any time as they are now, each once; a class that was taken back keeps the name it had."""
    known = []
    for name in names:
        try:
            known.append(class_map.now(name or ""))
        except ClassError:
            known.append(name or "")
    return tuple(dict.fromkeys(known))
