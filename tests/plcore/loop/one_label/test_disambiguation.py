"""A snapshot of labels does not change with later answers, whether it is read at once or in pieces."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop.one_label import FEWEST_CHECKS, Trainer
from plcore.loop.one_label import disambiguation as module
from plcore.loop.one_label.pool import OneLabelPool
from tests.plcore.loop.fake_table import FakeTable, blobs

MODELS = ["plknn", "plsvc", "perceptron-average"]


@pytest.fixture(autouse=True, params=[1, 35, 10**6])
def cells(request, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_CELLS", request.param)


def same(left, right):
    for field in dataclasses.fields(left):
        np.testing.assert_array_equal(getattr(left, field.name), getattr(right, field.name), field.name)


def answered(learner, y, n):
    for _ in range(n):
        question = learner.next_question("ann")
        learner.apply(Entry(learner.seq + 1, "is", question.row, "ann", (learner.classes[y[question.row]],)))


def learner_of(model):
    table, y = blobs(n=90, truth=0.3)
    settings = LearnerSettings(model=model, strategy="margin" if model != "plknn" else LearnerSettings().strategy)
    learner = ActiveLearner(table, settings)
    if settings.is_trained:
        version = Trainer(OneLabelPool(table, settings)).train()
        learner.publish(version.scores, [version.point])
    answered(learner, y, 8)
    return learner, y


@pytest.mark.parametrize("model", MODELS)
def test_pieces_match_whole_and_stay_unchanged(model):
    learner, y = learner_of(model)
    whole = learner.disambiguate()
    taken, begun = learner.take_labels(), learner.take_labels()
    parts = [slice(0, 7), slice(7, 50), slice(50, 50 + 40), slice(3, 4), slice(0, 90)]
    same(begun.of(parts[0]), module._cut(whole, parts[0]))
    decided = np.isin(whole.sources, ("person", "verdict"))
    answered(learner, y, 10)
    learner.apply(Entry(learner.seq + 1, "bad", int(np.flatnonzero(learner.candidates.any(axis=1))[-1]), "b"))
    for one in (taken, begun):
        for part in parts:
            same(one.of(part), module._cut(whole, part))
        np.testing.assert_array_equal(one.answered, decided)
        same(one.whole, whole)
        same(one.of(parts[1]), module._cut(whole, parts[1]))
    with pytest.raises(AssertionError):
        same(learner.disambiguate(), whole)


@pytest.mark.parametrize("several", [False, True])
def test_class_that_no_one_named_is_not_a_label(several):
    """After "none of these" it may be the only class left and still be wrong, if the classes are not complete."""
    sets = np.tile([True, True, True, False], (8, 1))
    sets[4:] = [True, True, False, False]
    settings = LearnerSettings(n_neighbors=2, control_share=0)
    if several:
        settings = dataclasses.replace(settings, overlap=2, fold="majority")
    learner = ActiveLearner(FakeTable(np.eye(8), sets), settings)
    said = {0: [("none",)], 1: [("none",), ("is", "c3")], 2: [("is", "c0")], 3: [("not", "c0"), ("not", "c1")]}
    said |= {4: [("none",), ("not", "c2")], 5: [("none",), ("among", "c2", "c3"), ("not", "c2")]}
    for person in ("ann", "bo")[: 1 + several]:
        for row, answers in said.items():
            for kind, *labels in answers:
                learner.apply(Entry(learner.seq + 1, kind, row, person, tuple(labels)))
    taken = learner.take_labels()
    found = taken.whole
    assert learner.candidates[:6].argmax(axis=1).tolist() == [3, 3, 0, 2, 3, 3]
    assert found.labels[:6].tolist() == found.likeliest[:6].tolist() == [-1, 3, 0, 2, -1, 3]
    assert found.sources[:6].tolist() == ["remaining", *["person"] * 3, "remaining", "person"]
    assert np.flatnonzero(np.isnan(found.confidence[:6])).tolist() == [0, 4]
    assert taken.answered[:6].tolist() == [False, True, True, True, False, True]
    np.testing.assert_allclose(taken.probabilities()[np.array([0, 4])], 0.25)


def test_only_candidate_is_as_likely_as_its_score():
    """A model that names one class with .3 was not certain of it. Counts of votes are not probabilities."""
    sets = np.tile([True, False, False], (6, 1))
    sets[4] = [True, True, False]
    weights = np.where(sets, [[0.3], [1.0], [4.0], [0.3], [0.3], [0.3]], 0.0)
    truth = np.array([-1, -1, -1, -1, -1, 0])
    table = FakeTable(np.eye(6), sets, truth, candidate_weights=weights)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2, test_share=0, control_share=0, truth_role="given"))
    learner.apply(Entry(1, "is", 3, "ann", ("c0",)))
    taken = learner.take_labels()
    found = taken.whole
    assert found.sources[[0, 1, 2, 3, 5]].tolist() == ["given"] * 3 + ["person", "truth"]
    assert found.labels[[0, 1, 2, 3, 5]].tolist() == [0] * 5
    np.testing.assert_allclose(found.confidence[[0, 1, 2, 3, 5]], [0.3, 1, 1, 1, 1])
    certain = [1.0, 0.0, 0.0]
    np.testing.assert_allclose(taken.probabilities()[np.array([0, 1, 2, 3, 5])], [[0.3, 0.35, 0.35], *[certain] * 4])


def test_columns_support_slices():
    learner, _ = learner_of("plknn")
    whole, taken = learner.disambiguate(), learner.take_labels()
    column = taken.column("labels")
    assert len(column) == len(whole.labels)
    np.testing.assert_array_equal(column[5:70], whole.labels[5:70])
    assert "whole" not in vars(taken), "a piece finds no other rows"
    np.testing.assert_array_equal(column[np.array([80, 3])], whole.labels[[80, 3]])
    np.testing.assert_array_equal(np.asarray(taken.column("sources")), whole.sources)


def test_snapshot_includes_rows_at_risk():
    table, y = blobs(n=300, truth="none")
    learner = ActiveLearner(table, LearnerSettings(control_share=0.3, seed=1))
    checks = np.flatnonzero(learner.pool.control_rows & (learner.pool.sizes_at_first >= 2))
    for place, row in enumerate(checks[: FEWEST_CHECKS + 5]):
        kind, labels = ("none", ()) if place % 3 == 0 else ("is", (learner.classes[y[row]],))
        learner.apply(Entry(learner.seq + 1, kind, int(row), "ann", labels))
    taken, whole = learner.take_labels(), learner.disambiguate()
    assert taken.has_outside
    assert np.isfinite(whole.outside).any()
    answered(learner, y, 5)
    same(taken.of(slice(11, 200)), module._cut(whole, slice(11, 200)))


def test_snapshot_ignores_a_first_model_published_later():
    table, _ = blobs(n=90, truth=0.3)
    settings = LearnerSettings(model="plsvc", strategy="margin")
    learner = ActiveLearner(table, settings)
    whole, taken, begun = learner.disambiguate(), learner.take_labels(), learner.take_labels()
    same(begun.of(slice(0, 7)), module._cut(whole, slice(0, 7)))
    version = Trainer(OneLabelPool(table, settings)).train()
    learner.publish(version.scores, [version.point])
    for one in (taken, begun):
        same(one.of(slice(0, 60)), module._cut(whole, slice(0, 60)))
        same(one.whole, whole)
    assert "open" in whole.sources
    assert "open" not in learner.disambiguate().sources


def test_two_readers_of_one_snapshot_each_get_their_rows(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_CELLS", 35)
    learner, _ = learner_of("plknn")

    class Crowded(module.TakenLabels):
        """Simulates another thread that replaces the cached rows just before each lookup."""

        _last = property(lambda self: self.others and next(self.others), lambda self, value: None)
        others = None

    taken = Crowded(learner.pool, learner._model, None)
    found = [(0, taken.of(slice(0, taken._size))), (1, taken.of(slice(taken._size, 2 * taken._size)))]
    taken.others = itertools.cycle(found)
    same(taken.whole, module.TakenLabels(learner.pool, learner._model, None).whole)


def scored(settings):
    """Ten rows around two points whose scores speak for the third class, and one row without a best score."""
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0) + np.linspace(0, 0.1, 10)[:, None]
    candidates = np.ones((10, 3), dtype=bool)
    candidates[0, 1:] = False
    weights = np.where(candidates, [0.2, 0.2, 0.6], 0.0)
    weights[0] = [1.0, 0, 0]
    weights[9] = [0.4, 0.4, 0.2]
    return ActiveLearner(FakeTable(X, candidates, candidate_weights=weights), LearnerSettings(**settings))


@pytest.mark.parametrize("settings", [{"model": "automatic"}, {"model": "kernelridge"}])
def test_file_scores_label_rows_until_the_model_uses_them(settings):
    learner = scored(settings)
    found = learner.disambiguate()
    assert found.sources[:9].tolist() == ["given"] + ["file"] * 8
    assert found.labels[:9].tolist() == [0] + [2] * 8
    np.testing.assert_allclose(found.confidence[1:9], 0.6)
    assert found.sources[9] != "file", "no score is the best"
    learner.apply(Entry(1, "not", 1, "ann", ("c2",)))
    assert learner.disambiguate().sources[1] != "file", "the scores of those left are alike"
    if not learner.settings.is_trained:
        return
    version = Trainer(OneLabelPool(learner.table, learner.settings)).train()
    learner.publish(version.scores, [version.point])
    assert "file" not in learner.disambiguate().sources


def test_choosing_plknn_gives_its_labels():
    assert "file" not in scored({"model": "plknn"}).disambiguate().sources


@pytest.mark.parametrize("model", MODELS)
def test_probabilities_sum_to_one_and_agree_with_labels(model):
    learner, _ = learner_of(model)
    taken = learner.take_labels()
    found, whole = taken.probabilities()[:], taken.whole
    assert found.shape == taken.probabilities().shape == (90, 4)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    told = np.isin(whole.sources, ("model", "given", "person", "truth"))
    rows = np.flatnonzero(told)
    np.testing.assert_array_equal(found[rows].argmax(axis=1), whole.labels[rows])
    np.testing.assert_allclose(found[rows, whole.labels[rows]], whole.confidence[rows])
    np.testing.assert_array_equal(taken.probabilities()[np.array([80, 3])], found[[80, 3]])
    learner.apply(Entry(learner.seq + 1, "bad", int(np.flatnonzero(~learner.test_rows)[0]), "b"))
    np.testing.assert_allclose(learner.take_labels().probabilities()[:].sum(axis=1), 1)


def test_probabilities_are_file_scores_until_the_model_uses_them():
    learner = scored({"model": "automatic"})
    np.testing.assert_allclose(learner.take_labels().probabilities()[1:9], np.tile([0.2, 0.2, 0.6], (8, 1)))
