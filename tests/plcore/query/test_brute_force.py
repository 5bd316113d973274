"""Sets and scores compared with enumeration on thousands of small random problems with ties and zero weights."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.neighbors.votes import check_graph
from plcore.query import effect_scores, necessary_labels, possible_labels, winners
from tests.plcore.query.enumeration import apart, check, random_graph
from tests.plcore.random_sets import some_sets


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_sets_and_scores_match_enumeration(k, m):
    """60,000 cases over all sizes, and the facts of the paper (Prop. 2)."""
    h, necessary, approximate, possible = check(*apart(np.random.default_rng([k, m]), 3000, k, m))
    assert (necessary <= possible).all()
    assert (possible <= approximate).all()
    assert (h <= possible).all()
    decided = necessary.any(axis=1)
    np.testing.assert_array_equal(approximate[decided], possible[decided])


def test_scores_with_shared_neighbours_match_enumeration():
    rng = np.random.default_rng(2)
    for _ in range(150):
        check(*random_graph(rng))


def test_exact_search_matches_enumeration_for_larger_k():
    """Larger K, with few distinct weights so that packings are tight."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        check(np.arange(8)[None], rng.integers(1, 6, size=(1, 8)), some_sets(rng, 8, 5, 0.4))


def test_answers_only_narrow_possible_and_grow_necessary_labels():
    """Prop. 3: answers only shrink APL and PL and only grow NL."""
    rng = np.random.default_rng(4)
    for _ in range(600):
        neighbors, weights, candidates = random_graph(rng)
        weights[:, 0] += 1  # targets without any weight decide nothing, and answers only hide labels from them
        row = int(rng.integers(len(candidates)))
        answered = candidates.copy()
        answered[row] = False
        answered[row, rng.choice(np.flatnonzero(candidates[row]))] = True
        for exact in (True, False):
            before = possible_labels(neighbors, weights, candidates, exact=exact)
            assert (possible_labels(neighbors, weights, answered, exact=exact) <= before).all()
        assert (
            necessary_labels(neighbors, weights, candidates) <= necessary_labels(neighbors, weights, answered)
        ).all()


def test_zero_scores_do_not_prove_that_everything_is_settled():
    """Two answers together may change what neither changes alone."""
    sets = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1]], dtype=bool)
    graph = np.arange(5)[None], np.array([[4, 5, 3, 2, 5]])
    for rule in ("apl", "pl"):
        assert effect_scores(*graph, sets, rule=rule).tolist() == [0] * 5
    assert not necessary_labels(*graph, sets).any()
    assert possible_labels(*graph, sets).all()
    sets[0] = [True, False, False]  # one answer later
    assert effect_scores(*graph, sets).any()


def test_apl_and_pl_effects_can_differ():
    sets = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=bool)
    graph = np.arange(4)[None], np.array([[2, 2, 3, 2]])
    assert (effect_scores(*graph, sets, rule="apl") > 0).tolist() == [False, True, True, True]
    assert (effect_scores(*graph, sets, rule="pl") > 0).tolist() == [False, False, True, True]
    sets = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool)
    graph = np.arange(5)[None], np.array([[2, 4, 3, 2, 3]])
    assert (effect_scores(*graph, sets, rule="apl") > 0).tolist() == [False, True, True, True, True]
    assert (effect_scores(*graph, sets, rule="pl") > 0).all()


# Example 1 of the paper: Tables 1 and 2, Example 2, and the totals of Tables 4 and 5 in exact arithmetic.


NEIGHBORS = np.array([[0, 2, 1], [1, 2, 0], [5, 3, 4], [5, 3, 4], [3, 4, 5]])  # Table 1
WEIGHTS = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.4], [0.8, 0.8, 0.4], [0.7, 0.7, 0.7], [0.8, 0.8, 0.4]])
TENTHS = np.rint(WEIGHTS * 10).astype(int)
CANDIDATES = np.array([[0, 1, 1], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=bool)  # Figure 1


def scores_of(targets, rule, decision="set"):
    return effect_scores(NEIGHBORS[targets], TENTHS[targets], CANDIDATES, rule=rule, decision=decision)


def test_table_2_mw_scores_match():
    expected = {0: [0.375, 0.7 / 2.4, 0.8 / 2.4, 0], 1: [0.2, 0.4, 0.4, 0], 2: [0, 0, 0, 0.4], 3: [0, 0, 0, 1 / 3]}
    for target, scores in expected.items():
        found = scores_of([target], "mw")
        assert found[:4] == pytest.approx(scores, abs=1e-11)
        assert found[4:].tolist() == [0, 0]
    assert scores_of([4], "mw")[3] == pytest.approx(0.4)


@pytest.mark.parametrize("weights", [WEIGHTS, TENTHS, WEIGHTS.astype(np.float32)])
def test_example_2_sets_match(weights):
    nothing, everything, first = [False] * 3, [True] * 3, [True, False, False]
    assert necessary_labels(NEIGHBORS, weights, CANDIDATES).tolist() == [
        nothing, nothing, first, first, first,
    ]  # fmt: skip
    for exact in (True, False):
        possible = possible_labels(NEIGHBORS, weights, CANDIDATES, exact=exact)
        assert possible[2:].tolist() == [first] * 3
    assert possible_labels(NEIGHBORS, weights, CANDIDATES, exact=False)[:2].tolist() == [everything, everything]
    third = [False, False, True]
    assert winners(NEIGHBORS, weights, CANDIDATES).tolist() == [third, third, first, first, first]


@pytest.mark.parametrize("weights", [WEIGHTS, TENTHS])
@pytest.mark.parametrize(
    ("rule", "decision", "totals"),
    [
        ("mw", "set", [0.575, 0.69166667, 0.73333333, 1.13333333, 0, 0]),
        ("apl", "set", [0.375, 0.69166667, 0.73333333, 0, 0, 0]),
        ("pl", "set", [0.375, 0.69166667, 0.73333333, 0, 0, 0]),
        ("apl", "incumbent", [0.375, 0.69166667, 0.73333333, 0, 0, 0]),
        ("pl", "incumbent", [0.375, 0.4, 0.73333333, 0, 0, 0]),  # Table 5, with the misprint (t2, x1) corrected
    ],
)
def test_totals_of_tables_4_and_5_match(weights, rule, decision, totals):
    assert effect_scores(NEIGHBORS, weights, CANDIDATES, rule, decision) == pytest.approx(totals, abs=1e-7)


def test_table_4_differs_in_three_known_misprints():
    # (t2, x1): 2.0 - 0.4 = 1.6 > 1.2, so h stays and nothing else changes.
    assert scores_of([1], "apl")[0] == 0
    # (t1, x2): an exact tie 1.7 = 1.7 changes the set of winners, but x2's answer unseats no one.
    assert scores_of([0], "pl", "set")[1] == pytest.approx(0.7 / 2.4)
    assert scores_of([0], "pl", "incumbent")[1] == 0
    # (t2, x2): APL loses lambda_3, PL too, on the answer lambda_1.
    assert scores_of([1], "apl", "incumbent")[1] == pytest.approx(0.4)


def test_fixed_point_keeps_ties_that_doubles_would_break():
    """0.9 + 0.8 + 0.7 - 0.7 > 0.9 + 0.8 in doubles; in fixed point both labels win."""
    assert 0.9 + 0.8 + 0.7 - 0.7 > 0.9 + 0.8
    sets = np.array([[1, 1], [1, 0], [0, 1]], dtype=bool)
    assert winners([[0, 1, 2]], [[0.1, 0.2, 0.2]], sets).tolist() == [[True, True]]
    assert winners([[0, 1, 2]], [[0.3, 0.1 + 0.2, 0.3]], sets).tolist() == [[True, True]]


def test_integer_weights_are_not_rescaled():
    _, fixed, _ = check_graph(NEIGHBORS, TENTHS.astype(np.uint32), CANDIDATES)
    assert fixed.tolist() == TENTHS.tolist()
    _, fixed, _ = check_graph(NEIGHBORS, WEIGHTS, CANDIDATES)
    assert fixed.tolist() == np.rint(WEIGHTS * 2**24).astype(int).tolist()
