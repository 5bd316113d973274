"""The online learners compared with plain implementations: weights, losses, predictions, chunks, state."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from plcore import PLPegasos, PLPerceptron
from plcore.evaluation import contaminate
from plcore.online.state import EVEN, mean_square
from tests.plcore.online import plain_online

ALGORITHMS = [
    PLPerceptron("average"),
    PLPerceptron("max"),
    PLPerceptron("max", eta0=0.03),
    PLPegasos("average", alpha=0.01),
    PLPegasos("max", alpha=0.01),
    PLPegasos("average", alpha=0.5, decay_always=True),
    PLPegasos("max", alpha=1e-4, decay_always=True),
]
algorithms = pytest.mark.parametrize("learner", ALGORITHMS, ids=repr)


def stream(seed, n=60, d=5, m=6, scale=1.0):
    """Rows and candidates at random; some rows list every class."""
    rng = np.random.default_rng(seed)
    candidates = rng.random((n, m)) < rng.choice([0.2, 0.5, 0.9], size=(n, 1))
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    return rng.normal(size=(n, d)) * scale, candidates


def fresh(learner, **changes):
    return type(learner)(**{**learner.get_params(), **changes})


def twin(learner, X, candidates, weights=None):
    """The path (n + 1, m, d + 1) of the plain version, its losses and mistakes."""
    rules = {"eta0": getattr(learner, "eta0", 1.0)}
    if isinstance(learner, PLPegasos):
        rules = {"alpha": learner.alpha, "decay_always": learner.decay_always}
    ones = np.full((len(X), 1), float(learner.fit_intercept))
    return plain_online.learn(np.hstack([X, ones]), candidates, learner.loss, weights=weights, **rules)


def assert_weights(model, path, average):
    """The weights are the last, or the mean, of the path to 1e-12 of the largest number on it."""
    W = path[1:].mean(axis=0) if average else path[-1]
    size = max(1.0, np.abs(path).max())
    np.testing.assert_allclose(model.coef_, W[:, :-1], rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(model.intercept_, W[:, -1], rtol=0, atol=1e-12 * size)


@algorithms
@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 9),
    m=st.integers(1, 7),
    scale=st.sampled_from([0.1, 1.0, 30.0]),
    fit_intercept=st.booleans(),
    average=st.booleans(),
    thin=st.booleans(),
    cuts=st.lists(st.integers(1, 59), max_size=5),
)
def test_learner_matches_the_plain_implementation(learner, seed, d, m, scale, fit_intercept, average, thin, cuts):
    X, candidates = stream(seed, d=d, m=m, scale=scale)
    if thin:
        # Not the first column: rows of the intercept alone have margins of exactly 1, which rounding decides.
        X[:, 1:][np.random.default_rng(seed).random((60, d - 1)) < 0.5] = 0
    path, met, mistakes = twin(fresh(learner, fit_intercept=fit_intercept), X, candidates)
    model = fresh(learner, fit_intercept=fit_intercept, average=average)
    for rows in np.split(np.arange(60), sorted(set(cuts))):
        chunk = sparse.csr_matrix(X[rows]) if thin else X[rows]
        model.partial_fit(chunk, candidates[rows])
    assert_weights(model, path, average)
    assert (model.rounds_, model.updates_, model.mistakes_) == (60, (met > 0).sum(), mistakes.sum())


@algorithms
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_chunk_sizes_change_nothing_bit_for_bit(learner, average, thin):
    X, candidates = stream(3, n=200)
    X = sparse.csr_matrix(X) if thin else X
    whole = fresh(learner, average=average).partial_fit(X, candidates)
    pieces = fresh(learner, average=average)
    for begin, end in ((0, 1), (1, 2), (2, 90), (90, 91), (91, 200)):
        pieces.partial_fit(X[begin:end], candidates[begin:end])
    for name, value in whole.get_state().items():
        np.testing.assert_array_equal(pieces.get_state()[name], value, err_msg=name)
    np.testing.assert_array_equal(pieces.coef_, whole.coef_)
    passes = fresh(learner, average=average, max_iter=2, shuffle=False).fit(X, candidates)
    whole.partial_fit(X, candidates)
    np.testing.assert_array_equal(passes.coef_, whole.coef_)
    assert passes.rounds_ == 400


@algorithms
def test_dense_and_sparse_chunks_can_alternate(learner):
    X, candidates = stream(4, n=90)
    model = fresh(learner, average=True)
    model.partial_fit(X[:30], candidates[:30])
    model.partial_fit(sparse.csr_matrix(X[30:60]), candidates[30:60])
    model.decision_function(sparse.csr_matrix(X))
    model.partial_fit(X[60:], candidates[60:])
    assert_weights(model, twin(model, X, candidates)[0], True)


@algorithms
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("thin", [False, True])
def test_predict_then_learn_equals_predict_and_partial_fit(learner, average, thin):
    X, candidates = stream(5)
    X = sparse.csr_matrix(X) if thin else X
    single, expected = fresh(learner, average=average), [0]
    for row in range(60):
        if row:
            expected.append(single.predict(X[[row]])[0])
        single.partial_fit(X[[row]], candidates[[row]])
    model = fresh(learner, average=average)
    found = [*model.predict_then_learn(X[:7], candidates[:7]), *model.predict_then_learn(X[7:], candidates[7:])]
    assert found == expected
    np.testing.assert_array_equal(model.coef_, single.coef_)


def test_long_streams_keep_full_precision():
    """Scales that shrink by 1e5 and projections in every round; in float32 the features alone are rounded."""
    X, candidates = stream(6, n=3000, scale=300.0)
    X32 = X.astype(np.float32)
    for alpha in (1e-6, 1e-2, 10.0):
        model = PLPegasos("max", alpha=alpha, average=True, decay_always=True)
        for rows, kind in ((X32, np.float32), (X32.astype(float), np.float64)):
            given = fresh(model).partial_fit(rows, candidates)
            assert rows.dtype == kind
            path, _, _ = twin(model, X32.astype(float), candidates)
            assert_weights(given, path, True)
            assert_weights(fresh(model, average=False).partial_fit(rows, candidates), path, False)


def test_tracked_norm_matches_the_weights():
    X, candidates = stream(7, n=2000)
    model = PLPegasos("max", alpha=1e-3, average=False).partial_fit(X, candidates)
    W = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_allclose(model.get_state()["numbers"][2], (W**2).sum(), rtol=1e-12)
    assert np.linalg.norm(W) <= 1 / np.sqrt(1e-3) + 1e-9


@algorithms
def test_state_continues_exactly(learner):
    X, candidates = stream(8)
    for average in (False, True):
        model = fresh(learner, average=average).partial_fit(X[:30], candidates[:30])
        stored = model.get_state()
        kept = {name: array.tolist() for name, array in stored.items()}
        model.partial_fit(X[30:], candidates[30:])
        for source in (stored, kept):  # as arrays, and as lists read back from JSON
            again = fresh(learner, average=average).set_state(source).partial_fit(X[30:], candidates[30:])
            np.testing.assert_array_equal(again.coef_, model.coef_)
            np.testing.assert_array_equal(again.predict(X), model.predict(X))
            assert again.rounds_ == 60
        assert stored["counts"][0] == 30  # these are copies: later learning does not change them


def test_mismatched_state_is_refused():
    X, candidates = stream(9)
    stored = PLPerceptron().partial_fit(X, candidates).get_state()
    with pytest.raises(ValueError, match="'correction' of the state must be float64 of shape"):
        PLPerceptron(average=True).set_state(stored)
    with pytest.raises(ValueError, match="no 'possible'"):
        PLPerceptron().set_state({name: stored[name] for name in stored if name != "possible"})
    with pytest.raises(ValueError, match="must hold 'classes'"):
        PLPerceptron().set_state({})
    with pytest.raises(ValueError, match="'weights' of the state"):
        PLPerceptron().set_state({**stored, "classes": np.arange(3)})
    with pytest.raises(ValueError, match="set average before the first row"):
        PLPerceptron().set_state(stored).set_params(average=True).partial_fit(X, candidates)


@pytest.mark.parametrize("m", range(1, 9))
@pytest.mark.parametrize("d", [1, 3, 8, 17, 64])
def test_ties_go_to_the_lowest_index(m, d):
    """Classes with equal weights have equal scores, however the loops sum them."""
    rng = np.random.default_rng(m * d)
    X = rng.normal(size=(40, d))
    candidates = np.ones((40, m + 1), dtype=bool)
    candidates[:, m] = False  # all classes but the last are always candidates and get equal updates
    for X_ in (X, sparse.csr_matrix(X)):
        model = PLPerceptron("average").partial_fit(X_, candidates)
        assert model.updates_ > 0
        scores = model.decision_function(X_)
        if m > 1:
            assert (scores[:, :m] == scores[:, :1]).all()
        assert (model.predict(X_) == 0).all()
        assert (model.predict_then_learn(X_, candidates) == 0).all()
        # L_MPH from zero: the lowest candidate rises, the lowest other class falls.
        first = PLPerceptron("max", fit_intercept=False).partial_fit(X_[:1], np.eye(m + 1, dtype=bool)[[m]])
        np.testing.assert_array_equal(first.coef_[m], X[0])
        np.testing.assert_array_equal(first.coef_[0], -X[0])


@algorithms
def test_full_candidate_set_causes_no_update(learner):
    X, candidates = stream(10)
    model = fresh(learner, average=False)
    if isinstance(model, PLPegasos):
        model.set_params(decay_always=False)
    model.partial_fit(X, candidates)
    before, updates = model.coef_, model.updates_
    model.partial_fit(X, np.ones_like(candidates))
    np.testing.assert_array_equal(model.coef_, before)
    assert (model.rounds_, model.updates_) == (120, updates)
    nothing = fresh(learner).partial_fit(X, np.ones_like(candidates))
    assert not nothing.coef_.any()
    assert nothing.mistakes_ == 0


@algorithms
def test_single_class_is_accepted(learner):
    X, _ = stream(11)
    model = fresh(learner).fit(X, ["only"] * 60)
    assert model.predict(X).tolist() == ["only"] * 60
    assert not model.coef_.any()
    assert model.converged_


def test_exact_labels_give_perceptron_and_pegasos():
    X, _ = stream(12)
    y = np.random.default_rng(0).integers(6, size=60)
    exact = np.eye(6, dtype=bool)[y]
    for partial in (PLPerceptron, PLPegasos):
        both = [
            partial(loss).partial_fit(X, labels, classes=None if labels is exact else range(6))
            for loss in ("average", "max")
            for labels in (exact, y)
        ]
        for model in both[1:]:
            np.testing.assert_array_equal(model.coef_, both[0].coef_)


# Row weights, and steps or regularisation scaled by the row length.


@algorithms
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_weight_multiplies_the_step(learner, average, kind):
    X, candidates = stream(20)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0, 7.0], size=60)
    path, met, mistakes = twin(learner, X, candidates, weights)
    model = fresh(learner, average=average)
    for rows in (slice(0, 13), slice(13, 60)):
        model.partial_fit(kind(X[rows]), candidates[rows], sample_weight=weights[rows])
    assert_weights(model, path, average)
    assert (model.updates_, model.mistakes_) == ((met > 0).sum(), mistakes.sum())


@algorithms
def test_weights_of_one_equal_no_weights(learner):
    X, candidates = stream(21)
    np.testing.assert_array_equal(
        fresh(learner).fit(X, candidates, np.ones(60)).coef_, fresh(learner).fit(X, candidates).coef_
    )


@algorithms
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_rows_of_weight_zero_are_ignored(learner, kind):
    X, candidates = stream(22)
    weights = np.where(np.arange(60) % 3 == 1, 0.0, 1.5)
    kept = weights > 0
    candidates[:, 5] = ~kept  # the last class is a candidate of the others alone
    candidates[kept & ~candidates[:, :5].any(axis=1), 0] = True
    for average in (False, True):
        with_zeros, without = fresh(learner, average=average), fresh(learner, average=average)
        with_zeros.fit(kind(X), candidates, weights)
        without.fit(kind(X[kept]), candidates[kept], weights[kept])
        np.testing.assert_array_equal(with_zeros.coef_, without.coef_)
        np.testing.assert_array_equal(with_zeros.objective_, without.objective_)
        assert with_zeros.rounds_ == 5 * kept.sum()
        assert not (with_zeros.predict(X) == 5).any()
        assert with_zeros.transduction_.shape == (60,)
        with_zeros.partial_fit(kind(X), candidates, sample_weight=weights)
        without.partial_fit(kind(X[kept]), candidates[kept], sample_weight=weights[kept])
        np.testing.assert_array_equal(with_zeros.coef_, without.coef_)


def test_weight_of_two_is_one_longer_step_not_two_rounds():
    X, candidates = stream(23)
    doubled = PLPerceptron().partial_fit(X, candidates, sample_weight=np.full(60, 2.0))
    np.testing.assert_array_equal(doubled.coef_, PLPerceptron(eta0=2.0).partial_fit(X, candidates).coef_)
    assert doubled.rounds_ == 60
    # One row of weight 2 from zero: one step of 2, where two rounds would make the second only if a loss is left.
    X, candidates = np.array([[2.0]]), np.array([[True, False]])
    once = PLPerceptron(fit_intercept=False).partial_fit(X, candidates, sample_weight=[2.0])
    twice = PLPerceptron(fit_intercept=False).partial_fit(X[[0, 0]], candidates[[0, 0]])
    assert once.coef_.ravel().tolist() == [4.0, -4.0]
    assert twice.coef_.ravel().tolist() == [2.0, -2.0]


def test_wrong_weights_are_refused_and_nothing_is_learned():
    X, candidates = stream(24)
    model = PLPegasos().partial_fit(X, candidates)
    before = model.get_state()
    for wrong, message in (
        (np.full(60, -1.0), "Negative"),
        (np.full(59, 1.0), "sample_weight"),
        (np.full(60, np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, candidates, sample_weight=wrong)
        with pytest.raises(ValueError, match=message):
            clone(model).fit(X, candidates, wrong)
    for name, value in model.get_state().items():
        np.testing.assert_array_equal(value, before[name])
    broken = X.copy()
    broken[7] = np.nan  # it counts as seen although nothing is learnt from it
    with pytest.raises(ValueError, match="row 7"):
        model.partial_fit(broken, candidates, sample_weight=np.arange(60) != 7)


class TestAuto:
    def test_mean_square_matches_values_computed_by_hand(self):
        X, y = np.array([[3.0, 4.0], [0.0, 1.0], [2.0, 2.0]]), [0, 1, 1]  # |x|^2 = 25, 1, 8
        assert mean_square(X, EVEN) == 34 / 3
        assert mean_square(sparse.csr_matrix(X), np.array([1.0, 0.0, 3.0])) == 49 / 4
        assert mean_square(0 * X, EVEN) == 1.0
        assert mean_square(np.full((2, 2), 1e30, dtype=np.float32), EVEN) == pytest.approx(2e60)
        assert PLPegasos().fit(X, y).alpha_ == pytest.approx(34 / 3000)
        assert PLPegasos().fit(X, y, [1, 0, 3]).alpha_ == pytest.approx(49 / 4000)
        assert PLPerceptron(eta0="auto").fit(X, y).eta0_ == pytest.approx(3 / 34)
        assert PLPegasos(alpha=0.3).fit(X, y).alpha_ == 0.3
        assert PLPerceptron().fit(X, y).eta0_ == 1.0
        with pytest.raises(AttributeError, match="not fitted"):
            PLPegasos().alpha_  # noqa: B018

    def test_first_chunk_sets_the_step_size(self):
        X, candidates = stream(25)
        model = PLPegasos().partial_fit(X[:10], candidates[:10])
        first = model.alpha_
        assert first == pytest.approx((X[:10] ** 2).sum() / 10 / 1000)
        model.partial_fit(100 * X[10:], candidates[10:])
        assert model.alpha_ == first
        assert PLPegasos().set_state(model.get_state()).alpha_ == first
        np.testing.assert_array_equal(
            model.coef_, PLPegasos(alpha=first).partial_fit(np.vstack([X[:10], 100 * X[10:]]), candidates).coef_
        )

    @pytest.mark.parametrize("loss", ["average", "max"])
    @pytest.mark.parametrize("learner", [PLPegasos(), PLPerceptron(eta0="auto")])
    def test_unit_of_features_does_not_affect_predictions(self, learner, loss):
        X, candidates = stream(26)
        small, large = (
            fresh(learner, loss=loss, fit_intercept=False).fit(unit * X, candidates) for unit in (1.0, 1024.0)
        )
        np.testing.assert_array_equal(small.coef_, 1024 * large.coef_)

    def test_features_of_any_size_are_learned(self):
        X, candidates = stream(27)
        for size in (1e-200, 1e-30, 1e30, 1e48):
            for learner in (PLPegasos(), PLPerceptron(eta0="auto")):
                assert np.isfinite(fresh(learner).fit(size * X, candidates).coef_).all()


def test_defaults_learn_rows_of_any_length():
    """With alpha 1e-4 and the last iterate, long rows would not be learnt."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=600)
    X = 40 * (rng.normal(size=(600, 20)) + rng.normal(size=(5, 20))[y])
    candidates = contaminate(y, "size", r=2, random_state=0)
    for loss in ("average", "max"):
        assert PLPegasos(loss).fit(X[:400], candidates[:400]).score(X[400:], y[400:]) > 0.9
        old = PLPegasos(loss, alpha=1e-4, average=False)
        assert old.fit(X[:400], candidates[:400]).score(X[400:], y[400:]) < 0.85


@pytest.mark.public_data
def test_accuracy_of_defaults_on_lost(data_folder):
    stored = np.load(data_folder / "lost.npz")
    X, candidates, y = stored["X"].astype(float), stored["S"].astype(bool), stored["y"]
    rows = np.random.default_rng(0).permutation(len(X))
    train, test = rows[:800], rows[800:]
    for loss in ("average", "max"):
        model = PLPegasos(loss).fit(X[train], candidates[train])
        assert model.score(X[test], y[test]) > 0.6
