"""Scores compared with answers: by hand, by counting one by one, and after answers that leave several candidates."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plcore.evaluation import (
    MarginThresholds,
    checks_needed,
    conformal_sets,
    conformal_threshold,
    conformity_scores,
    exact_interval,
    outside_probabilities,
    outside_rate,
    wilson_interval,
)
from plcore.evaluation.metrics import (
    OPEN,
    RIGHT,
    WRONG,
    ScoredCandidates,
    precision_above,
    precision_by_label,
    precision_by_score,
    scored_candidates,
)
from plcore.kernels import margins

SCORES = np.array([[0.9, 0.1, 0], [0.8, 0.3, 0.2], [0.7, 0, 0.6], [0, 0.5, 0.4]])
BEFORE = SCORES > 0


def by_hand(after: list[list[int]], confirmed: list[int]) -> dict[tuple[int, int], int]:
    found = scored_candidates(
        SCORES, BEFORE, np.array(after, dtype=bool), np.array(confirmed, dtype=bool), np.zeros(4, dtype=bool)
    )
    return {
        (int(row), int(label)): int(verdict)
        for row, label, verdict in zip(found.rows, found.labels, found.verdicts, strict=True)
    }


def test_remaining_candidates_are_right_or_open_and_removed_ones_wrong() -> None:
    said = by_hand([[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]], [1, 0, 0, 0])
    assert said == {
        (0, 0): RIGHT,
        (0, 1): WRONG,
        (1, 0): WRONG,
        (1, 1): OPEN,
        (1, 2): OPEN,
        (2, 0): OPEN,
        (2, 2): OPEN,
        (3, 1): OPEN,  # excluded
        (3, 2): OPEN,
    }


def test_answer_outside_the_candidates_makes_all_of_them_wrong() -> None:
    said = by_hand([[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]], [1, 0, 0, 0])
    assert said[0, 0] == said[0, 1] == WRONG
    assert (0, 2) not in said


def test_share_without_answers_is_unknown() -> None:
    found = scored_candidates(SCORES, BEFORE, BEFORE, np.zeros(4, dtype=bool), np.zeros(4, dtype=bool))
    seen = precision_above(found, 0.7)
    assert (seen.scored, seen.looked_at, seen.right) == (3, 0, 0)
    assert np.isnan([seen.share, seen.low, seen.high]).all()


DETECTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]), st.sampled_from([-1, 0, 1])), max_size=30
)


@given(DETECTIONS, st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.sampled_from([None, 0, 1]))
def test_counts_match_counting_one_by_one(
    detections: list[tuple[int, float, int]], threshold: float, label: int | None
) -> None:
    labels, scores, verdicts = (np.array([one[k] for one in detections]) for k in range(3))
    places = np.arange(len(detections))
    found = ScoredCandidates(places, labels.astype(int), scores, verdicts.astype(int), places < 0)
    by_label = precision_by_label(found, threshold, 3)
    assert sum(one.scored for one in by_label) == precision_above(found, threshold).scored
    seen = precision_above(found, threshold) if label is None else by_label[label]
    chosen = [one for one in detections if one[1] >= threshold and label in (None, one[0])]
    looked = [one for one in chosen if one[2] >= 0]
    assert (seen.scored, seen.looked_at) == (len(chosen), len(looked))
    assert seen.right == sum(one[2] for one in looked)
    if looked:
        low, high = wilson_interval(seen.right / len(looked), len(looked))
        assert (seen.low, seen.high) == pytest.approx((float(low), float(high)))
        assert seen.low <= seen.share <= seen.high
    parts = precision_by_score(found, np.array([0, 0.5, 0.7, 1.0]), label)
    assert sum(part.scored for part in parts) == len([one for one in detections if label in (None, one[0])])
    assert parts[-1].right == sum(one[2] == 1 and one[1] >= 0.7 and label in (None, one[0]) for one in detections)


# Shortlists: known answers, exact coverage, and the laws that hold for any shares.


SHARES = arrays(np.float64, (7, 4), elements=st.floats(0.0625, 1.0, width=32)).map(
    lambda raw: raw / raw.sum(axis=1, keepdims=True)
)
MISSES = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5])


@pytest.mark.parametrize(("miss", "needed"), [(0.05, 19), (0.1, 9), (0.01, 99), (0.3, 3), (0.5, 1)])
def test_checks_needed_is_the_fewest_for_a_finite_threshold(miss, needed):
    assert checks_needed(miss) == needed
    assert conformal_threshold(np.arange(needed), miss) == needed - 1
    assert np.isinf(conformal_threshold(np.arange(needed - 1), miss))


def test_threshold_is_the_score_of_the_conformal_rank():
    scores = np.random.default_rng(0).permutation(np.arange(1, 100) / 100)  # 99 of them: rank 95, 90 and 99
    assert [conformal_threshold(scores, miss) for miss in (0.05, 0.1, 0.01)] == [0.95, 0.9, 0.99]


def test_miss_rates_near_0_or_1_are_not_rounded():
    assert checks_needed(1e-7) == 9_999_999
    assert np.isinf(conformal_threshold(np.arange(20), 1e-7))
    assert conformal_threshold(np.arange(20), 1 - 1e-7) == 0


@pytest.mark.parametrize("truth", [[0, 3], [0, -2], [0, np.nan], ["a", "b"], [0, 0.5]])
def test_unknown_class_number_is_refused(truth):
    with pytest.raises(ValueError, match=r"from 0 to 2, or -1.*Got \[.*get_indexer"):
        conformity_scores(np.full((2, 3), 0.25), truth)


def test_truth_outside_the_candidates_counts_as_a_miss():
    shares = [[0.75, 0.25, 0.0], [0.5, 0.5, 0.0]]
    assert conformity_scores(shares, [1, -1]).tolist() == [0.75, np.inf]
    scores = np.r_[np.full(95, 0.25), np.full(4, np.inf)]
    assert conformal_threshold(scores, 0.05) == 0.25
    assert np.isinf(conformal_threshold(np.r_[scores, np.inf, np.inf], 0.05))


def test_shortlists_match_values_computed_by_hand():
    shares = [[0.7, 0.2, 0.1], [0.4, 0.6, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    candidates = [[1, 1, 1], [1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert conformal_sets(shares, candidates, 0.8).tolist() == [
        [True, True, False],
        [True, True, False],
        [True, True, False],
        [False, False, False],
    ]
    # No label reaches the threshold: keep the likeliest alone, the first of equal ones.
    assert conformal_sets(shares, candidates, 0.1).tolist() == [
        [True, False, False],
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert conformal_sets(shares, candidates, np.inf).tolist() == np.array(candidates, dtype=bool).tolist()


def test_labels_with_equal_scores_are_listed_together():
    shares = np.full((1, 4), 0.25)
    q = conformal_threshold(conformity_scores(np.tile(shares, (30, 1)), np.zeros(30, dtype=int)), 0.05)
    assert conformal_sets(shares, np.ones((1, 4), dtype=bool), q).all()


@pytest.mark.parametrize("miss", [0.2, 0.25, 0.4])
def test_coverage_over_all_orders_matches_the_theorem_exactly(miss):
    """All orders of m + 1 different scores are equally likely: the last is within the others' threshold in exactly
    ceil((m + 1)(1 - a)) of m + 1 orders."""
    orders = list(permutations(range(6)))
    held = np.mean([order[-1] <= conformal_threshold(order[:-1], miss) for order in orders])
    assert held == pytest.approx(np.ceil(6 * (1 - miss) - 1e-9) / 6)
    assert held >= 1 - miss


@pytest.mark.parametrize(("miss", "m"), [(0.05, 19), (0.05, 50), (0.1, 37), (0.01, 120)])
def test_simulated_coverage_lies_between_bounds(miss, m):
    """Rows of a model whose shares are wrong on purpose: the promise does not depend on them."""
    rng, runs, k = np.random.default_rng(3), 4_000, 5
    shares = rng.dirichlet(np.full(k, 0.5), size=(runs, m + 1))
    weights = np.sqrt(shares) + 0.1  # the truth is less sure than the model thinks
    ends = np.cumsum(weights / weights.sum(axis=2, keepdims=True), axis=2)
    truth = (rng.random((runs, m + 1, 1)) > ends[..., :-1]).sum(axis=2)
    held = 0
    for p, y in zip(shares, truth, strict=True):
        q = conformal_threshold(conformity_scores(p[:m], y[:m]), miss)
        held += int(conformal_sets(p[m:], np.ones((1, k), dtype=bool), q)[0, y[m]])
    error = 4 * np.sqrt(miss * (1 - miss) / runs)
    assert 1 - miss - error <= held / runs <= 1 - miss + 1 / (m + 1) + error


@pytest.mark.parametrize(("m", "strata"), [(9, 1), (18, 2), (26, 2), (27, 3), (90, 3)])
def test_coverage_holds_for_confident_and_unsure_models(m, strata):
    """The truth has a small share in rows where the model is unsure, and a large one elsewhere."""
    rng, held, pooled = np.random.default_rng(4), [], []
    for _ in range(60):
        shares = rng.dirichlet(np.full(5, 0.5), size=m + 200)
        sureness = margins(shares)
        weights = np.where((sureness < np.quantile(sureness, 0.3))[:, None], (1 - shares) ** 4, shares**2)
        ends = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        truth = (rng.random((m + 200, 1)) > ends[:, :-1]).sum(axis=1)
        scores = conformity_scores(shares[:m], truth[:m])
        found = MarginThresholds.fit(scores, sureness[:m], 0.1)
        unsure = m + np.flatnonzero(sureness[m:] <= np.quantile(sureness[m:], 0.2))
        everything = np.ones((len(unsure), 5), dtype=bool)
        for into, threshold in ((held, found.of(sureness[unsure])), (pooled, conformal_threshold(scores, 0.1))):
            lists = conformal_sets(shares[unsure], everything, threshold)
            into.append(lists[np.arange(len(unsure)), truth[unsure]].mean())
    assert len(found.thresholds) == strata
    assert np.isfinite(found.thresholds).all()
    if m == 90:
        assert np.mean(held) >= 0.88 > 0.7 > np.mean(pooled)


def test_checks_with_equal_margins_form_one_stratum():
    alike = MarginThresholds.fit(np.arange(40) / 40, np.ones(40), 0.1)
    assert (len(alike.cuts), alike.of([0.0, 1.0]).tolist()) == (0, [0.9, 0.9])
    none = MarginThresholds.fit([], [], 0.1)
    assert np.isinf(none.of([0.3])).all()


@given(SHARES, arrays(bool, (7, 4)), st.lists(st.integers(-1, 3), min_size=7, max_size=7), MISSES, MISSES)
def test_lists_for_a_smaller_miss_rate_contain_those_for_a_larger_one(shares, candidates, truth, a, b):
    scores = conformity_scores(shares, truth)
    narrow, wide = (
        conformal_sets(shares, candidates, conformal_threshold(scores, miss)) for miss in (max(a, b), min(a, b))
    )
    assert (narrow <= wide).all()
    assert (wide <= candidates).all()
    assert (narrow.any(axis=1) == candidates.any(axis=1)).all()


@given(SHARES, st.permutations(range(7)), MISSES)
def test_order_of_checks_does_not_matter(shares, order, miss):
    scores = conformity_scores(shares, np.arange(7) % 4)
    assert conformal_threshold(scores, miss) == conformal_threshold(scores[list(order)], miss)


@given(SHARES, st.integers(0, 6), MISSES)
def test_label_with_a_larger_share_is_never_dropped_first(shares, row, miss):
    q = conformal_threshold(conformity_scores(shares, np.arange(7) % 4), miss)
    (on,) = conformal_sets(shares[[row]], np.ones((1, 4), dtype=bool), q)
    assert on.all() or shares[row][on].min() >= shares[row][~on].max()


@pytest.mark.parametrize("miss", [0, 1, -0.1, np.nan, "0.05", True])
def test_invalid_miss_rate_is_refused(miss):
    with pytest.raises(ValueError, match="miss must be a number in"):
        conformal_threshold([0.5], miss)


def test_nan_scores_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        conformal_threshold([0.5, np.nan], 0.05)


# Truths outside of the candidates: their rate, and what follows for a row.


def test_outside_rate_has_an_exact_interval():
    rate = outside_rate(3, 60)
    assert rate.share == 0.05
    assert (rate.low, rate.high) == tuple(map(float, exact_interval(3, 60)))
    assert (round(rate.low, 4), round(rate.high, 4)) == (0.0104, 0.1392)  # Clopper and Pearson, by hand


def test_outside_rate_is_unknown_without_checks():
    rate = outside_rate(0, 0)
    assert np.isnan(rate.share)
    assert (rate.low, rate.high) == (0.0, 1.0)


def test_outside_probability_matches_bayes_by_hand():
    shares = [[0.1, 0.1, 0.8, 0.0]]
    candidates = [[True, True, False, False]]
    # 0.9 * 0.2 / 2 = 0.09 inside, 0.1 * 0.8 / 2 = 0.04 outside
    assert outside_probabilities(shares, candidates, 0.1) == pytest.approx([4 / 13])


def test_even_shares_give_the_outside_rate():
    candidates = np.array([[True, False, False], [True, True, False]])
    assert outside_probabilities(np.full((2, 3), 1 / 3), candidates, 0.05) == pytest.approx([0.05, 0.05])
    assert outside_probabilities(np.zeros((2, 3)), candidates, 0.05) == pytest.approx([0.05, 0.05])


def test_outside_probability_is_zero_for_full_and_empty_sets():
    candidates = np.array([[True, True], [False, False]])
    assert outside_probabilities(np.full((2, 2), 0.5), candidates, 0.3).tolist() == [0.0, 0.0]


def test_calibrated_model_gives_calibrated_outside_probabilities():
    """Rows drawn from the very model that Bayes' rule assumes."""
    rng, n, m, rate = np.random.default_rng(0), 40_000, 5, 0.1
    y = rng.integers(m, size=n)
    features = rng.normal(size=(n, m)) + 1.5 * np.eye(m)[y]
    shares = np.exp(1.5 * features)
    shares /= shares.sum(axis=1, keepdims=True)
    outside = rng.random(n) < rate
    candidates = np.zeros((n, m), dtype=bool)
    for row in range(n):
        others = rng.permutation([k for k in range(m) if k != y[row]])[:2]
        candidates[row, others] = True
        if not outside[row]:
            candidates[row, others[0]] = False
            candidates[row, y[row]] = True
    found = outside_probabilities(shares, candidates, rate)
    assert found.mean() == pytest.approx(rate, abs=0.005)
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 1.0)):
        bin_ = (found >= low) & (found < high)
        assert outside[bin_].mean() == pytest.approx(found[bin_].mean(), abs=0.02)


@given(st.floats(0, 0.9), st.floats(0, 0.9), st.integers(0, 2**32 - 1))
def test_outside_probability_grows_with_the_rate(a, b, seed):
    rng = np.random.default_rng(seed)
    shares, candidates = rng.dirichlet(np.ones(4), size=5), rng.random((5, 4)) < 0.5
    low, high = (outside_probabilities(shares, candidates, rate) for rate in sorted((a, b)))
    assert (low <= high + 1e-12).all()
    assert ((low >= 0) & (high <= 1)).all()


def test_invalid_outside_rate_is_refused():
    with pytest.raises(ValueError, match="rate"):
        outside_probabilities([[1.0]], [[True]], 1.0)
