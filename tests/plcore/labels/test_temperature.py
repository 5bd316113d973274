"""The temperature by hand, as the likeliest of many, and where the scores or the sets say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.evaluation import contaminate
from plcore.labels import fit_temperature, log_shares, tempered


def softmax(scores, temperature):
    p = np.exp((scores - scores.max(axis=1, keepdims=True)) / temperature)
    return p / p.sum(axis=1, keepdims=True)


def lack(scores, candidates, temperature, weights=None, smoothed=False):
    """What T minimises, by its formula."""
    weights = np.ones(len(scores)) if weights is None else weights
    told = candidates.any(axis=1) & ~candidates.all(axis=1)
    s, p, inside = weights[told], softmax(scores[told], temperature), candidates[told]
    q, rest = (np.maximum(p.sum(axis=1, where=part), 1e-300) for part in (inside, ~inside))
    t = (s.sum() + 1) / (s.sum() + 2) if smoothed else 1.0
    return -s @ (t * np.log(q) + (1 - t) * np.log(rest))


def test_smoothed_it_stays_above_zero_where_all_sets_are_hit():
    scores = np.tile([1.0, 0.0], (9, 1))
    found = fit_temperature(scores, scores > 0, smoothed=True)
    np.testing.assert_allclose(softmax(scores, found)[0], [10 / 11, 1 / 11], atol=1e-4)
    assert fit_temperature(scores, scores > 0) < found / 10


def test_one_row_kind_by_hand():
    """Two classes, scores 1 and 0, the first in three sets of four: 1 / T is the logit of 3/4. Smoothed they count as
    5/6 each: (3 * 5/6 + 1/6) / 4 is 2/3, and T = 1 / log 2."""
    scores = np.tile([1.0, 0.0], (4, 1))
    candidates = np.array([[1, 0], [1, 0], [1, 0], [0, 1]], dtype=bool)
    np.testing.assert_allclose(fit_temperature(scores, candidates), 1 / np.log(3), rtol=1e-4)
    found = fit_temperature(scores, candidates, smoothed=True)
    np.testing.assert_allclose(found, 1 / np.log(2), rtol=1e-4)
    weighted = fit_temperature(scores[2:], candidates[2:], np.array([3.0, 1.0]), smoothed=True)
    np.testing.assert_allclose(weighted, found, rtol=1e-4)
    np.testing.assert_allclose(fit_temperature(8 * scores, candidates, smoothed=True), 8 * found, rtol=1e-4)


@pytest.mark.parametrize("smoothed", [False, True])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([1e-3, 1.0, 1e3]))
def test_no_other_is_likelier(smoothed, seed, size):
    rng = np.random.default_rng(seed)
    scores, candidates = rng.normal(size=(80, 5)), rng.random((80, 5)) < 0.4
    candidates[np.arange(80), (scores + rng.normal(size=(80, 5))).argmax(axis=1)] = True
    scores, weights = scores * size, rng.random(80)
    found = fit_temperature(scores, candidates, weights, smoothed=smoothed)
    tried = np.geomspace(found / 20, found * 20, 60)
    least = min(lack(scores, candidates, one, weights, smoothed) for one in tried)
    assert lack(scores, candidates, found, weights, smoothed) <= least + 1e-6


@pytest.mark.parametrize("true_temperature", [0.02, 1.0, 40.0])
def test_it_is_found_again(true_temperature):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4000, 4)) * 2
    y = (softmax(scores, 1.0).cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    candidates = contaminate(y, p=0.5, q=0.3, classes=range(4), random_state=0)
    scores *= true_temperature
    exact = fit_temperature(scores, np.eye(4, dtype=bool)[y])
    assert exact == pytest.approx(true_temperature, rel=0.1)
    assert fit_temperature(scores, candidates) == pytest.approx(true_temperature, rel=0.25)


@pytest.mark.parametrize("smoothed", [False, True])
def test_rows_that_say_nothing_are_left_out(smoothed):
    scores = np.array([[2.0, 0.0, -np.inf], [0.0, 1.0, -np.inf], [3.0, 1.0, -np.inf], [0.0, 1.0, -np.inf]])
    sets = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [0, 0, 1]], dtype=bool)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    alone = fit_temperature(scores[:2], sets[:2], weights[:2], smoothed=smoothed)
    assert fit_temperature(scores, sets, weights, smoothed=smoothed) == alone
    assert alone != 1.0
    assert fit_temperature(scores[2:], sets[2:], smoothed=smoothed) == 1.0
    assert fit_temperature(np.zeros((2, 3)), sets[:2], smoothed=smoothed) == 1.0


def test_shares_are_tempered_inside_the_candidates():
    shares, inside = (
        np.array([[0.8, 0.2, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
        np.array([[1, 1, 1, 0], [1, 1, 0, 0]], bool),
    )
    scores = log_shares(shares, inside, 0.03)
    assert np.isneginf(scores[~inside]).all()
    np.testing.assert_allclose(np.exp(scores[0, :3]), [0.786, 0.204, 0.01])
    np.testing.assert_allclose(tempered(shares, inside, 0.03, 1.0), np.exp(scores))
    roots = np.sqrt([0.985, 0.015])
    np.testing.assert_allclose(tempered(shares, inside, 0.03, 2.0)[1, :2], roots / roots.sum())
    even = tempered(shares, inside, 0.03, 1e9)
    np.testing.assert_allclose(even, inside / inside.sum(axis=1, keepdims=True), atol=1e-6)


def test_doubt_lets_a_share_of_nothing_be_wrong():
    """Of ten rows the model gives the truth nothing in one: T says how sure it may be in all."""
    shares, inside = np.tile([1.0, 0.0], (10, 1)), np.ones((10, 2), dtype=bool)
    truth = np.tile([True, False], (10, 1))
    truth[0] = [False, True]
    temperature = fit_temperature(log_shares(shares, inside, 0.02), truth, smoothed=True)
    assert tempered(shares, inside, 0.02, temperature)[0, 0] == pytest.approx(0.9, abs=0.08)
