"""Estimates of random order: one unfinished at a time, each ended once, whoever ends it."""

from __future__ import annotations

from datetime import timedelta

from db import trained
from db.engine import Database
from db.trained import DONE, FAILED, RUNNING, WAITING, RandomOrderEstimate

from .conftest import NOW, add_project

LATER = NOW + timedelta(seconds=30)


def ask(database: Database, project: int, asked_by: int | None = None) -> int:
    with database.write() as session:
        return trained.ask_random_order(session, project, asked_by=asked_by, asked_at=NOW, seq=4, answers=3)


def now(database: Database, estimate: int) -> RandomOrderEstimate:
    with database.read() as session:
        found = trained.get_random_order(session, estimate)
    assert found is not None
    return found


def test_one_that_is_unfinished_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask(database, birds, asked_by=1)
    assert ask(database, birds) == first
    assert ask(database, frogs) != first, "of another project"
    found = now(database, first)
    assert (found.project_id, found.asked_by, found.state) == (birds, 1, WAITING)
    assert (found.seq, found.answers, found.report) == (4, 3, None)
    with database.read() as session:
        assert [one.project_id for one in trained.unfinished(session)] == [birds, frogs]


def test_it_runs_tells_how_far_it_is_and_ends_once(database: Database) -> None:
    project = add_project(database)
    one = ask(database, project)
    with database.write() as session:
        assert trained.begin_random_order(session, one, seq=9, answers=7)
        assert trained.note_random_order(session, one, 2, 40)
    running = now(database, one)
    assert (running.state, running.done, running.total) == (RUNNING, 2, 40)
    assert (running.seq, running.answers) == (9, 7)
    with database.write() as session:
        assert trained.end_random_order(session, one, DONE, LATER, report={"missing": "more"})
        assert not trained.end_random_order(session, one, FAILED, LATER, fault="late")
        assert not trained.note_random_order(session, one, 3, 40)
        assert not trained.begin_random_order(session, one, seq=9, answers=7)
    done = now(database, one)
    assert (done.state, done.report, done.fault, done.ended_at) == (DONE, {"missing": "more"}, None, LATER)
    with database.read() as session:
        assert (
            trained.latest_random_order(session, project)
            == trained.latest_random_order(session, project, DONE)
            == done
        )
        assert trained.latest_random_order(session, project, FAILED) is None
