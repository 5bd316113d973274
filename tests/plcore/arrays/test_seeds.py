"""The seed of a fit: fixed by an int, the next one of a RandomState."""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import draw_seed


def test_an_int_gives_the_same_seed_every_time():
    assert draw_seed(3) == draw_seed(np.int64(3)) == np.random.RandomState(3).randint(2**31 - 1)
    assert draw_seed(3) != draw_seed(4)


def test_a_random_state_goes_on_and_none_is_any():
    random, other = np.random.RandomState(3), np.random.RandomState(3)
    assert [draw_seed(random), draw_seed(random)] == other.randint(2**31 - 1, size=2).tolist()
    assert len({draw_seed(None) for _ in range(4)}) > 1
