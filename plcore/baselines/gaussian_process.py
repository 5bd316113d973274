"""PLGP: Gaussian processes whose softmax must fall inside the candidate sets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.optimize import OptimizeResult
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, LabelsLike, MatrixLike, draw_seed
from plcore.baselines.base import LogScoreClassifier
from plcore.baselines.regression import EXACT_ROWS, ScaledKernel
from plcore.kernel.soft_labels import fit_scaler, scaled, softmax_inside
from plcore.labels.accuracy import deal
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels

LENGTH_SCALES, VARIANCES = ((1.0, 0.5, 2.0), (10.0, 100.0))  # defaults, if nothing can be chosen, are the first of each
FOLDS = 3
CHOICE_ROWS, CHOICE_STEPS = 2000, 50  # sample of rows, and number of steps, for the choice


@dataclass(eq=False, repr=False)
class PLGPClassifier(LogScoreClassifier):
    """Gaussian process classification of candidate sets (PLGP; Zhou, He and Gu, IEEE T. Cybernetics 2017).

    A reconstruction from the paper's model; its full text was not available. A latent function for each
    class, f_c ~ GP(0, variance * k) with an rbf kernel k, and for a row with the set S the likelihood (1/rho)
    [lse over S of rho f - lse over all classes of rho f], lse the logarithm of the sum of exponentials, a
    soft maximum. At the mode rho is not a setting of its own: any other is rho = 1 with the variance times rho.
    The mode is the f that minimises

        sum_i s_i (lse f_i - lse_S f_i) + sum_c alpha_c' K alpha_c / (2 variance),   f = K alpha,

    found by L-BFGS from f = 0, in coordinates B = Z^-1 f with Z Z' = K, in which the prior is isotropic. With several
    classes in a set this is not convex: the result is the local mode reached from 0. Predictions use f at the mode.

    Width and variance are chosen by candidate consistency, the share of predictions inside the sets on three held-out
    folds. The Laplace evidence that the paper mentions needs the determinant of an (n m, n m) matrix.

    Parameters
    ----------
    length_scale : width of the kernel, in units of the mean distance of two training rows; "auto" is 1, 0.5 or 2.
    variance : of the latent functions; "auto" is 10 or 100.
    n_components : above 5,000 rows the kernel goes through this many drawn rows; up to there it is exact.
    max_iter : most steps of L-BFGS.
    tol : it ends at a step that lowers the function by less than this share.
    scaling : "standard" z-scores the features (sparse ones are not shifted); None takes them as they are; "auto" is
        "standard" for dense X, None for sparse X.
    random_state : of folds and drawn rows. The default gives the same model for the same data.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    length_scale_, variance_ : as chosen or given.
    label_distributions_ : (n, m) softmax of f over the candidates of the training rows.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    objective_ : the negative log posterior, but for a constant, after each step; it falls.
    n_iter_; converged_ : whether `tol` ended it.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "length_scale": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "variance": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard"}), None],
        "random_state": ["random_state"],
    }

    length_scale: float | str = "auto"
    variance: float | str = "auto"
    n_components: int = 1000
    max_iter: int = 300
    tol: float = 1e-6
    scaling: str | None = "auto"
    random_state: int | np.random.RandomState | None = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @one_thread()
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> PLGPClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0; s_i = 2 equals two copies of the row
        Raises CandidateError for candidates that break the convention, ValueError for wrong features, weights or
        parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        scaler = fit_scaler(self.scaling, X, weights)
        X, seed = scaled(scaler, X), draw_seed(self.random_state)
        rows = _Rows(X, candidates, weights)
        self.length_scale_, self.variance_ = self._choose(rows, seed)
        self._kernel = self._make_kernel(rows, self.length_scale_)
        Z = self._kernel.fit(X, weights, np.random.RandomState(seed))
        mode = find_mode(LogPosterior(Z, candidates, weights, self.variance_), self.max_iter, self.tol)
        labels = softmax_inside(Z @ mode.coordinates, 1.0, prior_labels(candidates))
        self._coordinates = mode.coordinates
        possible = np.asarray(candidates[weights > 0].any(axis=0))
        self._finish(classes, labels, possible, scaler, mode.values[1:], mode.converged)
        return self

    def _make_kernel(self, rows: _Rows, length_scale: float) -> ScaledKernel:
        few = np.count_nonzero(rows.weights) <= EXACT_ROWS
        return ScaledKernel("rbf", EXACT_ROWS if few else self.n_components, length_scale)

    def _choose(self, rows: _Rows, seed: int) -> tuple[float, float]:
        """Return the width and variance with the highest held-out candidate consistency; ties go to the first."""
        scales = LENGTH_SCALES if self.length_scale == "auto" else (float(self.length_scale),)
        variances = VARIANCES if self.variance == "auto" else (float(self.variance),)
        present = np.flatnonzero(rows.weights > 0)
        settings = list(product(scales, variances))
        if len(settings) == 1 or len(present) < 2 * FOLDS:
            return settings[0]
        random = np.random.RandomState(seed)
        if len(present) > CHOICE_ROWS:
            present = np.sort(random.choice(present, CHOICE_ROWS, replace=False))
        drawn = rows.take(present)
        fold = deal(drawn.candidates, FOLDS, random)
        hits = np.zeros(len(settings))
        for number in range(FOLDS):
            train, test = (drawn.take(np.flatnonzero(fold != number)), drawn.take(np.flatnonzero(fold == number)))
            for first, scale in enumerate(scales):
                kernel = self._make_kernel(train, scale)
                Z = kernel.fit(train.X, train.weights, np.random.RandomState(seed))
                new = kernel.transform(test.X)
                for second, variance in enumerate(variances):
                    posterior = LogPosterior(Z, train.candidates, train.weights, variance)
                    mode = find_mode(posterior, min(self.max_iter, CHOICE_STEPS), self.tol)
                    scores = new @ mode.coordinates
                    scores[:, ~train.candidates.any(axis=0)] = -np.inf
                    inside = test.candidates[np.arange(len(scores)), scores.argmax(axis=1)]
                    hits[first * len(variances) + second] += test.weights @ inside
        return settings[int(hits.argmax())]

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        return np.asarray(self._kernel.transform(X) @ self._coordinates)


@dataclass(frozen=True)
class _Rows:
    X: FeatureMatrix
    candidates: BoolArray
    weights: FloatArray

    def take(self, rows: IntArray) -> _Rows:
        return _Rows(self.X[rows], self.candidates[rows], self.weights[rows])


class LogPosterior:
    """Negative log posterior of f = Z B, up to a constant, and its gradient.

    Z : (n, r) with Z Z' the kernel      candidates : (n, m)      weights : (n,)
    """

    def __init__(self, Z: FloatArray, candidates: BoolArray, weights: FloatArray, variance: float) -> None:
        self.Z, self.weights, self.variance = Z, weights, variance
        self.outside = np.where(candidates, 0.0, -np.inf)
        self.shape = Z.shape[1], candidates.shape[1]

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient (r m,) at B (r, m), flattened."""
        B = flat.reshape(self.shape)
        f = self.Z @ B
        over_all, all_shares = _soft_maximum(f)
        over_set, set_shares = _soft_maximum(f + self.outside)
        value = self.weights @ (over_all - over_set) + np.sum(B * B) / (2.0 * self.variance)
        slope = self.weights[:, None] * (all_shares - set_shares)
        return float(value), (self.Z.T @ slope + B / self.variance).ravel()


def _soft_maximum(f: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) lse of each row of f (n, m), and its gradient (n, m), the softmax."""
    highest = f.max(axis=1, keepdims=True)
    shares = np.exp(f - highest)
    total = shares.sum(axis=1, keepdims=True)
    return (np.log(total) + highest)[:, 0], shares / total


@dataclass(frozen=True)
class Mode:
    """coordinates : (r, m) B at the mode      values : the function at f = 0 and after each step"""

    coordinates: FloatArray
    values: list[float]
    converged: bool


def find_mode(posterior: LogPosterior, max_iter: int, tol: float) -> Mode:
    """The mode that L-BFGS reaches from f = 0."""
    start = np.zeros(posterior.shape[0] * posterior.shape[1])
    values = [posterior(start)[0]]

    def note(intermediate_result: OptimizeResult) -> None:
        values.append(float(intermediate_result.fun))

    found = optimize.minimize(
        posterior,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=note,
        options={"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": tol, "gtol": 1e-8},
    )
    return Mode(found.x.reshape(posterior.shape), values, bool(found.success))
