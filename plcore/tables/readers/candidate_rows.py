"""Build a TableReading from rows whose candidates are named one by one, by people, models or functions."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted, shortened
from plcore.tables.columns import LARGEST
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, check_size, refusal, table_error
from plcore.tables.readers.reading import TableReading, cells_of, json_candidates
from plcore.tables.roles.cells import sorted_classes
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.suggested_labels import scores_of_classes
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.roles.written_lists import rank_of
from plcore.tables.writers.disambiguated import OWN_TRUTH, OWN_VOTERS, names_beside

T = TypeVar("T")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject = dict[str, Json]
Cells = dict[str, object]
"""A row's values in the source, by column."""
Records = Sequence[Json]
"""The objects of a JSON or JSONL file, in order and unchecked; a file with a single object has one."""


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    return quoted(value) if isinstance(value, str) else shortened(reprlib.repr(value))


class At:
    """A value in a tool's JSON, and its place for messages.

    value : of a record or of a field in it; None, JSON's null, for a field that is not there
    row : number of the record, from 1; None for a file that is one object
    where : the path of fields to it, as in `choices[0].text`; None for a whole record

    Its methods return the value as they say, and raise TableError with the place for any other value.
    """

    __slots__ = ("row", "value", "where")

    def __init__(self, value: Json, row: int | None = None, where: str | None = None) -> None:
        self.value, self.row, self.where = value, row, where

    def refuse(self, message: str, fix: str) -> TableError:
        """Return the error for this value."""
        return refusal(message, fix, row=self.row, column=self.where)

    def __getitem__(self, name: str) -> At:
        """Return a field of this object."""
        if not isinstance(self.value, dict):
            raise self._no_object()
        return At(self.value.get(name), self.row, name if self.where is None else f"{self.where}.{name}")

    def __contains__(self, name: str) -> bool:
        """Whether this is an object with such a field."""
        return isinstance(self.value, dict) and name in self.value

    def get(self, name: str) -> At:
        """Return a field; null if this is not an object."""
        return self[name] if isinstance(self.value, dict) else At(None, self.row, self.where)

    @property
    def or_empty(self) -> At:
        """Return this value; an empty object for null, or an empty text or list."""
        return At({}, self.row, self.where) if self.value in (None, "", []) else self

    def first(self, names: Sequence[str]) -> At:
        """Return the first of these fields that is not null; else the first."""
        known = self.value if isinstance(self.value, dict) else {}
        return self[next((name for name in names if known.get(name) is not None), names[0])]

    def object(self) -> JsonObject:
        if isinstance(self.value, dict) and all(isinstance(name, str) for name in self.value):
            return self.value
        raise self._no_object()

    def _no_object(self) -> TableError:
        message = f"expected an object with named fields, got {shown(self.value)}."
        return self.refuse(message, "Write {...} here, or leave the record out.")

    def fields(self) -> list[tuple[str, At]]:
        """Return the fields of an object by name; null has none."""
        return [] if self.value is None else [(name, self[name]) for name in self.object()]

    def items(self) -> list[At]:
        """Return the items of a list; null has none."""
        if self.value is None or isinstance(self.value, list):
            return [At(one, self.row, f"{self.where or ''}[{place}]") for place, one in enumerate(self.value or ())]
        message = f"expected a list, got {shown(self.value)}."
        raise self.refuse(message, "Write [...] here, or leave the field out.")

    def items_for(self, others: Sized, what: str, of: str) -> list[At]:
        """Return the items of a list with one for each of the others. what, of : an item, and one of the others"""
        found = self.items()
        if len(found) != len(others):
            message = f"expected {what} for each {of} ({len(others)}), got {len(found)}."
            raise self.refuse(message, f"Write one for each {of}, in the same order.")
        return found

    def objects(self) -> list[At]:
        """Return the objects in a list; none for other values."""
        return [one for one in self.items() if isinstance(one.value, dict)] if isinstance(self.value, list) else []

    def name(self, what: str = "a label") -> str:
        """Return the name of a label, row or person: stripped text or a whole number."""
        value = self.value
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip() and "\0" not in value:
            return value.strip()
        raise self.refuse(f"expected {what} as text, got {shown(value)}.", "Write a name that is not empty.")

    def name_or_none(self, what: str) -> str | None:
        return None if self.value is None or self.value == "" else self.name(what)

    def number(self, what: str = "a weight") -> float:
        """Return a weight, score or time: finite and at least 0."""
        value = self.value
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST:
            return float(value)
        message = f"expected {what}, a number from 0 on, got {shown(value)}."
        raise self.refuse(message, "Write such a number, or leave the field out.")

    def number_or(self, missing: T, what: str = "a weight") -> float | T:
        """Return the number, or `missing` for null."""
        return missing if self.value is None else self.number(what)

    def rank(self, what: str = "a weight") -> float:
        """Return a weight, or the weight of a word in `RANKS`."""
        return self.number(what) if (rank := rank_of(self.value)) is None else rank

    def probability(self) -> float:
        """Return the probability of a log probability."""
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool) and self.value <= 0:
            return math.exp(self.value)
        message = f"expected a log probability, a number up to 0, got {shown(self.value)}."
        raise self.refuse(message, "Write the logprob as the model gave it.")

    def own_object(self) -> At:
        """Parse an object that Winnow exported as JSON text for another tool."""
        told = json_in(self.value) if isinstance(self.value, str) else None
        return self if told is None else At(told, self.row, self.where)

    def own_vector(self) -> dict[str, int | None] | None:
        """Parse the label vector in `OWN_VECTOR`; None if there is none."""
        if self.value is None or self.value == "":
            return None
        found = self.own_object()
        for label, cell in found.object().items():
            if isinstance(cell, bool) or not (cell is None or (isinstance(cell, int) and cell in _CELLS)):
                message = f"expected 1, 0 or null for {shown(label)}, got {shown(cell)}."
                raise self.refuse(message, "Leave the field as Winnow wrote it.")
        return {At(label, self.row, self.where).name(): cell for label, cell in found.object().items()}  # type: ignore[misc]


def read_each(records: Sequence[Json], read: Callable[[At], T]) -> list[T]:
    """Return `read` of every record, and raise the problems of all records together."""
    found: list[T] = []
    problems: list[Problem] = []
    for row, record in enumerate(records, start=1):
        try:
            at = At(record, row)
            at.object()
            found.append(read(at))
        except TableError as error:
            problems += error.problems
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise table_error(problems)
    return found


def json_text(value: object) -> str:
    """Return readable JSON."""
    return json.dumps(value, ensure_ascii=False)


def cell_value(value: object) -> object:
    """Return a value as cell text: objects and lists as JSON, booleans as true and false."""
    return json_text(value) if isinstance(value, (dict, list, bool)) else value


def objects_in(value: Json) -> list[JsonObject]:
    """Return the objects in a list; none for other values."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


CANDIDATES, SOURCES, TRUTH = "candidates", "sources", "truth"
"""Columns that these readings have, or may have: candidates, voters of each label as JSON, and the true label."""
ADDED = (CANDIDATES, SOURCES, TRUTH)

OPEN_ROWS = "no label named"
"""Part of the note about rows in which every class stays possible."""
NEEDS_ROWS = (
    "Nothing in it describes the rows, so there is nothing to learn from: the table of the rows is needed, with a "
    "column of the same names. Put both files into one zip, or give the table of the rows together with this file."
)
_ADDRESSES = ("http://", "https://", "s3://", "gs://", "azure-blob://", "/data/")


Best = dict[tuple[str, str | None], float]
"""Highest weight of each label and source."""


@dataclass
class Row:
    """One item.

    Attributes
    ----------
    cells : values of the source, by column
    weights : weight of each named label; None if the source has no weights
    sources : the annotators or models that named each label
    ruled_out : labels that were ruled out; used only if no label is named
    truth : the true label, if the source has it
    vector : label vector instead of all these: {label: 1 right, 0 not right, None not asked}
    again : how often a source named a label that it had named already, with a weight
    """

    cells: Cells
    weights: dict[str, float | None] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    ruled_out: set[str] = field(default_factory=set)
    truth: str | None = None
    vector: dict[str, int | None] | None = None
    again: int = 0

    def name(self, label: str, weight: float | None = None, source: str | None = None) -> None:
        """Name a label. The weights of a label are summed."""
        before = self.weights.get(label)
        self.weights[label] = before if weight is None else (before or 0.0) + weight
        if source is not None and source not in self.sources.setdefault(label, []):
            self.sources[label].append(source)

    def name_best(self, label: str, weight: float | None, source: str | None, best: Best) -> None:
        """Name a label that one source may name several times, as for two things in a picture: its highest weight
        counts. best : of this row so far; a row is kept without it"""
        before = best.get((label, source))
        if before is None or weight is None:
            self.name(label, weight, source)
        else:
            self.weights[label] = (self.weights[label] or 0.0) - before + max(weight, before)
            self.again += 1
        if weight is not None:
            best[label, source] = max(weight, before or 0.0)


def rows_reading(
    rows: Sequence[Row],
    format_name: str,
    *,
    describing: Collection[str] | None = None,
    row_id: str | None = None,
    text: str | None = None,
    classes: Iterable[str] = (),
    notes: Iterable[str] = (),
    groups: Mapping[str, tuple[str, ...]] | None = None,
    has_rows: bool = False,
    added: tuple[str, str, str] = ADDED,
) -> TableReading:
    """Build the reading of these rows.

    In a row without named labels, every class that is not ruled out is possible. A weight of 0 makes no candidate.
    Notes count both. A true label outside the candidates is stored: the import asks what it means.

    describing : columns that may be displayed or be features; None: all columns of the source
    row_id : the column of ids, used if they are complete and unique
    text : the column that is a text according to the format
    classes : class names in addition to those in the rows
    has_rows : whether no other file describes the rows, even if no column here does
    added : names for the columns of candidates, voters and true labels, if not those of `ADDED`
    """
    if not rows:
        raise refusal("There are no rows in it.", "Choose a file with at least one record.")
    if any(row.vector is not None for row in rows):
        return _vectors_reading(rows, format_name, describing, row_id, notes)
    said = list(notes)
    weightless = sum(_drop_weightless(row) for row in rows)
    if weightless:
        said.append(
            f"{counted(weightless, 'label')} with the weight 0 "
            f"{either(weightless, 'is not a candidate', 'are not candidates')} of the row."
        )
    if again := sum(row.again for row in rows):
        said.append(
            f"A label is named {counted(again, 'time')} more by a source that has named it for the row already: the "
            "highest weight counts."
        )
    named = {label for row in rows for label in (*row.weights, *row.ruled_out, row.truth) if label is not None}
    every = sorted_classes(list(named | set(classes)))
    if not every:
        raise refusal(
            "No label is named anywhere in it.", "Export it with answers, predictions or options, and import that."
        )
    sets, open_rows = _candidate_cells(rows, every)
    if open_rows:
        said.append(
            f"{counted(len(open_rows), 'row')} {either(len(open_rows), 'has', 'have')} {OPEN_ROWS}: every class "
            f"stays possible there, but for those ruled out. The first is row {open_rows[0] + 1}."
        )
    said += _drop_odd_truths(rows)
    own = {name: None for row in rows for name in row.cells}
    names = dict(zip(own, _free_names(own, added), strict=True))
    candidates, sources, truth_column = added
    columns: dict[str, list[object]] = {names[name]: [cell_value(row.cells.get(name)) for row in rows] for name in own}
    columns[candidates] = list(sets)
    if any(row.sources for row in rows):
        columns[sources] = [json_text(row.sources) if row.sources else "" for row in rows]
    truth = truth_column if any(row.truth is not None for row in rows) else None
    if truth is not None:
        columns[truth] = [row.truth for row in rows]
    cells = cells_of(columns)
    id_column = _id_column(cells, None if row_id is None else names.get(row_id), said)
    reserved = (*ADDED, *added, row_id)  # columns with these names reveal the label
    describe = [names[name] for name in own if (describing is None or name in describing) and name not in reserved]
    if not describe and not has_rows:
        said.append(NEEDS_ROWS)
    known = {"id": id_column, "truth": truth, "text": names.get(text or "")}
    roles, about_columns = _roles(cells, describe, every, known)
    roles = replace(roles, candidates=candidates, voters=sources if sources in columns else None)
    return TableReading(cells, format_name, roles, None, (*said, *about_columns), dict(groups or {}))


OWN_VECTOR = "winnow_vector"
"""Field in which other tools store a row's label vector, as JSON: `{label: 1, 0 or null}` for all labels."""
OWN_WEIGHTS = "winnow_weights"
"""Field in which tools without weights store those of a row's candidates, as JSON."""
_CELLS = {1: "1", 0: "0", None: ""}


def add_own(found: Row, told: At) -> None:
    """Restore the true label and the voters that Winnow exported with the row, and remove them from its cells.

    told : the object that may hold them
    Voters of labels that the row no longer names are dropped. Raises TableError.
    """
    for name in (OWN_TRUTH, OWN_VOTERS):
        found.cells.pop(name, None)
    found.truth = told.get(OWN_TRUTH).name_or_none("a label") or found.truth
    if (own := told.get(OWN_VOTERS)).value:
        for label, voters in own.own_object().fields():
            for voter in voters.items():
                if label in found.weights:
                    found.name(label, None, voter.name("a voter"))


def json_in(text: str) -> Json:
    """Return the value that a text holds as JSON; None for other text."""
    try:
        return json.loads(text)  # type: ignore[no-any-return]  # JSON is of any type
    except (ValueError, RecursionError):
        return None


def agreed(said: Mapping[str, Collection[int | None]]) -> dict[str, int | None]:
    """Combine several people's answers about each label into a label vector: None, not asked, if they differ."""
    return {label: next(iter(cells)) if len(cells) == 1 else None for label, cells in said.items()}


def unlike_note(said: Iterable[Mapping[str, Collection[int | None]]]) -> list[str]:
    """Return a note that counts the labels on which people differ, in all rows; no note if there are none."""
    unlike = sum(len(cells) > 1 for of_row in said for cells in of_row.values())
    return [f"Labels about which people differ, which are read as not asked: {unlike}."] if unlike else []


def _vectors_reading(
    rows: Sequence[Row], format_name: str, describing: Collection[str] | None, row_id: str | None, notes: Iterable[str]
) -> TableReading:
    """Build the reading of rows with label vectors: a column of 1, 0 or nothing for each label."""
    labels = tuple(dict.fromkeys(label for row in rows for label in row.vector or ()))
    own = list(dict.fromkeys(name for row in rows for name in row.cells))
    new_names = names_beside(own, labels)
    names = {name: new_names.get(name, name) for name in own}
    columns: dict[str, list[object]] = {names[name]: [cell_value(row.cells.get(name)) for row in rows] for name in own}
    for label in labels:
        columns[label] = [_CELLS[(row.vector or {}).get(label)] for row in rows]
    check_size(len(rows), len(columns))
    cells, said = cells_of(columns), list(notes)
    id_column = _id_column(cells, None if row_id is None else names.get(row_id), said)
    describe = [names[name] for name in own if (describing is None or name in describing) and name != row_id]
    if not describe:
        said.append(NEEDS_ROWS)
    roles, about_columns = _roles(cells, describe, labels, {"id": id_column, "truth": None, "text": None})
    roles = replace(roles, candidates=None, form=Roles().form, label_columns=labels, label_vectors=True)
    return TableReading(cells, format_name, roles, None, (*said, *about_columns))


def _id_column(cells: pd.DataFrame, name: str | None, said: list[str]) -> str | None:
    """Return the column if it names every row; else None, with a note in `said`."""
    if name is None or ((stripped := cells[name].str.strip()).is_unique and (stripped != "").all()):
        return name
    said.append(f"Column {name!r} is empty or repeats itself in some rows: it is kept, not used as their id.")
    return None


def _candidate_cells(rows: Sequence[Row], every: tuple[str, ...]) -> tuple[list[str], list[int]]:
    """Return the cells of candidates, and the rows (from 0) without a named label."""
    sets: list[str] = []
    open_rows: list[int] = []
    for place, row in enumerate(rows):
        if not row.weights:
            open_rows.append(place)
            left = [label for label in every if label not in row.ruled_out]
            sets.append(json_text(left or list(every)))
        elif all(weight is None for weight in row.weights.values()):
            sets.append(json_text(list(row.weights)))
        else:
            sets.append(json_text({label: _plain(weight) for label, weight in row.weights.items()}))
    return sets, open_rows


def _plain(weight: float | None) -> float:
    """Convert a weight to a number, counts to int. Next to weighted labels, an unweighted one counts as one vote."""
    weight = 1.0 if weight is None else float(weight)
    return int(weight) if weight.is_integer() and weight < 1e15 else weight


def _drop_weightless(row: Row) -> int:
    gone = [label for label, weight in row.weights.items() if weight == 0]
    for label in gone:
        del row.weights[label]
        row.sources.pop(label, None)
    return len(gone)


def _drop_odd_truths(rows: Sequence[Row]) -> list[str]:
    """Remove true labels that were ruled out, and return a note about them."""
    odd = [place for place, row in enumerate(rows) if not row.weights and row.truth in row.ruled_out]
    if not odd:
        return []
    first = odd[0]
    note = (
        f"In {counted(len(odd), 'row')} the true label is one that was ruled out, so it is not taken there: the first "
        f"is row {first + 1}, {rows[first].truth!r}."
    )
    for place in odd:
        rows[place].truth = None
    return [note]


def _free_names(own: Iterable[str], added: Collection[str]) -> list[str]:
    """Rename the source's columns that have the names of the candidates' columns."""
    taken = {*added, *own}
    names = []
    for name in own:
        new, number = name, 2
        while name in added and new in taken:
            new, number = f"{name} {number}", number + 1
        taken.add(new)
        names.append(new)
    return names


def _roles(
    cells: pd.DataFrame, describe: list[str], classes: tuple[str, ...], known: dict[str, str | None]
) -> tuple[Roles, list[str]]:
    """Return the roles, guessed for the describing columns, and notes about these columns."""
    notes = []
    labels = set(classes)
    scores = set(scores_of_classes(describe, classes))
    scores = scores if set(describe) - scores else set()  # a file with only a model's scores describes no rows
    tell = [name for name in describe if name in scores or _tells_the_label(cells[name], labels)]
    if tell:
        notes.append(
            f"{_columns(tell)} {_hold(tell)} labels or their scores and would give the answer away, so nothing is "
            f"learnt from {'it' if len(tell) == 1 else 'them'}. Choose the column as the true label, if it is that."
        )
    describe = [name for name in describe if name not in tell]
    remote = [name for name in describe if _holds_addresses(cells[name])]
    if remote:
        notes.append(
            f"{_columns(remote)} {_hold(remote)} addresses, shown as text: nothing is fetched. To see what is there, "
            "put the files into a zip with this file and write their names into the cells."
        )
    guessed = [name for name in describe if name != known["text"]]
    guess = suggest_roles(cells[guessed]) if guessed else Roles()
    text = known["text"] or guess.text
    numbers = guess.numbers + guess.label_columns + guess.score_columns + guess.choice_scores
    roles = json_candidates(
        CANDIDATES,
        id=known["id"] or guess.id,
        truth=known["truth"],
        text=text,
        image=guess.image,
        audio=guess.audio,
        start=guess.start,
        end=guess.end,
        embedding=guess.embedding,
        source=guess.source,
        image_features=guess.image is not None and not numbers and text is None,
        sound_features=guess.sound_features,
        numbers=numbers,
        categories=guess.categories + guess.annotators + guess.choices,
    )
    return roles, notes


def _tells_the_label(cells: pd.Series[str], labels: set[str]) -> bool:
    """Whether it holds only labels, not all of them numbers: numbers may equal the class numbers by chance."""
    filled = cells.str.strip()
    filled = filled[filled != ""]
    return bool(len(filled) and filled.isin(labels).mean() >= 0.95 and filled.nunique() > 1) and bool(
        pd.to_numeric(filled, errors="coerce").isna().any()
    )


def _holds_addresses(cells: pd.Series[str]) -> bool:
    filled = cells[cells != ""]
    return bool(len(filled) and filled.str.startswith(_ADDRESSES).mean() >= 0.5)


def _columns(names: list[str]) -> str:
    return f"Column{'s' if len(names) > 1 else ''} {listed(names)}"


def _hold(names: list[str]) -> str:
    return "hold" if len(names) > 1 else "holds"
