"""Declarations of tools: the names by which their files are recognised, and the mapping of records to rows.

A tool is an entry in `plcore.tables.readers.registry`. If its records simply name labels, it needs only a `RecordMap`
in `plcore.tables.readers.tools.plain_records`; other tools have a function in a module of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from plcore.tables.readers.candidate_rows import (
    ADDED,
    OWN_VECTOR,
    At,
    Best,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    add_own,
    read_each,
    rows_reading,
)
from plcore.tables.readers.reading import Fingerprint, TableReading

LOOK = 50
"""Number of records examined to recognise a tool."""


@dataclass(frozen=True)
class Fields:
    """Fields that only one tool writes together.

    needs : fields of every record, with the type of their values; `object` is any
    one_of : groups of fields; every record has at least one field of each group
    inside : fields of the object in a field, or of every object in its list
    some : at least one record has one of these, with a value of the type
    """

    needs: Mapping[str, type] = field(default_factory=dict)
    one_of: tuple[Collection[str], ...] = ()
    inside: Mapping[str, Collection[str]] = field(default_factory=dict)
    some: Mapping[str, type] = field(default_factory=dict)

    def match(self, records: Sequence[object]) -> bool:
        """Whether the first records have these fields."""
        seen = [one for one in records[:LOOK] if isinstance(one, dict)]
        return (
            0 < len(seen) == len(records[:LOOK])
            and all(map(self._are_in, seen))
            and (not self.some or any(_holds(one, *each) for one in seen for each in self.some.items()))
        )

    def _are_in(self, record: JsonObject) -> bool:
        return (
            all(_holds(record, *each) for each in self.needs.items())
            and all(any(name in record for name in group) for group in self.one_of)
            and all(_all_have(record.get(name), names) for name, names in self.inside.items())
        )


def _holds(record: JsonObject, name: str, kind: type) -> bool:
    return name in record and isinstance(record[name], kind)


def _all_have(value: Json, names: Collection[str]) -> bool:
    return all(
        isinstance(one, dict) and all(name in one for name in names)
        for one in (value if isinstance(value, list) else [value])
    )


@dataclass(frozen=True)
class RecordTool:
    """A tool that writes JSON objects.

    name : of the tool and its file, in words: "Label Studio JSON"
    known_by : alternatives that each identify its records; or a function, which never raises
    reader : returns the table in the records; gets the name. Raises TableError
    unpack : returns the records of a file that holds them in one object
    """

    name: str
    known_by: tuple[Fields, ...] | Callable[[Records], bool]
    reader: Callable[[Records, str], TableReading]
    unpack: Callable[[Records], Records] = lambda records: records

    def fits(self, records: Records) -> bool:
        """Whether the tool wrote these records, according to their field names."""
        seen = self.unpack(records)
        if not isinstance(self.known_by, tuple):
            return self.known_by(seen)
        return any(fields.match(seen) for fields in self.known_by)

    def read(self, records: Records) -> TableReading:
        """Return the table in the records. Raises TableError."""
        return self.reader(self.unpack(records), self.name)


@dataclass(frozen=True)
class RecordFiles:
    """A tool that writes several JSON files together.

    name : of the tool and its files, in words
    fits : whether the tool wrote these records, given by file name; never raises
    reader : returns the table in them; gets the name. Raises TableError
    """

    name: str
    fits: Callable[[Mapping[str, Records]], bool]
    reader: Callable[[Mapping[str, Records], str], TableReading]


@dataclass(frozen=True)
class TableTool:
    """A table whose rows are not items, but votes, scores or detections.

    name : of the tool and its table, in words
    reader : returns the rows of the cells; gets the name. Raises TableError
    fingerprint : the columns that identify the tool; None for a shape that several tools write
    also : further condition on the cells
    has_rows : whether it describes its rows, so that it is never about the rows of another file
    takes_typed : whether the reader has an option `typed`, for cells whose source distinguishes words such as NA from
        missing values
    """

    name: str
    reader: Callable[..., TableReading]
    fingerprint: Fingerprint | None = None
    also: Callable[[pd.DataFrame], bool] | None = None
    has_rows: bool = True
    takes_typed: bool = False

    def fits(self, cells: pd.DataFrame) -> bool:
        """Whether this is a table of this tool, according to its column names."""
        return self.has_columns(cells) and (self.also is None or self.also(cells))

    def has_columns(self, cells: pd.DataFrame) -> bool:
        """Whether the cells have the columns of such a table."""
        return self.fingerprint is None or self.fingerprint.matches(cells.columns)

    def read(self, cells: pd.DataFrame, *, typed: bool = False) -> TableReading:
        """Return the rows. Raises TableError, also for a table of another tool."""
        if self.fingerprint is not None:
            self.fingerprint.check(cells.columns, self.name)
        return self.reader(cells, self.name, **({"typed": typed} if self.takes_typed else {}))


@dataclass(frozen=True)
class LabelFields:
    """A field that names labels, as a list of names or of objects, and the fields that belong to it.

    names : fields of an object that may hold the label; the first present is used
    weights : fields of an object that may hold its weight; the first present is used, else the field logprob
    scores : the field with a list of weights, one for each label
    by : the field of an object with the annotator, and a description: ("user", "a user")
    weight : of a label without its own
    """

    field: str
    names: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    scores: str | None = None
    by: tuple[str, str] | None = None
    weight: float | None = None

    def of(self, record: At) -> Iterator[tuple[str, float | None, str | None]]:
        """Yield label, weight and source of each named label. Raises TableError."""
        values = record[self.field].items()
        scores = None if self.scores is None else record[self.scores].items_for(values, "a score", "label")
        for place, value in enumerate(values):
            weight, source = self.weight, None
            if self.names and (self.by is not None or isinstance(value.value, dict)):
                if self.by is not None:
                    source = value[self.by[0]].name_or_none(self.by[1])
                label = value.first(self.names).name()
                if self.weights and (given := value.first(self.weights)).value is not None:
                    weight = given.rank("a probability")
                elif self.weights and value["logprob"].value is not None:
                    weight = value["logprob"].probability()
            else:
                label = value.name()
            yield label, weight if scores is None else scores[place].number("a score"), source


@dataclass(frozen=True)
class RecordMap:
    """Records that each name labels of one row.

    labels : the fields with labels
    about : fields that are not columns; neither are those of `labels`
    row_id, text : names of these columns
    truth, model : the fields with the true label, and with the source of all labels
    cells : returns the cells of a record, instead of all fields that are columns
    one_a_row : whether records with the same id are one row
    notes : returns notes about the records
    added : as in `rows_reading`
    """

    labels: tuple[LabelFields, ...]
    about: Collection[str] = ()
    row_id: str = "id"
    text: str | None = None
    truth: str | None = None
    model: str | None = None
    cells: Callable[[At], Cells] | None = None
    one_a_row: bool = False
    notes: Callable[[Records], Iterable[str]] = lambda _records: ()
    added: tuple[str, str, str] = ADDED

    def __call__(self, records: Records, name: str) -> TableReading:
        """Read these records. Raises TableError."""
        rows = read_each(records, self.row)
        if self.one_a_row:
            rows = _merged(rows, self.row_id)
        return rows_reading(rows, name, row_id=self.row_id, text=self.text, notes=self.notes(records), added=self.added)

    def row(self, record: At) -> Row:
        """Convert a record to a row. Raises TableError."""
        if self.cells is not None:
            found = Row(self.cells(record))
        else:
            taken = {*self.about, *(name for one in self.labels for name in (one.field, one.scores))}
            found = Row({name: value for name, value in record.object().items() if name not in taken})
        if self.truth is not None:
            found.truth = record[self.truth].name_or_none("a label")
        model = None if self.model is None else record[self.model].name_or_none("a model")
        best: Best = {}
        for labels in self.labels:
            for label, weight, source in labels.of(record):
                if labels.by is None:
                    found.name_best(label, weight, source or model, best)
                else:  # people without a name are several
                    found.name(label, weight, source or model)
        add_own(found, record)
        if (vector := record[OWN_VECTOR].own_vector()) is not None:
            # A label that was right and is no longer named becomes unknown, because it was not ruled out.
            kept = {label: None if cell == 1 else cell for label, cell in vector.items()}
            found.vector = kept | dict.fromkeys(found.weights, 1)
        return found


def _merged(found: Iterable[Row], row_id: str) -> list[Row]:
    """Merge the records of each id into one row, and sum their weights."""
    rows: dict[Hashable, Row] = {}
    for place, one in enumerate(found):
        key = one.cells.get(row_id)
        known = rows.setdefault(place if key is None else f"id {key}", one)
        if known is not one:
            known.cells = {**one.cells, **known.cells}
            for label, weight in one.weights.items():
                known.name(label, weight)
                for source in one.sources.get(label, ()):
                    known.name(label, None, source)
    return list(rows.values())
