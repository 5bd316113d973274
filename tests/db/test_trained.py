"""Leases of trainings: one worker at a time, and the deaths of those that never ended theirs."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from db import people, projects, trained
from db.engine import Database

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER, MUCH_LATER = NOW + timedelta(seconds=30), NOW + timedelta(seconds=60)


@pytest.fixture
def project(database: Database) -> int:
    with database.write() as session:
        person = people.add(session, "ada", "owner", NOW)
        return projects.add(
            session,
            name="birds",
            description="",
            table_hash="0" * 64,
            roles={},
            settings={},
            n_rows=1,
            n_classes=2,
            n_to_ask=1,
            created_by=person,
            created_at=NOW,
        )


def test_a_lease_is_one_workers_until_it_ends(database: Database, project: int) -> None:
    with database.write() as session:
        assert trained.training(session, project) is None
        taken = trained.take_lease(session, project, "one", "key", NOW, LATER)
        assert taken == trained.Training("one", "key", LATER, ended=False, deaths=0, fault=None)
        assert trained.take_lease(session, project, "two", "key", NOW, LATER) is None
        trained.end_lease(session, project, "two", NOW, "not theirs to end")
        assert trained.training(session, project) == taken
        trained.keep_lease(session, project, "one", MUCH_LATER)
        assert trained.take_lease(session, project, "two", "key", LATER, MUCH_LATER) is None
        trained.end_lease(session, project, "one", LATER, "no memory")
        ended = trained.training(session, project)
        assert ended == trained.Training("one", "key", LATER, ended=True, deaths=0, fault="no memory")
        assert trained.take_lease(session, project, "two", "key", LATER, MUCH_LATER) is not None
        trained.end_lease(session, project, "two", MUCH_LATER, None)
    with database.read() as session:
        last = trained.training(session, project)
    assert last == trained.Training("two", "key", MUCH_LATER, ended=True, deaths=0, fault=None)


def test_leases_that_run_out_are_counted_as_deaths_of_the_same_training(
    database: Database, project: int
) -> None:
    def deaths(worker: str, key: str, at: int) -> int:
        now = NOW + timedelta(minutes=at)
        taken = trained.take_lease(session, project, worker, key, now, now + timedelta(seconds=30))
        assert taken is not None
        return taken.deaths

    with database.write() as session:
        assert deaths("one", "key", 0) == 0
        assert deaths("two", "key", 1) == 1
        assert deaths("three", "key", 2) == 2
        assert deaths("three", "key", 3) == 2, "its own lease that it could not end is no death"
        assert deaths("four", "other", 4) == 0, "of another training"
        assert deaths("five", "other", 5) == 1
        trained.end_lease(session, project, "five", NOW, "rests", deaths=1)
        assert deaths("six", "other", 6) == 1, "ended in order: what was counted stays"
        trained.forget_fault(session, project)
        last = trained.training(session, project)
        assert last is not None
        assert (last.deaths, last.fault) == (0, None)


def test_a_version_is_published_while_somebody_answers_in_the_project(
    database: Database, project: int
) -> None:
    """Only on PostgreSQL can both write at once; on SQLite one comes after the other."""
    figures = {"accuracy": 0.5}
    with database.write(project=project) as answering, contextlib.ExitStack() as stack:
        session = answering if database.is_sqlite else stack.enter_context(database.write())
        for _ in range(2):  # of two workers the first one's stays
            trained.publish(
                session, project_id=project, key="k", version=3, figures=figures, seconds=1.0, made_at=NOW
            )
            figures = {"accuracy": 0.9}
    with database.read() as session:
        (found,) = trained.versions(session, project, "k")
    assert found.figures == {"accuracy": 0.5}
