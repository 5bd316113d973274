"""The formats in which label vectors are exported, each written in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from plcore.arrays.words import quoted
from plcore.tables.columns import Finder
from plcore.tables.readers.candidate_rows import Row, json_text, rows_reading
from plcore.tables.readers.hugging_face import Told, written_metadata
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, own_roles
from plcore.tables.readers.tools.argilla_prodigy import prodigy_vectors
from plcore.tables.readers.tools.votes import long_votes
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import csv_header, csv_rows
from plcore.tables.writers.disambiguated import OWN_ID, LabelVectorTable, Tell, names_beside
from plcore.tables.writers.label_studio import label_studio_vectors, write_label_studio_config
from plcore.tables.writers.npz import write_vector_npz
from plcore.tables.writers.parquet import PREFIX, Opens, categories_of, typed_columns
from plcore.tables.writers.records import argilla_records, doccano_lines
from plcore.tables.writers.sheets import are_numbers, called_id, own_id, write_workbook
from plcore.tables.writers.writing import FILE_FORMATS, FileFormat, text_writer

LABELS, NOT_LABELS, CELLS = "winnow_labels", "winnow_not_labels", "winnow_cells"
_CELL = pa.struct(
    {
        "label": pa.string(),
        "value": pa.int8(),
        "probability": pa.float64(),
        "predicted": pa.int8(),
        "source": pa.string(),
    }
)


def _wide_frames(table: LabelVectorTable) -> Iterator[pd.DataFrame]:
    """Yield one line per row, with the resulting cells in place of their columns, in pieces. If no column named `id`
    holds the ids, `winnow_id` does."""
    numbered = not called_id(table)
    for piece in table.pieces():
        frame = piece.wide()
        if numbered:
            new_names = names_beside(frame.columns, [OWN_ID])
            ids = pd.Series(list(piece.found.ids), dtype="str", index=frame.index)
            frame = frame.rename(columns=new_names).assign(**{OWN_ID: ids})
        yield frame


def write_wide_csv(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write one line per row, with the resulting cells in place of their columns."""
    _write_frames(_wide_frames(table), file, tell)


def write_wide_xlsx(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write the same as a workbook. Raises ValueError if the rows, columns or text in a cell exceed what a sheet
    holds."""
    first = next(_wide_frames(table.chosen(np.arange(min(1, len(table.ids))))))
    names = [str(name) for name in first.columns]
    numeric = [
        is_number or name.startswith(_ABOUT[:2])
        for name, is_number in zip(names, are_numbers(names, table.types), strict=True)
    ]
    columns = (
        [pa.array(series.array, pa.large_string()) for _, series in frame.items()] for frame in _wide_frames(table)
    )
    write_workbook(len(table.ids), names, numeric, columns, file, tell)


def read_wide(cells: pd.DataFrame, name: str) -> TableReading:
    """Read the table with its label columns, whatever their cells hold. Never raises TableError."""
    columns = _label_columns(cells)
    original = [str(one) for one in cells.columns if one != OWN_ID and not str(one).startswith(_ABOUT)]
    roles = Roles(label_columns=columns, label_vectors=True, id=own_id(cells))
    return TableReading(cells, name, own_roles(cells, original, roles), typed=True)


_ABOUT = ("winnow_probability:", "winnow_predicted:", "winnow_source:")


def _label_columns(cells: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns with the cells of the labels that `winnow_probability:` names: those before it, or those named
    like the labels if they are in their original places. Empty if they are missing."""
    names = [str(one) for one in cells.columns]
    labels = [one.removeprefix(_ABOUT[0]) for one in names if one.startswith(_ABOUT[0])]
    first = names.index(_ABOUT[0] + labels[0])
    front = names[max(0, first - len(labels)) : first]
    if [_without_before(one) for one in front] == [_without_before(one) for one in labels]:
        return tuple(front)
    by_name = {one.strip(): one for one in reversed(names)}
    return tuple(by_name[label] for label in labels) if set(labels) <= by_name.keys() else ()


def _without_before(name: str) -> str:
    while name.startswith("before_"):
        name = name.removeprefix("before_")
    return name


OWN_WIDE = TableTool(
    "table of label vectors that Winnow exported",
    read_wide,
    Fingerprint(frozenset(), starts=_ABOUT),
    lambda cells: bool(_label_columns(cells)),
)


def write_long_csv(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write one line per cell: id, label, value, probability, predicted, source."""
    n_labels = len(table.found.labels)
    _write_frames((piece.found.long() for piece in table.pieces()), file, lambda lines: tell(lines // n_labels))


def read_long(cells: pd.DataFrame, name: str) -> TableReading:
    """Read one row for each id, with the values of its labels. Raises TableError."""
    rows: dict[str, Row] = {}
    finder = Finder.of(cells)
    lines = zip(*(cells[one].tolist() for one in ("id", "label", "value")), strict=True)
    for place, (row_id, label, value) in enumerate(lines):
        row = rows.setdefault(row_id, Row({"id": row_id}, vector={}))
        if value not in _VALUES:
            finder.add(place, "value", f"expected 1, 0 or nothing, got {quoted(value)}.", "Correct the cell.")
        elif row.vector is not None:
            row.vector[label] = _VALUES[value]
    finder.refuse()
    return rows_reading(list(rows.values()), name, describing=(), row_id="id")


_VALUES = {"1": 1, "0": 0, "": None}
OWN_LONG = TableTool(
    "table of cells that Winnow exported",
    read_long,
    Fingerprint(frozenset(("id", "label", "value", "probability", "predicted", "source"))),
    has_rows=False,
)


def _write_frames(frames: Iterator[pd.DataFrame], file: BinaryIO, tell: Tell) -> None:
    done = 0
    for frame in frames:
        if done == 0:
            file.write(csv_header([str(name) for name in frame.columns]))
        columns = [pa.array(frame.iloc[:, place], pa.large_string()) for place in range(frame.shape[1])]
        file.write(csv_rows(columns))
        done += len(frame)
        tell(done)


def write_vector_lines(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write a line of JSON for each row: the original columns except those of the labels; `winnow_labels`, those that
    are right, `winnow_not_labels`, those that are not, and `winnow_cells`, lists of the facts about each label.
    `winnow_id` names the row."""
    for piece in table.pieces(tell=tell):
        kept = piece.kept()
        cells = kept.rename(columns=names_beside(kept.columns, [OWN_ID, LABELS, NOT_LABELS, CELLS]))
        lines = []
        for name, record, lists in zip(piece.found.ids, cells.to_dict("records"), piece.lists(), strict=True):
            # An object of lists: in a file with one line, a list of objects would be taken for the table.
            known = {field.name: [cell[field.name] for cell in lists["cells"]] for field in _CELL}
            added = {LABELS: lists["labels"], NOT_LABELS: lists["not_labels"], CELLS: known}
            line: dict[str, object] = {OWN_ID: name, **{str(key): value for key, value in record.items()}, **added}
            lines.append(json_text(line) + "\n")
        file.write("".join(lines).encode())


def write_vector_parquet(
    table: LabelVectorTable, file: BinaryIO, tell: Tell, opened: Opens = pa.parquet.ParquetWriter
) -> None:
    """Write the original columns, except those of labels, with the types of their source; `winnow_labels` and
    `winnow_not_labels`, lists of ClassLabels; `winnow_cells`, the facts about each label; and, if no column holds the
    ids, `winnow_id`."""
    id_column, kept = table.id_column(), table.kept()
    numbered = [OWN_ID] if id_column is None else []
    new_names = names_beside(kept.columns, [*numbered, LABELS, NOT_LABELS, CELLS])
    originals = [new_names.get(str(name), str(name)) for name in kept.columns]
    numbers = pa.list_(pa.int64())
    kinds = {LABELS: numbers, NOT_LABELS: numbers, CELLS: pa.list_(_CELL)}
    types = [table.types.get(str(name), pa.string()) for name in kept.columns]
    ids = dict.fromkeys(numbered, pa.string())
    schema = pa.schema({**dict(zip(originals, types, strict=True)), **ids, **kinds})
    row_id = OWN_ID if id_column is None else new_names.get(id_column, id_column)
    told = Told(tuple(originals), LABELS, row_id, NOT_LABELS)
    names = list(table.found.labels)
    schema = schema.with_metadata(written_metadata(schema, {LABELS: names, NOT_LABELS: names}, told))
    number = {name: place for place, name in enumerate(names)}
    words = categories_of(table.kept(), types)
    with opened(file, schema) as writer:
        for piece in table.pieces(tell=tell):
            cells, lists = piece.kept(), piece.lists()
            arrays = typed_columns(cells, types, words)
            arrays += [pa.array(list(piece.found.ids), pa.string())] * len(numbered)
            for column in ("labels", "not_labels"):
                arrays.append(pa.array([[number[name] for name in row[column]] for row in lists], numbers))
            arrays.append(pa.array([row["cells"] for row in lists], pa.list_(_CELL)))
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def write_vector_probabilities(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """The id and, for each label, how likely it is right; null if nothing is known about it."""
    columns = {f"{PREFIX}{label}": pa.float64() for label in table.found.labels}
    schema = pa.schema({OWN_ID: pa.string(), **columns})
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for piece in table.pieces(tell=tell):
            shares = piece.found.probabilities
            arrays = [
                pa.array(list(piece.found.ids), pa.string()),
                *(pa.array(shares[:, place], pa.float64(), from_pandas=True) for place in range(shares.shape[1])),
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _tool(
    name: str, write: Callable[[LabelVectorTable, BinaryIO, Tell], None], about: str
) -> FileFormat[LabelVectorTable]:
    """Return the format, named like that of one-label projects."""
    other = FILE_FORMATS[name]
    return FileFormat(name, other.title, other.suffix, about, write)


_ALL = (
    _tool(
        "csv",
        write_wide_csv,
        "Your rows, with a column for each label: 1, 0 or empty; every spreadsheet program opens it.",
    ),
    _tool("xlsx", write_wide_xlsx, "The columns of the CSV file as a sheet; Excel and LibreOffice open it."),
    FileFormat(
        "cells",
        "CSV, a line for each cell",
        ".cells.csv",
        "A line for each label of each row, with its value, probability and source; for pivot tables and statistics.",
        write_long_csv,
    ),
    _tool(
        "jsonl",
        write_vector_lines,
        "A JSON object for each row, with the labels that are right, those that are not, and every cell; for programs.",
    ),
    _tool(
        "parquet",
        write_vector_parquet,
        "The same with types, the labels as lists; datasets of Hugging Face, pandas and polars open it.",
    ),
    _tool(
        "npz",
        write_vector_npz,
        "Ids, labels, values and probabilities as arrays, without the original columns; numpy.load opens it.",
    ),
    _tool(
        "probabilities",
        write_vector_probabilities,
        "Ids and a column for each label with how likely it is right; pandas and polars open it.",
    ),
    _tool("arrow", partial(write_vector_parquet, opened=pa.ipc.new_file), FILE_FORMATS["arrow"].about),
    _tool(
        "labelstudio",
        text_writer(label_studio_vectors),
        "A task for each row, with each person's answer as an annotation; Label Studio imports it.",
    ),
    _tool(
        "labelstudio-config",
        write_label_studio_config,
        "The labelling interface for these tasks: which labels are right, and which are not.",
    ),
    _tool(
        "votes",
        text_writer(long_votes),
        "Only the answers: row, person, label, yes or no, time and seconds; a line for each label.",
    ),
    _tool(
        "prodigy",
        text_writer(prodigy_vectors),
        "A task for each row with all labels as options, those that are right accepted; Prodigy's choice opens it.",
    ),
    _tool(
        "doccano",
        text_writer(doccano_lines),
        "A line for each row with the labels that are right; doccano imports it for text classification.",
    ),
    _tool(
        "argilla",
        text_writer(argilla_records),
        "A record for each row; which labels are right, and which are not, is suggested; Argilla 2 reads it.",
    ),
)

VECTOR_FORMATS: Mapping[str, FileFormat[LabelVectorTable]] = {each.name: each for each in _ALL}
"""The formats by name, the most common first."""
