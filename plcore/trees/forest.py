"""PLForest: a random forest on soft labels, with out-of-bag scores, started from a kernel ridge."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.types import FeatureMatrix, FloatArray, IntArray, LabelsLike, MatrixLike, RoundProgress, draw_seed
from plcore.kernel.ridge import PLKernelRidge
from plcore.kernel.soft_labels import SoftLabelClassifier, held_out_rounds, share_inside
from plcore.labels.training import check_training
from plcore.labels.weights import check_candidate_weights


@dataclass(eq=False, repr=False)
class PLForest(SoftLabelClassifier):
    """A forest on soft labels, with out-of-bag scores instead of left-out ones.

    Grown directly on the sets, a forest separates rows by their sets instead of their labels. So soft labels come
    first: K, those of a `plcore.kernel.PLKernelRidge`. Then in turns, from Q = K: a forest on the likeliest class of
    each row; P, the shares of the classes in the row's leaves, over the trees whose bootstrap sample does not contain
    it; Q = P K, rows scaled to
    1. So no row confirms its own guess. The rounds end when rows change by less than 0.02 on average, or after max_iter
    of them. A last forest gives new rows their scores, the shares in their leaves.

    The forests are those of Breiman (Machine Learning 2001). Features need no scaling: only their order counts. Trees
    on soft labels, with m targets at once, were tried; the difference was within noise.

    Parameters
    ----------
    n_estimators : trees of each forest. Memory is about
        n_estimators * max_samples * m * 10 bytes, or with n rows for max_samples if there are fewer.
    max_features : columns tried at a split: a share of them, "sqrt" or "log2".
    min_samples_leaf : fewest rows of a leaf.
    max_samples : most rows that a tree is grown on, which bounds time and memory; a bootstrap sample is never larger
        than n.
    max_iter : maximum number of rounds.
    random_state : of samples and splits. The default gives the same model for the same data.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    label_distributions_ : (n, m) soft labels of the training rows, 0 outside of their sets.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    objective_ : mean change of a row in each round, which the rounds reduce; there is no function that they
        minimise. n_iter_; converged_ : whether the last change is below 0.02.
    candidate_accuracy_ : share of out-of-bag predictions that are inside their sets.
    out_of_bag_ : (n, m) shares of the classes for each training row, over the trees that have not seen it.
        `predict_proba` of a training row mostly returns that row's own label.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [StrOptions({"sqrt", "log2"}), Interval(Real, 0, 1, closed="right")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_estimators: int = 300
    max_features: float | str = "sqrt"
    min_samples_leaf: int = 1
    max_samples: int = 10_000
    max_iter: int = 3
    random_state: int | np.random.RandomState | None = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        candidate_weights: MatrixLike | None = None,
        imported: LabelsLike | None = None,
        progress: RoundProgress | None = None,
    ) -> PLForest:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0. Rows of weight 0 are in no tree, but stay in their sources
        groups, candidate_weights, imported : as for `PLKernelRidge.fit`, whose soft labels take them in
        progress : called with (round, mean change) after every round of the kernel ridge and of the forest; an
            exception in it ends the fit
        Warns (UserWarning) if a class is in more than 0.97 of the sets. Raises CandidateError for candidates or their
        weights that break the convention, ValueError for wrong features, weights, groups or parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        given = check_candidate_weights(candidate_weights, candidates.shape, classes)
        seed = draw_seed(self.random_state)
        ridge = PLKernelRidge(random_state=seed)
        ridge.fit(X, candidates, weights, groups=groups, candidate_weights=given, imported=imported, progress=progress)
        start, X = ridge.label_distributions_, X.astype(np.float32)
        del ridge  # with its features of all rows
        learnt: IntArray = np.flatnonzero(weights > 0)
        self._possible = np.asarray(candidates[learnt].any(axis=0))

        def shares_of(labels: FloatArray) -> FloatArray:
            forest = self._grow(X[learnt], labels[learnt], weights[learnt], seed)
            return self._out_of_bag(forest, X, learnt)

        found = held_out_rounds(start, weights, shares_of, self.max_iter, progress)
        self.candidate_accuracy_ = share_inside(found.shares, candidates, weights)
        self._forest = self._grow(X[learnt], found.labels[learnt], weights[learnt], seed)
        self.out_of_bag_ = self._out_of_bag(self._forest, X, learnt)
        self._finish(classes, found.labels, self._possible, None, found.objective, found.converged)
        return self

    def _grow(self, X: FeatureMatrix, labels: FloatArray, weights: FloatArray, seed: int) -> RandomForestClassifier:
        """Grow a forest on float32 rows X (n, d) and the likeliest classes of soft labels (n, m), by weights (n,)."""
        forest = RandomForestClassifier(
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            max_samples=min(self.max_samples, len(labels)),
            bootstrap=True,
            n_jobs=1,
            random_state=seed,
        )
        # Samples are drawn by weights if there are any. That would use other random numbers, even for equal weights.
        return forest.fit(X, labels.argmax(axis=1), None if (weights == 1).all() else weights)

    def _out_of_bag(self, forest: RandomForestClassifier, X: FeatureMatrix, learnt: IntArray) -> FloatArray:
        """Return (n, m) the shares of the classes in each training row's leaves, over the trees that have not seen it;
        equal shares of the possible classes if every tree has. learnt : the rows that the forest was grown on"""
        n = X.shape[0]
        shares, trees = np.zeros((n, len(self._possible))), np.zeros(n)
        for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
            left = np.ones(n, dtype=bool)
            left[learnt[drawn]] = False
            rows: IntArray = np.flatnonzero(left)
            if len(rows):
                shares[np.ix_(rows, forest.classes_)] += tree.predict_proba(X[rows], check_input=False)
                trees[rows] += 1
        even = self._possible / self._possible.sum()
        return np.where(trees[:, None] > 0, shares / np.maximum(trees, 1)[:, None], even)

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        """Return (n, m) the shares of the classes in the leaves that rows X (n, d) reach."""
        scores = np.zeros((X.shape[0], len(self._possible)))
        scores[:, self._forest.classes_] = self._forest.predict_proba(X.astype(np.float32))
        return scores
