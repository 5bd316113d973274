"""Tokens are found while they last, and while their person may be here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from db import people
from db.engine import Database
from tests.db.conftest import NOW

LATER = NOW + timedelta(hours=1)


def test_a_token_is_found_until_it_expires_or_ends(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        for name, until in (("for ever", None), ("an hour", LATER), ("over", NOW)):
            people.add_token(
                session, secret_hash=name, person_id=ada, purpose=name, created_at=NOW, expires_at=until
            )
    with database.read() as session:
        found = {
            name: people.find_token(session, name, NOW) for name in ("for ever", "an hour", "over", "none")
        }
        assert [name for name, one in found.items() if one is not None] == ["for ever", "an hour"]
        use = found["an hour"]
        assert use is not None
        assert (use.person.name, use.id) == ("Ada", 2)
        assert people.find_token(session, "an hour", LATER) is None
        assert [one.purpose for one in people.list_tokens(session, NOW, ada)] == ["for ever", "an hour"]
        assert people.list_tokens(session, NOW, ada + 1) == []
    with database.write() as session:
        assert not people.end_token(session, 1, ada + 1, NOW), "it is Ada's"
        assert people.end_token(session, 1, ada, NOW)
        assert not people.end_token(session, 1, ada, NOW), "it has ended"
        people.see_token(session, 2, LATER)
        (left,) = people.list_tokens(session, NOW, ada)
        assert (left.last_used_at, left.expires_at) == (LATER, LATER)
        assert people.list_tokens(session, NOW) == [left], "of all people"
        assert people.end_tokens_of(session, ada, NOW) == 1, "those that could still be used"
        assert people.end_tokens_of(session, ada, NOW) == 0
        assert people.list_tokens(session, NOW, ada) == []
        assert people.find_token(session, "an hour", NOW) is None


def test_a_disabled_person_s_token_is_not_found(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        people.add_token(
            session, secret_hash="h", person_id=ada, purpose="p", created_at=NOW, expires_at=None
        )
        people.disable(session, ada, NOW)
        assert people.find_token(session, "h", NOW) is None


def test_two_tokens_are_never_one(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "Ada", "annotator", NOW)
        same: dict[str, Any] = {"secret_hash": "h", "person_id": ada, "created_at": NOW, "expires_at": None}
        people.add_token(session, purpose="one", **same)
    with database.write() as session, pytest.raises(IntegrityError), session.begin_nested():
        people.add_token(session, purpose="other", **same)
