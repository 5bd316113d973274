"""ML-CS: the same compression with plain regression and greedy recovery (Hsu et al., NIPS 2009), the baseline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.types import FloatArray, IntArray, Matrix, MatrixLike, RandomState
from plcore.labels.vectors import LabelVectors
from plcore.sensing.base import MultiLabelClassifier
from plcore.sensing.bml_cs import COMPONENTS, KERNEL_PARAMETERS, POSITIVE, draw_projection
from plcore.sensing.metrics import AUTO, THRESHOLD
from plcore.sensing.noise import find_noise, scale_of
from plcore.sensing.regression import Regression, make_kernel

# CoSaMP: sparse label vectors from their random projections (Needell and Tropp, 2009), many rows at once.

ROUNDS = 20
BLOCK = 1024  # rows processed at a time


def cosamp(Phi: FloatArray, Z: FloatArray, sparsity: int) -> FloatArray:
    """Return (n, L) coefficients with at most `sparsity` nonzero entries, such that Phi y is close to Z (n, K).

    In each round, the columns most correlated with the residual join the support, a least-squares fit is made on 3 *
    sparsity columns (at most K), and the largest `sparsity` of them stay. A row ends when its residual does not
    decrease.
    """
    gram = Phi.T @ Phi
    found = np.zeros((len(Z), Phi.shape[1]))
    for begin in range(0, len(Z), BLOCK):
        rows = slice(begin, begin + BLOCK)
        found[rows] = _block(gram, Z[rows] @ Phi, (Z[rows] ** 2).sum(axis=1), sparsity, len(Phi))
    return found


def _block(gram: FloatArray, projected: FloatArray, energy: FloatArray, sparsity: int, K: int) -> FloatArray:
    """Process a block of rows. projected = Phi' z of each row, energy = |z|^2: the residual itself is never needed."""
    n, L = projected.shape
    merged = min(3 * sparsity, K, L)
    kept = min(sparsity, merged)
    best = np.zeros((n, L))
    least = energy.copy()
    active = np.arange(n)
    current = np.zeros((n, L))
    for _ in range(ROUNDS):
        proxy = np.abs(projected[active] - current @ gram)
        proxy[current != 0] = np.inf  # the support stays among the columns
        columns = np.sort(_largest(proxy, merged), axis=1)
        right = np.take_along_axis(projected[active], columns, axis=1)
        square = gram[columns[:, :, None], columns[:, None, :]]
        # Nearly dependent columns of an unlucky projection must not end the whole fit.
        square = square + 1e-10 * np.eye(merged)
        values = np.linalg.solve(square, right[:, :, None])[:, :, 0]
        chosen = _largest(np.abs(values), kept)
        current = np.zeros((len(active), L))
        columns = np.take_along_axis(columns, chosen, axis=1)
        np.put_along_axis(current, columns, np.take_along_axis(values, chosen, axis=1), axis=1)
        residual = energy[active] + ((current @ gram - 2.0 * projected[active]) * current).sum(axis=1)
        better = residual < least[active] - 1e-9 * energy[active]
        active = active[better]
        if not len(active):
            break
        current = current[better]
        best[active], least[active] = current, residual[better]
    return best


def _largest(values: FloatArray, count: int) -> IntArray:
    """Return (n, count) the columns of the largest values, ties to the first."""
    return np.argsort(-values, axis=1, kind="stable")[:, :count]


LEAST_RIDGE = 1e-8  # ridge of least squares, as a share of the mean x.x'


@dataclass(eq=False, repr=False)
class MLCSClassifier(MultiLabelClassifier):
    """Multi-label baseline: K regressions predict Phi y, and CoSaMP finds the `sparsity` labels that explain the
    prediction.

    Parameters
    ----------
    n_components, kernel, gamma, degree, coef0, fit_intercept, random_state : as `BMLCSClassifier`, which draws the
        same Phi for the same seed.
    sparsity : labels found for each row.
    regression : "ridge", with the ridge of `BMLCSClassifier`, or "least_squares", as in the paper.
    ridge : t2 / tau2; None: by marginal likelihood.
    threshold : as in `MultiLabelClassifier`, for coefficients; 0.5 as in the paper. "auto": each row by the regressions
        without it, in closed form.

    Unasked labels count as no; rows without a known label are not used for training. Attributes: as in
    `MultiLabelClassifier`, and projection_ (K, L), ridge_, n_components_.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": COMPONENTS,
        "sparsity": [Interval(Integral, 1, None, closed="left")],
        "regression": [StrOptions({"ridge", "least_squares"})],
        **KERNEL_PARAMETERS,
        "ridge": [POSITIVE, None],
        **THRESHOLD,
        "random_state": ["random_state"],
    }

    n_components: float = 0.5
    sparsity: int = 5
    regression: str = "ridge"
    kernel: str = "linear"
    _: KW_ONLY
    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0
    fit_intercept: bool = True
    ridge: float | None = None
    threshold: float | str = AUTO
    random_state: RandomState = 0

    def _fit(self, X: Matrix, vectors: LabelVectors) -> None:
        random = check_random_state(self.random_state)
        self.projection_ = draw_projection(self.n_components, vectors.values.shape[1], random)
        self.n_components_ = len(self.projection_)
        kernel = make_kernel(self.kernel, X, self.gamma, self.degree, self.coef0, self.fit_intercept)
        asked = vectors.known.any(axis=1)
        rows = X if asked.all() else X[asked]
        targets = vectors.values[asked] @ self.projection_.T
        if self.ridge is not None:
            self.ridge_ = float(self.ridge)
        elif self.regression == "ridge":
            seeded = np.random.default_rng(random.randint(2**31))
            self.ridge_ = find_noise(kernel, rows, targets, 0.5, None, None, seeded).ridge
        else:
            self.ridge_ = LEAST_RIDGE * scale_of(kernel, rows)
        self._at = Regression(kernel, rows).at(self.ridge_)
        self._coefficients = self._at.coefficients(targets)

        def left_out(rows: IntArray) -> FloatArray:
            fitted = self._at.left_out(targets, self._coefficients)
            return self._recovered(fitted[np.searchsorted(np.flatnonzero(asked), rows)])

        self._find_threshold(vectors, left_out)
        self._finish(vectors, vectors.values if vectors.known.all() else self._values(X))

    def _values(self, X: Matrix) -> FloatArray:
        return self._recovered(self._at.predict(X, self._coefficients))

    def _recovered(self, fitted: FloatArray) -> FloatArray:
        return cosamp(self.projection_, fitted, self.sparsity)

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return (n, L) coefficient - `threshold_`, so that yes is > 0; after a label vector the
        coefficients, (n,) for two classes."""
        return self._decided(self._values(self._check(X)))
