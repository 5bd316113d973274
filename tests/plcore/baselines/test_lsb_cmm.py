"""LSB-CMM: the bound with every term, each step against alternatives, known data, weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import digamma, gammaln
from scipy.stats import dirichlet
from sklearn.linear_model import LogisticRegression

from plcore import LSBCMMClassifier
from plcore.baselines.lsb_cmm import (
    divergence,
    even_gates,
    expect,
    has_settled,
    improve_gates,
    log_shares,
    penalty,
    starting_counts,
    with_constant,
)
from tests.plcore.random_sets import some_sets


def problem(seed, n=40, d=3, m=4):
    rng = np.random.default_rng(seed)
    candidates = some_sets(rng, n, m, 0.4)
    return rng.normal(size=(n, d)), candidates, rng.integers(0, 4, size=n).astype(float)


def full_bound(q, log_phi, counts, concentration, gates, variance, weights):
    """The variational bound with every term written out, for any q (n, L, m)."""
    logs = digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
    entropy = -np.where(q > 0, q * np.log(np.where(q > 0, q, 1.0)), 0.0).sum(axis=(1, 2))
    inner = (q * (log_phi[:, :, None] + logs[None])).sum(axis=(1, 2)) + entropy
    m = counts.shape[1]
    constant = gammaln(m * concentration) - m * gammaln(concentration)  # of the prior's density
    kl = 0.0
    for row in counts:
        expected_prior = constant + (concentration - 1) * (digamma(row) - digamma(row.sum())).sum()
        kl -= dirichlet(row).entropy() + expected_prior
    return float(weights @ inner) - kl - 0.5 * float(np.sum(gates[:-1] ** 2)) / variance


@pytest.fixture
def state():
    """A random state: gates, counts, log phi and the best q for them, as a full table."""
    X, candidates, weights = problem(0)
    rng = np.random.default_rng(1)
    gates, counts = rng.normal(size=(4, 2)), rng.gamma(1.0, size=(3, 4)) + 0.1
    log_phi = log_shares(with_constant(X) @ gates)
    logs = digamma(counts) - digamma(counts.sum(axis=1, keepdims=True))
    q = np.exp(log_phi[:, :, None] + logs[None]) * candidates[:, None, :]
    q /= q.sum(axis=(1, 2), keepdims=True)
    return X, candidates, weights, gates, counts, log_phi, q


class TestBound:
    def test_expectations_match_full_table(self, state):
        _, candidates, weights, _, counts, log_phi, q = state
        found = expect(log_phi, counts, candidates.astype(float), weights)
        np.testing.assert_allclose(found.components, q.sum(axis=2))
        np.testing.assert_allclose(found.labels, q.sum(axis=1))
        np.testing.assert_allclose(found.counts, np.einsum("i,ikc->kc", weights, q))

    def test_evidence_equals_the_full_variational_bound(self, state):
        _, candidates, weights, gates, counts, log_phi, q = state
        found = expect(log_phi, counts, candidates.astype(float), weights)
        ours = found.evidence - divergence(counts, 0.05) - penalty(gates, 2.0)
        assert ours == pytest.approx(full_bound(q, log_phi, counts, 0.05, gates, 2.0, weights), rel=1e-10)

    @pytest.mark.parametrize("seed", range(5))
    def test_no_other_expectation_has_a_higher_bound(self, state, seed):
        _, _, weights, gates, counts, log_phi, q = state
        best = full_bound(q, log_phi, counts, 0.05, gates, 2.0, weights)
        rng = np.random.default_rng(seed)
        for strength in (1e-3, 1e-1, 1.0):
            other = q * np.exp(strength * rng.normal(size=q.shape))
            other /= other.sum(axis=(1, 2), keepdims=True)
            assert full_bound(other, log_phi, counts, 0.05, gates, 2.0, weights) < best

    def test_no_other_dirichlet_has_a_higher_bound(self, state):
        _, candidates, weights, gates, counts, log_phi, q = state
        best_counts = 0.05 + expect(log_phi, counts, candidates.astype(float), weights).counts
        best = full_bound(q, log_phi, best_counts, 0.05, gates, 2.0, weights)
        assert best > full_bound(q, log_phi, counts, 0.05, gates, 2.0, weights)
        rng = np.random.default_rng(0)
        for strength in (1e-3, 1e-1, 1.0):
            other = best_counts * np.exp(strength * rng.normal(size=counts.shape))
            assert full_bound(q, log_phi, other, 0.05, gates, 2.0, weights) < best

    def test_divergence_of_a_dirichlet_from_itself_is_zero(self):
        assert divergence(np.full((3, 4), 0.3), 0.3) == pytest.approx(0.0, abs=1e-12)

    @given(
        seed=st.integers(0, 10**6),
        n_components=st.integers(1, 6),
        concentration=st.sampled_from([0.01, 0.05, 1.0, 5.0]),
        variance=st.sampled_from([1e-2, 1.0, 100.0]),
        scaling=st.sampled_from(["auto", None]),
    )
    def test_bound_never_falls(self, seed, n_components, concentration, variance, scaling):
        X, candidates, weights = problem(seed, n=25)
        weights[0] = 1.0
        model = LSBCMMClassifier(
            n_components, concentration, variance, max_iter=30, tol=0, scaling=scaling, random_state=seed
        ).fit(3 * X, candidates, weights)
        assert (np.diff(model.objective_) >= -1e-9 * np.abs(model.objective_[1:])).all()

    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    @pytest.mark.parametrize("width", [5, 250])  # Newton, L-BFGS
    def test_bound_never_falls_with_either_gate_solver(self, make, width):
        X, candidates, _ = problem(3, n=60, d=width)
        model = LSBCMMClassifier(4, max_iter=15, tol=0).fit(make(X), candidates)
        assert (np.diff(model.objective_) >= -1e-9 * np.abs(model.objective_[1:])).all()
        assert model.n_iter_ == len(model.objective_) == 15
        assert not model.converged_


class TestGates:
    def test_stick_breaking_matches_values_computed_by_hand(self):
        # sigma(0) = 1/2, sigma(log 3) = 3/4: a half, three quarters of the other half, then the remainder.
        shares = np.exp(log_shares(np.array([[0.0, np.log(3.0)]])))
        np.testing.assert_allclose(shares, [[1 / 2, 3 / 8, 1 / 8]])
        assert log_shares(np.empty((2, 0))).tolist() == [[0.0], [0.0]]

    def test_extreme_values_neither_overflow_nor_vanish(self):
        logs = log_shares(np.array([[-900.0, 900.0], [900.0, 0.0]]))
        np.testing.assert_allclose(logs, [[-900.0, 0.0, -900.0], [0.0, -900 - np.log(2), -900 - np.log(2)]])

    @pytest.mark.parametrize("n_components", [1, 2, 7])
    def test_even_gates_give_even_shares(self, n_components):
        X = np.random.default_rng(0).normal(size=(5, 3))
        shares = np.exp(log_shares(with_constant(X) @ even_gates(3, n_components)))
        np.testing.assert_allclose(shares, 1 / n_components)

    def test_constant_column_comes_last_and_sparse_rows_stay_sparse(self):
        X = np.random.default_rng(0).normal(size=(5, 3))
        stored = with_constant(sparse.csr_matrix(X))
        assert sparse.issparse(stored)
        np.testing.assert_array_equal(stored.toarray(), with_constant(X))
        np.testing.assert_array_equal(with_constant(X)[:, 3], 1)

    def test_penalty_excludes_the_biases(self):
        assert penalty(np.array([[1.0, 2.0], [7.0, 9.0]]), 0.5) == 5.0

    @pytest.mark.parametrize(("width", "rounds"), [(4, 30), (230, 60)])  # Newton, L-BFGS
    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    def test_gates_converge_to_scikit_learn_logistic_regressions(self, width, rounds, make):
        rng = np.random.default_rng(0)
        X, components = rng.normal(size=(50, width)), rng.dirichlet(np.ones(3), size=50) * 2
        gates = even_gates(width, 3)
        for _ in range(rounds):
            gates = improve_gates(make(with_constant(X)), gates, components, 0.7)
        for number in range(2):
            taken, left = components[:, number], components[:, number + 1 :].sum(axis=1)
            other = LogisticRegression(C=0.7, tol=1e-10, max_iter=5000).fit(
                np.vstack([X, X]), np.repeat([1, 0], 50), np.concatenate([taken, left])
            )
            np.testing.assert_allclose(gates[:-1, number], other.coef_[0], atol=1e-3)
            assert gates[-1, number] == pytest.approx(other.intercept_[0], abs=1e-3)

    def test_gates_stay_finite_when_one_takes_everything(self):
        X = with_constant(np.random.default_rng(0).normal(size=(20, 3)))
        gates = even_gates(3, 3)
        for _ in range(200):
            gates = improve_gates(X, gates, np.eye(3)[np.zeros(20, dtype=int)], 1.0)
        assert np.isfinite(gates).all()
        assert np.exp(log_shares(X @ gates))[:, 0].min() > 0.999


class TestStart:
    def test_components_take_classes_in_turns_by_their_mass(self):
        candidates = np.array([[0, 1, 1], [0, 1, 0], [1, 0, 1], [0, 0, 1], [0, 1, 0]], dtype=bool)
        counts = starting_counts(candidates, np.ones(5), 4, np.random.RandomState(0))
        # The masses are 1/2, 5/2 and 2: the second class, the third, the first, the second again.
        assert counts.argmax(axis=1).tolist() == [1, 2, 0, 1]
        others = counts[counts < 10]
        assert others.min() >= 1
        assert others.max() < 2
        assert (counts.max(axis=1) >= 11).all()
        weighted = starting_counts(candidates, np.array([0, 0, 3.0, 0, 1]), 3, np.random.RandomState(0))
        assert weighted.argmax(axis=1).tolist() == [0, 2, 1]

    def test_bound_settles_after_five_rounds_within_tolerance(self):
        assert not has_settled([-5.0] * 5, 1e-4)
        assert has_settled([-5.0] * 6, 1e-4)
        assert has_settled([-5.0] * 6, 0.0)
        rising = [-8.0, -8.0, -8.0, -4.0, -4.0, -4.0]
        assert not has_settled(rising, 0.99)
        assert has_settled(rising, 1.0)


class TestClassifier:
    def test_iris_with_a_second_candidate_in_each_row(self, iris):
        X, candidates, y = iris
        train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
        model = LSBCMMClassifier().fit(X[train], candidates[train])
        assert model.score(X[test], y[test]) >= 0.9
        assert (model.transduction_ == y[train]).mean() >= 0.9
        assert candidates[train][np.arange(100), model.transduction_].all()
        assert model.component_labels_.shape == (10, 3)
        np.testing.assert_allclose(model.component_labels_.sum(axis=1), 1)

    def test_several_components_separate_groups_of_one_class(self):
        """Two classes like a chessboard, which no single linear border separates."""
        rng = np.random.default_rng(0)
        corner = rng.integers(2, size=(240, 2))
        X, y = 6.0 * corner + rng.normal(size=(240, 2)), corner[:, 0] ^ corner[:, 1]
        extra = np.hstack([np.eye(2)[y], rng.random((240, 1)) < 0.5]).astype(bool)
        scores = [LSBCMMClassifier(n, random_state=1).fit(X, extra).score(X, y) for n in (1, 6)]
        assert scores[0] < 0.6
        assert scores[1] > 0.95

    def test_one_component_gives_all_rows_the_same_probabilities(self, iris):
        X, candidates, _ = iris
        proba = LSBCMMClassifier(1).fit(X, candidates).predict_proba(X)
        np.testing.assert_allclose(proba, np.broadcast_to(proba[0], proba.shape))

    def test_scores_are_logarithms_of_probabilities(self, iris):
        X, candidates, _ = iris
        model = LSBCMMClassifier().fit(X, candidates)
        np.testing.assert_allclose(np.exp(model.decision_function(X)), model.predict_proba(X))

    def test_weights_equal_repeated_rows(self, iris):
        X, candidates, _ = iris
        weights = np.random.default_rng(0).integers(0, 4, size=150)
        rows = np.repeat(np.arange(150), weights)
        weighted = LSBCMMClassifier(max_iter=20).fit(X, candidates, weights)
        repeated = LSBCMMClassifier(max_iter=20).fit(X[rows], candidates[rows])
        np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-8)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)

    def test_seed_sets_the_start(self, iris):
        X, candidates, _ = iris
        first, again, other = (
            LSBCMMClassifier(max_iter=5, random_state=seed).fit(X, candidates).predict_proba(X)
            for seed in (0, np.random.RandomState(0), 1)
        )
        np.testing.assert_array_equal(first, again)
        assert np.abs(first - other).max() > 1e-6

    def test_feature_scales_matter_only_without_scaling(self, iris):
        X, candidates, _ = iris
        scaled = X * [1.0, 100.0, 0.01, 3.0] + 5
        plain = LSBCMMClassifier(max_iter=10).fit(X, candidates).predict_proba(X)
        np.testing.assert_allclose(
            LSBCMMClassifier(max_iter=10).fit(scaled, candidates).predict_proba(scaled), plain, atol=1e-6
        )
        raw = LSBCMMClassifier(max_iter=10, scaling=None).fit(scaled, candidates).predict_proba(scaled)
        assert np.abs(raw - plain).max() > 0.01
