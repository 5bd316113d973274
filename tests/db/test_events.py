from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from db import events
from db.engine import Database
from db.events import EventFilter

from .conftest import NOW, add_project


def three(database: Database) -> int:
    """Events 1 to 3, an hour apart: ada signs in; she ends bob's access; a project of hers is renamed. Its number."""
    project = add_project(database)
    with database.write() as session:
        events.add(session, at=NOW, what="sign-in", person_id=1, address="192.0.2.1")
        events.add(session, at=NOW + timedelta(hours=1), what="person-ended", person_id=1, about_id=2)
        events.add(
            session,
            at=NOW + timedelta(hours=2),
            what="project-renamed",
            person_id=1,
            project_id=project,
            details={"before": "birds", "after": "owls"},
        )
    return project


def test_events_come_back_as_they_were_the_latest_first(database: Database) -> None:
    project = three(database)
    with database.read() as session:
        renamed, ended, signed_in = events.listed(session, EventFilter())
    assert (renamed.project_id, renamed.details) == (project, {"before": "birds", "after": "owls"})
    assert (ended.person_id, ended.about_id, ended.details) == (1, 2, {})
    assert (signed_in.at, signed_in.address, signed_in.about_id) == (NOW, "192.0.2.1", None)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"person_id": 2}, [2]),  # whom it was done to
        ({"person_id": 1}, [3, 2, 1]),
        ({"person_id": 9}, []),
        ({"what": "sign-in"}, [1]),
        ({"project_id": 1}, [3]),
        ({"since": NOW + timedelta(hours=1)}, [3, 2]),
        ({"until": NOW + timedelta(hours=1)}, [1]),
        ({"since": NOW + timedelta(hours=1), "until": NOW + timedelta(hours=2)}, [2]),
        ({"person_id": 1, "what": "project-renamed"}, [3]),
    ],
)
def test_events_are_filtered(database: Database, asked: dict[str, object], found: list[int]) -> None:
    three(database)
    with database.read() as session:
        assert [one.id for one in events.listed(session, EventFilter(**asked))] == found


def test_only_so_many_are_listed(database: Database) -> None:
    three(database)
    with database.read() as session:
        assert [one.id for one in events.listed(session, EventFilter(), 2)] == [3, 2]


@pytest.mark.parametrize(
    "change",
    ["UPDATE events SET what = 'sign-out'", "DELETE FROM events", "UPDATE events SET at = '2020-01-01'"],
)
def test_the_audit_is_append_only(database: Database, change: str) -> None:
    three(database)
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text(change))
    with database.read() as session:
        assert [one.what for one in events.listed(session, EventFilter())][-1] == "sign-in"


def test_replacing_an_event_is_refused_too(sqlite: Database) -> None:
    three(sqlite)
    columns = "id, at, what, details, address"
    replace = f"INSERT OR REPLACE INTO events ({columns}) SELECT {columns} FROM events"  # noqa: S608
    with pytest.raises(DBAPIError, match="append-only"), sqlite.write() as session:
        session.execute(text(replace))


@pytest.mark.postgres
def test_truncating_the_audit_is_refused(postgres_url: str) -> None:
    made = Database(postgres_url)
    made.migrate()
    with pytest.raises(DBAPIError, match="append-only"), made.write() as session:
        session.execute(text("TRUNCATE events"))
    made.close()
