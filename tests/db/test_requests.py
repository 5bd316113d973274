"""Requests for a worker, of whichever table: one unfinished at a project, changed only in the states that are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from db.engine import Database
from db.trained import CANCELLED, DONE, FAILED, RUNNING, UNFINISHED, WAITING, Comparison, Encoding, Requests

from .conftest import NOW, add_project

KINDS: dict[str, tuple[Callable[[], Requests[Any]], dict[str, Any]]] = {
    "encodings": (lambda: Requests("encodings", Encoding), {"encoder": "words", "notes": []}),
    "comparisons": (
        lambda: Requests("comparisons", Comparison),
        {"seq": 3, "answers": 2, "checks": 1, "fitting": ""},
    ),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[Requests[Any], dict[str, Any]]:
    made, columns = KINDS[request.param]
    return made(), columns


def test_one_that_waits_or_runs_is_not_doubled(
    database: Database, kind: tuple[Requests[Any], dict[str, Any]]
) -> None:
    requests, columns = kind
    project, other = add_project(database, "birds"), add_project(database, "frogs")
    with database.write() as session:
        first = requests.ask(session, project, asked_by=1, asked_at=NOW, **columns)
        assert requests.ask(session, project, asked_by=1, asked_at=NOW, **columns) == first
        beside = requests.ask(session, other, asked_by=1, asked_at=NOW, **columns)
        found = requests.get(session, first)
        assert found == requests.latest(session, project)
        assert {name: getattr(found, name) for name in columns} == columns
        assert (found.state, found.unfinished, found.done, found.total) == (WAITING, True, 0, 0)
        assert requests.change(session, first, {"state": RUNNING})
        assert requests.ask(session, project, asked_by=1, asked_at=NOW, **columns) == first
        assert [one.id for one in requests.unfinished(session)] == [first, beside]
        assert requests.change(session, first, {"state": FAILED, "fault": "no room"})
        second = requests.ask(session, project, asked_by=1, asked_at=NOW, **columns)
        assert second not in (first, beside)
        assert requests.latest(session, project, FAILED).fault == "no room"
        assert requests.latest(session, project, DONE) is None
        assert requests.get(session, 99) is None


def test_what_is_over_changes_only_where_that_is_meant(
    database: Database, kind: tuple[Requests[Any], dict[str, Any]]
) -> None:
    requests, columns = kind
    project = add_project(database)
    with database.write() as session:
        one = requests.ask(session, project, asked_by=1, asked_at=NOW, **columns)
        assert requests.change(session, one, {"state": CANCELLED})
        assert not requests.change(session, one, {"state": DONE}), "of two who end it one does"
        assert requests.latest(session, project).state == CANCELLED
        assert requests.change(session, one, {"state": DONE}, (*UNFINISHED, CANCELLED))
        assert requests.latest(session, project).state == DONE
        assert not requests.change(session, 99, {"state": DONE})
