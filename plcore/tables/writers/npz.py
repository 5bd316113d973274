"""The disambiguated table and label vectors as NumPy arrays in an .npz file, written some rows at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from plcore.arrays.types import AnyArray
from plcore.arrays.words import listed
from plcore.tables.problems import check_size, refusal
from plcore.tables.readers.candidate_rows import NEEDS_ROWS, Row, rows_reading
from plcore.tables.readers.reading import TableReading, text_table
from plcore.tables.roles.roles import Roles
from plcore.tables.writers.disambiguated import (
    OWN_TRUTH,
    PIECE_ROWS,
    Disambiguated,
    LabelVectorTable,
    Tell,
    names_beside,
)


def zip_entry(name: str) -> zipfile.ZipInfo:
    """Return a compressed entry without a date of its own: the same content always gives the same bytes."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


@dataclass(frozen=True)
class ArrayRows:
    """An array to be written: its type, its shape, and a function that returns the rows of a slice."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    rows: Callable[[slice], AnyArray]


def array_rows(array: AnyArray, dtype: Any = None) -> ArrayRows:
    """Return the rows of an existing array; objects are written as text of a fixed width."""
    if dtype is None:
        dtype = text_type(array.ravel()) if array.dtype.kind in "OU" else array.dtype
    return ArrayRows(np.dtype(dtype), array.shape, lambda rows: array[rows])


def text_type(texts: Iterable[object]) -> np.dtype[Any]:
    """Return the fixed-width type that holds the longest of these texts."""
    return np.dtype(f"<U{max((len(str(text)) for text in texts), default=1) or 1}")


def write_arrays(file: BinaryIO, arrays: Mapping[str, ArrayRows], n_rows: int, tell: Tell) -> None:
    """Write the arrays one after the other. `tell` is called with the share of `n_rows` that equals the share of values
    written."""
    sizes = {name: int(np.prod(one.shape)) for name, one in arrays.items()}
    whole, done = max(1, sum(sizes.values())), 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, one in arrays.items():
            with archive.open(zip_entry(f"{name}.npy"), "w", force_zip64=True) as member:
                head = {"descr": one.dtype.str, "fortran_order": False, "shape": one.shape}
                np.lib.format.write_array_header_1_0(member, head)
                for start in range(0, one.shape[0], PIECE_ROWS):
                    piece = np.ascontiguousarray(one.rows(slice(start, start + PIECE_ROWS)), dtype=one.dtype)
                    member.write(piece.tobytes())
                    done += piece.size
                    tell(n_rows * done // whole)


ROWS_FORMAT = "NumPy arrays of a disambiguated table"


def write_npz(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """Write the table as .npz, some thousand rows of an array at a time. An open label is "", its index -1."""
    numbers, names = np.asarray(table.label), np.array([*table.classes, ""], dtype=np.str_)  # the last for -1
    arrays = {
        "winnow_id": array_rows(table.ids),
        "winnow_classes": array_rows(np.array(table.classes, dtype=np.str_)),
        "winnow_candidates_before": array_rows(table.candidates_before, bool),
        "winnow_candidates": ArrayRows(np.dtype(bool), table.candidates_after.shape, table.left),
        "winnow_label": ArrayRows(names.dtype, numbers.shape, lambda rows: names[numbers[rows]]),
        "winnow_label_index": array_rows(numbers, "<i8"),
        "winnow_source": array_rows(np.asarray(table.source)),
        "winnow_confidence": array_rows(np.asarray(table.probability), "<f8"),
    }
    if (shares := table.probabilities) is not None:
        arrays["winnow_probabilities"] = ArrayRows(np.dtype("<f8"), tuple(shares.shape), lambda rows: shares[rows])
    if (truth := table.truth) is not None:
        arrays[OWN_TRUTH] = ArrayRows(names.dtype, truth.shape, lambda rows: names[truth[rows]])
    if table.outside is not None:
        arrays["winnow_outside"] = array_rows(np.asarray(table.outside), "<f8")
    if table.weights is not None:
        arrays["winnow_weights"] = ArrayRows(np.dtype("<f8"), table.weights.shape, lambda rows: _weights(table, rows))
    write_arrays(file, arrays, len(table.ids), tell)


def _weights(table: Disambiguated, rows: slice) -> AnyArray:
    weights = table.weights_left(rows)
    if weights is None:
        raise ValueError("Nothing was weighed in this table.")
    return weights


def read_written(arrays: Mapping[str, AnyArray]) -> TableReading:
    """Read the rows of such arrays: their ids, and the current candidates with their weights. Raises TableError."""
    ids, classes, candidates = arrays["ids"], arrays["classes"], arrays["candidates"]
    weights = arrays.get("weights", candidates)
    # Earlier releases wrote the index as the label.
    truth = arrays.get(OWN_TRUTH.removeprefix("winnow_"))
    label = arrays.get("label_index", arrays.get("label", np.full(len(ids), -1)))
    fits = (
        ids.ndim == classes.ndim == 1
        and candidates.shape == weights.shape == (len(ids), len(classes))
        and label.shape == ids.shape
        and (truth is None or truth.shape == ids.shape)
        and candidates.dtype.kind == "b"
        and weights.dtype.kind in "bf"
        and label.dtype.kind == "i"
        and (label < len(classes)).all()
    )
    if not fits:
        found = listed([f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()])
        raise refusal(
            f"The arrays do not fit: {found}.",
            "Give ids (n,), classes (m,), candidates (n, m) of bool, weights (n, m) of float, label_index (n,) of int.",
        )
    names = [str(name) for name in classes]
    rows = []
    for place, (name, may_be) in enumerate(zip(ids, candidates, strict=True)):
        row = Row({"id": str(name), "winnow_label": "" if label[place] < 0 else names[label[place]]})
        row.truth = None if truth is None else str(truth[place]) or None
        for k in np.flatnonzero(may_be):
            row.name(names[k], float(weights[place, k]) if "weights" in arrays else None)
        rows.append(row)
    return rows_reading(rows, ROWS_FORMAT, describing=(), row_id="id", classes=names)


VECTORS_FORMAT = "NumPy arrays of label vectors"
_WORDS = np.array(["", "0", "1"], dtype=object)  # for -1, 0, 1


def write_vector_npz(table: LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write the arrays one after the other."""
    found = table.found
    sources = found.part(slice(0, 0)).sources.dtype
    arrays = {
        "winnow_id": array_rows(np.array(found.ids, dtype=object)),
        "winnow_classes": array_rows(np.array(found.labels, dtype=np.str_)),
        "winnow_values": array_rows(found.cells, "i1"),
        "winnow_probability": array_rows(found.probabilities, "<f8"),
        "winnow_predicted": array_rows(found.predicted, "i1"),
        "winnow_source": ArrayRows(sources, found.cells.shape, lambda rows: found.part(rows).sources),
    }
    write_arrays(file, arrays, len(found.ids), tell)


def read_vectors(arrays: Mapping[str, AnyArray]) -> TableReading:
    """Read the rows of such arrays: their ids, and a column of 1, 0 or nothing for each label. Raises TableError."""
    # Earlier releases called the classes labels.
    ids, labels, values = arrays["ids"], arrays.get("classes", arrays.get("labels")), arrays["values"]
    assert labels is not None  # noqa: S101 - `read_npz` looks for them
    fits = ids.ndim == labels.ndim == 1 and values.shape == (len(ids), len(labels)) and values.dtype.kind == "i"
    if not fits or not np.isin(values, (-1, 0, 1)).all():
        found = listed([f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()])
        raise refusal(
            f"The arrays do not fit: {found}.",
            "Give ids (n,), classes (L,), and values (n, L) as integers: 1 yes, 0 no, -1 not asked.",
        )
    check_size(len(ids), len(labels) + 1)
    names = [str(name) for name in labels]
    row_id = names_beside(["id"], names).get("id", "id")
    columns = [[str(name) for name in ids], *_WORDS[values.T.astype(np.int64) + 1].tolist()]
    cells = text_table([row_id, *names], columns)
    roles = Roles(id=row_id, label_columns=tuple(names), label_vectors=True)
    return TableReading(cells, VECTORS_FORMAT, roles, notes=(NEEDS_ROWS,))
