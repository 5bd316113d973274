"""What has ended since a backup lets nobody in after it was restored, whatever version its tables are of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from db import copies, people
from db.engine import Database
from db.events import EventFilter, listed
from tests.databases import on_sqlite
from tests.db.conftest import NOW

LATER = NOW + timedelta(hours=1)


@pytest.fixture
def copy(database: Database, tmp_path: Path) -> Path:
    """With a sign-in and a link that are open, one each that is over, a sign-in that was ended and a link that was
    used."""
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        for name, until in (("open", LATER), ("over", NOW), ("ended", LATER)):
            common: dict[str, Any] = {
                "secret_hash": name,
                "person_id": ada,
                "created_at": NOW,
                "expires_at": until,
            }
            people.add_sign_in(session, **common)
            people.add_link(session, created_by=None, **common)
        people.take(session, "ended", NOW)
        people.end(session, 3, ada, NOW)
        for name, end in (("for ever", None), ("an hour", LATER), ("over", NOW), ("ended", None)):
            people.add_token(
                session, secret_hash=name, person_id=ada, purpose=name, created_at=NOW, expires_at=end
            )
        people.end_token(session, 4, ada, NOW)
    database.copy_to(tmp_path / "copy.sqlite3")
    return tmp_path / "copy.sqlite3"


def test_what_is_open_ends_and_is_noted(copy: Path) -> None:
    at = NOW + timedelta(minutes=1)
    copies.end_access(copy, at, "restored", "b.zip")
    there = Database(f"sqlite:///{copy}")
    try:
        with there.read() as session:
            assert [people.find_sign_in(session, name, at) for name in ("open", "over", "ended")] == [
                None
            ] * 3
            assert people.open_counts(session, at) == {}
            assert people.list_tokens(session, at, 1) == []
            found = [people.find_link(session, name) for name in ("open", "over", "ended")]
            assert [one and (one.expires_at, one.used_at) for one in found] == [
                (at, None),
                (NOW, None),
                (LATER, NOW),
            ]
            (event,) = listed(session, EventFilter(what="restored"))
        assert (event.at, event.person_id, event.address) == (at, None, "")
        assert event.details == {"file": "b.zip", "sign_ins": 1, "links": 1, "tokens": 2}
    finally:
        there.close()


@on_sqlite
def test_tables_from_before_there_were_events_and_tokens_are_taken(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as there, there:
        there.execute("DROP TABLE events")
        there.execute("DROP TABLE tokens")
    copies.end_access(copy, NOW, "restored", "b.zip")
    with closing(sqlite3.connect(copy)) as there:
        over = there.execute("SELECT count(*) FROM sign_ins WHERE ended_at IS NOT NULL").fetchone()
    assert over == (2,), "the one that was open, and the one that had been ended"
