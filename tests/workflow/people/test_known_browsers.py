"""Who is known to be signed in is who is, whoever has changed what meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from db import people as sign_ins
from db.engine import DatabaseUnavailableError
from db.people import SignedIn
from tests.workflow.people.conftest import add_person
from tests.workflow.people.test_browsers import open_one
from workflow.people import browsers, team
from workflow.people.tokens import secret_hash
from workflow.seat import Seat
from workflow.server.home import Home, KnownBrowsers, open_home


@pytest.fixture
def elsewhere(home: Home) -> Iterator[Home]:
    """The same database, opened as another process does."""
    opened = open_home(home.settings)
    yield opened
    opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The secrets that the database was asked for."""
    found: list[str] = []
    plain = sign_ins.find_sign_in

    def find(session: object, of: str, now: datetime) -> SignedIn | None:
        found.append(of)
        return plain(session, of, now)  # type: ignore[arg-type]

    monkeypatch.setattr(sign_ins, "find_sign_in", find)
    return found


def test_the_database_is_asked_once_until_anybody_commits(
    home: Home, chief: Seat, elsewhere: Home, asked: list[str]
) -> None:
    _, secret = open_one(chief)
    asked.clear()
    for _ in range(5):
        assert browsers.person_of(home, secret) is not None
    assert len(asked) == (0 if home.database.is_sqlite else 5), "it was found when it was opened"
    open_one(Seat(elsewhere, chief.person_id))
    asked.clear()
    for _ in range(5):
        assert browsers.person_of(home, secret) is not None
    assert len(asked) == (1 if home.database.is_sqlite else 5)


def test_what_is_not_one_is_asked_for_each_time(home: Home, chief: Seat, asked: list[str]) -> None:
    open_one(chief)
    asked.clear()
    assert [browsers.person_of(home, "no secret") for _ in range(3)] == [None] * 3
    assert len(asked) == 3


def test_it_ends_when_it_expires_though_nobody_commits(home: Home, chief: Seat) -> None:
    _, secret = open_one(chief)
    found = browsers.signed_in(home, secret)
    assert found is not None
    known, moment = KnownBrowsers(), timedelta(microseconds=1)
    assert known.find(home.database, secret_hash(secret), found.expires_at - moment) == found
    assert known.find(home.database, secret_hash(secret), found.expires_at) is None


def test_a_database_that_does_not_say_whether_it_has_changed_is_asked(
    home: Home, chief: Seat, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = open_one(chief)
    asked.clear()

    def silent() -> None:
        raise DatabaseUnavailableError("The database does not answer now.")

    monkeypatch.setattr(home.database, "stamp", silent)
    for _ in range(2):
        assert browsers.person_of(home, secret) is not None
    assert len(asked) == 2


def test_it_is_as_if_the_database_were_asked_whoever_changes_what(
    home: Home, chief: Seat, elsewhere: Home
) -> None:
    """Sign-ins are opened and ended, people disabled and let in again, here and by another process."""
    rng = np.random.default_rng(3)
    people = [add_person(chief, name).person_id for name in ("Ada", "Bob")]
    opened: list[tuple[int, int, str]] = []
    told = []
    for _ in range(60):
        where, person = (home, elsewhere)[rng.integers(2)], people[rng.integers(2)]
        owner, act = Seat(where, chief.person_id), rng.choice(["open", "open", "end", "disable", "let in"])
        if (
            act == "open"
            and next(one for one in team.list_people(chief) if one.id == person).disabled_at is None
        ):
            opened.append((person, *open_one(Seat(where, person))))
        elif act == "end" and opened:
            of, number, _secret = opened[rng.integers(len(opened))]
            browsers.end_browser(owner, of, number)
        elif act == "disable":
            team.disable_person(owner, person)
        elif act == "let in":
            team.make_link_for(owner, person)
        for _of, _number, secret in opened:
            with home.database.read() as session:
                truth = sign_ins.find_sign_in(session, secret_hash(secret), datetime.now(UTC))
            told.append(truth is not None)
            assert [browsers.signed_in(one, secret) for one in (home, elsewhere, home)] == [truth] * 3
    assert {*told} == {True, False}
