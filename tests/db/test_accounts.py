from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from db import people
from db.engine import Database
from db.people import Account

from .conftest import NOW


def test_an_account_is_empty_until_something_is_set(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "ada", "owner", NOW)
        assert people.find_account(session, ada) == Account(ada)
        people.change(session, ada, known_as="ada@example.org")
        people.change(session, ada, password_hash="argon", subject="https://id ada")
    with database.read() as session:
        known = Account(ada, "argon", "ada@example.org", "https://id ada")
        assert people.find_account(session, ada) == known
        assert people.list_accounts(session) == {ada: known}
        assert people.by_known_as(session, "ada@example.org") == ada
        assert people.by_known_as(session, "ada") is None
        assert people.by_subject(session, "https://id ada") == ada
        assert people.by_subject(session, "https://id eve") is None
    with database.write() as session:
        people.change(session, ada, password_hash=None)
        assert people.find_account(session, ada) == Account(ada, None, "ada@example.org", "https://id ada")


@pytest.mark.parametrize("field", ["known_as", "subject"])
def test_no_two_people_are_known_alike(database: Database, field: str) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        people.change(session, ada, **{field: "same"})
    with pytest.raises(IntegrityError), database.write() as session:
        people.change(session, bob, **{field: "same"})
