"""Sets and scores against enumeration on thousands of small random problems, ties and zero weights among them."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.query import effect_scores, necessary_labels, possible_labels, winners
from tests.plcore import brute_force


def as_matrix(sets, m):
    result = np.zeros((len(sets), m), dtype=bool)
    for row, labels in enumerate(sets):
        result[row, list(labels)] = True
    return result


def test_sets_equal_enumeration():
    rng = np.random.default_rng(1)
    for _ in range(2500):
        neighbors, weights, candidates = brute_force.random_graph(rng, max_neighbors=5)
        expected = [
            brute_force.label_sets(
                heavy.tolist(), [set(np.flatnonzero(candidates[row]).tolist()) for row in rows]
            )
            for rows, heavy in zip(neighbors, weights, strict=True)
        ]
        m = candidates.shape[1]
        h, necessary, approximate, possible = (as_matrix(sets, m) for sets in zip(*expected, strict=True))
        np.testing.assert_array_equal(winners(neighbors, weights, candidates), h)
        np.testing.assert_array_equal(necessary_labels(neighbors, weights, candidates), necessary)
        np.testing.assert_array_equal(
            possible_labels(neighbors, weights, candidates, exact=False), approximate
        )
        np.testing.assert_array_equal(possible_labels(neighbors, weights, candidates), possible)
        # The facts of the paper (Prop. 2).
        assert (necessary <= possible).all()
        assert (possible <= approximate).all()
        assert (h <= possible).all()
        decided = necessary.any(axis=1)
        np.testing.assert_array_equal(approximate[decided], possible[decided])


@pytest.mark.parametrize("decision", ["set", "incumbent"])
@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_scores_equal_enumeration(rule, decision):
    rng = np.random.default_rng(2)
    for _ in range(1000):
        neighbors, weights, candidates = brute_force.random_graph(rng)
        expected = brute_force.scores(neighbors, weights, candidates, rule, decision)
        found = effect_scores(neighbors, weights, candidates, rule=rule, decision=decision)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_exact_search_beyond_enumeration_of_pairs():
    """Larger K: the search against enumeration, with few distinct weights so that packings are tight."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        candidates = rng.random((8, 5)) < 0.4
        candidates[np.arange(8), rng.integers(5, size=8)] = True
        weights = rng.integers(1, 6, size=(1, 8))
        sets = [set(np.flatnonzero(row).tolist()) for row in candidates]
        expected = brute_force.label_sets(weights[0].tolist(), sets)[3]
        found = possible_labels(np.arange(8)[None], weights, candidates)
        assert set(np.flatnonzero(found[0]).tolist()) == expected


def test_an_answer_only_settles():
    """Prop. 3: answers only shrink APL and PL and only grow NL."""
    rng = np.random.default_rng(4)
    for _ in range(600):
        neighbors, weights, candidates = brute_force.random_graph(rng)
        weights[:, 0] += (
            1  # targets without any weight decide nothing, and answers only hide labels from them
        )
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


def test_settled_targets_give_no_effect_but_zero_effect_does_not_settle():
    """Two answers together may decide what neither decides alone."""
    neighbors = np.array([[0, 1, 2, 3]])
    candidates = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]], dtype=bool)
    weights = np.array([[2, 1, 1, 1]])
    assert necessary_labels(neighbors, weights, candidates).tolist() == [[True, False, False]]
    assert effect_scores(neighbors, weights, candidates).tolist() == [0, 0, 0, 0]
    lone = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    unsettled = np.array([[5, 5, 5, 12]])
    assert not necessary_labels(neighbors, unsettled, lone).any()
    for rule in ("apl", "pl"):
        scores = effect_scores(neighbors, unsettled, lone, rule=rule)
        assert scores[3] == 0
