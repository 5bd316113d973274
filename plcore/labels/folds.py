"""Folds for candidate matrices: every class, as far as the sets tell, as much in one fold as in another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.labels.candidates import check_candidates


class PartialKFold(KFold):  # type: ignore[misc]
    """K folds of rows with candidate sets, spread evenly by soft class mass; scikit-learn's splitter API.

    A row adds 1/|S| to each class of its set S. Rows are taken n_splits at a time, those with rare classes first, and
    every fold gets one of them, in the way that leaves the folds' sums of each class most alike. Sizes differ by one
    row at most. For a label vector this is stratification.

    n_splits : at least 2      shuffle : rows of equal sets are taken in a random order, not in theirs
    random_state : of that order; None draws anew each time, an int gives the same folds every time
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Train and test rows of each fold. y : label vector (n,) or candidate matrix (n, m).

        Raises ValueError where y is missing or there are fewer rows than folds, CandidateError for candidates that
        break the convention.
        """
        if y is None:
            raise ValueError(
                "PartialKFold spreads rows by their candidates: y must be a label vector (n,) or a candidate matrix "
                "(n, m). Got None. Fix: pass y, or take sklearn.model_selection.KFold."
            )
        yield from super().split(X, y, groups)

    def _iter_test_indices(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[IntArray]:  # noqa: ARG002
        candidates, _ = check_candidates(y)
        fold = deal(
            candidates, self.n_splits, check_random_state(self.random_state) if self.shuffle else None
        )
        for number in range(self.n_splits):
            yield np.flatnonzero(fold == number)


def deal(candidates: BoolArray, n_folds: int, random: np.random.RandomState | None) -> IntArray:
    """(n,) the fold of each row of candidates (n, m). random : of the order of rows with equal sets."""
    n, m = candidates.shape
    soft = candidates / candidates.sum(axis=1, keepdims=True)
    order = _rare_first(
        candidates, soft.sum(axis=0), np.arange(n) if random is None else random.permutation(n)
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


def _rare_first(candidates: BoolArray, mass: AnyArray, rows: IntArray) -> IntArray:
    """The rows by their rarest class, then by their set, so that rows with equal sets stand together."""
    by_mass = np.argsort(mass, kind="stable")
    ranked = candidates[rows][:, by_mass]
    keys = np.packbits(ranked, axis=1)  # the rarest class is the highest bit
    return np.asarray(rows[np.lexsort(keys.T[::-1])[::-1]])
