"""Nearest neighbours behind one small interface: exact by blocks or by kd-tree, approximate by cells or, for sparse
rows, by postings.

Every kind measures the distances it returns in the same way, as a sum of squared differences in float64 in feature
order, and orders neighbours by (distance, row number). So the exact kinds agree to the last tie, for dense and sparse
features, in any batch and with any number of threads. The approximate kind may miss a neighbour, but never misjudges
one, and reports the share it finds. None of them ever holds n x n numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from scipy import sparse

from plcore.arrays.types import FeatureMatrix, FloatArray, IntArray, Matrix, ShareProgress, is_sparse, untold
from plcore.neighbors.search.blocks import EXACT_WORK, BlockSearch
from plcore.neighbors.search.cells import CellSearch
from plcore.neighbors.search.postings import PairSearch, PostingSearch
from plcore.neighbors.search.rows import first_of_equals, ready
from plcore.neighbors.search.tree import LARGEST_VALUE, TREE_FEATURES, TreeSearch

SEARCHES = ("auto", "exact", "approximate")
# Up to this many multiplications (rows x rows x features), "auto" is always exact: 25,000 dense rows of 64 features
# take about 2 s of one core, while cells take between a quarter and twice of it. Beyond EXACT_WORK it never is.
QUICK_WORK = 4e10
IN_TREE = 400_000  # numbers (rows x features) for which a kd-tree takes the same time: 100,000 rows of four
# A number of a sparse row costs about eight times as much as one of a dense row.
SPARSE_COST = 8
# A pair of dense rows costs about five times as much by cells as in the exact search. If a query looks into this share
# of the cells or more, the exact search is cheaper, and finds all neighbours.
EXACT_SHARE = 1 / 5


class NeighborSearch(Protocol):
    """Finds the rows of a matrix that are nearest to queries."""

    kind: str  # "exact" | "kd-tree" | "approximate"
    recall: float  # share of the true neighbours found, measured on a sample; 1.0 for the exact kinds

    def nearest(self, queries: Matrix, n_nearest: int, own: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return (rows int64, distances), (q, n_nearest), by (distance, row number).

        own : (q,) the row of each query in the matrix, which is not its own neighbour; None: queries are new points
        """
        ...

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers (b,), rows int64, distances (b, n_nearest)) for all rows of the matrix, in batches and in an
        order that suits the search.

        The neighbours are those of `nearest`, or equally good ones (`PostingSearch`).

        tell : called with the progress
        """
        ...


def make_search(X: FeatureMatrix, n_neighbors: int, search: str = "auto", seed: int = 0) -> NeighborSearch:
    """Return a search among the rows of X for up to `n_neighbors` of them, in addition to a query's own row.

    X : float64, finite, array (n, d) or CSR, already checked
    search : "exact", "approximate", or "auto": exact if that is quick (`QUICK_WORK`) or quicker than by cells
        (`EXACT_SHARE`), and never if it takes long (`EXACT_WORK`)
    """
    if search not in SEARCHES:
        raise ValueError(f"search must be one of {', '.join(map(repr, SEARCHES))}. Got {search!r}.")
    X = ready(X)
    # Of more than K + 1 equal rows, the later ones are neighbours of no other rows. Exclude them from the search, so
    # that data with few distinct rows do not tie all rows with each other.
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
    """Return the cost of one pair of these rows, in multiplications of dense rows."""
    return float(SPARSE_COST * X.nnz / X.shape[0] if is_sparse(X) else X.shape[1])


def takes_long(n_rows: int, some: FeatureMatrix) -> bool:
    """Return whether finding the neighbours of n_rows rows, with `some` as a sample, takes more than about two seconds
    of one core, including text features."""
    by_tree = not is_sparse(some) and some.shape[1] <= TREE_FEATURES
    return n_rows * some.shape[1] > IN_TREE if by_tree else float(n_rows) ** 2 * row_cost(some) > QUICK_WORK


def compile_search() -> None:
    """Compile all loops, or load them, before someone waits for them."""
    few = np.arange(4 * (TREE_FEATURES + 1), dtype=np.float64).reshape(4, -1)
    for X in (few, sparse.csr_matrix(few), few[:, :2]):
        for how in ("exact", "approximate") if is_sparse(X) else ("exact",):
            make_search(X, 2, how).nearest(X, 1, np.arange(4))
