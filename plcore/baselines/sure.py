"""SURE: alternates kernel ridge regression and confident soft labels, both in closed form."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FloatArray, LabelsLike, MatrixLike
from plcore.baselines.base import RegressionClassifier
from plcore.kernel.rounds import TOLERANCE
from plcore.kernel.soft_labels import fit_scaler, scaled
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels, project_rows

ROUNDING = 1e-9  # closer scores count as equal: the bonus would amplify differences due to rounding


def confident_labels(scores: FloatArray, candidates: BoolArray, bonus: float) -> FloatArray:
    """Return (n, m): the p_i in the simplex of S_i with the least |f_i - p_i|^2 - bonus max_c p_ic, for scores (n, m).

    The largest share goes to the class k with the highest score in S_i, ties (up to rounding) to the first. Since
    -bonus p_k only moves the target, p_i is the projection of f_i + (bonus / 2) e_k, and p_ij <= p_ik follows.
    """
    inside = np.where(candidates, scores, -np.inf)
    top = (inside >= inside.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)
    points = scores.copy()
    points[np.arange(len(points)), top] += bonus / 2
    return project_rows(points, candidates)


@dataclass(eq=False, repr=False)
class SUREClassifier(RegressionClassifier):
    """Self-guided retraining (SURE; Feng and An, AAAI 2019).

        min over A, b, P of  sum_i s_i (|F(x_i) - p_i|^2 - bonus max_c p_ic) + alpha |A|_K^2,   F(x) = A'k(x) + b,
        each p_i >= 0, sums to 1, and is 0 outside of its set

    Alternates from P = S/|S|: F by a kernel ridge regression on P; P by `confident_labels` in closed form, where the
    paper solves a quadratic program for each row. No step increases the objective. Fitting stops when no row changes by
    0.01 or more, or after max_iter rounds. New rows get the scores F(x).

    Parameters
    ----------
    alpha : the paper's beta      bonus : the paper's lambda, the reward for a confident row
    kernel, width, n_components, scaling, random_state : as in `RegressionClassifier`. The paper's kernel is "rbf" of
        width 1.
    max_iter : maximum number of rounds.

    Attributes
    ----------
    classes_, n_features_in_, label_distributions_, transduction_ : as in `SoftLabelClassifier`
    objective_ : the function above after each round; n_iter_; converged_ : whether the last change is below 0.01.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        **RegressionClassifier._parameter_constraints,
        "bonus": [Interval(Real, 0, None, closed="left")],
    }

    bonus: float = 0.3
    _: KW_ONLY
    max_iter: int = 50

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @one_thread()
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> SUREClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0; s_i = 2 equals two copies of the row
        Raises CandidateError for candidates that break the convention, ValueError for wrong features, weights or
        parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        present = weights > 0
        scaler = fit_scaler(self.scaling, X[present], weights[present])
        X = scaled(scaler, X)
        inside, counts = candidates[present], weights[present]
        regression = self._regression(X[present], counts, self.alpha)
        labels = prior_labels(inside)
        objective: list[float] = []
        converged = False
        while not converged and len(objective) < self.max_iter:
            fitted = regression.solve(labels)
            new = confident_labels(fitted.scores, inside, self.bonus)
            loss = np.square(fitted.scores - new).sum(axis=1) - self.bonus * new.max(axis=1)
            objective.append(float(counts @ loss) + fitted.penalty)
            converged = float(np.abs(new - labels).sum(axis=1).max()) < TOLERANCE
            labels = new
        self._keep(regression, regression.solve(labels))
        settled = np.empty(candidates.shape)
        settled[present] = labels
        if not present.all():
            settled[~present] = confident_labels(self._score_rows(X[~present]), candidates[~present], self.bonus)
        self._finish(classes, settled, np.asarray(inside.any(axis=0)), scaler, objective, converged)
        return self
