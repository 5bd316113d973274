"""Doubtful sets: the estimate against plain loops, a case with a known answer, the guard, answers and errors."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import PLKernelRidge
from plcore.kernel import choice
from plcore.kernel.doubtful import estimate_outside, starts_to_try
from plcore.kernel.rounds import Rounds
from plcore.kernels import softmax_rows

GIVEN = {"kernel": "rbf", "alpha": 0.1, "class_mass": 0.5, "set_mass": 0.0}
M = 5


def clusters(n: int = 150, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of five clear classes, and sets of two that hold the truth."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % M
    X = 3.0 * np.eye(M)[y] + rng.normal(scale=0.6, size=(n, M))
    sets = np.eye(M, dtype=bool)[y]
    sets[np.arange(n), (y + rng.integers(1, M, size=n)) % M] = True
    return X, sets, y


def without_truth(sets: np.ndarray, y: np.ndarray, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Sets of which a share has lost the truth, leaving one wrong candidate; and those rows."""
    rows = np.random.default_rng(3).choice(len(y), int(share * len(y)), replace=False)
    sets = sets.copy()
    sets[rows, y[rows]] = False
    return sets, np.sort(rows)


def plain_estimate(scores, candidates, weights, temperature):
    """The EM of one temperature in plain loops: the posterior and its likelihood."""
    n, m = candidates.shape
    a, b, size = np.zeros(n), np.zeros(n), candidates.sum(axis=1)
    for i in range(n):
        each = np.exp(scores[i] / temperature)
        within = each[candidates[i]].sum() / each.sum()
        a[i], b[i] = m / size[i] * within, m / (m - size[i]) * (1 - within)
    rates = dict.fromkeys(size, 0.05)
    for _ in range(30):
        o = np.array([rates[k] * b[i] / (rates[k] * b[i] + (1 - rates[k]) * a[i]) for i, k in enumerate(size)])
        mean = weights @ o / weights.sum()
        for k in rates:
            of = size == k
            rates[k] = (weights[of] @ o[of] + 20 * min(mean, 0.5) / 2) / (weights[of].sum() + 20)
    e = np.array([rates[k] for k in size])
    return o, weights @ np.log(e * b + (1 - e) * a)


def test_estimate_matches_plain_loops():
    rng = np.random.default_rng(1)
    candidates = rng.random((30, 4)) < 0.4
    candidates[np.arange(30), rng.integers(4, size=30)] = True
    candidates[candidates.all(axis=1), 0] = False
    scores, weights = rng.normal(scale=0.4, size=(30, 4)), rng.integers(1, 3, 30).astype(float)
    found = estimate_outside(scores, candidates, weights, np.ones(30, dtype=bool))
    plain = {
        one: plain_estimate(scores, candidates, weights, one) for one in (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 1.0)
    }
    assert found.temperature == max(plain, key=lambda one: plain[one][1])
    np.testing.assert_allclose(found.outside, plain[found.temperature][0], rtol=1e-9)


def test_rows_without_truth_are_found_and_labelled():
    X, sets, y = clusters()
    wrong, rows = without_truth(sets, y)
    model = PLKernelRidge(**GIVEN, outside=0.8).fit(X, wrong)
    assert set(np.flatnonzero(model.outside_ > 0.5)) == set(rows)
    assert (model.label_distributions_.argmax(axis=1) == y).all()  # among all classes
    assert wrong[np.arange(len(y)), model.transduction_].all()  # among the candidates
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1.0)

    again = PLKernelRidge(**GIVEN, outside=0.8).fit(X, sets).relabel(wrong, imported=wrong)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    np.testing.assert_array_equal(again.outside_, model.outside_)
    loaded = Rounds.from_arrays(model.rounds_.to_arrays())
    prior = wrong / wrong.sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(loaded.settle(prior, 3).labels, model.rounds_.settle(prior, 3).labels)

    # An answer ends the doubt, even if it confirms the only candidate.
    row = rows[0]
    model.update(row, np.eye(M, dtype=bool)[y[row]])
    assert model.outside_[row] == 0
    assert model.label_distributions_[row].argmax() == y[row]
    assert model.label_distributions_[row].max() == 1
    answered = np.arange(len(y)) == row
    told = PLKernelRidge(**GIVEN, outside=0.8).fit(X, wrong, answered=answered)
    assert told.outside_[row] == 0
    assert wrong[row, told.label_distributions_[row].argmax()]


def test_label_dependent_sets_are_not_doubted():
    # {y, y + 1}: only the single candidates distinguish the classes, so doubting them swaps all labels.
    X, _, y = clusters(150, seed=4)
    sets = np.eye(M, dtype=bool)[y]
    several = np.random.default_rng(5).random(len(y)) < 0.8
    sets[several, (y[several] + 1) % M] = True
    kept = {"kernel": "rbf", "alpha": 0.1}
    plain, guarded = PLKernelRidge(**kept).fit(X, sets), PLKernelRidge(**kept, outside="auto").fit(X, sets)
    assert guarded.outside_start_ is None
    assert plain.outside_ is None
    assert guarded.outside_.shape == y.shape
    np.testing.assert_array_equal(guarded.label_distributions_, plain.label_distributions_)
    np.testing.assert_array_equal(guarded.predict_proba(X), plain.predict_proba(X))


def test_doubts_are_chosen_if_agreement_rises_without_losing_accuracy(monkeypatch):
    """Figures of 300 held-out rows: predictions inside their sets, and predictions equal to the labels."""
    sets = np.ones((300, 2), dtype=bool)
    rows = choice.Rows(np.zeros((300, 1)), sets, sets / 2, sets / 2, np.ones(300))
    grid = choice.Grid(("rbf",), (0.1,), 0.5, 0.0, 0.05, 25, 100, doubts=(0.0, 0.8))

    def chosen(**figures):
        class Folds:
            def __init__(self, rows, fold, kernel, *_):
                self.rows, self.fold, self.kernel = rows, fold, kernel
                self.place = np.argsort(np.argsort(fold, kind="stable"))

            def figure(self, setting):
                return figures[{None: "plain", 0.0: "open", 0.8: "single"}[setting.doubt]]

            def held_out(self, setting, number):
                hits = (self.place % 100 < self.figure(setting)[0] / 3)[self.fold == number].astype(float)
                return choice._HeldOut(np.zeros(len(hits)), None, hits, np.zeros((len(hits), 2)))

            def labels(self, setting):
                return np.where(self.place < self.figure(setting)[1], 0, 1)

        monkeypatch.setattr(choice, "_Folds", Folds)
        return choice.choose(rows, grid, 0).doubt

    assert chosen(plain=(240, 200), open=(240, 203), single=(240, 203)) is None  # 3 rows: 1.7 standard errors
    assert chosen(plain=(240, 200), open=(240, 209), single=(240, 230)) == 0.0
    assert chosen(plain=(240, 200), open=(237, 209), single=(240, 209)) == 0.8  # 3 rows fewer inside: 1.7 of them
    assert chosen(plain=(240, 200), open=(240, 209), single=(249, 209)) == 0.8

    # The sets must not become less probable either.
    def less(setting, whole):
        rows = np.arange(300)
        return (setting.doubt is not None) * (1.0 * (rows >= 298) - 1.0 * (rows < wrong))

    monkeypatch.setattr(choice._Setting, "set_logs", less)
    wrong = 3  # and two more probable: 1 less, 0.4 standard errors
    assert chosen(plain=(240, 200), open=(240, 209), single=(240, 230)) == 0.0
    wrong = 9
    assert chosen(plain=(240, 200), open=(240, 209), single=(240, 230)) is None


def test_held_out_likelihood_uses_the_best_temperature():
    X, sets, _ = clusters()
    rows = choice.Rows(X, sets, sets / 2, sets / 2, np.ones(150))
    grid = choice.Grid(("rbf",), (0.1,), 0.5, 0.0, 0.05, 25, 100, doubts=(0.0,))
    fold = np.arange(150) % 3
    folds = choice._Folds(rows, fold, "rbf", grid, 0, None)
    logs = choice._Setting(folds, 0.1, 0.5, 0.0, 0.05).set_logs(np.ones(150))
    model = PLKernelRidge("rbf", 0.1, 0.5, set_mass=0.0, scaling=None)
    scores = np.concatenate(
        [model.fit(X[fold != k], sets[fold != k]).decision_function(X[fold == k]) for k in range(3)]
    )
    held = np.concatenate([sets[fold == k] for k in range(3)])
    plain = max(
        np.log((softmax_rows(scores / one, held | True) * held).sum(axis=1)).sum() for one in np.geomspace(0.02, 2, 300)
    )
    assert logs.sum() == pytest.approx(plain, abs=0.3)


def test_doubtful_rows_are_never_used_without_class_masses(monkeypatch):
    """The class mass was chosen as 0."""
    monkeypatch.setattr(choice, "_challenge", lambda best, found, settings, *_: (settings[0], found))
    X, sets, y = clusters()
    wrong, _ = without_truth(sets, y)
    kept = {"kernel": "rbf", "alpha": 0.1, "set_mass": 0.0}
    assert PLKernelRidge(**kept).fit(X, wrong).class_mass_ == 0
    assert PLKernelRidge(**kept, outside=0.8).fit(X, wrong).class_mass_ == 0.5
    assert PLKernelRidge(**kept, class_mass=0.0, outside=0.8).fit(X, wrong).class_mass_ == 0
    model = PLKernelRidge(**kept, outside="auto").fit(X, wrong, single_checks=(0, 10))
    assert (model.class_mass_, model.outside_start_) == (0.5, 0.0)


def test_blind_checks_of_single_candidates_set_the_start():
    assert starts_to_try(None) == starts_to_try((9, 9)) == ((0.0, 0.8), None)
    assert starts_to_try((1, 10)) == ((0.0,), None)
    assert starts_to_try((5, 10)) == ((), 0.5)
    X, sets, y = clusters()
    wrong, _ = without_truth(sets, y)
    model = PLKernelRidge(**GIVEN, outside="auto").fit(X, wrong, single_checks=(5, 10))
    assert model.outside_start_ == 0.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"single_checks": (3, 2)}, "single_checks must be"),
        ({"single_checks": 3}, "single_checks must be"),
        ({"answered": [0, 1]}, "answered must be bool"),
    ],
)
def test_wrong_arguments_are_refused(given, message):
    X, sets, _ = clusters(30)
    with pytest.raises(ValueError, match=message):
        PLKernelRidge(**GIVEN, outside="auto").fit(X, sets, **given)
