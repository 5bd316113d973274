"""One seed for all that a fit draws."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state


def draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """A seed by a parameter `random_state`: the same for the same int, the next one of a RandomState, any for None."""
    return int(check_random_state(random_state).randint(2**31 - 1))
