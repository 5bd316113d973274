"""Iris with false candidates, for every baseline."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_iris

from plcore.evaluation import contaminate


@pytest.fixture(scope="session")
def iris():
    """Each of the 150 rows with one false candidate."""
    X, y = load_iris(return_X_y=True)
    return X, contaminate(y, "size", p=1.0, r=1, random_state=0), y


@pytest.fixture(scope="session")
def half_iris():
    """Every second row, 80% of them with a false candidate."""
    X, y = (part[::2] for part in load_iris(return_X_y=True))
    return X, contaminate(y, "size", p=0.8, r=1, random_state=0), y
