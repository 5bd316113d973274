"""Control figures by hand and by coverage, calibration by what it promises, the export by reading it back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from plcore import Entry
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.estimates import (
    HiddenTrial,
    base_rates,
    calibrate,
    control_estimate,
    entropy_of,
    held_out,
    hide,
    label_f1,
    macro_f1,
    share_of,
    wilson,
)
from plcore.loop.label_vectors.export import SOURCES, LabelVectorExport
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.multilabel import ControlEstimate, Share
from plcore.sensing.metrics import f1_scores
from tests.plcore.loop.fake_vectors import FakeVectors, vectors


def sample(rows, values):
    rows = np.asarray(rows)
    return ControlSample(rows, np.arange(len(rows)), np.asarray(values, dtype=np.int8))


def test_control_figures_match_values_computed_by_hand():
    yes = [1, 1, 1, 0, 0, 0, 0, 0]
    said = np.array([1, 1, 0, 1, 0, 0, 0, 0], dtype=bool)
    found = control_estimate(sample(range(8), yes), np.where(said, 0.9, 0.1), by_row=False)
    assert found.at == ()
    assert (found.cells, found.yes, found.said_yes) == (8, 3, 3)
    assert found.accuracy.value == 6 / 8
    assert found.precision.value == 2 / 3
    assert found.recall.value == 2 / 3
    assert found.f1.value == pytest.approx(2 / 3)  # 2 J / (1 + J) with J = 2 / 4
    assert (found.precision.low, found.precision.high) == wilson(2 / 3, 3)
    low, high = wilson(1 / 2, 4)
    assert (found.f1.low, found.f1.high) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    # Wilson (1927) for 7 of 10: Newcombe, Statistics in Medicine 17 (1998), 0.3968 to 0.8922
    assert wilson(0.7, 10) == pytest.approx((0.3968, 0.8922), abs=1e-4)


def test_precision_at_k_matches_values_computed_by_hand():
    rows, values = [5, 5, 5, 2, 2, 2], [1, 0, 1, 0, 1, 0]
    proba = np.array([0.2, 0.6, 0.7, 0.5, 0.5, 0.1])
    found = control_estimate(sample(rows, values), proba, by_row=True)
    assert {t: share.value for t, share in found.at} == {1: 1 / 2, 3: 3 / 6}  # ties to the first: a no in row 2


def test_figures_without_data_are_empty():
    assert control_estimate(sample([], []), np.zeros(0), by_row=True) == ControlEstimate()
    assert control_estimate(sample([0, 1], [1, 0]), None, by_row=True) == ControlEstimate(cells=2, yes=1)
    found = control_estimate(sample([0, 1], [0, 0]), np.zeros(2), by_row=False)
    assert found.precision is found.recall is found.f1 is None
    assert found.accuracy.value == 1
    assert found.accuracy.low < 0.5  # two right answers prove little
    assert held_out(np.zeros((0, 3), dtype=np.int8), np.zeros((0, 3))) is None
    assert entropy_of(np.array([0.5, 0.5, 1.0])) == pytest.approx(2)


def test_correlated_cells_of_a_row_widen_the_interval():
    whole = np.ones(40, dtype=bool)
    part = np.repeat(np.arange(10) < 7, 4)
    alike = share_of(part, whole, np.repeat(np.arange(10), 4))
    apart = share_of(part, whole, np.arange(40))
    assert alike.value == apart.value == 0.7
    assert alike.high - alike.low > 1.6 * (apart.high - apart.low)
    few = share_of(np.ones(40, dtype=bool), whole, np.repeat([0, 1], 20))
    assert (few.low, few.high) == wilson(1.0, 2)


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_cover_the_population_value(clustered):
    """For many samples drawn as controls are, about 95% of the intervals hold the figure of the population."""
    random = np.random.default_rng(0)
    n, L = 3000, 8
    rate = expit(random.normal(-1, 1.2, size=(n, 1)) + random.normal(0, 0.7, size=(n, L)))
    truth, proba = random.random((n, L)) < rate, np.clip(rate + random.normal(0, 0.2, size=(n, L)), 0, 1)
    said = proba > 0.5
    hits = (truth & said).sum()
    real = {
        "accuracy": (truth == said).mean(),
        "precision": hits / said.sum(),
        "recall": hits / truth.sum(),
        "f1": 2 * hits / (truth.sum() + said.sum()),
    }
    if clustered:
        best = np.argsort(-proba, axis=1, kind="stable")
        for t in (1, 3, 5):
            real[t] = np.take_along_axis(truth, best[:, :t], axis=1).mean()
    covered = dict.fromkeys(real, 0)
    for _ in range(400):
        if clustered:
            rows = np.repeat(random.permutation(n)[:40], L)
            columns = np.tile(np.arange(L), 40)
        else:
            rows, columns = np.divmod(random.permutation(n * L)[:150], L)
        found = control_estimate(
            ControlSample(rows, columns, truth[rows, columns].astype(np.int8)), proba[rows, columns], by_row=clustered
        )
        for name, value in real.items():
            share = dict(found.at)[name] if isinstance(name, int) else getattr(found, name)
            covered[name] += share.low <= value <= share.high
    assert all(0.92 <= count / 400 <= 0.99 for count in covered.values()), covered


def test_held_out_figures_match_values_computed_by_hand():
    truth = np.array([[1, 0, 0], [0, 1, 1]], dtype=np.int8)
    proba = np.array([[0.9, 0.6, 0.1], [0.2, 0.3, 0.8]])
    found = held_out(truth, proba)
    assert found.rows == 2
    precision = dict(found.precision)
    assert {t: share.value for t, share in precision.items()} == {1: 1.0, 3: 0.5}  # none at 5 of three labels
    assert (precision[1].low, precision[1].high) == wilson(1.0, 2)
    assert found.micro_f1.value == pytest.approx(4 / 6)
    assert found.macro_f1.value == pytest.approx((1 + 0 + 1) / 3)
    nothing = held_out(np.zeros((9, 3), dtype=np.int8), np.zeros((9, 3)))
    assert nothing.micro_f1 == nothing.macro_f1 == Share(0.0, 0.0, 1.0)
    wrong = held_out(np.ones((9, 3), dtype=np.int8), np.zeros((9, 3)))
    assert (wrong.macro_f1.value, wrong.macro_f1.high) == (0.0, wilson(0.0, 9)[1])


def test_f1_of_each_label_matches_values_computed_by_hand():
    """The first label is found in 1 of 3 cells that are yes or predicted, the second in both, the third has none."""
    yes = np.array([1, 1, 0, 0, 1, 1, 0], dtype=bool)
    said = np.array([1, 0, 1, 0, 1, 1, 0], dtype=bool)
    cells, f1, low, high = label_f1(yes, said, np.array([0, 0, 0, 0, 1, 1, 2]), 3)
    assert cells.tolist() == [3, 2, 0]
    assert f1 == pytest.approx([2 / 4, 1, 0])
    least, most = wilson(1 / 3, 3)
    assert (low[0], high[0]) == pytest.approx((2 * least / (1 + least), 2 * most / (1 + most)))
    assert (low[2], high[2]) == (0, 1)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 6), st.floats(0, 1), st.floats(0, 1))
def test_macro_f1_matches_leaving_rows_out(seed, n, L, rate, share):
    """Value as `f1_scores`, interval by as many macro F1 as there are rows, each computed without one."""
    random = np.random.default_rng(seed)
    yes, said = random.random((n, L)) < rate, random.random((n, L)) < share
    found = macro_f1(yes, said)
    value = f1_scores(yes.astype(np.int8), said.astype(float))[0]
    assert found.value == pytest.approx(value)
    if not 0 < value < 1:
        return
    kept = [np.arange(n) != row for row in range(n)]
    without = np.array([f1_scores(yes[rows].astype(np.int8), said[rows].astype(float))[0] for rows in kept])
    variance = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    either = (yes | said).sum()
    size = min(value * (1 - value) / variance, either) if variance > 1e-20 else (yes | said).any(axis=1).sum()
    assert (found.low, found.high) == pytest.approx(wilson(value, size))


@pytest.mark.parametrize(("n", "L", "rarity"), [(60, 6, -1.0), (200, 40, -4.0)])
def test_intervals_of_held_out_rows_cover(n, L, rarity):
    """For many samples of rows about 95% of the intervals hold the figure of the population; labels of a row are
    alike, and in the second case one label in five has at most five yes in a sample."""
    random = np.random.default_rng(1)
    N = 30_000
    score = rarity + random.normal(size=L) + 0.7 * random.normal(size=(N, 1)) + 1.5 * random.normal(size=(N, L))
    truth = (random.random((N, L)) < expit(score)).astype(np.int8)
    proba = expit(score + random.normal(size=(N, L)))

    def figures(found):
        return {**dict(found.precision), "micro": found.micro_f1, "macro": found.macro_f1}

    real = {name: share.value for name, share in figures(held_out(truth, proba)).items()}
    covered = dict.fromkeys(real, 0)
    for _ in range(400):
        rows = random.integers(N, size=n)
        for name, share in figures(held_out(truth[rows], proba[rows])).items():
            covered[name] += share.low <= real[name] <= share.high
    assert set(real) == {1, 3, 5, "micro", "macro"}
    assert all(0.92 <= count / 400 <= 0.99 for count in covered.values()), covered


def test_calibration_without_cells_falls_back_to_base_rates():
    cells = np.full((3, 2), -1, dtype=np.int8)
    rows = np.array([False, True, True])
    mean = np.random.default_rng(0).random((3, 2))
    np.testing.assert_allclose(calibrate(cells, mean, [HiddenTrial(cells, mean)]).proba(mean, rows), 0.5)
    cells[:, 0], cells[0, 1] = 1, 0
    rates = [(3 + 4 * 4 / 6) / 7, (4 * 4 / 6) / 5]
    np.testing.assert_allclose(expit(base_rates(cells)), rates)
    np.testing.assert_allclose(calibrate(cells, mean, [HiddenTrial(cells, mean)]).proba(mean, rows), [rates] * 3)


def test_hiding_removes_only_known_cells():
    cells = np.random.default_rng(0).integers(-1, 2, size=(500, 6)).astype(np.int8)
    shown = hide(cells, 0)
    assert ((shown == cells) | (shown == -1)).all()
    blank = (cells != -1).any(axis=1) & ~(shown != -1).any(axis=1)
    assert 0.19 < blank.mean() < 0.25
    gone = (shown != cells)[~blank]
    assert 0.15 < gone.sum() / (cells[~blank] != -1).sum() < 0.25
    np.testing.assert_array_equal(hide(cells, 0), shown)
    assert (hide(cells, 1) != shown).any()


@given(st.integers(0, 10**6), st.floats(-2, 2), st.floats(0, 3), st.booleans())
def test_calibration_is_reliable_and_monotone(seed, shift, slope, partial):
    """The probabilities are right on average, rise with the mean, and are better than the base rates."""
    random = np.random.default_rng(seed)
    n, L = 12_000, 3
    mean = random.normal(0.1, 0.02, size=(n, L))
    truth = random.random((n, L)) < expit(np.array([-1.0, 0.0, 1.0]) + shift + slope * (mean - 0.1) / 0.02)
    cells = np.where(np.arange(n)[:, None] < n // 2, truth, -1).astype(np.int8)
    shown = cells.copy()
    shown[: n // 4] = -1
    if partial:
        cells[:, 0] = shown[:, 0] = truth[:, 0]
    # The means of the second model are lower and less spread out.
    p = calibrate(cells, mean, [HiddenTrial(shown, 0.5 * mean - 0.3)]).proba(mean, np.full(n, partial))
    new = cells == -1
    assert abs(p[new].mean() - truth[new].mean()) < 0.06
    order = np.argsort(mean[:, 1])
    assert (np.diff(p[order, 1]) >= 0).all()
    loss = -np.where(truth, np.log(p), np.log(1 - p))[new].mean()
    base = expit(base_rates(cells))
    alone = -np.where(truth, np.log(base), np.log(1 - base))[new].mean()
    assert loss < alone + (0.005 if slope < 0.5 else 0.0)


def test_probabilities_predict_the_number_of_yes():
    """Summed over the cells not asked, they are near the number of yes there; BML-CS alone expects far fewer."""
    table, truth = vectors(n=400, L=6, known=0.1, full=0.1, seed=4)
    learner = LabelVectorLearner(table, LabelVectorSettings())
    learner.adopt(learner.job().run())
    shown = learner.export_cells()
    asked = shown.sources == "model"
    expected, real = shown.probabilities[asked].sum(), truth[asked].sum()
    assert expected == pytest.approx(real, rel=0.15)
    assert (learner._model._sensing.label_mean_[asked]).sum() < 0.7 * real


def worked():
    """A learner with every source of cells in its export."""
    table, truth = vectors(n=30, L=4, known=0.3, full=0.4, seed=2)
    learner = LabelVectorLearner(table, LabelVectorSettings(control_share=0.3))
    learner.adopt(learner.job().run())
    for _ in range(12):
        asked = learner.next_question("ann")
        kind = "yes" if truth[asked.row, asked.labels.index(asked.label)] else "no"
        learner.apply(Entry(learner.seq + 1, kind, asked.row, "ann", (asked.label,)))
    open_row = int(np.flatnonzero(learner.pool.open.any(axis=1))[0])
    learner.apply(Entry(learner.seq + 1, "bad", open_row, "ann"))
    return table, truth, learner


def test_export_round_trips():
    table, truth, learner = worked()
    shown = learner.export_cells()
    wide, long = shown.wide(), shown.long()
    threshold = learner.progress().threshold
    assert list(wide.columns[:4]) == list(table.classes)
    assert len(wide) == 30
    assert len(long) == 120
    assert all(isinstance(dtype, pd.StringDtype) for dtype in (*wide.dtypes, *long.dtypes))
    assert set(np.unique(shown.sources)) == {"given", "person", "truth", "model", "bad"}
    assert shown.counts() == {name: n for name in sorted(SOURCES) if (n := int((shown.sources == name).sum()))}
    assert shown.answered.tolist() == (shown.sources == "person").any(axis=1).tolist()
    held = (shown.cells, shown.probabilities, shown.predicted, shown.origins)
    assert sum(array.nbytes for array in held) == 11 * shown.cells.size, "a large table has to fit"
    for place in range(120):
        row, column = divmod(place, 4)
        line = long.iloc[place]
        label, source = table.classes[column], line["source"]
        assert (line["id"], line["label"]) == (f"id{row}", label)
        assert wide.iloc[row][label] == line["value"]
        assert wide.iloc[row][f"winnow_probability:{label}"] == line["probability"]
        assert wide.iloc[row][f"winnow_predicted:{label}"] == line["predicted"]
        assert wide.iloc[row][f"winnow_source:{label}"] == source
        given, now = table.label_vectors[row, column], learner.cells[row, column]
        if source in ("given", "truth"):
            assert line["value"] == str(given) == str(truth[row, column])
        elif source == "person":
            assert given == -1
            assert line["value"] == str(truth[row, column]) == str(now)
        elif source == "model":
            assert line["value"] == ""  # never 0
            assert line["predicted"] == str(int(shown.probabilities[row, column] > threshold))
            assert 0 < float(line["probability"]) < 1
        else:
            assert learner.pool.bad[row]
            assert line["value"] == line["probability"] == ""
        if source != "model":
            assert line["predicted"] == ""
        if line["value"]:
            assert float(line["probability"]) == float(line["value"])


def test_near_certain_prediction_is_not_exported_as_an_answer():
    cells = np.array([[1, 0, -1, -1, -1]], dtype=np.int8)
    shares = np.array([[1.0, 0.0, 1 - 1e-9, 1e-9, np.nan]])
    predicted = np.array([[-1, -1, 1, 0, -1]], dtype=np.int8)
    origins = np.array([[SOURCES.index(name) for name in ("given", "person", "model", "model", "bad")]])
    found = LabelVectorExport(("r",), tuple("abcde"), cells, shares, predicted, origins)
    assert found.counts() == {"bad": 1, "given": 1, "model": 2, "person": 1}
    assert found.answered.tolist() == [True]
    long = found.long()
    assert long["value"].tolist() == ["1", "0", "", "", ""]
    assert long["probability"].tolist() == ["1.0000", "0.0000", "0.9999", "0.0001", ""]
    assert long["predicted"].tolist() == ["", "", "1", "0", ""]


def test_export_columns_avoid_taken_names():
    table, _, learner = worked()
    wide = learner.export_cells().wide(taken={"l1", "before_l1", "winnow_source:l0"})
    assert list(wide.columns[:4]) == ["l0", "before_before_l1", "l2", "l3"]
    assert "before_winnow_source:l0" in wide.columns
    assert wide.columns.is_unique
    again = FakeVectors(table.X, table.label_vectors, ["x", "winnow_source:x", "y", "z"])
    assert LabelVectorLearner(again).export_cells().wide().columns.is_unique


def test_settings_choose_criterion_and_components():
    one = LabelVectorSettings(question="instance", n_components=0.5, control_share=0)
    assert one.asked_by == "variance"
    assert LabelVectorSettings().asked_by == LabelVectorSettings(question="diagnosis").asked_by == "information"
    assert [LabelVectorSettings().components(L) for L in (3, 8, 14, 40, 374)] == [3, 8, 8, 20, 64]
    assert one.components(374) == 0.5
