"""Random candidate sets."""

from __future__ import annotations

import numpy as np


def some_sets(rng, n, m, share=0.5):
    """Candidates (n, m), each with this chance, and at least one in every row."""
    sets = rng.random((n, m)) < share
    sets[np.arange(n), rng.integers(m, size=n)] = True
    return sets
