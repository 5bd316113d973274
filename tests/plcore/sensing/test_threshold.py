"""The threshold of label vectors: the best cut by brute force, leave-one-out scores by refits, and 0.5."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import LinearSVC

from benchmarks.data import hidden, label_vectors
from plcore import BMLCSClassifier, MLCSClassifier, OneVsAllSVC, SensingLearner, f1_scores
from plcore.sensing.metrics import EVEN, best_threshold, drawn_rows
from plcore.sensing.one_vs_all import FOLDS
from plcore.sensing.regression import Kernel, Regression

LEARNERS = [
    BMLCSClassifier(),
    BMLCSClassifier(mode="fast"),
    BMLCSClassifier(missing="zero", kernel="rbf"),
    MLCSClassifier(),
    OneVsAllSVC(),
    OneVsAllSVC(missing="zero"),
]
each = pytest.mark.parametrize("estimator", LEARNERS, ids=repr)


def problem(n=40, d=4, L=5, known=0.4, seed=0):
    """Features, the truth by a linear rule, and cells of which a share is known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, L)) + 0.5 * rng.normal(size=(n, L)) > 0.8).astype(int)
    return X, Y, np.where(rng.random(Y.shape) < known, Y, -1)


def f1_above(scores, yes, t):
    said = scores > t
    total = yes.sum() + said.sum()
    return 2 * (yes & said).sum() / total if total else 0.0


class TestBestThreshold:
    @given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12))
    @example([(0, True)])
    @example([(1, False), (1, True), (1, True)])
    def test_no_other_threshold_has_higher_f1(self, cells):
        scores = np.array([score / 7 for score, _ in cells])
        yes = np.array([one for _, one in cells])
        found = best_threshold(scores, yes)
        cuts = np.concatenate([np.unique(scores), [scores.min() - 1]])
        best = max(f1_above(scores, yes, t) for t in cuts)
        if not yes.any():
            assert found == EVEN
            return
        assert f1_above(scores, yes, found) == best
        # Among equally good cuts the highest wins: it predicts yes least often.
        assert (scores > found).sum() == min((scores > t).sum() for t in cuts if f1_above(scores, yes, t) == best)

    def test_best_threshold_matches_values_computed_by_hand(self):
        scores = np.array([0.9, 0.1, 0.3, 0.2])
        assert best_threshold(scores, np.array([True, False, True, False])) == pytest.approx(0.25)
        assert best_threshold(scores, np.array([True, False, False, False])) == pytest.approx(0.6)
        assert best_threshold(scores, np.ones(4, bool)) == pytest.approx(-0.9)  # 1 below all
        assert best_threshold(scores, np.zeros(4, bool)) == EVEN
        assert best_threshold(np.zeros(0), np.zeros(0, bool)) == EVEN

    @given(st.integers(0, 10**6), st.floats(1e-300, 1e300))
    def test_neighbouring_floats_are_distinguished(self, seed, least):
        above = np.nextafter(least, np.inf)
        t = best_threshold(np.array([above, least]), np.array([True, False]))
        assert least <= t < above
        rng = np.random.default_rng(seed)
        scores = least * rng.integers(1, 5, size=9)
        yes = rng.random(9) < 0.5
        order = rng.permutation(9)
        assert best_threshold(scores, yes) == best_threshold(scores[order], yes[order])

    def test_many_rows_are_sampled(self, monkeypatch):
        known = np.random.default_rng(0).random((50, 4)) < 0.3
        asked = np.flatnonzero(known.any(axis=1))
        np.testing.assert_array_equal(drawn_rows(known), asked)
        monkeypatch.setattr("plcore.sensing.metrics.MOST_CELLS", 40)
        some = drawn_rows(known)
        assert len(some) == 10
        assert set(some) <= set(asked)
        assert (np.diff(some) > 0).all()
        np.testing.assert_array_equal(drawn_rows(known), some)
        monkeypatch.setattr("plcore.sensing.metrics.MOST_CELLS", 1)
        assert len(drawn_rows(known)) == 1


class TestLeftOut:
    @pytest.mark.parametrize("case", ["primal", "dual", "rbf", "sparse"])
    @pytest.mark.parametrize("ridge", [0.01, 3.0])
    def test_leave_one_out_regressions_equal_refits(self, case, ridge):
        X, _, _ = problem(n=15, d=30 if case == "dual" else 4)
        X = sparse.csr_matrix(X) if case == "sparse" else X
        T = np.random.default_rng(1).normal(size=(15, 3))
        kernel = Kernel("rbf" if case == "rbf" else "linear", 0.3, 1, 0.0, True)
        at = Regression(kernel, X).at(ridge)
        found = at.left_out(T)
        np.testing.assert_allclose(at.left_out(T, at.coefficients(T)), found)
        for row in range(15):
            others = np.arange(15) != row
            without = Regression(kernel, X[others]).at(ridge)
            expected = without.predict(X[[row]], without.coefficients(T[others]))[0]
            np.testing.assert_allclose(found[row], expected, atol=1e-8)

    def test_row_with_a_unique_feature_is_handled(self):
        X = sparse.csr_matrix(np.vstack([np.eye(3), [[1.0, 1.0, 0.0]]]))
        T = np.arange(8.0).reshape(4, 2) + 1
        at = Regression(Kernel("linear", 1.0, 1, 0.0, False), X).at(1e-13)
        assert np.isfinite(at.left_out(T)).all()

    @pytest.mark.parametrize(
        "estimator",
        [
            BMLCSClassifier(missing="zero", max_iter=3),
            BMLCSClassifier(missing="zero", mode="fast"),
            BMLCSClassifier(missing="zero", kernel="rbf", gamma=0.2),
            MLCSClassifier(n_components=3, sparsity=2),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("known", [0.4, 1.0])
    def test_threshold_matches_refits_without_each_row(self, estimator, known):
        """If unknown cells count as no, a row affects only the regressions, so the closed form is exact."""
        X, _, cells = problem(n=25, known=known)
        model = clone(estimator).fit(X, cells)
        if isinstance(model, MLCSClassifier):
            fixed = {"ridge": model.ridge_}
        else:
            fixed = {"noise": model.noise_, "prior_variance": model.prior_variance_}
        scores = np.zeros(cells.shape)
        for row in np.flatnonzero((cells != -1).any(axis=1)):
            others = np.arange(25) != row
            without = clone(estimator).set_params(threshold=0.5, **fixed).fit(X[others], cells[others])
            scores[row] = without.decision_function(X[[row]])[0] + 0.5
        asked = cells != -1
        expected = best_threshold(scores[asked], cells[asked] == 1)
        assert model.threshold_ == pytest.approx(expected, abs=1e-7)
        assert model.threshold_ != EVEN

    def test_marginalised_cells_of_other_rows_are_kept(self):
        X, _, cells = problem(n=25)
        cells[3] = -1
        model = BMLCSClassifier(max_iter=2).fit(X, cells)
        inside = (cells != -1).any(axis=1)
        targets = model.label_mean_ @ model.projection_.T
        scores = np.zeros(cells.shape)
        for row in np.flatnonzero(inside):
            others = inside & (np.arange(25) != row)
            without = Regression(model._at.parent.kernel, X[others]).at(model._at.ridge)
            fitted = without.predict(X[[row]], without.coefficients(targets[others]))
            scores[row] = model._recovered(fitted).mean[0]
        known = cells != -1
        expected = best_threshold(scores[known], cells[known] == 1)
        assert model.threshold_ == pytest.approx(expected, abs=1e-7)

    @pytest.mark.parametrize("missing", ["zero", "skip"])
    def test_one_vs_all_threshold_uses_svms_of_other_folds(self, missing):
        X, _, cells = problem(n=60)
        cells[:5] = -1
        cells[:, 4] = np.where(cells[:, 4] == 1, -1, cells[:, 4])  # only no-cells of this label are known
        asked = np.arange(5, 60)[(cells[5:] != -1).any(axis=1)]
        fold = dict(zip(np.random.default_rng(0).permutation(asked), np.arange(len(asked)) % FOLDS, strict=True))
        scores = np.zeros(cells.shape)
        for row in asked:
            others = np.array([i for i in asked if fold[i] != fold[row]])
            for label in range(5):
                rows = others if missing == "zero" else others[cells[others, label] != -1]
                y = cells[rows, label] == 1
                if len(set(y)) < 2:
                    distance = 1.0 if len(y) and y[0] else -1.0
                else:
                    svm = LinearSVC(dual=False, max_iter=10_000).fit(X[rows], y)
                    distance = svm.decision_function(X[[row]])[0]
                scores[row, label] = (1 + distance) / 2
        known = cells != -1
        expected = best_threshold(scores[known], cells[known] == 1)
        model = OneVsAllSVC(missing=missing).fit(X, cells)
        assert model.threshold_ == pytest.approx(expected, abs=1e-9)


@each
class TestPredictions:
    def test_threshold_of_one_half_changes_nothing(self, estimator):
        X, _, cells = problem()
        model = clone(estimator).set_params(threshold=0.5).fit(X, cells)
        assert model.threshold_ == 0.5
        if isinstance(estimator, OneVsAllSVC):
            yes = X @ model.coef_.T + model.intercept_ > 0
        elif isinstance(estimator, MLCSClassifier):
            yes = model._values(X) > 0.5
        else:
            yes = model.posterior(X)[0] > 0.5
        np.testing.assert_array_equal(model.predict(X), yes)
        np.testing.assert_array_equal(model.decision_function(X) > 0, yes)

    def test_automatic_threshold_changes_only_the_cut(self, estimator):
        X, _, cells = problem()
        auto = clone(estimator).fit(X, cells)
        half = clone(estimator).set_params(threshold=0.5).fit(X, cells)
        given_ = clone(estimator).set_params(threshold=auto.threshold_).fit(X, cells)
        np.testing.assert_array_equal(auto.predict(X), given_.predict(X))
        np.testing.assert_array_equal(auto.transduction_, given_.transduction_)
        shift = half.decision_function(X) - auto.decision_function(X)
        unit = 2 if isinstance(estimator, OneVsAllSVC) else 1  # its scores are distances: 2 from no to yes
        np.testing.assert_allclose(shift, unit * (auto.threshold_ - 0.5), atol=1e-12)
        np.testing.assert_array_equal(auto.top_labels(X, 3), half.top_labels(X, 3))
        assert auto.score(X, cells) == half.score(X, cells)
        if hasattr(auto, "predict_proba"):
            np.testing.assert_array_equal(auto.predict_proba(X) > 0.5, auto.predict(X))

    def test_unknown_training_cells_use_the_same_threshold(self, estimator):
        X, _, cells = problem()
        model = clone(estimator).fit(X, cells)
        known = cells != -1
        np.testing.assert_array_equal(model.transduction_[known], cells[known])
        sensing = isinstance(model, BMLCSClassifier)
        expected = model.label_mean_ > model.threshold_ if sensing else model.predict(X)
        np.testing.assert_array_equal(model.transduction_[~known], expected[~known])

    def test_automatic_threshold_finds_more_of_the_truth(self, estimator):
        X, Y, cells = problem(n=550, known=0.3)
        half = clone(estimator).set_params(threshold=0.5).fit(X[:150], cells[:150])
        auto = clone(estimator).fit(X[:150], cells[:150])
        before, found = (f1_scores(Y[150:], model.predict(X[150:]))[1] for model in (half, auto))
        # SVMs of known cells are good at one half already; models that treat unknown cells as no are not.
        assert found > (before - 0.05 if repr(estimator) == "OneVsAllSVC()" else before + 0.2)
        assert found > 0.45

    def test_fit_accepts_only_yes_only_no_and_a_single_row(self, estimator):
        X, _, cells = problem()
        none = clone(estimator).fit(X, np.where(cells == 1, 0, cells))
        assert none.threshold_ == 0.5
        assert not none.predict(X).any()
        only = np.where(cells == 0, 1, cells)
        everything = clone(estimator).fit(X, only)
        assert everything.predict(X)[only == 1].mean() > 0.9
        one = clone(estimator).fit(X[:1], [[1, 0, -1, 1, 0]])
        assert np.isfinite(one.threshold_)
        assert np.isfinite(one.decision_function(X)).all()

    def test_exact_labels_need_no_threshold(self, estimator):
        X, Y, _ = problem()
        y = np.array(["wren", "emu", "owl"])[Y.sum(axis=1) % 3]
        auto = clone(estimator).fit(X, y)
        assert np.isnan(auto.threshold_)
        other = clone(estimator).set_params(threshold=7.0).fit(X, y)
        assert np.isnan(other.threshold_)
        np.testing.assert_array_equal(auto.predict(X), other.predict(X))
        np.testing.assert_array_equal(auto.decision_function(X), other.decision_function(X))

    @pytest.mark.parametrize("threshold", ["often", None, float("nan"), float("inf"), [0.5]])
    def test_invalid_thresholds_are_refused(self, estimator, threshold):
        X, _, cells = problem()
        with pytest.raises(ValueError, match="'threshold' parameter"):
            clone(estimator).set_params(threshold=threshold).fit(X, cells)


class TestSensingLearner:
    def test_threshold_is_found_by_each_fit_and_kept_in_between(self):
        X, Y, cells = problem()
        learner = SensingLearner(BMLCSClassifier(max_iter=2)).fit(X, cells)
        fitted = BMLCSClassifier(max_iter=2).fit(X, cells)
        assert learner.threshold_ == fitted.threshold_
        np.testing.assert_array_equal(learner.predict(X), learner.predict_mean(X) > learner.threshold_)
        assert learner.predict(X).dtype == np.int8
        for row, label in np.argwhere(cells == -1)[:20]:
            learner.answer(int(row), int(label), int(Y[row, label]))
        assert learner.threshold_ == fitted.threshold_
        fresh = SensingLearner(BMLCSClassifier(max_iter=2)).fit(X, learner.cells_)
        assert learner.refresh().threshold_ == fresh.threshold_ != fitted.threshold_
        np.testing.assert_array_equal(learner.predict(X), fresh.predict(X))

    @pytest.mark.parametrize(("threshold", "expected"), [("auto", 0.5), (0.2, 0.2)])
    def test_threshold_without_known_cells_is_the_given_one_or_one_half(self, threshold, expected):
        X, _, cells = problem()
        learner = SensingLearner(BMLCSClassifier(threshold=threshold)).fit(X, np.full(cells.shape, -1))
        assert learner.threshold_ == expected
        assert not learner.predict(X).any()


@pytest.mark.public_data
@pytest.mark.parametrize(("name", "least"), [("emotions", 0.6), ("scene", 0.6)])
def test_predictions_with_unknown_cells_do_not_collapse(data_folder, name, least):
    split = label_vectors(name)
    cells = hidden(split.Y, 0.8, 0)
    for estimator in (BMLCSClassifier(max_iter=1), MLCSClassifier(), OneVsAllSVC()):
        model = estimator.fit(split.X, cells)
        assert f1_scores(split.Y_test, model.predict(split.X_test))[1] > least
    half = BMLCSClassifier(max_iter=1, threshold=0.5).fit(split.X, cells)
    assert f1_scores(split.Y_test, half.predict(split.X_test))[1] < 0.2
