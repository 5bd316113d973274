"""First updates: what a version makes of the answers since is what the estimator's own `update` makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import LearnerSettings
from plcore.kernel.soft_labels import softmax_inside
from plcore.kernels import margins
from plcore.labels.weights import prior_labels
from plcore.loop import Entry
from plcore.loop.one_label import ActiveLearner, FirstUpdate, Footing, Trainer
from tests.plcore.loop.fake_table import blobs

SETTINGS = LearnerSettings(model="kernelridge", strategy="moves", control_share=0.1, test_share=0.2)


@pytest.fixture
def world():
    """A learner with its first version, the version, the trainer's estimator, and the truth."""
    table, y = blobs(n=120, truth=0.4, q=0.6)
    learner = ActiveLearner(table, SETTINGS)
    trainer = Trainer(learner.pool)
    version = trainer.train()
    learner.publish(version.scores, [version.point], version.footing.effects)
    return learner, version, trainer._fits._estimator, y


def answer(learner, y, count):
    """Answers about the rows that the learner asks about first."""
    rows = learner.ranking()[0][:count].tolist()
    for row in rows:
        label = (learner.classes[y[row]],)
        learner.apply(Entry(learner.seq + 1, "is", row, "ann", label))
    return rows


def follow(learner, version, effects=True):
    pool = learner.pool
    update = version.footing.update(
        pool.candidates[pool.train],
        version.scores,
        pool.train,
        with_effects=effects,
        weights=pool.table.candidate_weights,
    )
    learner.follow(update)
    return update


def test_shares_are_those_of_the_estimator_s_update(world):
    learner, version, estimator, y = world
    pool = learner.pool
    rows = answer(learner, y, 7)
    follow(learner, version)
    estimator.update(pool.place[rows], pool.candidates[rows])
    prior = prior_labels(pool.candidates[pool.train])
    scores = estimator.rounds_.class_scores(estimator.label_distributions_, prior)
    shares = softmax_inside(scores, 1.0, prior)
    np.testing.assert_allclose(learner.label_distributions[pool.train], shares, atol=1e-5)
    assert np.abs(shares - estimator.label_distributions_).sum(axis=1).max() < 0.2  # half a round further
    open_rows, effects = learner.ranking()
    u = 1 - margins(shares)
    expected = estimator.rounds_.effects(scores, pool.candidates[pool.train])
    np.testing.assert_allclose(effects, expected[pool.place[open_rows]], rtol=1e-4, atol=1e-9)
    assert (np.diff(effects) <= 0).all()
    assert np.corrcoef(effects, u[pool.place[open_rows]])[0, 1] > 0.5


def test_held_out_rows_curve_and_version_stay_those_of_the_version(world):
    learner, version, _, y = world
    pool = learner.pool
    controls = np.flatnonzero(pool.control_rows)
    before = learner.curve, learner.model_version, learner._model.said.copy()
    shares = learner.label_distributions[controls]
    answer(learner, y, 10)
    moved = learner.label_distributions[pool.train]
    follow(learner, version)
    assert not np.allclose(learner.label_distributions[pool.train], moved)
    assert (learner.curve, learner.model_version) == before[:2]
    np.testing.assert_array_equal(learner._model.said, before[2])
    np.testing.assert_array_equal(learner.label_distributions[controls], shares)
    assert learner.progress().accuracy == before[0][-1].accuracy


def test_it_follows_from_version_and_candidates_alone(world):
    """How often it was done meanwhile changes nothing, and what was withdrawn leaves nothing behind."""
    learner, version, _, y = world
    pool = learner.pool
    none = follow(learner, version)
    rows = answer(learner, y, 3)
    follow(learner, version)
    answer(learner, y, 3)
    twice = follow(learner, version)
    other = ActiveLearner(learner.table, SETTINGS)
    other.publish(version.scores, [version.point], version.footing.effects)
    for row in np.flatnonzero(pool.answered):
        for entry in pool.fold.entries(int(row)):
            other.apply(Entry(other.seq + 1, entry.kind, entry.row, "ann", entry.labels))
    once = follow(other, version)
    np.testing.assert_array_equal(once.scores, twice.scores)
    np.testing.assert_array_equal(once.effects, twice.effects)
    assert pool.sizes[rows].tolist() == [1, 1, 1]
    for target in range(1, 7):
        row = next(
            e.row for r in np.flatnonzero(pool.answered) for e in pool.fold.entries(int(r)) if e.seq == target
        )
        learner.apply(Entry(learner.seq + 1, "withdraw", row, "ann", target=target))
    np.testing.assert_array_equal(follow(learner, version).scores, none.scores)


def test_a_bad_item_waits_for_the_next_version(world):
    learner, version, _, _ = world
    before = follow(learner, version).scores
    row = int(learner.ranking()[0][0])
    learner.apply(Entry(1, "bad", row, "ann"))
    np.testing.assert_array_equal(follow(learner, version).scores, before)
    assert (learner.label_distributions[row] == 0).all()


def test_the_next_version_takes_its_place(world):
    learner, version, _, y = world
    answer(learner, y, 8)
    follow(learner, version)
    new = Trainer(learner.pool).train()
    learner.publish(new.scores, [new.point], new.footing.effects)
    rows, effects = learner.ranking()
    np.testing.assert_array_equal(effects, new.footing.effects[learner.pool.place[rows]])
    assert learner.model_version == 8
    # With nothing new since, a first update moves next to nothing.
    shares = learner.label_distributions[rows]
    follow(learner, new)
    assert np.abs(learner.label_distributions[rows] - shares).sum(axis=1).max() < 0.05


def test_without_effects_questions_go_by_how_unsure_the_rows_are(world):
    learner, version, _, y = world
    answer(learner, y, 4)
    follow(learner, version, effects=False)
    rows, scores = learner.ranking()
    np.testing.assert_allclose(scores, 1 - margins(learner.label_distributions[rows]), atol=1e-9)


def test_the_state_survives_a_file(world, tmp_path):
    learner, version, _, y = world
    np.savez(tmp_path / "a.npz", **version.footing.shared())
    np.savez(tmp_path / "b.npz", **version.footing.state())
    with np.load(tmp_path / "a.npz") as shared, np.load(tmp_path / "b.npz") as state:
        again = Footing.from_arrays(dict(shared), dict(state))
        assert Footing.from_arrays(again, dict(state)).rounds is again.rounds
    answer(learner, y, 5)
    pool = learner.pool
    now = pool.candidates[pool.train]
    one, other = (
        footing.update(now, version.scores, pool.train, with_effects=True, weights=None)
        for footing in (version.footing, again)
    )
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.effects, other.effects)
    np.testing.assert_array_equal(again.candidates, version.footing.candidates)


def test_what_cannot_follow_is_refused(world):
    learner, version, _, _ = world
    update = FirstUpdate(version.scores, None)
    for model in ("kernelridge", "plknn"):
        fresh = ActiveLearner(learner.table, LearnerSettings(model=model))
        with pytest.raises(ValueError, match="no version yet"):
            fresh.follow(update)
    with pytest.raises(ValueError, match="effects must be of the"):
        ActiveLearner(learner.table, SETTINGS).publish(version.scores, [version.point], np.ones(3))
