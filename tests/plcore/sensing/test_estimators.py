"""The multi-label estimators: known answers, invalid input, recovery, and their common contract."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks

from plcore import BMLCSClassifier, CandidateError, MLCSClassifier, OneVsAllSVC, f1_scores, precision_at
from plcore.kernels.sensing import recover_rows
from plcore.sensing.ml_cs import cosamp
from plcore.sensing.projection import Projection
from plcore.sensing.recovery import LEAST_GAIN, recover_fast

ESTIMATORS = [
    BMLCSClassifier(),
    BMLCSClassifier(mode="fast"),
    BMLCSClassifier(missing="zero"),
    BMLCSClassifier(kernel="rbf"),
    MLCSClassifier(),
    MLCSClassifier(regression="least_squares", sparsity=2),
    OneVsAllSVC(),
    OneVsAllSVC(missing="zero", threshold=0.5),
    BMLCSClassifier(threshold=0.5),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@pytest.fixture
def problem():
    """120 rows, 5 labels that a linear rule tells, a third of the cells not asked."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 1).astype(int)
    cells = np.where(rng.random(Y.shape) < 0.3, -1, Y)
    return X, Y, cells


@each
class TestContract:
    def test_predictions_have_the_right_shapes_and_keep_observed_cells(self, estimator, problem):
        X, Y, cells = problem
        model = clone(estimator).fit(X, cells)
        assert model.classes_.tolist() == list(range(5))
        assert model.transduction_.shape == (120, 5)
        assert model.transduction_.dtype == model.predict(X).dtype == np.int8
        known = cells != -1
        np.testing.assert_array_equal(model.transduction_[known], cells[known])
        assert set(np.unique(model.transduction_)) <= {0, 1}
        decision = model.decision_function(X)
        assert decision.shape == (120, 5)
        np.testing.assert_array_equal(model.predict(X), decision > 0)
        np.testing.assert_array_equal(model.top_labels(X, 1)[:, 0], decision.argmax(axis=1))
        assert model.top_labels(X, 3).shape == (120, 3)
        assert precision_at(Y, decision, 1) > 0.85 * Y.any(axis=1).mean()  # rows without a yes cannot be right
        assert model.score(X, Y) == precision_at(Y, decision, 1)
        for wrong in (0, 6, 1.5, "2", None, True):
            with pytest.raises(ValueError, match=r"t must be an int from 1 to the 5 labels\. Got"):
                model.top_labels(X, wrong)

    def test_unknown_cells_can_be_nan_or_minus_one(self, estimator, problem):
        X, _, cells = problem
        expected = clone(estimator).fit(X, cells).decision_function(X)
        for y in (
            np.where(cells == -1, np.nan, cells),
            pd.DataFrame(cells).astype("Int64").mask(cells == -1),
            np.where(cells == -1, None, cells),
        ):
            np.testing.assert_array_equal(clone(estimator).fit(X, y).decision_function(X), expected)

    def test_sparse_features_match_dense_ones(self, estimator, problem):
        X, _, cells = problem
        dense = clone(estimator).fit(X, cells)
        thin = clone(estimator).fit(sparse.csr_matrix(X), cells)
        np.testing.assert_allclose(thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-3)

    def test_fit_is_reproducible_and_leaves_input_unchanged(self, estimator, problem):
        X, _, cells = problem
        before = X.copy(), cells.copy()
        first, second = clone(estimator).fit(X, cells), clone(estimator).fit(X, cells)
        np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(cells, before[1])

    def test_label_names_come_from_columns(self, estimator, problem):
        X, _, cells = problem
        model = clone(estimator).fit(X, pd.DataFrame(cells, columns=list("vwxyz")))
        assert set(model.top_labels(X, 2).ravel()) <= set("vwxyz")

    def test_labels_without_yes_or_answers_and_empty_rows_are_accepted(self, estimator, problem):
        X, _, cells = problem
        cells[:, 1] = np.where(cells[:, 1] == 1, 0, cells[:, 1])
        cells[:, 3] = -1
        cells[:10] = -1
        model = clone(estimator).fit(X, cells)
        predicted = model.predict(X)
        assert not predicted[:, 1].any()
        assert not predicted[:, 3].any()
        assert np.isfinite(model.decision_function(X)).all()
        rest = clone(estimator).fit(X[10:], cells[10:])  # rows without an answer teach nothing
        if "rbf" not in repr(estimator):
            np.testing.assert_allclose(rest.decision_function(X), model.decision_function(X), atol=1e-8)

    def test_table_without_any_yes_predicts_no(self, estimator, problem):
        X, Y, _ = problem
        model = clone(estimator).fit(X, np.zeros_like(Y))
        assert not model.predict(X).any()

    def test_all_zero_features_are_accepted(self, estimator, problem):
        X, _, cells = problem
        model = clone(estimator)
        if "fit_intercept" in model.get_params():
            model.set_params(fit_intercept=False)
        model.fit(np.zeros_like(X), cells)
        assert np.isfinite(model.decision_function(np.zeros((3, 4)))).all()
        assert np.isfinite(model.decision_function(X[:3])).all()

    def test_score_requires_fit(self, estimator, problem):
        with pytest.raises(NotFittedError):
            clone(estimator).score(problem[0], problem[1])

    def test_invalid_cells_are_named(self, estimator, problem):
        X, _, cells = problem
        frame = pd.DataFrame(cells, columns=list("abcde")).astype(object)
        for value in (2, "yes", 0.5):
            wrong = frame.copy()
            wrong.iloc[7, 2] = value
            with pytest.raises(CandidateError, match=f"Got {value!r} in row 7 .*column 'c'"):
                clone(estimator).fit(X, wrong)
        for cell in (np.array("yes"), np.array("2020-01-01", dtype="M8[D]"), np.array("NaT", dtype="M8[D]")):
            with pytest.raises(CandidateError, match=r"(Got .* in row 0 .*column 0|No cell of y is known)"):
                clone(estimator).fit(X, np.full((120, 5), cell))
        with pytest.raises(CandidateError, match=r"'a'.* more than once"):
            clone(estimator).fit(X, frame.set_axis(list("aacde"), axis=1))
        with pytest.raises(CandidateError, match="No cell of y is known"):
            clone(estimator).fit(X, np.full((120, 5), np.nan))

    def test_score_matches_columns_by_name(self, estimator, problem):
        X, _, cells = problem
        frame = pd.DataFrame(cells, columns=["wren", "emu", "owl", "jay", "tern"])
        model = clone(estimator).fit(X, frame)
        expected = model.score(X, cells)
        assert model.score(X, frame) == expected
        assert model.score(X, frame[["tern", "owl", "emu", "jay", "wren"]]) == expected
        for wrong in (frame.rename(columns={"owl": "auk"}), frame.iloc[:, :4], cells[:, :4]):
            with pytest.raises(CandidateError, match="one column for each of the 5 labels: 'wren', 'emu'"):
                model.score(X, wrong)

    def test_exact_labels_are_one_label_per_row(self, estimator):
        X, y = load_iris(return_X_y=True)
        names = np.array(["setosa", "versicolor", "virginica"])[y]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        model = clone(estimator).fit(X, names)
        np.testing.assert_array_equal(model.transduction_, names)
        np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)])
        assert model.score(X, names) > 0.8

    def test_grid_search_accepts_unknown_cells(self, estimator, problem):
        X, _, cells = problem
        name = "C" if isinstance(estimator, OneVsAllSVC) else "n_components"
        search = GridSearchCV(clone(estimator), {name: [1.0, 0.5]}, cv=3).fit(X, cells)
        assert 0.5 < search.best_score_ <= 1

    @pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
    def test_estimator_works_with_scikit_learn_multilabel_metrics(self, estimator, response):
        check = getattr(estimator_checks, f"check_classifiers_multilabel_output_format_{response}")
        if hasattr(estimator, response):
            check(type(estimator).__name__, estimator)
        else:
            assert response == "predict_proba"


class TestBMLCS:
    def test_training_cells_keep_known_values(self, problem):
        X, _, cells = problem
        cells[:4] = -1
        for missing in ("block", "zero"):
            model = BMLCSClassifier(missing=missing).fit(X, cells)
            known = cells != -1
            np.testing.assert_array_equal(model.label_mean_[known], cells[known])
            assert not model.label_variance_[known].any()
            assert not model.label_gamma_[known].any()
            assert (model.label_variance_[~known] > 0).all()
            assert (model.label_variance_ <= model.label_gamma_ + 1e-12).all()
            np.testing.assert_allclose(model.label_mean_[:4], model.posterior(X[:4])[0])
            np.testing.assert_allclose(model.label_variance_[:4], model.posterior(X[:4])[1])

    def test_bound_history_has_one_value_per_iteration(self, problem):
        X, Y, cells = problem
        model = BMLCSClassifier(max_iter=25).fit(X, cells)
        assert model.bound_.shape == (25,)
        assert model.n_iter_ == 25
        assert (np.diff(model.bound_) >= -1e-8).all()
        assert model.bound_[-1] > model.bound_[0]
        assert not len(BMLCSClassifier().fit(X, Y).bound_)
        assert not len(BMLCSClassifier(missing="zero").fit(X, cells).bound_)

    def test_regression_on_fully_known_labels_is_ridge(self, problem):
        X, Y, _ = problem
        model = BMLCSClassifier(n_components=9).fit(X, Y)
        full = np.hstack([X, np.ones((120, 1))])
        ridge = model.noise_ / model.prior_variance_
        W = np.linalg.solve(full.T @ full + ridge * np.eye(5), full.T @ Y)
        # More components than labels: nothing is compressed, and Phi' takes the prediction back.
        np.testing.assert_allclose(model.projection_.T @ model.projection_, np.eye(5), atol=1e-12)
        fitted = model._at.predict(X, model._coefficients)
        np.testing.assert_allclose(fitted @ model.projection_, full @ W, atol=1e-10)

    def test_number_of_components_follows_the_setting(self, problem):
        X, Y, _ = problem
        many = np.tile(Y, (1, 8))
        for given_, expected in ((0.5, 20), (0.1, 8), (3, 3), (1.0, 40), (50, 50)):
            assert BMLCSClassifier(given_).fit(X, many).n_components_ == expected
        assert BMLCSClassifier(0.5).fit(X, Y).n_components_ == 5

    def test_uncertainty_grows_away_from_the_data(self, problem):
        X, Y, _ = problem
        model = BMLCSClassifier().fit(X, Y)
        near, far = model.posterior(X[:1]), model.posterior(30 * X[:1])
        assert (far[1] > near[1]).all()
        assert far[2] > near[2]

    def test_probabilities_come_from_the_posterior(self, problem):
        X, Y, _ = problem
        model = BMLCSClassifier().fit(X, Y)
        proba = model.predict_proba(X)
        np.testing.assert_array_equal(proba > 0.5, model.predict(X))
        assert ((proba > 0) & (proba < 1)).all()
        assert proba[Y == 1].mean() > proba[Y == 0].mean() + 0.3

    def test_wide_features_do_not_need_a_square_matrix(self):
        rng = np.random.default_rng(0)
        X = sparse.random(40, 300_000, density=1e-4, format="csr", rng=rng)
        Y = rng.random((40, 6)) < 0.3
        model = BMLCSClassifier().fit(X, Y)
        assert model._at.lower.shape == (40, 40)
        assert model.predict(X).shape == (40, 6)

    @pytest.mark.parametrize("mode", ["paper", "fast"])
    def test_noise_below_double_precision_is_handled(self, problem, mode):
        X, _, cells = problem
        model = BMLCSClassifier(noise=1e-12, mode=mode).fit(X, cells)
        assert np.isfinite(model.posterior(X)[2]).all()
        with pytest.raises(ValueError, match=r"noise is too small .* Fix: give noise and prior_variance"):
            BMLCSClassifier(noise=1e-30, n_components=3, mode=mode).fit(X, cells).posterior(X)

    def test_too_large_problem_names_the_fix(self, monkeypatch):
        monkeypatch.setattr("plcore.sensing.regression.LARGEST", 30)
        X = np.random.default_rng(0).normal(size=(40, 50))
        with pytest.raises(ValueError, match=r"need a matrix of 40 x 40; at most 30 .*TruncatedSVD"):
            BMLCSClassifier(noise=1.0, prior_variance=1.0).fit(X, np.ones((40, 3)))


def plain_recovery(Phi, r, free, noise, max_steps):
    """The same algorithm with C inverted again at every step."""
    K, L = Phi.shape
    gamma = np.zeros(L)
    for _ in range(max_steps):
        C = noise * np.eye(K) + (Phi * gamma) @ Phi.T
        inverse = np.linalg.inv(C)
        base = -0.5 * (np.linalg.slogdet(C)[1] + r @ inverse @ r)
        best, gain, best_new = None, LEAST_GAIN, 0.0
        for j in np.flatnonzero(free):
            without = np.linalg.inv(C - gamma[j] * np.outer(Phi[:, j], Phi[:, j]))
            s, q = Phi[:, j] @ without @ Phi[:, j], Phi[:, j] @ without @ r
            new = max((q * q - s) / (s * s), 0.0)
            D = C + (new - gamma[j]) * np.outer(Phi[:, j], Phi[:, j])
            value = -0.5 * (np.linalg.slogdet(D)[1] + r @ np.linalg.solve(D, r))
            if value - base > gain + 1e-12:
                best, gain, best_new = j, value - base, new
        if best is None:
            break
        gamma[best] = best_new
    C = noise * np.eye(K) + (Phi * gamma) @ Phi.T
    mean = gamma * (Phi.T @ np.linalg.solve(C, r))
    variance = gamma - gamma**2 * np.einsum("kj,kj->j", Phi, np.linalg.solve(C, Phi))
    return gamma, mean, variance


class TestRecovery:
    @given(seed=st.integers(0, 10_000), noise=st.sampled_from([0.01, 0.1, 1.0]))
    def test_fast_recovery_matches_the_plain_version(self, seed, noise):
        rng = np.random.default_rng(seed)
        Phi = rng.normal(size=(6, 10)) / np.sqrt(6)
        y = (rng.random((4, 10)) < 0.25).astype(float)
        residual = y @ Phi.T + np.sqrt(noise) * 0.3 * rng.normal(size=(4, 6))
        free = rng.random((4, 10)) < 0.9
        gamma, mean, variance, _ = recover_fast(Projection(Phi), residual, free, np.full(4, noise))
        for i in range(4):
            expected = plain_recovery(Phi, residual[i], free[i], noise, 40)
            np.testing.assert_allclose(gamma[i], expected[0], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(mean[i], expected[1], rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(variance[i], expected[2], rtol=1e-6, atol=1e-9)
        assert not gamma[~free].any()

    def test_fast_recovery_ends_at_a_fixed_point(self):
        """At the end each g is the fixed point of EM with a0 = b0 = 0: g = S_jj + mu_j^2."""
        rng = np.random.default_rng(1)
        Phi = rng.normal(size=(20, 50)) / np.sqrt(20)
        y = np.zeros((3, 50))
        y[:, [3, 17, 40]] = 1
        gamma, mean, variance, _ = recover_fast(
            Projection(Phi), y @ Phi.T + 0.03 * rng.normal(size=(3, 20)), np.ones((3, 50), bool), np.full(3, 1e-3)
        )
        on = gamma > 0
        np.testing.assert_allclose(gamma[on], (variance + mean**2)[on], rtol=0.1)
        np.testing.assert_array_equal(mean > 0.5, y == 1)

    def test_rows_in_blocks_match_all_at_once(self, problem, monkeypatch):
        X, _, cells = problem
        model = BMLCSClassifier(missing="zero").fit(X, cells)
        together = model.decision_function(X)
        monkeypatch.setattr("plcore.sensing.recovery.BLOCK_CELLS", 5 * 7)
        np.testing.assert_allclose(model.decision_function(X), together, atol=1e-12)

    def test_recovery_stops_at_the_step_limit(self):
        rng = np.random.default_rng(2)
        Phi = rng.normal(size=(5, 8))
        out = np.zeros((3, 2, 8))
        steps = np.zeros(2, dtype=np.int64)
        projected = rng.normal(size=(2, 5)) @ Phi * 5
        recover_rows(Phi.T @ Phi, projected, np.ones((2, 8), bool), np.full(2, 0.1), 1, 0.0, *out, steps)
        assert steps.tolist() == [1, 1]
        assert ((out[0] > 0).sum(axis=1) == 1).all()

    @pytest.mark.parametrize("sparsity", [1, 3])
    def test_cosamp_finds_sparse_vectors_exactly(self, sparsity):
        rng = np.random.default_rng(3)
        Phi = rng.normal(size=(30, 60)) / np.sqrt(30)
        y = np.zeros((40, 60))
        for row in y:
            row[rng.choice(60, sparsity, replace=False)] = rng.uniform(1, 2, size=sparsity)
        found = cosamp(Phi, y @ Phi.T, sparsity)
        np.testing.assert_allclose(found, y, atol=1e-6)
        assert ((cosamp(Phi, rng.normal(size=(9, 30)), sparsity) != 0).sum(axis=1) <= sparsity).all()
        assert not cosamp(Phi, np.zeros((2, 30)), sparsity).any()

    def test_cosamp_accepts_fewer_components_than_it_merges(self):
        rng = np.random.default_rng(4)
        Phi = rng.normal(size=(2, 6))
        assert np.isfinite(cosamp(Phi, rng.normal(size=(7, 2)), 5)).all()


class TestMetrics:
    def test_precision_uses_known_cells_only(self):
        y = [[1, 0, -1], [0, 1, 1], [-1, -1, -1]]
        scores = [[0.2, 0.1, 0.9], [0.9, 0.5, 0.4], [1, 1, 1]]
        assert precision_at(y, scores, 1) == 0.5  # row 0: label 0, a yes; row 1: label 0, a no; row 2 has none
        assert precision_at(y, scores, 2) == 0.5
        assert precision_at(y, scores, 3) == pytest.approx((1 / 2 + 2 / 3) / 2)
        assert precision_at(y, scores, 1, sample_weight=[3, 1, 9]) == 0.75

    def test_f1_uses_known_cells_only(self):
        y = [[1, 0, -1], [1, 0, 0]]
        macro, micro = f1_scores(y, [[1, 1, 1], [0, 0, 0]])
        assert macro == pytest.approx((2 / 3 + 0) / 2)
        assert micro == pytest.approx(2 * 1 / (2 + 2))
        assert f1_scores([[0, 0]], [[0, 0]]) == (0.0, 0.0)

    def test_wrong_shapes_are_refused(self):
        with pytest.raises(ValueError, match="shape of y"):
            precision_at([[1, 0]], [[0.1, 0.2, 0.3]], 1)
        for t in (0, 1.5, "1", True):
            with pytest.raises(ValueError, match="t must be an int of at least 1"):
                precision_at([[1, 0]], [[0.1, 0.2]], t)
        with pytest.raises(ValueError, match=r"sample_weight\.shape"):
            precision_at([[1, 0]], [[0.1, 0.2]], 1, sample_weight=[1, 2])
        assert np.isnan(precision_at([[1, 0], [-1, -1]], [[0.1, 0.2]] * 2, 1, sample_weight=[0, 1]))


def load(folder, name):
    stored = np.load(folder / f"{name}.npz")
    X = sparse.csr_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=tuple(stored["shape"]))
    squares = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)))
    X = sparse.csr_matrix(X.multiply(1 / np.maximum(squares, 1e-12)), dtype=float)
    return X, stored["Y"], int(stored["n_train"])


@pytest.mark.public_data
@pytest.mark.parametrize(
    ("name", "target"), [pytest.param("rcv1_subset1", 0.90, marks=pytest.mark.proof), ("corel5k", 0.28)]
)
def test_precision_with_half_the_components_is_high(data_folder, name, target):
    X, Y, n = load(data_folder, name)
    test = slice(n, n + 1000)
    model = BMLCSClassifier(mode="fast").fit(X[:n], Y[:n])
    found = precision_at(Y[test], model.decision_function(X[test]), 1)
    assert found >= target
    baseline = MLCSClassifier(ridge=model.noise_ / model.prior_variance_).fit(X[:n], Y[:n])
    assert found >= precision_at(Y[test], baseline.decision_function(X[test]), 1) - 0.02
