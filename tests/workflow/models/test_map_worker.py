"""Worker processes compute map layouts on request, next to trainings, one at a time per project."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.workflow.text_world import text_project
from workflow.models.map_worker import MapWorker, has_due_work
from workflow.projects import managing
from workflow.rows import instance_map as map_layouts
from workflow.rows.instance_map import Wish, instance_map
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


@pytest.fixture
def wished(seat: Seat) -> Wish:
    """Effects of viewing the map."""
    instance_map(seat)
    (found,) = map_layouts.wishes(seat.home)
    return found


@pytest.fixture
def worker(home: Home) -> MapWorker:
    return MapWorker(home, "one")


def test_opened_map_is_laid_out_by_worker(seat: Seat, wished: Wish, worker: MapWorker) -> None:
    assert has_due_work(seat.home)
    before = instance_map(seat)
    assert before.laid_out is False
    worker.lay_out(wished)
    assert not has_due_work(seat.home)
    now = instance_map(seat)
    assert now.laid_out is True
    np.testing.assert_array_equal(now.rows, before.rows)
    assert not np.array_equal(now.places, before.places)


def test_layout_runs_in_parallel_with_training(seat: Seat, wished: Wish, worker: MapWorker) -> None:
    worker.look()
    assert worker._laying is not None
    worker._laying.join()
    assert map_layouts.kept(seat.home, wished.table_hash, instance_map(seat).rows) is not None


def test_layout_request_of_archived_project_is_dropped(seat: Seat, wished: Wish, worker: MapWorker) -> None:
    managing.archive_project(seat)
    worker.lay_out(wished)
    assert map_layouts.wishes(seat.home) == []
    assert list((seat.home.cache_dir / "maps").iterdir()) == []


def test_lost_database_keeps_layout_request(
    seat: Seat, wished: Wish, worker: MapWorker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(_: Wish) -> None:
        raise OSError("away")

    monkeypatch.setattr(worker, "lay_out", away)
    worker._begin()
    assert isinstance(worker._laying, threading.Thread)
    worker._laying.join()
    assert "is tried again" in caplog.text
    assert map_layouts.wishes(seat.home) == [wished]
