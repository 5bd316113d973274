"""Closed-form information equals brute force, and batches are greedy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.sensing import information
from plcore.sensing.information import CellPosteriors
from plcore.sensing.noise import Noise
from plcore.sensing.projection import Projection

NOISE = Noise(0.4, 1.5, 0.5)


def table(seed, n=4, d=3, L=5, K=3):
    """Features, precisions with some labels known, and the projection."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    gamma = rng.gamma(1.0, size=(n, L)) + 0.01
    gamma[rng.random((n, L)) < 0.3] = 0.0
    gamma[0, :2] = 1.0, 0.5
    return X, gamma, Projection(rng.normal(size=(K, L)) / np.sqrt(K))


def row_and_weights(x, gamma, Phi, S_W):
    """Covariance of (W, unknown labels) of one row after its potential: 0 = Phi y - W'x + e is observed.

    W is flattened feature by feature; its columns have the prior covariance S_W.
    """
    d, K = len(x), len(Phi)
    prior = np.zeros((d * K + len(gamma), d * K + len(gamma)))
    prior[: d * K, : d * K] = np.kron(S_W, np.eye(K))
    prior[d * K :, d * K :] = np.diag(gamma)
    return conditioned(prior, np.hstack([-np.kron(x, np.eye(K)), Phi]), NOISE.total)


def conditioned(covariance, links, noise):
    """Covariance after observing links @ state with independent noise."""
    gain = covariance @ links.T
    return covariance - gain @ np.linalg.solve(links @ gain + noise * np.eye(len(links)), gain.T)


def entropy(covariance):
    return 0.5 * (np.linalg.slogdet(covariance)[1] + len(covariance) * np.log(2 * np.pi * np.e))


@given(seed=st.integers(0, 10_000))
def test_information_within_row_equals_repeated_inference(seed):
    """H(y_rest) - E H(y_rest | y_j), with each posterior recomputed with the label known."""
    _, gamma, projection = table(seed)
    Phi, c = projection.Phi, NOISE.total
    posterior = projection.posterior(gamma, np.zeros((4, 3)), c)
    found = information.gain_within_row(posterior.variance, gamma, (Phi**2).sum(axis=0), c)
    for i, g in enumerate(gamma):
        unknown = np.flatnonzero(g > 0)
        assert (found[i, g == 0] == -np.inf).all()
        S = np.linalg.inv(np.diag(1 / g[unknown]) + Phi[:, unknown].T @ Phi[:, unknown] / c)
        for place, j in enumerate(unknown):
            rest = np.delete(np.arange(len(unknown)), place)
            without = unknown[rest]
            after = np.linalg.inv(np.diag(1 / g[without]) + Phi[:, without].T @ Phi[:, without] / c)
            expected = entropy(S[np.ix_(rest, rest)]) - entropy(after) if len(rest) else 0.0
            assert found[i, j] == pytest.approx(expected, abs=1e-10)


@given(seed=st.integers(0, 10_000))
def test_information_about_weights_equals_repeated_inference(seed):
    """H(W) - H(W | answer) in the joint Gaussian of W and the labels of one row, precisions fixed."""
    X, gamma, projection = table(seed)
    Phi, (n, d), (K, _) = projection.Phi, X.shape, projection.shape
    S_W = np.linalg.inv(X[1:].T @ X[1:] / NOISE.total + np.eye(d) / NOISE.prior)
    spread = np.einsum("ij,jk,ik->i", X, S_W, X)
    cells = CellPosteriors(projection, NOISE, gamma, spread)
    unknown = gamma > 0
    found = cells.cell_scores("pair", "information", np.zeros_like(gamma), unknown)
    whole = cells.row_scores("information", np.zeros_like(gamma), unknown)
    size = d * K
    for i in range(n):
        u = np.flatnonzero(unknown[i])
        assert (found[i, ~unknown[i]] == -np.inf).all()
        if not len(u):
            assert whole[i] == -np.inf
            continue
        S = row_and_weights(X[i], gamma[i, u], Phi[:, u], S_W)
        before = entropy(S[:size, :size])
        for place, j in enumerate(u):
            after = conditioned(S, np.eye(len(S))[[size + place]], 0.0)
            assert found[i, j] == pytest.approx(before - entropy(after[:size, :size]), abs=1e-10)
        after = conditioned(S, np.eye(len(S))[size:], 0.0)
        assert whole[i] == pytest.approx(before - entropy(after[:size, :size]), abs=1e-9)


def test_gain_of_a_row_with_vague_labels_is_that_of_regression():
    """g -> infinity: K/2 log(1 + v / t2), with at least as many labels as components."""
    _, _, projection = table(0)
    cells = CellPosteriors(projection, NOISE, np.full((1, 5), 1e9), np.array([0.8]))
    gain = cells.row_scores("information", np.zeros((1, 5)), np.ones((1, 5), dtype=bool))
    assert gain[0] == pytest.approx(1.5 * np.log1p(0.8 / NOISE.total), rel=1e-6)


def gram_table(seed, n=8, d=3):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X @ X.T


def logdet(V, noise, batch):
    return np.linalg.slogdet(np.eye(len(batch)) + V[np.ix_(batch, batch)] / noise)[1]


@given(seed=st.integers(0, 10_000))
def test_batch_of_rows_is_greedy_and_near_the_optimum(seed):
    V = gram_table(seed)
    among = np.ones(8, dtype=bool)
    among[seed % 8] = False
    batch = information.greedy_rows(V.diagonal(), lambda i: V[:, i], 0.3, 3, among).tolist()
    for k in range(3):
        others = [row for row in np.flatnonzero(among) if row not in batch[:k]]
        best = max(logdet(V, 0.3, [*batch[:k], row]) for row in others)
        assert logdet(V, 0.3, batch[: k + 1]) == pytest.approx(best, abs=1e-9)
    most = max(logdet(V, 0.3, list(set_)) for set_ in combinations(np.flatnonzero(among), 3))
    assert logdet(V, 0.3, batch) >= (1 - 1 / np.e) * most
    assert len(information.greedy_rows(V.diagonal(), lambda i: V[:, i], 0.3, 99, among)) == 7


@given(seed=st.integers(0, 10_000))
def test_batch_of_cells_is_greedy_in_the_joint_covariance(seed):
    """Each step against the determinants of the joint Gaussian of answers and W, no recursion."""
    X, gamma, projection = table(seed)
    V = X @ np.linalg.inv(X.T @ X + np.eye(3)) @ X.T
    pairs = np.argwhere(gamma > 0)
    narrow = projection.posterior(gamma, np.zeros((4, 3)), NOISE.total).variance
    cells = CellPosteriors(projection, NOISE, gamma, np.zeros(4))
    A = cells.directions(pairs[:, 0], pairs[:, 1])
    for place, (i, j) in enumerate(pairs):
        S0 = NOISE.total * np.eye(3) + (projection.Phi * gamma[i]) @ projection.Phi.T
        np.testing.assert_allclose(A[place], gamma[i, j] * np.linalg.solve(S0, projection.Phi[:, j]), atol=1e-12)
    noise = narrow[pairs[:, 0], pairs[:, 1]]
    shared = V[np.ix_(pairs[:, 0], pairs[:, 0])] * (A @ A.T)

    def gain(batch):
        return np.linalg.slogdet(np.eye(len(batch)) + shared[np.ix_(batch, batch)] / noise[batch][:, None])[1]

    batch = information.greedy_cells(pairs, A, noise, lambda i: V[:, i], 99).tolist()
    assert sorted(pairs[batch, 0]) == np.unique(pairs[:, 0]).tolist()  # one cell of each row
    for k in range(len(batch)):
        taken = set(pairs[batch[:k], 0])
        others = [c for c in range(len(pairs)) if pairs[c, 0] not in taken]
        best = max(gain([*batch[:k], c]) for c in others)
        assert gain(batch[: k + 1]) == pytest.approx(best, abs=1e-9)


def test_batch_of_cells_limits_each_label_while_others_are_left():
    """Rows with nothing in common, one label best on all of them."""
    cells = np.array([(i, j) for i in range(6) for j in range(3)])
    A = np.tile(np.diag([3.0, 2.0, 1.0]), (6, 1))

    def labels(n, most):
        batch = information.greedy_cells(cells, A, np.ones(18), lambda i: np.eye(6)[i], n, most)
        assert sorted(cells[batch, 0]) == list(range(n))
        return cells[batch, 1].tolist()

    assert labels(6, None) == [0] * 6
    assert labels(6, 2) == [0, 0, 1, 1, 2, 2]
    assert labels(6, 1) == [0, 1, 2, 0, 1, 2]
    assert labels(4, 2) == [0, 0, 1, 1]


def test_directions_match_the_conditional_distribution_of_an_answer():
    """directions: y_j given W, all else integrated out, has the slope a and the variance S_jj[t2]."""
    X, gamma, projection = table(7)
    Phi, K = projection.Phi, 3
    u = np.flatnonzero(gamma[0] > 0)
    S = row_and_weights(X[0], gamma[0, u], Phi[:, u], np.eye(3))
    W, y = np.arange(9), 9 + np.arange(len(u))
    slope = S[np.ix_(y, W)] @ np.linalg.inv(S[np.ix_(W, W)])
    a = CellPosteriors(projection, NOISE, gamma, np.zeros(4)).directions(np.zeros(len(u), dtype=int), u)
    np.testing.assert_allclose(slope, np.einsum("d,uk->udk", X[0], a).reshape(len(u), 3 * K), atol=1e-10)


def test_best_questions_come_first_and_none_is_repeated():
    scores = np.array([[1.0, -np.inf], [3.0, 1.0]])
    assert information.best_first(scores, 10).tolist() == [2, 0, 3]
    unknown = scores > -np.inf
    random = information.random_scores((2, 2), unknown, 5)
    np.testing.assert_array_equal(random, information.random_scores((2, 2), unknown, 5))
    assert random[0, 1] == -np.inf
    close = information.margin_scores(np.array([[0.1, 0.0], [-2.0, 0.3]]), unknown)
    assert information.best_first(close, 3).tolist() == [0, 3, 2]
