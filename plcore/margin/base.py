"""Code shared by all margin learners: reading the data, scores, predictions, and impossible classes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from plcore.arrays.threads import one_thread
from plcore.arrays.types import (
    AnyArray,
    BoolArray,
    FeatureMatrix,
    FloatArray,
    IntArray,
    LabelsLike,
    MatrixLike,
    RoundProgress,
)
from plcore.kernels import softmax_rows
from plcore.labels.temperature import fit_temperature
from plcore.labels.training import ScoreClassifier, check_features, check_training
from plcore.labels.weights import check_candidate_weights, prior_labels
from plcore.margin.feature_maps import KERNELS, KernelMap, LinearMap, make_map
from plcore.margin.majorise import Solution
from plcore.margin.problem import Axes, HingeProblem, gram_matrix, principal_axes, ridge_start, row_axes, solve_shifted

# Probabilities of the margin learners: softmax(s / T), T by `plcore.labels.temperature`, smoothed as in Platt (1999).
#
# The rows that T is found on are a third that a learner fitted on the others has scored.

HELD_OUT = 3  # one of this many rows


def split_rows(weights: FloatArray) -> tuple[IntArray, IntArray]:
    """Rows to fit on and rows to hold out, among those with a weight (n,), in a deterministic order."""
    present = np.flatnonzero(weights)
    drawn = np.random.default_rng(0).permutation(present)
    held = len(present) // HELD_OUT
    return np.sort(drawn[held:]), np.sort(drawn[:held])


def probabilities(scores: FloatArray, temperature: float, possible: BoolArray) -> FloatArray:
    """(n, m) softmax(scores / temperature) over the classes that are possible (m,); 0 for the others."""
    inside = np.ascontiguousarray(np.broadcast_to(possible, scores.shape))
    return np.asarray(softmax_rows(np.where(inside, scores, 0.0) / temperature, inside))


COMMON_CONSTRAINTS: dict[str, list[object]] = {
    "C": [Interval(Real, 0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "warm_start": ["boolean"],
    "probability": ["boolean"],
}
KERNEL_CONSTRAINTS: dict[str, list[object]] = {
    "kernel": [StrOptions(set(KERNELS))],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "gamma": [Interval(Real, 0, None, closed="neither"), None],
    "coef0": [Interval(Real, 0, None, closed="left")],
}


@dataclass(frozen=True)
class PreparedFit:
    """One fit: X (n, d) as checked, the map to features and Z (n, D) of them, candidates (n, m) of the classes (m,),
    weights (n,), and where to start from.

    axes : r <= D principal axes of the features, if Z, gram and start are in these. Products of rows do not change; the
    gram matrix is then a diagonal (r,), and using it costs r instead of D^2.
    """

    X: FeatureMatrix
    map: LinearMap | KernelMap
    Z: FeatureMatrix
    classes: AnyArray
    candidates: BoolArray
    weights: FloatArray
    gram: FloatArray | None
    start: FloatArray | None  # (m, D) of the fit before, if warm_start asks for it
    prior: FloatArray | None = None  # (n, m) weights of the candidates, rows sum to 1
    axes: Axes | None = None

    def ridge(self) -> FloatArray:
        """Return the ridge regression on the candidates, by their prior weights if there are some: (m, D), or (m, r)
        in axes."""
        prior = prior_labels(self.candidates) if self.prior is None else self.prior
        return ridge_start(self.Z, prior, self.weights, self.gram)

    def problem(self, scale: float, all_others: bool, tol: float = 0.0) -> HingeProblem:
        return HingeProblem(self.Z, self.candidates, self.weights, scale, all_others, self.gram, self.prior, tol)


class MarginClassifier(ScoreClassifier):
    """Base of the margin learners, which add a solver. Scores are s = W z(x), z the features of the kernel.

    Parameters (the same in every learner that has them)
    ----------
    C : weight of the mean loss against 1/2 |W|^2. Features should be scaled (`StandardScaler` in a pipeline).
    kernel, degree, gamma, coef0 : "linear"; "poly", (gamma x.x' + coef0)^degree, gamma None = 1; "rbf",
        gamma None = 1 / (2 * mean squared distance of two rows, by their weights). With coef0=0 and
        fit_intercept=False "poly" is the homogeneous kernel of PL-SVM's paper.
    fit_intercept : append a constant 1 to x before the kernel; it is regularised.
    warm_start : start from the solution of the fit before, when classes and features are the same.
    probability : whether to enable `predict_proba`. `fit` then takes about 1.7 times as long: another fit on
        two thirds of the rows scores the third that `temperature_` is found on (`plcore.margin.base`);
        `progress` reports it first. It changes nothing else. Off by default, as in scikit-learn's SVC: most uses
        need only the order of the scores.
    Grids for C and the degree: `plcore.PARAMETER_GRIDS`, `plcore.PRECISE_GRID`.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    coef_ (m, d), intercept_ (m,) : for kernel="linear", and "poly" of degree 1, which is linear
    dual_coef_ (r, m), support_ (r,), support_vectors_ (r, d) : for other kernels, s = K(x, support_vectors_)
        dual_coef_; the rows whose features span those of all training rows.
    transduction_ (n,) : the candidate with the highest score for each training row, ties to the first class.
    objective_ : history of F; n_iter_; converged_ : whether the solver's own test was met.
    temperature_ : T of `predict_proba`, with probability=True.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = COMMON_CONSTRAINTS
    _turns: ClassVar[bool] = True  # whether the solver makes this many steps that `principal_axes` pay

    classes_: AnyArray
    transduction_: AnyArray
    objective_: FloatArray
    n_iter_: int
    converged_: bool
    fit_intercept: bool
    warm_start: bool
    probability: bool
    temperature_: float
    _map: LinearMap | KernelMap
    _W: FloatArray
    _possible: BoolArray

    def _prepare(
        self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None, candidate_weights: MatrixLike | None = None
    ) -> PreparedFit:
        """Check the input and make the features. The result of an earlier fit stays until `_finish`: a fit that fails,
        or is ended by `progress`, leaves the old classes with the old weights."""
        fitted = hasattr(self, "_W") and self.warm_start
        before = (self._map, self._W, self.classes_) if fitted else None
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        given = check_candidate_weights(candidate_weights, candidates.shape, classes)
        prior = None if given is None else prior_labels(candidates, given)
        new_map = self._make_map()
        Z = new_map.fit(X, weights)
        with one_thread():
            gram, axes = row_axes(Z, weights) or (gram_matrix(Z, weights), None)
            if axes is None and self._turns:
                gram, axes = principal_axes(Z, gram) or (gram, None)
            if axes is not None:
                Z = axes.coordinates(Z)
            start = None
            if before is not None and np.array_equal(before[2], classes):
                start = _continue_from(before[0], before[1], new_map, X, Z, gram, axes)
        return PreparedFit(X, new_map, Z, classes, candidates, weights, gram, start, prior, axes)

    def _make_map(self) -> LinearMap | KernelMap:
        """The features of this learner's kernel."""
        if not hasattr(self, "kernel"):
            return make_map("linear", self.fit_intercept)
        return make_map(self.kernel, self.fit_intercept, self.degree, self.gamma, self.coef0)

    def _find_temperature(self, training: PreparedFit, progress: RoundProgress | None) -> float | None:
        """T by a third of the rows and a fit on the others; None if none is wanted."""
        if not self.probability:
            return None
        rows, held = split_rows(training.weights)
        part = clone(self).set_params(probability=False, warm_start=False)
        if "C_max" in part.get_params():  # C of the sum of losses, so that it weighs their mean equally
            part.set_params(C_max=part.C_max * float(training.weights.sum() / training.weights[rows].sum()))
        options = {} if training.prior is None else {"candidate_weights": training.prior[rows]}
        part.fit(training.X[rows], training.candidates[rows], training.weights[rows], progress=progress, **options)
        if not len(held):
            return 1.0
        scores = part._scores(training.X[held])
        return fit_temperature(scores, training.candidates[held], training.weights[held], smoothed=True)

    def _finish(self, training: PreparedFit, solution: Solution, temperature: float | None) -> None:
        """Store what was learnt."""
        W = solution.W if training.axes is None else training.axes.features(solution.W)
        self._W = W
        self._map, self.classes_ = training.map, training.classes
        self.objective_ = np.array(solution.objective)
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged
        self._possible = np.asarray(training.candidates[training.weights > 0].any(axis=0))
        labels = training.problem(1.0, all_others=True).labels(solution.W)
        self.transduction_ = self.classes_[labels]
        for name in ("coef_", "intercept_", "dual_coef_", "support_", "support_vectors_", "temperature_"):
            if hasattr(self, name):
                delattr(self, name)
        if temperature is not None:
            self.temperature_ = temperature
        if isinstance(self._map, KernelMap):
            self.dual_coef_ = self._map.dual(W)
            self.support_, self.support_vectors_ = self._map.pivots, self._map.rows
        else:
            self.coef_, self.intercept_ = self._map.split(W)

    def _scores(self, X: MatrixLike) -> FloatArray:
        """(n, m) scores, -inf for classes that were a candidate of no training row with weight."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        scores = self._map.scores(X, self._W)
        scores[:, ~self._possible] = -np.inf
        return scores

    def _has_probability(self) -> bool:
        if not self.probability:
            raise AttributeError(
                f"predict_proba needs {type(self).__name__}(probability=True), set before fit: the scores of a margin "
                "learner are not probabilities, and calibrating them takes another fit."
            )
        return True

    @available_if(_has_probability)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return (n, m) softmax(scores / temperature_), 0 for a class that was never a candidate. See
        `calibration`."""
        check_is_fitted(self, "temperature_")
        return probabilities(self._scores(X), self.temperature_, self._possible)


def _continue_from(
    old: LinearMap | KernelMap,
    W: FloatArray,
    new: LinearMap | KernelMap,
    X: FeatureMatrix,
    Z: FeatureMatrix,
    gram: FloatArray | None,
    axes: Axes | None,
) -> FloatArray | None:
    """The solution W of the old map in the features of the new one, in their axes; None if there is no way."""
    if isinstance(old, LinearMap) and isinstance(new, LinearMap):
        width = Z.shape[1] if axes is None else axes.rows.shape[1]
        same = (old.constant, old.factor, W.shape[1]) == (new.constant, new.factor, width)
        return None if not same else W if axes is None else axes.coordinates(W)
    if gram is None or not isinstance(old, KernelMap) or old.rows.shape[1] != X.shape[1]:
        return None
    # The weights whose scores on the training rows are nearest to the old ones.
    right = Z.T @ old.scores(X, W)
    trace = float((gram if gram.ndim == 1 else gram.diagonal()).sum())
    return np.ascontiguousarray(solve_shifted(gram, right, 1e-9 * max(trace, 1e-300) / max(len(gram), 1)).T)
