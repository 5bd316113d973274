"""What PostgreSQL tells of the logs, and when."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from db import entries
from db.engine import Database, DatabaseUnavailableError
from db.identity import Listener
from tests.db.conftest import add_project, new_entry

pytestmark = pytest.mark.postgres

LONG = 60.0
"""Seconds that news may take; they come in milliseconds."""


@pytest.fixture
def listener(postgres: Database, postgres_url: str) -> Iterator[Listener]:
    made = Listener(postgres_url)
    yield made
    made.close()


def give_up(database: Database, project: int) -> None:
    with database.write() as session:
        entries.append(session, new_entry(project, row=2))
        raise RuntimeError("given up")


def test_it_is_told_with_the_commit_how_far_each_log_has_come(postgres: Database, listener: Listener) -> None:
    birds, frogs = add_project(postgres, "birds"), add_project(postgres, "frogs")
    with postgres.write() as session:
        entries.append(session, new_entry(birds, row=0))
        entries.append(session, new_entry(frogs, row=0))
        entries.append(session, new_entry(birds, row=1))
        assert listener.wait(0) == {}, "it may still be undone"
    assert listener.wait(LONG) == {birds: 2, frogs: 1}
    with pytest.raises(RuntimeError, match="given up"):
        give_up(postgres, birds)
    with postgres.write() as session:
        entries.append(session, new_entry(frogs, row=1))
    assert listener.wait(LONG) == {frogs: 2}, "of what was undone nothing is told, then or later"
    with postgres.write() as session:
        session.execute(text("UPDATE projects SET name = 'toads' WHERE id = :id"), {"id": frogs})
    assert listener.wait(0) == {}


def test_who_is_not_heard_any_more_is_told_so(
    postgres: Database, postgres_url: str, listener: Listener
) -> None:
    with postgres.read() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ).all()
    with pytest.raises(DatabaseUnavailableError, match="does not tell of news"):
        listener.wait(LONG)
    with pytest.raises(DatabaseUnavailableError, match="does not tell of news"):
        Listener(postgres_url.replace("host=", "host=/nowhere"))
