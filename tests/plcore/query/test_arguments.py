"""Refusals of the query functions, and unusual but valid graphs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from plcore import CandidateError
from plcore.query import STRATEGIES, effect_scores, make_strategy, necessary_labels, possible_labels, winners

SETS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]], dtype=bool)
FUNCTIONS = [winners, necessary_labels, possible_labels, effect_scores]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("neighbors", "weights", "message"),
    [
        ([[0, 3]], [[1, 1]], r"0\.\.2; others for the targets in row 0"),
        ([[0, -1]], [[1, 1]], r"0\.\.2"),
        ([[0.0, 1.0]], [[1, 1]], "integer array"),
        ([0, 1], [1, 1], "integer array"),
        (np.zeros((2, 0), int), np.zeros((2, 0)), "K at least 1"),
        ([[0, 1]], [[1, 1, 1]], r"shape of neighbors, \(1, 2\)"),
        ([[0, 1]], [[1.0, np.nan]], "finite and not negative"),
        ([[0, 1]], [[1.0, -0.5]], "finite and not negative"),
        ([[0, 1]], [[np.inf, 0.5]], "finite and not negative"),
        ([[0, 1]], [["a", "b"]], "numeric array"),
        ([[0, 1]], [[2**52, 1]], "2\\*\\*52"),
        ([[0, 1]], [[1e308, 1.0]], "2\\*\\*52"),
    ],
)
def test_wrong_graphs_are_refused(function, neighbors, weights, message):
    with pytest.raises(ValueError, match=message):
        function(np.asarray(neighbors), np.asarray(weights), SETS)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_candidates_are_refused(function):
    empty = SETS.copy()
    empty[1] = False
    with pytest.raises(CandidateError, match="row 1 "):
        function([[0, 1]], [[1, 1]], empty)
    with pytest.raises(CandidateError, match="row 2 "):
        function([[0, 1]], [[1, 1]], [[1, 0], [1, 1], [2, 0]])


@pytest.mark.parametrize(("name", "value"), [("rule", "MW"), ("decision", "sets")])
def test_unknown_options_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be one of .* Got '{value}'"):
        effect_scores([[0, 1]], [[1, 1]], SETS, **{name: value})


@pytest.mark.parametrize("function", FUNCTIONS)
def test_candidates_can_be_a_frame_sparse_or_integers(function):
    expected = function([[0, 1, 2], [2, 1, 0]], [[3, 2, 2], [1, 1, 1]], SETS)
    for same in (SETS.astype(int), pd.DataFrame(SETS, columns=list("abc")), sparse.csr_matrix(SETS), SETS.tolist()):
        np.testing.assert_array_equal(function([[0, 1, 2], [2, 1, 0]], [[3, 2, 2], [1, 1, 1]], same), expected)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_inputs_are_not_changed(function):
    neighbors, weights, sets = np.array([[0, 0, 1]]), np.array([[2, 3, 4]]), SETS.copy()
    function(neighbors, weights, sets)
    assert neighbors.tolist() == [[0, 0, 1]]
    assert weights.tolist() == [[2, 3, 4]]
    np.testing.assert_array_equal(sets, SETS)


@pytest.mark.parametrize("rule", ["mw", "apl", "pl"])
def test_row_listed_twice_counts_as_one_voter(rule):
    twice = effect_scores([[0, 1, 0, 2]], [[2, 3, 1, 1]], SETS, rule=rule)
    once = effect_scores([[0, 1, 2]], [[3, 3, 1]], SETS, rule=rule)
    np.testing.assert_array_equal(twice, once)


def test_empty_and_weightless_targets_are_accepted():
    none = np.zeros((0, 2), dtype=int)
    assert winners(none, none, SETS).shape == (0, 3)
    assert effect_scores(none, none, SETS).tolist() == [0, 0, 0]
    for rule in ("mw", "apl", "pl"):
        assert effect_scores([[0, 1]], [[0, 0]], SETS, rule=rule).tolist() == [0, 0, 0]
    # All votes are 0, so all labels seen tie, and no others.
    assert winners([[0, 2]], [[0, 0]], SETS).tolist() == [[True, True, False]]


def test_more_classes_than_bits_in_a_word_are_supported():
    sets = np.zeros((4, 200), dtype=bool)
    sets[0, [3, 150]] = sets[1, [150, 199]] = sets[2, [199]] = sets[3, [3, 70]] = True
    neighbors, weights = [[0, 1, 2, 3]], [[4, 3, 2, 2]]
    assert np.flatnonzero(winners(neighbors, weights, sets)[0]).tolist() == [150]
    possible = np.flatnonzero(possible_labels(neighbors, weights, sets)[0])
    assert possible.tolist() == [3, 150, 199]
    assert effect_scores(neighbors, weights, sets, rule="pl")[2] == 0


def test_undecided_searches_are_reported_and_count_as_possible():
    rng = np.random.default_rng(0)
    n = 26
    sets = np.zeros((n, 12), dtype=bool)
    for row in range(1, n):  # every other voter picks from two of ten labels
        sets[row, 1 + rng.choice(10, 2, replace=False)] = True
    sets[0, 0] = True
    weights = rng.integers(1000, 2000, size=(1, n))
    weights[0, 0] = int(weights[0, 1:].sum() / 10) + 300  # almost enough room for the others
    neighbors = np.arange(n)[None]
    possible, undecided = possible_labels(neighbors, weights, sets, max_nodes=1, return_undecided=True)
    assert undecided[0, 0]
    assert possible[0, 0]
    assert not undecided[0, 11]
    proved, left = possible_labels(neighbors, weights, sets, return_undecided=True)
    assert not proved[0, 0]
    assert not left.any()
    with pytest.warns(RuntimeWarning, match="max_nodes=1 and count as possible"):
        np.testing.assert_array_equal(possible_labels(neighbors, weights, sets, max_nodes=1), possible)
    with pytest.warns(RuntimeWarning, match="max_nodes=1 and count as possible"):
        effect_scores(neighbors, weights, sets, rule="pl", max_nodes=1)
    approximate, none = possible_labels(neighbors, weights, sets, exact=False, return_undecided=True)
    assert (possible <= approximate).all()
    assert not none.any()
    for wrong in (0, -5, 1.5, "5"):
        with pytest.raises(ValueError, match="max_nodes"):
            possible_labels(neighbors, weights, sets, max_nodes=wrong)


def test_block_size_of_targets_changes_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    sets = rng.random((40, 6)) < 0.4
    sets[:, 0] |= ~sets.any(axis=1)
    neighbors = np.array([rng.permutation(40)[:5] for _ in range(90)])
    weights = rng.random((90, 5))
    whole = [function(neighbors, weights, sets) for function in FUNCTIONS]
    monkeypatch.setattr("plcore.query.effects.BLOCK", 7)
    for function, expected in zip(FUNCTIONS, whole, strict=True):
        np.testing.assert_array_equal(function(neighbors, weights, sets), expected)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("among", [[True] * 3, np.arange(30), [[True] * 30], "all"])
def test_among_must_be_a_mask_of_all_rows(name, n, among):
    rng = np.random.default_rng(0)
    strategy = make_strategy(name)
    strategy.fit(rng.normal(size=(30, 2)), rng.random((30, 3)) < [1.0, 0.5, 0.5])
    with pytest.raises(ValueError, match="among must be True or False for each of the 30 rows"):
        strategy.next(n, among=among)
    assert strategy.next(n, among=np.zeros(30, dtype=bool)).size == 0
