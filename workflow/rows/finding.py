"""Search answered rows: the search options, the lines of the result, and those of a row's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy.orm import Session

from db import answers, entries, people
from plcore import LabelTable
from plcore.arrays import BoolArray, FloatArray, IntArray
from workflow import access
from workflow.answering.history import SAYS_SOMETHING
from workflow.rows.row import RowView

# Text as a search compares it: without accents and case. `pages/parts/card/words.js` does the same.

_MARKS = "[\u0300-\u036f]"
_LETTERS = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "ς": "σ",
}  # fmt: skip
"""Lower-case letters that Unicode does not decompose, and their replacements for people who cannot type them."""


def folded(text: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return every text in compatibility decomposition (composed and decomposed letters alike), in lower case, without
    accents (U+0300 to U+036F); letters such as ø and ß become o and ss.

    Marks that belong to a script, such as the vowel signs of Devanagari, stay: without them words would change.
    """
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    plain = pc.utf8_lower(text)
    other = pc.invert(pc.string_is_ascii(text))  # few texts, mostly, and ten times as slow
    return pc.replace_with_mask(plain, other, _without_accents(pc.filter(text, other)))


def _without_accents(text: pa.Array) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_normalize(text, form="NFKD"))
    plain = pc.replace_substring_regex(plain, pattern=_MARKS, replacement="")
    for letter, typed in _LETTERS.items():
        plain = pc.replace_substring(plain, pattern=letter, replacement=typed)
    return plain


PAGE = 50
"""Rows on a page."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """Search options; the defaults find every answered row.

    kind : one of SAYS_SOMETHING      label : a class, by its present name
    words : all of them in the row's id or text      disagrees : answered otherwise than the model said when asked
    corrected : the answer is a correction of the row
    """

    label: str | None = None
    person_id: int | None = None
    kind: str | None = None
    flagged: bool = False
    disagrees: bool = False
    corrected: bool = False
    words: str = ""

    @property
    def on(self) -> frozenset[str]:
        """The filters that are on, by their names in `db.answers.FILTERS`."""
        return frozenset(name for name in answers.FILTERS if getattr(self, name))


@dataclass(frozen=True)
class FoundAnswer:
    """A line of the list: a row's latest answer, or that of the person searched for; if several labels may be right,
    any answer that still counts.

    labels : current class names      predicted : the model's prediction when the row was asked about, in words
    differs : the model's prediction differed from the answer
    """

    seq: int
    row: int
    row_id: str
    kind: str
    labels: tuple[str, ...]
    predicted: str | None
    differs: bool
    person: str
    at: datetime
    flagged: bool
    note: str | None


@dataclass(frozen=True)
class ReviewList:
    """One page of the result, newest first. page : from 0, one that exists      total : lines of all pages

    flagged, disagreeing, corrected : lines left if the search must also be `Search.flagged`, `Search.disagrees`, or
        `Search.corrected`; None if only reading all answers could say
    """

    rows: tuple[FoundAnswer, ...]
    total: int
    page: int
    flagged: int
    disagreeing: int | None
    corrected: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


class QueueFilter(StrEnum):
    """Which rows a queue lists. Only reviewers may choose another than ALL: the others tell of people's answers."""

    ALL = "all"
    """The rows that no one has answered."""
    WAITING = "waiting"
    """Rows that have an answer and wait for one of another annotator; they are asked before all others."""
    FLAGGED = "flagged"
    """Rows of both whose answer carries a flag."""


@dataclass(frozen=True, kw_only=True)
class QueueSearch:
    """Which part of a queue is wanted, and what was read for it without the learner.

    held : `rows_with` of these words and the learner's table, if already searched
    near : (n,) how near each row is in meaning to the search: the nearest come first, and rows with NaN are left out
    page : from 0; beyond the last page, the last one
    flagged : {row: seqs of its flagged answers}, `db.answers.flagged`
    """

    words: str = ""
    held: Mapping[str, BoolArray] | None = None
    near: FloatArray | None = None
    page: int = 0
    only: QueueFilter = QueueFilter.ALL
    flagged: Mapping[int, Set[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class QueueLine:
    """One open row: its place in the queue from 1, and its score by the project's strategy or criterion.

    near : the row's cosine similarity to a search by meaning
    """

    place: int
    row: int
    row_id: str
    score: float
    near: float | None = None


@dataclass(frozen=True, kw_only=True)
class QueuePage:
    """A page of the queue. ``rows`` : the matching rows of the page, at most SHOWN; ``matching`` of ``listed`` rows
    match.

    listed : rows in the whole queue      open : as every page counts them, rows or labels
    blind : how many of these are blind checks, not listed      begun : those not listed because others have answered
        them: the next annotator is asked about them first      flagged : lines that `QueueFilter.FLAGGED` would list
    by_meaning : whether the search is by meaning: the nearest rows come first, and rows without a vector are left out
    """

    rows: Sequence[QueueLine]
    matching: int
    listed: int
    open: int
    blind: int
    begun: int
    flagged: int
    by_meaning: bool
    only: QueueFilter
    page: int


@dataclass(frozen=True)
class HistoryLine:
    """One entry about a row, with current class names.

    before, after : the row's candidates or, if several labels may be right, the values of the labels that the entry is
        about, in words
    taken_back : whether a later entry withdraws it
    yes_no : the labels asked about in a yes-or-no question; none for other questions
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


@dataclass(frozen=True, kw_only=True)
class OpenedRow:
    """An opened row on the Review page.

    token : for a correction of this view      out : whether it is a bad item now
    flagged : whether an answer that counts carries a flag
    """

    view: RowView
    token: str
    out: bool
    history: tuple[HistoryLine, ...]
    may_correct: bool
    flagged: bool


@dataclass(frozen=True)
class SearchOptions:
    """Available search options.

    people : (id, name) of everyone, if `everybody`: this person may see the answers of others
    anything : whether there are any answers
    scored : whether the table came with scores whose precision this person may see
    scored_by : the model that has computed scores since (`plcore.tables.growing`); None if they are the file's
    """

    classes: tuple[str, ...]
    people: tuple[tuple[int, str], ...]
    everybody: bool
    anything: bool
    scored: bool
    scored_by: str | None = None


def checked_kinds(search: Search) -> tuple[str, ...]:
    """Return the kinds of entries that a search covers. Raises ValueError."""
    if search.kind is not None and search.kind not in SAYS_SOMETHING:
        raise ValueError(f"kind must be one of {', '.join(SAYS_SOMETHING)}, or None. Got {search.kind!r}.")
    return SAYS_SOMETHING if search.kind is None else (search.kind,)


def names_of(session: Session) -> dict[int, str]:
    """Return {person: name} of everyone."""
    return {one.id: one.name for one in people.listed(session)}


def answer_line(
    table: LabelTable,
    names: Mapping[int, str],
    one: entries.LogEntry,
    labels: tuple[str, ...],
    predicted: str | None,
    *,
    differs: bool,
) -> FoundAnswer:
    """Return an entry as a line of the list, with these labels, the model's prediction in words, and whether it
    differs."""
    row_id, person = table.id_of(one.row), names.get(one.person_id, "")
    return FoundAnswer(
        one.seq, one.row, row_id, one.kind, labels, predicted, differs, person, one.at, one.flagged, one.note
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
    """Return an entry as a line of a row's history."""
    person = names.get(one.person_id, "")
    marks = one.note, one.flagged, predicted, taken_back, yes_no
    return HistoryLine(one.seq, one.at, person, one.kind, labels, before, after, *marks)


def check_row(table: LabelTable, row: int) -> None:
    """Raises NotFound if there is no such row."""
    if not 0 <= row < table.n_rows:
        raise access.NotFound(f"There is no row {row + 1}. Fix: choose one from the list.")


def entries_about(
    session: Session, project_id: int, row: int, whose: int | None
) -> tuple[list[entries.LogEntry], list[entries.LogEntry]]:
    """Return every entry about the row, and those that the person may see. whose : as `workflow.access.Rights.whose`

    Raises NotFound if the person may see only their own entries and has none.
    """
    every = answers.of_row(session, project_id, row)
    visible = [one for one in every if whose in (None, one.person_id)]
    if whose is not None and not visible:
        raise access.NotFound("This row has no answer of yours. Fix: choose one from the list.")
    return every, visible


def taken_back(log: Sequence[entries.LogEntry]) -> set[int | None]:
    """Return the seqs of the entries that a later one withdraws."""
    return {one.target_seq for one in log if one.target_seq is not None}


def may_correct(log: Sequence[entries.LogEntry], whose: int | None) -> bool:
    """Return whether a row with these entries may be corrected. Reviewers may correct any answered row, annotators the
    rows they answered; withdrawn answers do not count. whose : as `workflow.access.Rights.whose`"""
    withdrawn = taken_back(log)
    answers = [one for one in log if one.kind in SAYS_SOMETHING and one.seq not in withdrawn]
    return any(whose in (None, one.person_id) for one in answers)


def rows_holding(table: LabelTable, words: Sequence[str]) -> np.ndarray:
    """Return (n,) whether all words are in the row's id or texts, ignoring case and accents."""
    ids = pa.array(table.ids.astype(str), pa.large_string())
    parts = [ids]
    parts += [pa.array(table.cells[column], pa.large_string()) for column in table.roles.text_columns]
    text = folded(pc.binary_join_element_wise(*parts, pa.scalar(" ", pa.large_string())))
    found = np.ones(table.n_rows, dtype=bool)
    for word in folded(pa.array(words, pa.large_string())).to_pylist():
        found &= pc.match_substring(text, word).to_numpy(zero_copy_only=False)
    return found


def inside(page: int, total: int, size: int) -> int:
    """Return the page number, or the nearest that exists. total : lines of all pages      size : lines per page"""
    return min(max(0, page), max(0, -(-total // size) - 1))


# Rows of a table with words in their text: by whole columns, and without the learner, since a table never changes.
#
# Case is ignored (`str.casefold`).


def words_of(search: str) -> list[str]:
    """Return the words that a person searches for, each once, in the form for `rows_with`."""
    return list(dict.fromkeys(search.casefold().split()))


def rows_with(table: LabelTable, words: Sequence[str]) -> Mapping[str, BoolArray]:
    """Return, for each word, (n,) whether it is in a row's id, texts or categories."""
    if not words:
        return {}
    columns = (*table.roles.text_columns, *table.roles.categories)
    texts = [_ids(table), *(pa.array(table.cells[column].array, pa.large_string()) for column in columns)]
    found = {word: np.zeros(table.n_rows, dtype=bool) for word in words}
    for text in texts:
        ascii_only = pc.string_is_ascii(text)
        lower = pc.ascii_lower(text)
        others = np.flatnonzero(~np.asarray(ascii_only))  # few, mostly, and Python's own rules hold for them
        folded = [one.casefold() for one in text.take(pa.array(others)).to_pylist()]
        for word, rows in found.items():
            if word.isascii():
                rows |= np.asarray(pc.and_(pc.match_substring(lower, word), ascii_only))
            rows[others] |= np.fromiter((word in one for one in folded), dtype=bool, count=len(folded))
    return found


def _ids(table: LabelTable) -> pa.Array | pa.ChunkedArray:
    """The ids; white space around them may stay, for no word has any."""
    if table.roles.id is None:
        return pc.cast(pa.array(np.arange(1, table.n_rows + 1)), pa.large_string())
    return pa.array(table.cells[table.roles.id].array, pa.large_string())


def nearest_first(near: FloatArray, places: IntArray) -> IntArray:
    """Return these places in `near` by descending value, ties in their order, without NaN."""
    places = places[~np.isnan(near[places])]
    return places[np.argsort(-near[places].round(9), kind="stable")]


# Long lists on a page.

SHOWN = 200
"""Lines per page; a search covers all pages."""
