"""Rows whose candidates are named one by one, by people, models or functions -> a TableReading."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, TypeVar

import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted, shortened
from plcore.tables.columns import LARGEST
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, check_size, table_error
from plcore.tables.readers.reading import TableReading, cells_of, json_candidates, refusal
from plcore.tables.roles.cells import sorted_classes
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.roles.written_lists import rank_of
from plcore.tables.writers.disambiguated import OWN_TRUTH, OWN_VOTERS, names_beside

T = TypeVar("T")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject = dict[str, Json]
Cells = dict[str, object]
"""Statement of a source about a row, by column."""
Records = Sequence[Json]
"""The objects of a JSON or JSONL file, in their order, unchecked; a file that is one object is a sequence of one."""


def refuse(row: int | None, where: str | None, message: str, fix: str) -> TableError:
    """Return the error for one value."""
    return TableError(Problem(row, None, where, message, fix))


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    return quoted(value) if isinstance(value, str) else shortened(reprlib.repr(value))


def read_each(records: Sequence[Json], read: Callable[[JsonObject, int], T]) -> list[T]:
    """`read(record, row)` of every record. What is wrong with several of them is raised together."""
    found: list[T] = []
    problems: list[Problem] = []
    for row, record in enumerate(records, start=1):
        try:
            found.append(read(an_object(record, row, None), row))
        except TableError as error:
            problems += error.problems
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise table_error(problems)
    return found


def an_object(value: Json, row: int | None, where: str | None) -> JsonObject:
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return value
    message = f"expected an object with named fields, got {shown(value)}."
    raise refuse(row, where, message, "Write {...} here, or leave the record out.")


def a_list(value: Json, row: int | None, where: str) -> list[Json]:
    """Return a list; null is an empty one."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise refuse(
        row, where, f"expected a list, got {shown(value)}.", "Write [...] here, or leave the field out."
    )


def a_name(value: Json, row: int | None, where: str, what: str = "a label") -> str:
    """A label, or the name of a row or a person: text or a whole number, without the white space around it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value.strip()
    raise refuse(
        row, where, f"expected {what} as text, got {shown(value)}.", "Write a name that is not empty."
    )


def a_name_or_none(value: Json, row: int | None, where: str, what: str) -> str | None:
    return None if value is None or value == "" else a_name(value, row, where, what)


def a_number(value: Json, row: int | None, where: str, what: str = "a weight") -> float:
    """A weight, a score or a time: finite and not below 0."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return float(value)
    message = f"expected {what}, a number from 0 on, got {shown(value)}."
    raise refuse(row, where, message, "Write such a number, or leave the field out.")


def a_rank(value: Json, row: int | None, where: str, what: str = "a weight") -> float:
    """A weight, or one of the words of `RANKS`."""
    return a_number(value if (rank := rank_of(value)) is None else rank, row, where, what)


def a_probability(value: Json, row: int | None, where: str) -> float:
    """exp(value) of a log probability."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= 0:
        return math.exp(value)
    message = f"expected a log probability, a number up to 0, got {shown(value)}."
    raise refuse(row, where, message, "Write the logprob as the model gave it.")


def json_text(value: object) -> str:
    """Return readable JSON."""
    return json.dumps(value, ensure_ascii=False)


def cell_value(value: object) -> object:
    """Return a value as cell text: objects and lists as JSON, booleans as true and false."""
    return json_text(value) if isinstance(value, (dict, list, bool)) else value


def objects_in(value: Json) -> list[JsonObject]:
    """Return the objects in a list; none for other values."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def first_of(record: JsonObject, names: Sequence[str]) -> Json:
    """The value of the first of these fields that is there and not null."""
    return next((record[name] for name in names if record.get(name) is not None), None)


CANDIDATES, SOURCES, TRUTH = "candidates", "sources", "truth"
"""The columns that every reading made here has, or may have: who named each label, as JSON; and the true label."""

NEEDS_ROWS = (
    "Nothing in it describes the rows, so there is nothing to learn from: the table of the rows is needed, with a "
    "column of the same names. Put both files into one zip, or give the table of the rows together with this file."
)
_ADDRESSES = ("http://", "https://", "s3://", "gs://", "azure-blob://", "/data/")


@dataclass
class Row:
    """One item.

    Attributes
    ----------
    cells : values of the source, by column
    weights : weight of each named label; None if the source has no weights
    sources : the annotators or models that named each label
    ruled_out : labels that someone ruled out; used only if no label is named
    truth : the true label, where the source knows it
    vector : of label vectors, in place of all these: {label: 1 right, 0 not right, None not asked}
    """

    cells: Cells
    weights: dict[str, float | None] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    ruled_out: set[str] = field(default_factory=set)
    truth: str | None = None
    vector: dict[str, int | None] | None = None

    def name(self, label: str, weight: float | None = None, source: str | None = None) -> None:
        """Name a label. Weights of one label are added up."""
        before = self.weights.get(label)
        self.weights[label] = before if weight is None else (before or 0.0) + weight
        if source is not None and source not in self.sources.setdefault(label, []):
            self.sources[label].append(source)


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
) -> TableReading:
    """The reading of these rows.

    A row that no one named a label of can be any class but those ruled out; a label of weight 0 is none of its
    candidates. Notes say how often. A true label outside the candidates is kept: the import asks what it means.

    describing : columns that may be features or shown; None: all of the source's own
    row_id : the column of ids; it is used if they are all there and all different
    text : the column that the format says is a text
    classes : names of classes beyond those that occur
    has_rows : whether no other file describes the rows, even if nothing here does
    """
    if not rows:
        raise refusal("There are no rows in it.", "Choose a file with at least one record.")
    if any(row.vector is not None for row in rows):
        return _vectors_reading(rows, format_name, describing, row_id, notes)
    said = list(notes)
    weightless = sum(_drop_weightless(row) for row in rows)
    if weightless:
        said.append(
            f"{counted(weightless, 'label')} with the weight 0 {either(weightless, 'is', 'are')} no candidate of the "
            "row."
        )
    named = {
        label for row in rows for label in (*row.weights, *row.ruled_out, row.truth) if label is not None
    }
    every = sorted_classes(list(named | set(classes)))
    if not every:
        raise refusal(
            "No label is named anywhere in it.",
            "Export it with answers, predictions or options, and import that.",
        )
    sets, open_rows = _candidate_cells(rows, every)
    if open_rows:
        said.append(
            f"{counted(len(open_rows), 'row')} {either(len(open_rows), 'has', 'have')} no label named: every class "
            f"stays possible there, but for those ruled out. The first is row {open_rows[0] + 1}."
        )
    said += _drop_odd_truths(rows)
    own = {name: None for row in rows for name in row.cells}
    names = dict(zip(own, _free_names(own), strict=True))
    columns: dict[str, list[object]] = {
        names[name]: [cell_value(row.cells.get(name)) for row in rows] for name in own
    }
    columns[CANDIDATES] = list(sets)
    if any(row.sources for row in rows):
        columns[SOURCES] = [json_text(row.sources) if row.sources else "" for row in rows]
    truth = TRUTH if any(row.truth is not None for row in rows) else None
    if truth is not None:
        columns[TRUTH] = [row.truth for row in rows]
    cells = cells_of(columns)
    id_column = _id_column(cells, None if row_id is None else names.get(row_id), said)
    reserved = (CANDIDATES, SOURCES, TRUTH, row_id)  # what a source calls so tells the label
    describe = [
        names[name] for name in own if (describing is None or name in describing) and name not in reserved
    ]
    if not describe and not has_rows:
        said.append(NEEDS_ROWS)
    known = {"id": id_column, "truth": truth, "text": names.get(text or "")}
    roles, about_columns = _roles(cells, describe, every, known)
    return TableReading(cells, format_name, roles, None, (*said, *about_columns), dict(groups or {}))


OWN_VECTOR = "winnow_vector"
"""Where other tools carry a row's label vector, as JSON: `{label: 1, 0 or null}`, all labels of the project."""
OWN_WEIGHTS = "winnow_weights"
"""Where tools without a place for weights carry those of a row's candidates, as JSON."""
_CELLS = {1: "1", 0: "0", None: ""}


def add_own(found: Row, told: Mapping[str, Json], row: int, inside: str = "") -> None:
    """Give the row the true label and the voters that were written here with it, and take these out of its cells.

    told : the fields that may hold them      inside : what is before their names in messages
    Voters of labels that the row does not name any more are left out. Raises TableError.
    """
    for name in (OWN_TRUTH, OWN_VOTERS):
        found.cells.pop(name, None)
    if (truth := told.get(OWN_TRUTH)) not in (None, ""):
        found.truth = a_name(truth, row, inside + OWN_TRUTH)
    if told.get(OWN_VOTERS):
        where = inside + OWN_VOTERS
        for label, voters in own_object(told[OWN_VOTERS], row, where).items():
            for voter in a_list(voters, row, where):
                if label in found.weights:
                    found.name(label, None, a_name(voter, row, where, "a voter"))


def own_object(value: Json, row: int, where: str) -> JsonObject:
    """The object that was written here as JSON, for tools that keep a text as it is. Raises TableError."""
    try:
        told = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        told = value
    return an_object(told, row, where)


def own_vector(value: Json, row: int, where: str) -> dict[str, int | None] | None:
    """The label vector that was written as `OWN_VECTOR`; None if there is none. Raises TableError."""
    if value is None or value == "":
        return None
    found = own_object(value, row, where)
    for label, cell in found.items():
        if isinstance(cell, bool) or not (cell is None or (isinstance(cell, int) and cell in _CELLS)):
            message = f"expected 1, 0 or null for {shown(label)}, got {shown(cell)}."
            raise refuse(row, where, message, "Leave the field as Winnow wrote it.")
    return {a_name(label, row, where): cell for label, cell in found.items()}  # type: ignore[misc]


def agreed(said: Mapping[str, Collection[int | None]]) -> dict[str, int | None]:
    """A label vector of what people said of each label: None, not asked, where they differ."""
    return {label: next(iter(cells)) if len(cells) == 1 else None for label, cells in said.items()}


def unlike_note(said: Iterable[Mapping[str, Collection[int | None]]]) -> list[str]:
    """The note on how many labels people differ, in the vectors of all rows; none where they agree."""
    unlike = sum(len(cells) > 1 for of_row in said for cells in of_row.values())
    return [f"Labels about which people differ, which are read as not asked: {unlike}."] if unlike else []


def _vectors_reading(
    rows: Sequence[Row],
    format_name: str,
    describing: Collection[str] | None,
    row_id: str | None,
    notes: Iterable[str],
) -> TableReading:
    """The reading of rows with label vectors: a column of 1, 0 or nothing for each label."""
    labels = tuple(dict.fromkeys(label for row in rows for label in row.vector or ()))
    own = list(dict.fromkeys(name for row in rows for name in row.cells))
    new_names = names_beside(own, labels)
    names = {name: new_names.get(name, name) for name in own}
    columns: dict[str, list[object]] = {
        names[name]: [cell_value(row.cells.get(name)) for row in rows] for name in own
    }
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
    """The column, if it names every row; `said` gets a note if it does not."""
    if name is None or _names_rows(cells[name]):
        return name
    said.append(f"Column {name!r} is empty or repeats itself in some rows: it is kept, not used as their id.")
    return None


def _candidate_cells(rows: Sequence[Row], every: tuple[str, ...]) -> tuple[list[str], list[int]]:
    """The cells of candidates, and the rows (from 0) that no one named a label of."""
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
    """Counts without a point. What is named without a weight, next to others that have one, weighs as much as a
    vote."""
    weight = 1.0 if weight is None else float(weight)
    return int(weight) if weight.is_integer() and weight < 1e15 else weight


def _drop_weightless(row: Row) -> int:
    gone = [label for label, weight in row.weights.items() if weight == 0]
    for label in gone:
        del row.weights[label]
        row.sources.pop(label, None)
    return len(gone)


def _drop_odd_truths(rows: Sequence[Row]) -> list[str]:
    """Take away true labels that someone has ruled out; say so."""
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


def _free_names(own: Iterable[str]) -> list[str]:
    """Names of the source's columns that leave those of the candidates free."""
    taken = {CANDIDATES, SOURCES, TRUTH} | set(own)
    names = []
    for name in own:
        new, number = name, 2
        while name in (CANDIDATES, SOURCES, TRUTH) and new in taken:
            new, number = f"{name} {number}", number + 1
        taken.add(new)
        names.append(new)
    return names


def _names_rows(cells: pd.Series[str]) -> bool:
    stripped = cells.str.strip()
    return bool(stripped.is_unique and (stripped != "").all())


def _roles(
    cells: pd.DataFrame, describe: list[str], classes: tuple[str, ...], known: dict[str, str | None]
) -> tuple[Roles, list[str]]:
    """The roles, those of the describing columns by a guess; and what is to be said of these columns."""
    notes = []
    labels = set(classes)
    tell = [name for name in describe if _tells_the_label(cells[name], labels)]
    if tell:
        notes.append(
            f"{_columns(tell)} {_hold(tell)} labels and would give the answer away, so nothing is learned from "
            f"{'it' if len(tell) == 1 else 'them'}. Choose the column as the true label, if it is that."
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
        voters=SOURCES if SOURCES in cells else None,
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
    """Whether it holds nothing but labels, in words: numbers may well be those of the classes by chance."""
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
