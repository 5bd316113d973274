"""LSB-CMM: a mixture of label distributions whose components depend on the features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse
from scipy.special import digamma, expit, gammaln
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, LabelsLike, MatrixLike, is_sparse
from plcore.baselines.base import LogScoreClassifier
from plcore.kernel.soft_labels import fit_scaler, scaled
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels

# Stick-breaking gates: each takes its share of what the earlier gates have left, by a logistic regression.
#
# phi_k(x) = sigma(u_k) prod_{l<k} (1 - sigma(u_l)), u = x W, the last component takes the rest

NEWTON_FEATURES = 200  # up to this many features, a Newton step, whose Gram matrix costs n d^2, is faster than L-BFGS
LBFGS_STEPS = 10
DAMPING = 1e-8  # keeps the Newton matrix regular if a gate has no mass
DECREASE, SHORTEST = 1e-4, 1e-8  # of a Newton step


def with_constant(X: FeatureMatrix) -> FeatureMatrix:
    """X (n, d), dense or CSR, with a last column of ones for the biases."""
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if is_sparse(X) else np.hstack([X, ones])


def even_gates(n_features: int, n_components: int) -> FloatArray:
    """(d + 1, L - 1) weights that give each component 1/L of every stick."""
    gates = np.zeros((n_features + 1, n_components - 1))
    gates[-1] = -np.log(np.arange(n_components - 1, 0, -1))
    return gates


def log_shares(values: FloatArray) -> FloatArray:
    """(n, L) log phi of the gates' values u (n, L - 1)."""
    shares = np.zeros((len(values), values.shape[1] + 1))
    shares[:, :-1] = -np.logaddexp(0.0, -values)
    shares[:, 1:] -= np.cumsum(np.logaddexp(0.0, values), axis=1)
    return shares


def penalty(gates: FloatArray, variance: float) -> float:
    """-log of the Gaussian prior of the weights, up to a constant; biases are free."""
    return 0.5 * float(np.sum(gates[:-1] ** 2)) / variance


def improve_gates(X: FeatureMatrix, gates: FloatArray, components: FloatArray, variance: float) -> FloatArray:
    """New gates (d + 1, L - 1), with no lower  sum_ik r_ik log phi_ik - penalty  than the gates before.

    X : (n, d + 1), as `with_constant`      components : (n, L) r, weighted responsibilities
    A gate's part is the logistic regression of its share against the share that it leaves to later gates.
    """
    left = np.cumsum(components[:, ::-1], axis=1)[:, ::-1]
    step = _newton_step if X.shape[1] <= NEWTON_FEATURES + 1 else _lbfgs_steps
    new = [
        step(_Gate(X, components[:, number], left[:, number + 1], variance), gates[:, number])
        for number in range(gates.shape[1])
    ]
    return np.stack(new, axis=1) if new else gates


class _Gate:
    """The objective of one gate: a logistic regression with `taken` (n,) for it and `left` (n,) against it."""

    def __init__(self, X: FeatureMatrix, taken: FloatArray, left: FloatArray, variance: float) -> None:
        self.X, self.taken, self.mass = X, taken, taken + left
        self.ridge = np.full(X.shape[1], 1.0 / variance)
        self.ridge[-1] = 0.0

    def value(self, values: FloatArray, weights: FloatArray) -> float:
        """At weights (d + 1,) with X weights = values (n,)."""
        loss = self.mass @ np.logaddexp(0.0, values) - self.taken @ values
        return float(loss + 0.5 * self.ridge @ weights**2)

    def gradient(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        slope: FloatArray = self.X.T @ (self.mass * expit(values) - self.taken) + self.ridge * weights
        return slope

    def curvature(self, values: FloatArray) -> FloatArray:
        share = expit(values)
        root = np.sqrt(self.mass * share * (1.0 - share))
        if is_sparse(self.X):
            rooted = self.X.multiply(root[:, None]).tocsr()
            matrix = (rooted.T @ rooted).toarray()
        else:
            rooted = self.X * root[:, None]
            matrix = rooted.T @ rooted
        matrix.flat[:: len(matrix) + 1] += self.ridge + DAMPING
        return np.asarray(matrix)


def _newton_step(gate: _Gate, weights: FloatArray) -> FloatArray:
    """One step, halved until it leads down; the next round of the mixture continues from there."""
    values = gate.X @ weights
    gradient = gate.gradient(values, weights)
    step = -linalg.solve(gate.curvature(values), gradient, assume_a="pos", check_finite=False)
    moved, slope, before = gate.X @ step, float(gradient @ step), gate.value(values, weights)
    length = 1.0
    while length > SHORTEST:
        new = weights + length * step
        if gate.value(values + length * moved, new) <= before + DECREASE * length * slope:
            return np.asarray(new)
        length /= 2.0
    return weights


def _lbfgs_steps(gate: _Gate, weights: FloatArray) -> FloatArray:
    """Some steps of L-BFGS, none where they lead up."""

    def evaluate(point: FloatArray) -> tuple[float, FloatArray]:
        values = gate.X @ point
        return gate.value(values, point), gate.gradient(values, point)

    found = optimize.minimize(
        evaluate, weights, jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_STEPS, "ftol": 1e-12}
    )
    return np.asarray(found.x) if found.fun <= evaluate(weights)[0] else weights


OWN_COUNT = 10.0  # of a component's own class at the start, next to 1 to 2 of every other
MEAN_OF = 3  # number of rounds whose mean bound is compared with that of the previous rounds
LEAST_CONCENTRATION = 0.01  # below this, exp(E log theta) is too close to 0


@dataclass(eq=False, repr=False)
class LSBCMMClassifier(LogScoreClassifier):
    """Logistic stick-breaking conditional multinomial model (Liu and Dietterich, NIPS 2012).

    A row picks one of L components, z = k with probability phi_k(x), by gates that break a stick; the component draws
    the label, y = c with probability theta_kc; the candidate set depends on the label only, and carries no
    further information about it. Learnt by variational EM: q(z, y) for each row, over its candidates,
    q(theta_k) a Dirichlet, and the gates' weights w as a point. Each round can only raise the lower bound

        sum_i s_i sum_kc q_i(k, c) (log phi_k(x_i) + E log theta_kc - log q_i(k, c))
            - sum_k KL(q(theta_k) | Dirichlet(concentration)) - sum_k |w_k|^2 / (2 variance)

    It begins with even gates and one class for each component, with count OWN_COUNT = 10; the other classes
    have 1 plus noise in [0, 1). The order of the sticks matters: the class that most candidate sets speak for
    comes first. With fewer components than classes the last ones have none of their own, which costs
    accuracy: the authors' code takes 80 for the Lost set, of 16 classes, the comparisons of Zhou et al.
    (TNNLS 2020) take 10.

    Parameters
    ----------
    n_components : L.
    concentration : of the Dirichlet prior of theta, at least 0.01.
    variance : of the Gaussian prior of the gates' weights, for features of variance 1; biases have none.
    max_iter : maximum number of rounds.
    tol : stops when the mean bound of three rounds exceeds that of the three before by less than this share.
    scaling : "standard" z-scores the features (sparse ones are not shifted); None takes them as they are; "auto" is
        "standard" for dense X, None for sparse X.
    random_state : of the noise at the start. The default gives the same model for the same data.

    Attributes
    ----------
    classes_ (m,), n_features_in_
    component_labels_ : (L, m) E theta, the label distribution of each component.
    label_distributions_ : (n, m) q(y) of the training rows, 0 outside of their sets.
    transduction_ : (n,) the most likely candidate of each training row, ties to the first class.
    objective_ : the lower bound after each round; it never falls. n_iter_; converged_ : whether `tol` ended it.
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "concentration": [Interval(Real, LEAST_CONCENTRATION, None, closed="left")],
        "variance": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard"}), None],
        "random_state": ["random_state"],
    }

    n_components: int = 10
    concentration: float = 0.05
    variance: float = 1.0
    max_iter: int = 100
    tol: float = 1e-4
    scaling: str | None = "auto"
    random_state: int | np.random.RandomState | None = 0

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @one_thread()
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> LSBCMMClassifier:
        """Fit on X (n, d), dense or CSR, and y: label vector (n,) or candidate matrix (n, m).

        sample_weight : (n,) s_i >= 0, s_i = 2 is the row twice
        Raises CandidateError for candidates that break the convention, ValueError for wrong features, weights or
        parameters.
        """
        X, candidates, classes, weights = check_training(self, X, y, sample_weight)
        scaler = fit_scaler(self.scaling, X, weights)
        rows, random = with_constant(scaled(scaler, X)), check_random_state(self.random_state)
        labels, bounds = self._learn(rows, candidates, weights, random)
        possible = np.asarray(candidates[weights > 0].any(axis=0))
        self._finish(classes, labels, possible, scaler, bounds, has_settled(bounds, self.tol))
        return self

    def _learn(
        self, X: FeatureMatrix, candidates: BoolArray, weights: FloatArray, random: np.random.RandomState
    ) -> tuple[FloatArray, list[float]]:
        """The rounds for X (n, d + 1), as `with_constant`; returns q(y) (n, m) and the bound after each."""
        inside = candidates.astype(float)
        gates = even_gates(X.shape[1] - 1, self.n_components)
        counts = starting_counts(candidates, weights, self.n_components, random)
        bounds: list[float] = []
        while True:
            found = expect(log_shares(X @ gates), counts, inside, weights)
            gap = divergence(counts, self.concentration) + penalty(gates, self.variance)
            bounds.append(found.evidence - gap)
            if has_settled(bounds, self.tol) or len(bounds) == self.max_iter:
                break
            counts = self.concentration + found.counts
            gates = improve_gates(X, gates, weights[:, None] * found.components, self.variance)
        self._gates, self.component_labels_ = gates, counts / counts.sum(axis=1, keepdims=True)
        return found.labels, bounds

    def _score_rows(self, X: FeatureMatrix) -> FloatArray:
        shares = np.exp(log_shares(with_constant(X) @ self._gates))
        return np.asarray(np.log(shares @ self.component_labels_))


@dataclass(frozen=True)
class Expected:
    """The best q(z, y) for given gates and q(theta).

    components : (n, L) q(z)      labels : (n, m) q(y)      counts : (L, m) sum_i s_i q_i(z = k, y = c)
    evidence : the first line of the bound
    """

    components: FloatArray
    labels: FloatArray
    counts: FloatArray
    evidence: float


def expect(log_phi: FloatArray, counts: FloatArray, inside: FloatArray, weights: FloatArray) -> Expected:
    """q_i(k, c) = phi_ik exp(E log theta_kc) / N_i on the candidates of row i; never n x L x m numbers.

    log_phi : (n, L)      counts : (L, m) of q(theta)      inside : (n, m) candidates as 0 and 1      weights : (n,)
    """
    emission = np.exp(_expected_logs(counts))
    highest = log_phi.max(axis=1, keepdims=True)
    phi = np.exp(log_phi - highest)
    joint = phi * (inside @ emission.T)
    total = joint.sum(axis=1, keepdims=True)
    scaled = phi / total
    return Expected(
        joint / total,
        inside * (scaled @ emission),
        emission * ((weights[:, None] * scaled).T @ inside),
        float(weights @ (np.log(total) + highest)[:, 0]),
    )


def divergence(counts: FloatArray, concentration: float) -> float:
    """sum_k KL(Dirichlet(counts_k) | Dirichlet(concentration)), of counts (L, m)."""
    n_components, m = counts.shape
    posterior = gammaln(counts.sum(axis=1)).sum() - gammaln(counts).sum()
    prior = n_components * (gammaln(m * concentration) - m * gammaln(concentration))
    return float(posterior - prior + np.sum((counts - concentration) * _expected_logs(counts)))


def _expected_logs(counts: FloatArray) -> FloatArray:
    return np.asarray(digamma(counts) - digamma(counts.sum(axis=1, keepdims=True)))


def starting_counts(
    candidates: BoolArray, weights: FloatArray, n_components: int, random: np.random.RandomState
) -> FloatArray:
    """(L, m) of q(theta): a class for each component, in turns, those with most of the sets' mass first."""
    m = candidates.shape[1]
    masses = weights @ prior_labels(candidates) / weights.sum()
    order = np.argsort(-np.round(masses, 9), kind="stable")  # rounded, so that equal masses are
    counts = 1.0 + random.random_sample((n_components, m))
    counts[np.arange(n_components), order[np.arange(n_components) % m]] += OWN_COUNT
    return np.asarray(counts)


def has_settled(bounds: list[float], tol: float) -> bool:
    """Return whether the mean bound of the last rounds is hardly above that of the rounds before."""
    if len(bounds) < 2 * MEAN_OF:
        return False
    last, before = np.mean(bounds[-MEAN_OF:]), np.mean(bounds[-2 * MEAN_OF : -MEAN_OF])
    return bool(last - before <= tol * abs(last))
