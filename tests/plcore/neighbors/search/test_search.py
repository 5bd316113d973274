"""The kinds of neighbour search compared with a plain scan and with each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from plcore.arrays import array_files
from plcore.neighbors import search
from plcore.neighbors.search import SEARCHES, blocks, cells, make_search, postings, tree
from plcore.neighbors.search.blocks import (
    QUERIES,
    BlockSearch,
    Found,
    Marks,
    RowRoom,
    SinglePrecision,
    make_block,
    only_value,
)
from plcore.neighbors.search.cells import CellSearch, look
from plcore.neighbors.search.rows import first_of_equals, ready
from plcore.neighbors.search.tree import TreeSearch


def plain_search(X, queries, k, own=None):
    """(rows, distances) by a scan: squares added up feature after feature, order by (distance, row number)."""
    rows, distances = [], []
    for place, query in enumerate(queries):
        squared = np.cumsum((query - X) ** 2, axis=1)[:, -1]
        order = [row for row in np.lexsort((np.arange(len(X)), squared)) if own is None or row != own[place]]
        rows.append(order[:k])
        distances.append(np.sqrt(squared[order[:k]]))
    return np.array(rows), np.array(distances)


def every_row(X):
    return np.arange(X.shape[0])


def data(kind, rng, n):
    if kind == "categories":
        return np.hstack([np.eye(width)[rng.integers(width, size=n)] for width in (9, 4, 2)]) * np.sqrt(0.5)
    if kind == "thirds":  # many ties that rounding may break
        return rng.integers(0, 4, size=(n, 9)) / 3
    if kind == "all different":
        return np.eye(n) * np.sqrt(0.5)
    if kind == "words":
        return np.where(rng.random((n, 30)) < 0.1, rng.random((n, 30)), 0.0)
    if kind == "outlier":
        return np.vstack([rng.normal(size=(n - 1, 12)), np.full(12, 1e7)])
    if kind == "tiny":  # float32 cannot distinguish the others next to a row of ones
        return np.vstack([np.ones(12), rng.normal(size=(n - 1, 12)) * 1e-22])
    if kind == "few features":
        return rng.integers(0, 6, size=(n, 3)) * [1.0, 0.1, 1 / 3]
    return rng.normal(size=(n, 20))


KINDS = ("categories", "thirds", "all different", "words", "outlier", "tiny", "few features", "normal")


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 10])
def test_exact_kinds_match_a_scan_including_ties(kind, k, stored, monkeypatch):
    rng = np.random.default_rng(0)
    X = data(kind, rng, 150)
    queries = np.vstack([X[:20], data(kind, rng, 150)[:20] + rng.normal(size=(20, X.shape[1])) * 0.1, X[:5] * 2])
    own = np.arange(150)
    monkeypatch.setattr(blocks, "ROWS", 70)
    monkeypatch.setattr(blocks, "BATCH", 33)
    monkeypatch.setattr(blocks, "QUERIES", 7)
    monkeypatch.setattr(tree, "BLOCK_CELLS", 50)
    searches = [BlockSearch(ready(stored(X)), every_row(X)), make_search(stored(X), k + 1, "exact")]
    if stored is np.asarray and kind == "few features":
        searches.append(TreeSearch(X, every_row(X)))
        assert searches[1].kind == "kd-tree"
    for found in searches:
        assert found.recall == 1.0
        for asked, mine in ((X, own), (queries, None)):
            for part, expected in zip(
                found.nearest(stored(asked), k, mine), plain_search(X, asked, k, mine), strict=True
            ):
                np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e20, 1e100])
def test_extreme_magnitudes_are_searched_exactly(size, stored):
    """float32 holds neither; distances below 1e-154 are 0 in float64 too, and those above 1e154 infinite."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 11)) * size
    search = BlockSearch(ready(stored(X)), every_row(X))
    for queries in (X, X * 1e30, X * 1e-30, X[::-1] * 1e90):
        with np.errstate(over="ignore"):
            expected = plain_search(X, queries, 4)
        for part, right in zip(search.nearest(stored(queries), 4), expected, strict=True):
            np.testing.assert_array_equal(part, right)


def test_tree_accepts_infinitely_distant_queries():
    X = np.random.default_rng(2).normal(size=(50, 3))
    found = make_search(X, 3)
    assert found.kind == "kd-tree"
    rows, distances = found.nearest(np.vstack([X[:1], np.full((1, 3), 1e200)]), 2)
    assert rows[0, 0] == 0
    assert rows[1].tolist() == [0, 1]  # all equally far, at an infinite distance
    assert np.isinf(distances[1]).all()
    assert make_search(X * 1e200, 3).kind == "exact"


def test_float32_distance_is_a_lower_bound():
    """height - 2 product + depth is at most the scaled squared distance, whatever the data."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        d = int(rng.integers(1, 200))
        X = rng.normal(size=(30, d)) * 10.0 ** rng.integers(-4, 5, size=d) + rng.normal() * 10.0 ** rng.integers(5)
        queries = X[:9] + rng.normal(size=(9, d)) * 10.0 ** rng.integers(-8, 3)
        for stored in (np.asarray, sparse.csr_matrix):
            frame = SinglePrecision(stored(X))
            (single, heights), (asking, asked) = frame.rows(stored(X)), frame.rows(stored(queries))
            products = asking @ single.T
            products = products.toarray() if sparse.issparse(products) else products
            bound = heights.astype(np.float32) - products - products
            squared = ((queries[:, None] - X) ** 2).sum(axis=2) * frame.unit
            assert (bound <= (squared - frame.depths(asked)[:, None]).astype(np.float32)).all()


def test_indicator_search_requires_a_single_nonzero_value():
    X = np.array([[0, 0.5], [0.5, 0]])
    assert only_value(X) == only_value(sparse.csr_matrix(X)) == 0.5
    assert only_value(-X) == -0.5
    for other in (X + 1e-9, X * [1, -1], X * 0, X * 1e-200, np.zeros((0, 2)), sparse.csr_matrix((2, 2))):
        assert only_value(other) is None
    search = BlockSearch(X, np.arange(2))
    assert isinstance(search.frame(X), Marks)
    assert isinstance(search.frame(X * 2), SinglePrecision)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_all_distinct_categories_do_not_need_a_distance_per_pair(stored):
    """All rows tie with each other; a distance of any row after the first ten would be seen, and come out wrong."""
    values = np.eye(300) * np.sqrt(0.5)
    emptied = values.copy()
    emptied[10:] = 0.0  # nearer to every query than the rows are
    X, rows = ready(stored(values)), np.arange(300)
    neighbors = {}
    for frame in (Marks(np.sqrt(0.5)), SinglePrecision(X)):
        found = Found(X, 9, rows, frame, 300)
        found.scan(found.open(rows), rows, make_block(frame, ready(stored(emptied)), rows, rows, X))
        neighbors[type(frame)] = found.rows
    assert neighbors[Marks][0].tolist() == list(range(1, 10))
    assert (neighbors[Marks][10:] == range(9)).all()
    assert neighbors[SinglePrecision][-1].min() >= 10, "the same scan without marks does need them"


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_first_of_equals_keeps_the_first_rows_of_each_group(stored):
    rng = np.random.default_rng(4)
    for _ in range(50):
        X = rng.integers(0, 2, size=(40, int(rng.integers(1, 6)))) * rng.choice([1.0, 0.1, 1e-300])
        expected = [row for row in range(40) if (X[:row] == X[row]).all(axis=1).sum() < 3]
        assert first_of_equals(ready(stored(X)), 3).tolist() == expected


def test_equal_hashes_are_compared_by_value(monkeypatch):
    monkeypatch.setattr("plcore.neighbors.search.rows._odd", lambda count: np.zeros(count, dtype=np.uint64))
    X = np.array([[1.0], [2.0], [1.0], [1.0], [2.0], [2.0]])
    for stored in (np.asarray, sparse.csr_matrix):
        kept = first_of_equals(ready(stored(X)), 2).tolist()
        assert {0, 1, 2, 4} <= set(kept)  # too many are harmless, too few are not
        assert 3 not in kept


def test_unsupported_arrays_are_copied():
    X = np.random.default_rng(5).normal(size=(12, 9))
    locked = X.copy()
    locked.flags.writeable = False
    columns = np.asfortranarray(X)
    wide = sparse.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    double = sparse.csr_matrix(
        (np.r_[X.ravel() / 2, X.ravel() / 2], (np.tile(np.arange(108) // 9, 2), np.tile(np.arange(108) % 9, 2))),
    )  # fmt: skip
    expected = make_search(X, 3).nearest(X, 2)
    for other in (locked, columns, wide, double, sparse.csc_matrix(X)):
        for part, right in zip(make_search(other, 3).nearest(other, 2), expected, strict=True):
            np.testing.assert_array_equal(part, right)
    assert ready(X) is X
    assert wide.indices.dtype == np.int64  # the caller's arrays are unchanged


# The approximate search


def clusters(n, d=16, seed=0, spread=0.6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(40, d))[rng.integers(40, size=n)] + spread * rng.normal(size=(n, d))


def share_found(found, exact):
    """Share of the rows found that are as near as the last true neighbour."""
    return float((found[1] <= exact[1][:, -1:]).mean())


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_approximate_search_reaches_its_reported_recall(stored):
    X, queries = clusters(6000), clusters(6000, seed=0, spread=0.7)[:700]
    if stored is not np.asarray:
        X, queries = (np.where(np.abs(part) > 0.8, part, 0.0) for part in (X, queries))
    own = np.arange(6000)
    quick, exact = make_search(stored(X), 10, "approximate"), make_search(stored(X), 10, "exact")
    assert (quick.kind, exact.kind) == ("approximate", "exact")
    found, right = quick.nearest(stored(X), 9, own), exact.nearest(stored(X), 9, own)
    share = share_found(found, right)
    assert share >= 0.98
    assert abs(share - quick.recall) < 0.01
    assert share_found(quick.nearest(stored(queries), 10), exact.nearest(stored(queries), 10)) > 0.97
    # Distances and order equal those of the exact search.
    same = found[0] == right[0]
    np.testing.assert_array_equal(found[1][same], right[1][same])
    assert (found[0] != own[:, None]).all()
    assert (np.diff(found[1], axis=1) >= 0).all()
    assert all(len(set(row)) == 9 for row in found[0].tolist())


def test_approximate_search_is_seeded_and_independent_of_batches(monkeypatch):
    X = clusters(3000)
    own = np.arange(3000)
    with threadpool_limits(1):
        first = make_search(X, 8, "approximate", seed=3)
        expected = first.nearest(X, 7, own)
    with threadpool_limits(2):
        again = make_search(X, 8, "approximate", seed=3)
    assert (again.recall, again.n_probed) == (first.recall, first.n_probed)
    monkeypatch.setattr(cells, "BATCH", 700)
    for part, right in zip(again.nearest(X, 7, own), expected, strict=True):
        np.testing.assert_array_equal(part, right)
    for row in (0, 17, 2999):
        for part, right in zip(again.nearest(X[[row]], 7, own[[row]]), expected, strict=True):
            np.testing.assert_array_equal(part[0], right[row])
    other = make_search(X, 8, "approximate", seed=4)
    assert not np.array_equal(other._order, first._order)


def rare_and_common(n, seed=0):
    """CSR rows of length 1 with 12 of 400 features, which are less and less common; signs differ."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, 401)
    picked = np.array([rng.choice(400, 12, replace=False, p=share / share.sum()) for _ in range(n)])
    X = np.zeros((n, 400))
    np.put_along_axis(X, picked, rng.normal(1, 0.5, (n, 12)) * np.log(2 + picked), axis=1)
    return sparse.csr_matrix(X / np.linalg.norm(X, axis=1, keepdims=True))


def plain_postings(X, n_postings, n_proposed, k, asked, together):
    """Distances to the rows nearest to each of `asked` among those with the largest sums over the features it reads.

    together : features of the later of two rows; else of the asked row
    """
    dense, frequent = X.toarray(), np.bincount(X.indices, minlength=X.shape[1])
    order = np.argsort(-(dense**2).sum(axis=0) / np.maximum(frequent, 1) ** 1.5, kind="stable")

    def reads(query):
        held = [one for one in order if query[one] != 0 and frequent[one] <= n_postings]
        return np.array(held)[np.cumsum(frequent[held]) <= n_postings]

    read = [reads(query) for query in dense]
    found = []
    for place in asked:
        sums = np.array(
            [
                dense[other][of] @ dense[place][of]
                for other in range(len(dense))
                for of in [read[max(place, other) if together else place]]
            ]
        )
        keys = 2 * sums - (dense**2).sum(axis=1)
        keys[place] = -np.inf
        best = np.lexsort((np.arange(len(keys)), -keys))[:n_proposed]
        found.append(np.sort(((dense[place] - dense[best]) ** 2).sum(axis=1))[:k] ** 0.5)
    return np.array(found)


@pytest.mark.parametrize("n_postings", [40, 200, 1000])
def test_posting_search_measures_rows_with_the_largest_partial_products(n_postings, monkeypatch):
    X = ready(rare_and_common(200).multiply(np.linspace(0.5, 2, 200)[::-1, None]))
    for name in ("FEWEST_POSTINGS", "MOST_POSTINGS"):
        monkeypatch.setattr(postings, name, n_postings)
    monkeypatch.setattr(postings, "PROPOSED", 30)
    monkeypatch.setattr(postings, "BLOCK_ROWS", 64)  # the last block is smaller, and not a multiple of eight
    own, found = np.arange(200), make_search(X, 6, "approximate")
    alone = found.nearest(X, 5, own)[1]
    np.testing.assert_allclose(alone, plain_postings(X, n_postings, 30, 5, own, together=False), rtol=1e-6)
    pairs = np.concatenate([far for _, _, far in found.own_nearest(5)])
    np.testing.assert_allclose(pairs, plain_postings(X, n_postings, 30, 5, own, together=True), rtol=1e-6)


def test_posting_search_reads_postings_until_recall_is_reached(monkeypatch):
    X = ready(rare_and_common(2000))
    monkeypatch.setattr(postings, "FEWEST_POSTINGS", 64)
    quick, exact = make_search(X, 10, "approximate"), make_search(X, 10, "exact")
    own = np.arange(2000)
    assert 64 < quick.n_postings < postings.MOST_POSTINGS
    right = exact.nearest(X, 9, own)
    _, rows, far = (np.concatenate(part) for part in zip(*quick.own_nearest(9), strict=True))
    for found in (quick.nearest(X, 9, own), (rows, far)):
        share = share_found(found, right)
        assert share >= 0.95
        assert abs(share - quick.recall) < 0.02
    monkeypatch.setattr(postings, "MOST_POSTINGS", 64)
    limited = make_search(X, 10, "approximate")
    assert limited.recall < 0.9
    assert abs(limited.recall - share_found(limited.nearest(X, 9, own), exact.nearest(X, 9, own))) < 0.05


def test_exact_sparse_search_uses_blocks_for_doubtful_rows_only(monkeypatch):
    X, asked = rare_and_common(300), []
    # Six rows are at distances from row 0 that float32 cannot distinguish; five of them are its nearest.
    X = ready(sparse.vstack([X, *(X[0] * (1.1 + 1e-9 * turn) for turn in (3, 5, 1, 0, 4, 2))]))
    own = np.arange(306)
    right = BlockSearch(X, own).nearest(X, 5, own)
    plain = BlockSearch.nearest
    monkeypatch.setattr(BlockSearch, "nearest", lambda *given: asked.append(len(given[3])) or plain(*given))
    monkeypatch.setattr(postings, "SPARE", 1)
    _, rows, far = (np.concatenate(part) for part in zip(*make_search(X, 6, "exact").own_nearest(5), strict=True))
    np.testing.assert_array_equal(rows, right[0])
    np.testing.assert_array_equal(far, right[1])
    assert 0 < sum(asked) < 30


def test_posting_search_in_batches_gives_the_same_neighbors(monkeypatch):
    X = ready(rare_and_common(300))
    expected = make_search(X, 6, "approximate").nearest(X, 5, np.arange(300))
    monkeypatch.setattr(postings, "BATCH", 70)
    for part, right in zip(make_search(X, 6, "approximate").nearest(X, 5, np.arange(300)), expected, strict=True):
        np.testing.assert_array_equal(part, right)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["exact", "approximate"])
def test_searching_all_rows_at_once_matches_searching_each(how, kind, stored, mapped, monkeypatch):
    """In batches, cell by cell, on rows in a file: the same bits, also of rows that are left out of the search."""
    X = data(kind, np.random.default_rng(4), 150)
    X[20:90] = X[:3].repeat([40, 20, 10], axis=0)
    own = np.arange(150)
    rows, distances = make_search(stored(X), 6, how, seed=2).nearest(stored(X), 5, own)
    monkeypatch.setattr(array_files, "IN_MEMORY", 0 if mapped else array_files.IN_MEMORY)
    for module in (blocks, cells, postings, tree):
        monkeypatch.setattr(module, "BATCH", 16)
    found = make_search(stored(X), 6, how, seed=2)
    seen = []
    for some, near, far in found.own_nearest(5):
        assert len(some) <= 16
        np.testing.assert_array_equal(near, rows[some])
        np.testing.assert_array_equal(far, distances[some])
        seen += some.tolist()
    assert sorted(seen) == own.tolist()


def test_recall_is_reported_when_the_work_limit_is_reached(monkeypatch):
    """Rows without structure: cells do not help, and the search reports this instead of running forever."""
    X = np.random.default_rng(6).normal(size=(4000, 40))
    monkeypatch.setattr(cells, "MOST_ROWS", 400)
    assert make_search(X, 10, "approximate").n_probed == cells.MANY_CELLS, "in tables of however many rows"
    monkeypatch.setattr(cells, "MANY_CELLS", 2)
    quick = make_search(X, 10, "approximate")
    assert quick.n_probed * 4000 / quick.n_cells < 500
    found, right = (quick.nearest(X, 9, np.arange(4000)), make_search(X, 10, "exact").nearest(X, 9, np.arange(4000)))
    assert 0.1 < quick.recall < 0.9
    assert abs(share_found(found, right) - quick.recall) < 0.06


@pytest.mark.parametrize("n", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_approximate_search_accepts_few_or_equal_rows(n, stored):
    for X in (np.random.default_rng(7).normal(size=(n, 9)), np.ones((n, 9)), np.zeros((n, 2))):
        quick = make_search(stored(X), n, "approximate")
        rows, distances = quick.nearest(stored(X), n)  # more than the cells looked into may hold
        assert (np.sort(rows, axis=1) == np.arange(n)).all()
        for part, right in zip((rows, distances), plain_search(X, X, n), strict=True):
            np.testing.assert_array_equal(part, right)


def test_cells_are_used_only_if_they_are_cheaper(monkeypatch):
    monkeypatch.setattr(search, "QUICK_WORK", 0)
    X = clusters(500)
    quick = CellSearch(search.ready(X), np.arange(500), 5)
    few = quick.n_probed / quick.n_cells
    for share, kind in ((few, "exact"), (few + 0.01, "approximate")):
        monkeypatch.setattr(search, "EXACT_SHARE", share)
        assert make_search(X, 5).kind == kind
    assert make_search(sparse.csr_matrix(X), 5).kind == "exact", "sparse rows have no cells"
    monkeypatch.setattr(search, "EXACT_SHARE", 0)
    found = make_search(X, 5).nearest(X, 5)
    for one, other in zip(found, make_search(X, 5, "exact").nearest(X, 5), strict=True):
        np.testing.assert_array_equal(one, other)
    monkeypatch.setattr(search, "EXACT_WORK", 0)
    assert make_search(X, 5).kind == "approximate"


def test_kind_is_chosen_by_size(monkeypatch):
    X = clusters(500)
    assert make_search(X, 5).kind == "exact"
    assert make_search(X[:, :8], 5).kind == "kd-tree"
    assert make_search(sparse.csr_matrix(X[:, :8]), 5).kind == "exact"
    monkeypatch.setattr(search, "EXACT_WORK", 500 * 500 * 15)
    assert make_search(X, 5).kind == "approximate"
    assert make_search(sparse.csr_matrix(X[:, :9]), 5).kind == "approximate"
    assert make_search(X[:, :15], 5).kind == make_search(X, 5, "exact").kind == "exact"
    assert make_search(X[:, :8], 5).kind == "kd-tree"
    assert isinstance(make_search(X[:, :8], 5, "approximate"), CellSearch)
    with pytest.raises(ValueError, match=r"search must be one of 'auto', 'exact', 'approximate'. Got 'fast'."):
        make_search(X, 5, "fast")
    assert SEARCHES == ("auto", "exact", "approximate")


class _Scanned:
    """Replaces `Found`; records which queries are offered which cell."""

    def __init__(self):
        self.pairs = []

    def take(self, single, places):
        assert len(places) <= QUERIES
        return single[places]

    def scan(self, single, queries, block):
        np.testing.assert_array_equal(single[:, 0], queries)
        self.pairs += [(block, int(query)) for query in queries]


@pytest.mark.parametrize("n_cells", [3, 2**16, 2**16 + 3])
def test_each_cell_is_offered_once_to_all_its_queries_in_order(n_cells):
    rng = np.random.default_rng(0)
    inside = np.append(rng.integers(n_cells, size=(700, 2)), [[n_cells - 1, 0]], axis=0)
    batch = np.arange(len(inside))
    found = _Scanned()
    look(found, batch[:, None].astype(np.float32), batch, inside, lambda cell: None if cell == 1 else cell)
    wanted = sorted((int(cell), int(query)) for query in batch for cell in inside[query] if cell != 1)
    assert found.pairs == wanted
    look(found, np.empty((0, 1), np.float32), batch[:0], inside[:0], lambda _: 1 / 0)
    assert len(found.pairs) == len(wanted)


def test_product_buffer_is_allocated_once_and_grows_for_larger_blocks():
    rng = np.random.default_rng(0)
    X = rng.random((300, 5))
    search = BlockSearch(X, np.arange(300))
    found = Found(X, 4, np.arange(300), search.frame(X), 300)
    batch, rooms = np.arange(300), []
    single = found.open(batch)
    for rows in (np.arange(20), np.arange(20, 290), np.arange(290, 300)):
        found.scan(single, batch, search.block(found.frame, rows))
        rooms.append(found._room)
    assert rooms[0] is not rooms[1]
    assert rooms[1] is rooms[2]
    assert len(rooms[1]) == QUERIES * 270
    rows, distances = search.nearest(X, 4, np.arange(300))
    np.testing.assert_array_equal(found.rows, rows)
    np.testing.assert_array_equal(found.distances(), distances)
    taken = found.take(single, np.array([7, 3]))
    np.testing.assert_array_equal(taken, single[[7, 3]])
    assert np.shares_memory(taken, found.take(single, np.array([1])))


def test_row_buffer_is_reused_and_grows_if_too_small():
    room = RowRoom(3)
    first = room.rows("values", 5, np.float64)
    assert (first.shape, first.dtype) == ((5, 3), np.float64)
    assert np.shares_memory(first, room.rows("values", 4, np.float64))
    assert not np.shares_memory(first, room.rows("single", 4, np.float32))
    assert room.rows("values", 9, np.float64).shape == (9, 3)
    assert room.rows("values", 9, np.float64).flags.c_contiguous


def test_rows_computed_in_the_buffer_are_identical():
    X = np.random.default_rng(0).normal(size=(40, 7)) * 1e3
    frame, room, places = SinglePrecision(X), RowRoom(7), np.arange(40)
    for rows in (X[:30], X[5:40], X[:1]):
        numbers = places[: len(rows)]
        plain = make_block(frame, rows, numbers, numbers, rows)
        there = make_block(frame, rows, numbers, numbers, rows, room)
        assert there.columns.tobytes() == plain.columns.tobytes()
        assert there.columns.strides == plain.columns.strides, "products go the same way"
        assert there.heights.tobytes() == plain.heights.tobytes()
    again = make_block(frame, X, places, places, X, room)
    make_block(frame, X[:2], places[:2], places[:2], X[:2], room)
    assert np.shares_memory(again.columns, room.rows("single", 40, np.float32)), "nothing new was taken"
