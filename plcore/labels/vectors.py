"""Label vectors with missing labels: one written convention, and the check at the door.

`y` is (n, L): 1 yes, 0 no, -1 or NaN *not asked*, which is not *no*. Inside: `values` (n, L) float, 0 if not
asked, and `known` (n, L) bool. A plain label vector (n,) is the special case of one yes in each row, nothing missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, LabelsLike, is_sparse
from plcore.labels.candidates import CandidateError, check_candidates, column_names, holds_sets, is_candidate_matrix

UNKNOWN = -1


@dataclass(frozen=True)
class LabelVectors:
    """values (n, L) 0.0 or 1.0, 0.0 if not asked; known (n, L); classes (L,); single: made of a label vector."""

    values: FloatArray
    known: BoolArray
    classes: AnyArray
    single: bool

    @property
    def cells(self) -> AnyArray:
        """(n, L) int8: 1, 0, and -1 if not asked."""
        return np.where(self.known, self.values, UNKNOWN).astype(np.int8)


def check_label_vectors(y: LabelsLike, matrix: bool = False) -> LabelVectors:
    """Read label vectors with missing labels, or a plain label vector.

    y : (n, L) array, DataFrame (column names become the classes) or SciPy sparse matrix (what is not stored is
        0) of 1, 0 and -1 or NaN; or (n,) labels
    matrix : y is (n, L) whatever its width, never a label vector, and all of its cells may be unknown
    Raises CandidateError, naming row and column, for any other value; for repeated column names, no columns, and
    when no cell at all is known unless `matrix`. Does not change `y`.
    """
    if holds_sets(y):
        raise CandidateError(
            "Label vectors must be a matrix (n, L): a set of names does not distinguish wrong labels from labels not "
            "asked about. Fix: if the others are wrong, sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)."
        )
    if not matrix and not is_candidate_matrix(y):
        candidates, classes = check_candidates(y)
        return LabelVectors(candidates.astype(np.float64), np.ones(candidates.shape, dtype=bool), classes, True)
    if isinstance(y, pd.DataFrame):
        classes = column_names(y)
        if not y.columns.is_unique:
            repeated = y.columns[y.columns.duplicated()].unique().tolist()
            raise CandidateError(
                f"The label columns must have different names: {repeated!r} come more than once. "
                "Fix: give every label its own column name."
            )
        array = y.to_numpy()
    else:
        array = y.toarray() if is_sparse(y) else np.asarray(y)
        if array.ndim != 2:
            raise CandidateError(f"Label vectors must be a matrix (n, L). Got shape {array.shape}.")
        classes = np.arange(array.shape[1])
    if array.shape[1] == 0:
        raise CandidateError("The label vectors have no columns. Fix: give one column for every label.")
    values, known = _read(array, classes)
    if not known.any() and not matrix:
        raise CandidateError(
            "No cell of y is known: all are -1 or NaN (not asked). "
            "Fix: ask at least one label, or pass rows with known labels."
        )
    return LabelVectors(values, known, classes, False)


def _read(array: AnyArray, classes: AnyArray) -> tuple[FloatArray, BoolArray]:
    """Values and known cells; CandidateError for a cell that is neither 1, 0, -1 nor missing."""
    missing = np.asarray(pd.isna(array))
    if missing.any():
        array = np.where(missing, UNKNOWN, array.astype(object) if array.dtype.kind in "mM" else array)
    yes, no = np.asarray(array == 1, dtype=bool), np.asarray(array == 0, dtype=bool)
    empty = missing | np.asarray(array == UNKNOWN, dtype=bool)
    wrong = ~(yes | no | empty)
    if wrong.any():
        row = int(wrong.any(axis=1).argmax())
        column = int(wrong[row].argmax())
        got, name = array[[row], [column]].tolist()[0], classes.tolist()[column]
        others = int(wrong.sum()) - 1
        raise CandidateError(
            f"A label is 1 (yes), 0 (no), or -1 or NaN (not asked). Got {got!r} in row {row} (counted from 0), "
            f"column {name!r}" + (f", and {others} more such cells" if others else "") + ". "
            "Fix: write 1, 0 or leave the cell empty."
        )
    return yes.astype(np.float64), yes | no
