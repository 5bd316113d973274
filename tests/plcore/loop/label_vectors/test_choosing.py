"""The choice of the predicting model and its threshold: by brute force, on synthetic cells, and in the loop."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from plcore.loop.label_vectors import PredictorComparison
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.estimates import (
    FEWEST_YES,
    HIDDEN,
    HiddenTrial,
    base_rates,
    calibrate,
    control_estimate,
    held_out,
    hide,
)
from plcore.loop.label_vectors.model import TRIALS, LabelVectorModel, choose, compare
from plcore.loop.label_vectors.reports import LabelVectorPoint
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.sensing.metrics import f1_scores
from plcore.sensing.one_vs_all import OneVsAllSVC
from tests.plcore.loop.fake_vectors import FakeVectors, rebuilt, vectors
from tests.plcore.loop.label_vectors.test_learner import answers, assert_same_state, lived, ready

MODELS = ["automatic", "bmlcs", "onevsall"]


def cells_and_truth(n=300, L=4, seed=0):
    """A sixth of the cells yes, two thirds of them known."""
    random = np.random.default_rng(seed)
    truth = (random.random((n, L)) < 1 / 6).astype(np.int8)
    return np.where(random.random((n, L)) < 2 / 3, truth, -1).astype(np.int8), truth, random


def trials_of(cells, truth, noise, random):
    """Trials of a model whose values are the truth plus noise."""
    return [
        HiddenTrial(hide(cells, 0, trial), truth + noise * random.normal(size=truth.shape)) for trial in range(TRIALS)
    ]


class TestThreshold:
    @pytest.mark.parametrize("times", [1, 3])
    def test_no_other_threshold_on_hidden_cells_has_higher_f1(self, times):
        cells, truth, random = cells_and_truth()
        trials = trials_of(cells, truth, 0.7, random)[:times]
        found = calibrate(cells, trials[0].values, trials)
        shares, yes = [], []
        for trial in trials:
            blank = ~(trial.shown != -1).any(axis=1)
            for group, scaling in ((blank, found.blank), (~blank, found.partial)):
                unshown = (trial.shown == -1) & group[:, None]
                values = trial.values[unshown]
                at = unshown & (cells != -1)
                told = (trial.values - values.mean()) / values.std()
                score = base_rates(trial.shown) + scaling.shift + scaling.slope * told
                shares.append(expit(score[at]))
                yes.append(cells[at] == 1)
        p, right = np.concatenate(shares), np.concatenate(yes)

        def f1(cut):
            return 2 * (right & (p > cut)).sum() / (right.sum() + (p > cut).sum())

        assert f1(found.threshold) == pytest.approx(max(f1(cut) for cut in (0.0, *p)))
        assert 0.1 < found.threshold < 0.5  # most cells are no
        assert f1(found.threshold) > f1(0.5)

    def test_threshold_is_one_half_while_few_yes_are_known(self):
        cells, truth, random = cells_and_truth()
        shown = cells.copy()
        shown[:100] = -1
        values = truth + random.normal(size=truth.shape)
        for kept in (FEWEST_YES - 1, FEWEST_YES):
            few = cells.copy()
            places = np.argwhere(few[:100] == 1)[kept:]
            few[places[:, 0], places[:, 1]] = 0
            threshold = calibrate(few, values, [HiddenTrial(shown, values)]).threshold
            assert (threshold == 0.5) is (kept < FEWEST_YES)
        assert calibrate(cells, values, []).threshold == 0.5

    def test_threshold_is_below_everything_if_all_cells_are_yes(self):
        random = np.random.default_rng(0)
        cells = np.ones((60, 3), dtype=np.int8)
        values = random.normal(size=cells.shape)
        found = calibrate(cells, values, [HiddenTrial(hide(cells, 0), values)])
        assert found.threshold == 0.0
        assert (found.proba(values, np.ones(60, dtype=bool)) > found.threshold).all()

    def test_held_out_figures_use_the_threshold_of_predictions(self):
        truth = np.array([[1, 0, 0], [0, 1, 1]], dtype=np.int8)
        proba = np.array([[0.4, 0.35, 0.1], [0.2, 0.31, 0.3]])
        for threshold in (0.3, 0.33, 0.5):
            expected = f1_scores(truth, (proba > threshold).astype(int))
            found = held_out(truth, proba, threshold)
            assert (found.macro_f1.value, found.micro_f1.value) == pytest.approx(expected)
        random = np.random.default_rng(0)
        rows = np.arange(30)
        sample = _sample(rows, random.integers(0, 2, 30))
        shares = random.random(30)
        for threshold in (0.2, 0.5):
            found = control_estimate(sample, shares, by_row=False, threshold=threshold)
            said = shares > threshold
            assert found.said_yes == said.sum()
            assert found.accuracy.value == pytest.approx((said == (sample.values == 1)).mean())


def _sample(rows, values):
    return ControlSample(rows, np.zeros(len(rows), dtype=int), values.astype(np.int8))


class TestComparison:
    def test_trials_hide_different_cells(self):
        cells = np.zeros((400, 5), dtype=np.int8)
        parts = [hide(cells, 3, trial) for trial in range(TRIALS)]
        np.testing.assert_array_equal(parts[0], hide(cells, 3))
        for trial, shown in enumerate(parts):
            assert (shown == -1).mean() == pytest.approx(1 - (1 - HIDDEN) ** 2, abs=0.04)
            assert all((shown != other).any() for other in parts[:trial])

    @pytest.mark.parametrize(("noise", "expected"), [((0.9, 0.3), "onevsall"), ((0.3, 0.9), "bmlcs")])
    def test_better_model_is_chosen(self, noise, expected):
        cells, truth, random = cells_and_truth()
        first, second = (trials_of(cells, truth, one, random) for one in noise)
        found = compare(cells, first, second)
        assert choose(found) == expected
        assert abs(found.lead) > 3 * found.error > 0
        back = compare(cells, second, first)
        assert (back.bmlcs, back.onevsall) == (found.onevsall, found.bmlcs)
        assert back.error == pytest.approx(found.error)
        hidden = [(cells != -1) & (trial.shown == -1) for trial in first]
        assert found.cells == sum(int(at.sum()) for at in hidden)
        assert found.yes == sum(int((cells[at] == 1).sum()) for at in hidden)

    def test_equally_good_models_keep_bml_cs(self):
        cells, truth, random = cells_and_truth()
        trials = trials_of(cells, truth, 0.5, random)
        found = compare(cells, trials, trials)
        assert found.lead == found.error == 0
        assert choose(found) == choose(None) == "bmlcs"
        one = PredictorComparison(100, 20, bmlcs=0.5, onevsall=0.56, error=0.07)
        assert choose(one) == "bmlcs"  # within one standard error
        assert choose(PredictorComparison(100, 20, bmlcs=0.5, onevsall=0.58, error=0.07)) == "onevsall"

    def test_standard_error_is_a_jackknife_over_rows(self):
        """Each row left out of the figures in turn, its cells of all trials together."""
        cells, truth, random = cells_and_truth(n=40)
        models = [trials_of(cells, truth, noise, random) for noise in (0.5, 0.8)]
        found = compare(cells, *models)
        said, hidden = [[], []], []
        for k in range(TRIALS):
            shown = models[0][k].shown
            hidden.append((cells != -1) & (shown == -1))
            for which, trials in enumerate(models):
                others = [trials[j] for j in range(TRIALS) if j != k]
                model = calibrate(shown, trials[k].values, others)
                proba = model.proba(trials[k].values, (shown != -1).any(axis=1))
                said[which].append(proba > model.threshold)

        def f1(which, kept):
            yes = [np.where(at, cells, -1)[kept] for at in hidden]
            return f1_scores(np.vstack(yes), np.vstack([one[kept] for one in said[which]]).astype(int))[1]

        rows = np.arange(40)
        assert (found.bmlcs, found.onevsall) == pytest.approx((f1(0, rows), f1(1, rows)))
        counted = np.flatnonzero(np.any([at.any(axis=1) for at in hidden], axis=0))
        lost = np.array([f1(1, rows != row) - f1(0, rows != row) for row in counted])
        n = len(counted)
        assert found.error == pytest.approx(np.sqrt((n - 1) / n * ((lost - lost.mean()) ** 2).sum()))

    def test_comparison_without_data_is_none(self):
        cells, truth, random = cells_and_truth()
        none = np.where(cells == 1, 0, cells).astype(np.int8)
        trials = trials_of(none, truth, 0.5, random)
        assert compare(none, trials, trials) is None  # no yes among them
        assert compare(cells, [], []) is None
        one_row = np.ones((1, 40), dtype=np.int8)
        alone = [HiddenTrial(np.where(np.arange(40) < 20, one_row, -1), np.zeros((1, 40)))]
        assert compare(one_row, alone, alone) is None


class TestModel:
    def test_questions_do_not_depend_on_the_predicting_model(self):
        table, _ = vectors(n=60, L=5)
        made = {name: ready(table, LabelVectorSettings(model=name)) for name in MODELS}
        scores = [learner._model.scores for learner in made.values()]
        np.testing.assert_array_equal(scores[0], scores[1])
        np.testing.assert_array_equal(scores[0], scores[2])
        assert made["bmlcs"]._model.predictor == "bmlcs"
        assert made["onevsall"]._model.predictor == "onevsall"
        assert made["bmlcs"]._model.comparison is made["onevsall"]._model.comparison is None
        chosen = made["automatic"]._model
        assert chosen.comparison is not None
        assert chosen.predictor == choose(chosen.comparison)

    def test_svms_predict_by_their_distances(self):
        table, _ = vectors(n=120, L=4, full=0.0, known=0.5)
        learner = ready(table, LabelVectorSettings(model="onevsall"))
        X, cells = learner._X, learner.pool.learnt_cells()
        distances = OneVsAllSVC(threshold=0.5).fit(X, cells).decision_function(X)
        proba = learner._model.proba()
        some = (cells != -1).any(axis=1)
        for label in range(4):
            order = np.argsort(distances[some, label])
            assert (np.diff(proba[some][order, label]) >= 0).all()
        assert learner._model.threshold != 0.5

    def test_one_vs_all_is_chosen_if_it_is_better(self):
        """Ten labels squeezed into two numbers are lost; an SVM for each keeps them."""
        table, truth = vectors(n=150, L=10, known=0.4, full=0.2, seed=3)
        learner = ready(table, LabelVectorSettings(n_components=2))
        now = learner.progress()
        assert now.predictor == "onevsall"
        assert now.comparison.lead > now.comparison.error > 0
        assert (now.threshold, now.comparison) == (learner.curve[0].threshold, learner.curve[0].comparison)
        export = learner.export_cells()
        asked = export.sources == "model"
        np.testing.assert_array_equal(export.predicted[asked], export.probabilities[asked] > now.threshold)
        assert (export.predicted[~asked] == -1).all()
        bml = ready(table, LabelVectorSettings(n_components=2, model="bmlcs")).export_cells()
        ours, others = (f1_scores(np.where(asked, truth, -1), np.maximum(one.predicted, 0))[1] for one in (export, bml))
        assert ours > others + 0.05

    @pytest.mark.parametrize("model", MODELS)
    def test_shown_predictions_are_the_measured_ones(self, model):
        table, truth = vectors(n=90, L=5, full=0.5)
        learner = ready(table, LabelVectorSettings(model=model, question="instance"))
        shares, cut = learner._model.proba(), learner._model.threshold
        tested = learner.test_rows
        expected = f1_scores(truth[tested], (shares[tested] > cut).astype(int))[1]
        assert learner.progress().held_out.micro_f1.value == pytest.approx(expected)
        asked = learner.next_question("ann")
        said = [
            name
            for name, share, cell in zip(asked.labels, shares[asked.row], asked.cells, strict=True)
            if cell == -1 and share > cut
        ]
        assert json.loads(asked.predicted) == said
        label = next(name for name, cell in zip(asked.labels, asked.cells, strict=True) if cell == -1)
        single = learner.question_for(asked.row, label)
        assert single.predicted == ("yes" if label in said else "no")

    @pytest.mark.parametrize("model", ["automatic", "onevsall"])
    def test_live_learner_equals_rebuilt_one(self, model):
        options = LabelVectorSettings(model=model, control_share=0.2, refresh_every=4, n_components=2)
        table, truth = vectors(n=30, L=6, known=0.5, seed=5)
        live, log = lived(options, 5, 14, (table, truth))
        if (job := live.job()) is not None:
            live.adopt(job.run())
        again = rebuilt(table, options, log)
        assert_same_state(live, again)
        assert again._model.predictor == live._model.predictor

    def test_svms_are_kept_between_fits(self):
        table, truth = vectors(n=60, L=5, full=0.3)
        learner = ready(table, LabelVectorSettings(model="onevsall", refresh_every=50))
        before = learner._model.proba()
        asked = learner.next_question("ann")
        learner.apply(answers(asked, truth, 1)[0])
        others = np.arange(60) != asked.row
        np.testing.assert_array_equal(learner._model.proba()[others], before[others])

    @pytest.mark.parametrize("model", MODELS)
    def test_tables_with_few_known_cells_are_accepted(self, model):
        X = np.random.default_rng(0).normal(size=(12, 3))
        nothing = np.full((12, 3), -1, dtype=np.int8)
        one = nothing.copy()
        one[0, 0] = 1
        for cells in (nothing, one):
            learned = LabelVectorModel(X, cells, LabelVectorSettings(model=model))
            assert learned.predictor == ("onevsall" if model == "onevsall" else "bmlcs")
            assert (learned.comparison, learned.threshold) == (None, 0.5)
            assert np.isfinite(learned.proba()).all()


def test_curve_points_store_the_choice_and_older_points_are_read():
    table, _ = vectors(n=150, L=10, known=0.4, full=0.2, seed=3)
    point = ready(FakeVectors(table.X, table.label_vectors), LabelVectorSettings(n_components=2)).curve[0]
    stored = json.loads(json.dumps(point.to_json()))
    assert LabelVectorPoint.from_json(stored) == point
    assert isinstance(LabelVectorPoint.from_json(stored).comparison, PredictorComparison)
    for name in ("predictor", "comparison", "threshold"):
        del stored[name]
    old = LabelVectorPoint.from_json(stored)
    assert (old.predictor, old.comparison, old.threshold) == ("bmlcs", None, 0.5)
    assert old.held_out == point.held_out
