"""What classifiers of candidate sets have in common as scikit-learn's estimators: accuracy, tags, predictions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from plcore.common.types import AnyArray, FloatArray
from plcore.labels.accuracy import score_of


class CandidateScoreMixin(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose `score` reads labels and candidates, so that `GridSearchCV` selects without a clean label.

    It stands before other bases from scikit-learn, whose `score` is that of label vectors alone.
    """

    classes_: AnyArray

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy for labels; for a candidate matrix or sets the share of predictions inside their candidates."""
        return score_of(self.predict(X), y, self.classes_, sample_weight)


class PartialLabelClassifier(CandidateScoreMixin, BaseEstimator):  # type: ignore[misc]
    """Base of classifiers that learn from candidate sets, with rows dense or CSR."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ScoreClassifier(PartialLabelClassifier):
    """Base of those that predict the class of the highest score; they add `fit` and `_scores`."""

    @abstractmethod
    def _scores(self, X: Any) -> FloatArray:
        """(n, m) scores of rows X (n, d) as they come, -inf for a class that was never a candidate."""

    def decision_function(self, X: Any) -> FloatArray:
        """(n, m) scores, for m = 2 (n,) = s1 - s0; -inf for a class that was never a candidate."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> AnyArray:
        """(n,) the class with the highest score, a member of `classes_`; ties go to the first class."""
        scores = self._scores(X)
        return np.asarray(self.classes_[scores.argmax(axis=1)])
