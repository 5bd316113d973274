"""Counts kept by the row that changes are those that one gets by counting all rows anew, after any entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import ActiveLearner, AnswerError, LearnerSettings
from plcore.loop.one_label.pool import RowCounts, RowStanding
from tests.plcore.loop.fake_table import blobs
from tests.plcore.loop.one_label.test_replay import random_entry

OPTIONS = {
    "one after the other": {},
    "no controls": {"control_share": 0.0},
    "two answer": {"overlap": 2, "overlap_share": 0.5},
    "until two agree": {"overlap": 3, "overlap_share": 1.0, "agree": 2},
    "everybody checks": {"overlap": 2, "overlap_share": 0.3, "checks_by_all": True},
}


def recounted(pool):
    """(answered, done, open, waiting) over all rows, and which training rows are fresh."""
    waiting, is_open, fresh = pool.asked.waiting(), pool.asked.open(), pool.asked.fresh()
    counts = (
        int(pool.answered.sum()),
        int((pool.answered & ~is_open).sum()),
        int((is_open & ~pool.test_rows).sum()),
        int(waiting[pool.train].sum()),
    )
    return counts, fresh[pool.train]


def kept(pool):
    counts = pool.counts
    return (counts.answered, counts.done, counts.open, counts.waiting)


@pytest.mark.parametrize("name", OPTIONS)
@given(seed=st.integers(0, 10**6), truth=st.sampled_from(["none", 0.5]))
@settings(max_examples=12)
def test_after_any_entries_they_are_what_counting_anew_gives(name, seed, truth):
    table, _ = blobs(20, m=3, seed=seed, truth=truth)
    learner = ActiveLearner(table, LearnerSettings(n_neighbors=2, **OPTIONS[name]))
    rng, taken = np.random.default_rng(seed), 0
    for seq in range(1, 51):
        entry = random_entry(rng, learner, seq)
        try:
            learner.apply(entry)
        except AnswerError:
            continue
        taken += 1
        counts, fresh = recounted(learner.pool)
        assert kept(learner.pool) == counts
        np.testing.assert_array_equal(learner.pool.counts.fresh, fresh)
    assert taken > 5  # of a walk that says something


def test_a_test_row_counts_as_answered_and_never_as_open():
    counts = RowCounts(np.array([True, True]), np.array([1]), np.array([True, False]))
    assert (counts.open, counts.waiting) == (1, 1)
    counts.note(None, True, RowStanding(False, True, True, True), RowStanding(True, False, False, False))
    assert (counts.answered, counts.done, counts.open, counts.waiting) == (1, 1, 1, 1)
    assert counts.fresh.tolist() == [True]
