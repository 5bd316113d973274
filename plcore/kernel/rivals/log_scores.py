"""What learners share whose scores are logarithms of probabilities, up to a constant of the row."""

from __future__ import annotations

import numpy as np

from plcore.common.types import FloatArray
from plcore.kernel.soft_labels import SoftLabelClassifier
from plcore.kernels import softmax_rows


class LogScoreClassifier(SoftLabelClassifier):
    """Base of learners with scores f(x) (n, m) and probabilities softmax(f), which add `fit` and `_score_rows`."""

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """(n, m) of scores (n, m): their softmax."""
        return np.asarray(softmax_rows(scores, np.broadcast_to(self._possible, scores.shape)))
