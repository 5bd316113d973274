"""Candidate accuracy: the share of predictions inside their candidate sets, which classifiers' `score`
returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d

from plcore.arrays.types import AnyArray, BoolArray, IntArray, LabelsLike, MatrixLike
from plcore.arrays.words import shortened
from plcore.labels.candidates import (
    CandidateError,
    as_array,
    candidates_among,
    check_candidates,
    column_names,
    holds_sets,
    infer_labels,
    is_candidate_matrix,
    refuse_missing_labels,
)
from plcore.labels.weights import check_sample_weight


def candidate_accuracy(
    candidates: LabelsLike,
    y_pred: ArrayLike,
    classes: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the share of predictions that are inside their candidate set.

    candidates : candidate matrix (n, m), sets of class names or label vector, as `check_candidates` takes them
    y_pred : (n,) predicted labels, members of `classes`; any other label is outside of every set
    classes : (m,) names of the columns; None: the columns of a DataFrame, the labels of sets or a label vector, else
        0..m-1. Sets name their classes themselves: each name must be among these, in any order
    sample_weight : (n,) weights of the rows, None for equal ones
    Raises CandidateError for wrong candidates, a wrong number of classes, or predictions of which none is a
    class, nor of the kind of the classes (text for numbers); ValueError for lengths that differ, no rows, and weights
    that are not finite or all 0.
    """
    if holds_sets(candidates) and classes is not None:
        candidates = candidates_among(candidates, np.asarray(classes))
    candidates, names = check_candidates(candidates)
    predicted = np.asarray(y_pred)
    if predicted.shape != (len(candidates),) or not len(predicted):
        raise ValueError(
            f"y_pred must be {len(candidates)} labels, one for each row, at least one. Got shape {predicted.shape}."
        )
    weights = check_sample_weight(sample_weight, candidates)
    if classes is not None:
        names = np.asarray(classes)
        if names.shape != (candidates.shape[1],):
            raise CandidateError(
                f"classes must name the {candidates.shape[1]} columns of the candidates. Got shape {names.shape}."
            )
        if not pd.Index(names).is_unique:
            raise CandidateError("classes must be different from one another.")
    columns = pd.Index(names).get_indexer(pd.Index(predicted))
    if (columns < 0).all() and _kind(predicted) != _kind(names):
        raise CandidateError(
            f"y_pred holds {_kind(predicted)} such as {_shown(predicted[:1])}, but the classes are "
            f"{_kind(names)}: {_shown(names)}. "
            "Fix: pass classes=, or candidates as a DataFrame with the labels as column names."
        )
    inside: BoolArray = candidates[np.arange(len(candidates)), columns] & (columns >= 0)
    return float(np.average(inside, weights=weights))


def score_of(predicted: AnyArray, y: LabelsLike, classes: AnyArray, sample_weight: ArrayLike | None = None) -> float:
    """Compute `score(X, y)` of a classifier: accuracy for labels, `candidate_accuracy` for a matrix or sets.

    predicted (n,), classes (m,) : the predictions for X, members of `classes_`      y : labels or candidates
    Raises CandidateError for a DataFrame none of whose columns is a class, for missing labels, and as
    `candidate_accuracy`.
    """
    if isinstance(y, pd.DataFrame):
        names = column_names(y)
        if len(names) and (pd.Index(names).get_indexer(pd.Index(classes)) < 0).all():
            raise CandidateError(
                f"The columns of y must be classes: {_shown(classes)}. Got {_shown(names)}. "
                "Fix: give the columns the names that they had in fit."
            )
        return candidate_accuracy(y, predicted, sample_weight=sample_weight)
    plain = _kind(classes) in ("text", "numbers", "bools")
    if plain and holds_sets(y):  # held-out rows may have class names that no training row had
        return candidate_accuracy(y, predicted, sample_weight=sample_weight)
    vector = isinstance(y, (np.ndarray, pd.Series)) and y.ndim == 1  # whose tuples may be names of a MultiIndex
    if (plain or not vector) and is_candidate_matrix(y):
        return candidate_accuracy(y, predicted, classes, sample_weight=sample_weight)
    if plain:
        labels = infer_labels(column_or_1d(as_array(y)))
        refuse_missing_labels(labels)
        return float(accuracy_score(labels, predicted, sample_weight=sample_weight))
    # Class names of another kind, or of several: each stays what it is. NumPy would make numbers of some dates.
    own, guessed = (pd.Series(labels, dtype=object).to_numpy() for labels in (cast("AnyArray", y), predicted))
    check_consistent_length(own, guessed, sample_weight)
    return float(np.average(own == guessed, weights=None if sample_weight is None else np.asarray(sample_weight)))


def _kind(labels: AnyArray) -> str:
    """Describe the kind of these labels for users."""
    found = pd.api.types.infer_dtype(labels, skipna=False)
    kinds = {"string": "text", "integer": "numbers", "floating": "numbers", "boolean": "bools"}
    return kinds.get(found, f"values of type {found}")


def _shown(labels: AnyArray) -> str:
    """The first labels, as shown in a message."""
    shown = ", ".join(shortened(repr(label)) for label in labels[:6].tolist())
    return shown + (", ..." if len(labels) > 6 else "")


# Folds for candidate matrices: every class, as far as the sets tell, is spread evenly over the folds.


class PartialKFold(KFold):  # type: ignore[misc]
    """K folds of rows with candidate sets, spread evenly by soft class mass; scikit-learn's splitter API.

    A row adds 1/|S| to each class of its set S. Rows are assigned n_splits at a time, those with rare classes first:
    each fold gets one of them, so that the folds' sums of each class differ least. Sizes differ by one row at most. For
    a label vector this is stratification.

    n_splits : at least 2      shuffle : whether rows with equal sets are dealt in random order
    random_state : of that order; None draws again each time, an int gives the same folds every time
    """

    def __init__(
        self, n_splits: int = 5, shuffle: bool = True, random_state: int | np.random.RandomState | None = None
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)

    def split(
        self, X: MatrixLike, y: LabelsLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield train and test rows of each fold. y : label vector (n,) or candidate matrix (n, m).

        Raises ValueError if y is missing or there are fewer rows than folds, CandidateError for candidates
        that break the convention.
        """
        if y is None:
            raise ValueError(
                "PartialKFold spreads rows by their candidates: y must be a label vector (n,) or a candidate matrix "
                "(n, m). Got None. Fix: pass y, or take sklearn.model_selection.KFold."
            )
        yield from super().split(X, y, groups)

    def _iter_test_indices(self, X: MatrixLike, y: LabelsLike, groups: object) -> Iterator[IntArray]:  # noqa: ARG002
        candidates, _ = check_candidates(y)
        fold = deal(candidates, self.n_splits, check_random_state(self.random_state) if self.shuffle else None)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold == number)


def deal(candidates: BoolArray, n_folds: int, random: np.random.RandomState | None) -> IntArray:
    """Return (n,) the fold of each row of candidates (n, m). random : orders rows with equal sets."""
    n, m = candidates.shape
    soft = candidates / candidates.sum(axis=1, keepdims=True)
    order = _rare_first(
        candidates, soft.sum(axis=0).round(9), np.arange(n) if random is None else random.permutation(n)
    )
    sums = np.zeros((n_folds, m))
    fold: IntArray = np.empty(n, dtype=np.int64)
    for start in range(0, n, n_folds):
        rows = order[start : start + n_folds]
        # The sum of squares grows by 2 q.s + q.q when a row with masses q joins a fold with sums s.
        row, chosen = linear_sum_assignment(soft[rows] @ sums.T)
        fold[rows[row]] = chosen
        sums[chosen] += soft[rows[row]]
    return fold


def deal_whole(
    candidates: BoolArray, sources: IntArray | None, n_folds: int, random: np.random.RandomState | None
) -> IntArray:
    """Return (n,) a fold for each row, the same for all rows of a source (n,). Like `deal` without sources,
    with fewer than two sources per fold, or if one source has more rows than a fold."""
    if sources is None:
        return deal(candidates, n_folds, random)
    _, first, codes, sizes = np.unique(sources, return_index=True, return_inverse=True, return_counts=True)
    if len(first) < 2 * n_folds or sizes.max() * n_folds > len(codes):
        return deal(candidates, n_folds, random)
    folds = np.arange(len(first)) % n_folds
    dealt = np.empty_like(folds)
    # In the order of their first rows: source numbers carry no meaning.
    dealt[np.argsort(first)] = folds if random is None else random.permutation(folds)
    return np.asarray(dealt[codes])


def _rare_first(candidates: BoolArray, mass: AnyArray, rows: IntArray) -> IntArray:
    """The rows by their rarest class, then by their set, so that rows with equal sets are together."""
    by_mass = np.argsort(mass, kind="stable")
    ranked = candidates[rows][:, by_mass]
    keys = np.packbits(ranked, axis=1)  # the rarest class is the highest bit
    return np.asarray(rows[np.lexsort(keys.T[::-1])[::-1]])
