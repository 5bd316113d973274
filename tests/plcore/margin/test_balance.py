"""Labels held to the class masses: no class takes rows that its share of the sets does not give it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.preprocessing import StandardScaler

from plcore import PLSVC, LMPlaneClassifier
from plcore.evaluation import contaminate
from plcore.margin.base import ROUNDS

LEARNERS = [PLSVC, lambda **options: LMPlaneClassifier(solver="mm", **options), LMPlaneClassifier]


def large_sets() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six classes of 50 rows; each wrong one is a candidate with probability .7."""
    X, y = make_blobs(300, 4, centers=6, cluster_std=2.5, random_state=2)
    return StandardScaler().fit_transform(X), contaminate(y, "random", p=1.0, q=0.7, random_state=2), y


@pytest.mark.parametrize("make", LEARNERS)
def test_no_class_takes_the_rows_of_others(make):
    X, candidates, y = large_sets()
    plain, held = (make(C=100.0, class_mass=mass).fit(X, candidates) for mass in (0.0, 1.0))

    def excess(model):
        return np.abs(np.bincount(model.transduction_, minlength=6) - 50).sum()

    assert excess(held) < 0.6 * excess(plain)
    assert (held.predict(X) == y).mean() > (plain.predict(X) == y).mean() + 0.05


@pytest.mark.parametrize("make", LEARNERS)
def test_without_it_nothing_is_other(make):
    X, y = load_iris(return_X_y=True)
    candidates = contaminate(y, "size", p=0.8, r=1, random_state=0)
    plain, none = make().fit(X, candidates), make(class_mass=0.0).fit(X, candidates)
    np.testing.assert_array_equal(none.coef_, plain.coef_)
    np.testing.assert_array_equal(none.objective_, plain.objective_)


@pytest.mark.parametrize("make", LEARNERS)
def test_rounds_are_told_counted_and_can_be_ended(make):
    X, candidates, _ = large_sets()
    told: list[tuple[int, float]] = []
    plain = make().fit(X, candidates)
    model = make(class_mass=0.5).fit(X, candidates, progress=lambda *what: told.append(what))
    assert plain.n_iter_ < model.n_iter_ <= plain.n_iter_ + ROUNDS
    assert len(model.objective_) == len(plain.objective_) + model.n_iter_ - plain.n_iter_
    assert told[-1] == (model.n_iter_, model.objective_[-1])

    def end(number, _):
        if number > plain.n_iter_:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(class_mass=0.5).fit(X, candidates, progress=end)


def test_exact_labels_stay_what_they_are():
    """Every set holds one class: the masses are those of the labels, and the convex problem is the same."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    plain, held = (LMPlaneClassifier(solver="mm", class_mass=mass).fit(X, y) for mass in (0.0, 1.0))
    np.testing.assert_array_equal(held.transduction_, y)
    assert held.objective_[-1] == pytest.approx(plain.objective_[-1], rel=2e-3)
    assert held.converged_


@pytest.mark.parametrize("make", LEARNERS[:2])
def test_sparse_rows_kernels_and_prior_weights(make):
    X, candidates, _ = large_sets()
    dense = make(class_mass=0.5).fit(X, candidates)
    thin = make(class_mass=0.5).fit(sparse.csr_matrix(X), candidates)
    assert (thin.predict(X) == dense.predict(X)).mean() > 0.99
    assert make(kernel="rbf", class_mass=0.5).fit(X, candidates).predict(X).shape == (300,)


def test_weights_of_candidates_are_the_masses():
    X, candidates, y = large_sets()
    told = np.where(np.eye(6, dtype=bool)[y], 9.0, 1.0) * candidates
    even = LMPlaneClassifier(solver="mm", class_mass=1.0).fit(X, candidates)
    model = LMPlaneClassifier(solver="mm", class_mass=1.0).fit(X, candidates, candidate_weights=told)
    assert (model.transduction_ == y).mean() > (even.transduction_ == y).mean()


def test_a_pull_is_no_negative_number():
    X, candidates, _ = large_sets()
    with pytest.raises(ValueError, match="class_mass"):
        PLSVC(class_mass=-1.0).fit(X, candidates)
