"""The model of the annotators in the loop: who is right more often counts more, and models learn how much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from plcore import Entry, LearnerSettings
from plcore.loop.one_label import OneLabelPool, Trainer
from plcore.loop.one_label.several import LEAST_SHARE
from tests.plcore.loop.fake_table import FakeTable, blobs

GOOD, ALSO_GOOD, GUESSER = "ann", "bob", "cem"


def crowd(model: str = "kernelridge", n: int = 60) -> tuple[OneLabelPool[FakeTable], list[Entry]]:
    """Everybody answers the first rows, the guesser at random; two of them the rest."""
    rng = np.random.default_rng(1)
    table, truth = blobs(n, m=3, seed=2, truth="none", q=1.0)
    settings = LearnerSettings(n_neighbors=3, overlap=3, fold="dawid-skene", model=model)
    log: list[Entry] = []
    for row in range(n - 5):
        for person in (GOOD, ALSO_GOOD, GUESSER)[: 3 if row < n - 10 else 2]:
            right = person != GUESSER
            label = int(truth[row]) if right else int(rng.integers(3))
            log.append(Entry(len(log) + 1, "is", row, person, (f"c{label}",)))
    last = n - 1
    log.append(Entry(len(log) + 1, "is", last, GUESSER, (f"c{(truth[last] + 1) % 3}",)))
    log.append(Entry(len(log) + 1, "is", last, GOOD, (f"c{truth[last]}",)))
    return OneLabelPool(table, settings), log


def lived(pool: OneLabelPool[FakeTable], log: list[Entry]) -> OneLabelPool[FakeTable]:
    for entry in log:
        pool.apply(entry)
    return pool


def test_who_guesses_counts_less_than_who_is_right() -> None:
    pool, log = crowd()
    lived(pool, log)
    _, truth = blobs(60, m=3, seed=2, truth="none", q=1.0)
    weights = pool.weights_of(np.array([59, 58]), pool.candidates[[59, 58]])
    assert weights is not None
    assert weights[0].argmax() == truth[59]
    assert weights[0].max() > 0.8
    assert weights[1].tolist() == [1.0, 1.0, 1.0], "nobody has answered it"


def test_a_later_answer_changes_rows_that_were_answered_before() -> None:
    pool, log = crowd()
    log = [
        replace(entry, seq=seq) for seq, entry in enumerate([*log[-2:], *log[:-2]], start=1)
    ]  # the tie first
    changed = [{change.row for change in pool.apply(entry)} for entry in log]
    assert any(rows - {entry.row} for rows, entry in zip(changed, log, strict=True))


@pytest.mark.parametrize("model", ["kernelridge", "lmplane"])
def test_a_version_follows_from_the_log_whatever_was_trained_before(model: str) -> None:
    pool, log = crowd(model)
    trainer = Trainer(lived(pool, log[:40]))
    trainer.train()
    for entry in log[40:]:
        pool.apply(entry)
    later = trainer.train()
    fresh = Trainer(lived(crowd(model)[0], log)).train()
    np.testing.assert_array_equal(later.scores, fresh.scores)


def test_the_model_learns_how_sure_the_annotators_leave_a_row() -> None:
    pool, log = crowd()
    lived(pool, log)
    disputed = [
        Entry(len(log) + 1, "is", 57, GOOD, ("c0",)),
        Entry(len(log) + 2, "is", 57, ALSO_GOOD, ("c1",)),
    ]
    lived(pool, disputed)
    rows = np.array([57])
    weights = pool.weights_of(rows, pool.candidates[rows])
    assert weights is not None
    likely = weights[0] > 0
    assert pool.candidates[57].tolist() == likely.tolist()
    assert (weights[0, likely] >= LEAST_SHARE * weights[0].max()).all()
    assert 1 - 2 * LEAST_SHARE < weights[0].sum() <= 1, "what is ruled out had little"
