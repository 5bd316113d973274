"""The disambiguated table as Parquet, which Hugging Face's `datasets` opens with the types of its features.

The original columns are text. Beside them: `id`, where none of them holds the ids; `candidates_before` and
`candidates`, lists of names; `weights`, the candidates now, each with its weight, where anything was weighed; `label`,
a ClassLabel (null: open); `source`, `probability`, `model_version`; `outside`, where blind checks have shown it to
happen, how likely the truth is none of the candidates; and `answers`, a list of what people said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from plcore.common.types import BoolArray
from plcore.tables.formats.disambiguated import Disambiguated, Tell, names_beside
from plcore.tables.formats.hugging_face import Told, written_metadata
from plcore.tables.text_columns import columns_of_text

ID, CANDIDATES, WEIGHTS, LABEL, OUTSIDE = "id", "candidates", "weights", "label", "outside"
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
    ID: pa.string(),
    "candidates_before": _NAMES,
    CANDIDATES: _NAMES,
    WEIGHTS: pa.list_(_WEIGHTED),
    LABEL: pa.int64(),
    "source": pa.string(),
    "probability": pa.float64(),
    "model_version": pa.string(),
    OUTSIDE: pa.float64(),
    "answers": pa.list_(_ANSWER),
}


def write_parquet(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as Parquet, a group of some thousand rows at a time."""
    id_column = table.id_column()
    absent = ({ID} if id_column is not None else set()) | ({WEIGHTS} if table.weights is None else set())
    absent |= {OUTSIDE} if table.outside is None else set()
    added = {name: kind for name, kind in _ADDED.items() if name not in absent}
    columns = [str(name) for name in table.cells.columns]
    new_names = names_beside(columns, list(added))
    originals = [new_names.get(name, name) for name in columns]
    schema = pa.schema({**dict.fromkeys(originals, pa.string()), **added})
    told = Told(
        original=tuple(originals),
        candidates=CANDIDATES if table.weights is None else WEIGHTS,
        id=ID if id_column is None else new_names.get(id_column, id_column),
    )
    schema = schema.with_metadata(written_metadata(schema, {LABEL: table.classes}, told))
    done = 0
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for piece in table.pieces():
            arrays = [column.cast(pa.string()) for column in columns_of_text(piece.cells)]
            found = _added(piece)
            writer.write_batch(pa.record_batch([*arrays, *(found[name] for name in added)], schema=schema))
            done += len(piece.ids)
            tell(done)


def _added(piece: Disambiguated) -> dict[str, pa.Array]:
    """The columns that are added."""
    rows = range(len(piece.ids))
    names = pa.array(piece.classes, pa.string())
    after, weights = piece.candidates_after, piece.weights_after()
    given = piece.answers_by_row()
    arrays = {
        ID: pa.array([str(name) for name in piece.ids], pa.string()),
        "candidates_before": _lists(piece.candidates_before, names),
        CANDIDATES: _lists(after, names),
        LABEL: pa.array(piece.label, pa.int64(), mask=piece.label < 0),
        "source": pa.array([str(name) for name in piece.source], pa.string()),
        "probability": pa.array(piece.probability, pa.float64(), from_pandas=True),
        "model_version": pa.array([piece.version_of(row) for row in rows], pa.string()),
        "answers": pa.array([_answers(given.get(row, ())) for row in rows], pa.list_(_ANSWER)),
    }
    if weights is not None:
        arrays[WEIGHTS] = _lists(after, names, weights)
    if piece.outside is not None:
        arrays[OUTSIDE] = pa.array(piece.outside, pa.float64(), from_pandas=True)
    return arrays


def _lists(candidates: BoolArray, names: pa.Array, weights: Any = None) -> pa.Array:
    """For each row the names of its candidates, or each name with its weight."""
    rows, places = np.nonzero(candidates)
    starts = pa.array(np.concatenate([[0], np.cumsum(candidates.sum(axis=1))]), pa.int32())
    values = names.take(pa.array(places))
    if weights is not None:
        values = pa.StructArray.from_arrays([values, pa.array(weights[rows, places])], fields=list(_WEIGHTED))
    return pa.ListArray.from_arrays(starts, values)


def _answers(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "annotator": one["person"]} for one in answers]
