"""PL-AGGD: labels from a neighbour graph and a regression, and a graph from features and labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, LabelsLike, Matrix, MatrixLike
from plcore.baselines.base import (
    Complement,
    Reconstruction,
    RegressionClassifier,
    difference_products,
    own_neighbors,
    reconstruction_weights,
)
from plcore.kernel.rounds import TOLERANCE
from plcore.kernel.soft_labels import fit_scaler, scaled
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels


@dataclass(eq=False, repr=False)
class PLAGGDClassifier(RegressionClassifier):
    """Adaptive graph guided disambiguation (PL-AGGD; Wang, Li and Zhang, KDD 2019).

        min over W, Y, A, b of  feature_weight |X - W X|^2 + label_weight |Y - W Y|^2 + |Y - F|^2 + alpha |A|_K^2,
        F = K A + 1 b';  rows of W: weights >= 0 of the nearest neighbours, sum 1;  rows of Y in the simplices of
        their sets

    The rows X are scaled and normalised to unit length. W starts from the features alone, Y from W alone; then W, Y
    and F are updated alternately. No update increases the objective. Fitting stops when no row of Y changes by 0.01 or
    more, or after max_iter rounds. New rows get the scores F(x) of a kernel ridge regression on the last Y. The small
    quadratic programs for W and the large one for Y (with a sparse W) are solved by projected gradients.

    Parameters
    ----------
    alpha : the paper's gamma      feature_weight, label_weight : its lambda and mu
    n_neighbors : clipped to the number of other rows.
    kernel, width, n_components, scaling, random_state : as in `RegressionClassifier`. The paper's kernel is "rbf" of
        width 1, on rows that are not normalised.
    max_iter : maximum number of rounds; 10 in the paper.

    Attributes
    ----------
    classes_, n_features_in_, label_distributions_ (Y), transduction_ : as in `SoftLabelClassifier`
    objective_ : the function above after each round; n_iter_; converged_ : whether the last change is below 0.01.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **RegressionClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "feature_weight": [Interval(Real, 0, None, closed="left")],
        "label_weight": [Interval(Real, 0, None, closed="neither")],
    }

    n_neighbors: int = 10
    _: KW_ONLY
    feature_weight: float = 1.0
    label_weight: float = 1.0
    max_iter: int = 10

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @one_thread()
    def fit(self, X: MatrixLike, y: LabelsLike) -> PLAGGDClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        Raises CandidateError for candidates that break the convention, ValueError for wrong features or parameters.
        """
        X, candidates, classes, even = check_training(self, X, y, None)
        scaler = fit_scaler(self.scaling, X, even)
        X = scaled(scaler, X)
        unit = normalize(X)
        neighbors, _ = own_neighbors(unit, self.n_neighbors)
        features = self.feature_weight * difference_products(unit, neighbors)
        weights = reconstruction_weights(features, np.full(neighbors.shape, 1.0 / max(neighbors.shape[1], 1)))
        labels = Reconstruction(neighbors, weights).labels(candidates, prior_labels(candidates), 1.0)
        regression = self._regression(X, even, self.alpha)
        fitted = regression.solve(labels)
        complement = self._complement(X, candidates)
        objective: list[float] = []
        converged = False
        while not converged and len(objective) < self.max_iter:
            products = features + self.label_weight * difference_products(labels, neighbors)
            weights = reconstruction_weights(products, weights)
            graph = Reconstruction(neighbors, weights)
            target, nearness = complement.aim(fitted.scores, labels) if complement else (fitted.scores, 1.0)
            new = graph.labels(candidates, labels, self.label_weight, target, nearness)
            converged = float(np.abs(new - labels).sum(axis=1).max()) < TOLERANCE
            labels = new
            fitted = regression.solve(labels)
            far = np.einsum("ia,iab,ib", weights, features, weights) + self.label_weight * graph.loss(labels)
            far += np.square(labels - fitted.scores).sum() + fitted.penalty
            objective.append(float(far) + (complement.cost(labels) if complement else 0.0))
        self._keep(regression, fitted)
        self._finish(classes, labels, np.asarray(candidates.any(axis=0)), scaler, objective, converged)
        return self

    def _complement(self, X: Matrix, candidates: BoolArray) -> Complement | None:  # noqa: ARG002
        """Return the model of the labels that a row does not have: none in PL-AGGD."""
        return None
