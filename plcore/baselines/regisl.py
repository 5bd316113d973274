"""RegISL: soft labels that are smooth along a neighbour graph and otherwise as confident as possible."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, LabelsLike, MatrixLike, is_sparse
from plcore.baselines.base import as_matrix, eigenvalue_bound, minimise, own_neighbors
from plcore.kernel.rounds import TOLERANCE
from plcore.kernel.soft_labels import SCALING, SoftLabelClassifier, fit_scaler, scaled
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels
from plcore.neighbors import make_search

STEPS = 100  # maximum gradient steps per round
STEP_TOLERANCE = 1e-4


@dataclass(eq=False, repr=False)
class RegISLClassifier(SoftLabelClassifier):
    """Regularised instance similarity learning, a reconstruction of RegISL (Gong et al., IEEE Trans. Cybernetics 2018,
    arXiv 1904.02832) from its abstract and from citing papers; the paper itself was not available.

        min over F of  tr(F'LF) - bonus |F|_F^2,   rows of F in the simplices of their sets,   L = D - W,
        W_ij = exp(-|x_i - x_j|^2 / 2 theta^2) where one of i, j is among the nearest neighbours of the other

    The first term makes labels of similar rows similar, the second rewards confident rows. The paper penalises labels
    outside of the sets with alpha = 1000; here they are exactly 0. Convex-concave steps from F = S/|S|: the second term
    is replaced by its tangent, and the convex rest is minimised by projected gradients. No round increases the
    objective. Fitting stops when no row changes by 0.01 or more, or after max_iter rounds. A new row gets the mean of
    its neighbours' F, weighted as in W. A class that is in every set can take over all rows, since agreement
    costs nothing.

    Parameters
    ----------
    theta : width of the similarity, in units of the scaled features; the paper tries 0.01, 0.1, 1 and 10. "auto" is the
        median distance of a row to its neighbours.
    bonus : the paper's beta, the reward for confident rows      n_neighbors : clipped to the number of other
        rows.
    max_iter : maximum number of rounds.
    scaling : "standard" z-scores the features (sparse ones are not shifted), "minmax" brings each to [0, 1], None does
        not scale.

    Attributes
    ----------
    classes_, n_features_in_, label_distributions_ (F), transduction_ : as in `SoftLabelClassifier`
    theta_ : as given, or as found.
    objective_ : the function above after each round; n_iter_; converged_ : whether the last change is below 0.01.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "theta": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "bonus": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "scaling": SCALING,
    }

    theta: float | str = "auto"
    bonus: float = 0.01
    n_neighbors: int = 10
    _: KW_ONLY
    max_iter: int = 100
    scaling: str | None = "standard"

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: MatrixLike, y: LabelsLike) -> RegISLClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        Raises CandidateError for candidates that break the convention, ValueError for wrong features or parameters.
        """
        X, candidates, classes, even = check_training(self, X, y, None)
        scaler = fit_scaler(self.scaling, X, even)
        X = scaled(scaler, X)
        neighbors, distances = own_neighbors(X, self.n_neighbors)
        self.theta_ = median_distance(distances) if self.theta == "auto" else float(self.theta)
        similar = as_matrix(neighbors, similarities(distances, self.theta_))
        with one_thread():
            labels, objective, converged = self._settle(laplacian(similar.maximum(similar.T)), candidates)
        self._used = min(self.n_neighbors, len(labels))
        self._search, self._sparse = make_search(X, self._used), is_sparse(X)
        self._finish(classes, labels, np.asarray(candidates.any(axis=0)), scaler, objective, converged)
        return self

    def _settle(self, L: sparse.csr_matrix, candidates: BoolArray) -> tuple[FloatArray, list[float], bool]:
        """Return F (n, m), the objective after each round, and whether it converged, for the Laplacian L (n, n)."""
        labels = prior_labels(candidates)
        curvature = 2.0 * eigenvalue_bound(L) or 1.0
        objective: list[float] = []
        converged = False
        while not converged and len(objective) < self.max_iter:
            tangent = 2.0 * self.bonus * labels
            new = minimise(lambda F: 2.0 * (L @ F), tangent, curvature, candidates, labels, STEPS, STEP_TOLERANCE)
            converged = float(np.abs(new - labels).sum(axis=1).max()) < TOLERANCE
            labels = new
            objective.append(float(np.sum(labels * (L @ labels)) - self.bonus * np.square(labels).sum()))
        return labels, objective, converged

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        if is_sparse(X) != self._sparse:  # the search reads only one form
            X = X.toarray() if is_sparse(X) else sparse.csr_matrix(X)
        neighbors, distances = self._search.nearest(X, self._used)
        weights = similarities(distances, self.theta_, distances[:, :1])
        weights /= weights.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("qk,qkm->qm", weights, self.label_distributions_[neighbors]))


def similarities(distances: FloatArray, theta: float, nearest: FloatArray | float = 0.0) -> FloatArray:
    """Return (n, k) exp(-d^2 / 2 theta^2) of distances (n, k), divided by the value of the nearest (n, 1), so
    that they are not all 0 when a tiny theta rounds them to 0."""
    with np.errstate(over="ignore", invalid="ignore"):  # for a tiny theta
        exponents = (distances - nearest) / theta * ((distances + nearest) / theta) / 2.0
    return np.where(distances > nearest, np.exp(-exponents), 1.0)


def median_distance(distances: FloatArray) -> float:
    """Return the median distance of rows to their neighbours (n, k), without duplicates; 1 if none is
    left."""
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def laplacian(similarities: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return L = D - W, CSR (n, n), for symmetric similarities W (n, n) with row sums D."""
    return (sparse.diags(np.asarray(similarities.sum(axis=1)).ravel()) - similarities).tocsr()
