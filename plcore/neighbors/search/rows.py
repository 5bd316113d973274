"""Rows of a matrix in the form for the search, and the equal ones among them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from plcore.arrays.array_files import let_go
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray, IntArray, MatrixLike, is_sparse

UintArray = NDArray[np.uint64]
_BLOCK = 2**20  # numbers hashed at once
_SEED = 0x5EED


def ready(X: MatrixLike) -> FeatureMatrix:
    """Return X, float64 (n, d), in the form the loops are compiled for: C-contiguous and writable, or CSR with sorted,
    distinct int32 indices. X itself is returned if it has this form."""
    if not is_sparse(X):
        return np.require(X, dtype=np.float64, requirements=["C", "W"])
    stored = sparse.csr_matrix(X)
    if not stored.has_canonical_format:
        stored = stored.copy()
        stored.sum_duplicates()
    stored.data = np.require(stored.data, dtype=np.float64, requirements=["C", "W"])
    if stored.nnz < 2**31 and stored.shape[1] < 2**31:
        stored.indices = np.require(stored.indices, dtype=np.int32, requirements=["C", "W"])
        stored.indptr = np.require(stored.indptr, dtype=np.int32, requirements=["C", "W"])
    return stored


def first_of_equals(X: FeatureMatrix, most: int) -> IntArray:
    """Return the rows of X, ascending, without rows that equal `most` earlier ones, bit for bit.

    X : float64 (n, d) C-contiguous, or CSR with sorted indices
    """
    hashes = _hash_sparse(X) if is_sparse(X) else _hash_dense(X)
    let_go()
    kept = np.ones(len(hashes), dtype=bool)
    ordered = np.sort(hashes)
    crowded = np.unique(ordered[most:][ordered[most:] == ordered[:-most]])  # hashes of more than `most` rows
    del ordered
    rows = np.flatnonzero(np.isin(hashes, crowded)) if len(crowded) else np.empty(0, dtype=np.int64)
    rows = rows[np.argsort(hashes[rows], kind="stable")]
    starts = np.searchsorted(hashes[rows], crowded)
    for group in np.split(rows, starts[1:]) if len(rows) else ():  # ascending, since the sort is stable
        # Rows with the same hash that do not equal the first stay: that costs time, but never a neighbour.
        equal = group[_equal_to(X, group[0], group)]
        kept[equal[most:]] = False
    return np.flatnonzero(kept)


def _equal_to(X: FeatureMatrix, first: int, rows: IntArray) -> BoolArray:
    if not is_sparse(X):
        return np.concatenate(
            [(X[part] == X[first]).all(axis=1) for part in np.array_split(rows, 1 + len(rows) * X.shape[1] // _BLOCK)]
        )
    pattern = X.indices[X.indptr[first] : X.indptr[first + 1]]
    values = X.data[X.indptr[first] : X.indptr[first + 1]]
    same = np.diff(X.indptr)[rows] == len(pattern)
    stored = X.indptr[rows[same]][:, None] + np.arange(len(pattern))
    same[same] = ((X.indices[stored] == pattern) & (X.data[stored] == values)).all(axis=1)
    return np.asarray(same)


def _hash_dense(X: FloatArray) -> IntArray:
    """Return a 64-bit hash of each row: its bits times odd random numbers, summed with overflow."""
    factors = _odd(X.shape[1])
    hashes = np.empty(len(X), dtype=np.uint64)
    length = max(1, _BLOCK // X.shape[1])
    for start in range(0, len(X), length):
        block = _mixed(X[start : start + length].view(np.uint64))
        hashes[start : start + length] = (block * factors).sum(axis=1, dtype=np.uint64)
    return hashes.view(np.int64)


def _hash_sparse(X: sparse.csr_matrix) -> IntArray:
    parts = _mixed(X.data.view(np.uint64)) * _odd(X.shape[1])[X.indices]
    totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(parts, dtype=np.uint64)])
    return np.asarray(totals[X.indptr[1:]] - totals[X.indptr[:-1]]).view(np.int64)


def _mixed(bits: UintArray) -> UintArray:
    """Mix the bits. Simple numbers differ only in their high bits, and a product with an odd number would leave the
    difference there."""
    return bits ^ (bits >> np.uint64(32))


def _odd(count: int) -> UintArray:
    return np.random.default_rng(_SEED).integers(2**63, size=count, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
