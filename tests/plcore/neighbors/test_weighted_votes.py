"""Weighted votes of rows and candidates: exact integers, updates equal to fresh fits, class masses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from plcore import CandidateError, PLKNeighborsClassifier
from plcore.arrays import array_files
from plcore.evaluation import contaminate
from plcore.labels.weights import ClassMasses, prior_labels
from plcore.neighbors.votes import WEIGHT_UNIT, ScaledVoteTable, VoteTable, scale_bits, vote_scales
from tests.plcore.random_sets import some_sets

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
SETS = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1], [1, 0, 0]], dtype=bool)


def fitted(X, sets, k=3, **options):
    knn = {name: options.pop(name) for name in ("weights", "class_mass", "scaling") if name in options}
    return PLKNeighborsClassifier(k, **knn).fit(X, sets, **options)


def assert_same(one, other, X):
    for name in ("label_distributions_", "transduction_", "candidates_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("predict_proba", "decision_function", "predict"):
        np.testing.assert_array_equal(getattr(one, name)(X), getattr(other, name)(X))


# votes


def test_weighted_candidates_match_values_computed_by_hand():
    scores = np.array([[4, 1, 9], [0, 5, 0], [0, 3, 1], [2, 0, 2], [1, 0, 0]])
    model = fitted(LINE, SETS, weights="uniform", scaling=None, candidate_weights=scores)
    # Neighbours of 1.1: rows 1, 2, 0, which count (0, 1, 0), (0, 1, 1/3), (1, 1/4, 0); outside of a set nothing counts.
    third = np.rint(2**20 / 3) / 2**20
    expected = np.array([1, 2 + 1 / 4, third])
    np.testing.assert_array_equal(model.decision_function([[1.1]])[0], expected / 3)
    np.testing.assert_array_equal(model.predict_proba([[1.1]])[0], expected / expected.sum())
    assert model.predict([[1.1]]).tolist() == [1]
    # Neighbours of row 0: itself, 1, 2.
    np.testing.assert_array_equal(model.label_distributions_[0], np.array([1, 2.25, 0]) / 3.25)


def test_weighted_rows_match_values_computed_by_hand():
    model = fitted(LINE, SETS, weights="uniform", scaling=None, sample_weight=[5, 1, 0, 2, 1])
    # Neighbours of 1.1: rows 1, 2, 0, which count 1, 0, 5.
    assert model.decision_function([[1.1]])[0].tolist() == [5 / 6, 1.0, 0.0]
    assert model.predict_proba([[1.1]])[0].tolist() == [5 / 11, 6 / 11, 0.0]
    # Row 3: itself twice, 2 nothing, 1 once but for no candidate of row 3.
    assert model.label_distributions_[3].tolist() == [0.5, 0.0, 0.5]


def test_all_classes_tie_if_all_weights_are_zero():
    model = fitted(LINE, SETS, k=2, sample_weight=[0, 0, 0, 1, 1])
    assert model.predict_proba([[0.1]])[0].tolist() == [0.5, 0.0, 0.5]
    assert model.decision_function([[0.1]])[0].tolist() == [1.0, 0.0, 1.0]  # class 1 has weight nowhere
    assert model.predict([[0.1], [9.0]]).tolist() == [0, 0]
    assert model.label_distributions_[0].tolist() == [0.5, 0.5, 0.0]
    nothing = fitted(LINE, SETS, k=2, candidate_weights=np.zeros((5, 3)))
    assert_same(nothing, fitted(LINE, SETS, k=2), LINE)


@pytest.mark.parametrize("k", [1, 4, 40])
@pytest.mark.parametrize("m", [1, 2, 3, 49, 70])
def test_equal_weights_change_nothing_bit_for_bit(k, m):
    rng = np.random.default_rng(m)
    X, new, sets = rng.normal(size=(40, 3)), rng.normal(size=(9, 3)), some_sets(rng, 40, m)
    plain = fitted(X, sets, k)
    for options in (
        {"candidate_weights": np.ones((40, m))},
        {"candidate_weights": np.broadcast_to(rng.random((40, 1)), (40, m))},
        {"candidate_weights": sets / sets.sum(axis=1, keepdims=True)},
        {"sample_weight": np.ones(40)},
        {"sample_weight": np.full(40, 0.25)},
        {"sample_weight": np.full(40, 2.0**25), "candidate_weights": sets * 0.3},
    ):
        model = fitted(X, sets, k, **options)
        assert_same(model, plain, new)
        if "candidate_weights" in options and not np.all(options["candidate_weights"]):
            continue  # other candidates of row 5 would have no weight
        changed = sets.copy()
        changed[5] = rng.permutation(sets[5])
        again = fitted(X, sets, k)
        np.testing.assert_array_equal(model.update(5, changed[5]), again.update(5, changed[5]))
        assert_same(model, again, new)


def test_votes_match_plain_loop():
    rng = np.random.default_rng(3)
    X, sets = rng.normal(size=(60, 4)), some_sets(rng, 60, 5)
    rows, weights = rng.random(60) * 4, rng.random((60, 5))
    model = fitted(X, sets, 7, sample_weight=rows, candidate_weights=weights)
    bits = scale_bits(7, 5, rows.max())
    assert bits == 18
    scales = [
        [round(rows[i] * (weights[i, c] / weights[i][sets[i]].max()) * 2**18) if sets[i, c] else 0 for c in range(5)]
        for i in range(60)
    ]
    neighbors, near = model._graph.neighbors_of(X[:6] + 0.1)
    for row in range(6):
        votes = [sum(int(w) * scales[i][c] for i, w in zip(neighbors[row], near[row], strict=True)) for c in range(5)]
        np.testing.assert_allclose(
            model.predict_proba(X[row : row + 1] + 0.1)[0], np.array(votes) / sum(votes), rtol=1e-5
        )


def test_integer_weight_equals_n_votes():
    """Exactly: three rows of weight 1 tie with one of weight 3, and the tie goes to the first class."""
    X = np.zeros((4, 1))
    sets = np.array([[0, 1], [0, 1], [0, 1], [1, 0]], dtype=bool)
    for weights in ([1, 1, 1, 3], [10, 10, 10, 30], [1e6, 1e6, 1e6, 3e6], [0.25, 0.25, 0.25, 0.75]):
        model = fitted(X, sets, 4, sample_weight=weights)
        assert model.decision_function([[0.0]]).tolist() == [0.0]
        assert model.predict([[0.0]]).tolist() == [0]


def test_informative_weights_raise_accuracy():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=300)
    X = rng.normal(size=(300, 3)) + 1.2 * np.eye(4)[y][:, :3]
    sets = contaminate(y, "size", r=2, random_state=1)
    told = rng.random((300, 4)) + 2 * np.eye(4)[y]
    plain, weighted = fitted(X, sets, 10), fitted(X, sets, 10, candidate_weights=told)
    assert (weighted.transduction_ == y).mean() > (plain.transduction_ == y).mean() + 0.05
    assert weighted.score(X, y) > plain.score(X, y) + 0.05


@given(st.integers(1, 10_000), st.integers(1, 5000), st.floats(1e-9, 1e9))
def test_sums_of_votes_do_not_overflow(k, m, largest):
    bits = scale_bits(k, m, largest)
    scale = int(vote_scales(np.ones((1, 1)), np.array([largest]), bits)[0, 0])
    assert k * m * WEIGHT_UNIT * scale < 2**62
    assert scale >= 2 ** min(19, 60 - (k * m * WEIGHT_UNIT).bit_length())


def test_scaled_tables_know_which_candidates_have_votes():
    rng = np.random.default_rng(1)
    neighbors = np.array([rng.permutation(9)[:4] for _ in range(9)], dtype=np.int32)
    weights, scales = rng.integers(0, 9, size=(9, 4)), rng.integers(0, 3, size=(9, 5))
    table = ScaledVoteTable(neighbors, weights, scales)
    np.testing.assert_array_equal(table.votes, (weights[:, :, None] * scales[neighbors]).sum(axis=1))
    plain = VoteTable(neighbors, weights, scales > 0)
    np.testing.assert_array_equal(table.masks, plain.masks)
    new = np.array([0, 7, 0, 0, 1])
    copies = [(one.copy(), one.votes, one.masks.copy()) for one in (table, plain)]
    expected = plain.update(2, scales[2] > 0, new > 0)
    np.testing.assert_array_equal(table.update(2, scales[2], new), plain.index.places(2)[0])
    assert set(expected) <= set(plain.index.places(2)[0])
    np.testing.assert_array_equal(table.masks, plain.masks)
    scales[2] = new
    np.testing.assert_array_equal(table.votes, ScaledVoteTable(neighbors, weights, scales).votes)
    assert table.update(2, new, new).tolist() == []
    for copy, votes, masks in copies:  # a copy that is not updated
        np.testing.assert_array_equal(copy.votes, votes)
        np.testing.assert_array_equal(copy.masks, masks)


# update == refit


@st.composite
def weighted_updates(draw):
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    options = {}
    if draw(st.booleans()):
        options["candidate_weights"] = rng.random((n, m)) * (rng.random((n, m)) < 0.8)
    if draw(st.booleans()):
        options["sample_weight"] = rng.choice([0.0, 0.3, 1.0, 2.0, 1e4], size=n)
        options["sample_weight"][rng.integers(n)] = 1.0
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True)
    X = rng.integers(0, 4, size=(n, 2)).astype(float)  # duplicates and ties
    mass = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return X, m, rng, draw(st.integers(1, 14)), mass, options, draw(st.lists(rows, max_size=4))


@settings(max_examples=settings().max_examples * 2 // 5)
@given(weighted_updates())
def test_update_equals_refit(case):
    X, m, rng, k, mass, options, changes = case
    sets = some_sets(rng, len(X), m)
    model = fitted(X, sets, k, class_mass=mass, **options)
    for rows in changes:
        before = model.label_distributions_.copy()
        new = some_sets(rng, len(rows), m)
        sets[rows] = new
        changed = model.update(rows, new)
        assert_same(model, fitted(X, sets, k, class_mass=mass, **options), X)
        assert changed.tolist() == np.flatnonzero((model.label_distributions_ != before).any(axis=1)).tolist()


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 70]), st.booleans())
def test_votes_in_a_shared_table_match_a_separate_table(seed, m, mapped):
    """For rows with shared candidates, also with lists in files; the copy is not updated."""
    rng = np.random.default_rng(seed)
    n, k = 12, 4
    sets = rng.random((n, m)) < 0.4
    distinct = [np.argsort(rng.random((t, n)), axis=1)[:, :k] for t in (n, 5)]
    graphs = [(neighbors, rng.integers(0, 9, size=neighbors.shape)) for neighbors in distinct]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_files, "IN_MEMORY", 0 if mapped else array_files.IN_MEMORY)
        own = VoteTable(*graphs[0], sets)
        beside = own.beside(*graphs[1])
    before = beside.copy()
    at_first = before.votes
    for _ in range(6):
        row, new = int(rng.integers(n)), rng.random(m) < 0.4
        fresh = VoteTable(*graphs[1], sets)
        touched = fresh.update(row, sets[row], new)
        own.update(row, sets[row], new)
        np.testing.assert_array_equal(beside.update(row, sets[row], new), touched)
        sets[row] = new
        for table, graph in ((own, graphs[0]), (beside, graphs[1])):
            np.testing.assert_array_equal(table.votes, VoteTable(*graph, sets).votes)
    np.testing.assert_array_equal(before.votes, at_first)


def test_arrays_given_to_fit_are_unchanged():
    weights, rows, sets = np.random.default_rng(0).random((5, 3)), np.ones(5), SETS.copy()
    before = weights.copy()
    model = fitted(LINE, sets, sample_weight=rows, candidate_weights=weights)
    model.update(0, [0, 0, 1])
    np.testing.assert_array_equal(weights, before)
    np.testing.assert_array_equal(sets, SETS)
    weights[:] = 0  # changing the array does not change the model
    model.update(0, SETS[0])
    assert_same(model, fitted(LINE, SETS, sample_weight=rows, candidate_weights=before), LINE)
    # A fit without weights forgets those of the fit before.
    assert_same(model.fit(LINE, SETS), fitted(LINE, SETS), LINE)


# class masses


def test_class_masses_affect_only_training_rows():
    rng = np.random.default_rng(2)
    y = rng.integers(3, size=120)
    X = rng.normal(size=(120, 2)) + y[:, None]
    sets = contaminate(y, "size", r=1, random_state=0)
    sets[:, 0] |= rng.random(120) < 0.7  # a frequent distractor
    plain = fitted(X, sets, 10)
    masses = ClassMasses.of(prior_labels(sets), np.ones(120))
    for power in (0.5, 1.0):
        model = fitted(X, sets, 10, class_mass=power)
        np.testing.assert_array_equal(model.label_distributions_, masses.pull(plain.label_distributions_, power))
        np.testing.assert_array_equal(model.transduction_, model.label_distributions_.argmax(axis=1))
        np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
        assert (model.label_distributions_[~sets] == 0).all()
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    gap = [np.abs(masses.targets - masses.weights @ one.label_distributions_).sum() for one in (plain, model)]
    assert gap[1] < gap[0] / 3


def test_class_masses_use_row_weights():
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    scores = np.array([[4, 1, 9], [0, 5, 0], [0, 3, 1], [2, 0, 2], [1, 0, 0]])
    plain = fitted(LINE, SETS, sample_weight=weights, candidate_weights=scores)
    model = fitted(LINE, SETS, class_mass=1.0, sample_weight=weights, candidate_weights=scores)
    masses = ClassMasses.of(prior_labels(SETS, scores), weights)
    np.testing.assert_array_equal(model.label_distributions_, masses.pull(plain.label_distributions_, 1.0))


# errors


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidate_weights": np.ones((5, 2))}, CandidateError, r"shape of the candidates, \(5, 3\). Got \(5, 2\)"),
        ({"candidate_weights": -SETS.astype(float)}, CandidateError, "finite and at least 0"),
        ({"candidate_weights": np.full((5, 3), np.nan)}, CandidateError, "rows 0, 1, 2, 3, 4"),
        ({"sample_weight": [1, 1, 1, 1]}, ValueError, "shape"),
        ({"sample_weight": [1, 1, 1, 1, -1]}, ValueError, "[Nn]egative"),
        ({"sample_weight": np.zeros(5)}, ValueError, "non-zero"),
        ({"class_mass": -1}, ValueError, "class_mass.*Got -1"),
    ],
)  # fmt: skip
def test_wrong_weights_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        fitted(LINE, SETS, **options)


def test_sparse_features_and_candidates_accept_weights():
    rng = np.random.default_rng(4)
    X, sets = rng.random((30, 6)) * (rng.random((30, 6)) < 0.4), some_sets(rng, 30, 4)
    options = {"sample_weight": rng.random(30), "candidate_weights": rng.random((30, 4))}
    dense = fitted(X, sets, 5, scaling=None, **options)
    thin = fitted(sparse.csr_matrix(X), sparse.csr_matrix(sets), 5, scaling=None, **options)
    np.testing.assert_array_equal(thin.label_distributions_, dense.label_distributions_)


def test_equal_row_weights_equal_no_weights():
    rng = np.random.default_rng(6)
    X, sets = rng.normal(size=(40, 3)), some_sets(rng, 40, 30)
    plain, model = fitted(X, sets, 40), fitted(X, sets, 40, sample_weight=np.full(40, 0.1))
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-14)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
