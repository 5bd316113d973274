"""What estimators check of their training data before they learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, validate_data

from plcore.common.limits import check_feature_size
from plcore.common.types import AnyArray, BoolArray, FloatArray
from plcore.labels.candidates import check_candidates

CANDIDATES = "a label vector (n,) or a candidate matrix (n, m)"


def require_y(estimator: Any, y: Any, wanted: str = CANDIDATES) -> None:
    """Raise ValueError, in the words that scikit-learn's checks look for, where there is no y. wanted : what to pass"""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. Fix: pass {wanted}."
        )


def check_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Any, BoolArray, AnyArray, FloatArray]:
    """(X float64 (n, d) in C order, or CSR; candidates (n, m); classes (m,); weights (n,) >= 0) of a fit.

    The number and the names of the features are stored in the estimator. Raises CandidateError for candidates that
    break the convention, ValueError for wrong features or weights, and without y.
    """
    # In one order: a solver that chooses among near ties would end elsewhere for a DataFrame than for its values.
    X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, order="C")
    require_y(estimator, y)
    candidates, classes = check_candidates(y)
    check_consistent_length(X, candidates)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    check_feature_size(X)
    return X, candidates, classes, weights
