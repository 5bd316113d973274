"""What is kept up to date is what would be counted anew."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.loop.one_label.fold import Narrowing


@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_would_be_counted_anew(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(1, 5, size=30)
    held = rng.random(30) < 0.3
    found, sizes = Narrowing(first, held), first.copy()
    for _ in range(200):
        row, after = int(rng.integers(30)), int(rng.integers(5))
        found.note(row, int(sizes[row]), after)
        sizes[row] = after
        train = sizes[~held]
        assert found.left == np.maximum(train - 1, 0).sum()
        assert found.settled == (train[first[~held] >= 2] < 2).mean()


def test_where_nothing_was_ambiguous_all_is_settled() -> None:
    assert Narrowing(np.ones(3, dtype=int), np.zeros(3, dtype=bool)).settled == 1.0
    assert Narrowing(np.full(3, 2), np.ones(3, dtype=bool)).settled == 1.0
