"""Agreement: published examples, the package `krippendorff`, counting pairs by hand, intervals that cover."""

from __future__ import annotations

from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from plcore.crowd import LEAST_ROWS, Agreement, cohen_kappa, gwet_ac1, krippendorff_alpha

_ = None
WIKIPEDIA = [
    [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
    [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
    [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
]
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
"""Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C; also Gwet's example of four raters."""

SETS = st.sets(st.integers(0, 3), min_size=1)
CROWDS = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3), SETS), min_size=1, max_size=25)


def votes_of(table):
    return [(row, f"p{who}", one) for who, line in enumerate(table) for row, one in enumerate(line) if one is not None]


def by_pairs(votes, distance):
    """1 - observed over expected, by going through all pairs of answers."""
    last = {(row, who): frozenset({said} if not isinstance(said, set) else said) for row, who, said in votes}
    rows: dict[int, list] = {}
    for (row, _who), said in last.items():
        rows.setdefault(row, []).append(said)
    kept = [said for said in rows.values() if len(said) > 1]
    total = sum(map(len, kept))
    observed = sum(distance(a, b) / (len(said) - 1) for said in kept for a, b in permutations(said, 2)) / total
    every = [one for said in kept for one in said]
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (total * (total - 1))
    return 1 - observed / expected


def apart(a, b):
    common = len(a & b)
    factor = 1 if a == b else 2 / 3 if a < b or b < a else 1 / 3 if common else 0
    return 1 - factor * common / len(a | b)


def test_published_examples_are_reproduced():
    assert krippendorff_alpha(votes_of(WIKIPEDIA)) == pytest.approx(56 / 81, abs=1e-9)  # 0.691
    assert krippendorff_alpha(votes_of(KRIPPENDORFF)) == pytest.approx(113 / 152, abs=1e-9)  # 0.743
    # Gwet (2014): AC1 0.77544 with observed agreement 0.81818 and chance 0.19032; by fractions:
    size = [sum(line[row] is not None for line in KRIPPENDORFF) for row in range(12)]
    pi = [sum((line[row] == k) / size[row] for row in range(12) for line in KRIPPENDORFF) / 12 for k in range(1, 6)]
    chance = sum(one * (1 - one) for one in pi) / 4
    found = gwet_ac1(votes_of(KRIPPENDORFF), least_rows=1)
    assert found == pytest.approx((9 / 11 - chance) / (1 - chance), abs=1e-9)
    assert round(found, 5) == 0.77544
    assert round(chance, 5) == 0.19032


@pytest.mark.parametrize("table", [WIKIPEDIA, KRIPPENDORFF])
def test_alpha_matches_krippendorff_on_examples(table):
    values = [[np.nan if one is None else one for one in line] for line in table]
    expected = krippendorff.alpha(values, level_of_measurement="nominal")
    assert krippendorff_alpha(votes_of(table)) == pytest.approx(expected, abs=1e-12)


@given(CROWDS)
def test_alpha_matches_krippendorff_on_any_votes(votes):
    found = krippendorff_alpha(votes)
    last = {(row, who): "".join(map(str, sorted(said))) for row, who, said in votes}
    values = sorted(set(last.values()))
    counts = np.zeros((8, len(values)), dtype=int)
    for (row, _who), said in last.items():
        counts[row, values.index(said)] += 1
    shared = counts[counts.sum(axis=1) > 1]
    if not len(shared) or (shared.sum(axis=0) > 0).sum() < 2:
        assert np.isnan(found)
        assert found.reason
    else:
        expected = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
        assert found == pytest.approx(expected, abs=1e-9)
        assert found.reason == ""
    assert found.n_rows == len(shared)


@given(CROWDS)
def test_alpha_matches_counting_pairs(votes):
    for distance, measure in (("set", apart), ("nominal", lambda a, b: a != b)):
        found = krippendorff_alpha(votes, distance)
        if not found.reason:
            assert found == pytest.approx(by_pairs(votes, measure), abs=1e-9)


def test_set_distance_matches_known_values():
    """Equal 0, subset 1 - 2/3 x 1/2, overlap 1 - 1/3 x 1/3, nothing in common 1."""
    pairs = [({1}, {1}, 0), ({1}, {1, 2}, 2 / 3), ({1, 2}, {2, 3}, 8 / 9), ({1}, {2}, 1)]
    votes = [(row, who, said) for row, (a, b, _d) in enumerate(pairs) for who, said in (("a", a), ("b", b))]
    every = [said for pair in pairs for said in pair[:2]]
    expected = sum(apart(a, b) for a, b in permutations(every, 2)) / 56
    observed = sum(d for _a, _b, d in pairs) / 4
    assert krippendorff_alpha(votes, "set") == pytest.approx(1 - observed / expected, abs=1e-12)


def test_undefined_agreement_explains_why():
    alone = krippendorff_alpha([(0, "a", "x"), (1, "b", "y")])
    assert np.isnan(alone)
    assert alone.reason == "No row has been answered by two people."
    same = krippendorff_alpha([(row, who, "x") for row in range(40) for who in "ab"])
    assert np.isnan(same)
    assert "the same answer to all rows" in same.reason
    assert "the same answer to all rows" in gwet_ac1([(row, who, "x") for row in range(40) for who in "ab"]).reason
    few = krippendorff_alpha(votes_of(WIKIPEDIA), least_rows=30)
    assert few.reason == "Only 12 rows have been answered by two people; a figure needs 30 such rows."
    assert gwet_ac1(votes_of(WIKIPEDIA)).reason == few.reason
    figure, low, high = krippendorff_alpha([(0, "a", "x"), (0, "b", "x")], n_bootstrap=10)
    assert figure.reason
    assert np.isnan(low)
    assert np.isnan(high)


def test_agreement_is_a_float():
    found = krippendorff_alpha(votes_of(WIKIPEDIA))
    assert isinstance(found, float)
    assert isinstance(found, Agreement)
    assert found.reason == ""
    assert found.n_rows == 12
    assert f"{found:.3f}" == "0.691"
    assert krippendorff_alpha([(0, "a", 1), (0, "b", 1), (1, "a", 2), (1, "b", 2)]) == 1


def noisy(rng, n=80, m=3, right=0.7, people=2):
    y = rng.integers(m, size=n)
    return [
        (row, who, int(y[row] if rng.random() < right else rng.integers(m)))
        for row in range(n)
        for who in range(people)
    ]


def test_ac1_and_its_interval_match_known_values():
    rng = np.random.default_rng(0)
    votes = noisy(rng)
    answers = np.array([said for _row, _who, said in votes]).reshape(-1, 2)
    observed = (answers[:, 0] == answers[:, 1]).mean()
    pi = np.bincount(answers.ravel()) / answers.size
    chance = (pi * (1 - pi)).sum() / (3 - 1)
    assert gwet_ac1(votes) == pytest.approx((observed - chance) / (1 - chance), abs=1e-12)
    figure, low, high = gwet_ac1(votes, n_bootstrap=200, random_state=1)
    assert low < figure < high


def test_rows_with_one_vote_only_affect_chance_agreement_in_ac1():
    votes = [(0, "a", "x"), (0, "b", "x"), (1, "a", "y")]
    assert gwet_ac1(votes, least_rows=1) == pytest.approx((1 - 0.5) / (1 - 0.5))
    assert np.isnan(krippendorff_alpha(votes))


def test_kappa_is_reported_for_each_pair_of_annotators():
    rng = np.random.default_rng(3)
    votes = noisy(rng, people=3)
    votes = [vote for vote in votes if vote[1] != 2 or vote[0] < LEAST_ROWS - 1]
    found = cohen_kappa(votes)
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    said = {who: {row: one for row, other, one in votes if other == who} for who in range(3)}
    expected = cohen_kappa_score([said[0][row] for row in range(80)], [said[1][row] for row in range(80)])
    assert found[0, 1] == pytest.approx(expected, abs=1e-12)
    assert found[0, 1].n_rows == 80
    assert np.isnan(found[0, 2])
    assert found[0, 2].n_rows == 29
    assert found[0, 2].reason.startswith("Only 29 rows have been answered by two people")
    assert not np.isnan(cohen_kappa(votes, least_rows=29)[1, 2])
    same = cohen_kappa([(row, who, "x") for row in range(30) for who in "ab"])
    assert "the same answer to all rows" in same["a", "b"].reason
    assert cohen_kappa([(0, "a", "x"), (1, "b", "y")])["a", "b"].reason.startswith("No row has")


@given(CROWDS, st.randoms(use_true_random=False))
def test_names_and_order_do_not_change_agreement(votes, random):
    last = list({(row, who): (row, who, said) for row, who, said in votes}.values())
    names, places = random.sample(range(4), 4), random.sample(range(8), 8)
    moved = [(places[row], names[who], said) for row, who, said in random.sample(last, len(last))]
    for figure in (lambda v: krippendorff_alpha(v, "set"), lambda v: gwet_ac1(v, least_rows=1)):
        np.testing.assert_allclose(figure(moved), figure(last), atol=1e-9)


def test_intervals_are_reproducible_by_seed():
    votes = noisy(np.random.default_rng(5))
    for distance in ("nominal", "set"):
        one = krippendorff_alpha(votes, distance, n_bootstrap=450, random_state=7)
        assert one == krippendorff_alpha(votes, distance, n_bootstrap=450, random_state=7)
        figure, low, high = one
        assert figure == krippendorff_alpha(votes, distance)
        assert low < figure < high <= 1
    assert krippendorff_alpha([(row, who, row % 2) for row in range(9) for who in "ab"], n_bootstrap=50) == (1, 1, 1)


@pytest.mark.parametrize(
    ("n", "right", "people", "repeats"),
    [
        (40, 0.85, 2, 60),
        pytest.param(40, 0.85, 2, 400, marks=pytest.mark.proof),
        pytest.param(80, 0.6, 3, 400, marks=pytest.mark.proof),
    ],
)
def test_intervals_cover_the_value_of_the_population(n, right, people, repeats):
    rng = np.random.default_rng(n)
    many = noisy(rng, 60_000, right=right, people=people)
    for figure in (krippendorff_alpha, gwet_ac1):
        true, held = float(figure(many)), 0
        for seed in range(repeats):
            _figure, low, high = figure(noisy(rng, n, right=right, people=people), n_bootstrap=300, random_state=seed)
            held += low <= true <= high
        assert held / repeats >= 0.93


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="distance must be one of 'nominal', 'set'"):
        krippendorff_alpha([(0, "a", 1)], "jaccard")
    with pytest.raises(ValueError, match="n_bootstrap must be an int of at least 0"):
        krippendorff_alpha([(0, "a", 1)], n_bootstrap=-1)
    with pytest.raises(ValueError, match="least_rows must be an int of at least 1"):
        cohen_kappa([(0, "a", 1)], least_rows=0)
