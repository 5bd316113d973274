"""Scores of a file combined with the kernel ridge: the pool fitted without truth, and the choice by blind checks."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import PLKernelRidge
from plcore.evaluation import contaminate
from plcore.kernel.file_scores import FEWEST_CHECKS, ScorePool, ScoreRule, weigh


@pytest.fixture(scope="module")
def overlapping():
    """(X (300, 2), candidates (300, 4), y): classes that overlap, so that a regression is often wrong."""
    rng = np.random.default_rng(2)
    y = rng.integers(4, size=300)
    X = 1.6 * np.eye(4)[y][:, :2] + 1.6 * np.eye(4)[y][:, 2:] * [-1, 1] + rng.normal(size=(300, 2))
    return X, contaminate(y, "size", p=1.0, r=2, random_state=0), y


def scores_of(y, strength):
    return np.exp(np.random.default_rng(4).normal(size=(len(y), 4)) + strength * np.eye(4)[y])


def fitted(overlapping, weights):
    X, candidates, _ = overlapping
    return PLKernelRidge("rbf", alpha=0.1, class_mass=0.5).fit(X, candidates, candidate_weights=weights)


def test_pool_maximises_its_formula_over_the_grid():
    own = np.array([[4.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    prior = np.array([[0.7, 0.3, 0.0], [0.2, 0.6, 0.2], [1.0, 0.0, 0.0]])
    pool = ScorePool.fit(own, prior)

    def gain(temperature, power):
        found = 0.0
        for row, scores in zip(own[:2], prior[:2], strict=True):  # a single candidate is uninformative
            inside = scores > 0
            shares = np.exp(row[inside] / temperature)
            powered = scores[inside] ** power
            found += np.log(inside.sum() * (shares / shares.sum()) @ (powered / powered.sum()))
        return found

    assert pool.rows == 2
    assert pool.gain == pytest.approx(gain(pool.temperature, pool.power))
    assert all(pool.gain >= gain(t, w) - 1e-9 for t in (0.6, 2.0, 12.0) for w in (0.0, 1.0, 2.5, 4.0))
    shares = np.exp(own[0, :2] / pool.temperature) * prior[0, :2] ** pool.power
    np.testing.assert_allclose(pool.labels(own, prior)[0], [*(shares / shares.sum()), 0.0])


def test_even_scores_are_ignored():
    own = np.random.default_rng(0).normal(size=(50, 3))
    pool = ScorePool.fit(own, np.full((50, 3), 1 / 3))
    assert pool.gain == pytest.approx(0.0, abs=1e-9)
    assert not pool.tells
    assert not ScorePool.fit(own, np.eye(3)[np.zeros(50, dtype=int)]).tells


def test_accurate_scores_outweigh_the_model(overlapping):
    _, candidates, y = overlapping
    model = fitted(overlapping, scores_of(y, 4.0))
    weighed = model.weigh_scores()
    alone = (np.where(candidates, scores_of(y, 4.0), 0).argmax(axis=1) == y).mean()
    right = (weighed.labels.argmax(axis=1) == y).mean()
    assert alone > 0.98
    assert weighed.rule is ScoreRule.POOL
    assert right >= alone - 0.005
    assert right > (model.transduction_ == y).mean() + 0.01
    assert (weighed.labels[~candidates] == 0).all()
    np.testing.assert_allclose(weighed.labels.sum(axis=1), 1)


def test_noisy_scores_leave_the_labels_unchanged(overlapping):
    model = fitted(overlapping, scores_of(overlapping[2], 0.0))
    before = model.label_distributions_.copy()
    weighed = model.weigh_scores()
    assert weighed.rule is ScoreRule.IGNORED
    even = model.rounds_.settle(overlapping[1] / overlapping[1].sum(axis=1, keepdims=True), 25)
    np.testing.assert_array_equal(weighed.labels, even.labels)
    np.testing.assert_array_equal(model.label_distributions_, before)


def test_inaccurate_scores_stay_a_prior_of_the_rounds(overlapping):
    y = overlapping[2]
    wrong = np.random.default_rng(1).random(len(y)) < 0.3
    said = np.where(wrong, (y + 1) % 4, y)
    model = fitted(overlapping, scores_of(said, 6.0))
    weighed = model.weigh_scores()
    winners = np.where(overlapping[1], scores_of(said, 6.0), 0).argmax(axis=1)
    assert weighed.pool.accuracy == pytest.approx((winners == y).mean(), abs=0.1)
    assert not weighed.pool.good
    assert weighed.rule is ScoreRule.ROUNDS
    np.testing.assert_array_equal(weighed.labels, model.label_distributions_)


def test_ten_checks_choose_the_rule():
    own, prior = np.tile([[3.0, 0.0]], (12, 1)), np.tile([[0.4, 0.6]], (12, 1))
    pool = ScorePool(1.0, 1.0, 100.0, 12, 0.99, True)
    truth = np.ones(12, dtype=int)
    by_checks = weigh(own, prior, pool, (own, prior, truth))
    assert by_checks.rule is ScoreRule.SCORES
    assert by_checks.right == {ScoreRule.ROUNDS: 0, ScoreRule.POOL: 0, ScoreRule.SCORES: 12}
    np.testing.assert_array_equal(by_checks.labels, prior)
    few = slice(0, FEWEST_CHECKS - 1)
    assert weigh(own, prior, pool, (own[few], prior[few], truth[few])).rule is ScoreRule.POOL
    level = np.zeros(12, dtype=int)
    assert weigh(own, prior, pool, (own, prior, level)).rule is ScoreRule.POOL  # as right as the rounds: it stays


def test_checks_are_rows_outside_training(overlapping):
    X, candidates, y = overlapping
    weights = scores_of(y, 4.0)
    model = PLKernelRidge("rbf", alpha=0.1, class_mass=0.5).fit(X[40:], candidates[40:], candidate_weights=weights[40:])
    weighed = model.weigh_scores((X[:40], candidates[:40], weights[:40], y[:40]))
    alone = int((np.where(candidates, weights, 0)[:40].argmax(axis=1) == y[:40]).sum())
    assert weighed.right[ScoreRule.SCORES] == alone
    assert weighed.right[weighed.rule] == max(weighed.right.values())


def test_weighing_scores_without_scores_is_refused(overlapping):
    with pytest.raises(ValueError, match="There are no scores to weigh"):
        fitted(overlapping, None).weigh_scores()
