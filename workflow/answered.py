"""What looking for answered rows has in common for projects of both kinds: what is looked for, the lines of what is
found, and those of a row's history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from db import entries, people
from db import review as found_in
from workflow import access
from workflow.correcting import ANSWERED

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

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
    """A row's latest answer (of that person, where one was asked for), under the names of now; of label vectors an
    answer that counts. predicted : what the model said when it was asked, in words
    """

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
    """One page of what was found, newest first. page : from 0, inside what there is      total : of all pages"""

    rows: tuple[Found, ...]
    total: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


@dataclass(frozen=True)
class Told:
    """One entry about a row, under the names of now. before, after : its candidates; of label vectors how the labels
    it is about stood, in words      taken_back : by a later entry
    """

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
    with home.learners.open_any(home, person_id, project_id) as learner:
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


def checked_kinds(search: Search) -> tuple[str, ...]:
    """The kinds of entries that a search looks at. Raises ValueError."""
    if search.kind is not None and search.kind not in ANSWERED:
        raise ValueError(f"kind must be one of {', '.join(ANSWERED)}, or None. Got {search.kind!r}.")
    return ANSWERED if search.kind is None else (search.kind,)


def names_of(session: Session) -> dict[int, str]:
    """{person: name} of everybody."""
    return {one.id: one.name for one in people.listed(session)}


def found_line(
    table: LabelTable,
    names: Mapping[int, str],
    one: entries.Entry,
    labels: tuple[str, ...],
    predicted: str | None,
) -> Found:
    """An entry as a line of the list, with these labels, and what the model had said in words."""
    row_id, person = str(table.ids[one.row]), names.get(one.person_id, "")
    return Found(one.seq, one.row, row_id, one.kind, labels, predicted, person, one.at, one.flagged, one.note)


def told_line(
    names: Mapping[int, str],
    one: entries.Entry,
    labels: tuple[str, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    predicted: str | None,
    *,
    taken_back: bool,
) -> Told:
    """An entry as a line of a row's history."""
    person = names.get(one.person_id, "")
    return Told(
        one.seq, one.at, person, one.kind, labels, before, after, one.note, one.flagged, predicted, taken_back
    )


def check_row(table: LabelTable, row: int) -> None:
    """Raises NotFound where there is no such row."""
    if not 0 <= row < table.n_rows:
        raise access.NotFound(f"There is no row {row + 1}. Fix: choose one from the list.")


def told_about(
    session: Session, project_id: int, row: int, person: Person
) -> tuple[list[entries.Entry], list[entries.Entry]]:
    """Every entry about the row, and those that this person may see: the owner all, others their own.

    Raises NotFound where a person who is no owner has none.
    """
    told = found_in.of_row(session, project_id, row)
    visible = told if person.is_owner else [one for one in told if one.person_id == person.id]
    if not person.is_owner and not visible:
        raise access.NotFound("This row has no answer of yours. Fix: choose one from the list.")
    return told, visible


def taken_back(told: Sequence[entries.Entry]) -> set[int | None]:
    """The seqs of the entries that a later one withdraws."""
    return {one.target_seq for one in told if one.kind == "withdraw"}


def rows_holding(table: LabelTable, words: Sequence[str]) -> np.ndarray:
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


def inside(page: int, total: int) -> int:
    """The number of a page there is."""
    return min(max(0, page), max(0, -(-total // PAGE) - 1))
