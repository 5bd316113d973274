"""Neighbours including ties, their weights, and stored graphs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from plcore.loop.one_label.settings import LearnerSettings
from plcore.neighbors.graph import VERSION, Graph, NeighborGraph, find_graph, graph_key, neighbor_weights
from plcore.neighbors.search import blocks, cells, postings, takes_long, tree

UNIT = 2**24


def plain_nearest(X, query, k, own=None):
    """(distance, row number) order by one full scan."""
    distance = np.sqrt(((X - query) ** 2).sum(axis=1))
    rows = sorted((row for row in range(len(X)) if row != own), key=lambda row: (distance[row], row))[:k]
    return rows, distance[rows]


def data(kind, rng, n=60):
    if kind == "grid":  # ties everywhere
        return rng.integers(0, 3, size=(n, 3)).astype(float)
    if kind == "binary":
        return (rng.random((n, 12)) < 0.3).astype(float)
    if kind == "two points":
        return rng.integers(0, 2, size=(n, 1)) * np.ones(3)
    if kind == "one point":
        return np.ones((n, 4))
    return rng.normal(size=(n, 20)) * 10.0 ** rng.integers(-3, 4, size=20)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kind", ["grid", "binary", "one point", "two points", "normal"])
@pytest.mark.parametrize("k", [1, 2, 7, 100])
def test_neighbors_match_a_full_scan(kind, k, stored):
    rng = np.random.default_rng(0)
    X, queries = data(kind, rng), data(kind, rng, 15)
    graph = NeighborGraph(stored(X), k, "linear", None)
    neighbors, weights = graph.neighbors_of(stored(queries))
    assert neighbors.shape == weights.shape == (15, min(k, 60))
    for query, found, heavy in zip(queries, neighbors, weights, strict=True):
        rows, distance = plain_nearest(X, query, k)
        assert found.tolist() == rows
        np.testing.assert_allclose(heavy, neighbor_weights(distance[None], "linear")[0], atol=1)
    own, _ = graph.own_neighbors()
    for row, found in enumerate(own):
        assert found.tolist() == [row, *plain_nearest(X, X[row], min(k, 60) - 1, own=row)[0]]


@pytest.mark.parametrize("kind", ["grid", "normal"])
def test_batch_size_changes_nothing(kind, monkeypatch):
    rng = np.random.default_rng(1)
    X = data(kind, rng, 200)
    graph = NeighborGraph(X, 8, "linear", "minmax")
    together = graph.own_neighbors()
    for row in range(0, 200, 23):
        alone = graph.own_neighbors(np.array([row]))
        for whole, part in zip(together, alone, strict=True):
            np.testing.assert_array_equal(whole[row], part[0])
    for name, length in (("blocks.ROWS", 70), ("blocks.BATCH", 30), ("blocks.QUERIES", 7), ("tree.BLOCK_CELLS", 50)):
        monkeypatch.setattr(f"plcore.neighbors.search.{name}", length)
    for whole, part in zip(together, graph.own_neighbors(), strict=True):
        np.testing.assert_array_equal(whole, part)


def test_far_offsets_do_not_lose_neighbors():
    """Products of large numbers lose the small distances; the full scan does not."""
    rng = np.random.default_rng(2)
    X = rng.random((300, 12)) + 1e6
    neighbors, _ = NeighborGraph(X, 5, "linear", None).own_neighbors()
    for row in range(300):
        assert neighbors[row].tolist() == [row, *plain_nearest(X, X[row], 4, own=row)[0]]


def test_linear_weights_match_known_values():
    distances = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 5.0]])
    expected = [[1.0, 0.75, 0.25], [1.0, 1.0, 1.0], [2 / 3, 2 / 3, 2 / 3], [1.0, 1.0, 0.0]]
    np.testing.assert_array_equal(neighbor_weights(distances, "linear"), np.rint(np.array(expected) * UNIT))
    assert neighbor_weights(np.array([[3.0]]), "linear").tolist() == [[UNIT]]
    assert neighbor_weights(np.array([[np.inf, 1.0]]), "linear").tolist() == [[UNIT, UNIT]]
    assert (neighbor_weights(distances, "uniform") == UNIT).all()


def test_own_row_comes_first_among_duplicates():
    X = np.array([[0.0], [1.0], [1.0], [1.0]])
    neighbors, weights = NeighborGraph(X, 3, "linear", None).own_neighbors()
    assert neighbors.tolist() == [[0, 1, 2], [1, 2, 3], [2, 1, 3], [3, 1, 2]]
    assert weights[1:].tolist() == [[UNIT] * 3] * 3
    assert weights[0].tolist() == [UNIT, UNIT // 2, UNIT // 2]


@pytest.mark.parametrize(
    ("scaling", "scaler", "stored"),
    [
        ("minmax", MinMaxScaler(), np.asarray),
        ("standard", StandardScaler(), np.asarray),
        ("minmax", MaxAbsScaler(), sparse.csr_matrix),
        ("standard", StandardScaler(with_mean=False), sparse.csr_matrix),
    ],
)
def test_scaling_is_fitted_on_the_training_rows(scaling, scaler, stored):
    rng = np.random.default_rng(3)
    X, queries = rng.normal(size=(40, 3)) * [1, 100, 0.01], rng.normal(size=(9, 3)) * 50
    graph = NeighborGraph(stored(X), 4, "linear", scaling)
    scaled = scaler.fit_transform(stored(X))
    plain = NeighborGraph(scaled, 4, "linear", None)
    for found, expected in zip(
        graph.neighbors_of(stored(queries)), plain.neighbors_of(scaler.transform(stored(queries))), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    if stored is not np.asarray:
        assert sparse.issparse(graph.X)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_few_distinct_rows_are_searched_once(stored):
    """A hundred thousand equal rows must not each be compared with all others."""
    graph = NeighborGraph(stored(np.ones((3000, 2)) * (np.arange(3000) % 2)[:, None]), 4, "linear", None)
    assert graph._search.searched.tolist() == list(range(10))
    neighbors, _ = graph.own_neighbors(np.array([7, 2998, 2999]))
    assert neighbors.tolist() == [[7, 1, 3, 5], [2998, 0, 2, 4], [2999, 1, 3, 5]]


def test_search_kind_can_be_chosen():
    X = np.random.default_rng(4).normal(size=(2000, 12))
    exact = NeighborGraph(X, 5, "linear", None)
    quick = NeighborGraph(X, 5, "linear", None, "approximate", seed=1)
    assert (exact.kind, exact.recall, quick.kind) == ("exact", 1.0, "approximate")
    found, right = quick.own_neighbors()[0], exact.own_neighbors()[0]
    share = np.mean([len(set(a) & set(b)) - 1 for a, b in zip(found, right, strict=True)]) / 4
    assert share == pytest.approx(quick.recall, abs=0.02)
    assert share > 0.97
    assert NeighborGraph(X[:, :2], 5, "linear", None).kind == "kd-tree"
    with pytest.raises(ValueError, match="search must be one of"):
        NeighborGraph(X, 5, "linear", None, "exactly")


@pytest.mark.parametrize(
    ("search", "width", "stored"),
    [("exact", 12, np.asarray), ("approximate", 12, np.asarray), ("exact", 3, np.asarray),
     ("exact", 12, sparse.csr_matrix), ("approximate", 12, sparse.csr_matrix)],
)  # fmt: skip
def test_search_reports_progress_and_can_be_stopped(search, width, stored, monkeypatch):
    for module in (blocks, cells, tree, postings):
        monkeypatch.setattr(module, "BATCH", 100)
    monkeypatch.setattr(postings, "BLOCK_ROWS", 64)
    X = np.random.default_rng(6).normal(size=(500, width)) * (np.random.default_rng(7).random((500, width)) < 0.6)
    graph, told = NeighborGraph(stored(X), 5, "linear", None, search), []
    for found, right in zip(graph.own_neighbors(tell=told.append), graph.own_neighbors(), strict=True):
        np.testing.assert_array_equal(found, right)
    assert told[0] == 0.0
    assert len(told) > 4
    assert told == sorted(told)
    assert 0.7 < told[-1] < 1

    def stop(share):
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph.own_neighbors(tell=stop)


@pytest.mark.parametrize(
    ("n_rows", "some", "long"),
    [(20_000, np.ones((9, 64)), False), (30_000, np.ones((9, 64)), True), (100_000, np.ones((9, 3)), False),
     (100_000, np.ones((9, 8)), True), (4_000, sparse.csr_matrix(np.ones((9, 200))), False),
     (10_000, sparse.csr_matrix(np.ones((9, 200))), True)],
)  # fmt: skip
def test_long_searches_are_predicted(n_rows, some, long):
    assert takes_long(n_rows, some) == long


def same(graph, other):
    assert (graph.kind, graph.recall) == (other.kind, other.recall)
    for name in ("neighbors", "weights", "test_neighbors", "test_weights"):
        one, two = getattr(graph, name), getattr(other, name)
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n_test", [0, 3])
def test_graph_is_stored_without_pickle(n_test, tmp_path):
    X = np.random.default_rng(5).normal(size=(20, 9))
    graph = find_graph(X, X[:n_test] + 0.1 if n_test else None, LearnerSettings(n_neighbors=4))
    assert graph.test_neighbors.shape == graph.test_weights.shape == (n_test, 4)
    np.testing.assert_array_equal(graph.neighbors, NeighborGraph(X, 4, "linear", None).own_neighbors()[0])
    np.savez(tmp_path / "graph.npz", allow_pickle=False, **graph.to_arrays())
    with np.load(tmp_path / "graph.npz", allow_pickle=False) as arrays:
        same(Graph.from_arrays(arrays), graph)
    graph.check(20, n_test, 4)
    with pytest.raises(ValueError, match=r"20 training and 9 test rows, 4 for each. Got shapes \(20, 4\)"):
        graph.check(20, 9, 4)
    with pytest.raises(ValueError, match="Fix: find it again"):
        graph.check(20, n_test, 5)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("version", np.array(0), f"has version 0, not {VERSION}"),
        ("kind", None, "lacks kind"),
        ("neighbors", np.zeros((20, 4)), "whole numbers"),
        ("neighbors", np.zeros((20, 4), dtype=np.int32), "do not fit together"),
        ("neighbors", np.full((20, 4), 20, dtype=np.int32), r"in 0..19"),
        ("weights", np.full((20, 4), -1, dtype=np.int32), "at least 0"),
        ("weights", np.ones((20, 3), dtype=np.int32), r"\(n, K\) both"),
        ("test_neighbors", np.zeros((3, 3), dtype=np.int32), r"\(n, K\) both"),
        ("test_neighbors", np.full((3, 4), 20, dtype=np.int32), r"in 0..19"),
        ("test_neighbors", np.zeros(0, dtype=np.int32), "whole numbers"),
    ],
)
def test_damaged_graph_is_refused(name, value, message):
    X = np.random.default_rng(5).normal(size=(20, 9))
    arrays = find_graph(X, X[:3], LearnerSettings(n_neighbors=4)).to_arrays()
    arrays[name] = value
    if value is None:
        del arrays[name]
    with pytest.raises(ValueError, match=message):
        Graph.from_arrays(arrays)


def test_graph_key_depends_on_all_its_inputs():
    usual = LearnerSettings()
    keys = {
        graph_key(settings)
        for settings in (
            usual,
            LearnerSettings(n_neighbors=9),
            LearnerSettings(weights="uniform"),
            LearnerSettings(test_share=0.3),
            LearnerSettings(seed=1),
        )
    }
    assert len(keys) == 5
    assert all(set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_") for key in keys)
    assert graph_key(LearnerSettings(strategy="mw", truth_role="given")) == graph_key(usual)


@pytest.mark.parametrize("scaling", ["minmax", "standard", None])
@pytest.mark.parametrize("n_features", [3, 20])
def test_dense_and_sparse_queries_find_the_same_neighbors(scaling, n_features):
    rng = np.random.default_rng(6)
    X, queries = rng.random((40, n_features)), rng.random((7, n_features))
    for rows, form in ((X, sparse.csr_matrix), (sparse.csr_matrix(X), sparse.csr_array)):
        graph = NeighborGraph(rows, 5, "linear", scaling)
        for one, other in zip(graph.neighbors_of(queries), graph.neighbors_of(form(queries)), strict=True):
            np.testing.assert_array_equal(one, other)
