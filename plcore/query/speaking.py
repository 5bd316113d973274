"""What in a row speaks for each of some labels: which of its features are larger under one label than under the others.

The row's score for a label is its product with the mean of the rows of that label (Rocchio's classifier; Manning,
Raghavan and Schütze, *Introduction to Information Retrieval*, 2008, chapter 14.2), less the mean of its products with
the means of the other labels. That is a sum over features,

    speaks_jk = x_j (mean_kj - mean of mean_lj over the other labels l),

in which every row counts for a label with its share in the row's label distribution, as in `.telling`. Only columns
that the row holds count, so that a sparse row costs what stands in its own columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plcore.common.types import FloatArray, IntArray


def speaks_for(
    X: Any, distributions: FloatArray, columns: IntArray, values: FloatArray, own: int | None = None
) -> FloatArray:
    """(c, k) how much each column of one row speaks for each of k labels, below 0 where it speaks against it.

    X : CSC (n, d) the rows to learn from      distributions : (n, k) their shares of the k labels, two or more
    columns, values : (c,) what the row holds      own : its number among the n rows: it does not count for itself
    A label that no row can have has the mean 0. Raises ValueError where the shapes do not match.
    """
    if distributions.ndim != 2 or X.shape[0] != len(distributions) or distributions.shape[1] < 2:
        raise ValueError(
            "distributions must be (n, k) with a line for each of the n rows of X and two labels or more. "
            f"Got shapes {distributions.shape} and {X.shape}."
        )
    if own is not None:
        distributions = distributions.copy()
        distributions[own] = 0.0
    weight = distributions.sum(axis=0)
    means = np.asarray(X[:, columns].T @ distributions) / np.where(weight > 0, weight, 1.0)
    k = means.shape[1]
    others = (means.sum(axis=1, keepdims=True) - means) / (k - 1)
    return np.asarray(values[:, None] * (means - others))
