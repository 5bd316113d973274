"""Features that no model of label vectors could be fitted to are refused, with what to do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from plcore.loop.label_vectors import learner
from plcore.loop.label_vectors.learner import MATRICES, check_fit

NAMES = ("width", "height", "weight")


def test_what_fits_passes():
    check_fit(np.ones((5, 3)), NAMES)
    check_fit(np.ones((5, 3)), NAMES, memory=MATRICES * 9 * 8)
    check_fit(sparse.csr_matrix((5, 3)), NAMES)
    check_fit(np.full((5, 3), 1e50), NAMES)


def test_the_smaller_of_rows_and_features_counts(monkeypatch):
    monkeypatch.setattr(learner, "LARGEST", 4)
    check_fit(np.ones((900, 4)), NAMES)
    check_fit(sparse.csr_matrix((4, 900)), NAMES)
    with pytest.raises(
        ValueError, match=r"^5 rows of 6 features are too many: .* at most 4 are taken. Fix: import"
    ):
        check_fit(np.ones((5, 6)), NAMES)


def test_memory():
    X = sparse.csr_matrix((6000, 40_000))
    check_fit(X, NAMES, memory=3 * 10**9)
    with pytest.raises(
        ValueError, match=r"6,000 rows of 40,000 features need about 2.6 GB of memory; 2.0 GB may be"
    ):
        check_fit(X, NAMES, memory=2 * 10**9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("value", [1e51, -1e60])
def test_a_number_too_large_is_named(kind, value):
    X = np.ones((5, 3))
    X[3, 1] = value
    with pytest.raises(
        ValueError, match=r"Row 4, column 'height': the number is 1e\+(51|60) times"
    ) as refused:
        check_fit(kind(X), NAMES)
    assert "leave its cell empty" in str(refused.value)
