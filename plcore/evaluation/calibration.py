"""Probabilities that mean what they say, fitted without a clean label: one temperature, by held-out candidate sets."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context, clone
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from plcore.common.types import AnyArray, FloatArray
from plcore.kernels.shares import softmax_rows
from plcore.labels.candidates import check_candidates
from plcore.labels.estimators import CandidateScoreMixin
from plcore.labels.folds import PartialKFold
from plcore.labels.scores import score_columns
from plcore.labels.temperature import fit_temperature
from plcore.labels.training import require_y
from plcore.neighbors.classifier import PLKNeighborsClassifier


class PLCalibratedClassifier(CandidateScoreMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner whose `predict_proba` is softmax(scores / T), T as held-out candidate sets are likeliest.

    Temperature scaling (Guo et al., ICML 2017) with the likelihood of partial labels in place of that of labels: T
    maximises sum_i log sum_{c in S_i} p_c(x_i), the p of models that have not seen row i. The counterpart of
    scikit-learn's `CalibratedClassifierCV`, which takes label vectors alone. Predictions stay those of the learner.
    Where distractors resemble the truth, sets are likelier than labels, and p is a little too sure.

    Parameters
    ----------
    estimator : learner from candidates with `decision_function` or `predict_proba` (whose logarithm is scaled then);
        None: PLKNeighborsClassifier().
    cv : folds, an int for PartialKFold with a fixed seed, or a splitter of scikit-learn's kind.

    Attributes
    ----------
    estimator_ : fitted on all rows.      temperature_ : T, in units of the scores      classes_ (m,)
    candidate_likelihood_ : mean probability of the held-out rows' candidate sets at T.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "cv": [Interval(Integral, 2, None, closed="left"), HasMethods(["split"])],
    }

    def __init__(self, estimator: Any = None, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> PLCalibratedClassifier:
        """Fit on X (n, d) and y: labels (n,), candidates (n, m) or n sets of class names.

        Raises CandidateError for candidates that break the convention, ValueError for fewer rows than folds, and what
        the learner raises.
        """
        require_y(self, y)
        candidates, self.classes_ = check_candidates(y)
        check_consistent_length(X, candidates)
        named = pd.DataFrame(candidates, columns=pd.Index(self.classes_))
        learner = PLKNeighborsClassifier() if self.estimator is None else self.estimator
        # First, so that wrong input meets the learner's own words.
        self.estimator_ = clone(learner).fit(X, named)
        folds = self.cv if hasattr(self.cv, "split") else PartialKFold(int(self.cv), random_state=0)
        (X,) = indexable(X)
        found, seen = [], []
        for train, test in folds.split(X, candidates):
            model = clone(learner).fit(_safe_indexing(X, train), named.iloc[train])
            found.append(_scores(model, _safe_indexing(X, test)))
            seen.append(candidates[test])
        scores, inside = np.concatenate(found), np.concatenate(seen)
        self.temperature_ = fit_temperature(scores, inside)
        self.candidate_likelihood_ = float(
            _shares(scores, self.temperature_).sum(axis=1, where=inside).mean()
        )
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """(n, m) softmax(scores / temperature_)."""
        check_is_fitted(self)
        return _shares(_scores(self.estimator_, X), self.temperature_)

    def predict(self, X: Any) -> AnyArray:
        """(n,) as the learner predicts."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    @property
    def n_features_in_(self) -> int:
        """Of the fitted learner."""
        return int(self.estimator_.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.estimator is None or self.estimator.__sklearn_tags__().input_tags.sparse
        return tags


def _shares(scores: FloatArray, temperature: float) -> FloatArray:
    """(n, m) softmax(scores / temperature)."""
    return np.asarray(softmax_rows(scores / temperature, np.ones(scores.shape, dtype=bool)))


def _scores(model: Any, X: Any) -> FloatArray:
    """(n, m) scores of a fitted learner."""
    if not hasattr(model, "decision_function"):
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(model.predict_proba(X)))
    return score_columns(model.decision_function(X)).astype(np.float64)
