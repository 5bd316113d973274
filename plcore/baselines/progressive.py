"""PLProgressiveClassifier: any scikit-learn classifier with probabilities, made to learn from candidate sets."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, _fit_context, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import has_fit_parameter

from plcore.arrays.types import (
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    MatrixLike,
    RoundProgress,
    draw_seed,
    is_sparse,
)
from plcore.kernel.soft_labels import SoftLabelClassifier, held_out_rounds, share_inside
from plcore.labels.training import check_training
from plcore.labels.weights import check_candidate_weights, prior_labels


@dataclass(eq=False, repr=False)
class PLProgressiveClassifier(SoftLabelClassifier):
    """Progressive identification of the true labels, around any classifier with `predict_proba`.

    Soft labels Q start as the prior: even in each set, or the candidate weights. Then in turns: the classifier is
    fitted on Q; Q becomes the prior times its probabilities P, inside each set, rows scaled to 1. That is PRODEN (Lv,
    Xu, Feng, Niu, Geng and Sugiyama, ICML 2020, equation 7, which has no prior), with one difference. There a network
    takes one step a batch, so it has not memorised its guesses when they are renewed. A classifier here is fitted to
    the end. So P of a row comes from a fit without it: K fits in each round, each on the other K - 1 parts of the rows.
    The rounds end when rows change by less than 0.02 on average, or after max_iter of them. A last fit on all rows
    predicts new ones; for exact labels it is the fit of the classifier alone.

    A classifier with `sample_weight` learns each row once for each candidate, weighted by Q: memory is that of X, with
    as many rows as there are candidates in all sets together. Others learn each row once, with a label drawn by Q.

    Parameters
    ----------
    estimator : classifier with `predict_proba`, or a pipeline that ends in one; None: HistGradientBoostingClassifier(),
        slow for many classes, because each of its iterations grows a tree for every class. It gets dense rows unless
        its tags say that it takes sparse ones.
    max_iter : maximum number of rounds.
    n_folds : K, the parts of the rows; fewer for fewer rows.
    random_state : of the parts, the drawn labels, and of every `random_state` of the estimator that is None.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    estimator_ : the last fit, whose `classes_` are numbers of columns; those that no row may have are missing.
    label_distributions_ : (n, m) soft labels of the training rows, 0 outside of their sets.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    objective_ : mean change of a row in each round; n_iter_; converged_ : whether the last change is below 0.02.
    candidate_accuracy_ : share of held-out predictions that are inside their sets.
    out_of_bag_ : (n, m) P of the last round: for each training row the probabilities by the fit without it.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    estimator: BaseEstimator | None = None
    max_iter: int = 5
    n_folds: int = 3
    random_state: int | np.random.RandomState | None = 0

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        *,
        candidate_weights: MatrixLike | None = None,
        progress: RoundProgress | None = None,
    ) -> PLProgressiveClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0. Rows of weight 0 are in no fit. For a classifier without weights, rows are drawn
            in proportion to unequal ones
        candidate_weights : (n, m) prior weights of the candidates, None for even ones
        progress : called with (round, mean change) after every round; an exception in it ends the fit
        Raises CandidateError for candidates or their weights that break the convention, ValueError for wrong features,
        weights or parameters, and what the classifier raises.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        prior = prior_labels(candidates, check_candidate_weights(candidate_weights, candidates.shape, classes))
        seed = draw_seed(self.random_state)
        rng = np.random.default_rng(seed)
        learnt: IntArray = np.flatnonzero(weights > 0)
        self._possible = np.asarray(candidates[learnt].any(axis=0))

        def shares_of(labels: FloatArray) -> FloatArray:
            return self._held_out(X, labels, weights, learnt, seed, rng)

        found = held_out_rounds(prior, weights, shares_of, self.max_iter, progress)
        self.candidate_accuracy_ = share_inside(found.shares, candidates, weights)
        self.out_of_bag_ = found.shares
        self.estimator_ = self._fit_one(X, found.labels, weights, learnt, seed, rng)
        self._finish(classes, found.labels, self._possible, None, found.objective, found.converged)
        return self

    def _held_out(
        self,
        X: FeatureMatrix,
        labels: FloatArray,
        weights: FloatArray,
        learnt: IntArray,
        seed: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """Return (n, m) the probabilities of each row by a fit without it; equal ones of the possible classes if there
        is only one row to learn from. Rows without weight, which are in no fit, are predicted by that of the first
        part."""
        n, parts = X.shape[0], min(self.n_folds, len(learnt))
        shares = np.broadcast_to(self._possible / self._possible.sum(), labels.shape).copy()
        if parts < 2:
            return shares
        others = np.setdiff1d(np.arange(n), learnt)
        for train, test in KFold(parts, shuffle=True, random_state=seed).split(learnt):
            model = self._fit_one(X, labels, weights, learnt[train], seed, rng)
            rows = np.concatenate([learnt[test], others])
            shares[rows] = self._probabilities_of(model, X[rows])
            others = others[:0]
        return shares

    def _make(self) -> BaseEstimator:
        """Return the classifier, unfitted."""
        return HistGradientBoostingClassifier() if self.estimator is None else clone(self.estimator)

    def _fit_one(
        self,
        X: FeatureMatrix,
        labels: FloatArray,
        weights: FloatArray,
        rows: IntArray,
        seed: int,
        rng: np.random.Generator,
    ) -> BaseEstimator:
        """Fit a classifier on these rows (r,), with soft labels (n, m) and weights (n,)."""
        estimator = self._make()
        unseeded = {
            name: seed
            for name, value in estimator.get_params().items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        }
        estimator.set_params(**unseeded)
        last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
        weighted = has_fit_parameter(last[1], "sample_weight")
        if weighted:
            places, columns = np.nonzero(labels[rows])
            rows = rows[places]
            amounts = labels[rows, columns] * weights[rows]
        else:
            if np.ptp(weights[rows]) > 0:
                rows = rng.choice(rows, len(rows), p=weights[rows] / weights[rows].sum())
            points = rng.random(len(rows)) * (1 - 1e-12)
            columns = (np.cumsum(labels[rows], axis=1) > points[:, None]).argmax(axis=1)
        if (columns == columns[0]).all():  # most classifiers refuse a single class
            estimator, last, weighted = DummyClassifier(), ("", None), False
        name = f"{last[0]}__sample_weight" if last[0] else "sample_weight"
        told = {name: amounts} if weighted and (amounts != 1).any() else {}
        return estimator.fit(_rows_for(estimator, X[rows]), columns, **told)

    def _probabilities_of(self, model: BaseEstimator, X: FeatureMatrix) -> FloatArray:
        """Return (q, m) the probabilities by a fit of `_fit_one`; 0 for a class that it has not seen."""
        shares = np.zeros((X.shape[0], len(self._possible)))
        shares[:, model.classes_] = model.predict_proba(_rows_for(model, X))
        return shares

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        """Return (q, m) the probabilities of the classes for rows X (q, d)."""
        return self._probabilities_of(self.estimator_, X)


def _rows_for(model: BaseEstimator, X: FeatureMatrix) -> FeatureMatrix:
    """Return rows X (q, d) as the model takes them: dense, or sparse if its tags allow it."""
    return X.toarray() if is_sparse(X) and not get_tags(model).input_tags.sparse else X
