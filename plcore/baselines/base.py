"""Code shared by the learners that regress on soft labels: parameters, scaling, scores of new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from itertools import combinations_with_replacement
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, IntArray, Matrix, draw_seed, is_sparse
from plcore.baselines.regression import Fitted, KernelRegression, ScaledKernel
from plcore.kernel.features import KERNELS
from plcore.kernel.soft_labels import SCALING, SoftLabelClassifier
from plcore.kernels import softmax_rows
from plcore.labels.weights import project_rows
from plcore.neighbors import make_search

BLOCK = 4096  # new rows scored at a time


@dataclass(eq=False, repr=False)
class RegressionClassifier(SoftLabelClassifier):
    """Base of learners whose scores are those of a kernel ridge regression on their soft labels.

    Parameters (the same in all subclasses)
    ----------
    alpha : ridge, in units in which the kernel of a row with itself is 1.
    kernel : "rbf" exp(-|x - x'|^2 / 2 s^2), "laplace" exp(-|x - x'|_1 / s), or "linear" x.x' / s^2.
    width : s, in mean distances of two training rows.
    n_components : above 5,000 rows the kernel is approximated by this many points (sampled rows or k-means centres), so
        that memory is n * n_components; below that it is exact.
    scaling : "standard" z-scores the features (sparse ones are not shifted), "minmax" brings each to [0, 1], None does
        not scale.
    random_state : seed of the points, and of the sample of rows for the width if there are more than 1,000.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(set(KERNELS))],
        "width": [Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "scaling": SCALING,
    }

    alpha: float = 0.05
    _: KW_ONLY
    kernel: str = "rbf"
    width: float = 1.0
    n_components: int = 2000
    scaling: str | None = "standard"
    random_state: int | np.random.RandomState | None = 0

    def _regression(self, X: Matrix, weights: FloatArray, alpha: float) -> KernelRegression:
        """Build the regression for scaled rows X (n, d) of positive weight."""
        random = np.random.RandomState(draw_seed(self.random_state))
        return KernelRegression(ScaledKernel(self.kernel, self.n_components, self.width), alpha, X, weights, random)

    def _keep(self, regression: KernelRegression, fitted: Fitted) -> None:
        """Keep the function that scores new rows."""
        self._kernel, self._coefficients, self._shift = regression.kernel, fitted.coefficients, fitted.shift

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        scores = np.empty((X.shape[0], len(self._shift)))
        for start in range(0, len(scores), BLOCK):
            values = self._kernel.values_of(X[start : start + BLOCK])
            scores[start : start + BLOCK] = values @ self._coefficients + self._shift
        return scores


# Code shared by learners whose scores are logarithms of probabilities, up to a constant of the row.


class LogScoreClassifier(SoftLabelClassifier):
    """Base of learners with scores f(x) (n, m) and probabilities softmax(f), which add `fit` and `_score_rows`."""

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the softmax (n, m) of scores (n, m)."""
        return np.asarray(softmax_rows(scores, np.broadcast_to(self._possible, scores.shape)))


# The complementary classifier of PL-CL: a second regression, on the labels that rows do not have.


class Complement:
    """Confidences q (n, m) that a row does not have a label, and a regression on them, next to labels Y (n, m).

        a |q - Fc|^2 + a ridge |Ac|_K^2 + b |1 - Y - q|^2,   1 - S <= q <= 1

    regression : of Fc      candidates : S (n, m)      weight, agreement : a, b
    """

    def __init__(self, regression: KernelRegression, candidates: BoolArray, weight: float, agreement: float) -> None:
        self._regression, self._weight, self._agreement = regression, weight, agreement
        self._outside = (~candidates).astype(np.float64)
        self._confidences = self._outside
        self._fitted = regression.solve(self._confidences)

    def aim(self, scores: FloatArray, labels: FloatArray) -> tuple[FloatArray, float]:
        """Update q for labels Y; return (T, w) with w |Y - T|^2 = |Y - F|^2 + b |Y - (1 - q)|^2 up to a constant.

        scores : F (n, m) of the regression on Y
        """
        a, b = self._weight, self._agreement
        best = (a * self._fitted.scores + b * (1.0 - labels)) / (a + b)
        self._confidences = np.clip(best, self._outside, 1.0)
        return (scores + b * (1.0 - self._confidences)) / (1.0 + b), 1.0 + b

    def cost(self, labels: FloatArray) -> float:
        """Return the function above for new labels Y (n, m), after a regression on q."""
        fitted = self._fitted = self._regression.solve(self._confidences)
        own = float(np.square(self._confidences - fitted.scores).sum()) + fitted.penalty
        apart = float(np.square(1.0 - labels - self._confidences).sum())
        return self._weight * own + self._agreement * apart


# Quadratics over the simplices of candidate sets, by accelerated projected gradients.

BOUND_STEPS = 20


def minimise(
    multiply: Callable[[FloatArray], FloatArray],
    linear: AnyArray | float,
    curvature: FloatArray | float,
    inside: BoolArray,
    start: FloatArray,
    max_steps: int,
    tolerance: float,
) -> FloatArray:
    """Return the Y (n, m) with the least 1/2 <Y, Q Y> - <C, Y>, each row in the simplex of its set.

    multiply : Y -> Q Y, Q symmetric and positive semidefinite      linear : C (n, m), or 0
    curvature : at least the largest eigenvalue of Q; (n, 1) if each row has its own
    start : (n, m) inside the simplices; the result is never worse
    max_steps : maximum number of steps      tolerance : stops when a gradient step moves no row by more, summed over
    the classes
    FISTA (Beck and Teboulle, 2009), restarted when a step increases the value (O'Donoghue and Candes, 2015).
    """
    point, product = start, multiply(start)
    value = _value(point, product, linear)
    ahead, ahead_product, momentum = point, product, 1.0
    for _ in range(max_steps):
        new = project_rows(ahead - (ahead_product - linear) / curvature, inside)
        new_product = multiply(new)
        new_value = _value(new, new_product, linear)
        if new_value > value:
            if momentum == 1.0:
                break  # a plain step descends, except for rounding
            ahead, ahead_product, momentum = point, product, 1.0
            continue
        moved = float(np.abs(new - ahead).sum(axis=1).max())
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        push = (momentum - 1.0) / following
        ahead = new + push * (new - point)
        ahead_product = new_product + push * (new_product - product)
        point, product, value, momentum = new, new_product, new_value, following
        if moved <= tolerance:
            break
    return point


def _value(point: FloatArray, product: FloatArray, linear: AnyArray | float) -> float:
    return float(np.sum(point * (0.5 * product - linear)))


def eigenvalue_bound(matrix: FeatureMatrix) -> float:
    """Return an upper bound of the largest eigenvalue of |Q|, for Q (n, n) symmetric, dense or sparse.

    max_i (B x)_i / x_i is a bound for any x > 0 (Collatz and Wielandt), with B = |Q| + I; powers of B lower it.
    """
    size = abs(matrix)
    vector = np.ones(size.shape[0])
    bound = np.inf
    for _ in range(BOUND_STEPS):
        following = size @ vector + vector
        bound = min(bound, float((following / vector).max()) - 1.0)
        vector = following / following.max()
    return bound


# Rows as means of their neighbours: the neighbours, the reconstruction weights, and labels that follow them.

NEIGHBORHOODS_BLOCK = 1024  # rows whose differences to their neighbours are in memory at a time
STEPS = 150  # maximum gradient steps at a time
TOLERANCE = 1e-4  # move of a row at which they end; the rounds of a learner continue there, and become as exact


def own_neighbors(X: Matrix, n_neighbors: int) -> tuple[IntArray, FloatArray]:
    """Return (neighbors, distances), each (n, k), of rows X (n, d) among the others; k = n_neighbors, or all."""
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k == 0:
        return np.zeros((n, 0), dtype=np.int64), np.zeros((n, 0))
    return make_search(X, k).nearest(X, k, np.arange(n))


def as_matrix(neighbors: IntArray, weights: FloatArray) -> sparse.csr_matrix:
    """Return CSR (n, n): row i holds the weights (n, k) of the neighbours of i."""
    n, k = neighbors.shape
    return sparse.csr_matrix((weights.ravel(), neighbors.ravel(), np.arange(n + 1) * k), shape=(n, n))


def difference_products(X: Matrix, neighbors: IntArray) -> FloatArray:
    """Return (n, k, k): (x_i - x_a).(x_i - x_b) for each row i of X (n, d) and its neighbours a, b (n, k)."""
    n, k = neighbors.shape
    products = np.empty((n, k, k))
    for start in range(0, n, NEIGHBORHOODS_BLOCK):
        part, own = neighbors[start : start + NEIGHBORHOODS_BLOCK], X[start : start + NEIGHBORHOODS_BLOCK]
        found = products[start : start + NEIGHBORHOODS_BLOCK]
        if not is_sparse(X):
            away = own[:, None] - X[part]
            np.matmul(away, away.transpose(0, 2, 1), out=found)
            continue
        columns = [own - X[part[:, slot]] for slot in range(k)]
        for a, b in combinations_with_replacement(range(k), 2):
            found[:, a, b] = found[:, b, a] = np.asarray(columns[a].multiply(columns[b]).sum(axis=1)).ravel()
    return products


def reconstruction_weights(products: FloatArray, start: FloatArray) -> FloatArray:
    """Return weights (n, k) >= 0 with sum 1 and the least w_i' G_i w_i, for `difference_products` G (n, k, k): the
    weighted mean of its neighbours nearest to a row. start : initial weights (n, k); the result is never worse."""
    if products.shape[1] < 2:
        return start
    largest = np.linalg.eigvalsh(products)[:, -1:]

    def multiply(weights: FloatArray) -> FloatArray:
        return np.asarray(np.matmul(products, weights[:, :, None])[:, :, 0])

    return minimise(
        multiply, 0.0, np.where(largest > 0, largest, 1.0), np.ones(start.shape, dtype=bool), start, STEPS, TOLERANCE
    )


class Reconstruction:
    """Y - W Y for rows whose neighbours (n, k) have weights (n, k): the difference between labels and the
    mean of their neighbours' labels."""

    def __init__(self, neighbors: IntArray, weights: FloatArray) -> None:
        self._lack = (sparse.identity(len(neighbors)) - as_matrix(neighbors, weights)).tocsr()
        self._back = self._lack.T.tocsr()

    def loss(self, labels: FloatArray) -> float:
        """Return |Y - W Y|^2 for labels Y (n, m)."""
        return float(np.square(self._lack @ labels).sum())

    def labels(
        self,
        candidates: BoolArray,
        start: FloatArray,
        smoothness: float,
        target: FloatArray | float = 0.0,
        nearness: float = 0.0,
    ) -> FloatArray:
        """Return the Y (n, m) with the least smoothness |Y - W Y|^2 + nearness |Y - T|^2, each row in its simplex.

        target : T (n, m)      start : initial labels (n, m); the result is never worse
        """

        def multiply(labels: FloatArray) -> FloatArray:
            return np.asarray(smoothness * (self._back @ (self._lack @ labels)) + nearness * labels)

        return minimise(
            multiply,
            nearness * target,
            smoothness * eigenvalue_bound(self._back @ self._lack) + nearness,
            candidates,
            start,
            STEPS,
            TOLERANCE,
        )
