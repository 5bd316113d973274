"""Nearest neighbours behind one small interface: exact by blocks or by kd-tree, approximate by cells or,
for sparse rows, by postings.

Every kind measures the distances it returns in the same way, as a sum of squared differences in float64 taken
in feature order, and orders neighbours by (distance, row number). So the exact kinds agree to the last tie, for
dense and sparse features, in any batch and with any number of threads; the approximate kind may miss a neighbour,
never misjudges one, and says how many it finds. None ever holds n x n numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import sparse

from plcore.arrays.types import (
    FeatureMatrix,
    FloatArray,
    IntArray,
    Matrix,
    ShareProgress,
    is_sparse,
    untold,
)
from plcore.neighbors.search.blocks import EXACT_WORK, BlockSearch
from plcore.neighbors.search.cells import CellSearch
from plcore.neighbors.search.postings import PairSearch, PostingSearch
from plcore.neighbors.search.rows import first_of_equals, ready
from plcore.neighbors.search.tree import LARGEST_VALUE, TREE_FEATURES, TreeSearch

SEARCHES = ("auto", "exact", "approximate")
# Up to this many multiplications (rows x rows x features) "auto" is exact without asking: 25,000 dense rows of 64
# features, about 2 s of one core, where cells cost from a quarter to twice as much. Beyond EXACT_WORK it never is.
QUICK_WORK = 4e10
IN_TREE = 400_000  # numbers whose rows' neighbours a kd-tree finds in that time: 100,000 rows of four
# A number of a sparse row costs about eight times one of a dense row.
SPARSE_COST = 8
# A pair of dense rows costs about five times as much from cell to cell as in the exact search: where a query looks into
# this share of the cells, or more, the exact search is the cheaper one, and finds all.
EXACT_SHARE = 1 / 5


class NeighborSearch(Protocol):
    """Finds the rows of a matrix that are nearest to queries."""

    kind: str  # "exact" | "kd-tree" | "approximate"
    recall: float  # share of the true neighbours found, measured on a sample; 1.0 for the exact kinds

    def nearest(
        self, queries: Matrix, n_nearest: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """(rows int64, distances) (q, n_nearest) by (distance, row number).

        own : (q,) the row of each query in the matrix, never its own neighbour; None: queries are new points
        """
        ...

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """(numbers (b,), rows int64, distances (b, n_nearest)) of all rows of the matrix, some at a time in an order
        that suits the search: what `nearest` says of them all, or others as good (`PostingSearch`).

        tell : how far it is
        """
        ...


def make_search(X: FeatureMatrix, n_neighbors: int, search: str = "auto", seed: int = 0) -> NeighborSearch:
    """A search among the rows of X for up to `n_neighbors` of them, in addition to a query's own row.

    X : float64, finite, array (n, d) or CSR, already checked
    search : "exact", "approximate", or "auto": exact where that is quick (`QUICK_WORK`), or quicker than by cells
        (`EXACT_SHARE`), and never where it takes long (`EXACT_WORK`)
    """
    if search not in SEARCHES:
        raise ValueError(f"search must be one of {', '.join(map(repr, SEARCHES))}. Got {search!r}.")
    X = ready(X)
    # Of more than K + 1 equal rows the later ones are no one's neighbours but their own: they stay out of the
    # search, so that data with few distinct rows do not tie everyone with everyone.
    searched = first_of_equals(X, n_neighbors + 1)
    if search == "approximate":
        return (PostingSearch if is_sparse(X) else CellSearch)(X, searched, n_neighbors, seed)
    if not is_sparse(X) and X.shape[1] <= TREE_FEATURES and max(X.max(), -X.min()) < LARGEST_VALUE:
        return TreeSearch(X, searched)
    work = float(X.shape[0]) * len(searched) * row_cost(X)
    if search == "exact" or work <= (EXACT_WORK if is_sparse(X) else min(QUICK_WORK, EXACT_WORK)):
        return (PairSearch if is_sparse(X) else BlockSearch)(X, searched)
    if is_sparse(X):
        return PostingSearch(X, searched, n_neighbors, seed)
    by_cells = CellSearch(X, searched, n_neighbors, seed)
    cheaper = work <= EXACT_WORK and by_cells.n_probed >= EXACT_SHARE * by_cells.n_cells
    return by_cells.exact if cheaper else by_cells


def row_cost(X: FeatureMatrix) -> float:
    """Multiplications of dense rows that one pair of these rows costs."""
    return float(SPARSE_COST * X.nnz / X.shape[0] if is_sparse(X) else X.shape[1])


def takes_long(n_rows: int, some: FeatureMatrix) -> bool:
    """Whether all neighbours of so many rows, of which `some` are a sample, take more than about two seconds of one
    core to find, the features of texts included."""
    by_tree = not is_sparse(some) and some.shape[1] <= TREE_FEATURES
    return n_rows * some.shape[1] > IN_TREE if by_tree else float(n_rows) ** 2 * row_cost(some) > QUICK_WORK


def compile_search() -> None:
    """Have every loop compiled, or loaded, before someone waits for it."""
    few = np.arange(4 * (TREE_FEATURES + 1), dtype=np.float64).reshape(4, -1)
    for X in (few, sparse.csr_matrix(few), few[:, :2]):
        for how in ("exact", "approximate") if is_sparse(X) else ("exact",):
            make_search(X, 2, how).nearest(X, 1, np.arange(4))
