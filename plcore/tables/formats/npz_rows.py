"""The disambiguated table as NumPy arrays in an .npz file, for programs; `read_npz` reads it again.

`ids` (n,), `classes` (m,), `candidates_before` and `candidates` (n, m) bool, `weights` (n, m) of the candidates now
(where anything was weighed), `label` (n,) class numbers, -1 open, `source` (n,), `probability` (n,), NaN unknown. The
original columns are not in it: the rows are known by their ids.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from plcore.common.types import AnyArray
from plcore.tables.formats.disambiguated import Disambiguated, Tell
from plcore.tables.formats.npz_writing import ArrayRows, array_rows, write_arrays


def write_npz(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as .npz, some thousand rows of an array at a time."""
    arrays = {
        "ids": array_rows(table.ids),
        "classes": array_rows(np.array(table.classes, dtype=np.str_)),
        "candidates_before": array_rows(table.candidates_before, bool),
        "candidates": array_rows(table.candidates_after, bool),
        "label": array_rows(table.label, "<i8"),
        "source": array_rows(table.source),
        "probability": array_rows(table.probability, "<f8"),
    }
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
