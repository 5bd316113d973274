"""Example 1 of the paper: Tables 1, 2, 3, Example 2, and the totals of Tables 4 and 5 in exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.neighbors.votes import check_graph
from plcore.query import effect_scores, necessary_labels, possible_labels, winners
from tests.plcore.query.plain_query import label_sets

NEIGHBORS = np.array([[0, 2, 1], [1, 2, 0], [5, 3, 4], [5, 3, 4], [3, 4, 5]])  # Table 1
WEIGHTS = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.4], [0.8, 0.8, 0.4], [0.7, 0.7, 0.7], [0.8, 0.8, 0.4]])
TENTHS = np.rint(WEIGHTS * 10).astype(int)
CANDIDATES = np.array(
    [[0, 1, 1], [1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]], dtype=bool
)  # Figure 1


def scores_of(targets, rule, decision="set"):
    return effect_scores(NEIGHBORS[targets], TENTHS[targets], CANDIDATES, rule=rule, decision=decision)


def test_table_2_mw_by_target():
    expected = {
        0: [0.375, 0.7 / 2.4, 0.8 / 2.4, 0],
        1: [0.2, 0.4, 0.4, 0],
        2: [0, 0, 0, 0.4],
        3: [0, 0, 0, 1 / 3],
    }
    for target, scores in expected.items():
        found = scores_of([target], "mw")
        assert found[:4] == pytest.approx(scores, abs=1e-11)
        assert found[4:].tolist() == [0, 0]
    assert scores_of([4], "mw")[3] == pytest.approx(0.4)


def test_table_3_score_bounds():
    known = label_sets(CANDIDATES[NEIGHBORS], TENTHS)
    smax, smin = np.where(known.seen, known.smax, 0), np.where(known.seen, known.smin, 0)
    assert smin.tolist() == [[0, 0, 0], [0, 0, 0], [12, 0, 0], [14, 0, 0], [12, 0, 0]]
    assert smax.tolist() == [[7, 17, 24], [8, 12, 20], [20, 8, 0], [21, 7, 0], [20, 8, 0]]
    assert known.seen[:, 2].tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("weights", [WEIGHTS, TENTHS, WEIGHTS.astype(np.float32)])
def test_example_2_sets(weights):
    nothing, everything, first = [False] * 3, [True] * 3, [True, False, False]
    assert necessary_labels(NEIGHBORS, weights, CANDIDATES).tolist() == [
        nothing,
        nothing,
        first,
        first,
        first,
    ]
    for exact in (True, False):
        possible = possible_labels(NEIGHBORS, weights, CANDIDATES, exact=exact)
        assert possible[2:].tolist() == [first] * 3
    assert possible_labels(NEIGHBORS, weights, CANDIDATES, exact=False)[:2].tolist() == [
        everything,
        everything,
    ]
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
        ("pl", "incumbent", [0.375, 0.4, 0.73333333, 0, 0, 0]),  # Table 5, with the misprint (t2, x1) mended
    ],
)
def test_totals(weights, rule, decision, totals):
    assert effect_scores(NEIGHBORS, weights, CANDIDATES, rule, decision) == pytest.approx(totals, abs=1e-7)


def test_the_three_misprints_of_table_4():
    # (t2, x1): 2.0 - 0.4 = 1.6 > 1.2, so h stays and nothing else changes.
    assert scores_of([1], "apl")[0] == 0
    # (t1, x2): an exact tie 1.7 = 1.7 changes the set of winners, but x2's answer unseats nobody.
    assert scores_of([0], "pl", "set")[1] == pytest.approx(0.7 / 2.4)
    assert scores_of([0], "pl", "incumbent")[1] == 0
    # (t2, x2): APL loses lambda_3, PL too, on the answer lambda_1.
    assert scores_of([1], "apl", "incumbent")[1] == pytest.approx(0.4)


def test_ties_that_doubles_would_break():
    """0.9 + 0.8 + 0.7 - 0.7 > 0.9 + 0.8 in doubles; in fixed point both labels win."""
    assert 0.9 + 0.8 + 0.7 - 0.7 > 0.9 + 0.8
    sets = np.array([[1, 1], [1, 0], [0, 1]], dtype=bool)
    assert winners([[0, 1, 2]], [[0.1, 0.2, 0.2]], sets).tolist() == [[True, True]]
    assert winners([[0, 1, 2]], [[0.3, 0.1 + 0.2, 0.3]], sets).tolist() == [[True, True]]


def test_integer_weights_are_used_as_they_are():
    _, fixed, _ = check_graph(NEIGHBORS, TENTHS.astype(np.uint32), CANDIDATES)
    assert fixed.tolist() == TENTHS.tolist()
    _, fixed, _ = check_graph(NEIGHBORS, WEIGHTS, CANDIDATES)
    assert fixed.tolist() == np.rint(WEIGHTS * 2**24).astype(int).tolist()
