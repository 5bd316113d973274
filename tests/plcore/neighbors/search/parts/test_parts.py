"""Rows in parts: scaled as in one piece, drawn by a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler

from plcore.blocks.parts import map_part
from plcore.blocks.processes import Inline
from plcore.neighbors.search import make_search, parts
from plcore.neighbors.search.parts import RecallError, find_parts, reverse_parts
from plcore.neighbors.search.parts import cells as in_cells
from plcore.neighbors.search.parts.cells import first_cells, list_rows
from plcore.neighbors.search.parts.exact import Sample, draw, numbered, scale_rows, take_rows, within
from tests.plcore.neighbors.search.parts.staged import by_row, stage, surface, together


def test_rows_in_parts_are_scaled_like_one_array(tmp_path: Path) -> None:
    X = surface(250) * 7 - 3
    scaled = scale_rows(Inline(), stage(tmp_path, X, 60))
    assert [len(map_part(tmp_path / name)) for name in scaled.names] == [60, 60, 60, 60, 10]
    expected = MinMaxScaler().fit_transform(X.astype(np.float32).astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(together(tmp_path, scaled.names), expected)
    assert list(scaled.starts()) == [0, 60, 120, 180, 240]


def test_sample_is_drawn_from_all_parts_by_its_seed(tmp_path: Path) -> None:
    X = surface(250)
    rows = stage(tmp_path, X, 60)
    samples = []
    for seed in (0, 0, 1):
        job = Sample(tmp_path, rows.listed(), 60, 250, 200, seed)
        draw(job)
        samples.append(map_part(job.path))
    one, again, other = samples
    assert len(np.unique(one["row"])) == 200
    assert (np.diff(one["row"]) > 0).all()
    np.testing.assert_array_equal(one["x"], X[one["row"]])
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one["row"], other["row"])
    assert one["searched"].all()


def test_rows_of_parts_are_numbered(tmp_path: Path) -> None:
    X = surface(100)
    numbers, rows = numbered(X[40:60], 40)
    assert numbers.tolist() == list(range(40, 60))
    assert rows.dtype == np.float64
    listed = take_rows(X[60:], 60, np.array([60, 63, 99]))
    numbers, rows = numbered(listed, 0)
    assert numbers.tolist() == [60, 63, 99]
    np.testing.assert_array_equal(rows, X[numbers])


# Neighbours found in parts compared with the search in one process.


N, K = 700, 6


def scaled(folder: Path, X: np.ndarray, block: int) -> tuple[parts.RowParts, np.ndarray]:
    rows = scale_rows(Inline(), stage(folder, X, block))
    return rows, together(folder, rows.names).astype(np.float64)


@pytest.mark.parametrize("block", [150, 233, 1000])
def test_exact_blocks_match_one_process_including_ties(tmp_path: Path, block: int) -> None:
    rows, X = scaled(tmp_path, surface(N), block)
    found = find_parts(Inline(), rows, K, search="exact")
    neighbors, distances = make_search(X, K + 1, "exact").nearest(X, K, np.arange(N))
    mine = by_row(tmp_path, found.names)
    assert mine["row"].tolist() == list(range(N))
    np.testing.assert_array_equal(mine["neighbors"], neighbors)
    np.testing.assert_array_equal(np.sqrt(mine["squared"]), distances)
    assert (found.kind, found.recall, found.n_cells) == ("exact", 1.0, 0)


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_equal_rows_get_the_first_of_them_as_neighbours(tmp_path: Path, search: str) -> None:
    X = np.random.default_rng(0).integers(0, 2, size=(300, 2)).astype(np.float32)
    rows, X = scaled(tmp_path, X, 70)
    found = by_row(tmp_path, find_parts(Inline(), rows, 4, search=search, recall=1.0).names)
    neighbors, _ = make_search(X, 5, "exact").nearest(X, 4, np.arange(300))
    np.testing.assert_array_equal(found["neighbors"], neighbors)


def test_searching_all_cells_finds_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, X = scaled(tmp_path, surface(N), 150)
    monkeypatch.setattr(parts, "_needed", lambda centres, *_: len(centres))
    found = find_parts(Inline(), rows, K, search="approximate")
    neighbors, distances = make_search(X, K + 1, "exact").nearest(X, K, np.arange(N))
    mine = by_row(tmp_path, found.names)
    np.testing.assert_array_equal(mine["neighbors"], neighbors)
    np.testing.assert_array_equal(np.sqrt(mine["squared"]), distances)
    assert found.recall == 1.0
    assert found.n_probed == found.n_cells


@pytest.mark.parametrize("least", [0.9, 0.98])
def test_reported_recall_is_reached(tmp_path: Path, least: float) -> None:
    rows, X = scaled(tmp_path, surface(2000), 500)
    found = find_parts(Inline(), rows, K, search="approximate", recall=least)
    mine = by_row(tmp_path, found.names)
    _, distances = make_search(X, K + 1, "exact").nearest(X, K, np.arange(len(X)))
    true = float((mine["squared"] <= distances[:, -1:] ** 2 * (1 + 1e-12)).mean())
    assert found.recall >= least
    assert abs(true - found.recall) < 0.02, "over all rows as on the sample"
    assert 1 <= found.n_probed < found.n_cells


def test_recall_out_of_reach_is_refused_before_a_long_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = scaled(tmp_path, np.random.default_rng(0).normal(size=(2000, 12)), 500)
    monkeypatch.setattr(parts, "MOST_ROWS", 20)
    begun: list[str] = []
    with pytest.raises(RecallError, match=r"2 of 71 cells hold 0\.\d+ of the true .* at least 0\.98 was asked"):
        find_parts(Inline(), rows, K, search="approximate", progress=lambda what, *_: begun.append(what))
    assert "neighbours by cells" not in begun
    assert "recall" in begun


def test_auto_is_exact_for_small_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = scaled(tmp_path, surface(400), 150)
    assert find_parts(Inline(), rows, K).kind == "exact"
    monkeypatch.setattr(parts, "EXACT_WORK", 1.0)
    assert find_parts(Inline(), rows, K, recall=0.5).kind == "approximate"


@pytest.mark.parametrize("n_nearest", [0, 400])
def test_too_large_n_nearest_is_refused(tmp_path: Path, n_nearest: int) -> None:
    rows, _ = scaled(tmp_path, surface(400), 150)
    with pytest.raises(ValueError, match=r"n_nearest must be in 1\.\.399"):
        find_parts(Inline(), rows, n_nearest)


def test_queries_with_too_few_rows_in_their_cells_search_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, _ = scaled(tmp_path, surface(200), 70)
    monkeypatch.setattr(parts, "_needed", lambda *_: 1)
    found = by_row(tmp_path, find_parts(Inline(), rows, 150, search="approximate", recall=0.01).names)
    assert found["neighbors"].max() < 200
    assert np.isfinite(found["squared"]).all()
    assert all(len(set(one)) == 150 for one in found["neighbors"].tolist()), "no row twice"


def test_cell_lists_hold_every_row_once(tmp_path: Path) -> None:
    rows, X = scaled(tmp_path, surface(N), 150)
    lists = list_rows(Inline(), rows, 8, 0)
    starts = map_part(tmp_path / lists.starts)
    names = [name.decode() for name in map_part(tmp_path / lists.lists).tolist()]
    listed = together(tmp_path, names)
    assert sorted(listed["row"].tolist()) == list(range(N))
    np.testing.assert_array_equal(listed["x"], X[listed["row"]].astype(np.float32))
    centres = map_part(tmp_path / lists.centres)
    for cell in range(len(centres)):
        mine = listed[starts[cell] : starts[cell + 1]]
        assert (np.diff(mine["row"]) > 0).all()
        squared = ((X[mine["row"]][:, None] - centres[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(squared[:, cell], squared.min(axis=1))
    equal = np.flatnonzero((listed["x"] == X[5].astype(np.float32)).all(axis=1))
    assert listed["searched"][equal].sum() == 8
    assert listed["searched"].sum() == N - len(equal) + 8
    assert len(centres) == round((N / in_cells.CELL_ROWS) ** 0.5)


def test_cell_lists_have_about_block_size_and_whole_cells() -> None:
    starts = np.array([0, 4, 5, 9, 30, 31, 31, 40])
    assert first_cells(starts, 10) == [0, 3, 4, 7]
    assert first_cells(starts, 1000) == [0, 7]
    assert first_cells(starts, 1) == [0, 1, 2, 3, 4, 6, 7]


# Reverse neighbour lists compared with a plain count.


def test_reverse_lists_name_all_rows_that_have_a_row_as_neighbour(tmp_path: Path) -> None:
    rows = scale_rows(Inline(), stage(tmp_path, surface(500), 120))
    found = find_parts(Inline(), rows, 5, search="exact")
    lists = reverse_parts(Inline(), tmp_path, found.names, 500, 200)
    assert len(lists) == 3
    mine = by_row(tmp_path, found.names)
    expected = sorted((neighbor, row) for row in range(500) for neighbor in mine["neighbors"][row].tolist())
    told = np.concatenate([map_part(tmp_path / name) for name in lists], axis=1)
    assert list(zip(*told.tolist(), strict=True)) == expected
    second = map_part(tmp_path / lists[1])[0]
    assert second.min() >= 200
    assert second.max() < 400


def test_keys_within_a_range_are_returned() -> None:
    keyed = np.array([[1, 1, 3, 4, 4, 9], [7, 8, 9, 10, 11, 12]], dtype=np.int32)
    assert within(keyed, 1, 4).tolist() == [[1, 1, 3], [7, 8, 9]]
    assert within(keyed, 4, 5).tolist() == [[4, 4], [10, 11]]
    assert within(keyed, 10, 20).shape == (2, 0)
