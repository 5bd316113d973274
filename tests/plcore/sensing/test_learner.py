"""The learner of label vectors: rank-one updates compared with full fits, and its questions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from plcore import BMLCSClassifier, CandidateError, SensingLearner
from plcore.sensing.learner import RowCovariance
from plcore.sensing.regression import Regression, make_kernel

FIXED = {"noise": 0.05, "prior_variance": 0.2}


def table(n=40, d=6, L=7, missing=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, L)) > 1.2).astype(np.int8)
    cells = np.where(rng.random((n, L)) < missing, -1, Y).astype(np.int8)
    cells[:3] = -1
    return X, Y, cells


def answers(Y, cells, count, seed=1):
    open_ = np.argwhere(cells == -1)
    chosen = np.random.default_rng(seed).permutation(len(open_))[:count]
    return [(int(i), int(j), int(Y[i, j])) for i, j in open_[chosen]]


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_rank_one_covariance_matches_direct_inversion(dual, make):
    X, *_ = table(n=9, d=4)
    regression = Regression(make_kernel("linear", X, None, 3, 0.0, True), make(X), dual)
    weights = np.array([0, 0, 1, 0.5, 0, 1, 0, 0, 0.2])
    covariance = RowCovariance(regression, 0.3, weights)
    for row, change in ((0, 1.0), (3, 0.25), (3, -0.5), (2, -1.0), (0, -0.5)):
        covariance.measure(row, change)
        weights[row] += change
    full = np.hstack([X, np.ones((9, 1))])
    direct = full @ np.linalg.inv(full.T @ np.diag(weights) @ full / 0.3 + np.eye(5)) @ full.T
    np.testing.assert_allclose(covariance.variances, direct.diagonal(), atol=1e-10)
    for row in range(9):
        np.testing.assert_allclose(covariance.column(row), direct[row], atol=1e-10)


@pytest.mark.parametrize("shape", [(40, 6), (20, 30)])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_answers_equal_a_full_fit_if_unknown_cells_count_as_no(shape, make):
    """missing="zero": the regressions are linear in the labels, so that rank one is exact."""
    X, Y, cells = table(*shape)
    model = BMLCSClassifier(missing="zero", **FIXED)
    learner = SensingLearner(model).fit(make(X), cells)
    new = make(np.random.default_rng(3).normal(size=(5, shape[1])))
    done = answers(Y, cells, 30)
    for row, label, value in [*done, *((i, j, None) for i, j, _ in done[:8]), *((i, j, 1) for i, j, _ in done[:3])]:
        learner.answer(row, label, value)
        cells[row, label] = -1 if value is None else value
    fresh = BMLCSClassifier(missing="zero", **FIXED).fit(X, cells)
    np.testing.assert_array_equal(learner.cells_, cells)
    np.testing.assert_allclose(learner.predict_mean(new), fresh.posterior(new)[0], atol=1e-8)
    again = SensingLearner(model).fit(make(X), cells)
    np.testing.assert_allclose(learner.row_variance_, again.row_variance_, atol=1e-10)
    before = learner.predict_mean(new)
    learner.refresh()
    np.testing.assert_allclose(learner.predict_mean(new), before, atol=1e-8)
    np.testing.assert_array_equal(learner.label_mean_, again.label_mean_)


def test_rows_can_be_added_and_removed():
    X, _, cells = table()
    learner = SensingLearner(BMLCSClassifier(missing="zero", **FIXED)).fit(X, cells)
    before, variance = learner.predict_mean(X), learner.row_variance_
    learner.answer(0, 2, 1).answer(0, 5, 0)
    assert np.abs(learner.predict_mean(X) - before).max() > 1e-3
    assert learner.row_variance_[0] < variance[0]
    learner.answer(0, 2, None).answer(0, 5, None)
    np.testing.assert_allclose(learner.predict_mean(X), before, atol=1e-9)
    np.testing.assert_allclose(learner.row_variance_, variance, atol=1e-12)
    assert (learner.cells_[0] == -1).all()


@pytest.mark.parametrize("missing", ["block", "zero"])
def test_whole_row_can_be_answered_at_once(missing):
    X, Y, cells = table()
    model = BMLCSClassifier(missing=missing, **FIXED)
    once, one_by_one = (SensingLearner(model).fit(X, cells) for _ in range(2))
    for row in (0, 7, 11):
        once.answer_row(row, Y[row])
        for label in range(7):
            one_by_one.answer(row, label, Y[row, label])
    # A full row leaves nothing to infer, so the order of answers does not matter.
    np.testing.assert_allclose(once.predict_mean(X), one_by_one.predict_mean(X), atol=1e-9)
    np.testing.assert_allclose(once.row_variance_, one_by_one.row_variance_, atol=1e-12)
    before = SensingLearner(model).fit(X, cells)
    back = once.answer_row(0, np.full(7, np.nan)).answer_row(7, cells[7]).answer_row(11, cells[11])
    np.testing.assert_array_equal(back.cells_, cells)
    np.testing.assert_allclose(back.row_variance_, before.row_variance_, atol=1e-12)
    with pytest.raises(CandidateError, match=r"A row has 7 labels. Got 2"):
        once.answer_row(0, [1, 0])


def test_marginalised_update_moves_towards_the_full_fit():
    """The update makes most of the change of a full refit, although other rows are not recomputed."""
    X, Y, cells = table(n=60, d=8, missing=0.4, seed=4)
    model = BMLCSClassifier(max_iter=15, **FIXED)
    yes = [(i, j, v) for i, j, v in answers(Y, cells, 400) if v == 1][:5]
    errors, moves = [], []
    for row, label, value in yes:
        learner = SensingLearner(model).fit(X, cells)
        start = learner._fitted.copy()
        after = cells.copy()
        after[row, label] = value
        goal = SensingLearner(model).fit(X, after)._fitted
        learner.answer(row, label, value)
        errors.append(np.linalg.norm(learner._fitted - goal))
        moves.append(np.linalg.norm(start - goal))
    assert np.median(np.array(errors) / moves) < 0.5


def test_answered_cell_is_exact_and_updates_the_rest_of_its_row():
    X, Y, cells = table()
    learner = SensingLearner(BMLCSClassifier(**FIXED)).fit(X, cells)
    before = learner.label_mean_.copy()
    row, label, value = answers(Y, cells, 1)[0]
    learner.answer(row, label, value)
    assert learner.label_mean_[row, label] == value
    assert learner.label_variance_[row, label] == 0
    others = np.arange(len(X)) != row
    np.testing.assert_array_equal(learner.label_mean_[others], before[others])
    known = cells[row] != -1
    np.testing.assert_array_equal(learner.label_mean_[row, known], cells[row, known])
    assert np.abs(learner.label_mean_[row] - before[row])[~known].max() > 0


def test_equal_answers_give_equal_states_and_refresh_ignores_order():
    X, Y, cells = table()
    done = answers(Y, cells, 12)
    first, second, third = (SensingLearner(BMLCSClassifier()).fit(X, cells) for _ in range(3))
    for entry in done:
        first.answer(*entry)
        assert first.label_variance_.shape == cells.shape  # reading scores changes nothing
        second.answer(*entry)
    for entry in reversed(done):
        third.answer(*entry)
    for name in ("label_mean_", "label_variance_", "row_variance_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.next("pair", 5), second.next("pair", 5))
    np.testing.assert_array_equal(first.refresh().label_mean_, third.refresh().label_mean_)


@pytest.mark.parametrize("criterion", ["entropy", "variance", "information", "margin", "random"])
def test_only_open_and_allowed_cells_are_asked_about(criterion):
    X, _, cells = table()
    cells[5] = 1
    learner = SensingLearner(BMLCSClassifier(**FIXED), random_state=3).fit(X, cells)
    rows = np.arange(len(X)) % 2 == 0
    allowed = np.random.default_rng(0).random(cells.shape) < 0.5
    instances = learner.next("instance", 50, criterion, rows=rows)
    assert sorted(instances) == np.flatnonzero(rows & (cells == -1).any(axis=1)).tolist()
    assert 5 not in learner.next("instance", None, criterion)
    labels = learner.next("label", None, criterion, rows=rows, cells=allowed)
    expected = np.flatnonzero((allowed & (cells == -1)).any(axis=1) & rows)
    assert sorted(labels[:, 0]) == expected.tolist()  # one of each row
    for joint in (False, True):
        pairs = learner.next("pair", 6, criterion, cells=allowed, joint=joint)
        assert len(pairs) == 6
        assert len({tuple(pair) for pair in pairs.tolist()}) == 6
        assert allowed[pairs[:, 0], pairs[:, 1]].all()
        assert (cells[pairs[:, 0], pairs[:, 1]] == -1).all()
    scores = learner.scores("pair", criterion)
    assert scores.shape == cells.shape
    assert ((scores == -np.inf) == (cells != -1)).all()
    best = learner.next("pair", 1, criterion)[0]
    assert scores[tuple(best)] == scores.max()


def test_joint_batch_does_not_repeat_one_label():
    X = np.random.default_rng(0).normal(size=(60, 3))
    # Nothing is known: all rows have equal precisions, so one label is the best on every row.
    learner = SensingLearner(BMLCSClassifier(n_components=6)).fit(X, np.full((60, 12), -1))
    for criterion in ("variance", "information"):
        assert len(np.unique(learner.next("label", None, criterion, joint=False)[:, 1])) == 1
    together = learner.next("label", None, "information")
    assert np.bincount(together[:, 1], minlength=12).max() <= 10  # twice 60 / 12
    assert len(np.unique(together[:, 1])) >= 6


def test_learner_works_without_known_cells():
    X, Y, _ = table()
    learner = SensingLearner(BMLCSClassifier()).fit(X, np.full((40, 7), np.nan))
    assert learner.cells_.dtype == np.int8
    assert not learner.predict_mean(X).any()
    for kind in ("instance", "label", "pair"):
        assert len(learner.next(kind, 3)) == 3
    for label in range(7):
        learner.answer(4, label, Y[4, label])
    assert np.isfinite(learner.label_mean_).all()
    learner.refresh()
    fresh = SensingLearner(BMLCSClassifier()).fit(X, learner.cells_)
    np.testing.assert_array_equal(learner.label_mean_, fresh.label_mean_)


@pytest.mark.parametrize("case", ["some known", "rows without any", "nothing known", "more features than rows"])
@pytest.mark.parametrize("missing", ["block", "zero"])
def test_means_only_fit_matches_a_full_fit(case, missing):
    X, _, cells = table(d=60) if case == "more features than rows" else table()
    if case == "rows without any":
        cells[::3] = -1
    elif case == "nothing known":
        cells[:] = -1
    classifier = BMLCSClassifier(missing=missing)
    found = SensingLearner.means(classifier, X, cells)
    np.testing.assert_array_equal(found, SensingLearner(classifier).fit(X, cells).label_mean_)


def test_single_label_is_supported():
    X, Y, _ = table()
    cells = np.where(np.arange(40)[:, None] < 20, Y[:, :1], -1)
    learner = SensingLearner().fit(X, cells)
    np.testing.assert_array_equal(learner.label_mean_[:20], Y[:20, :1])
    for row in range(20, 30):
        learner.answer(row, 0, int(Y[row, 0]))
    assert learner.next("pair", 99)[:, 0].tolist() != []
    assert learner.predict_mean(X).shape == (40, 1)
    assert learner.refresh().cells_[29, 0] == Y[29, 0]


def test_wrong_questions_and_answers_are_refused():
    X, _, cells = table()
    learner = SensingLearner(BMLCSClassifier(**FIXED)).fit(X, cells)
    for row, label, value, words in (
        (40, 0, 1, "row must be an int from 0 to 39. Got 40"),
        (0, -1, 1, "label must be an int from 0 to 6. Got -1"),
        (0, 0, 2, "An answer is 1 .yes., 0 .no., or -1 or None .not asked.. Got 2"),
    ):
        with pytest.raises(ValueError, match=words):
            learner.answer(row, label, value)
    with pytest.raises(ValueError, match="kind must be one of"):
        learner.next("cell")
    with pytest.raises(ValueError, match="criterion must be one of"):
        learner.next("pair", 1, "luck")
    with pytest.raises(CandidateError, match="must be a matrix"):
        SensingLearner().fit(X, np.arange(40) % 3)
