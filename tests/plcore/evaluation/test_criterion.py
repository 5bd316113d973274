"""The criterion of the choice: kappa by hand, ties, and true labels before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from plcore.evaluation.learners import WITHIN, choose, kappa

NAN = float("nan")


def test_kappa_by_hand():
    # c = 3/4; shares 1/2, 1/4, 1/4; the sets hold 3/4, 3/4, 1/2, 3/4 of them: e = 11/16.
    candidates = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 1]], dtype=bool)
    candidates[3] = [1, 1, 0]
    predicted = np.array([0, 2, 0, 1])
    assert kappa(candidates, predicted) == pytest.approx((1 - 11 / 16) / (1 - 11 / 16))
    wrong = np.array([0, 1, 0, 2])
    shares = np.array([2, 1, 1]) / 4
    expected = np.mean([shares[0] + shares[1], shares[0] + shares[2], shares[0], shares[0] + shares[1]])
    assert kappa(candidates, wrong) == pytest.approx((2 / 4 - expected) / (1 - expected))


def test_kappa_of_exact_labels_is_cohens():
    """With one candidate a row, e is the product of the two marginals: Cohen (1960)."""
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    y, predicted = rng.integers(4, size=(2, 200))
    predicted = np.where(rng.random(200) < 0.5, y, predicted)
    assert kappa(np.eye(4, dtype=bool)[y], predicted) == pytest.approx(cohen_kappa_score(y, predicted))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 40))
def test_kappa_is_at_most_one_and_zero_for_a_constant(seed, m, n):
    rng = np.random.default_rng(seed)
    candidates = rng.random((n, m)) < 0.5
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    assert kappa(candidates, rng.integers(m, size=n)) <= 1 + 1e-12
    for k in range(m):
        assert kappa(candidates, np.full(n, k)) == pytest.approx(0, abs=1e-9)


def test_kappa_is_not_fooled_by_a_class_in_every_set():
    """Who says the frequent class of all rows is always inside; who knows a little of the others is not."""
    rng = np.random.default_rng(0)
    y = rng.integers(1, 4, size=300)
    candidates = np.eye(4, dtype=bool)[y]
    candidates[:, 0] = True
    knows = np.where(rng.random(300) < 0.8, y, rng.integers(1, 4, size=300))
    always = np.zeros(300, dtype=int)
    inside = [candidates[np.arange(300), predicted].mean() for predicted in (always, knows)]
    assert inside[0] > inside[1]
    assert kappa(candidates, always) == 0
    assert kappa(candidates, knows) > 0.7


def test_the_highest_kappa_is_chosen_and_ties_go_to_the_first():
    assert choose([0.1, 0.5, 0.5, 0.4]) == 1
    assert choose([NAN, -0.2, NAN, -0.1]) == 3
    assert choose([NAN, NAN]) is None
    assert choose([]) is None


@pytest.mark.parametrize(("ahead", "best"), [(0.0, 0), (WITHIN, 0), (WITHIN + 1e-6, 1), (0.5, 1)])
def test_no_switching_for_nothing(ahead, best):
    assert choose([0.6, 0.6 + ahead], stay=0) == best
    assert choose([0.6, 0.6 + ahead], stay=1) == 1


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.data())
def test_the_choice_is_the_highest_or_the_one_to_stay_with(kappas, data):
    stay = data.draw(st.none() | st.integers(0, len(kappas) - 1))
    best = choose(kappas, stay=stay)
    near = stay is not None and kappas[stay] >= max(kappas) - WITHIN
    on_the_edge = stay is not None and abs(kappas[stay] - max(kappas) + WITHIN) < 1e-9
    assert best == (stay if near else kappas.index(max(kappas))) or on_the_edge


def test_one_that_was_not_measured_is_not_stayed_with():
    assert choose([NAN, 0.1, 0.2], stay=0) == 2


def hits(*counts, n=40):
    """Learners that are right on the first `count` of n rows."""
    return np.array([np.arange(n) < count for count in counts])


def test_truth_comes_before_kappa():
    right = hits(36, 12)
    assert choose([0.3, 0.9], right, stay=1) == 0
    assert choose([0.3, 0.9]) == 1


def test_within_the_interval_of_the_truth_kappa_decides():
    """Right on four rows more that one has alone: p = 1/8, no difference; on six: p = 1/32."""
    assert binomtest(4, 4).pvalue > 0.05 > binomtest(6, 6).pvalue
    assert choose([0.3, 0.9], hits(34, 30)) == 1
    assert choose([0.3, 0.9], hits(36, 30)) == 0
    assert choose([0.3, 0.31], hits(34, 30), stay=0) == 0


def test_the_pairs_count_and_not_the_sums():
    """Six hits more say much where the other has none alone, and little where it has ten alone."""
    rows = np.arange(40)
    first, nested, crossed = rows < 10, rows < 16, (rows >= 10) & (rows < 26)
    assert nested.sum() == crossed.sum()
    assert binomtest(16, 26).pvalue > 0.05
    assert choose([0.9, 0.3], np.array([first, nested])) == 1
    assert choose([0.9, 0.3], np.array([first, crossed])) == 0


def test_no_known_row_leaves_it_to_kappa():
    assert choose([0.3, 0.9], np.zeros((2, 0), dtype=bool)) == 1


def test_the_most_accurate_must_have_been_measured():
    assert choose([NAN, 0.1, 0.2], hits(40, 30, 29)) == 2


def test_among_equally_accurate_ones_the_highest_kappa_is_compared_with():
    """The reference of the test is a learner that could be chosen for its kappa, too."""
    assert choose([0.1, 0.7, 0.2], hits(30, 30, 30)) == 1
