"""Limits that several families of learners keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

LARGEST_FEATURE = 1e50
"""Size of a feature beyond which squares and sums of them could overflow."""


def check_feature_size(X: Any) -> None:
    """Raise ValueError where a feature of X (n, d), dense or sparse, is larger than LARGEST_FEATURE."""
    # Not abs(X) of a sparse X: that sorts the caller's own matrix.
    largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"The features must be at most {LARGEST_FEATURE:g} in size, got {largest:g}. Fix: scale them, for example "
            "with sklearn.preprocessing.StandardScaler in a pipeline."
        )
