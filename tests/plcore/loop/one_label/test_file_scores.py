"""File scores with kernel ridge labels: pooled before there are checks, scores alone if checks favour them."""

from __future__ import annotations

import numpy as np

from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.evaluation import contaminate
from plcore.kernel.file_scores import ScoreRule
from plcore.loop.one_label import Trainer
from plcore.loop.one_label.file_scores import own_scores, pooled_shares, weigh_file
from plcore.loop.one_label.pool import OneLabelPool
from tests.plcore.loop.fake_table import FakeTable


def learnt(strength, *, noise=1.0, model="kernelridge", faint=False):
    """(learner with a trained version, truth): classes that overlap, and scores of the truth this much higher."""
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=150)
    X = np.eye(3)[y] + rng.normal(scale=noise, size=(150, 3))
    candidates = contaminate(y, "size", p=1.0, r=1, random_state=0)
    weights = np.exp(rng.normal(size=(150, 3)) + strength * np.eye(3)[y]) * candidates
    if faint:  # the truth has the largest score in every row, but only by a little
        weights = rng.uniform(0.8, 1, size=(150, 3)) * candidates
        rows, best = np.arange(150), weights.argmax(axis=1)
        weights[rows, best], weights[rows, y] = weights[rows, y], weights[rows, best].copy()
    table = FakeTable(X, candidates, candidate_weights=weights / weights.sum(axis=1, keepdims=True))
    learner = ActiveLearner(table, LearnerSettings(model=model, control_share=0.2))
    version = Trainer(OneLabelPool(table, learner.settings)).train()
    learner.publish(version.scores, [version.point])
    return learner, y


def share_right(learner, y):
    open_rows = learner.pool.sizes > 1
    return (learner.disambiguate().labels == y)[open_rows].mean()


def test_accurate_scores_improve_the_labels():
    learner, y = learnt(5.0)
    file = weigh_file(learner.pool, learner._model)
    assert file.rule is ScoreRule.POOL
    alone = (learner.table.candidate_weights.argmax(axis=1) == y).mean()
    assert alone > 0.99
    assert share_right(learner, y) >= alone - 0.005
    model = learner._model.shares(np.arange(150)).argmax(axis=1)
    assert (model == y).mean() < alone - 0.02


def test_probabilities_match_the_pooled_labels():
    learner, _ = learnt(5.0)
    found = learner.disambiguate()
    several = np.flatnonzero(learner.pool.sizes > 1)
    probabilities = np.asarray(learner.take_labels().probabilities()[several])
    np.testing.assert_array_equal(probabilities.argmax(axis=1), found.labels[several])


def test_noisy_scores_keep_the_labels_of_the_model():
    learner, _ = learnt(0.0, noise=0.3)
    assert weigh_file(learner.pool, learner._model).rule is ScoreRule.ROUNDS
    model = learner._model.shares(np.arange(150)).argmax(axis=1)
    open_rows = learner.pool.sizes > 1
    np.testing.assert_array_equal(learner.disambiguate().labels[open_rows], model[open_rows])


def test_checks_can_select_scores_alone():
    learner, y = learnt(0.0, noise=1.5, faint=True)
    before = weigh_file(learner.pool, learner._model)
    assert before.right == {}
    for row in learner.pool.control_left()[:20]:
        learner.apply(Entry(learner.seq + 1, "is", int(row), "ann", (learner.classes[y[row]],)))
    file = weigh_file(learner.pool, learner._model)
    assert (file.checks, file.right[ScoreRule.SCORES], file.rule) == (20, 20, ScoreRule.SCORES)
    found = learner.disambiguate()
    open_rows = learner.pool.sizes > 1
    assert (found.labels == y)[open_rows].all()
    assert set(found.sources[open_rows]) == {"file"}


def test_models_without_candidate_weights_are_not_pooled():
    learner, _ = learnt(5.0, model="plsvc")
    assert weigh_file(learner.pool, learner._model) is None


def test_rows_weighted_by_annotators_are_not_pooled(monkeypatch):
    """If several people answered a row, training used their shares instead of the file's scores."""
    learner, _ = learnt(5.0)
    pool, model = learner.pool, learner._model
    rows = np.flatnonzero(pool.sizes > 1)[:4]
    weights_of = OneLabelPool.weights_of

    def by_people(self, rows_, candidates):
        weights = weights_of(self, rows_, candidates).copy()
        weights[rows_ == rows[0]] = weights[rows_ == rows[0]][:, ::-1] + candidates[rows_ == rows[0]]
        return weights

    plain, prior, weighed = own_scores(pool, model, rows)
    assert not weighed.any()
    file, shares = weigh_file(pool, model), model.shares(rows)
    monkeypatch.setattr(OneLabelPool, "weights_of", by_people)
    own, file_prior, weighed = own_scores(pool, model, rows)
    assert weighed.tolist() == [True, False, False, False]
    np.testing.assert_array_equal(file_prior, prior)
    np.testing.assert_array_equal(own[1:], plain[1:])
    pooled = pooled_shares(pool, model, file, rows, shares)
    np.testing.assert_array_equal(pooled[0], shares[0])
    assert (pooled[1:] != shares[1:]).any()
