"""Well separated rows for comparing learners."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.evaluation import contaminate


@pytest.fixture
def blobs():
    """(X (90, 3), candidates (90, 3), true columns (90,))"""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.eye(3)[y] * 3 + rng.normal(size=(90, 3))
    return X, contaminate(y, "random", p=0.6, q=0.5, random_state=0), y
