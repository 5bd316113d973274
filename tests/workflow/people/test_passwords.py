from __future__ import annotations

from collections.abc import Iterator

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from db import people
from tests.workflow.people.conftest import add_person, whats
from tests.workflow.world import unwritable
from workflow.access import NotAllowed
from workflow.people import attempts, browsers, passwords, team
from workflow.people.browsers import Visit
from workflow.saving import NotSaved
from workflow.seat import Seat
from workflow.server.home import Home

REAL = pytest.mark.parametrize("hasher", [passwords._HASHER], ids=["real"], indirect=True)
"""A test of the hashes themselves: each takes the processor a tenth of a second."""
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

GOOD = "four plain words here"
HERE = Visit("192.0.2.7", "Firefox on Linux")


@pytest.fixture(autouse=True)
def hasher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash cheaply unless a test is `REAL`."""
    monkeypatch.setattr(passwords, "_HASHER", getattr(request, "param", CHEAP))
    passwords._nobodys.cache_clear()
    yield
    passwords._nobodys.cache_clear()


@pytest.fixture
def bob(chief: Seat) -> Seat:
    made = add_person(chief, "Bob")
    passwords.set_password(made, GOOD)
    return made


def stored(seat: Seat) -> str | None:
    with seat.home.database.read() as session:
        return people.find_account(session, seat.person_id).password_hash


def test_who_has_set_a_password_signs_in_by_it(home: Home, bob: Seat) -> None:
    assert passwords.has_password(bob)
    for name in ("Bob", "  bob ", "BOB"):
        signed_in = browsers.signed_in(home, passwords.sign_in_by_password(home, name, GOOD, HERE))
        assert signed_in is not None
        assert (signed_in.person.id, signed_in.how) == (bob.person_id, "password")
    assert {(one.address, one.browser) for one in browsers.my_browsers(bob)} == {
        ("192.0.2.7", "Firefox on Linux")
    }


@REAL
def test_it_is_hashed_as_the_library_hashes(bob: Seat) -> None:
    kept = stored(bob) or ""
    assert kept.startswith("$argon2id$")
    assert GOOD not in kept
    found = extract_parameters(kept)
    assert (found.memory_cost, found.time_cost) == (
        RFC_9106_LOW_MEMORY.memory_cost,
        RFC_9106_LOW_MEMORY.time_cost,
    )


def test_the_folder_holds_neither_password_nor_attempt(home: Home, bob: Seat) -> None:
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob's password in the wrong box", "a-mistyped-secret", HERE)
    kept = b"".join(path.read_bytes() for path in home.settings.home.rglob("*") if path.is_file())
    for words in (GOOD, "a-mistyped-secret", "in the wrong box"):
        assert words.encode() not in kept


@pytest.mark.parametrize("who", ["Bob", "nobody", "", "Cleo", "owner", "Bob\x00", "' OR 1=1 --"])
def test_whoever_it_is_a_wrong_password_is_refused_in_the_same_words_and_work(
    home: Home, chief: Seat, bob: Seat, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work, not the time, which a busy machine makes of it: one hash of the same parameters is verified."""
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


def test_a_name_is_limited_however_it_is_spelt_and_wherever_it_is_tried(
    home: Home, chief: Seat, bob: Seat
) -> None:
    for n in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.WrongPassword):
            passwords.sign_in_by_password(home, " bOB" if n % 2 else "Bob", "wrong", Visit(f"192.0.2.{n}"))
    with pytest.raises(passwords.TooManyAttempts, match="Wait 5 minutes"):
        passwords.sign_in_by_password(home, "bob", GOOD, Visit("192.0.2.200"))
    assert "sign-in refused" in whats(chief)


def test_names_of_nobody_are_limited_as_well(home: Home) -> None:
    for _ in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.WrongPassword):
            passwords.sign_in_by_password(home, "nobody", "wrong")
    with pytest.raises(passwords.TooManyAttempts):
        passwords.sign_in_by_password(home, "nobody", "wrong")


def test_one_that_is_right_ends_the_count(home: Home, bob: Seat) -> None:
    for _ in range(2):
        for _ in range(attempts.PER_NAME.amount - 1):
            with pytest.raises(passwords.WrongPassword):
                passwords.sign_in_by_password(home, "Bob", "wrong")
        assert passwords.sign_in_by_password(home, "Bob", GOOD)


def test_whose_access_has_ended_is_refused_with_the_right_password(
    home: Home, chief: Seat, bob: Seat
) -> None:
    team.disable_person(chief, bob.person_id)
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob", GOOD)


@pytest.mark.parametrize(
    ("password", "said"), [("", "Got 0"), ("x" * 11, "Got 11"), ("x" * 257, "Got 257"), ("Bob  bob", "Got 8")]
)
def test_passwords_have_a_length(bob: Seat, password: str, said: str) -> None:
    with pytest.raises(passwords.PasswordError, match=said):
        passwords.set_password(bob, password, GOOD)
    assert passwords.sign_in_by_password(bob.home, "Bob", GOOD)


def test_a_password_is_not_the_name(chief: Seat) -> None:
    ada = add_person(chief, "Ada of the Hills")
    for password in ("ada of the hills", "Ada of  the Hills"):
        with pytest.raises(passwords.PasswordError, match="must not be your name"):
            passwords.set_password(ada, password)
    assert not passwords.has_password(ada)


def test_another_one_needs_the_present_one_and_signs_the_other_browsers_out(home: Home, bob: Seat) -> None:
    here, there = (passwords.sign_in_by_password(home, "Bob", GOOD) for _ in range(2))
    this = browsers.signed_in(home, here)
    assert this is not None
    for present in ("", "wrong", "four plain words"):
        with pytest.raises(passwords.PasswordError, match="present password is wrong"):
            passwords.set_password(bob, "another plain one", present, this.id)
    assert browsers.person_of(home, there)
    passwords.set_password(bob, "another plain one", GOOD, this.id)
    assert browsers.person_of(home, here)
    assert browsers.person_of(home, there) is None
    with pytest.raises(passwords.WrongPassword):
        passwords.sign_in_by_password(home, "Bob", GOOD)
    assert passwords.sign_in_by_password(home, "Bob", "another plain one")


def test_guesses_at_the_present_one_are_limited(bob: Seat) -> None:
    for _ in range(attempts.PER_NAME.amount):
        with pytest.raises(passwords.PasswordError):
            passwords.set_password(bob, "another plain one", "wrong")
    with pytest.raises(passwords.TooManyAttempts):
        passwords.set_password(bob, "another plain one", GOOD)


def test_an_owner_clears_it_and_nobody_else(home: Home, chief: Seat, bob: Seat) -> None:
    for seat in (bob, Seat(home, 99)):
        with pytest.raises(NotAllowed):
            passwords.clear_password(seat, bob.person_id)
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


def test_one_password_however_a_keyboard_composes_it(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    passwords.set_password(ada, "caf\u00e9 au lait noir")
    assert passwords.sign_in_by_password(home, "Ada", "cafe\u0301 au lait noir")


@REAL
def test_weaker_hashes_are_renewed_at_the_next_sign_in(home: Home, bob: Seat) -> None:
    weak = CHEAP.hash(GOOD)
    with home.database.write() as session:
        people.change(session, bob.person_id, password_hash=weak)
    passwords.sign_in_by_password(home, "Bob", GOOD)
    assert extract_parameters(stored(bob) or "").memory_cost == RFC_9106_LOW_MEMORY.memory_cost


def test_a_full_disk_is_said_and_nobody_is_signed_in(home: Home, bob: Seat) -> None:
    with unwritable(home):
        with pytest.raises(NotSaved):
            passwords.sign_in_by_password(home, "Bob", GOOD)
        with pytest.raises(NotSaved):
            passwords.set_password(bob, "another plain one", GOOD)
    assert browsers.my_browsers(bob) == []
