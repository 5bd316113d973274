"""Tokens for programs: made for a purpose, shown once, and over with all that ends a person's sign-ins."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from tests.workflow.people.conftest import add_person, whats
from tests.workflow.people.test_browsers import open_one
from tests.workflow.world import unwritable
from workflow.access import NotAllowed
from workflow.people import browsers, elsewhere, passwords, team, tokens
from workflow.people.audited import EventFilter, audit_lines
from workflow.people.tokens import MOST, PREFIX, PURPOSE_LENGTH, TokenError
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

GOOD, BETTER = "four plain words here", "five other plain words here"


def works(home: Home, secret: str) -> bool:
    return tokens.user_of(home, secret) is not None


def test_a_token_says_who_it_is_of(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "  the bird \n survey ")
    found = tokens.user_of(home, secret)
    assert found is not None
    assert (found.person.name, found.person.id) == ("Ada", ada.person_id)
    (mine,) = tokens.my_tokens(ada)
    assert (mine.purpose, mine.id, mine.last_used_at) == ("the bird survey", found.id, None)
    assert tokens.my_tokens(chief) == []
    tokens.note_use(home, found.id)
    assert tokens.my_tokens(ada)[0].last_used_at is not None
    assert whats(chief)[0] == "token made"


def test_only_the_hash_is_stored(home: Home, chief: Seat) -> None:
    secret = tokens.make_token(chief, "survey")
    assert secret.startswith(PREFIX)
    assert len(secret) == len(PREFIX) + 43
    with home.database.read() as session:
        stored = session.execute(text("SELECT * FROM tokens")).one()
        told = session.execute(text("SELECT * FROM events")).all()
    assert secret not in repr((stored, told))
    assert secret.removeprefix(PREFIX) not in repr((stored, told))
    assert secret not in repr(tokens.my_tokens(chief))


@pytest.mark.parametrize("wrong", ["", "x", PREFIX, PREFIX + "a" * 43, "a\x00b", "é" * 50])
def test_nothing_else_is_a_token(home: Home, chief: Seat, wrong: str) -> None:
    tokens.make_token(chief, "survey")
    assert not works(home, wrong)


def test_nor_are_other_secrets(home: Home, chief: Seat) -> None:
    link = team.make_link(chief, "Ada")
    assert not works(home, link)
    secret = tokens.make_token(chief, "survey")
    assert browsers.person_of(home, secret) is None
    assert browsers.person_of(home, secret.removeprefix(PREFIX)) is None
    with pytest.raises(team.LinkError):
        team.redeem_link(home, secret)


def test_each_purpose_has_one_until_it_is_ended(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    first = tokens.make_token(ada, "survey")
    with pytest.raises(TokenError, match=r"already\. Fix: end it"):
        tokens.make_token(ada, "survey")
    others = tokens.make_token(chief, "survey")
    (number,) = [one.id for one in tokens.my_tokens(ada)]
    tokens.end_my_token(chief, number)
    assert works(home, first), "it is Ada's"
    tokens.end_my_token(ada, number)
    tokens.end_my_token(ada, number)
    assert not works(home, first)
    assert works(home, others)
    assert whats(chief).count("token ended") == 1
    assert works(home, tokens.make_token(ada, "survey"))


@pytest.mark.parametrize("purpose", ["", "  ", "x" * (PURPOSE_LENGTH + 1), "a\x00b", "a\u202eb"])
def test_a_purpose_can_be_shown(chief: Seat, purpose: str) -> None:
    with pytest.raises(TokenError, match="purpose"):
        tokens.make_token(chief, purpose)
    assert tokens.my_tokens(chief) == []


@pytest.mark.parametrize("days", [0, -1, 10_000])
def test_days_are_some(chief: Seat, days: int) -> None:
    with pytest.raises(TokenError, match="days"):
        tokens.make_token(chief, "survey", days)


def test_there_are_so_many_and_no_more(chief: Seat) -> None:
    for number in range(MOST):
        tokens.make_token(chief, f"survey {number}")
    with pytest.raises(TokenError, match="20 tokens already"):
        tokens.make_token(chief, "one more")


def test_a_token_expires(home: Home, chief: Seat) -> None:
    secret = tokens.make_token(chief, "survey", days=1)
    (one,) = tokens.my_tokens(chief)
    assert one.expires_at is not None
    assert timedelta(hours=23) < one.expires_at - datetime.now(UTC) <= timedelta(days=1)
    assert works(home, secret)
    with home.database.write() as session:
        session.execute(text("UPDATE tokens SET expires_at = created_at"))
    assert not works(home, secret)
    assert tokens.my_tokens(chief) == []
    assert tokens.make_token(chief, "survey"), "the purpose is free again"


def test_a_person_s_tokens_end_with_their_access_for_good(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    team.disable_person(chief, ada.person_id)
    assert not works(home, secret)
    with pytest.raises(NotAllowed):
        tokens.make_token(ada, "another")
    team.make_link(chief, "Ada")
    assert not works(home, secret), "let in again, they make a new one"


def test_another_password_ends_them(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    passwords.set_password(ada, GOOD)
    assert works(home, secret), "the first password takes nothing away"
    passwords.set_password(ada, BETTER, GOOD)
    assert not works(home, secret)


def test_signing_out_all_others_ends_them_and_signing_out_one_does_not(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    (this, _), (other, _) = open_one(ada), open_one(ada)
    browsers.end_my_browser(ada, other)
    assert works(home, secret)
    browsers.end_my_other_browsers(ada, this)
    assert not works(home, secret), "also where there is no other browser"
    assert whats(chief)[:2] == ["token ended", "browsers signed out"]


@pytest.mark.parametrize("how", ["access", "password", "others", "name"])
def test_tokens_that_end_together_leave_one_event(home: Home, chief: Seat, how: str) -> None:
    ada = add_person(chief, "Ada")
    passwords.set_password(ada, GOOD)
    this, _ = open_one(ada)
    ends: dict[str, Callable[[], None]] = {
        "access": lambda: team.disable_person(chief, ada.person_id),
        "password": lambda: passwords.set_password(ada, BETTER, GOOD),
        "others": lambda: browsers.end_my_other_browsers(ada, this),
        "name": lambda: elsewhere.set_known_as(chief, ada.person_id, "ada@example.org"),
    }
    for purpose in ("survey", "notebook"):
        tokens.make_token(ada, purpose)
    tokens.make_token(chief, "another person's")
    for _ in range(2):  # the second time there is nothing to tell
        with suppress(passwords.PasswordError):
            ends[how]()
    (one,) = (line for line in audit_lines(chief, EventFilter()) if line.what == "token ended")
    who = "Ada" if how in ("password", "others") else "owner"
    assert (one.who, one.whom, one.details) == (who, "Ada", "count: 2")
    assert len(tokens.my_tokens(chief)) == 1


def test_an_owner_ends_anybody_s_token_and_nobody_else_does(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    secret = tokens.make_token(ada, "survey")
    (one,) = tokens.my_tokens(ada)
    with pytest.raises(NotAllowed):
        tokens.end_token(bob, ada.person_id, one.id)
    tokens.end_token(chief, bob.person_id, one.id)
    assert works(home, secret), "it is Ada's"
    tokens.end_token(chief, ada.person_id, one.id)
    tokens.end_token(chief, ada.person_id, one.id)
    assert not works(home, secret)
    (line,) = (line for line in audit_lines(chief, EventFilter()) if line.what == "token ended")
    assert (line.who, line.whom, line.details) == ("owner", "Ada", "purpose: survey")


def test_another_name_elsewhere_ends_them(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    elsewhere.set_known_as(chief, ada.person_id, "ada@example.org")
    assert not works(home, secret)


def test_a_full_disk_makes_none_and_keeps_nobody_out(home: Home, chief: Seat) -> None:
    secret = tokens.make_token(chief, "survey")
    found = tokens.user_of(home, secret)
    assert found is not None
    with unwritable(home):
        with pytest.raises(NotSaved):
            tokens.make_token(chief, "another")
        tokens.note_use(home, found.id)
        assert works(home, secret)
    assert [one.purpose for one in tokens.my_tokens(chief)] == ["survey"]
