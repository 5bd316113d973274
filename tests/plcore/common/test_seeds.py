"""The seed of a fit: fixed by an int, the next one of a RandomState."""

from __future__ import annotations

import numpy as np

from plcore.common import draw_seed


def test_an_int_gives_the_same_seed_every_time():
    assert (
        draw_seed(3) == draw_seed(3) == draw_seed(np.int64(3)) == np.random.RandomState(3).randint(2**31 - 1)
    )
    assert draw_seed(3) != draw_seed(4)


def test_a_random_state_goes_on():
    random = np.random.RandomState(3)
    assert [draw_seed(random), draw_seed(random)] == np.random.RandomState(3).randint(
        2**31 - 1, size=2
    ).tolist()


def test_a_seed_can_be_used_wherever_one_is_asked_for():
    for seed in range(50):
        np.random.RandomState(draw_seed(seed))
    assert len({draw_seed(None) for _ in range(4)}) > 1
