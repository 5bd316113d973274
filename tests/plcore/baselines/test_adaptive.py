"""PL A-kNN: against a literal transcription of its rule and of its features, known answers, weights."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist

from plcore import PLAdaptiveNeighborsClassifier, PLKNeighborsClassifier
from plcore.baselines.adaptive import LocalScaling, eliminate
from tests.conftest import DATA


def literal_rule(votes_in_order, decisive):
    """(class, neighbours asked) of one row, as the paper writes it; the margins as exact fractions of sqrt(k) squared,
    so that equal ones are equal."""
    m = len(votes_in_order[0])
    left, tau, margins, k = list(range(m)), [0] * m, {}, 0
    while len(left) > 1 and k < len(votes_in_order):
        for label in range(m):
            tau[label] += int(votes_in_order[k][label])
        k += 1
        ordered = sorted((tau[label] for label in left), reverse=True)
        for label in left:
            # The smallest sqrt(k) (A / sqrt(k) - (tau_y - tau_second) / k) is the largest lead over sqrt(k).
            lead = tau[label] - ordered[1]
            margins[k, label] = Fraction(lead * abs(lead), k)
        left = [label for label in left if (ordered[0] - tau[label]) / k < decisive / math.sqrt(k)]
    if len(left) == 1:
        return left[0], k
    best = max(margins[place] for place in margins if place[1] in left)
    return min(label for (_, label), margin in margins.items() if label in left and margin == best), k


def literal_features(train, new):
    """The authors' features, a row at a time."""

    def unit(x):
        return x / np.linalg.norm(x) if x.any() else x

    def mixed(x, others):
        distances = np.linalg.norm(others - x, axis=1)
        near = np.argsort(distances, kind="stable")[:10]
        width = np.median(distances[near]) + 1e-12
        weights = np.exp(-(distances[near] ** 2) / (2 * width**2))
        return unit(0.9 * x + 0.1 * (weights / weights.sum()) @ others[near])

    train = [unit(np.sign(x) * np.abs(x) ** (1 / 3)) for x in train]
    new = [unit(np.sign(x) * np.abs(x) ** (1 / 3)) for x in new]
    smooth = np.array([mixed(x, np.array(train[:i] + train[i + 1 :])) for i, x in enumerate(train)])
    fresh = np.array([mixed(x, smooth) for x in new])
    count = min(50, len(train) - 1)
    own = np.sort(cdist(smooth, smooth), axis=1)[:, 1 : count + 1].mean(axis=1)
    far = np.sort(cdist(fresh, smooth), axis=1)[:, :count].mean(axis=1)
    return smooth / own[:, None], fresh / far[:, None]


class TestRule:
    @given(
        seed=st.integers(0, 10**6),
        m=st.integers(2, 6),
        count=st.integers(1, 30),
        density=st.floats(0.1, 0.9),
        decisive=st.floats(0.3, 5),
    )
    def test_elimination_matches_the_rule_of_the_paper(self, seed, m, count, density, decisive):
        rng = np.random.default_rng(seed)
        votes = rng.random((40, m)) < density * rng.random(m) * 1.5
        neighbors = np.array([rng.permutation(40)[:count] for _ in range(8)])
        scores, needed = eliminate(neighbors, votes, decisive)
        for row in range(8):
            expected, asked = literal_rule(votes[neighbors[row]], decisive)
            assert scores[row].argmax() == expected
            assert needed[row] == asked
            assert (scores[row].max() >= 1) == ((scores[row] > -1).sum() == 1)

    def test_elimination_matches_values_computed_by_hand(self):
        votes = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
        # A = 1.5. Counts 1 0 1, 2 0 1, 3 1 1, 3 2 1: behind by 2 of sqrt(2) 1.5 = 2.1; after three by 2 of 2.6, by 2
        # of 2.6; after four the third is behind by 2 of 3. No one is dropped: the first led by 2 votes of three.
        scores, needed = eliminate(np.array([[0, 1, 2, 3]]), votes, 1.5)
        assert needed.tolist() == [4]
        np.testing.assert_allclose(scores[0] * 1.5, [2 / math.sqrt(3), 0.0, 0.0])
        # A = 1.2: after two the second is behind by 2 >= sqrt(2) 1.2 and goes; after three the third, 2 >= 2.08 is
        # not; after four by 2 of 2.4.
        scores, needed = eliminate(np.array([[0, 1, 2, 3]]), votes, 1.2)
        assert needed.tolist() == [4]
        np.testing.assert_allclose(scores[0] * 1.2, [2 / math.sqrt(3), -2 / math.sqrt(2), 0.0])
        # A = 1.1: after three the third goes as well, 2 >= 1.91.
        scores, needed = eliminate(np.array([[0, 1, 2, 3]]), votes, 1.1)
        assert needed.tolist() == [3]
        np.testing.assert_allclose(scores[0] * 1.1, [2 / math.sqrt(3), -2 / math.sqrt(2), -2 / math.sqrt(3)])

    def test_equal_margins_at_different_k_select_the_first_class(self):
        # Class 1 leads by 1 after three, class 0 by 3 after 27 and by less of sqrt(k) before.
        votes = np.ones((27, 2), dtype=bool)
        votes[2, 0] = False
        votes[[3, 4, 19, 26], 1] = False
        scores, needed = eliminate(np.arange(27)[None], votes, 100.0)
        assert needed.tolist() == [27]
        np.testing.assert_allclose(scores[0] * 100, [3 / math.sqrt(27), 1 / math.sqrt(3)])
        assert scores[0].argmax() == 0
        equal = np.ones((3, 2), dtype=bool)
        assert eliminate(np.arange(3)[None], equal, 1.0)[0].tolist() == [[0.0, 0.0]]

    def test_one_class_needs_no_neighbours(self):
        scores, needed = eliminate(np.array([[0], [1]]), np.ones((2, 1), dtype=bool), 1.0)
        assert scores.tolist() == [[1.0], [1.0]]
        assert needed.tolist() == [0, 0]


class TestFeatures:
    @pytest.mark.parametrize("n", [8, 30, 90])
    @pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
    def test_features_match_those_of_the_authors(self, n, make):
        rng = np.random.default_rng(n)
        train, new = rng.normal(size=(n, 5)) ** 3, rng.normal(size=(12, 5)) ** 3
        train[0, 1:] = 0
        expected = literal_features(train, new)
        local = LocalScaling()
        for found, right in zip((local.fit(make(train)), local.transform(make(new))), expected, strict=True):
            assert sparse.issparse(found) == (make is sparse.csr_matrix)
            dense = found.toarray() if sparse.issparse(found) else found
            np.testing.assert_allclose(dense, right, rtol=1e-7, atol=1e-9)

    def test_single_row_is_only_normalised(self):
        local = LocalScaling()
        np.testing.assert_allclose(local.fit(np.array([[27.0, 64.0]])), [[0.6, 0.8]])
        np.testing.assert_allclose(local.transform(np.array([[27.0, 64.0]])), [[0.6, 0.8]])

    def test_rows_of_zeros_and_equal_rows_stay_finite(self):
        local = LocalScaling()
        X = np.repeat([[0.0, 0.0], [1.0, 2.0]], 60, axis=0)
        assert np.isfinite(local.fit(X)).all()
        assert np.isfinite(local.transform(X[::60])).all()


class TestClassifier:
    @pytest.mark.parametrize("scaling", ["local", None])
    def test_predictions_match_the_rule_on_brute_force_neighbours(self, iris, scaling):
        X, candidates, _ = iris
        train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
        model = PLAdaptiveNeighborsClassifier(30, 0.4, 0.2, scaling).fit(X[train], candidates[train])
        rows, new = (X[train], X[test]) if scaling is None else literal_features(X[train], X[test])
        decisive = 0.4 * math.sqrt(math.log(100) + math.log(3 / 0.2))
        order = np.argsort(np.round(cdist(new, rows), 9), axis=1, kind="stable")[:, :30]
        literal = [literal_rule(candidates[train][near], decisive) for near in order]
        agree = model.predict(X[test]) == [label for label, _ in literal]
        assert agree.mean() >= 0.98  # rows at the same distance may come in another order
        assert (model.neighbors_needed(X[test]) == [asked for _, asked in literal]).mean() >= 0.94

    def test_iris_with_a_second_candidate_in_each_row(self, iris):
        X, candidates, y = iris
        train, test = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
        model = PLAdaptiveNeighborsClassifier(scaling=None).fit(X[train], candidates[train])
        assert model.score(X[test], y[test]) >= 0.94
        assert (model.transduction_ == y[train]).mean() >= 0.94
        needed = model.neighbors_needed(X[test])
        setosa = y[test] == 0
        assert needed.min() >= 1
        assert needed.max() <= 50
        assert needed[setosa].mean() < needed[~setosa].mean()  # well separated rows are decided sooner
        decided = model.decision_function(X[test]).max(axis=1) >= 1
        assert (needed[~decided] == 50).all()

    @pytest.mark.public_data
    def test_accuracy_on_lost_is_far_above_ten_nearest_neighbours(self):
        stored = np.load(DATA / "lost.npz")
        X, candidates, y = stored["X"].astype(float), stored["S"].astype(bool), stored["y"]
        test = np.random.default_rng(0).permutation(len(y)) % 4 == 0
        ours = PLAdaptiveNeighborsClassifier().fit(X[~test], candidates[~test])
        votes = PLKNeighborsClassifier().fit(X[~test], candidates[~test])
        assert ours.score(X[test], y[test]) > 0.55
        assert ours.score(X[test], y[test]) > votes.score(X[test], y[test]) + 0.1

    def test_probabilities_turn_the_lead_into_odds_by_delta(self):
        X, labels = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
        for delta in (0.05, 0.2):
            model = PLAdaptiveNeighborsClassifier(delta=delta, scaling=None).fit(X, labels)
            scores = model.decision_function(X[:1])
            odds = np.divide(*model.predict_proba(X[:1])[0])
            assert scores[0] <= -2  # class 0 leads by 1 or more, class 1 was dropped at -1 or less
            assert odds == pytest.approx(((1 - delta) / delta) ** -scores[0])

    def test_larger_thresholds_ask_more_neighbours(self, iris):
        X, candidates, _ = iris
        few, many = (
            PLAdaptiveNeighborsClassifier(threshold=c).fit(X, candidates).neighbors_needed(X) for c in (0.3, 0.6)
        )
        assert few.sum() < many.sum()
        assert (few <= many).all()

    def test_class_without_candidates_changes_nothing(self, iris):
        X, candidates, _ = iris
        wide = np.hstack([np.zeros((150, 1), dtype=bool), candidates])
        model = PLAdaptiveNeighborsClassifier().fit(X, wide)
        plain = PLAdaptiveNeighborsClassifier().fit(X, candidates)
        np.testing.assert_array_equal(model.predict(X), plain.predict(X) + 1)
        np.testing.assert_array_equal(model.neighbors_needed(X), plain.neighbors_needed(X))
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1:], plain.predict_proba(X))

    @pytest.mark.parametrize("scaling", ["local", None])
    def test_weights_equal_repeated_rows(self, iris, scaling):
        X, candidates, _ = iris
        weights = np.random.default_rng(0).integers(0, 4, size=150)
        rows = np.repeat(np.arange(150), weights)
        weighted = PLAdaptiveNeighborsClassifier(scaling=scaling).fit(X, candidates, weights)
        repeated = PLAdaptiveNeighborsClassifier(scaling=scaling).fit(X[rows], candidates[rows])
        np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
        np.testing.assert_array_equal(weighted.transduction_[rows], repeated.transduction_)
        assert candidates[np.arange(150), weighted.transduction_].all()

    def test_fractional_weights_are_refused(self, iris):
        X, candidates, _ = iris
        with pytest.raises(ValueError, match=r"must be whole numbers.*Got 0\.5\. Fix"):
            PLAdaptiveNeighborsClassifier().fit(X, candidates, np.full(150, 0.5))

    def test_few_rows_and_one_row(self):
        model = PLAdaptiveNeighborsClassifier().fit([[1.0, 2.0]], np.array([[True, True, False]]))
        assert model.predict([[5.0, 1.0]]).tolist() == [0]
        assert model.neighbors_needed([[5.0, 1.0]]).tolist() == [1]
        pair = PLAdaptiveNeighborsClassifier().fit([[1.0, 2.0], [2.0, -1.0]], ["a", "b"])
        assert pair.predict([[1.0, 2.1], [2.0, -1.1]]).tolist() == ["a", "b"]
