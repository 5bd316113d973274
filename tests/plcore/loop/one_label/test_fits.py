"""Versions of the kernel ridge: chosen once, then the rounds alone, and always what a fresh trainer gives."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import LearnerSettings, PLKernelRidge
from plcore.kernel.soft_labels import softmax_inside
from plcore.labels.weights import prior_labels
from plcore.loop import MODEL_ENTRIES, Entry
from plcore.loop.one_label import OneLabelPool, Trainer
from plcore.loop.one_label.training import standardized_features
from tests.plcore.loop.fake_table import FakeTable, blobs

SETTINGS = LearnerSettings(model="kernelridge", strategy="margin", control_share=0.1, test_share=0.2)


def answered(pool, y, count, kind="is", start=1):
    """Take in the truth of `count` open training rows, or another kind of entry about them."""
    rows = [int(row) for row in pool.train if pool.is_open(row)][:count]
    for seq, row in enumerate(rows, start):
        labels = (pool.classes[y[row]],) if kind == "is" else ()
        pool.apply(Entry(seq, kind, row, "ann", labels))
    return rows


@pytest.fixture
def world():
    table, y = blobs(n=120, truth=0.5)
    return table, y, OneLabelPool(table, SETTINGS)


def test_it_is_the_estimator_with_the_settings_chosen_from_the_sets_as_imported(world):
    _, y, pool = world
    trainer = Trainer(pool)
    trainer.train()
    answered(pool, y, 20)
    scores = trainer.train().scores
    X, imported = standardized_features(pool), pool.first[pool.train]
    chosen = PLKernelRidge(random_state=0).fit(X[pool.train], imported)
    plain = PLKernelRidge(chosen.kernel_, chosen.alpha_, chosen.class_mass_, random_state=0)
    plain.fit(X[pool.train], pool.candidates[pool.train], imported=imported)
    np.testing.assert_allclose(
        scores[pool.held], plain.decision_function(X[pool.held]) / 0.05, rtol=1e-5, atol=1e-5
    )
    # Of training rows: what the next round would make of them, inside of their candidates.
    prior, labels = prior_labels(pool.candidates[pool.train]), plain.label_distributions_
    rounds = plain.rounds_
    further = softmax_inside(rounds.ridge.left_out_scores(labels), 0.05, prior)
    further = rounds.masses.pull(further, plain.class_mass_)
    np.testing.assert_allclose(
        softmax_inside(scores[pool.train].astype(float), 1.0, prior), further, atol=1e-5
    )
    assert np.abs(further - labels).sum(axis=1).max() < 0.1


@pytest.mark.parametrize("truth_role", ["hidden", "given"])
def test_a_version_is_the_same_whatever_was_trained_before(truth_role):
    table, y = blobs(n=120, truth=0.5)
    settings = LearnerSettings(
        model="kernelridge", control_share=0.1, truth_role=truth_role, strategy="margin", seed=3
    )
    pool, other = (OneLabelPool(table, settings) for _ in range(2))
    rows = [int(row) for row in pool.train if pool.is_open(row)]
    log = [Entry(seq, "is", row, "ann", (pool.classes[y[row]],)) for seq, row in enumerate(rows[:12], 1)]
    log += [Entry(13, "bad", rows[0], "ann"), Entry(14, "bad", rows[20], "ann")]
    log += [Entry(15, "withdraw", rows[0], "ann", target=13), Entry(16, "withdraw", rows[5], "ann", target=6)]
    trainer = Trainer(pool)
    for entry in log:
        if entry.seq in (1, 4, 13, 15):
            trainer.train()
        pool.apply(entry)
        other.apply(entry)
    one, again = trainer.train(), Trainer(other).train()
    np.testing.assert_array_equal(one.scores, again.scores)
    assert one.number == again.number == 16
    assert one.point == again.point


def test_a_bad_item_teaches_nothing(world):
    _, y, pool = world
    trainer = Trainer(pool)
    before = trainer.train().scores
    bad = answered(pool, y, 15, "bad")
    after = trainer.train().scores
    kept = np.setdiff1d(pool.train, bad)
    X = standardized_features(pool)
    chosen = PLKernelRidge(random_state=0).fit(X[pool.train], pool.first[pool.train])
    plain = PLKernelRidge(chosen.kernel_, chosen.alpha_, chosen.class_mass_, random_state=0)
    plain.fit(X[kept], pool.candidates[kept], imported=pool.first[kept])
    np.testing.assert_allclose(
        after[pool.held], plain.decision_function(X[pool.held]) / 0.05, rtol=1e-4, atol=1e-4
    )
    assert not np.allclose(before, after)
    assert np.isfinite(after[bad]).all()


def test_only_the_first_version_chooses_and_computes_kernels(world, monkeypatch):
    _, y, pool = world
    trainer = Trainer(pool)
    trainer.train()
    for name in ("choose", "KernelFeatures", "Smoother"):
        monkeypatch.setattr(f"plcore.kernel.ridge.{name}", None)
    answered(pool, y, 10)
    assert trainer.train().number == 10
    pool.apply(Entry(11, "bad", int(pool.train[-1]), "ann"))
    with pytest.raises(TypeError):
        trainer.train()


def test_answers_of_one_class_do_not_move_the_masses():
    """Masses are those of the sets as imported: a strategy that asks for one class tells nothing of its size."""
    table, y = blobs(n=150, truth="none")
    pool = OneLabelPool(table, SETTINGS)
    trainer = Trainer(pool)
    trainer.train()
    targets = trainer._fits._estimator.rounds_.masses.targets.copy()
    rows = [int(row) for row in pool.train if pool.is_open(row) and y[row] == 2]
    for seq, row in enumerate(rows, 1):
        pool.apply(Entry(seq, "is", row, "ann", (pool.classes[2],)))
    trainer.train()
    np.testing.assert_array_equal(trainer._fits._estimator.rounds_.masses.targets, targets)


def test_it_can_be_ended_and_begun_again(world):
    _, y, pool = world
    trainer = Trainer(pool)
    expected = Trainer(pool).train().scores

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trainer.train(stop)
    np.testing.assert_array_equal(trainer.train().scores, expected)
    answered(pool, y, 3)
    with pytest.raises(KeyboardInterrupt):
        trainer.train(stop)
    np.testing.assert_array_equal(trainer.train().scores, Trainer(pool).train().scores)


def test_a_class_of_no_row_is_never_predicted_of_held_out_rows():
    table, _ = blobs(n=90, truth="none")
    wide = FakeTable(table.X, np.hstack([table.candidates, np.zeros((90, 1), dtype=bool)]))
    pool = OneLabelPool(wide, SETTINGS)
    scores = Trainer(pool).train().scores
    assert (scores[pool.held, 4] == -np.inf).all()
    assert np.isfinite(scores[pool.held, :4]).all()


def test_the_entry_says_what_the_trainer_goes_by():
    for entry in MODEL_ENTRIES.values():
        assert entry.relabels == hasattr(entry.estimator, "relabel")
