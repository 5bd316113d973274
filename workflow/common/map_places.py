"""Where rows lie on the map: by the principal axes of their features, or beside those most like them (t-SNE)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from plcore.common import AnyArray, FloatArray, IntArray
from workflow.home import room_for_learner

if TYPE_CHECKING:
    from plcore import LabelTable

MOST = 2_000
"""Rows on the map; of more, a seeded sample. A browser draws so many in half a second (benchmarks/results/pages.md)."""
LEAST = 20
"""Rows below which the axes say all."""
AXES = 50
"""Principal axes that t-SNE goes by, where there are more features: those after them are noise for the most part, and
cost time."""
ROUNDS = 500
"""Of gradient descent; twice as many keep neighbours together no better (benchmarks/results/maps.md)."""
NEAR = 30
"""Perplexity: about how many rows each is to lie beside."""


def rows_on_map(n_rows: int) -> IntArray:
    """The rows that are drawn, ascending."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:MOST])


@room_for_learner()
def features_of(table: LabelTable, rows: IntArray) -> Any:
    """(k, d) the features of these rows, dense or sparse, fitted on them. Raises NoRoomError."""
    return table.features().fit(table, rows).transform(table, rows)


def principal_axes(X: Any, axes: int = 2) -> tuple[FloatArray, float]:
    """(k, axes) float32, the first principal components of X (k, d), and the share of the variance that they hold;
    where there are fewer, the others are 0, and of rows that are all alike all are."""
    found = np.zeros((X.shape[0], axes), dtype=np.float32)
    size = min(axes, X.shape[1], X.shape[0] - 1)
    if size < 1 or (X.max(axis=0) - X.min(axis=0)).max() == 0:
        return found, 1.0  # one point says all
    if sparse.issparse(X) and min(X.shape) <= axes:
        X = X.toarray()
    pca = PCA(size, svd_solver="arpack" if sparse.issparse(X) else "auto", random_state=0)
    found[:, :size] = pca.fit_transform(X)
    return found, float(pca.explained_variance_ratio_.sum())


def more_to_show(X: Any) -> bool:
    """Whether two axes may be too few for these rows (k, d)."""
    differ = bool((X.max(axis=0) - X.min(axis=0)).max() > 0)
    return X.shape[0] >= LEAST and X.shape[1] > 2 and differ


def beside_neighbors(X: Any, rounds: int = ROUNDS) -> FloatArray:
    """(k, 2) float32, t-SNE of X (k, d), from the principal axes on (van der Maaten and Hinton, JMLR 2008). Call it
    where there is `more_to_show`. rounds : of gradient descent"""
    reduced: AnyArray = principal_axes(X, AXES)[0] if X.shape[1] > AXES else _dense(X)
    near = min(NEAR, (X.shape[0] - 1) / 3)
    layout = TSNE(perplexity=near, init="pca", random_state=0, max_iter=rounds)
    # On a busy machine several threads wait for one another, and take many times as long.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(layout.fit_transform(reduced), np.float32)


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X)
