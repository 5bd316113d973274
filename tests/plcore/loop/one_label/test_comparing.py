"""Comparing models on a pool: the rows, the truth, and that no answer to a blind check is learnt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from plcore import PLKNeighborsClassifier
from plcore.evaluation import compare_learners
from plcore.loop.comparison import FEWEST_ROWS, TooFewRowsError
from plcore.loop.entries import Entry
from plcore.loop.one_label import comparing
from plcore.loop.one_label.comparing import FEWEST_CHECKS, Comparer, compared_rows
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.settings import AUTOMATIC, LearnerSettings
from plcore.loop.registry import MODEL_ENTRIES
from tests.plcore.loop.fake_table import blobs


def checked_pool(n_checks: int, **settings):
    """A pool in which this many ambiguous blind checks are answered by the truth, the log, and the truth."""
    table, y = blobs(n=120, truth="none")
    pool = OneLabelPool(table, LearnerSettings(control_share=0.3, **settings))
    rows = [int(row) for row in pool.control_left()][:n_checks]
    for seq, row in enumerate(rows, 1):
        pool.apply(Entry(seq, "is", row, "ann", (table.classes[y[row]],)))
    return pool, rows, y


def test_training_rows_except_bad_items_are_held_out_in_turn():
    table, y = blobs(n=90, truth="all")
    pool = OneLabelPool(table, LearnerSettings())
    bad, answered = (int(row) for row in pool.train[pool.candidates[pool.train].sum(axis=1) >= 2][:2])
    pool.apply(Entry(1, "bad", bad, "ann"))
    pool.apply(Entry(2, "is", answered, "ann", (table.classes[y[answered]],)))
    rows, candidates, truth = compared_rows(pool)
    assert set(rows) == set(pool.train) - {bad}
    assert not pool.test_rows[rows].any(), "what measures the curve does not choose"
    np.testing.assert_array_equal(candidates, pool.candidates[rows])
    assert candidates[list(rows).index(answered)].sum() == 1, "answers of training rows are learnt"
    assert (truth == -1).all(), "hidden truth stays hidden"


def test_answers_to_blind_checks_measure_and_are_never_learned():
    pool, checked, y = checked_pool(FEWEST_CHECKS)
    rows, candidates, truth = compared_rows(pool)
    known = truth >= 0
    assert set(rows[known]) == set(checked)
    np.testing.assert_array_equal(truth[known], y[rows[known]])
    np.testing.assert_array_equal(candidates[known], pool.original[rows[known]])
    assert (candidates[known].sum(axis=1) >= 2).all(), "their candidates are those of the file"
    assert (truth[~known] == -1).all()
    assert set(rows[~known]) == set(pool.train)


def test_few_blind_checks_measure_nothing():
    pool, _, _ = checked_pool(FEWEST_CHECKS - 1)
    rows, _, truth = compared_rows(pool)
    assert set(rows) == set(pool.train)
    assert (truth == -1).all()


def test_withdrawn_or_bad_check_does_not_count():
    pool, checked, _ = checked_pool(FEWEST_CHECKS + 1)
    pool.apply(Entry(pool.seq + 1, "withdraw", checked[0], "ann", target=1))
    rows, _, truth = compared_rows(pool)
    assert set(rows[truth >= 0]) == set(checked[1:])
    pool.apply(Entry(pool.seq + 1, "bad", checked[1], "ann"))
    assert (compared_rows(pool)[2] == -1).all()


def asked_for(monkeypatch, lines):
    """Arguments of `Comparer` for `compare_learners`, which returns these lines."""
    asked = {}

    def compare_learners(X, candidates, learners=None, **more):
        asked.update(X=X, candidates=candidates, learners=learners, **more)
        return pd.DataFrame(lines)

    monkeypatch.setattr(comparing, "compare_learners", compare_learners)
    return asked


LINE = {
    "learner": "plsvc",
    "parameters": {"C": 10},
    "candidate_accuracy": 0.8,
    "kappa": 0.7,
    "accuracy": np.nan,
    "seconds": np.float64(1.5),
    "chosen": np.True_,
    "note": "",
}


def test_pl_knn_is_compared_with_the_settings_of_the_project(compare_only):
    compare_only("plknn")

    def kappa_of(**settings):
        pool, _, _ = checked_pool(FEWEST_CHECKS, **settings)
        return next(one.kappa for one in Comparer(pool).compare().figures if one.model == "plknn")

    pool, _, _ = checked_pool(FEWEST_CHECKS, n_neighbors=2, weights="uniform")
    rows, candidates, _ = compared_rows(pool)
    own = PLKNeighborsClassifier(n_neighbors=2, weights="uniform", scaling=None)
    (wanted,) = compare_learners(
        comparing.plain_features(pool, None)[0][rows], candidates, {"own": own}, random_state=0
    )["kappa"]
    assert kappa_of(n_neighbors=2, weights="uniform") == wanted != kappa_of()


def test_figures_are_plain_values_with_project_setting_names(monkeypatch):
    lines = [
        LINE,
        LINE | {"learner": "m3pl", "parameters": {"C_max": 0.1}, "chosen": False, "accuracy": 0.9},
        LINE | {"learner": "plknn", "parameters": {}, "kappa": np.nan, "chosen": False, "note": "left out"},
    ]
    asked = asked_for(monkeypatch, lines)
    pool, checked, _ = checked_pool(FEWEST_CHECKS, seed=5)
    found = Comparer(pool).compare(budget=9.0)
    svm, m3pl, knn = found.figures
    assert (svm.model, svm.C, svm.consistency, svm.kappa, svm.accuracy) == ("plsvc", 10.0, 0.8, 0.7, None)
    assert (m3pl.C, m3pl.accuracy) == (0.1, 0.9)
    assert (knn.C, knn.kappa, knn.note) == (None, None, "left out")
    assert (found.best, found.checks, found.rows) == ("plsvc", len(checked), len(pool.train) + len(checked))
    assert (asked["random_state"], asked["budget"]) == (5, 9.0)
    assert set(asked["learners"]) <= set(MODEL_ENTRIES)
    assert {"plknn", "kernelridge"} <= set(asked["learners"])
    assert np.isnan(asked["y_true"]).sum() == len(pool.train)


def test_table_without_project_is_measured_by_its_true_labels(monkeypatch):
    asked = asked_for(monkeypatch, [LINE])
    table, y = blobs(n=40, truth="all")
    found = Comparer(OneLabelPool(table, LearnerSettings(test_share=0.0)), by_truth=True).compare()
    np.testing.assert_array_equal(asked["y_true"], y)
    assert found.checks == 40
    asked = asked_for(monkeypatch, [LINE])
    Comparer(OneLabelPool(blobs(n=40, truth="none")[0], LearnerSettings(test_share=0.0)), by_truth=True).compare()
    assert asked["y_true"] is None


def test_candidate_weights_reach_only_models_that_use_them(monkeypatch):
    asked = asked_for(monkeypatch, [LINE])
    pool, checked, _ = checked_pool(FEWEST_CHECKS)
    Comparer(pool).compare()
    assert asked["candidate_weights"] is None
    pool.table.candidate_weights = pool.original * np.random.default_rng(0).integers(1, 5, pool.original.shape)
    Comparer(pool).compare()
    rows, candidates, _ = compared_rows(pool)
    assert set(checked) <= set(rows)
    inside = np.where(candidates, asked["candidate_weights"], 0)
    np.testing.assert_array_equal(inside, np.where(candidates, pool.table.candidate_weights[rows], 0))
    assert "kernelridge" in asked["weighted"]
    assert "plknn" not in asked["weighted"], "measured as it will answer"


def test_comparison_of_too_few_rows_is_refused_without_a_fit() -> None:
    fits: list[tuple[int, int, str]] = []

    def told(done: int, total: int, model: str) -> None:
        fits.append((done, total, model))

    with pytest.raises(TooFewRowsError, match=f"Rows to learn from: {FEWEST_ROWS - 1}.*takes at least {FEWEST_ROWS}"):
        Comparer(OneLabelPool(blobs(n=FEWEST_ROWS - 1)[0], LearnerSettings(test_share=0.0))).compare(told)
    assert fits == []


def test_no_model_is_chosen_without_measurements(monkeypatch):
    asked_for(monkeypatch, [LINE | {"chosen": False, "kappa": np.nan, "candidate_accuracy": np.nan}])
    found = Comparer(OneLabelPool(blobs(n=40)[0], LearnerSettings())).compare()
    assert (found.best, found.checks) == (None, 0)


def test_models_are_really_fitted_and_progress_can_end_the_comparison():
    told = []

    def tell(done, total, model):
        told.append((done, total, model))
        if model != "plknn":
            raise InterruptedError

    comparer = Comparer(OneLabelPool(blobs(n=60)[0], LearnerSettings()))
    with pytest.raises(InterruptedError):
        comparer.compare(tell)
    assert told[0][0] == 0
    assert told[0][2] == "plknn"
    only_the_first = comparer.compare(budget=1e-9)
    assert only_the_first.best is None
    assert all("budget" in one.note for one in only_the_first.figures)


def test_automatic_uses_the_adopted_model():
    settings = LearnerSettings(model=AUTOMATIC)
    assert (settings.model_in_force, settings.is_automatic, settings.is_trained) == ("plknn", True, False)
    adopted = settings.adopting("clpl", 10.0)
    assert (adopted.model_in_force, adopted.is_trained, adopted.C) == ("clpl", True, 10.0)
    pinned = LearnerSettings(model="clpl", C=10.0)
    assert adopted.model_key == pinned.model_key, "its versions are those of the model itself"
    assert pinned.adopting("plsvc") == LearnerSettings(model=AUTOMATIC, adopted="plsvc")
    assert LearnerSettings.from_json(adopted.to_json()) == adopted
    assert LearnerSettings.from_json({"n_neighbors": 3}).model == "plknn", "as it was stored before"
    for wrong in ({"model": "best"}, {"adopted": AUTOMATIC}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            LearnerSettings(**wrong)


def test_replay_ignores_model_changes_in_the_log():
    """Replay is live: the same questions after it, with it in the log or at its place in time."""
    table, y = blobs(n=60)
    live, again = ActiveLearner(table), ActiveLearner(table)
    for learner in (live, again):
        for _ in range(6):
            seq = learner.seq + 1
            if seq == 3:
                learner.pool.pass_over(seq)
                continue
            question = learner.next_question("ann")
            learner.apply(Entry(seq, "is", question.row, "ann", (learner.classes[y[question.row]],)))
    assert live.seq == again.seq == 6
    assert live.pool.answers == 5
    assert live.next_question("ann") == again.next_question("ann")
    with pytest.raises(ValueError, match="too late"):
        live.apply(Entry(6, "skip", 0, "ann"))
