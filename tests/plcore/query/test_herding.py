"""MaxHerding: its gains against a plain twin, the laws of coverage, updates against fresh fits, and when it ends."""

from __future__ import annotations

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from plcore.labels.candidates import CandidateError
from plcore.neighbors.graph import NeighborGraph
from plcore.neighbors.votes import WEIGHT_UNIT
from plcore.query import MaxHerding
from plcore.query.herding import CONCERN_UNIT, nearness

SEEDS = st.integers(0, 2**32)
UNIT = WEIGHT_UNIT * CONCERN_UNIT


def drawn(seed, n=20, m=4):
    """Features and candidates of some rows, one candidate for about a third."""
    rng = np.random.default_rng(seed)
    sets = rng.random((n, m)) < rng.choice([0.1, 0.5, 0.9])
    sets[np.arange(n), rng.integers(m, size=n)] = True
    return rng.normal(size=(n, 2)).round(1), sets


def plain_gains(X, sets, concern, k=10):
    """The gains as the formula has them, row by row and in integers."""
    neighbors, weights = NeighborGraph(X, k, "linear", "minmax").own_neighbors()
    near = nearness(weights)
    kernel = [dict(zip(*pair, strict=True)) for pair in zip(neighbors.tolist(), near.tolist(), strict=True)]
    labelled = np.flatnonzero(sets.sum(axis=1) == 1).tolist()
    gains = [0] * len(X)
    for row, own in enumerate(kernel):
        covered = max((own.get(one, 0) for one in labelled), default=0)
        for other, value in own.items():
            gains[other] += int(concern[row]) * max(0, value - covered)
    return np.array(gains)


def even(sets):
    """w of rows about which no model says anything."""
    sizes = sets.sum(axis=1)
    return np.rint((1 - 1 / np.maximum(sizes, 1)) * CONCERN_UNIT)


@given(SEEDS, st.integers(1, 12))
def test_gains_are_those_of_the_plain_twin(seed, k):
    X, sets = drawn(seed)
    found = MaxHerding(n_neighbors=k).fit(X, sets)
    expected = plain_gains(X, sets, even(sets), k)
    np.testing.assert_array_equal(found.scores_ * UNIT, np.where(sets.sum(axis=1) >= 2, expected, 0))
    rows = np.lexsort((np.arange(len(X)), -expected))
    rows = [row for row in rows.tolist() if sets[row].sum() >= 2]
    assert found.next(1).tolist() == rows[:1]


def test_nearness_of_known_distances():
    far = np.array([[0, 1, 2, 3.0], [0, 0, 0, 0], [0, 0, 0, 4]])
    weights = np.rint((1 - far / np.maximum(far.sum(axis=1, keepdims=True), 1)) * WEIGHT_UNIT).astype(
        np.int64
    )
    near = nearness(weights) / WEIGHT_UNIT
    np.testing.assert_allclose(near[0], np.exp([0, -1 / 8, -1 / 2, -9 / 8]), atol=1e-6)
    assert near[1].tolist() == [1, 1, 1, 1]  # the same row four times
    assert near[2].tolist() == [1, 1, 1, 0]  # beside two of its kind, what is no twin is far
    assert (nearness(np.full((3, 4), WEIGHT_UNIT)) == WEIGHT_UNIT).all()  # uniform votes
    assert (nearness(np.full((3, 1), WEIGHT_UNIT)) == WEIGHT_UNIT).all()


@given(SEEDS, st.lists(st.integers(0, 19), max_size=12))
def test_a_gain_never_grows_while_rows_are_labelled(seed, rows):
    """The sum is submodular: what a row adds to more is never more."""
    X, sets = drawn(seed)
    concern = even(sets)
    strategy = MaxHerding().fit(X, sets)
    gains = plain_gains(X, strategy.candidates_, concern)
    for row in rows:
        strategy.update(row, np.eye(4, dtype=bool)[0])
        now = plain_gains(X, strategy.candidates_, concern)
        assert (now <= gains).all()
        gains = now


@given(SEEDS)
def test_the_greedy_choice_covers_nearly_as_much_as_the_best_one(seed):
    X, sets = drawn(seed, n=9, m=3)
    sets[:] = True
    fresh = MaxHerding(n_neighbors=4).fit(X, sets)
    neighbors, weights = NeighborGraph(X, 4, "linear", "minmax").own_neighbors()
    kernel = np.zeros((9, 9))
    np.put_along_axis(kernel, neighbors, nearness(weights) / WEIGHT_UNIT, axis=1)
    covered = {three: kernel[:, three].max(axis=1).sum() for three in combinations(range(9), 3)}
    chosen = tuple(sorted(fresh.next(3).tolist()))
    assert covered[chosen] >= (1 - 1 / np.e) * max(covered.values())


STEPS = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 15), st.booleans()), max_size=15)


@given(SEEDS, STEPS)
def test_an_updated_one_equals_a_fresh_one(seed, steps):
    """Narrower, wider again, taken out; the gains read in between or not."""
    X, sets = drawn(seed)
    shares = np.random.default_rng(seed).random(20)
    strategy = MaxHerding(lambda rows: shares[rows]).fit(X, sets)
    for row, mask, read in steps:
        strategy.update(row, [bool(mask >> label & 1) for label in range(4)])
        if read:
            assert len(strategy.scores_) == 20
    kept = strategy.candidates_.any(axis=1)
    fresh = MaxHerding(lambda rows: shares[rows]).fit(X, np.where(kept[:, None], strategy.candidates_, True))
    for row in np.flatnonzero(~kept).tolist():
        fresh.update(row, [False] * 4)
    np.testing.assert_array_equal(strategy.scores_, fresh.scores_)
    np.testing.assert_array_equal(strategy.next(20), fresh.next(20))
    assert strategy.scores_.tolist() == [strategy.score_of(row) for row in range(20)]


@given(SEEDS, st.integers(0, 20))
def test_a_batch_is_what_one_by_one_gives_and_so_are_rows_that_others_have(seed, n):
    X, sets = drawn(seed)
    shares = np.random.default_rng(seed).random(20)

    def unsure(rows):  # of answered rows too, as if nobody had learnt the answers yet
        return shares[rows]

    batch = MaxHerding(unsure).fit(X, sets).next(n)
    strategy = MaxHerding(unsure).fit(X, sets)
    for place, row in enumerate(batch.tolist()):
        assert strategy.next(1, claimed=batch[:place].tolist()).tolist() == [row]
    among = np.arange(20) % 2 == 0
    assert (strategy.next(n, among=among) % 2 == 0).all()
    assert not np.isin(batch, strategy.next(20, claimed=batch.tolist())).any()


def test_it_goes_by_what_a_model_is_unsure_of():
    X = np.r_[np.zeros((5, 1)), np.ones((5, 1))] + np.linspace(0, 0.01, 10)[:, None]
    sets = np.ones((10, 2), dtype=bool)
    learner = SimpleNamespace(label_distributions_=np.repeat([[0.5, 0.5], [1.0, 0.0]], 5, axis=0))
    strategy = MaxHerding(n_neighbors=5).fit(X, sets)
    strategy.learner_changed(learner, X)
    assert strategy.next(1)[0] < 5
    assert (strategy.scores_[5:] == 0).all()  # what is decided needs no cover
    learner.label_distributions_ = learner.label_distributions_[::-1]
    strategy.learner_changed(learner, X)
    assert strategy.next(1)[0] >= 5


def test_it_ends_after_two_answers_a_class_or_where_little_is_left_to_cover():
    X, sets = drawn(3, n=60, m=3)
    sets[:] = True
    strategy = MaxHerding(n_neighbors=8).fit(X, sets)
    assert [strategy.lasts(answered) for answered in (0, 5, 6, 7)] == [True, True, False, False]
    strategy.unsure = lambda rows: np.full(len(rows), 0.002)  # a three-hundredth of 2/3
    strategy.model_changed()
    assert not strategy.lasts(0)
    strategy.unsure = lambda rows: np.full(len(rows), 0.02)
    strategy.model_changed()
    assert strategy.lasts(0)
    for row in range(60):
        strategy.update(row, [True, False, False])
    assert not strategy.lasts(0)
    assert not MaxHerding().fit(X, sets[:, :1]).lasts(0)  # nothing was ever open


def test_what_is_wrong_is_refused():
    X, sets = drawn(0)
    with pytest.raises(NotFittedError, match="MaxHerding is not fitted yet"):
        MaxHerding().next(1)
    with pytest.raises(NotFittedError, match="MaxHerding is not fitted yet"):
        MaxHerding().lasts(0)
    with pytest.raises(CandidateError):
        MaxHerding().fit(X, np.zeros_like(sets))
    with pytest.raises(ValueError, match="n_neighbors"):
        MaxHerding(n_neighbors=0).fit(X, sets)
    neighbors, weights = NeighborGraph(X, 3, "linear", None).own_neighbors()
    with pytest.raises(ValueError, match="each its own first neighbour"):
        MaxHerding().fit_graph(neighbors[::-1].copy(), weights, sets)
    with pytest.raises(ValueError, match="n must be an int"):
        MaxHerding().fit(X, sets).next(-1)
