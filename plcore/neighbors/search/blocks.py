"""Exact search: every query against every row, in blocks of single-precision products with proven bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from plcore.arrays.types import AnyArray, FeatureMatrix, FloatArray, IntArray, ShareProgress, is_sparse, untold
from plcore.kernels.near import scan_dense, scan_sparse
from plcore.kernels.postings import multiply_sparse
from plcore.neighbors.search.rows import ready

# Maximum number of multiplications (rows x rows x features) for which "auto" is exact: 1e5 rows x 64 features, about 13
# s of one core.
EXACT_WORK = 6.4e11
ROWS = 2048  # rows of X in a block
QUERIES = 256  # queries in a block: 2 MB of products
BATCH = 8192  # queries for which a block of rows is converted once
_AT_ONCE = 1 << 20  # numbers compared at a time


class RowRoom:
    """Memory for arrays of one width that are needed again and again, each in place of the previous one.

    Some systems reclaim freed memory at once, such as Dask's workers. They would then provide new pages for each
    array, which costs as much as the computation.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._kept: dict[str, AnyArray] = {}

    def rows(self, what: str, n_rows: int, dtype: type) -> AnyArray:
        """Return an array (n_rows, width) with arbitrary contents. It is valid until the same `what` is requested
        again."""
        kept = self._kept.get(what)
        if kept is None or len(kept) < n_rows:
            kept = self._kept[what] = np.empty((n_rows, self._width), dtype=dtype)
        return kept[:n_rows]


class SinglePrecision:
    """Rows as float32, shifted and scaled so that products lose little precision, with a bound on the loss.

    With x, q the shifted and scaled rows: |q - x|^2 >= height - 2 product + depth, where height and depth are |x|^2 and
    |q|^2 minus the maximum rounding error. The product of d float32 terms is off by at most (d + 2) u |q||x| (Higham,
    Accuracy and Stability, eq. 3.5; u = 2^-24), and 2 |q||x| <= |q|^2 + |x|^2.

    `unit` : the scaled squared distance of 1.
    """

    def __init__(self, X: FeatureMatrix) -> None:
        self._centre: FloatArray | None = None
        if is_sparse(X):  # zeros stay zeros and add nothing to a sum
            terms = int(np.diff(X.indptr).max(initial=0))
            largest = float(np.abs(X.data).max(initial=0.0))
        else:
            terms = X.shape[1]
            with np.errstate(over="ignore", invalid="ignore"):
                centre = X.mean(axis=0)
            self._centre = centre = np.where(np.isfinite(centre), centre, 0.0)
            largest = float(np.maximum(np.abs(X.max(axis=0) - centre), np.abs(X.min(axis=0) - centre)).max())
        exponent = -math.frexp(largest)[1] if math.isfinite(largest) else -1024
        self._scale = math.ldexp(1.0, max(-1000, min(exponent, 1000)))
        self.unit = self._scale * self._scale
        self._kept = 1.0 - (terms + 16) * 2.0**-23

    def rows(self, X: FeatureMatrix, room: RowRoom | None = None) -> tuple[FeatureMatrix, FloatArray]:
        """Return (float32 rows, heights float64 (n,)) of float64 rows. room : memory for dense rows, valid until its
        next use"""
        with np.errstate(over="ignore"):  # for extreme values, products are infinite and prove nothing
            if self._centre is None:
                scaled: sparse.csr_matrix = X * self._scale
                squares = np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel()
                return scaled.astype(np.float32), squares * self._kept
            n = len(X)
            scaled = np.subtract(X, self._centre, out=None if room is None else room.rows("scaled", n, np.float64))
            scaled *= self._scale
            single = np.empty(X.shape, np.float32) if room is None else room.rows("single", n, np.float32)
            single[...] = scaled
            return single, np.einsum("ij,ij->i", scaled, scaled) * self._kept

    def depths(self, heights: FloatArray) -> FloatArray:
        """Return the depths of queries, from their heights, minus the float32 error of numbers near 0."""
        return heights - 1e-30


class Marks:
    """The counterpart of `SinglePrecision` for features that are each 0 or one common value, such as categories.

    Such data have many ties. But here products count shared marks, without rounding, and the squared distance is a sum
    of m equal numbers, so it depends only on m. So a row at the distance of the worst neighbour kept is recognised
    exactly. As rows come in ascending order, it does not replace that neighbour.
    """

    def __init__(self, value: float) -> None:
        self.unit = 1.0 / value**2

    def rows(self, X: FeatureMatrix, room: RowRoom | None = None) -> tuple[FeatureMatrix, FloatArray]:  # noqa: ARG002
        if is_sparse(X):
            marks = sparse.csr_matrix(((X.data != 0).astype(np.float32), X.indices, X.indptr), shape=X.shape)
        else:
            marks = (X != 0).astype(np.float32)
        return marks, np.asarray(marks.sum(axis=1), dtype=np.float64).ravel()

    def depths(self, heights: FloatArray) -> FloatArray:
        return heights + 0.5  # distances differ by at least 1


def only_value(X: FeatureMatrix) -> float | None:
    """Return the only nonzero value of X; None if there are two, or it is extreme."""
    values = X.data if is_sparse(X) else X.ravel()
    if not values.size:
        return None
    value = float(values.max()) or float(values.min())
    usual = 1e-100 < abs(value) < 1e100
    # A few rows are enough in most cases.
    parts = (values[:1000], values) if usual else ()
    return value if usual and all(_has_only(part, value) for part in parts) else None


def _has_only(values: FloatArray, value: float) -> bool:
    """Return whether all numbers (n,) are 0 or this value."""
    parts = (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
    return all(((part == 0) | (part == value)).all() for part in parts)


class BlockSearch:
    """Exact neighbours among the rows `searched` of X, float64 (n, d) C-contiguous or CSR with sorted indices.

    searched : ascending row numbers
    """

    kind = "exact"
    recall = 1.0

    def __init__(self, X: FeatureMatrix, searched: IntArray) -> None:
        self.X = X
        self.searched = searched
        self._value = only_value(X)
        self._singles: SinglePrecision | None = None

    def frame(self, queries: FeatureMatrix) -> SinglePrecision | Marks:
        """Return the form in which rows and these queries are multiplied."""
        if self._value is not None and only_value(queries) == self._value:
            return Marks(self._value)
        if self._singles is None:
            self._singles = SinglePrecision(self.X)
        return self._singles

    def block(self, frame: SinglePrecision | Marks, rows: IntArray) -> Block:
        """Return these rows of X as a block."""
        return make_block(frame, self.X, rows, rows, self.X[rows])

    def nearest(
        self, queries: FeatureMatrix, n_nearest: int, own: IntArray | None = None
    ) -> tuple[IntArray, FloatArray]:
        """Return (rows, distances), (q, n_nearest), as `NeighborSearch`."""
        queries = ready(queries)
        return self._nearest(queries, n_nearest, own, self.frame(queries))

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers of some rows, their neighbours, distances), as `NeighborSearch`."""
        frame = self.frame(self.X)
        for first in range(0, self.X.shape[0], BATCH):
            tell(first / self.X.shape[0])
            own = np.arange(first, min(first + BATCH, self.X.shape[0]))
            yield own, *self._nearest(self.X[first : first + BATCH], n_nearest, own, frame)

    def _nearest(
        self, queries: FeatureMatrix, n_nearest: int, own: IntArray | None, frame: SinglePrecision | Marks
    ) -> tuple[IntArray, FloatArray]:
        found = Found(queries, n_nearest, own, frame, self.X.shape[0])
        for first in range(0, queries.shape[0], BATCH):
            batch = np.arange(first, min(first + BATCH, queries.shape[0]))
            single = found.open(batch)
            for start in range(0, len(self.searched), ROWS):
                found.scan(single, batch, self.block(found.frame, self.searched[start : start + ROWS]))
        return found.rows, found.distances()


@dataclass(frozen=True)
class Block:
    """Rows in the form for multiplication."""

    rows: IntArray  # (c,) the row numbers
    places: IntArray  # (c,) their places in X
    X: FeatureMatrix  # float64 (n, d), or CSR with the row numbers as places
    columns: FeatureMatrix  # float32 (d, c), dense or CSR
    heights: AnyArray  # float32 (c,)


def make_block(
    frame: SinglePrecision | Marks,
    X: FeatureMatrix,
    rows: IntArray,
    places: IntArray,
    values: FeatureMatrix,
    room: RowRoom | None = None,
) -> Block:
    """Return a block of the rows at `places` of X, with these `values`. room : memory; the block is valid until its
    next use"""
    single, heights = frame.rows(values, room)
    columns = single.T.tocsr() if is_sparse(single) else single.T
    with np.errstate(over="ignore"):
        return Block(rows, places, X, columns, heights.astype(np.float32))


class Found:
    """The best neighbours so far of some queries: `rows`, `squared` (q, k), ascending; `frame`, the form for
    multiplication.

    n_rows : number that stands for no row yet; it sorts after all rows
    """

    def __init__(
        self, queries: FeatureMatrix, n_nearest: int, own: IntArray | None, frame: SinglePrecision | Marks, n_rows: int
    ) -> None:
        self._queries = queries
        self.frame = frame
        self._own = np.full(queries.shape[0], -1) if own is None else own
        self._depths = np.empty(queries.shape[0])
        self.squared = np.full((queries.shape[0], n_nearest), np.inf)
        self.rows = np.full((queries.shape[0], n_nearest), n_rows)
        # Reused memory. Some systems reclaim freed memory at once, such as Dask's workers. They would then provide
        # new pages for each block, which costs as much as the product.
        self._room = np.empty(0, dtype=np.float32)
        width = 0 if is_sparse(queries) else queries.shape[1]
        self._asking = np.empty((QUERIES, width), dtype=np.float32)

    def open(self, batch: IntArray) -> FeatureMatrix:
        """Prepare a scan for these queries; return their float32 rows."""
        single, heights = self.frame.rows(self._queries[batch])
        self._depths[batch] = self.frame.depths(heights)
        return single

    def take(self, single: FeatureMatrix, places: IntArray) -> FeatureMatrix:
        """Return at most `QUERIES` of the float32 rows from `open`, valid until the next call."""
        if is_sparse(single):
            return single[places]
        taken = self._asking[: len(places)]
        return single.take(places, axis=0, out=taken, mode="clip")  # unlike "raise", it fills `out` itself

    def scan(self, single: FeatureMatrix, queries: IntArray, block: Block) -> None:
        """Compare the block's rows with these queries, whose float32 rows are `single`."""
        for start in range(0, len(queries), QUERIES):
            asking = single[start : start + QUERIES]
            columns = block.columns
            if is_sparse(asking) and is_sparse(columns):
                products = self._products(asking.shape[0], len(block.rows))
                multiply_sparse(
                    asking.data, asking.indices, asking.indptr, columns.data, columns.indices, columns.indptr, products
                )
            else:
                products = self._products(len(asking), len(block.rows))
                with np.errstate(over="ignore", invalid="ignore"):
                    np.matmul(asking, columns, out=products)
            self._offer(products, queries[start : start + QUERIES], block)

    def _products(self, n_queries: int, n_rows: int) -> AnyArray:
        size = n_queries * n_rows
        if len(self._room) < size:
            self._room = np.empty(size, dtype=np.float32)
        return self._room[:size].reshape(n_queries, n_rows)

    def _offer(self, products: AnyArray, queries: IntArray, block: Block) -> None:
        X, Q = block.X, self._queries
        unit = self.frame.unit
        given = (products, block.heights, queries, block.rows)
        if is_sparse(X) and is_sparse(Q):
            stored = (Q.data, Q.indices, Q.indptr, X.data, X.indices, X.indptr)
            scan_sparse(*given, *stored, self._own, self._depths, unit, self.squared, self.rows)
        else:
            scan_dense(*given, block.places, Q, X, self._own, self._depths, unit, self.squared, self.rows)

    def distances(self) -> FloatArray:
        return np.asarray(np.sqrt(self.squared))
