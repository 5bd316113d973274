"""Search among sparse rows by an inverted index. The approximate search reads only the most informative lists.

Texts share common n-grams with half of all texts, so the products of all pairs are dense, and cells gain little. But
rare features have more weight. For every row, a query adds up the products of the features with the most weight for the
length of their lists, up to a certain number of postings. The rows with the largest sums are then measured in full, as
in the exact search. The number of postings is not a setting: it is the smallest power of two that finds `AIM` of the
true neighbours of a seeded sample. The reported recall is measured on another sample. Reading lists by the contribution
of a posting is the order of Anh and Moffat (SIGIR 2006, "Pruned query evaluation using pre-computed impacts"). If all
rows ask for their own neighbours, each pair is examined once, for both rows (Bayardo et al., WWW 2007, "Scaling up all
pairs similarity search"). See docs/decisions/0005-neighbour-search.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix, ShareProgress, untold
from plcore.kernels.postings import BLOCK_ROWS, list_postings, measure_proposed, propose
from plcore.neighbors.search.blocks import BlockSearch, Marks
from plcore.neighbors.search.rows import ready

AIM = 0.995  # target recall on the first sample, so that 0.99 holds beyond it
SAMPLE = 256  # rows in each of the two samples
FEWEST_POSTINGS, MOST_POSTINGS = 2**13, 2**18  # limits of the postings read for a query, whatever the recall
PROPOSED = 64  # rows measured for a query,
PER_NEIGHBOR = 4  # or this many for each neighbour wanted
SPARE = 7  # rows measured in addition to the neighbours, in the exact search
BATCH = 8192  # queries processed at once
PAIRS = 0.8  # share of the time of a search for all rows that is spent on pairs, the rest on measuring


class _Lists(NamedTuple):
    """The postings of a block of rows, from `list_postings`. first : number of its first row"""

    first: int
    ends: AnyArray
    rows: AnyArray
    listed: AnyArray


class _Proposed(NamedTuple):
    """Proposals so far for some rows, in the form for `propose`."""

    heights: AnyArray
    keys: AnyArray
    rows: AnyArray
    sizes: IntArray
    limits: AnyArray

    def part(self, first: int, last: int) -> _Proposed:
        return _Proposed(*(array[first:last] for array in self))


def _nothing(heights: AnyArray, n_kept: int) -> _Proposed:
    """Return empty proposals for rows with these squared lengths. If n_kept is 0, nothing will ever be proposed."""
    shape = len(heights), 2 * n_kept
    return _Proposed(
        heights,
        np.empty(shape, dtype=np.float32),
        np.empty(shape, dtype=np.int32),
        np.zeros(len(heights), dtype=np.int64),
        np.full(len(heights), -np.inf if n_kept else np.inf, dtype=np.float32),
    )


class _Index:
    """The lists of the rows R, float64 CSR (n, d) with sorted indices, block by block; none longer than `longest`.

    scale : factor of the values      heights float32 (n,) : squared lengths of the scaled rows, or less
    """

    def __init__(self, R: sparse.csr_matrix, scale: float, heights: AnyArray, longest: int) -> None:
        self._R, self._scale, self._heights = R, scale, heights
        self._squares = np.empty(R.shape[0])
        blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, R.shape[0], BLOCK_ROWS)]
        lengths, weights = np.zeros(R.shape[1], dtype=np.int64), np.zeros(R.shape[1])
        with np.errstate(over="ignore"):
            for block in blocks:
                some = R[block]
                self._squares[block] = squares(some)
                lengths += np.bincount(some.indices, minlength=R.shape[1])
                weights += np.bincount(some.indices, (some.data * scale) ** 2, minlength=R.shape[1])
        # A posting contributes its square, and longer lists separate rows less.
        order = np.argsort(-weights / np.maximum(lengths, 1) ** 1.5, kind="stable")
        order = order[lengths[order] <= longest]
        self._lengths = lengths[order]
        self._places: AnyArray = np.full(R.shape[1], -1, dtype=np.int32)
        self._places[order] = np.arange(len(order), dtype=np.int32)
        self._lists = []
        for block in blocks:
            some = self._listed(R[block], longest)
            ends = np.empty(len(order) + 1, dtype=np.int32)
            rows, listed = np.empty(some.nnz, dtype=np.uint16), np.empty(some.nnz, dtype=np.float32)
            list_postings(some.data, some.indices, some.indptr, ends, rows, listed)
            self._lists.append(_Lists(block.start, ends, rows, listed))

    def _listed(self, rows: sparse.csr_matrix, longest: int) -> sparse.csr_matrix:
        """Return the rows as scaled float32. Their columns are the numbers of the lists up to this length, in any
        order."""
        places = self._places[rows.indices]
        held = places >= 0
        held[held] = self._lengths[places[held]] <= longest
        return _csr((rows.data[held] * self._scale).astype(np.float32), places[held], held, rows.indptr)

    def _read(self, queries: sparse.csr_matrix, n_postings: int) -> sparse.csr_matrix:
        """Return the queries as `_listed`, with the lists to read: from the first on, up to n_postings postings."""
        listed = self._listed(queries, n_postings)
        listed.sort_indices()
        postings = self._lengths[listed.indices].cumsum()
        before = np.append(0, postings)[listed.indptr[:-1]]
        postings -= np.repeat(before, np.diff(listed.indptr))
        read = postings <= n_postings
        return _csr(listed.data[read], listed.indices[read], read, listed.indptr)

    def proposed(
        self, queries: sparse.csr_matrix, numbers: IntArray, heights: AnyArray, n_kept: int, n_postings: int
    ) -> _Proposed:
        """Return the rows with the largest sums for each query. numbers (q,) : the query's own row, or -1"""
        found, read = _nothing(heights, n_kept), self._read(queries, n_postings)
        until = np.full(len(numbers), len(self._heights))
        for lists in self._lists:
            none = _nothing(self._heights[lists.first : lists.first + BLOCK_ROWS], 0)
            _propose(read, numbers, until, found, lists, none)
        return found

    def pairs(self, n_kept: int, n_postings: int, tell: ShareProgress) -> _Proposed:
        """Return the rows with the largest sums for each row. The sum of a pair uses the lists that the later row
        reads.

        tell : called with the progress of the whole search, of which this is the share PAIRS
        """
        R, found = self._R, _nothing(self._heights, n_kept)
        done, n_pairs = 0, len(self._lists) * (len(self._lists) + 1) // 2  # pairs of blocks
        for first in range(0, R.shape[0], BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, R.shape[0])
            read, own = self._read(R[first:last], n_postings), np.arange(first, last)
            for lists in self._lists[: first // BLOCK_ROWS + 1]:
                tell(PAIRS * done / n_pairs)
                done += 1
                block = found.part(lists.first, lists.first + BLOCK_ROWS)
                _propose(read, own, own, found.part(first, last), lists, block)
        return found

    def measured(self, queries: sparse.csr_matrix, proposed: _Proposed, n_nearest: int) -> tuple[IntArray, FloatArray]:
        """Return (rows, squared distances), (q, n_nearest), of the nearest of the proposed rows; n and inf for none.

        Proposals are cut to the best, and the limits raised to their smallest key.
        """
        R = self._R
        squared = np.full((queries.shape[0], n_nearest), np.inf)
        rows = np.full(squared.shape, R.shape[0])
        measure_proposed(
            queries.data,
            queries.indices,
            queries.indptr,
            R.data,
            R.indices,
            R.indptr,
            self._squares,
            R.shape[1],
            proposed.keys,
            proposed.rows,
            proposed.sizes,
            proposed.limits,
            proposed.keys.shape[1] // 2,
            squared,
            rows,
        )
        return rows, squared


class PairSearch(BlockSearch):
    """The exact search among sparse rows. For all rows at once it uses lists and examines each pair once.

    All lists are read, so the sums are the products, up to float32 rounding. If the smallest possible distance of a row
    that was not proposed is above that of the last neighbour, none is missing; otherwise the blocks are searched.
    """

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers of some rows, their neighbours, distances), as `NeighborSearch`."""
        frame, searched = self.frame(self.X), self.searched
        X = sparse.csr_matrix(self.X)
        if isinstance(frame, Marks):  # many ties
            yield from super().own_nearest(n_nearest, tell)
            return
        R = X if len(searched) == X.shape[0] else X[searched]
        heights = np.concatenate([frame.rows(R[first : first + BATCH])[1] for first in range(0, R.shape[0], BATCH)])
        index = _Index(R, frame.unit**0.5, heights.astype(np.float32), R.nnz)
        proposed = index.pairs(min(R.shape[0], n_nearest + SPARE), R.nnz, tell)
        numbers = np.append(searched, X.shape[0])
        for first in range(0, R.shape[0], BATCH):
            tell(PAIRS + (1 - PAIRS) * first / R.shape[0])
            last = min(first + BATCH, R.shape[0])
            some, own = proposed.part(first, last), searched[first:last]
            places, squared = index.measured(R[first:last], some, n_nearest)
            rows, distances = numbers[places], np.sqrt(squared)
            least = frame.depths(heights[first:last]) - some.limits  # squared, for rows not proposed
            unsure = np.flatnonzero(~(squared[:, -1] * frame.unit < least))
            rows[unsure], distances[unsure] = self.nearest(X[own[unsure]], n_nearest, own[unsure])
            yield own, rows, distances
        yield from _left_out(self, X, searched, n_nearest)


class PostingSearch:
    """Approximate neighbours among the rows `searched` of X, float64 CSR (n, d) with sorted indices.

    seed : seed of the samples. The same data and seed give the same neighbours, in any batch.
    `recall` : share of the true neighbours found, on a seeded sample of rows; ties count as found.
    `exact` : the exact search among the same rows.      `n_postings` : maximum number read for a query
    """

    kind = "approximate"

    def __init__(self, X: sparse.csr_matrix, searched: IntArray, n_neighbors: int, seed: int = 0) -> None:
        self.exact = PairSearch(X, searched)
        self._X = X
        self._rows = X if len(searched) == X.shape[0] else X[searched]  # searched rows, numbered in this order
        self._scale = self.exact.frame(X).unit ** 0.5
        self._index = _Index(self._rows, self._scale, self._heights(self._rows), MOST_POSTINGS)
        self.n_postings, self.recall = MOST_POSTINGS, 1.0
        if X.shape[0] < 4:
            return
        sample = np.random.default_rng(seed).permutation(X.shape[0])[: 2 * SAMPLE]
        n_nearest = max(1, min(n_neighbors, len(searched)) - 1)
        limits = self.exact.nearest(X[sample], n_nearest, sample)[1][:, -1:]
        chosen, other = (slice(first, None, 2) for first in (0, 1))
        self.n_postings = FEWEST_POSTINGS
        while self.n_postings < MOST_POSTINGS and self._share(sample[chosen], limits[chosen], n_nearest) < AIM:
            self.n_postings *= 2
        self.recall = self._share(sample[other], limits[other], n_nearest)

    def _heights(self, rows: sparse.csr_matrix) -> AnyArray:
        """Return squared lengths as float32 of scaled rows, infinite if they are very large."""
        parts = [squares(rows[first : first + BATCH]) for first in range(0, rows.shape[0], BATCH)]
        with np.errstate(over="ignore"):
            return np.asarray((np.concatenate(parts) * self._scale**2).astype(np.float32))

    def _share(self, rows: IntArray, limits: FloatArray, n_nearest: int) -> float:
        """Return the share of neighbours found for these rows, whose last true neighbours are at `limits` (r, 1)."""
        return float((self.nearest(self._X[rows], n_nearest, rows)[1] <= limits).mean())

    def nearest(self, queries: Matrix, n_nearest: int, own: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return (rows, distances), (q, n_nearest), as `NeighborSearch`."""
        asked: sparse.csr_matrix = ready(sparse.csr_matrix(queries))
        mine = np.full(asked.shape[0], -1) if own is None else own
        searched = self.exact.searched
        numbers = np.searchsorted(searched, mine)  # numbers of the queries among the searched rows
        numbers[searched[np.minimum(numbers, len(searched) - 1)] != mine] = -1
        rows = np.empty((asked.shape[0], n_nearest), dtype=np.int64)
        distances = np.empty(rows.shape)
        for first in range(0, len(rows), BATCH):
            some = slice(first, first + BATCH)
            batch = asked[some]
            proposed = self._index.proposed(
                batch, numbers[some], self._heights(batch), self._n_kept(n_nearest), self.n_postings
            )
            rows[some], distances[some] = self._nearest_of(batch, mine[some], proposed, n_nearest)
        return rows, distances

    def own_nearest(
        self, n_nearest: int, tell: ShareProgress = untold
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (numbers of some rows, their neighbours, distances), as `NeighborSearch`.

        They can differ from those of `nearest`: each pair of rows is examined once, which finds equally many neighbours
        in half the time.
        """
        R, searched = self._rows, self.exact.searched
        proposed = self._index.pairs(self._n_kept(n_nearest), self.n_postings, tell)
        for first in range(0, R.shape[0], BATCH):
            tell(PAIRS + (1 - PAIRS) * first / R.shape[0])
            last = min(first + BATCH, R.shape[0])
            own = searched[first:last]
            yield own, *self._nearest_of(R[first:last], own, proposed.part(first, last), n_nearest)
        yield from _left_out(self, self._X, searched, n_nearest)

    def _n_kept(self, n_nearest: int) -> int:
        """Return the number of rows measured for a query with this many neighbours."""
        return min(len(self.exact.searched), max(PROPOSED, PER_NEIGHBOR * n_nearest))

    def _nearest_of(
        self, queries: sparse.csr_matrix, own: IntArray, proposed: _Proposed, n_nearest: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the nearest of the rows proposed to queries. own : the row of X of each query, or -1"""
        places, squared = self._index.measured(queries, proposed, n_nearest)
        rows, distances = np.append(self.exact.searched, self._X.shape[0])[places], np.sqrt(squared)
        short = np.flatnonzero(places[:, -1] == self._rows.shape[0])
        if len(short):  # the numbers are so large that their sums are meaningless
            rows[short], distances[short] = self.exact.nearest(queries[short], n_nearest, own[short])
        return rows, distances


def _left_out(
    search: PairSearch | PostingSearch, X: sparse.csr_matrix, searched: IntArray, n_nearest: int
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield, as `own_nearest`, the rows of X that are not searched: they equal other rows and are only queries."""
    others = np.setdiff1d(np.arange(X.shape[0]), searched)
    for first in range(0, len(others), BATCH):
        own = others[first : first + BATCH]
        yield own, *search.nearest(X[own], n_nearest, own)


def _propose(
    read: sparse.csr_matrix, numbers: IntArray, until: IntArray, queries: _Proposed, lists: _Lists, block: _Proposed
) -> None:
    """Propose rows of a block to queries, and the queries to these rows; arguments as for the kernel."""
    n_kept: int = queries.keys.shape[1] // 2
    propose(read.data, read.indices, read.indptr, numbers, until, *queries, *lists, *block, n_kept)


def squares(X: sparse.csr_matrix) -> FloatArray:
    """Return the squared lengths of rows."""
    with np.errstate(over="ignore"):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()


def _csr(values: AnyArray, columns: AnyArray, held: BoolArray, starts: AnyArray) -> sparse.csr_matrix:
    """Return CSR rows of the entries that are held, from rows that begin at `starts`."""
    ends = np.append(np.int32(0), np.cumsum(held, dtype=np.int32))[starts]
    return sparse.csr_matrix((values, columns, ends), shape=(len(starts) - 1, int(columns.max(initial=0)) + 1))
