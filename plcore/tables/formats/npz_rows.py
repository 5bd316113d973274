"""The disambiguated table as NumPy arrays in an .npz file, for programs; `read_npz` reads it again.

`ids` (n,), `classes` (m,), `candidates_before` and `candidates` (n, m) bool, `weights` (n, m) of the candidates now
(where anything was weighed), `label` (n,) class numbers, -1 open, `source` (n,), `probability` (n,), NaN unknown, and,
where blind checks have shown it to happen, `outside` (n,), how likely the truth is none of the candidates, NaN where
nothing tells. The original columns are not in it: the rows are known by their ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from plcore.common.types import AnyArray
from plcore.common.words import listed
from plcore.tables.formats.candidate_rows import Row, rows_reading
from plcore.tables.formats.disambiguated import Disambiguated, Tell
from plcore.tables.formats.npz_writing import ArrayRows, array_rows, write_arrays
from plcore.tables.formats.reading import TableReading, refusal

FORMAT = "NumPy arrays of a disambiguated table"


def write_npz(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as .npz, some thousand rows of an array at a time."""
    arrays = {
        "ids": array_rows(table.ids),
        "classes": array_rows(np.array(table.classes, dtype=np.str_)),
        "candidates_before": array_rows(table.candidates_before, bool),
        "candidates": array_rows(table.candidates_after, bool),
        "label": array_rows(np.asarray(table.label), "<i8"),
        "source": array_rows(np.asarray(table.source)),
        "probability": array_rows(np.asarray(table.probability), "<f8"),
    }
    if table.outside is not None:
        arrays["outside"] = array_rows(np.asarray(table.outside), "<f8")
    if table.weights is not None:
        arrays["weights"] = ArrayRows(
            np.dtype("<f8"), table.weights.shape, lambda rows: _weights(table, rows)
        )
    write_arrays(file, arrays, len(table.ids), tell)


def _weights(table: Disambiguated, rows: slice) -> AnyArray:
    weights = table.weights_after(rows)
    if weights is None:
        raise ValueError("Nothing was weighed in this table.")
    return weights


def read_written(arrays: Mapping[str, AnyArray]) -> TableReading:
    """The rows of such arrays: their ids, and the candidates now with their weights. Raises TableError."""
    ids, classes, candidates = arrays["ids"], arrays["classes"], arrays["candidates"]
    weights = arrays.get("weights", candidates)
    label = arrays.get("label", np.full(len(ids), -1))
    fits = (
        ids.ndim == classes.ndim == 1
        and candidates.shape == weights.shape == (len(ids), len(classes))
        and label.shape == ids.shape
        and candidates.dtype.kind == "b"
        and weights.dtype.kind in "bf"
        and label.dtype.kind == "i"
        and (label < len(classes)).all()
    )
    if not fits:
        found = listed([f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()])
        raise refusal(
            f"The arrays do not fit: {found}.",
            "Give ids (n,), classes (m,), candidates (n, m) of bool, weights (n, m) of float, label (n,) of int.",
        )
    names = [str(name) for name in classes]
    rows = []
    for place, (name, may_be) in enumerate(zip(ids, candidates, strict=True)):
        row = Row({"id": str(name), "winnow_label": "" if label[place] < 0 else names[label[place]]})
        for k in np.flatnonzero(may_be):
            row.name(names[k], float(weights[place, k]) if "weights" in arrays else None)
        rows.append(row)
    return rows_reading(rows, FORMAT, describing=(), row_id="id", classes=names)
