"""The disambiguated table as Parquet, and the probabilities of all classes as tools read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from plcore.arrays.types import BoolArray, FloatArray
from plcore.tables.readers.hugging_face import Told, written_metadata
from plcore.tables.text.arrow import columns_of_text
from plcore.tables.text.types import typed, words_of
from plcore.tables.writers.disambiguated import (
    ANSWERS,
    BEFORE,
    CANDIDATES,
    CONFIDENCE,
    LABEL,
    OUTSIDE,
    OWN_ID,
    OWN_TRUTH,
    OWN_VOTERS,
    PIECE_ROWS,
    SOURCE,
    VERSION,
    WEIGHTS,
    Disambiguated,
    Tell,
    absent_columns,
    names_beside,
)

CLASS_LABEL, LABEL_NAME = "label", "label_name"
_NAMES = pa.list_(pa.string())
_WEIGHTED = pa.struct({"label": pa.string(), "weight": pa.float64()})
_ANSWER = pa.struct(
    {
        "annotator": pa.string(),
        "kind": pa.string(),
        "labels": _NAMES,
        "at": pa.string(),
        "seconds": pa.float64(),
        "model_version": pa.string(),
    }
)
_ADDED: dict[str, pa.DataType] = {
    OWN_ID: pa.string(),
    BEFORE: _NAMES,
    CANDIDATES: _NAMES,
    WEIGHTS: pa.list_(_WEIGHTED),
    LABEL: pa.string(),
    SOURCE: pa.string(),
    CONFIDENCE: pa.float64(),
    VERSION: pa.string(),
    OUTSIDE: pa.float64(),
    ANSWERS: pa.list_(_ANSWER),
    OWN_TRUTH: pa.string(),
    OWN_VOTERS: pa.string(),
    CLASS_LABEL: pa.int64(),
    LABEL_NAME: pa.string(),
}


Opens = Callable[[BinaryIO, pa.Schema], Any]
"""A function that opens a file for batches of this schema: a writer of Parquet, or of Arrow IPC."""


def write_parquet(table: Disambiguated, file: BinaryIO, tell: Tell, opened: Opens = pa.parquet.ParquetWriter) -> None:
    """Write the table as Parquet, a group of some thousand rows at a time."""
    id_column = table.id_column()
    absent = absent_columns(table, without_id=id_column is not None)
    added = {name: kind for name, kind in _ADDED.items() if name not in absent}
    columns = [str(name) for name in table.cells.columns]
    new_names = names_beside(columns, list(added))
    originals = [new_names.get(name, name) for name in columns]
    types = [table.types.get(name, pa.string()) for name in columns]
    schema = pa.schema({**dict(zip(originals, types, strict=True)), **added})
    told = Told(
        original=tuple(originals),
        candidates=CANDIDATES if table.weights is None else WEIGHTS,
        id=OWN_ID if id_column is None else new_names.get(id_column, id_column),
        truth=OWN_TRUTH if OWN_TRUTH in added else "",
        voters=OWN_VOTERS if OWN_VOTERS in added else "",
    )
    schema = schema.with_metadata(written_metadata(schema, {CLASS_LABEL: table.classes}, told))
    words = categories_of(table.cells, types)
    with opened(file, schema) as writer:
        for piece in table.pieces(tell=tell):
            arrays, found = typed_columns(piece.cells, types, words), _added(piece)
            writer.write_batch(pa.record_batch([*arrays, *(found[name] for name in added)], schema=schema))


write_arrow = partial(write_parquet, opened=pa.ipc.new_file)
"""Writes the same as Arrow IPC."""


def categories_of(cells: pd.DataFrame, types: Sequence[pa.DataType]) -> dict[int, pa.StringArray]:
    """Return the words of the columns of categories, by their places: all parts of a file need the same."""
    places = [place for place, kind in enumerate(types) if pa.types.is_dictionary(kind)]
    columns = columns_of_text(cells.iloc[:, places])
    return {place: words_of(column) for place, column in zip(places, columns, strict=True)}


def typed_columns(
    cells: pd.DataFrame, types: Sequence[pa.DataType], words: Mapping[int, pa.StringArray]
) -> list[pa.Array]:
    """Return the columns of these text cells, each with its type. words : as `categories_of` the whole table"""
    return [
        column.cast(pa.string()) if kind == pa.string() else typed(column, kind, words.get(place))
        for place, (column, kind) in enumerate(zip(columns_of_text(cells), types, strict=True))
    ]


def _added(piece: Disambiguated) -> dict[str, pa.Array]:
    rows = range(len(piece.ids))
    names = pa.array(piece.classes, pa.string())
    after, weights = piece.left(), piece.weights_left()
    carried = piece.carried()
    given = piece.answers_by_row()
    called = names.take(pa.array(piece.label, pa.int64(), mask=piece.label < 0))
    arrays = {
        OWN_ID: pa.array([str(name) for name in piece.ids], pa.string()),
        BEFORE: _lists(piece.candidates_before, names),
        CANDIDATES: _lists(after, names),
        CLASS_LABEL: pa.array(piece.label, pa.int64(), mask=piece.label < 0),
        LABEL_NAME: called,
        LABEL: called,
        SOURCE: pa.array([str(name) for name in piece.source], pa.string()),
        CONFIDENCE: pa.array(piece.probability, pa.float64(), from_pandas=True),
        VERSION: pa.array([piece.version_of(row) for row in rows], pa.string()),
        OWN_TRUTH: pa.array([own.get(OWN_TRUTH) for own in carried], pa.string()),
        OWN_VOTERS: pa.array([own.get(OWN_VOTERS) for own in carried], pa.string()),
        ANSWERS: pa.array(
            [[{**one, "annotator": one["person"]} for one in given.get(row, ())] for row in rows], pa.list_(_ANSWER)
        ),
    }
    if weights is not None:
        arrays[WEIGHTS] = _lists(after, names, weights)
    if piece.outside is not None:
        arrays[OUTSIDE] = pa.array(piece.outside, pa.float64(), from_pandas=True)
    return arrays


def _lists(candidates: BoolArray, names: pa.Array, weights: FloatArray | None = None) -> pa.Array:
    """Return the names of the candidates of each row, or each name with its weight."""
    rows, places = np.nonzero(candidates)
    starts = pa.array(np.concatenate([[0], np.cumsum(candidates.sum(axis=1))]), pa.int32())
    values = names.take(pa.array(places))
    if weights is not None:
        values = pa.StructArray.from_arrays([values, pa.array(weights[rows, places])], fields=list(_WEIGHTED))
    return pa.ListArray.from_arrays(starts, values)


PREFIX = "winnow_probability:"


def write_probabilities(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the probabilities some thousand rows at a time. Raises ValueError if the table has none."""
    shares = table.probabilities
    if shares is None:
        raise ValueError("This table has no probabilities of its classes. Fix: export the project's table as CSV.")
    schema = pa.schema(
        {
            OWN_ID: pa.string(),
            LABEL: pa.string(),
            SOURCE: pa.string(),
            **{f"{PREFIX}{name}": pa.float64() for name in table.classes},
        }
    )
    names = pa.array(table.classes, pa.string())
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for start in range(0, len(table.ids), PIECE_ROWS):
            rows = slice(start, min(start + PIECE_ROWS, len(table.ids)))
            label, found = np.asarray(table.label[rows]), shares[rows]
            arrays = [
                pa.array([str(name) for name in table.ids[rows]], pa.string()),
                names.take(pa.array(label, pa.int64(), mask=label < 0)),
                pa.array([str(name) for name in table.source[rows]], pa.string()),
                *(pa.array(np.ascontiguousarray(found[:, place])) for place in range(found.shape[1])),
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            tell(rows.stop)
