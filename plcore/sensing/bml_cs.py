"""BML-CS: multi-label classification by Bayesian compressed sensing.

Kapoor, Jain and Viswanathan, "Multilabel Classification using Bayesian Compressed Sensing", NIPS 2012, with the
update for missing labels corrected (the residual z - Phi_o y_o, and only the unknown columns of Phi).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, softmax
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from plcore.arrays.threads import one_thread
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, Matrix, MatrixLike, RandomState
from plcore.labels.vectors import LabelVectors
from plcore.sensing.base import MultiLabelClassifier
from plcore.sensing.metrics import AUTO, THRESHOLD
from plcore.sensing.noise import Noise, find_noise
from plcore.sensing.projection import LabelPosterior, Projection
from plcore.sensing.recovery import Recovered, recover
from plcore.sensing.regression import Regression, RegressionAt, make_kernel
from plcore.sensing.rows import RowInference, label_entropy

# Training with missing labels: the factors of the rows and q(W) in turn. Without missing labels there is nothing to
# iterate.


class HoleTraining:
    """One fit: the rows of `regression`, their labels, and the noise.

    values, known (n, L) : labels, 0 if unknown      targets (n, K) : values times Phi', if already computed

    Attributes: coefficients of E[W], at first the closed form with missing labels as 0; targets (n, K), the values they
    are fitted to; at, the regressions at the ridge t2 / tau2.
    """

    def __init__(
        self,
        regression: Regression,
        projection: Projection,
        noise: Noise,
        values: FloatArray,
        known: BoolArray,
        a0: float,
        b0: float,
        targets: FloatArray | None = None,
    ) -> None:
        self.regression, self.noise, self.projection = regression, noise, projection
        self._start = values, known, a0, b0
        self.targets = values @ projection.Phi.T if targets is None else targets
        self.at = regression.at(noise.ridge)
        self.coefficients = self.at.coefficients(self.targets)

    @cached_property
    def rows(self) -> RowInference:
        """Return the inference of the rows, created when first needed; without missing labels it is not."""
        values, known, a0, b0 = self._start
        fitted = self.at.fitted(self.targets, self.coefficients)
        rows = RowInference(self.projection, self.noise, values, known, fitted, a0, b0)
        rows.update_latent()
        return rows

    @cached_property
    def at_latent(self) -> RegressionAt:
        """Return the regressions at the ridge s2 / tau2: the paper's q(W), with z as its targets."""
        return self.regression.at(self.noise.regression / self.noise.prior)

    @cached_property
    def spread(self) -> FloatArray:
        """Return (n,) x' S_W x of the paper's q(W)."""
        return self.at_latent.spread() * self.noise.regression

    @cached_property
    def _covariance_cost(self) -> float:
        return self.at_latent.covariance_cost()

    def update_weights(self) -> None:
        """Update q(W) given q(z)."""
        self._set(self.at_latent, self.rows.latent)

    def update_weights_and_latent(self) -> None:
        """Update the means of q(W) and q(z) together, given q(y): E[W] = (X'X + t2/tau2)^-1 X' E[Y] Phi'."""
        self._set(self.at, self.rows.compressed)
        self.rows.update_latent()

    def _set(self, at: RegressionAt, targets: FloatArray) -> None:
        self.targets, self.coefficients = targets, at.coefficients(targets)
        self.rows.fitted = at.fitted(targets, self.coefficients)

    def round(self, schedule: str) -> None:
        """Make one round of "paper" (y, alpha, z, W) or "block" ((y, z), alpha, (W, z))."""
        self.rows.iterate(1, schedule)
        if schedule == "paper":
            self.update_weights()
        else:
            self.update_weights_and_latent()

    def bound(self) -> float:
        """Return the bound on the log evidence of all rows, in nats; defined once q(y) has been updated."""
        norm = self.at_latent.squared_norm(self.coefficients) / self.noise.prior
        divergence: float = 0.5 * (self.rows.fitted.shape[1] * self._covariance_cost + norm)
        return float(self.rows.bound(self.spread).sum() - divergence)


FEWEST = 8  # minimum number of components from a share: fewer save nothing and lose labels
POSITIVE = Interval(Real, 0, None, closed="neither")
COMPONENTS = [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="right")]
KERNEL_PARAMETERS: dict[str, list[object]] = {
    "kernel": [StrOptions({"linear", "poly", "rbf"})],
    "gamma": [POSITIVE, None],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "coef0": [Interval(Real, 0, None, closed="left")],
    "fit_intercept": ["boolean"],
}


@dataclass(eq=False, repr=False)
class BMLCSClassifier(MultiLabelClassifier):
    """Multi-label classifier by Bayesian compressed sensing. Label vectors y (L) are compressed by a random Phi (K, L)
    to Phi y, which K regressions predict from x. The labels are recovered from the prediction under a sparse prior, y_j
    ~ N(0, 1/alpha_j), alpha_j ~ Gamma(a0, b0).

    Parameters
    ----------
    n_components : K, an int, or a share of the L labels, with at least 8 components, or L if that is less.
    max_iter : iterations of the recovery in mode "paper", and of training if labels are missing.
    mode : "paper": variational recovery (section 2.2). "fast": sequential sparse Bayesian learning, the same
        model with a0 = b0 = 0 run to convergence; most labels come out as exactly 0.
    missing : "block": labels not asked are marginalised (EM, with the bound in `bound_`). "zero": taken for no
        when the regressions are trained. Rows of which nothing is known never train.
    kernel : "linear", "poly" (gamma x.x' + coef0)^degree, "rbf"; gamma None: 1, for rbf 1 / (2 * mean squared
        distance). fit_intercept appends a constant 1 to x before the kernel (regularised).
    noise, prior_variance : t2, variance of Phi y around its prediction, and tau2 of each weight; None: by marginal
        likelihood (rows with missing labels: what is not asked as 0), with a ridge t2 / tau2 of at least 0.1 mean x.x'.
    split : share of t2 between z and the prediction, in (0, 1); the data do not determine it.
    threshold : as in `MultiLabelClassifier`, for posterior means; 0.5 as in the paper. "auto": each row by the
        regressions without it, in closed form; what they are fitted to in other rows, Phi and noise stay as fitted with
        it.
    random_state : seed of Phi.

    Attributes
    ----------
    classes_, n_features_in_, transduction_ : as in `MultiLabelClassifier`
    label_mean_, label_variance_ : (n, L) posterior of the training cells; known cells keep their value, variance 0.
    label_gamma_ : (n, L) 1 / E alpha, the prior variance found for each training cell; 0 if known.
    bound_ : (n_iter_,) the bound after each iteration of training, in nats; empty if nothing was missing or
        missing="zero": the solution is then in closed form.
    projection_ (K, L), noise_, prior_variance_, n_components_, n_iter_
    """

    _parameter_constraints: ClassVar[dict[str, list[object]]] = {
        "n_components": COMPONENTS,
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "mode": [StrOptions({"paper", "fast"})],
        "missing": [StrOptions({"block", "zero"})],
        **KERNEL_PARAMETERS,
        "a0": [POSITIVE],
        "b0": [POSITIVE],
        "noise": [POSITIVE, None],
        "prior_variance": [POSITIVE, None],
        "split": [Interval(Real, 0, 1, closed="neither")],
        **THRESHOLD,
        "random_state": ["random_state"],
    }

    n_components: float = 0.5
    max_iter: int = 10
    mode: str = "paper"
    missing: str = "block"
    kernel: str = "linear"
    _: KW_ONLY
    gamma: float | None = None
    degree: int = 3
    coef0: float = 0.0
    fit_intercept: bool = True
    a0: float = 1e-6
    b0: float = 1e-6
    noise: float | None = None
    prior_variance: float | None = None
    split: float = 0.5
    threshold: float | str = AUTO
    random_state: RandomState = 0

    def _fit(self, X: Matrix, vectors: LabelVectors) -> None:
        random = check_random_state(self.random_state)
        self._projection = Projection(draw_projection(self.n_components, vectors.values.shape[1], random))
        self.projection_ = self._projection.Phi
        self.n_components_ = len(self.projection_)
        kernel = make_kernel(self.kernel, X, self.gamma, self.degree, self.coef0, self.fit_intercept)
        asked = np.asarray(vectors.known.any(axis=1))
        rows, values, known = X, vectors.values, vectors.known
        if not asked.all():
            rows, values, known = X[asked], values[asked], known[asked]
        targets = values @ self.projection_.T
        self._noise = find_noise(
            kernel,
            rows,
            targets,
            self.split,
            self.noise,
            self.prior_variance,
            np.random.default_rng(random.randint(2**31)),
        )
        self.noise_, self.prior_variance_ = self._noise.total, self._noise.prior
        training = HoleTraining(
            Regression(kernel, rows), self._projection, self._noise, values, known, self.a0, self.b0, targets
        )
        self._at = training.at
        bound = []
        if not known.all() and self.missing == "block":
            for _ in range(self.max_iter):
                training.round("block")
                bound.append(training.bound())
        self._coefficients = training.coefficients
        self.bound_, self.n_iter_ = np.array(bound), max(len(bound), 1)

        def left_out(rows: IntArray) -> FloatArray:
            fitted = training.at.left_out(training.targets, training.coefficients)
            return self._recovered(fitted[np.searchsorted(np.flatnonzero(asked), rows)]).mean

        self._find_threshold(vectors, left_out)
        self._believe(X, vectors, asked, training)

    def _believe(self, X: Matrix, vectors: LabelVectors, asked: BoolArray, training: HoleTraining) -> None:
        """Compute the posterior of the training cells."""
        self.label_mean_ = vectors.values  # created here, without other references
        self.label_variance_, self.label_gamma_ = np.zeros((2, *vectors.values.shape))
        holes = ~vectors.known.all(axis=1)
        if holes.any():
            if self.missing == "zero":
                training.rows.iterate(self.max_iter, "block")
            self.label_mean_ = vectors.values.copy()
            self.label_mean_[asked], self.label_gamma_[asked] = training.rows.mean, training.rows.gamma
            inside = training.rows.open
            noise = self._noise.total * (1.0 + self._at.spread()[inside])
            none = np.zeros((len(inside), self.n_components_))
            variance = self._projection.posterior(training.rows.gamma[inside], none, noise).variance
            self.label_variance_[np.flatnonzero(asked)[inside]] = variance
            if not asked.all():
                found, q, _ = self._posterior(X[~asked])
                self.label_mean_[~asked], self.label_gamma_[~asked] = found.mean, found.gamma
                self.label_variance_[~asked] = q.variance
        self._finish(vectors, self.label_mean_)

    def _recover(self, X: Matrix) -> Recovered:
        with one_thread():
            return self._recovered(self._at.predict(X, self._coefficients))

    def _recovered(self, fitted: FloatArray) -> Recovered:
        return recover(self._projection, self._noise, fitted, self.mode, self.max_iter, self.a0, self.b0)

    def _posterior(self, X: FeatureMatrix) -> tuple[Recovered, LabelPosterior, FloatArray]:
        found = self._recover(X)
        with one_thread():
            noise = self._noise.total * (1.0 + self._at.spread(X))
            return found, self._projection.posterior(found.gamma, np.zeros_like(found.fitted), noise), noise

    def posterior(self, X: MatrixLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean (n, L), variance (n, L) and joint entropy (n,), in nats, of the labels of new rows.

        The variance includes the uncertainty of W: t2 + x' S_W x is the noise of x. The paper's variance does not, and
        stays the same far away from the data. Training rows count for S_W as if all their labels were known. In mode
        "fast", labels left out have mean and variance 0, and the entropy is that of the others.
        """
        found, q, noise = self._posterior(self._check(X))
        return found.mean, q.variance, label_entropy(found.gamma, q, noise, self.n_components_)

    def _values(self, X: Matrix) -> FloatArray:
        if self._single:
            return self._log_odds(X)
        return self._recover(X).mean

    def _log_odds(self, X: FeatureMatrix) -> FloatArray:
        """Return (n, m) log N(W'x; phi_k, (t2 + x' S_W x) I) up to terms equal for all k, for exactly one label."""
        fitted = self._at.predict(X, self._coefficients)
        noise = self._noise.total * (1.0 + self._at.spread(X))
        return np.asarray((fitted @ self.projection_ - 0.5 * (self.projection_**2).sum(axis=0)) / noise[:, None])

    def decision_function(self, X: MatrixLike) -> FloatArray:
        """Return (n, L) posterior mean - `threshold_`, so that yes is > 0. After a label vector (n, m) log
        odds, for m = 2 (n,)."""
        return self._decided(self._values(self._check(X)))

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return (n, L) the probability that y_j is above `threshold_`, by the posterior N(mean, variance),
        strictly in (0, 1). After a label vector (n, m) the probabilities given that there is exactly one
        label; they sum to 1."""
        X = self._check(X)
        if self._single:
            return np.asarray(softmax(self._log_odds(X), axis=1))
        found, q, _ = self._posterior(X)
        # Keep it inside (0, 1): finite data give no certainty.
        deviation = np.sqrt(np.maximum(q.variance, 1e-12))
        return np.asarray(np.clip(ndtr((found.mean - self.threshold_) / deviation), 1e-9, 1.0 - 1e-9))


def draw_projection(n_components: float, L: int, random: np.random.RandomState) -> FloatArray:
    """Return Phi (K, L) for a number or a share of components (see `BMLCSClassifier`), with columns of length 1 on
    average.

    Entries are N(0, 1/K). With K >= L nothing needs compressing, and the columns are made orthonormal: recovery is then
    no harder than the regression, while L Gaussian columns can be nearly dependent.
    """
    share = max(int(n_components * L), min(L, FEWEST))
    K = int(n_components) if isinstance(n_components, Integral) else share
    Phi = np.asarray(random.normal(size=(K, L)) / np.sqrt(K))
    return np.asarray(np.linalg.qr(Phi)[0]) if K >= L else Phi
