"""The candidate matrix: one written convention, and the check at the door.

`candidates` is bool, (n_samples, n_classes): True = "may be the label of this row". Every row has at least
one True. Columns are in `classes_` order. A label vector is the special case of one candidate in each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from plcore.common.types import AnyArray, BoolArray, IntArray

ROWS_NAMED = 10  # an error names at most this many rows, then counts the others


class CandidateError(ValueError):
    """Candidates (or labels) that break the convention; the message names the rows, counted from 0."""


def name_rows(rows: IntArray) -> str:
    """The rows as a person reads them: 'row 3', 'rows 3, 7', 'rows 0, 1, ... and 90 more'."""
    named = ", ".join(str(row) for row in rows[:ROWS_NAMED].tolist())
    more = f" and {len(rows) - ROWS_NAMED} more" if len(rows) > ROWS_NAMED else ""
    return f"row{'s' if len(rows) > 1 else ''} {named}{more} (counted from 0)"


def is_candidate_matrix(y: Any) -> bool:
    """Whether `y` is read as a candidate matrix: a DataFrame, a sparse matrix, or two-dimensional.

    A non-bool array of shape (n, 1) is a label column, not a matrix of one class.
    """
    if isinstance(y, pd.DataFrame) or sparse.issparse(y):
        return True
    array = _as_array(y)
    return array.ndim == 2 and (array.shape[1] != 1 or array.dtype == np.bool_)


def check_candidates(y: Any) -> tuple[BoolArray, AnyArray]:
    """Read labels or candidates and return (candidates bool (n, m), classes (m,)).

    y : label vector (n,) or label column (n, 1) (with a DataConversionWarning): classes are the sorted
        distinct labels; candidate matrix (n, m), bool or 0/1, as array, DataFrame (column names become the
        classes) or SciPy sparse matrix: classes are 0..m-1 unless the columns have names. Columns without any
        True are kept.
    Returns new arrays, never views of `y`, and leaves `y` as it is.
    Raises CandidateError, naming rows, for NaN, -1, any value but 0 and 1, and for rows without a candidate;
    for labels in a vector that are missing, of several kinds or neither text nor numbers, and for repeated
    column names. ValueError for labels that are continuous numbers.
    """
    if not is_candidate_matrix(y):
        return _one_each(_as_array(y))
    if isinstance(y, pd.DataFrame):
        classes = column_names(y)
        if not y.columns.is_unique:
            repeated = y.columns[y.columns.duplicated()].unique().tolist()
            raise CandidateError(
                f"The candidate columns must have different names: {repeated!r} come more than once. "
                "Fix: give every class its own column name."
            )
        candidates = _as_bool(y.to_numpy(), classes)
    elif sparse.issparse(y):
        candidates = _sparse_as_bool(y)
        classes = np.arange(candidates.shape[1])
    else:
        array = _as_array(y)
        classes = np.arange(array.shape[1])
        candidates = _as_bool(array, classes)
    if candidates.shape[1] == 0:
        raise CandidateError("The candidate matrix has no columns. Fix: give one column for every class.")
    refuse_empty_rows(candidates)
    return candidates, classes


def column_names(frame: pd.DataFrame) -> AnyArray:
    """(m,) the names of the columns: numbers as numbers, also where the index calls them objects.

    Raises CandidateError for a name that is missing: NaN, which equals nothing, is no class.
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


def _as_array(y: Any) -> AnyArray:
    try:
        array = np.asarray(y)
    except ValueError as error:
        raise CandidateError(
            "y must be a label vector (n,) or a candidate matrix (n, m); its rows have different lengths. "
            "Fix: give one bool column for every class."
        ) from error
    if array.dtype.kind == "V":
        raise CandidateError(
            f"y must be a label vector (n,) or a candidate matrix (n, m). Got records with the fields "
            f"{array.dtype.names!r}. Fix: pass pandas.DataFrame(y)."
        )
    return array


def _one_each(y: AnyArray) -> tuple[BoolArray, AnyArray]:
    """A label vector as a candidate matrix with one candidate in each row."""
    if y.ndim not in (1, 2):
        raise CandidateError(
            f"y must be a label vector (n,) or a candidate matrix (n, m). Got an array with {y.ndim} dimensions."
        )
    labels = infer_labels(column_or_1d(y, warn=True))
    refuse_missing_labels(labels)
    if labels.dtype == object:
        _refuse_odd_labels(labels)
    check_classification_targets(labels)
    classes, column = np.unique(labels, return_inverse=True)
    candidates = np.zeros((len(labels), len(classes)), dtype=bool)
    candidates[np.arange(len(labels)), column] = True
    return candidates, classes


def infer_labels(labels: AnyArray) -> AnyArray:
    """The labels (n,) as numbers or bools where objects hold nothing else; text and mixtures stay objects."""
    return np.asarray(pd.Series(labels).infer_objects()) if labels.dtype == object else labels


def refuse_missing_labels(labels: AnyArray) -> None:
    """Raise CandidateError naming the rows whose label (n,) is missing or infinite."""
    unusable = np.asarray(pd.isna(labels))
    if labels.dtype.kind == "f":
        unusable = unusable | np.isinf(labels)
    rows = np.flatnonzero(unusable)
    if len(rows):
        raise CandidateError(
            f"Every row needs a label; NaN, None or infinity in {name_rows(rows)}. "
            "Fix: leave these rows out, or pass a candidate matrix in which all their classes are True."
        )


def _refuse_odd_labels(labels: AnyArray) -> None:
    """Raise CandidateError naming the rows whose label is not text, when they are objects: numbers are none then."""
    rows = np.flatnonzero([not isinstance(label, str) for label in labels])
    if not len(rows):
        return
    got = labels[rows[0]]
    if isinstance(got, (set, frozenset, list, tuple, dict, np.ndarray)):
        raise CandidateError(
            f"A label must be text, a whole number or a bool. Got {got!r} in row {rows[0]}; "
            f"values that are no text are in {name_rows(rows)}. "
            "Fix: for sets of candidates pass a bool matrix or DataFrame with one column for every class."
        )
    raise CandidateError(
        "The labels must all be text, or all whole numbers, or all bools. "
        f"Got {got!r} in row {rows[0]}; values that are no text are in {name_rows(rows)}. "
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
            "Fix: write 1 where the class may be the label and 0 elsewhere."
        )
    return ones


def _sparse_as_bool(y: Any) -> BoolArray:
    """A dense bool matrix from a sparse one whose stored values are bool or 0/1."""
    stored = sparse.csr_matrix(y, copy=True)  # to add up what is stored twice is to change it
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
