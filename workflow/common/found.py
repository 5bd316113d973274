"""Finding answered rows: what to search for, the lines of the list that is found, and those of a row's history."""

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
from plcore.loop import EntryKind
from workflow import access
from workflow.common.folding import folded

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore import LabelTable

PAGE = 50
"""Rows on a page."""

SAYS_SOMETHING = tuple(
    kind
    for kind in EntryKind
    if kind
    not in (
        EntryKind.SKIP,
        EntryKind.WITHDRAW,
        EntryKind.CLASS,
        EntryKind.ROWS,
        EntryKind.MODEL,
        EntryKind.ASIDE,
    )
)
"""Kinds of entries that say something about a row, in a project of any kind."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """What is looked for; the defaults find every answered row.

    kind : one of SAYS_SOMETHING      label : a class, by its present name
    words : all of them in the row's id or text      disagrees : answered otherwise than the model said when asked
    """

    label: str | None = None
    person_id: int | None = None
    kind: str | None = None
    flagged: bool = False
    disagrees: bool = False
    words: str = ""


@dataclass(frozen=True)
class FoundAnswer:
    """A line of the list: a row's latest answer, or that of the person searched for; of label vectors any answer that
    still counts.

    labels : class names as they are now      predicted : what the model said when the row was asked about, in words
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
    """One page of what was found, newest first. page : from 0, one that exists      total : lines of all pages"""

    rows: tuple[FoundAnswer, ...]
    total: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


@dataclass(frozen=True)
class HistoryLine:
    """One entry about a row. Class names are as they are now.

    before, after : the row's candidates; of label vectors the values of the labels that the entry is about, in words
    taken_back : whether a later entry withdraws it
    yes_no : the labels that were asked about in yes and no; none where it was asked which
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
    yes_no: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchOptions:
    """What a search can be about.

    people : (id, name) of everybody, where `everybody`: this person may see the answers of others
    anything : whether there is any answer to find
    scored : whether the table came with scores, of which this person may see how right they are
    scored_by : the model that has given others since (`plcore.tables.scoring`); None where they are the file's
    """

    classes: tuple[str, ...]
    people: tuple[tuple[int, str], ...]
    everybody: bool
    anything: bool
    scored: bool
    scored_by: str | None = None


def checked_kinds(search: Search) -> tuple[str, ...]:
    """The kinds of entries that a search looks at. Raises ValueError."""
    if search.kind is not None and search.kind not in SAYS_SOMETHING:
        raise ValueError(f"kind must be one of {', '.join(SAYS_SOMETHING)}, or None. Got {search.kind!r}.")
    return SAYS_SOMETHING if search.kind is None else (search.kind,)


def names_of(session: Session) -> dict[int, str]:
    """{person: name} of everybody."""
    return {one.id: one.name for one in people.listed(session)}


def answer_line(
    table: LabelTable,
    names: Mapping[int, str],
    one: entries.LogEntry,
    labels: tuple[str, ...],
    predicted: str | None,
) -> FoundAnswer:
    """An entry as a line of the list, with these labels, and what the model had said in words."""
    row_id, person = table.id_of(one.row), names.get(one.person_id, "")
    return FoundAnswer(
        one.seq, one.row, row_id, one.kind, labels, predicted, person, one.at, one.flagged, one.note
    )


def history_line(
    names: Mapping[int, str],
    one: entries.LogEntry,
    labels: tuple[str, ...],
    before: tuple[str, ...],
    after: tuple[str, ...],
    predicted: str | None,
    *,
    taken_back: bool,
    yes_no: tuple[str, ...] = (),
) -> HistoryLine:
    """An entry as a line of a row's history."""
    person = names.get(one.person_id, "")
    marks = one.note, one.flagged, predicted, taken_back, yes_no
    return HistoryLine(one.seq, one.at, person, one.kind, labels, before, after, *marks)


def check_row(table: LabelTable, row: int) -> None:
    """Raises NotFound where there is no such row."""
    if not 0 <= row < table.n_rows:
        raise access.NotFound(f"There is no row {row + 1}. Fix: choose one from the list.")


def entries_about(
    session: Session, project_id: int, row: int, whose: int | None
) -> tuple[list[entries.LogEntry], list[entries.LogEntry]]:
    """Every entry about the row, and those that may be seen. whose : as `workflow.access.Rights.whose`

    Raises NotFound where a person who may see their own alone has none.
    """
    every = found_in.of_row(session, project_id, row)
    visible = [one for one in every if whose in (None, one.person_id)]
    if whose is not None and not visible:
        raise access.NotFound("This row has no answer of yours. Fix: choose one from the list.")
    return every, visible


def taken_back(log: Sequence[entries.LogEntry]) -> set[int | None]:
    """The seqs of the entries that a later one withdraws."""
    return {one.target_seq for one in log if one.target_seq is not None}


def may_correct(log: Sequence[entries.LogEntry], whose: int | None) -> bool:
    """Whether a row with these entries may be corrected: by who reviews, what anybody has answered, by others what they
    have answered themselves; answers taken back do not count. whose : as `workflow.access.Rights.whose`
    """
    withdrawn = taken_back(log)
    answers = [one for one in log if one.kind in SAYS_SOMETHING and one.seq not in withdrawn]
    return any(whose in (None, one.person_id) for one in answers)


def rows_holding(table: LabelTable, words: Sequence[str]) -> np.ndarray:
    """(n,) whether all words are in the row's id or text, whatever their case and accents."""
    ids = pa.array(table.ids.astype(str), pa.large_string())
    parts = [ids]
    if table.roles.text:
        parts.append(pa.array(table.cells[table.roles.text], pa.large_string()))
    text = folded(pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string())))
    found = np.ones(table.n_rows, dtype=bool)
    for word in folded(pa.array(words, pa.large_string())).to_pylist():
        found &= pc.match_substring(text, word).to_numpy(zero_copy_only=False)
    return found


def inside(page: int, total: int) -> int:
    """The page number, or the nearest that exists. total : lines of all pages"""
    return min(max(0, page), max(0, -(-total // PAGE) - 1))
