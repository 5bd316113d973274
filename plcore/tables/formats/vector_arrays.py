"""Label vectors as NumPy arrays in an .npz file, for programs; `read_npz` reads them again.

`ids` (n,), `labels` (L,), `values` (n, L), 1 yes, 0 no, -1 not asked, `probabilities` (n, L), NaN unknown, `predicted`
(n, L), -1 where nothing is, and `sources` (n, L). The original columns are not in it: the rows are known by their ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

from plcore.common.types import AnyArray
from plcore.common.words import listed
from plcore.tables.formats.candidate_rows import NEEDS_ROWS
from plcore.tables.formats.disambiguated import Tell, names_beside
from plcore.tables.formats.npz_writing import ArrayRows, array_rows, write_arrays
from plcore.tables.formats.reading import TableReading, check_size, refusal, text_table
from plcore.tables.formats.vector_table import LabelVectorTable
from plcore.tables.roles import Roles

FORMAT = "NumPy arrays of label vectors"
_WORDS = np.array(["", "0", "1"], dtype=object)  # of -1, 0, 1


def write_vector_npz(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write the arrays one after the other."""
    found = table.found
    sources = found.part(slice(0, 0)).sources.dtype
    arrays = {
        "ids": array_rows(np.array(found.ids, dtype=object)),
        "labels": array_rows(np.array(found.labels, dtype=np.str_)),
        "values": array_rows(found.cells, "i1"),
        "probabilities": array_rows(found.probabilities, "<f8"),
        "predicted": array_rows(found.predicted, "i1"),
        "sources": ArrayRows(sources, found.cells.shape, lambda rows: found.part(rows).sources),
    }
    write_arrays(file, arrays, len(found.ids), tell)


def read_vectors(arrays: Mapping[str, AnyArray]) -> TableReading:
    """The rows of such arrays: their ids, and a column of 1, 0 or nothing for each label. Raises TableError."""
    ids, labels, values = arrays["ids"], arrays["labels"], arrays["values"]
    fits = (
        ids.ndim == labels.ndim == 1 and values.shape == (len(ids), len(labels)) and values.dtype.kind == "i"
    )
    if not fits or not np.isin(values, (-1, 0, 1)).all():
        found = listed([f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()])
        raise refusal(
            f"The arrays do not fit: {found}.",
            "Give ids (n,), labels (L,), and values (n, L) as integers: 1 yes, 0 no, -1 not asked.",
        )
    check_size(len(ids), len(labels) + 1)
    names = [str(name) for name in labels]
    row_id = names_beside(["id"], names).get("id", "id")
    columns = [[str(name) for name in ids], *_WORDS[values.T.astype(np.int64) + 1].tolist()]
    cells = text_table([row_id, *names], columns)
    roles = Roles(id=row_id, label_columns=tuple(names), label_vectors=True)
    return TableReading(cells, FORMAT, roles, notes=(NEEDS_ROWS,))
