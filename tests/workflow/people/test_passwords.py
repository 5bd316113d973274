"""Passwords and API tokens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY
from sqlalchemy import text

from db import people
from tests.hashing import CHEAP, REAL
from tests.present import present
from tests.workflow.people.conftest import add_person, whats
from tests.workflow.people.test_browsers import open_one
from tests.workflow.world import unwritable
from workflow.access import NotAllowed
from workflow.people import attempts, browsers, elsewhere, passwords, team, tokens
from workflow.people.audited import EventFilter, audit_lines
from workflow.people.browsers import Visit
from workflow.people.tokens import MOST, PREFIX, PURPOSE_LENGTH, TokenError
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

# passwords


GOOD = "four plain words here"
HERE = Visit("192.0.2.7", "Firefox on Linux")


@pytest.fixture
def real_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of the hashes themselves."""
    monkeypatch.setattr(passwords, "_HASHER", REAL)


@pytest.fixture
def bob(chief: Seat) -> Seat:
    made = add_person(chief, "Bob")
    passwords.set_password(made, GOOD)
    return made


def stored(seat: Seat) -> str | None:
    with seat.home.database.read() as session:
        return people.find_account(session, seat.person_id).password_hash


def test_password_signs_in(home: Home, bob: Seat) -> None:
    assert passwords.has_password(bob)
    for name in ("Bob", "  bob ", "BOB"):
        signed_in = present(browsers.signed_in(home, passwords.sign_in_by_password(home, name, GOOD, HERE)))
        assert (signed_in.person.id, signed_in.how) == (bob.person_id, "password")
    assert {(one.address, one.browser) for one in browsers.my_browsers(bob)} == {("192.0.2.7", "Firefox on Linux")}


@pytest.mark.usefixtures("real_hashes")
def test_password_is_hashed_with_argon2id(bob: Seat) -> None:
    kept = stored(bob) or ""
    assert kept.startswith("$argon2id$")
    assert GOOD not in kept
    found = extract_parameters(kept)
    assert (found.memory_cost, found.time_cost) == (RFC_9106_LOW_MEMORY.memory_cost, RFC_9106_LOW_MEMORY.time_cost)


def test_data_folder_contains_no_password_or_attempt(home: Home, bob: Seat) -> None:
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob's password in the wrong box", "a-mistyped-secret", HERE)
    kept = b"".join(path.read_bytes() for path in home.settings.home.rglob("*") if path.is_file())
    for words in (GOOD, "a-mistyped-secret", "in the wrong box"):
        assert words.encode() not in kept


@pytest.mark.parametrize("who", ["Bob", "nobody", "", "Cleo", "owner", "Bob\x00", "' OR 1=1 --"])
def test_wrong_password_is_refused_alike_for_everyone(
    home: Home, chief: Seat, bob: Seat, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts the work, not the time, which depends on the machine: one hash with the same parameters is verified."""
    add_person(chief, "Cleo")  # without a password
    passwords._nobodys()
    verified: list[str] = []
    verify = PasswordHasher.verify

    def counted(self: PasswordHasher, kept: str, password: str) -> bool:
        verified.append(kept)
        return verify(self, kept, password)

    monkeypatch.setattr(PasswordHasher, "verify", counted)
    with pytest.raises(passwords.WrongPassword) as refused:
        passwords.sign_in_by_password(home, who, "a wrong password", HERE)
    assert str(refused.value) == passwords.WRONG
    assert len(verified) == 1
    assert extract_parameters(verified[0]) == extract_parameters(stored(bob) or "")


def test_password_attempts_are_limited_by_name(home: Home, chief: Seat, bob: Seat) -> None:
    for n in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.WrongPassword):
            passwords.sign_in_by_password(home, " bOB" if n % 2 else "Bob", "wrong", Visit(f"192.0.2.{n}"))
    with pytest.raises(passwords.TooManyAttempts, match="Wait 5 minutes"):
        passwords.sign_in_by_password(home, "bob", GOOD, Visit("192.0.2.200"))
    assert "sign-in refused" in whats(chief)


def test_attempts_on_unknown_names_are_limited(home: Home) -> None:
    for _ in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.WrongPassword):
            passwords.sign_in_by_password(home, "nobody", "wrong")
    with pytest.raises(passwords.TooManyAttempts):
        passwords.sign_in_by_password(home, "nobody", "wrong")


def test_right_password_resets_attempts(home: Home, bob: Seat) -> None:
    for _ in range(2):
        for _ in range(attempts.PER_NAME.amount - 1):
            with pytest.raises(passwords.WrongPassword):
                passwords.sign_in_by_password(home, "Bob", "wrong")
        assert passwords.sign_in_by_password(home, "Bob", GOOD)


def test_disabled_person_is_refused_with_right_password(home: Home, chief: Seat, bob: Seat) -> None:
    team.disable_person(chief, bob.person_id)
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob", GOOD)


@pytest.mark.parametrize(
    ("password", "said"), [("", "Got 0"), ("x" * 11, "Got 11"), ("x" * 257, "Got 257"), ("Bob  bob", "Got 8")]
)
def test_too_short_or_long_password_is_refused(bob: Seat, password: str, said: str) -> None:
    with pytest.raises(passwords.PasswordError, match=said):
        passwords.set_password(bob, password, GOOD)
    assert passwords.sign_in_by_password(bob.home, "Bob", GOOD)


def test_password_equal_to_name_is_refused(chief: Seat) -> None:
    ada = add_person(chief, "Ada of the Hills")
    for password in ("ada of the hills", "Ada of  the Hills"):
        with pytest.raises(passwords.PasswordError, match="must not be your name"):
            passwords.set_password(ada, password)
    assert not passwords.has_password(ada)


def test_changing_password_needs_old_one_and_signs_others_out(home: Home, bob: Seat) -> None:
    here, there = (passwords.sign_in_by_password(home, "Bob", GOOD) for _ in range(2))
    this = present(browsers.signed_in(home, here))
    for said in ("", "wrong", "four plain words"):
        with pytest.raises(passwords.PasswordError, match="present password is wrong"):
            passwords.set_password(bob, "another plain one", said, this.id)
    assert browsers.person_of(home, there)
    passwords.set_password(bob, "another plain one", GOOD, this.id)
    assert browsers.person_of(home, here)
    assert browsers.person_of(home, there) is None
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob", GOOD)
    assert passwords.sign_in_by_password(home, "Bob", "another plain one")


def test_guesses_of_current_password_are_limited(bob: Seat) -> None:
    for _ in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.PasswordError):
            passwords.set_password(bob, "another plain one", "wrong")
    with pytest.raises(passwords.TooManyAttempts):
        passwords.set_password(bob, "another plain one", GOOD)


def test_only_owner_clears_password(home: Home, chief: Seat, bob: Seat) -> None:
    inside = passwords.sign_in_by_password(home, "Bob", GOOD)
    passwords.clear_password(chief, bob.person_id)
    assert not passwords.has_password(bob)
    assert browsers.person_of(home, inside)
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob", GOOD)
    passwords.clear_password(chief, bob.person_id)
    assert whats(chief).count("password cleared") == 1
    passwords.set_password(bob, "another plain one")
    assert passwords.sign_in_by_password(home, "Bob", "another plain one")


def test_password_is_unicode_normalised(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    passwords.set_password(ada, "caf\u00e9 au lait noir")
    assert passwords.sign_in_by_password(home, "Ada", "cafe\u0301 au lait noir")


@pytest.mark.usefixtures("real_hashes")
def test_weaker_hashes_are_renewed_at_next_sign_in(home: Home, bob: Seat) -> None:
    weak = CHEAP.hash(GOOD)
    with home.database.write() as session:
        people.change(session, bob.person_id, password_hash=weak)
    passwords.sign_in_by_password(home, "Bob", GOOD)
    assert extract_parameters(stored(bob) or "").memory_cost == RFC_9106_LOW_MEMORY.memory_cost


def test_full_disk_refuses_password_sign_in(home: Home, bob: Seat) -> None:
    with unwritable(home):
        with pytest.raises(NotSaved):
            passwords.sign_in_by_password(home, "Bob", GOOD)
        with pytest.raises(NotSaved):
            passwords.set_password(bob, "another plain one", GOOD)
    assert browsers.my_browsers(bob) == []


# API tokens: made for a purpose, shown once, and over with all that ends a person's sign-ins


TOKENS_GOOD, BETTER = "four plain words here", "five other plain words here"


def works(home: Home, secret: str) -> bool:
    return tokens.user_of(home, secret) is not None


def test_token_identifies_its_person(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "  the bird \n survey ")
    found = present(tokens.user_of(home, secret))
    assert (found.person.name, found.person.id) == ("Ada", ada.person_id)
    (mine,) = tokens.my_tokens(ada)
    assert (mine.purpose, mine.id, mine.last_used_at) == ("the bird survey", found.id, None)
    assert tokens.my_tokens(chief) == []
    tokens.note_use(home, found.id)
    assert tokens.my_tokens(ada)[0].last_used_at is not None
    assert whats(chief)[0] == "token created"


def test_only_token_hash_is_stored(home: Home, chief: Seat) -> None:
    secret = tokens.make_token(chief, "survey")
    assert secret.startswith(PREFIX)
    assert len(secret) == len(PREFIX) + 43
    with home.database.read() as session:
        stored = session.execute(text("SELECT * FROM tokens")).one()
        told = session.execute(text("SELECT * FROM events")).all()
    assert secret not in repr((stored, told))
    assert secret.removeprefix(PREFIX) not in repr((stored, told))
    assert secret not in repr(tokens.my_tokens(chief))


def test_malformed_token_is_refused(home: Home, chief: Seat, subtests: pytest.Subtests) -> None:
    tokens.make_token(chief, "survey")
    for wrong in ["", "x", PREFIX, PREFIX + "a" * 43, "a\x00b", "é" * 50]:
        with subtests.test(repr(wrong)):
            assert not works(home, wrong)


def test_other_secrets_are_no_tokens(home: Home, chief: Seat) -> None:
    link = team.make_link(chief, "Ada")
    assert not works(home, link)
    secret = tokens.make_token(chief, "survey")
    assert browsers.person_of(home, secret) is None
    assert browsers.person_of(home, secret.removeprefix(PREFIX)) is None
    with pytest.raises(team.LinkError):
        team.redeem_link(home, secret)


def test_each_purpose_has_one_open_token(home: Home, chief: Seat) -> None:
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
def test_invalid_token_purpose_is_refused(chief: Seat, purpose: str) -> None:
    with pytest.raises(TokenError, match="purpose"):
        tokens.make_token(chief, purpose)
    assert tokens.my_tokens(chief) == []


@pytest.mark.parametrize("days", [0, -1, 10_000])
def test_invalid_token_lifetime_is_refused(chief: Seat, days: int) -> None:
    with pytest.raises(TokenError, match="days"):
        tokens.make_token(chief, "survey", days)


def test_number_of_tokens_is_limited(chief: Seat) -> None:
    for number in range(MOST):
        tokens.make_token(chief, f"survey {number}")
    with pytest.raises(TokenError, match="20 tokens already"):
        tokens.make_token(chief, "one more")


def test_token_expires(home: Home, chief: Seat) -> None:
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


def test_disabling_person_ends_tokens_for_good(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    team.disable_person(chief, ada.person_id)
    assert not works(home, secret)
    with pytest.raises(NotAllowed):
        tokens.make_token(ada, "another")
    team.make_link(chief, "Ada")
    assert not works(home, secret), "let in again, they make a new one"


def test_changing_password_ends_tokens(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    passwords.set_password(ada, TOKENS_GOOD)
    assert works(home, secret), "the first password takes nothing away"
    passwords.set_password(ada, BETTER, TOKENS_GOOD)
    assert not works(home, secret)


def test_signing_out_all_others_ends_tokens(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    (this, _), (other, _) = open_one(ada), open_one(ada)
    browsers.end_my_browser(ada, other)
    assert works(home, secret)
    browsers.end_my_other_browsers(ada, this)
    assert not works(home, secret), "also where there is no other browser"
    assert whats(chief)[:2] == ["token ended", "browsers signed out"]


@pytest.mark.parametrize("how", ["access", "password", "others", "name"])
def test_tokens_ended_together_are_audited_once(home: Home, chief: Seat, how: str) -> None:
    ada = add_person(chief, "Ada")
    passwords.set_password(ada, TOKENS_GOOD)
    this, _ = open_one(ada)
    ends: dict[str, Callable[[], None]] = {
        "access": lambda: team.disable_person(chief, ada.person_id),
        "password": lambda: passwords.set_password(ada, BETTER, TOKENS_GOOD),
        "others": lambda: browsers.end_my_other_browsers(ada, this),
        "name": lambda: elsewhere.set_known_as(chief, ada.person_id, "ada@example.org"),
    }
    for purpose in ("survey", "notebook"):
        tokens.make_token(ada, purpose)
    tokens.make_token(chief, "another person's")
    for _ in range(2):  # nothing is reported the second time
        with suppress(passwords.PasswordError):
            ends[how]()
    (one,) = (line for line in audit_lines(chief, EventFilter()) if line.what == "token ended")
    who = "Ada" if how in ("password", "others") else "owner"
    assert (one.who, one.whom, one.details) == (who, "Ada", "count: 2")
    assert len(tokens.my_tokens(chief)) == 1


def test_only_owner_ends_tokens_of_others(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    secret = tokens.make_token(ada, "survey")
    (one,) = tokens.my_tokens(ada)
    tokens.end_token(chief, bob.person_id, one.id)
    assert works(home, secret), "it is Ada's"
    tokens.end_token(chief, ada.person_id, one.id)
    tokens.end_token(chief, ada.person_id, one.id)
    assert not works(home, secret)
    (line,) = (line for line in audit_lines(chief, EventFilter()) if line.what == "token ended")
    assert (line.who, line.whom, line.details) == ("owner", "Ada", "purpose: survey")


def test_changing_external_name_ends_tokens(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    secret = tokens.make_token(ada, "survey")
    elsewhere.set_known_as(chief, ada.person_id, "ada@example.org")
    assert not works(home, secret)


def test_full_disk_refuses_new_token_and_keeps_old_ones(home: Home, chief: Seat) -> None:
    secret = tokens.make_token(chief, "survey")
    found = present(tokens.user_of(home, secret))
    with unwritable(home):
        with pytest.raises(NotSaved):
            tokens.make_token(chief, "another")
        tokens.note_use(home, found.id)
        assert works(home, secret)
    assert [one.purpose for one in tokens.my_tokens(chief)] == ["survey"]
