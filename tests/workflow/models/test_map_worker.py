"""Worker processes compute map layouts on request, next to trainings, one at a time per project."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from db import trained
from tests.workflow.text_world import text_project
from workflow.models import leases
from workflow.models.map_worker import MapWorker, has_due_work
from workflow.projects import managing
from workflow.rows import instance_map as map_layouts
from workflow.rows.instance_map import Wish, instance_map, is_waited_for
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


def test_only_one_worker_computes_layout(seat: Seat, wished: Wish, worker: MapWorker) -> None:
    held = leases.hold(seat.home, wished.project_id, "other", wished.table_hash, map_layouts.TASK)
    with held as lease:
        assert lease is not None
        worker.lay_out(wished)
        assert has_due_work(seat.home)
    worker.lay_out(wished)
    assert not has_due_work(seat.home)


def test_failed_layout_is_reported_and_not_retried(
    seat: Seat, wished: Wish, worker: MapWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ValueError("these rows cannot be laid out")

    monkeypatch.setattr(map_layouts, "beside_neighbors", fail)
    worker.lay_out(wished)
    assert not has_due_work(seat.home)
    assert instance_map(seat).layout_fault == "these rows cannot be laid out"


def test_layout_that_kills_workers_is_suspended(seat: Seat, wished: Wish, worker: MapWorker) -> None:
    now = datetime.now(UTC)
    for died in ("first", "second"):
        with seat.home.database.write() as session:
            trained.take_lease(session, wished.project_id, died, wished.table_hash, now, now, map_layouts.TASK)
        assert instance_map(seat).coming, "one death may be anything"
    worker.lay_out(wished)
    shown = instance_map(seat)
    assert "ended from outside twice" in shown.layout_fault
    assert not shown.coming
    assert not is_waited_for(seat)


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
