"""Sets and scores against enumeration on thousands of small random problems, ties and zero weights among them."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.query import effect_scores, effects, necessary_labels, possible_labels, winners
from plcore.query.sets import label_sets
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


def test_each_proposition_alone_is_if_and_only_if():
    """Prop. 4, 5 and 6 one by one; together they would hide one another's mistakes."""
    rng = np.random.default_rng(6)
    for _ in range(2500):
        neighbors, weights, candidates = brute_force.random_graph(rng)
        rows, heavy = neighbors[0], weights[0]
        sets = [set(np.flatnonzero(candidates[row]).tolist()) for row in rows]
        asked = [slot for slot in range(len(rows)) if len(sets[slot]) >= 2 and heavy[slot] > 0]
        if not asked:
            continue
        known = label_sets(candidates[neighbors[:1]], weights[:1])
        case = candidates[rows[asked]], heavy[asked][:, None], known, np.zeros(len(asked), dtype=int)
        before = brute_force.label_sets(heavy.tolist(), sets)
        after = [
            [
                brute_force.label_sets(heavy.tolist(), [*sets[:slot], {answer}, *sets[slot + 1 :]])
                for answer in sets[slot]
            ]
            for slot in asked
        ]
        changed = [[any(new[kind] != before[kind] for new in news) for news in after] for kind in range(3)]
        assert effects._changes_winners(*case, "set").tolist() == changed[0]
        assert effects._changes_necessary(*case).tolist() == changed[1]
        assert effects._changes_approximation(*case).tolist() == changed[2]
        unseated = [any(not before[0] <= new[0] for new in news) for news in after]
        assert effects._changes_winners(*case, "incumbent").tolist() == unseated


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


def test_zero_scores_do_not_prove_that_all_is_settled():
    """Two answers together may change what neither changes alone."""
    sets = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1]], dtype=bool)
    graph = np.arange(5)[None], np.array([[4, 5, 3, 2, 5]])
    for rule in ("apl", "pl"):
        assert effect_scores(*graph, sets, rule=rule).tolist() == [0] * 5
    assert not necessary_labels(*graph, sets).any()
    assert possible_labels(*graph, sets).all()
    sets[0] = [True, False, False]  # one answer later
    assert effect_scores(*graph, sets).any()


def test_neither_effect_contains_the_other():
    sets = np.array([[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 0]], dtype=bool)
    graph = np.arange(4)[None], np.array([[2, 2, 3, 2]])
    assert (effect_scores(*graph, sets, rule="apl") > 0).tolist() == [False, True, True, True]
    assert (effect_scores(*graph, sets, rule="pl") > 0).tolist() == [False, False, True, True]
    sets = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1], [1, 0, 1, 1], [0, 1, 1, 1]], dtype=bool)
    graph = np.arange(5)[None], np.array([[2, 4, 3, 2, 3]])
    assert (effect_scores(*graph, sets, rule="apl") > 0).tolist() == [False, True, True, True, True]
    assert (effect_scores(*graph, sets, rule="pl") > 0).all()
