"""Checks of training data, shared by all estimators."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, validate_data

from plcore.arrays.array_files import check_feature_size
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    MatrixLike,
    is_sparse,
)
from plcore.arrays.words import quoted
from plcore.labels.accuracy import score_of
from plcore.labels.candidates import (
    SETS,
    CandidateError,
    candidates_among,
    check_candidates,
    holds_sets,
    refuse_other_columns,
)
from plcore.labels.weights import check_sample_weight

CANDIDATES = "a label vector (n,) or a candidate matrix (n, m)"


def require_y(estimator: object, y: LabelsLike, wanted: str = CANDIDATES) -> None:
    """Raise ValueError, in the words that scikit-learn's checks look for, if there is no y. wanted : what to pass"""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Fix: pass {wanted}."
        )


def check_features(
    estimator: object, X: MatrixLike, *, reset: bool, dtype: DTypeLike = np.float64, finite: bool = True
) -> FeatureMatrix:
    """Validate features; return X (n, d) in C order, or CSR, with this `dtype`.

    reset : whether the number and the names of the features are stored in the estimator, as `fit` does, or compared
    with the stored ones      finite : whether `require_finite` checks them, too
    Raises ValueError for text and whatever else is no such matrix, and where a feature is missing or infinite.
    """
    # In one order: a solver that chooses among near ties would end elsewhere for a DataFrame than for its values.
    try:
        X = validate_data(
            estimator, X, accept_sparse="csr", dtype=dtype, order="C", reset=reset, ensure_all_finite=False
        )
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"X must hold numbers: {error}. Fix: make features first, for example with TfidfVectorizer for texts or "
            "OneHotEncoder for categories, both of scikit-learn and fit for a pipeline."
        ) from error
    if finite:
        require_finite(estimator, X)
    return X


def require_finite(estimator: BaseEstimator, X: FeatureMatrix) -> None:
    """Raise ValueError where a feature of X (n, d), dense or CSR, is NaN or infinite, naming the first."""
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    missing = bool(np.isnan(values).any())
    wrong = np.isnan(values) if missing else np.isinf(values)
    if is_sparse(X):
        place = int(np.flatnonzero(wrong)[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    else:
        row, column = (int(number) for number in np.argwhere(wrong)[0])
    name = f"column {column}"
    if hasattr(estimator, "feature_names_in_"):
        name += f" {quoted(str(estimator.feature_names_in_[column]))}"
    count = int(wrong.sum())
    raise ValueError(
        f"Input X contains {'NaN' if missing else 'infinity'} in {count} cell{'s' if count > 1 else ''}, "
        f"the first in row {row}, {name} (both counted from 0). "
        + (
            "Fix: fill in the missing values, for example with sklearn.impute.SimpleImputer in a pipeline, "
            "or drop the columns that have them."
            if missing
            else "Fix: write finite numbers, or drop the columns concerned."
        )
    )


def check_training(
    estimator: object, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None
) -> tuple[FeatureMatrix, BoolArray, AnyArray, FloatArray]:
    """(X float64 (n, d) in C order, or CSR; candidates (n, m); classes (m,); weights (n,) >= 0) of a fit.

    The number and the names of the features are stored in the estimator. Raises CandidateError for candidates that
    break the convention, ValueError for wrong features or weights, and without y.
    """
    X = check_features(estimator, X, reset=True)
    require_y(estimator, y)
    candidates, classes = check_candidates(y)
    check_consistent_length(X, candidates)
    weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_feature_size(X)
    return X, candidates, classes, weights


# Code shared by classifiers of candidate sets, as scikit-learn estimators: accuracy, tags, predictions.


class CandidateScoreMixin(ClassifierMixin):  # type: ignore[misc]
    """Mixin whose `score` accepts labels and candidates, so that `GridSearchCV` can select without clean
    labels.

    List it before other scikit-learn bases, whose `score` accepts label vectors only.
    """

    classes_: AnyArray

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy for labels; for a candidate matrix or sets the share of predictions inside their candidates."""
        return score_of(self.predict(X), y, self.classes_, sample_weight)


class PartialLabelClassifier(CandidateScoreMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers that learn from candidate sets, with rows dense or CSR."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ScoreClassifier(PartialLabelClassifier):
    """Base of classifiers that predict the class with the highest score; they add `fit` and `_scores`."""

    @abstractmethod
    def _scores(self, X: MatrixLike) -> FloatArray:
        """(n, m) scores of unscaled rows X (n, d), -inf for a class that was never a candidate."""

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """(n, m) scores, for m = 2 (n,) = s1 - s0; -inf for a class that was never a candidate."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: MatrixLike) -> AnyArray:
        """(n,) the class with the highest score, a member of `classes_`; ties go to the first class."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])


# New candidates for some training rows, after answers or undo: checked at the door.


def check_update(rows: ArrayLike, candidates: LabelsLike, n: int, classes: AnyArray) -> tuple[IntArray, BoolArray]:
    """Row numbers int64 (r,) and their candidates bool (r, m).

    rows : (r,) distinct numbers of the n training rows, or one
    candidates : (r, m), or (m,) for one row; or sets of class names, r of them, or one for one row
    Raises ValueError for wrong rows, CandidateError for wrong candidates.
    """
    m = len(classes)
    chosen = np.atleast_1d(np.asarray(rows))
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ValueError(f"rows must be row numbers (r,). Got shape {chosen.shape}, dtype {chosen.dtype}.")
    chosen = chosen.astype(np.int64)
    outside = (chosen < 0) | (chosen >= n)
    if outside.any() or len(np.unique(chosen)) != len(chosen):
        raise ValueError(f"rows must be distinct row numbers in 0..{n - 1}. Got {chosen.tolist()}.")
    if isinstance(candidates, SETS):
        candidates = [candidates]
    if holds_sets(candidates):
        candidates = candidates_among(candidates, classes)
    if isinstance(candidates, pd.DataFrame):
        refuse_other_columns("candidates", candidates, classes)
        candidates = candidates.to_numpy()
    given = candidates if is_sparse(candidates) else np.asarray(candidates)
    if given.ndim == 1 and len(chosen) == 1:
        given = given[None]
    if given.shape != (len(chosen), m):
        raise CandidateError(f"candidates must have the shape {(len(chosen), m)}. Got {given.shape}.")
    # One class and a single non-bool column would be read as labels.
    new, _ = check_candidates(pd.DataFrame(given) if isinstance(given, np.ndarray) else given)
    return chosen, new
