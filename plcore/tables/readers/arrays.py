"""Read arrays of partial-label and multi-label benchmarks (NumPy .npz and MATLAB .mat) as tables."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from plcore.arrays import read_head
from plcore.arrays.types import AnyArray
from plcore.arrays.words import counted, listed, quoted
from plcore.tables.media.file_tree import MAX_UNPACKED_MB, MB, ZIP_FAULTS, ZIP_STARTS
from plcore.tables.problems import TableError, check_size, fits_as_cells, refusal
from plcore.tables.readers.reading import TableReading, json_candidates, text_table
from plcore.tables.readers.tools.weak_labels import ABSTAIN, is_votes, read_votes
from plcore.tables.roles.roles import Roles
from plcore.tables.text.frames import numbers_as_text
from plcore.tables.writers.npz import read_vectors, read_written

_KINDS = "biufU"
_ANEW = "Write it again with numpy.savez_compressed."


def load_npz(data: bytes) -> dict[str, AnyArray]:
    """Load an .npz file's arrays of numbers, booleans and text by name.

    A `winnow_` prefix is removed, so that the names are those of earlier releases.
    """
    arrays: dict[str, AnyArray] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if sum(entry.file_size for entry in file.infolist()) > MAX_UNPACKED_MB * MB:
                raise refusal(f"Unpacked, the arrays have more than {MAX_UNPACKED_MB:,} MB.", "Give fewer rows.")
            for entry in file.infolist():
                if entry.filename == "format.npy":  # bytes, from SciPy's save_npz
                    if not file.read(entry).endswith(b"csr"):
                        raise refusal("The sparse matrix is not in the format CSR.", "Save it as matrix.tocsr().")
                    continue
                name = entry.filename.removesuffix(".npy").removeprefix("winnow_")
                name = "ids" if entry.filename == "winnow_id.npy" else name
                arrays[name] = _array(file.read(entry), entry.filename)
    except TableError:
        raise
    except ZIP_FAULTS as error:
        raise refusal(f"The .npz file is damaged ({error}).", _ANEW) from error
    return arrays


def _array(data: bytes, name: str) -> AnyArray:
    try:
        shape, _, dtype = read_head(io.BytesIO(data))
        if dtype.hasobject:
            message = f"the array {quoted(name)} is pickled: reading it could run a program."
            raise refusal(message, "Write numbers or text, dtype=str, not objects.")
        if dtype.names is not None:
            message = f"the array {quoted(name)} is a table with the columns {listed(dtype.names, 5)}."
            raise refusal(message, "Save it as CSV: pandas.DataFrame(array).to_csv(path, index=False).")
        if dtype.kind not in _KINDS:
            raise refusal(f"the array {quoted(name)} has the type {dtype}.", "Write numbers or text.")
        size = int(np.prod([int(side) for side in shape], dtype=object)) * dtype.itemsize
        if size > len(data):  # before NumPy allocates memory for it
            raise refusal(f"the array {quoted(name)} is cut off.", _ANEW)
        array: AnyArray = np.load(io.BytesIO(data), allow_pickle=False)
        return array.astype(dtype.newbyteorder("="), copy=False)  # Arrow needs native byte order
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise refusal(f"the array {quoted(name)} cannot be read ({str(error)[:100]}).", _ANEW) from error


Sides = tuple[int, int]


def dense_rows(values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides) -> AnyArray:
    """Return the matrix of `sparse_rows`, dense. Raises TableError for too many cells, and errors as `sparse_rows`."""
    check_size(*sides)
    dense: AnyArray = sparse_rows(values, columns, starts, sides).toarray()
    return dense


def sparse_rows(values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides) -> sp.csr_matrix:
    """Build a matrix whose row i has `values[starts[i]:starts[i + 1]]` in `columns[starts[i]:starts[i + 1]]`.

    Values beyond the last start are unused. Duplicate places in a row are summed. Raises ValueError if the pieces do
    not fit. (SciPy's `toarray` writes out of bounds for some pieces that its own `check_format` accepts.)
    """
    found = sp.csr_matrix(_checked(values, columns, starts, sides), shape=sides, copy=True)
    found.sum_duplicates()
    return found


def _checked(
    values: AnyArray, columns: AnyArray, starts: AnyArray, sides: Sides
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Check the pieces, and return the used values, their columns and the row starts, the latter two as int64."""
    pieces = (values, columns, starts)
    if min(sides) < 0 or any(piece.ndim != 1 or piece.dtype.kind not in "biuf" for piece in pieces):
        raise ValueError("they are not rows of numbers")
    if columns.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ValueError("places are not whole numbers")
    starts = starts.astype(np.int64)
    if starts.size != sides[0] + 1 or starts[0] != 0 or (starts < 0).any() or (np.diff(starts) < 0).any():
        raise ValueError("the rows do not begin one after the other")
    count = int(starts[-1])
    if count > min(values.size, columns.size):
        raise ValueError("there are fewer values than the rows have")
    at = columns[:count].astype(np.int64)
    if count and not 0 <= at.min() <= at.max() < sides[1]:
        raise ValueError("a place lies outside of the matrix")
    values = values[:count]
    return (values.astype(np.float32) if values.dtype == np.float16 else values, at, starts)  # SciPy has no float16


MAT_START = b"MATLAB 5.0 MAT-file"
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _DENSE = 5, range(6, 16)  # array classes
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SAVE_ANEW = "Save it again with save(name, '-v7')."


class _Element(NamedTuple):
    kind: int
    body: bytes


def load_mat(data: bytes) -> dict[str, AnyArray]:
    """Return the matrices (rows, columns) of a file by name; sparse ones as dense, complex ones as their real part.

    Not by scipy.io.loadmat: damaged files make its compiled code read outside its memory (SciPy 1.17.1).

    Raises TableError: damaged, or too large.
    """
    order = "<" if data[126:128] == b"IM" else ">"
    arrays: dict[str, AnyArray] = {}
    size = 0
    try:
        for element in _elements(data[_HEADER:], order):
            body = element.body
            if element.kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(body, MAX_UNPACKED_MB * MB - size + 1)
                size += len(unpacked)
                if size > MAX_UNPACKED_MB * MB:
                    raise refusal(f"Unpacked, the file has more than {MAX_UNPACKED_MB:,} MB.", "Give fewer rows.")
                element = next(_elements(unpacked, order))
                body = element.body
            if element.kind == _MATRIX:
                arrays.update(_mat_matrix(body, order))
    except (_DamagedError, zlib.error, struct.error, StopIteration) as error:
        raise refusal(f"The MATLAB file is damaged: {str(error) or 'it is cut off'}.", _SAVE_ANEW) from error
    return arrays


class _DamagedError(Exception):
    """The bytes do not follow the format."""


def _elements(data: bytes, order: str) -> Iterator[_Element]:
    position = 0
    while position < len(data):
        kind, length = struct.unpack_from(f"{order}II", data, position)
        start = position + 8
        if kind >> 16:  # up to four bytes, stored in the second half of the tag
            kind, length, start = kind & 0xFFFF, kind >> 16, position + 4
        body = data[start : start + length]
        if len(body) < length or (start == position + 4 and length > 4):
            raise _DamagedError("a part of it is cut off")
        yield _Element(kind, body)
        end = start + length
        position = end if kind == _COMPRESSED else -(-end // 8) * 8


def _mat_matrix(data: bytes, order: str) -> dict[str, AnyArray]:
    """Return the matrix of an element under its name; empty for other classes."""
    parts = _elements(data, order)
    flags = next(parts).body
    (kind,) = struct.unpack_from(f"{order}I", flags)
    kind &= 0xFF
    if kind != _SPARSE and kind not in _DENSE:
        return {}
    sides = [int(side) for side in _values(next(parts), order)]
    name = next(parts).body.decode("latin-1")
    if len(sides) != 2:
        return {}
    if min(sides) < 0:
        raise _DamagedError(f"{name} has a negative side")
    check_size(*sides)
    if kind == _SPARSE:
        return {name: _sparse(sides, parts, order)}
    values = _values(next(parts), order)
    if values.size != sides[0] * sides[1]:
        raise _DamagedError(f"{name} has {values.size} values for {sides[0]} x {sides[1]}")
    return {name: values.reshape(sides, order="F")}


def _sparse(sides: list[int], parts: Iterator[_Element], order: str) -> AnyArray:
    rows, starts, values = (_values(next(parts), order) for _ in range(3))
    try:
        return dense_rows(values, rows, starts, (sides[1], sides[0])).T
    except TableError:
        raise
    except ValueError as error:
        raise _DamagedError(f"a sparse matrix does not fit, {error}") from error


def _values(element: _Element, order: str) -> AnyArray:
    if element.kind not in _TYPES:
        raise _DamagedError(f"a part has the type {element.kind}, no numbers")
    dtype = np.dtype(order + _TYPES[element.kind])
    if len(element.body) % dtype.itemsize:
        raise _DamagedError("a part of it is cut off")
    return np.frombuffer(element.body, dtype).astype(dtype.newbyteorder("="))


_FEATURES = ("X", "data", "features", "train_data")
_SETS = ("S", "candidates", "partial", "partial_target", "partial_labels", "train_p_target")
_NAMED_SETS = re.compile(r"(?:train_?)?(?:p|partial|cand(?:idates?)?)_?(?:labels?|targets?|y|sets?)", re.IGNORECASE)
"""Other names of candidates, as toolboxes write them."""
_TRUTHS = ("y", "Y", "target", "truth", "labels", "train_target")
_CLASSES = ("classes", "class_names", "label_names")
_CSR = ("data", "indices", "indptr", "shape")
_LAYOUT = (
    "Give X (n, d), the candidates S (n, m) as 0 and 1, and, where known, the true class y (n,), from 0; or the label "
    "vectors Y (n, L) as 0 and 1."
)


def read_npz(data: bytes) -> TableReading:
    """Read the table of an .npz file; pickled objects are never read.

    The file has features X (n, d), or the pieces of a CSR matrix (`data, indices, indptr, shape`). If that is too wide
    for text columns, each row becomes a vector. With X there are candidates S (n, m) of 0 and 1, and optionally the
    true class y (n,), from 0, -1 if unknown; or label vectors Y (n, L) of 0 and 1.
    Or the file has class scores: `classes` (m,), `scores` (n, m) and `ids` (n,). Or it was written by `write_npz` or
    `write_vector_npz`. Alternative names: `_SETS`, `_TRUTHS`, `_CLASSES`.
    Raises TableError: damaged, too large, other arrays, shapes that do not fit.
    """
    arrays = load_npz(data)
    if _are_votes(arrays):
        return votes_of(data)
    if "scores" in arrays and "classes" in arrays:
        return _of_scores(arrays)
    if set(arrays) >= {"ids", "classes", "candidates"} and _first(arrays, _FEATURES) is None:
        return read_written(arrays)
    if set(arrays) >= {"ids", "values"} and {"classes", "labels"} & set(arrays) and _first(arrays, _FEATURES) is None:
        return read_vectors(arrays)
    if set(arrays) >= set(_CSR):
        arrays["X"] = _matrix(arrays)
    return _of_arrays(arrays, "NumPy arrays", from_one=False)


def _are_votes(arrays: Mapping[str, AnyArray]) -> bool:
    """Whether the arrays are votes. Next to candidates, `L` is not a vote matrix."""
    return (is_votes(arrays) and _first(arrays, _SETS) is None) or _is_sparse_votes(arrays)


def _is_sparse_votes(arrays: Mapping[str, AnyArray]) -> bool:
    """Whether the file is one sparse integer matrix, as Snorkel MeTaL writes votes."""
    return set(arrays) == set(_CSR) and arrays["data"].dtype.kind in "iu"


def votes_of(data: bytes, columns: Mapping[str, Sequence[object]] | None = None) -> TableReading:
    """Read the votes in an .npz or .npy file. Raises TableError.

    columns : of the rows, from another file
    """
    if not data.startswith(ZIP_STARTS):
        votes = _array(data, ".npy")
        return read_votes({"L" if votes.ndim == 2 else "labels_multiannotator": votes}, columns)
    arrays = load_npz(data)
    if not _is_sparse_votes(arrays):
        return read_votes(arrays, columns)
    stored = arrays["data"]
    if (stored < 0).any() and not (stored == 0).any():  # from an array with -1: SciPy does not store votes for class 0
        return read_votes({"L": np.asarray(_matrix(arrays))}, columns)
    # A place without a stored value has no vote. Classes count from 1, unless votes of -1 are stored.
    votes = np.asarray(_matrix(arrays) if not (stored < 0).any() else _matrix({**arrays, "data": stored + 1}))
    reading = read_votes({"L": votes}, columns, abstain=0)
    note = "Where the sparse matrix holds nothing, no one voted: its classes are counted from 1."
    return replace(reading, notes=(*reading.notes, note))


def holds_votes(data: bytes) -> bool:
    """Whether an .npz or .npy file holds votes. Raises TableError.

    A .npy array may also hold label vectors, as from cleanlab.
    """
    if data.startswith(ZIP_STARTS):
        return _are_votes(load_npz(data))
    array = _array(data, ".npy")
    if array.ndim == 3 and array.dtype.kind == "f":
        return bool(np.isnan(array).any() and (np.isnan(array) | np.isin(array, (0, 1))).all())
    if array.ndim != 2 or array.dtype.kind not in "if":
        return False
    nobody = np.isnan(array) | (array == ABSTAIN)
    return bool(nobody.any() and (nobody | ((array >= 0) & (array == np.floor(array)))).all())


def read_npy(data: bytes) -> TableReading:
    """Read the votes in a .npy array. Raises TableError for other arrays."""
    if holds_votes(data):
        return votes_of(data)
    raise refusal(
        "This is one NumPy array, without names, and no matrix of votes in which -1 or NaN means no vote.",
        "Save X, S and y together with numpy.savez_compressed.",
    )


def read_mat(data: bytes) -> TableReading:
    """Read the table of a MATLAB file (up to version 7) of the partial-label benchmarks, dense or sparse.

    `data` (n, d) with `partial_target` (m, n) and `target` (m, n) of 0 and 1; or `train_data` with `train_p_target`.
    The features determine n, so (n, m) is accepted as well, but n = m is rejected.
    Raises TableError: damaged, too large, version 7.3, other variables, shapes that do not fit.
    """
    return _of_arrays(load_mat(data), "MATLAB arrays", from_one=True)


def _of_arrays(arrays: Mapping[str, AnyArray], words: str, *, from_one: bool) -> TableReading:
    X = _first(arrays, _FEATURES)
    if X is None or X.ndim != 2 or X.dtype.kind not in "biuf":
        shown = listed([f"{name} {array.shape}" for name, array in arrays.items()])
        raise refusal(f"There is no matrix of features; the file has {shown or 'nothing'}.", _LAYOUT)
    n_rows = X.shape[0]
    named = [*_SETS, *filter(_NAMED_SETS.fullmatch, arrays)]
    sets, truth = _first(arrays, named), _first(arrays, _TRUTHS)
    labels: list[_Column] = []
    roles: dict[str, Any] = {}
    notes = [f"{name} is left out." for name in ("test_data", "test_target") if name in arrays]
    if sets is not None:
        is_ours = "S" in arrays and not from_one
        sets = _rows_first(sets, n_rows, "candidates", square=is_ours)
        classes = _class_names(arrays, sets.shape[1])
        labels.append(_Column("candidates", _as_lists(_bits(sets, "candidates"), classes)))
        if truth is not None:
            labels.append(_Column("truth", _true_names(truth, n_rows, classes, from_one=from_one)))
    elif truth is not None and truth.ndim == 2 and min(truth.shape) > 1:
        vectors = _bits(_rows_first(truth, n_rows, "labels", square=not from_one), "labels")
        classes = _class_names(arrays, vectors.shape[1], "label_")
        labels += [_Column(name, numbers_as_text(vectors[:, k])) for k, name in enumerate(classes)]
        roles = {"label_columns": tuple(classes), "label_vectors": True}
    elif truth is not None and truth.size == n_rows:
        labels.append(_Column("label", _texts(truth.ravel())))
    else:
        raise refusal("There are neither candidates nor labels for the rows.", _LAYOUT)
    taken = {column.name for column in labels}
    features: list[_Column] = []
    sparse: dict[str, sp.csr_matrix] = {}
    if sp.issparse(X):
        check_size(n_rows, len(labels))
        name = "x_features" if "features" in taken else "features"
        sparse[name] = X
        roles["embedding"] = name
        notes.append(
            f"The {X.shape[1]:,} features stay a sparse matrix, too wide for columns of their own: they are learnt "
            "from, not shown, and come in no file that is taken away."
        )
    else:
        check_size(n_rows, X.shape[1] + len(labels))
        names = [f"x_{name}" if name in taken else name for name in _feature_names(arrays, X.shape[1])]
        features = [_Column(name, numbers_as_text(X[:, k])) for k, name in enumerate(names)]
        roles["numbers"] = tuple(names)
    columns = [*labels, *features]
    cells = text_table([column.name for column in columns], [column.cells for column in columns])
    given: Roles | None = None
    if sets is not None:
        given = json_candidates("candidates", truth="truth" if truth is not None else None, **roles)
    elif "label_columns" in roles:
        given = Roles(**roles)
    return TableReading(cells, words, given, notes=tuple(notes), arrays=sparse)


class _Column(NamedTuple):
    name: str
    cells: Sequence[str] | pa.LargeStringArray


def _of_scores(arrays: Mapping[str, AnyArray]) -> TableReading:
    scores, classes = arrays["scores"], [str(name) for name in arrays["classes"].ravel()]
    ids = arrays.get("ids")
    if scores.ndim != 2 or scores.shape[1] != len(classes) or (ids is not None and ids.shape != scores.shape[:1]):
        shapes = listed([f"{name} {array.shape}" for name, array in arrays.items()])
        raise refusal(f"The sides of the arrays do not fit: {shapes}.", "Give ids (n,), classes (m,), scores (n, m).")
    check_size(len(scores), len(classes) + 1)
    given = [_Column("id", _texts(ids))] if ids is not None else []
    columns = [*given, *(_Column(f"p_{name}", numbers_as_text(scores[:, k])) for k, name in enumerate(classes))]
    cells = text_table([column.name for column in columns], [column.cells for column in columns])
    return TableReading(cells, "NumPy arrays, scores of classes")


def _first(arrays: Mapping[str, AnyArray], names: Sequence[str]) -> AnyArray | None:
    return next((arrays[name] for name in names if name in arrays), None)


def _matrix(arrays: Mapping[str, AnyArray]) -> AnyArray | sp.csr_matrix:
    """Build the CSR matrix of these pieces, or a dense one if it is small enough for a text table."""
    values, columns, starts, shape = (arrays[name] for name in _CSR)
    try:
        n_rows, n_columns = (int(side) for side in shape)
        rows = dense_rows if fits_as_cells(n_rows, n_columns) else sparse_rows
        return rows(values, columns, starts, (n_rows, n_columns))
    except TableError:
        raise
    except (ValueError, TypeError) as error:
        raise refusal(f"The pieces of the sparse matrix do not fit: {error}.", _LAYOUT) from error


def _rows_first(matrix: AnyArray, n_rows: int, name: str, *, square: bool) -> AnyArray:
    """Orient a matrix as (n, m), by its side of length n. square : whether it is (n, m) if n = m"""
    if matrix.ndim == 2 and (matrix.shape[0] != matrix.shape[1] or square):
        if matrix.shape[0] == n_rows:
            return matrix
        if matrix.shape[1] == n_rows:
            return matrix.T
    elif matrix.ndim == 2 and len(matrix) == n_rows:
        message = f"The {name} have as many rows as columns, {n_rows}: they do not say which of them are the classes."
        raise refusal(message, "Leave out a row, or give S (n, m) in an .npz file.")
    message = f"The {name} are {matrix.shape}, but the features have {n_rows} rows, which no dimension matches."
    raise refusal(message, _LAYOUT)


def _bits(matrix: AnyArray, name: str) -> AnyArray:
    """Convert a matrix to int8. Raises TableError for numbers other than 0 and 1."""
    wrong = np.argwhere((matrix != 0) & (matrix != 1)) if matrix.dtype.kind in "biuf" else np.zeros((1, 2), int)
    if len(wrong):
        row, column = (int(place) for place in wrong[0])
        raise refusal(f"The {name} hold {matrix[row, column]}.", "Write only 0 and 1.", row=row + 1)
    return np.asarray(matrix, dtype=np.int8)


def _as_lists(sets: AnyArray, classes: Sequence[str]) -> list[str]:
    written = [json.dumps(name, ensure_ascii=False) for name in classes]
    cells = (", ".join(written[k] for k in np.flatnonzero(row)) for row in sets)
    return [f"[{cell}]" if cell else "" for cell in cells]


def _true_names(truth: AnyArray, n_rows: int, classes: Sequence[str], *, from_one: bool) -> list[str]:
    """Return each row's true class name, '' if unknown; from class numbers (n,), or 0 and 1 (n, m) or (m, n)."""
    if truth.ndim == 2 and min(truth.shape) > 1:
        bits = _bits(_rows_first(truth, n_rows, "true labels", square=not from_one), "true labels")
        if bits.shape[1] != len(classes):
            raise refusal(
                f"Got {counted(len(classes), 'class', 'classes')}, but {bits.shape[1]} in the true labels.", _LAYOUT
            )
        many = np.flatnonzero(bits.sum(axis=1) > 1)
        if many.size:
            raise refusal("the row has more than one true label.", "Keep one.", row=int(many[0]) + 1)
        return ["" if not row.any() else classes[int(row.argmax())] for row in bits]
    numbers = truth.ravel()
    if numbers.size != n_rows or numbers.dtype.kind not in "iuf":
        raise refusal(f"The true labels are {truth.shape}, for {counted(n_rows, 'row')}.", _LAYOUT)
    first = 1 if from_one else 0
    places = numbers.astype(np.float64) - first
    fits = (places == np.floor(places)) & (places >= -1) & (places < len(classes))
    if not fits.all():
        row = int(np.flatnonzero(~fits)[0])
        message = f"the true class {numbers[row]} is none of {first} to {len(classes) - 1 + first}."
        raise refusal(message, "Correct it.", row=row + 1)
    return ["" if place < 0 else classes[int(place)] for place in places]


def _class_names(arrays: Mapping[str, AnyArray], count: int, prefix: str = "") -> list[str]:
    given = _first(arrays, _CLASSES)
    if given is None:
        return [f"{prefix}{k}" for k in range(count)]
    if given.size != count:
        raise refusal(
            f"Got {counted(given.size, 'class name')} for {counted(count, 'class', 'classes')}.", "Give one for each."
        )
    return [str(name) for name in given.ravel()]


def _feature_names(arrays: Mapping[str, AnyArray], count: int) -> list[str]:
    given = arrays.get("feature_names")
    if given is None or given.size != count:
        return [f"x{k + 1}" for k in range(count)]
    return [str(name) for name in given.ravel()]


def _texts(array: AnyArray) -> Sequence[str] | pa.LargeStringArray:
    return numbers_as_text(array) if array.dtype.kind in "iuf" else [str(value) for value in array]
