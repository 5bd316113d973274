"""Ensembles for candidate sets: scikit-learn's voting and bagging, which take only label vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, _fit_context
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_consistent_length

from plcore.arrays.types import AnyArray, BoolArray, LabelsLike, Matrix, MatrixLike
from plcore.labels.candidates import check_candidates
from plcore.labels.training import CandidateScoreMixin, require_y
from plcore.neighbors.classifier import PLKNeighborsClassifier


class PLVotingClassifier(CandidateScoreMixin, VotingClassifier):  # type: ignore[misc]
    """scikit-learn's `VotingClassifier` for candidate sets: its parameters, methods and attributes.

    Every learner is fitted on the same candidate matrix, so all have the same classes; voting="soft" needs
    `predict_proba` of all. Only the handling of y and `score` (`candidate_accuracy` for candidates) differ.
    """

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike, **fit_params: object) -> PLVotingClassifier:
        """Fit every learner on X (n, d) and y: labels (n,), candidates (n, m) or n sets of class names.

        fit_params : `sample_weight` (n,), if all learners take it
        Raises CandidateError for invalid candidates, and the errors of scikit-learn and the learners.
        """
        require_y(self, y)
        candidates, self.classes_ = check_candidates(y)
        check_consistent_length(X, candidates)
        self.le_ = LabelEncoder()  # maps predictions (columns of the matrix) to classes
        self.le_.classes_ = self.classes_
        super(VotingClassifier, self).fit(X, candidates, **fit_params)
        return self


class PLBaggingClassifier(CandidateScoreMixin, BaggingClassifier):  # type: ignore[misc]
    """scikit-learn's `BaggingClassifier` for candidate sets: its parameters, methods and attributes.

    estimator : learner from candidates; None: PLKNeighborsClassifier(). One that takes `sample_weight` gets the drawn
        rows as weights, others as rows.
    oob_score_ : share of out-of-bag predictions inside their candidates, of the rows that were left out at least once
    """

    classes_: AnyArray
    n_classes_: int

    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> PLBaggingClassifier:
        """Fit on X (n, d) and y: labels (n,), candidates (n, m) or n sets of class names.

        sample_weight : (n,) rows are drawn in proportion to it
        Raises CandidateError for invalid candidates, and the errors of scikit-learn and the learner.
        """
        require_y(self, y)
        candidates, self.classes_ = check_candidates(y)
        super().fit(X, candidates, sample_weight=sample_weight)
        return self

    def _get_estimator(self) -> BaseEstimator:
        return PLKNeighborsClassifier() if self.estimator is None else self.estimator

    def _validate_y(self, y: BoolArray) -> BoolArray:
        """Return the candidates that `fit` has read. scikit-learn calls this to read classes from a label vector."""
        self.n_classes_ = len(self.classes_)
        return y

    def _set_oob_score(self, X: Matrix, y: BoolArray) -> None:
        super()._set_oob_score(X, y.argmax(axis=1))
        shares = self.oob_decision_function_
        seen = np.flatnonzero(np.isfinite(shares).all(axis=1))
        self.oob_score_ = float(y[seen, shares[seen].argmax(axis=1)].mean())
