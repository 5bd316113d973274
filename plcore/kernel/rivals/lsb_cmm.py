"""LSB-CMM: a mixture of label distributions whose components depend on the features."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, gammaln
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.common.threads import one_thread
from plcore.common.types import BoolArray, FloatArray
from plcore.kernel.rivals.log_scores import LogScoreClassifier
from plcore.kernel.rivals.stick_breaking import (
    even_gates,
    improve_gates,
    log_shares,
    penalty,
    with_constant,
)
from plcore.kernel.soft_labels import fit_scaler, scaled
from plcore.labels.training import check_training
from plcore.labels.weights import prior_labels

OWN_COUNT = 10.0  # of a component's own class at the start, beside 1 to 2 of every other
MEAN_OF = 3  # rounds whose mean bound is compared with that of as many before
LEAST_CONCENTRATION = 0.01  # below it exp(E log theta) is too near to 0


class LSBCMMClassifier(LogScoreClassifier):
    """Logistic stick-breaking conditional multinomial model (Liu and Dietterich, NIPS 2012).

    A row picks one of L components, z = k with probability phi_k(x), by gates that break a stick; the component draws
    the label, y = c with probability theta_kc; of the label comes the candidate set, in a way that tells no more of it.
    Learned by variational EM: q(z, y) for each row, over its candidates, q(theta_k) a Dirichlet, and the gates' weights
    w as a point. Each round can only raise the lower bound

        sum_i s_i sum_kc q_i(k, c) (log phi_k(x_i) + E log theta_kc - log q_i(k, c))
            - sum_k KL(q(theta_k) | Dirichlet(concentration)) - sum_k |w_k|^2 / (2 variance)

    It begins with even gates and a class for each component, counted OWN_COUNT = 10 against 1 and noise in [0, 1) for
    the others. The order of the sticks matters: the class that most candidate sets speak for comes first. With fewer
    components than classes the last ones have none of their own, which costs accuracy: the authors' code takes 80 for
    the Lost set, of 16 classes, the comparisons of Zhou et al. (TNNLS 2020) take 10.

    Parameters
    ----------
    n_components : L.
    concentration : of the Dirichlet prior of theta, at least .01.
    variance : of the Gaussian prior of the gates' weights, for features of variance 1; biases have none.
    max_iter : most rounds.
    tol : it ends when the mean bound of three rounds is above that of the three before by less than this share.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "concentration": [Interval(Real, LEAST_CONCENTRATION, None, closed="left")],
        "variance": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions({"auto", "standard"}), None],
        "random_state": ["random_state"],
    }

    component_labels_: FloatArray

    def __init__(
        self,
        n_components: int = 10,
        concentration: float = 0.05,
        variance: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        scaling: str | None = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.concentration = concentration
        self.variance = variance
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LSBCMMClassifier:
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
        self, X: Any, candidates: BoolArray, weights: FloatArray, random: np.random.RandomState
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

    def _score_rows(self, X: Any) -> FloatArray:
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
    """Whether the mean bound of the last rounds is hardly above that of those before."""
    if len(bounds) < 2 * MEAN_OF:
        return False
    last, before = np.mean(bounds[-MEAN_OF:]), np.mean(bounds[-2 * MEAN_OF : -MEAN_OF])
    return bool(last - before <= tol * abs(last))
