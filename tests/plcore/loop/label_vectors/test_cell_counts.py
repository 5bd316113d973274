"""Counts kept by the row that changes are those that one gets by counting all cells anew, after any entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import AnswerError
from plcore.loop.label_vectors import LabelVectorPool
from plcore.loop.label_vectors.controls import CellCounts, count_row
from plcore.loop.label_vectors.settings import LabelVectorSettings
from tests.plcore.loop.label_vectors.test_several import any_settings, random_entry, vectors


def recounted(pool: LabelVectorPool) -> tuple[int, int, int, float]:
    """(answered, open, holes, share known), over all cells."""
    done, begun = pool.answered & ~pool.open, pool.answered & pool.open
    holes = (pool.original == -1) & ~pool.test_rows[:, None]
    unknown = int((pool.unknown & (pool.original == -1)).sum())
    share = 1 - unknown / int(holes.sum()) if holes.any() else 1.0
    if pool.settings.by_row:
        rows = (done.any(axis=1) & ~begun.any(axis=1)) | pool.bad
        return int(rows.sum()), int(pool.open.any(axis=1).sum()), int(holes.sum()), share
    return int(done.sum()), int(pool.open.sum()), int(holes.sum()), share


@given(st.integers(0, 10**6), any_settings)
@settings(max_examples=30)
def test_after_any_entries_they_are_what_counting_anew_gives(seed: int, options: LabelVectorSettings) -> None:
    rng = np.random.default_rng(seed)
    table, _ = vectors(n=10, L=4, seed=seed)
    pool = LabelVectorPool(table, options)
    taken = 0
    for seq in range(1, 41):
        entry = random_entry(rng, pool, seq)
        try:
            if entry is not None:
                pool.apply(entry)
                taken += 1
        except AnswerError:
            continue
        assert (pool.n_answered, pool.n_open, pool.n_holes, pool.share_known) == recounted(pool)
    assert taken > 3  # of a walk that says something


@pytest.mark.parametrize(
    ("answered", "open_", "bad", "by_row", "counts"),
    [
        ([1, 1, 0], [0, 0, 1], False, False, (2, 1)),
        ([1, 1, 0], [0, 1, 1], False, False, (1, 2)),
        ([1, 1, 0], [0, 1, 1], False, True, (0, 1)),
        ([1, 1, 0], [0, 0, 1], False, True, (1, 1)),
        ([0, 0, 0], [0, 0, 0], True, True, (1, 0)),
        ([0, 0, 0], [0, 0, 0], True, False, (0, 0)),
    ],
)
def test_a_row(
    answered: list[int], open_: list[int], bad: bool, by_row: bool, counts: tuple[int, int]
) -> None:
    found = count_row(np.array(answered, bool), np.array(open_, bool), 3, bad=bad, by_row=by_row)
    assert found == CellCounts(*counts, 3)
