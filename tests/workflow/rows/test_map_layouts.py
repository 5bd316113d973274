"""Layouts of the map: requested once, computed, stored, and read only if complete and for these rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.workflow.text_world import text_project
from workflow.rows import instance_map
from workflow.rows.instance_map import Wish, principal_axes
from workflow.seat import Seat
from workflow.server.home import Home

ROWS = np.arange(5)


@pytest.fixture(autouse=True)
def laid_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """t-SNE itself is tested elsewhere."""
    monkeypatch.setattr(instance_map, "beside_neighbors", lambda X: principal_axes(X)[0])


@pytest.fixture
def wished(home: Home, owner: int) -> Wish:
    project = text_project(home, owner)
    with Seat(home, owner, project).reading() as reading:
        return instance_map.wish(home, project, reading.project.table_hash)


def only(home: Home, ending: str) -> Path:
    (path,) = (home.cache_dir / "maps").glob(f"*{ending}")
    return path


def test_layout_request_is_stored_once_and_fulfilled(home: Home, wished: Wish) -> None:
    assert instance_map.wishes(home) == [wished]
    assert instance_map.wish(home, 99, wished.table_hash) == wished, "of this table it is wished for already"
    table = home.read_table(wished.table_hash)
    rows = np.arange(table.n_rows)
    assert instance_map.kept(home, wished.table_hash, rows) is None
    instance_map.fulfil(home, wished)
    assert instance_map.wishes(home) == []
    places = instance_map.kept(home, wished.table_hash, rows)
    assert places is not None
    assert places.shape == (table.n_rows, 2)
    assert instance_map.kept(home, wished.table_hash, rows[1:]) is None, "it is of other rows"


def test_failed_layout_is_not_requested_again(home: Home, wished: Wish) -> None:
    instance_map.note_fault(home, wished, "no memory")
    assert instance_map.wishes(home) == []
    assert instance_map.wish(home, wished.project_id, wished.table_hash).fault == "no memory"
    instance_map.drop(home, wished)
    assert instance_map.wish(home, wished.project_id, wished.table_hash) == wished


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 half of a file", b"no array"])
def test_damaged_layout_counts_as_missing(home: Home, wished: Wish, damage: bytes) -> None:
    instance_map.fulfil(home, wished)
    only(home, ".npz").write_bytes(damage)
    rows = np.arange(home.read_table(wished.table_hash).n_rows)
    assert instance_map.kept(home, wished.table_hash, rows) is None


def test_half_written_layout_is_ignored(home: Home, wished: Wish) -> None:
    instance_map.fulfil(home, wished)
    path = only(home, ".npz")
    path.write_bytes(path.read_bytes()[:-200])
    rows = np.arange(home.read_table(wished.table_hash).n_rows)
    assert instance_map.kept(home, wished.table_hash, rows) is None


def test_layout_with_nan_places_is_ignored(home: Home, wished: Wish) -> None:
    instance_map.fulfil(home, wished)
    with only(home, ".npz").open("wb") as file:
        np.savez(file, rows=ROWS, places=np.full((5, 2), np.nan))
    assert instance_map.kept(home, wished.table_hash, ROWS) is None


@pytest.mark.parametrize("damage", ["", "{}", "[1]", '{"project_id": 1, "other": 2}'])
def test_damaged_layout_request_is_replaced(home: Home, wished: Wish, damage: str) -> None:
    only(home, ".wish").write_text(damage)
    assert instance_map.wishes(home) == []
    assert instance_map.wish(home, wished.project_id, wished.table_hash) == wished
    assert instance_map.wishes(home) == [wished]


def test_unwritable_disk_does_not_break_map(home: Home) -> None:
    home.cache_dir.mkdir(exist_ok=True)
    (home.cache_dir / "maps").write_text("in the way")
    assert instance_map.wish(home, 1, "abc") == Wish(1, "abc")
    assert instance_map.wishes(home) == []
