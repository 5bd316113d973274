"""Neighbours to the last tie, and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from plcore.graph import NeighborGraph, neighbor_weights

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
def test_neighbors_equal_a_full_scan(kind, k, stored):
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
def test_batches_do_not_show(kind, monkeypatch):
    rng = np.random.default_rng(1)
    X = data(kind, rng, 200)
    graph = NeighborGraph(X, 8, "linear", "minmax")
    together = graph.own_neighbors()
    for row in range(0, 200, 23):
        alone = graph.own_neighbors(np.array([row]))
        for whole, part in zip(together, alone, strict=True):
            np.testing.assert_array_equal(whole[row], part[0])
    monkeypatch.setattr("plcore.graph.BLOCK_CELLS", 50)
    for whole, part in zip(together, graph.own_neighbors(), strict=True):
        np.testing.assert_array_equal(whole, part)


def test_far_offsets_do_not_lose_neighbors():
    """Products of large numbers lose the small distances; the full scan does not."""
    rng = np.random.default_rng(2)
    X = rng.random((300, 12)) + 1e6
    neighbors, _ = NeighborGraph(X, 5, "linear", None).own_neighbors()
    for row in range(300):
        assert neighbors[row].tolist() == [row, *plain_nearest(X, X[row], 4, own=row)[0]]


def test_linear_weights():
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
def test_scaling_is_fitted_on_training_rows(scaling, scaler, stored):
    rng = np.random.default_rng(3)
    X, queries = rng.normal(size=(40, 3)) * [1, 100, 0.01], rng.normal(size=(9, 3)) * 50
    graph = NeighborGraph(stored(X), 4, "linear", scaling)
    scaled = scaler.fit_transform(stored(X))
    plain = NeighborGraph(scaled, 4, "linear", None)
    for found, expected in zip(
        graph.neighbors_of(stored(queries)),
        plain.neighbors_of(scaler.transform(stored(queries))),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    if stored is not np.asarray:
        assert sparse.issparse(graph.X)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_few_distinct_rows_are_searched_once(stored):
    """A hundred thousand equal rows must not each be compared with all others."""
    graph = NeighborGraph(stored(np.ones((3000, 2)) * (np.arange(3000) % 2)[:, None]), 4, "linear", None)
    assert graph._searched.tolist() == list(range(10))
    neighbors, _ = graph.own_neighbors(np.array([7, 2998, 2999]))
    assert neighbors.tolist() == [[7, 1, 3, 5], [2998, 0, 2, 4], [2999, 1, 3, 5]]
