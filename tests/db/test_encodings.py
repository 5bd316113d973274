"""Encodings: one unfinished at a time in a project, each ended once, and done once its vectors are stored."""

from __future__ import annotations

from datetime import timedelta

import pytest

from db import trained
from db.engine import Database
from db.trained import CANCELLED, DONE, FAILED, RUNNING, WAITING, Encoding

from .conftest import NOW, add_project

LATER = NOW + timedelta(seconds=30)


def ask(database: Database, project: int, encoder: str = "words") -> int:
    with database.write() as session:
        return trained.ask_encoding(session, project, asked_by=1, asked_at=NOW, encoder=encoder)


def latest(database: Database, project: int, state: str | None = None) -> Encoding:
    with database.read() as session:
        found = trained.latest_encoding(session, project, state)
    assert found is not None
    return found


def test_one_that_is_unfinished_is_not_doubled(database: Database) -> None:
    birds, frogs = add_project(database, "birds"), add_project(database, "frogs")
    first = ask(database, birds)
    assert ask(database, birds, "colors") == first
    other = ask(database, frogs, "colors")
    assert other != first, "of another project"
    expected = Encoding(
        id=first, project_id=birds, asked_by=1, asked_at=NOW, encoder="words", state=WAITING,
        done=0, total=0, notes=[], fault=None, ended_at=None,
    )  # fmt: skip
    assert latest(database, birds) == expected
    with database.write() as session:
        assert [one.id for one in trained.unfinished_encoding(session)] == [first, other]
        assert trained.end_encoding(session, first, CANCELLED, LATER)
        assert [one.id for one in trained.unfinished_encoding(session)] == [other]
    second = ask(database, birds, "colors")
    assert second > other
    with database.read() as session:
        assert [one.id for one in trained.unfinished_encoding(session)] == [other, second], (
            "as they were asked for"
        )
        assert trained.latest_encoding(session, birds, DONE) is None
        assert trained.latest_encoding(session, 99) is None
    assert latest(database, birds).encoder == "colors"
    assert latest(database, birds, CANCELLED).id == first


def test_it_runs_tells_how_far_it_is_and_ends_once(database: Database) -> None:
    project = add_project(database)
    one = ask(database, project)
    with database.write() as session:
        assert trained.begin_encoding(session, one)
        assert trained.note_encoding(session, one, 32, 60)
    found = latest(database, project)
    assert (found.state, found.done, found.total, found.unfinished) == (RUNNING, 32, 60, True)
    with database.write() as session:  # a worker after the one that died begins it anew
        assert trained.begin_encoding(session, one)
    found = latest(database, project)
    assert (found.done, found.total) == (0, 0)
    with database.write() as session:
        assert trained.end_done(session, one, LATER, ("1 row is empty.",))
        assert not trained.end_done(session, one, LATER, ())
        assert not trained.end_encoding(session, one, CANCELLED, LATER), "it is over"
        assert not trained.end_encoding(session, one, FAILED, LATER, fault="slow")
        assert not trained.note_encoding(session, one, 1, 2)
        assert not trained.begin_encoding(session, one)
    found = latest(database, project, DONE)
    assert (found.unfinished, found.notes, found.ended_at) == (False, ["1 row is empty."], LATER)


@pytest.mark.parametrize(("state", "fault"), [(CANCELLED, None), (FAILED, "no memory")])
def test_what_was_ended_is_noted_no_more_but_done_where_its_vectors_are_stored(
    database: Database, state: str, fault: str | None
) -> None:
    project = add_project(database)
    one = ask(database, project)
    with database.write() as session:
        assert trained.begin_encoding(session, one)
        assert trained.end_encoding(session, one, state, LATER, fault=fault)
        assert not trained.note_encoding(session, one, 1, 2)
        assert not trained.begin_encoding(session, one)
    found = latest(database, project)
    assert (found.state, found.fault, found.ended_at) == (state, fault, LATER)
    with database.write() as session:
        assert trained.end_done(session, one, LATER, ())
    found = latest(database, project)
    assert (found.state, found.fault) == (DONE, None)
