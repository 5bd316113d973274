from __future__ import annotations

import pytest
from sqlalchemy.exc import IntegrityError

from db import accounts, people
from db.accounts import Account
from db.engine import Database

from .conftest import NOW


def test_an_account_is_empty_until_something_is_set(database: Database) -> None:
    with database.write() as session:
        ada = people.add(session, "ada", "owner", NOW)
        assert accounts.find(session, ada) == Account(ada)
        accounts.change(session, ada, known_as="ada@example.org")
        accounts.change(session, ada, password_hash="argon", subject="https://id ada")
    with database.read() as session:
        known = Account(ada, "argon", "ada@example.org", "https://id ada")
        assert accounts.find(session, ada) == known
        assert accounts.listed(session) == {ada: known}
        assert accounts.by_known_as(session, "ada@example.org") == ada
        assert accounts.by_known_as(session, "ada") is None
        assert accounts.by_subject(session, "https://id ada") == ada
        assert accounts.by_subject(session, "https://id eve") is None
    with database.write() as session:
        accounts.change(session, ada, password_hash=None)
        assert accounts.find(session, ada) == Account(ada, None, "ada@example.org", "https://id ada")


@pytest.mark.parametrize("field", ["known_as", "subject"])
def test_no_two_people_are_known_alike(database: Database, field: str) -> None:
    with database.write() as session:
        ada, bob = people.add(session, "ada", "owner", NOW), people.add(session, "bob", "annotator", NOW)
        accounts.change(session, ada, **{field: "same"})
    with pytest.raises(IntegrityError), database.write() as session:
        accounts.change(session, bob, **{field: "same"})
