"""The candidate matrix: the input convention and its validation.

`candidates` is bool, (n_samples, n_classes): True = "may be the label of this row". Every row has at least
one True. Columns are in `classes_` order. A label vector is the special case of one candidate in each row.

Sets of class names, one for each row, are equivalent. A sequence of lists or tuples holds names if any
element is a text or any row is a set. Lists of only numbers and bools are the rows of a matrix; write class
numbers as sets, [{0, 2}, {1}]. Mixtures are refused. A two-dimensional array is always a matrix.
"""

from __future__ import annotations

from itertools import chain
from numbers import Number
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from plcore.arrays.candidate_sets import CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, IntArray, LabelsLike, is_sparse
from plcore.arrays.words import listed, shortened

Rows: TypeAlias = list[Any] | tuple[Any, ...] | AnyArray
"""Rows as they were passed, each a set, a list or an array."""
SETS = (set, frozenset)
ROWS_NAMED = 10  # an error names at most this many rows and counts the others


class CandidateError(ValueError):
    """Raised for candidates (or labels) that break the convention; the message names the rows, counted from
    0."""


def name_rows(rows: IntArray) -> str:
    """Name rows for a message: 'row 3', 'rows 3, 7', 'rows 0, 1, ... and 90 more'."""
    named = ", ".join(str(row) for row in rows[:ROWS_NAMED].tolist())
    more = f" and {len(rows) - ROWS_NAMED} more" if len(rows) > ROWS_NAMED else ""
    return f"row{'s' if len(rows) > 1 else ''} {named}{more} (counted from 0)"


def is_candidate_matrix(y: LabelsLike) -> bool:
    """Return whether `y` is a candidate matrix: a DataFrame, sparse, or (n, m). A non-bool (n, 1) is a label
    column."""
    if isinstance(y, pd.DataFrame) or is_sparse(y):
        return True
    if holds_sets(y):
        return False
    array = as_array(y)
    return array.ndim == 2 and (array.shape[1] != 1 or array.dtype == np.bool_)


def holds_sets(y: LabelsLike) -> bool:
    """Return whether `y` is a sequence of sets or lists of class names, one for each row (see the module
    docstring).

    Raises CandidateError, naming rows, if some rows are such sets and others are not.
    """
    rows = _rows_of(y)
    if rows is None:
        return False
    other = np.flatnonzero([not _is_row(row) for row in rows])
    if len(other):
        got = rows[other[0]]
        fix = f"write {{{got!r}}}" if isinstance(got, str) else "write a set of class names"
        raise CandidateError(
            f"Row 0 is {shortened(repr(rows[0]))}, so every row must be a set or a list. Got {got!r}; other values are "
            f"in {name_rows(other)}. Fix: {fix}."
        )
    named = [isinstance(row, SETS) or any(isinstance(name, str) for name in row) for row in rows]
    if not any(named):
        return False
    numbers = np.flatnonzero(
        [not has and len(row) and all(map(_is_number, row)) for has, row in zip(named, rows, strict=True)]
    )
    if len(numbers):
        raise CandidateError(
            "Rows must all hold class names, or all be rows of a matrix. "
            f"Got names in row {named.index(True)}, but lists of numbers in {name_rows(numbers)}. "
            "Fix: write names in all rows, class numbers as sets: {0, 2}."
        )
    return True


def check_candidates(y: LabelsLike) -> tuple[BoolArray, AnyArray]:
    """Read labels or candidates and return (candidates bool (n, m), classes (m,)).

    y : label vector (n,) or label column (n, 1) (with a DataConversionWarning): classes are the sorted
        distinct labels; candidate matrix (n, m), bool or 0/1, as array, DataFrame (column names become the
        classes) or SciPy sparse matrix: classes are 0..m-1 unless the columns have names. Columns without any
        True are kept; sequence of sets or lists of class names, one a row (`holds_sets`): classes are the sorted
        distinct names, a name that comes twice in a row counts once.
    Returns new arrays, never views of `y`, and does not change `y`.
    Raises CandidateError, naming rows, for NaN, -1, any value but 0 and 1, and for rows without a candidate;
    for labels in a vector that are missing, of several kinds or neither text nor numbers, and for repeated
    column names. ValueError for labels that are continuous numbers.
    """
    if holds_sets(y) and (rows := _rows_of(y)) is not None:
        return _read_sets(rows)
    if not is_candidate_matrix(y):
        return _one_each(as_array(y))
    if isinstance(y, pd.DataFrame):
        classes = column_names(y)
        if not y.columns.is_unique:
            repeated = y.columns[y.columns.duplicated()].unique().tolist()
            raise CandidateError(
                f"The candidate columns must have different names: {repeated!r} come more than once. "
                "Fix: give every class its own column name."
            )
        candidates = _as_bool(y.to_numpy(), classes)
    elif is_sparse(y):
        candidates = _sparse_as_bool(y)
        classes = np.arange(candidates.shape[1])
    else:
        array = as_array(y)
        classes = np.arange(array.shape[1])
        candidates = _as_bool(array, classes)
    if candidates.shape[1] == 0:
        raise CandidateError("The candidate matrix has no columns. Fix: give one column for every class.")
    refuse_empty_rows(candidates)
    return candidates, classes


def kept_candidates(y: LabelsLike | CandidateSets, *, copied: bool = True) -> BoolArray:
    """Return `check_candidates`, or a copy of `CandidateSets` as such. copied : also copy read-only bool
    candidates"""
    fits = isinstance(y, np.ndarray) and y.dtype == np.bool_ and y.ndim == 2 and y.size > 0
    if isinstance(y, np.ndarray) and fits and not copied and not y.flags.writeable:
        refuse_empty_rows(y)
        return y
    return cast("BoolArray", y.copy()) if isinstance(y, CandidateSets) else check_candidates(y)[0]


def column_names(frame: pd.DataFrame) -> AnyArray:
    """Return (m,) the column names: numbers as numbers, even if the index has dtype object.

    Raises CandidateError for a name that is missing: NaN, which equals nothing, is not a class.
    """
    if isinstance(frame.columns, pd.MultiIndex):
        return np.asarray(frame.columns)
    unnamed = np.flatnonzero(pd.isna(frame.columns))
    if len(unnamed):
        raise CandidateError(
            f"Every column needs a name, which becomes a class; column {unnamed[0]} (counted from 0) has none. "
            "Fix: name it, or leave it out."
        )
    return np.asarray(frame.columns.infer_objects())


def refuse_empty_rows(candidates: BoolArray) -> None:
    """Raise CandidateError naming the rows that have no candidate at all."""
    empty = np.flatnonzero(~candidates.any(axis=1))
    if len(empty):
        raise CandidateError(
            f"Every row needs at least one candidate; none in {name_rows(empty)}. "
            "Fix: give these rows a candidate, all classes if nothing is known, or leave them out."
        )


def as_array(y: LabelsLike) -> AnyArray:
    """Return y as an array; of objects if a list mixes text with other values, which NumPy would convert to
    text ("nan")."""
    rows = _rows_of(y)
    try:
        array = np.asarray(y if rows is None else list(rows))
    except ValueError as error:
        raise CandidateError(
            "y must be a label vector (n,) or a candidate matrix (n, m); its rows have different lengths. "
            "Fix: give one bool column for every class, or write every row as a set of class names: {0, 2}."
        ) from error
    if array.dtype.kind == "V":
        raise CandidateError(
            f"y must be a label vector (n,) or a candidate matrix (n, m). Got records with the fields "
            f"{array.dtype.names!r}. Fix: pass pandas.DataFrame(y)."
        )
    text = array.dtype.kind == "U" and isinstance(y, (list, tuple)) and not all(isinstance(one, str) for one in y)
    return np.array(y, object) if text else array


def _rows_of(y: LabelsLike) -> Rows | None:
    """Return the rows of a list, tuple or object vector that begins with a set, a list or an array; else
    None."""
    if isinstance(y, (np.ndarray, pd.Series)) and y.dtype == object and y.ndim == 1:
        y = np.asarray(y)
    elif not isinstance(y, (list, tuple)):
        return None
    return y if len(y) and _is_row(y[0]) else None


def _is_row(value: object) -> bool:
    return isinstance(value, (*SETS, list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _is_number(value: object) -> bool:
    return isinstance(value, (Number, np.bool_)) and bool(value == value)  # NaN is a missing name


def _read_sets(rows: Rows) -> tuple[BoolArray, AnyArray]:
    """Rows of class names as a candidate matrix and its classes."""
    sizes = np.array([len(row) for row in rows])
    refuse_empty_rows(sizes[:, None] > 0)
    names = infer_labels(np.fromiter(chain.from_iterable(rows), dtype=object, count=sizes.sum()))
    of = np.repeat(np.arange(len(sizes)), sizes)
    _refuse_odd_labels(names, of)
    if names.dtype.kind == "f":  # for other types it would only warn about many classes with few rows each
        check_classification_targets(names)
    return _place(names, of)


def _one_each(y: AnyArray) -> tuple[BoolArray, AnyArray]:
    """Return a label vector as a candidate matrix with one candidate in each row."""
    if y.ndim not in (1, 2):
        raise CandidateError(
            f"y must be a label vector (n,) or a candidate matrix (n, m). Got an array with {y.ndim} dimensions."
        )
    labels = infer_labels(column_or_1d(y, warn=True))
    rows = np.arange(len(labels))
    _refuse_odd_labels(labels, rows)
    check_classification_targets(labels)
    return _place(labels, rows)


def _place(labels: AnyArray, rows: IntArray) -> tuple[BoolArray, AnyArray]:
    """The candidate matrix in which these rows, ascending, have these labels, and its classes."""
    classes, column = np.unique(labels, return_inverse=True)
    candidates = np.zeros((rows[-1] + 1 if len(rows) else 0, len(classes)), dtype=bool)
    candidates[rows, column] = True
    return candidates, classes


def infer_labels(labels: AnyArray) -> AnyArray:
    """Return labels (n,) as numbers or bools if objects hold nothing else; text and mixtures stay objects."""
    return np.asarray(pd.Series(labels).infer_objects()) if labels.dtype == object else labels


def refuse_missing_labels(labels: AnyArray, rows: IntArray | None = None) -> None:
    """Raise CandidateError naming the rows whose label is missing or infinite. rows : of the labels (k,); None: all"""
    unusable = np.asarray(pd.isna(labels))
    if labels.dtype.kind == "f":
        unusable = unusable | np.isinf(labels)
    if unusable.any():
        rows = np.arange(len(labels)) if rows is None else rows
        raise CandidateError(
            f"Every row needs a label; NaN, None or infinity in {name_rows(np.unique(rows[unusable]))}. "
            "Fix: leave these rows out, or pass candidates, with all classes in these rows if nothing is known."
        )


def _refuse_odd_labels(labels: AnyArray, rows: IntArray) -> None:
    """Raise CandidateError naming the rows whose label is missing, or not text among objects: numbers are none then."""
    refuse_missing_labels(labels, rows)
    if labels.dtype != object:
        return
    odd = np.flatnonzero([not isinstance(label, str) for label in labels])
    if not len(odd):
        return
    got, named = labels[odd[0]], name_rows(np.unique(rows[odd]))
    if isinstance(got, (*SETS, list, tuple, dict, np.ndarray)):
        raise CandidateError(
            f"A label must be text, a whole number or a bool. Got {got!r} in row {rows[odd[0]]}; "
            f"values that are not text are in {named}. "
            "Fix: for candidates write every row as a set of class names, or pass a bool matrix or DataFrame."
        )
    raise CandidateError(
        "The labels must all be text, or all whole numbers, or all bools. "
        f"Got {got!r} in row {rows[odd[0]]}; values that are not text are in {named}. "
        "Fix: write all labels in one way, for example as text."
    )


def _as_bool(array: AnyArray, classes: AnyArray) -> BoolArray:
    """A new bool matrix from bool or 0/1 values; CandidateError naming the rows with anything else."""
    if array.dtype == np.bool_:
        return array.copy()
    missing = pd.isna(array)
    values = np.where(missing, -1, array.astype(object)) if missing.any() else array
    ones = np.asarray(values == 1, dtype=bool)
    wrong = ~(ones | np.asarray(values == 0, dtype=bool))
    if wrong.any():
        rows = np.flatnonzero(wrong.any(axis=1))
        column = int(wrong[rows[0]].argmax())
        got, name = array[[rows[0]], [column]].tolist()[0], classes.tolist()[column]
        raise CandidateError(
            f"Candidates must be True/False or 1/0, without gaps. Got {got!r} in row {rows[0]}, column {name!r}; "
            f"values of this kind are in {name_rows(rows)}. "
            "Fix: write 1 where the class may be the label and 0 elsewhere; or sets of class names: {0, 2}."
        )
    return ones


def _sparse_as_bool(y: LabelsLike) -> BoolArray:
    """A dense bool matrix from a sparse one whose stored values are bool or 0/1."""
    stored = sparse.csr_matrix(y, copy=True)  # summing duplicate entries would modify it
    stored.sum_duplicates()
    if stored.dtype != np.bool_:
        wrong = ~((stored.data == 0) | (stored.data == 1))
        if wrong.any():
            rows = np.unique(stored.tocoo().row[wrong])
            got = stored.data[wrong].tolist()[0]
            raise CandidateError(
                f"Candidates must be True/False or 1/0. Got {got!r}; values of this kind are in {name_rows(rows)}. "
                "Fix: store 1 where the class may be the label and nothing elsewhere."
            )
    return np.asarray(stored.astype(bool).toarray())


# Align labels and candidates with known classes: of a fit, of a first chunk, of an updated model.


def candidates_among(y: LabelsLike, classes: AnyArray) -> BoolArray:
    """Return the candidates of y as bool (n, m) with the columns of `classes` (m,).

    y : labels, a candidate matrix or sets of class names, as `check_candidates` reads them
    Raises CandidateError for a matrix with other columns, for names that are not classes, naming their rows, and for
    whatever `check_candidates` refuses.
    """
    candidates, found = check_candidates(y)
    if is_candidate_matrix(y):
        if isinstance(y, pd.DataFrame):
            refuse_other_columns("y", y, classes)
        if candidates.shape[1] != len(classes):
            raise CandidateError(
                f"The candidate matrix must have a column for each of the {len(classes)} classes. "
                f"Got {candidates.shape[1]} columns."
            )
        return candidates
    columns = pd.Index(classes).get_indexer(pd.Index(found))
    if (columns < 0).any():
        unknown = [str(label) for label in found[columns < 0]]
        raise CandidateError(
            f"Labels must be classes: {listed([str(name) for name in classes])}. Got {listed(unknown)} in "
            f"{name_rows(np.flatnonzero(candidates[:, columns < 0].any(axis=1)))}. "
            "Fix: name all classes in the first call, or leave these rows out."
        )
    placed = np.zeros((len(candidates), len(classes)), dtype=bool)
    placed[:, columns] = candidates
    return placed


def refuse_other_columns(name: str, frame: pd.DataFrame, classes: AnyArray) -> None:
    """Raise CandidateError unless the columns of a DataFrame, called `name`, are the classes (m,) in
    order."""
    if list(column_names(frame)) != list(classes):
        raise CandidateError(
            f"The columns of {name} must be the classes, in their order: {listed([str(one) for one in classes])}. "
            f"Got {listed([str(one) for one in frame.columns])}. Fix: reorder or rename the columns."
        )
