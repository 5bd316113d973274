"""What the learners share that regress on soft labels: parameters, scaling, scores of new rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.common.seeds import draw_seed
from plcore.common.types import FloatArray
from plcore.kernel.features import KERNELS
from plcore.kernel.rivals.regression import Fitted, KernelRegression, ScaledKernel
from plcore.kernel.soft_labels import SCALING, SoftLabelClassifier

BLOCK = 4096  # new rows that are scored at a time


class RegressionClassifier(SoftLabelClassifier):
    """Base of learners whose scores are those of a kernel ridge regression on their soft labels.

    Parameters, which mean the same in all of them
    ----------
    alpha : ridge, in units in which the kernel of a row with itself is 1.
    kernel : "rbf" exp(-|x - x'|^2 / 2 s^2), "laplace" exp(-|x - x'|_1 / s), or "linear" x.x' / s^2.
    width : s, in mean distances of two training rows.
    n_components : above 5,000 rows the kernel goes through so many points, drawn rows or centres of k-means, so that
        memory is n * n_components; up to there it is exact.
    scaling : "standard" z-scores the features (sparse ones are not shifted), "minmax" brings each to [0, 1], None takes
        them as they are.
    random_state : of the points, and of the rows whose distances give the width where there are more than 1,000.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNELS))],
        "width": [Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "scaling": SCALING,
    }

    kernel: str
    width: float
    n_components: int
    random_state: Any
    _kernel: ScaledKernel
    _coefficients: FloatArray
    _shift: FloatArray

    def _regression(self, X: Any, weights: FloatArray, alpha: float) -> KernelRegression:
        """The regression for scaled rows X (n, d) of positive weight."""
        random = np.random.RandomState(draw_seed(self.random_state))
        return KernelRegression(
            ScaledKernel(self.kernel, self.n_components, self.width), alpha, X, weights, random
        )

    def _keep(self, regression: KernelRegression, fitted: Fitted) -> None:
        """What new rows are scored by."""
        self._kernel, self._coefficients, self._shift = regression.kernel, fitted.coefficients, fitted.shift

    def _score_rows(self, X: Any) -> FloatArray:
        scores = np.empty((X.shape[0], len(self._shift)))
        for start in range(0, len(scores), BLOCK):
            values = self._kernel.values_of(X[start : start + BLOCK])
            scores[start : start + BLOCK] = values @ self._coefficients + self._shift
        return scores
