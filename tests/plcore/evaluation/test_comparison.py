"""Comparing learners: figures by hand, folds, budget, cancel, errors in their own words, truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binomtest
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plcore import CandidateError, CLPLClassifier
from plcore.evaluation import PartialKFold, candidate_accuracy, compare_learners, contaminate, trials
from plcore.evaluation.learners import LEARNER_ENTRIES, WITHIN, choose, kappa, kappa_lead_error, read_learners
from tests.plcore.evaluation.told import Clock, Reporting, Slow, Told, Weighed
from tests.plcore.random_sets import some_sets

COLUMNS = ["learner", "parameters", "candidate_accuracy", "kappa", "accuracy", "seconds", "chosen", "note"]


def chosen(table):
    return table["learner"][table["chosen"]].tolist()


@pytest.fixture
def told():
    """Features that hold three learners' predictions: mostly right, seldom right, always the class in every set."""
    rng = np.random.default_rng(0)
    y = rng.integers(1, 5, size=120)
    candidates = contaminate(y, "random", p=0.7, q=0.3, random_state=1, classes=np.arange(5))
    candidates[:, 0] = True
    X = np.column_stack(
        [
            np.where(rng.random(120) < 0.8, y, rng.integers(1, 5, size=120)),
            np.where(rng.random(120) < 0.2, y, rng.integers(1, 5, size=120)),
            np.zeros(120),
        ]
    )
    return X, candidates, y


def test_table_reports_held_out_predictions(told):
    X, candidates, y = told
    learners = {"good": Told(0), "fair": Told(1), "constant": Told(2)}
    table = compare_learners(X, candidates, learners, y_true=y)
    assert table.columns.tolist() == COLUMNS
    assert table["learner"].tolist() == list(learners)
    for column, row in table.iterrows():
        predicted = X[:, column].astype(int)
        assert row["candidate_accuracy"] == pytest.approx(candidate_accuracy(candidates, predicted))
        assert row["kappa"] == pytest.approx(kappa(candidates, predicted))
        assert row["accuracy"] == pytest.approx((predicted == y).mean())
        assert row["parameters"] == {}
        assert row["note"] == ""
    assert chosen(table) == ["good"]
    assert table["candidate_accuracy"].idxmax() == 2  # the constant class is in every set


def test_accuracy_is_unknown_without_truth(told):
    X, candidates, _ = told
    table = compare_learners(X, candidates, {"good": Told(0), "fair": Told(1)})
    assert table["accuracy"].isna().all()
    assert chosen(table) == ["good"]


DRAWN = PartialKFold(4, random_state=np.random.RandomState(3).randint(2**31 - 1))


@pytest.mark.parametrize(
    ("cv", "folds"), [(4, DRAWN), (KFold(5), KFold(5)), (list(KFold(5).split(np.zeros((90, 1)))), KFold(5))]
)
def test_every_row_is_predicted_by_a_fit_without_it(blobs, cv, folds):
    X, candidates, _ = blobs
    predicted = np.empty(90, dtype=int)
    for train, test in folds.split(X, candidates):
        predicted[test] = CLPLClassifier().fit(X[train], candidates[train]).predict(X[test])
    table = compare_learners(X, candidates, {"clpl": CLPLClassifier()}, cv=cv, random_state=3)
    assert table["kappa"][0] == kappa(candidates, predicted)


def test_rows_that_are_never_held_out_do_not_count(told):
    X, candidates, y = told
    split = ShuffleSplit(1, test_size=0.25, random_state=0)
    _, test = next(split.split(X))
    table = compare_learners(X, candidates, {"good": Told(0)}, split, y)
    assert table["accuracy"][0] == pytest.approx((X[test, 0] == y[test]).mean())
    assert table["kappa"][0] == pytest.approx(kappa(candidates[test], X[test, 0].astype(int)))


def test_the_same_seed_gives_the_same_table(blobs):
    X, candidates, _ = blobs

    def figures(random_state):
        table = compare_learners(X, candidates, ["plknn", "kernelridge", "clpl"], 3, None, random_state)
        return table.drop(columns="seconds").to_dict()

    first = figures(0)
    np.testing.assert_equal(figures(0), first)
    assert any(figures(seed)["kappa"] != first["kappa"] for seed in (1, 2, 3))


@pytest.mark.parametrize("of_list", [True, pytest.param(False, marks=pytest.mark.proof)])
def test_built_in_learners_are_compared_in_order(blobs, of_list):
    """Compare the learners of the library's own list, or the others."""
    X, candidates, y = blobs
    own = [entry.name for entry in read_learners(None)]
    others = [name for name in LEARNER_ENTRIES if name not in own]
    names, learners, least = (own, None, 0.7) if of_list else (others, others, 0.6)
    table = compare_learners(X, candidates, learners, 2, y, 0)
    assert table["learner"].tolist() == names
    assert (table["accuracy"] > least).all()
    assert (table["seconds"] > 0).all()
    assert (table["note"] == "").all()
    for name, parameters in zip(table["learner"], table["parameters"], strict=True):
        assert parameters in LEARNER_ENTRIES[name].settings
    assert table["chosen"].sum() == 1


def test_setting_with_highest_kappa_represents_its_learner(blobs):
    X, candidates, _ = blobs
    [row] = compare_learners(X, candidates, ["clpl"], 3, random_state=0).to_dict("records")
    each = {
        f"C={setting['C']}": LEARNER_ENTRIES["clpl"].make(setting, X) for setting in LEARNER_ENTRIES["clpl"].settings
    }
    tried = compare_learners(X, candidates, each, 3, random_state=0)
    assert row["kappa"] == tried["kappa"].max()
    assert f"C={row['parameters']['C']}" == tried["learner"][tried["kappa"].idxmax()]


def suiting(predicted, y):
    """Sets (n, 5) of the true label and what is predicted."""
    return np.eye(5, dtype=bool)[predicted.astype(int)] | np.eye(5, dtype=bool)[y]


@pytest.mark.parametrize("names", [None, list("abcde")])
def test_true_labels_decide_before_kappa(told, names):
    """The sets contain every prediction of the worse learner, but known true labels come first."""
    X, _, y = told
    lied = suiting(X[:, 1], y)
    labels = y if names is None else np.array(names)[y]
    y_true = np.where(np.arange(120) % 2, labels.astype(object), None)
    frame = lied if names is None else pd.DataFrame(lied, columns=names)
    learners = {"good": Told(0), "fair": Told(1)}
    without = compare_learners(X, frame, learners, random_state=0)
    assert chosen(without) == ["fair"]
    table = compare_learners(X, frame, learners, y_true=y_true, random_state=0)
    assert chosen(table) == ["good"]
    half = np.arange(120) % 2 == 1
    assert table["accuracy"].tolist() == pytest.approx([(X[half, k] == y[half]).mean() for k in (0, 1)])
    for missing in (pd.Series(y_true), list(y_true)):
        again = compare_learners(X, frame, learners, y_true=missing, random_state=0)
        assert again["accuracy"].tolist() == table["accuracy"].tolist()


def test_kappa_decides_if_true_labels_are_few(told):
    X, _, y = told
    lied = suiting(X[:, 1], y)
    y_true = np.where(np.arange(120) < 6, y, np.nan)
    assert chosen(compare_learners(X, lied, {"good": Told(0), "fair": Told(1)}, y_true=y_true)) == ["fair"]


def test_true_label_outside_the_classes_counts_as_an_error(told):
    X, candidates, y = told
    y_true = np.where(np.arange(120) < 30, 99, y)
    table = compare_learners(X, candidates, {"good": Told(0)}, y_true=y_true)
    assert table["accuracy"][0] == pytest.approx((X[:, 0] == y_true).mean())
    with pytest.raises(ValueError, match=r"y_true must hold members of the classes: \[0, 1.*Got \['cat'\]"):
        compare_learners(X, candidates, {"good": Told(0)}, y_true=["cat"] + [None] * 119)
    with pytest.raises(ValueError, match=r"y_true must be 120 labels, one for each row. Got 3"):
        compare_learners(X, candidates, {"good": Told(0)}, y_true=[1, 2, 3])


def test_kernel_ridge_is_kept_if_another_learner_is_hardly_better(told):
    X, candidates, _ = told
    X = X.copy()
    X[:, 1] = X[:, 0]
    inside = candidates[np.arange(120), X[:, 1].astype(int)]
    X[np.flatnonzero(inside)[0], 1] = np.flatnonzero(~candidates[np.flatnonzero(inside)[0]])[0]
    table = compare_learners(X, candidates, {"other": Told(0), "kernelridge": Told(1)})
    assert 0 < table["kappa"][0] - table["kappa"][1] < 0.02
    assert chosen(table) == ["kernelridge"]
    assert chosen(compare_learners(X, candidates, {"other": Told(0), "third": Told(1)})) == ["other"]


@pytest.mark.parametrize(("repeats", "names"), [(1, ["kernelridge"]), (9, ["other"])])
def test_kernel_ridge_is_kept_until_a_lead_is_clear(told, repeats, names):
    """The same lead of 4 rows in 120, above 0.02 of kappa, is chance in 120 rows and clear in 1,080."""
    X, candidates, _ = told
    X = X.copy()
    X[:, 1] = X[:, 0]
    inside = np.flatnonzero(candidates[np.arange(120), X[:, 1].astype(int)])[:4]
    X[inside, 1] = candidates[inside].argmin(axis=1)
    X, candidates = np.tile(X, (repeats, 1)), np.tile(candidates, (repeats, 1))
    table = compare_learners(X, candidates, {"other": Told(0), "kernelridge": Told(1)})
    assert table["kappa"][0] - table["kappa"][1] > 0.02
    assert chosen(table) == names


def test_progress_is_reported_before_each_fit(told):
    X, candidates, _ = told
    calls = []
    learners = {"good": Told(0), "fair": Told(1)}
    compare_learners(X, candidates, learners, 3, progress=lambda *call: calls.append(call))
    assert calls == [
        *((done, 6, "good") for done in range(3)),
        *((done, 6, "fair") for done in range(3, 6)),
        (6, 6, "fair"),
    ]


def test_exception_from_progress_ends_the_comparison(told):
    X, candidates, _ = told
    seen = []

    class Cancelled(Exception):  # noqa: N818
        pass

    def progress(done, total, name):
        seen.append(done)
        if done == 4:
            raise Cancelled

    with pytest.raises(Cancelled):
        compare_learners(X, candidates, {"good": Told(0), "fair": Told(1)}, 3, progress=progress)
    assert seen == [0, 1, 2, 3, 4]


def test_progress_inside_a_fit_can_end_the_comparison(told):
    """Errors of the callback are not errors of the learner."""
    X, candidates, _ = told
    calls = []

    def progress(*call):
        calls.append(call)
        if len(calls) == 15:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        compare_learners(X, candidates, {"long": Reporting(Clock())}, 3, progress=progress)
    assert calls == [*[(0, 3, "long")] * 11, *[(1, 3, "long")] * 4], "before each fit, and at its ten steps"


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(trials, "thread_time", clock)
    return clock


def test_learners_over_the_budget_are_left_out(told, clock):
    X, candidates, _ = told
    learners = {"first": Slow(clock, 2), "second": Slow(clock, 5), "third": Slow(clock, 1)}
    calls = []
    table = compare_learners(X, candidates, learners, 3, budget=12, progress=lambda done, *_: calls.append(done))
    assert table["seconds"].tolist() == [6, 10, 0]  # the budget is checked between fits
    assert table["note"].tolist() == ["", *["left out: the time budget of 12 s was used up"] * 2]
    assert table["kappa"].notna().tolist() == [True, False, False]
    assert chosen(table) == ["first"]
    assert calls == [0, 1, 2, 3, 4, 5, 6, 9]
    assert compare_learners(X, candidates, learners, 3)["note"].tolist() == ["", "", ""]


def test_budget_ends_a_fit_that_reports_progress(told, clock):
    X, candidates, _ = told
    table = compare_learners(X, candidates, {"first": Slow(clock, 2), "long": Reporting(clock, 1000)}, 3, budget=106)
    assert table["seconds"].tolist() == [6, 100]
    assert table["note"][1] == "left out: the time budget of 106 s was used up"


def test_settings_over_the_budget_are_left_out(told, clock, monkeypatch):
    X, candidates, y = told
    entry = LEARNER_ENTRIES["clpl"]
    settings = ({"column": 1}, {"column": 0}, {"column": 2})
    entry = type(entry)("slow", Slow(clock, 2), settings)
    monkeypatch.setitem(LEARNER_ENTRIES, "slow", entry)
    [row] = compare_learners(X, candidates, ["slow"], 3, y_true=y, budget=12.0).to_dict("records")
    assert row["parameters"] == {"column": 0}
    assert row["accuracy"] == pytest.approx((X[:, 0] == y).mean())
    assert row["note"] == "with column=2 and on left out: the time budget of 12 s was used up"
    assert row["seconds"] == 12


def test_nothing_is_chosen_if_nothing_could_be_measured(told, clock):
    X, candidates, _ = told
    table = compare_learners(X, candidates, {"one": Slow(clock, 2), "kernelridge": Slow(clock)}, 3, budget=1)
    assert chosen(table) == []
    assert table[["candidate_accuracy", "kappa", "accuracy"]].isna().all(axis=None)


def test_error_message_of_a_learner_is_noted(told):
    X, candidates, _ = told
    learners = {
        "first": Told(0, ValueError("the matrix is no good")),
        "silent": Told(0, MemoryError()),
        "good": Told(1),
    }
    calls = []
    table = compare_learners(X, candidates, learners, 3, progress=lambda done, *_: calls.append(done))
    assert table["note"].tolist() == ["the matrix is no good", "MemoryError", ""]
    assert chosen(table) == ["good"]
    assert calls == [0, 3, 6, 7, 8, 9]


def test_predictions_must_be_columns(told):
    X, candidates, _ = told
    X = X.copy()
    X[:, 2] = 7
    table = compare_learners(X, candidates, {"good": Told(0), "foreign": Told(2)}, 3)
    assert table["note"][1].startswith("predict must give the number of a column of the candidates for each")
    assert chosen(table) == ["good"]


def test_warnings_are_noted_once(told):
    X, candidates, _ = told
    [row] = compare_learners(X, candidates, {"wary": Told(0, warning="little is known")}).to_dict("records")
    assert row["note"] == "warned: little is known"
    assert row["chosen"]


def test_candidate_weights_reach_learners_that_accept_them(told):
    X, candidates, _ = told
    weights = np.where(candidates, np.random.default_rng(0).random(candidates.shape), 0) * 7
    Weighed.seen.clear()
    learners = {
        "plain": Told(0),
        "weighed": Weighed(0),
        "piped": make_pipeline(StandardScaler(with_mean=False, with_std=False), Weighed(0)),
    }
    table = compare_learners(X, candidates, learners, KFold(2), candidate_weights=weights)
    assert (table["note"] == "").all()
    assert len(Weighed.seen) == 4
    for passed, (train, _) in zip(Weighed.seen, [*KFold(2).split(X)] * 2, strict=True):
        expected = weights[train] / weights[train].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(passed, expected)


def test_candidate_weights_reach_only_the_learners_in_weighted(told):
    X, candidates, _ = told
    weights = np.where(candidates, 2.0, 0)
    learners = {"one": Weighed(0), "other": Weighed(0)}
    for weighted, reached in ((None, 4), (["other"], 2), ([], 0)):
        Weighed.seen.clear()
        compare_learners(X, candidates, learners, KFold(2), candidate_weights=weights, weighted=weighted)
        assert [given is not None for given in Weighed.seen] == [False] * (4 - reached) + [True] * reached


def test_wrong_arguments_are_refused(told):
    X, candidates, _ = told
    with pytest.raises(ValueError, match=r"There is no learner 'orchard'; there are plknn, kernelridge"):
        compare_learners(X, candidates, ["plknn", "orchard"])
    with pytest.raises(ValueError, match=r"learners must name at least one learner"):
        compare_learners(X, candidates, [])
    with pytest.raises(ValueError, match=r"cv must be an int of at least 2. Got 1"):
        compare_learners(X, candidates, cv=1)
    with pytest.raises(ValueError, match=r"^4 rows are too few to hold out each once in 5 parts \(folds\)\.$"):
        compare_learners(X[:4], candidates[:4])
    with pytest.raises(ValueError, match=r"hold out each row at most once; more often it does rows 0, 1"):
        compare_learners(X, candidates, cv=RepeatedKFold(n_splits=3))
    for budget in (0, -1, "much", np.nan):
        with pytest.raises(ValueError, match=r"budget must be None or a number of CPU seconds above 0"):
            compare_learners(X, candidates, budget=budget)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare_learners(X[:-1], candidates)
    with pytest.raises(CandidateError, match="candidate_weights must have the shape"):
        compare_learners(X, candidates, candidate_weights=np.ones((3, 3)))
    with pytest.raises(CandidateError, match=r"none in row 4 "):
        compare_learners(X, np.where(np.arange(120)[:, None] == 4, False, candidates))


def test_every_form_of_features_and_candidates_gives_the_same_table(blobs):
    X, candidates, y = blobs
    learners = ["plknn", "clpl"]
    figures = compare_learners(X, candidates, learners, 3, y, 0)["kappa"].tolist()
    for features, sets in (
        (pd.DataFrame(X), candidates),
        (X.tolist(), candidates.astype(int)),
        (X, pd.DataFrame(candidates)),
        (X, sparse.csr_matrix(candidates)),
    ):
        assert compare_learners(features, sets, learners, 3, y, 0)["kappa"].tolist() == figures
    stored = compare_learners(sparse.csr_matrix(X), candidates, ["clpl"], 3, y, 0)
    assert stored["accuracy"][0] > 0.7


# The selection criterion: kappa by hand, ties, and true labels before kappa.


NAN = float("nan")


def test_kappa_matches_values_computed_by_hand():
    # c = 3/4; shares 1/2, 1/4, 1/4; the sets hold 3/4, 3/4, 1/2, 3/4 of them: e = 11/16.
    candidates = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 1]], dtype=bool)
    candidates[3] = [1, 1, 0]
    predicted = np.array([0, 2, 0, 1])
    assert kappa(candidates, predicted) == pytest.approx((1 - 11 / 16) / (1 - 11 / 16))
    wrong = np.array([0, 1, 0, 2])
    shares = np.array([2, 1, 1]) / 4
    expected = np.mean([shares[0] + shares[1], shares[0] + shares[2], shares[0], shares[0] + shares[1]])
    assert kappa(candidates, wrong) == pytest.approx((2 / 4 - expected) / (1 - expected))


def test_kappa_of_exact_labels_is_cohens_kappa():
    """With one candidate a row, e is the product of the two marginals: Cohen (1960)."""
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    y, predicted = rng.integers(4, size=(2, 200))
    predicted = np.where(rng.random(200) < 0.5, y, predicted)
    assert kappa(np.eye(4, dtype=bool)[y], predicted) == pytest.approx(cohen_kappa_score(y, predicted))


def test_error_of_a_lead_in_kappa_is_that_of_drawing_the_rows_again():
    rng = np.random.default_rng(0)
    candidates = some_sets(rng, 400, 4)
    first = np.array([rng.choice(4, p=one) for one in candidates / candidates.sum(axis=1, keepdims=True)])
    second = np.where(rng.random(400) < 0.3, rng.integers(4, size=400), first)
    draws = rng.integers(400, size=(2000, 400))
    leads = [kappa(candidates[rows], first[rows]) - kappa(candidates[rows], second[rows]) for rows in draws]
    assert kappa_lead_error(candidates, first, second) == pytest.approx(np.std(leads), rel=0.1)
    assert kappa_lead_error(candidates, first, first) == 0


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 40))
def test_kappa_is_at_most_one_and_zero_for_constant(seed, m, n):
    rng = np.random.default_rng(seed)
    candidates = some_sets(rng, n, m)
    assert kappa(candidates, rng.integers(m, size=n)) <= 1 + 1e-12
    for k in range(m):
        assert kappa(candidates, np.full(n, k)) == pytest.approx(0, abs=1e-9)


def test_kappa_does_not_reward_the_class_in_every_set():
    """A learner that always predicts the most frequent class is always inside; one that knows a little of the others is
    not."""
    rng = np.random.default_rng(0)
    y = rng.integers(1, 4, size=300)
    candidates = np.eye(4, dtype=bool)[y]
    candidates[:, 0] = True
    knows = np.where(rng.random(300) < 0.8, y, rng.integers(1, 4, size=300))
    always = np.zeros(300, dtype=int)
    inside = [candidates[np.arange(300), predicted].mean() for predicted in (always, knows)]
    assert inside[0] > inside[1]
    assert kappa(candidates, always) == 0
    assert kappa(candidates, knows) > 0.7


def test_highest_kappa_is_chosen_and_ties_go_to_first():
    assert choose([0.1, 0.5, 0.5, 0.4]) == 1
    assert choose([NAN, -0.2, NAN, -0.1]) == 3
    assert choose([NAN, NAN]) is None
    assert choose([]) is None


@pytest.mark.parametrize(("ahead", "best"), [(0.0, 0), (WITHIN, 0), (WITHIN + 1e-6, 1), (0.5, 1)])
def test_negligible_improvement_does_not_switch_the_choice(ahead, best):
    assert choose([0.6, 0.6 + ahead], stay=0) == best
    assert choose([0.6, 0.6 + ahead], stay=1) == 1


@pytest.mark.parametrize(("error", "best"), [(0.0, 1), (0.049, 1), (0.051, 0), (1.0, 0)])
def test_improvement_within_two_standard_errors_does_not_switch_the_choice(error, best):
    assert choose([0.6, 0.7], stay=0, lead_error=lambda _: error) == best
    assert choose([0.6, 0.7], lead_error=lambda _: error) == 1, "nothing to keep"


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6), st.data())
def test_choice_is_the_highest_kappa_or_the_current_one_within_tolerance(kappas, data):
    stay = data.draw(st.none() | st.integers(0, len(kappas) - 1))
    best = choose(kappas, stay=stay)
    near = stay is not None and kappas[stay] >= max(kappas) - WITHIN
    on_the_edge = stay is not None and abs(kappas[stay] - max(kappas) + WITHIN) < 1e-9
    assert best == (stay if near else kappas.index(max(kappas))) or on_the_edge


def test_unmeasured_current_learner_is_replaced():
    assert choose([NAN, 0.1, 0.2], stay=0) == 2


def hits(*counts, n=40):
    """Learners that are right on the first `count` of n rows."""
    return np.array([np.arange(n) < count for count in counts])


def test_accuracy_on_true_labels_decides_before_kappa():
    right = hits(36, 12)
    assert choose([0.3, 0.9], right, stay=1) == 0
    assert choose([0.3, 0.9]) == 1


def test_kappa_decides_if_accuracies_do_not_differ_significantly():
    """Four more rows right than the other: p = 1/8, not significant; six more: p = 1/32."""
    assert binomtest(4, 4).pvalue > 0.05 > binomtest(6, 6).pvalue
    assert choose([0.3, 0.9], hits(34, 30)) == 1
    assert choose([0.3, 0.9], hits(36, 30)) == 0
    assert choose([0.3, 0.31], hits(34, 30), stay=0) == 0


def test_paired_differences_decide_not_totals():
    """Six more hits are significant if the other learner has none of its own, but not if it has ten."""
    rows = np.arange(40)
    first, nested, crossed = rows < 10, rows < 16, (rows >= 10) & (rows < 26)
    assert nested.sum() == crossed.sum()
    assert binomtest(16, 26).pvalue > 0.05
    assert choose([0.9, 0.3], np.array([first, nested])) == 1
    assert choose([0.9, 0.3], np.array([first, crossed])) == 0


def test_kappa_decides_without_true_labels():
    assert choose([0.3, 0.9], np.zeros((2, 0), dtype=bool)) == 1


def test_most_accurate_must_have_been_measured():
    assert choose([NAN, 0.1, 0.2], hits(40, 30, 29)) == 2


def test_ties_in_accuracy_are_compared_with_the_highest_kappa():
    """The reference of the test must itself be eligible by its kappa."""
    assert choose([0.1, 0.7, 0.2], hits(30, 30, 30)) == 1
