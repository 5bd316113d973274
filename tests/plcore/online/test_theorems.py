"""The bounds of the paper hold on random streams, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from plcore import PLPegasos, PLPerceptron
from plcore.evaluation import contaminate

streams = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "m": st.integers(3, 8),
        "d": st.integers(2, 12),
        "most": st.integers(1, 4),
        "scale": st.sampled_from([0.05, 1.0, 20.0]),
    }
)


def gaps(W, X, candidates):
    """Mean of the candidates' scores minus the best other score, for every row (n,)."""
    scores = X @ W.T
    mean = (scores * candidates).sum(axis=1) / candidates.sum(axis=1)
    return mean - np.where(candidates, -np.inf, scores).max(axis=1)


def random_sets(rng, n, m, most):
    size = rng.integers(1, min(most, m - 1) + 1, size=n)
    return rng.random((n, m)).argsort(axis=1).argsort(axis=1) < size[:, None]


def separable(seed, m, d, most, scale):
    """Rows whose candidates are the classes that a hidden W of length 1 ranks highest, and its margin on them."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(m, d))
    W /= np.linalg.norm(W)
    X = rng.normal(size=(1500, d)) * scale
    rank = (-(X @ W.T)).argsort(axis=1).argsort(axis=1)
    candidates = rank < rng.integers(1, min(most, m - 1) + 1, size=1500)[:, None]
    found = gaps(W, X, candidates)
    kept = found > np.quantile(found, 0.5)
    return X[kept], candidates[kept], float(found[kept].min())


def run(eta0, X, candidates):
    return PLPerceptron("average", eta0=eta0, fit_intercept=False).partial_fit(X, candidates)


@given(stream=streams, eta0=st.sampled_from([0.1, 1.0, 10.0]))
def test_theorem_1_holds_on_separable_streams(stream, eta0):
    """Updates, so mistakes: 2 / g^2 + (1/c + 1) R^2 / g^2 with eta = 1; (2 / eta + (1/c + 1) R^2) / g^2 with any."""
    X, candidates, margin = separable(**stream)
    if not margin > 0:
        return
    R2, c = (X**2).sum(axis=1).max(), candidates.sum(axis=1).min()
    for eta in (1.0, eta0):
        model = run(eta, X, candidates)
        assert model.mistakes_ <= model.updates_ <= (2 / eta + (1 / c + 1) * R2) / margin**2
        assert model.updates_ > 0


def test_margin_of_separable_streams_is_positive():
    """Otherwise the test above would pass trivially."""
    assert all(
        separable(seed, m, d, most, 1.0)[2] > 0
        for seed in range(20)
        for m, d, most in ((3, 2, 1), (8, 12, 4), (5, 6, 2))
    )


def theorem_2(W, X, candidates, margin):
    """The printed right side: K = 1/c + 1, which is not the number of classes."""
    sizes = candidates.sum(axis=1)
    d = np.maximum(0, margin - gaps(W, X, candidates))
    D2, R2 = ((sizes * d) ** 2).sum(), (X**2).sum(axis=1).max()
    K = 1 / sizes.min() + 1
    if D2 == 0:
        return 2 / margin**2 + K * R2 / margin**2
    delta2 = np.sqrt((D2 + K * D2 * R2) / K)
    Z2 = 1 + D2 / delta2
    return 2 * Z2 / margin**2 + 2 * K * (R2 + delta2) / (margin**2 / Z2)


@given(stream=streams, margin=st.sampled_from([0.3, 1.0, 5.0]), teacher=st.booleans())
def test_theorem_2_holds_on_inseparable_streams(stream, margin, teacher):
    """It holds for every W of length 1: for one at random, and for the direction that was learnt."""
    rng = np.random.default_rng(stream["seed"])
    n, m, d = 1500, stream["m"], stream["d"]
    X = rng.normal(size=(n, d)) * stream["scale"]
    candidates = random_sets(rng, n, m, stream["most"])
    if teacher:  # mostly ranked by a hidden W, so that the bound is not far
        hidden = (-(X @ rng.normal(size=(m, d)).T)).argsort(axis=1).argsort(axis=1) < 2
        candidates = np.where(rng.random((n, 1)) < 0.9, hidden, candidates)
    model = run(1.0, X, candidates)
    for W in (rng.normal(size=(m, d)), model.coef_):
        assert model.mistakes_ <= theorem_2(W / np.linalg.norm(W), X, candidates, margin * stream["scale"])
    assert model.updates_ > 0


@pytest.mark.public_data
@pytest.mark.parametrize("decay_always", [False, True])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_theorem_3_bounds_the_regret_on_satimage(alpha, decay_always, data_folder):
    """Mean of f(W^t; x^t, Y^t) minus its minimum over W is at most G^2 ln T / (alpha T)."""
    frame = np.genfromtxt(data_folder / "satimage.csv.gz", delimiter=",", skip_header=1)
    rows = np.random.default_rng(0).permutation(len(frame))[:3000]
    X, y = frame[rows, :-1], frame[rows, -1].astype(int)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    candidates = contaminate(y, "size", r=1, random_state=0)
    T, m = candidates.shape
    model = PLPegasos("average", alpha=alpha, decay_always=decay_always, fit_intercept=False)
    met = model.set_params(max_iter=1, shuffle=False).fit(X, candidates).objective_[0]

    smoothing = 0.005

    def objective(flat):
        """F with its maxima smoothed upwards, by at most smoothing * log(m) in each row; and its gradient."""
        W = flat.reshape(m, -1)
        scores = X @ W.T
        mean = (scores * candidates).sum(axis=1, keepdims=True) / candidates.sum(axis=1, keepdims=True)
        excess = np.where(candidates, -np.inf, 1 - mean + scores) / smoothing
        loss = np.logaddexp.reduce(np.hstack([np.zeros((T, 1)), excess]), axis=1)
        share = np.exp(excess - loss[:, None])
        slope = share - candidates * share.sum(axis=1, keepdims=True) / candidates.sum(axis=1, keepdims=True)
        return alpha / 2 * (W**2).sum() + smoothing * loss.mean(), (alpha * W + slope.T @ X / T).ravel()

    found = minimize(
        objective, np.zeros(m * X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "gtol": 1e-7}
    )
    assert np.abs(found.jac).max() < 1e-4
    least = found.fun - smoothing * np.log(m)  # no W is below
    R, c = np.sqrt((X**2).sum(axis=1).max()), candidates.sum(axis=1).min()
    bound = (np.sqrt(alpha) + np.sqrt(1 + 1 / c) * R) ** 2 * np.log(T) / (alpha * T)
    assert met - least <= bound < 1
