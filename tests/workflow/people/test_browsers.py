"""Browser sessions, known or rate-limited, and external sign-in."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import people as sign_ins
from db.engine import DatabaseUnavailableError
from db.people import SignedIn
from tests.present import present
from tests.workflow.people.conftest import Opener, add_person, whats
from tests.workflow.people.test_team import wait
from tests.workflow.world import unwritable
from workflow.access import NotFound, Right
from workflow.people import attempts, browsers, elsewhere, team
from workflow.people.attempts import Attempts, folded, network
from workflow.people.browsers import Visit, browser_words
from workflow.people.elsewhere import NotKnown
from workflow.people.tokens import secret_hash
from workflow.seat import Seat
from workflow.server.home import Home, KnownBrowsers, open_home

# browsers


def open_one(seat: Seat, visit: Visit = browsers.NOWHERE) -> tuple[int, str]:
    """Id and secret of a browser signed in as this person."""
    with seat.everywhere.writing(Right.SEE) as mine:
        secret = browsers.open_browser(mine.session, seat.person_id, "link", visit)
    found = present(browsers.signed_in(seat.home, secret))
    return found.id, secret


def test_person_ends_own_browsers_only(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    (_, of_ada), (number, of_bob) = open_one(ada), open_one(bob)
    browsers.end_my_browser(ada, number)
    assert browsers.person_of(home, of_bob), "it is Bob's"
    browsers.end_my_browser(bob, number)
    assert browsers.person_of(home, of_bob) is None
    assert browsers.person_of(home, of_ada)
    assert whats(chief).count("browsers signed out") == 1


def test_other_browsers_are_ended_together(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    opened = [open_one(ada) for _ in range(3)]
    this, secret = opened[1]
    browsers.end_my_other_browsers(ada, this)
    assert [one.id for one in browsers.my_browsers(ada)] == [this]
    assert browsers.person_of(home, secret)
    browsers.end_my_other_browsers(ada, this)
    assert whats(chief).count("browsers signed out") == 1, "nothing is noted of what did not happen"


def test_owner_ends_browser_of_any_person(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    number, secret = open_one(ada)
    browsers.end_browser(chief, chief.person_id, number)
    assert browsers.person_of(home, secret), "it is not the owner's"
    browsers.end_browser(chief, ada.person_id, number)
    assert browsers.person_of(home, secret) is None


def test_signing_out_is_audited_once(home: Home, chief: Seat) -> None:
    _, secret = open_one(chief)
    for _ in range(2):
        browsers.sign_out(home, secret)
    browsers.sign_out(home, "unknown")
    assert whats(chief).count("signed out") == 1


def test_last_seen_time_is_stored(home: Home, chief: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    number, _ = open_one(chief, Visit("192.0.2.1", "Safari on macOS"))
    (before,) = browsers.my_browsers(chief)
    wait(monkeypatch, timedelta(hours=1))
    browsers.see(home, number)
    (after,) = browsers.my_browsers(chief)
    assert before.last_seen_at is not None
    assert after.last_seen_at is not None
    assert after.last_seen_at - before.last_seen_at >= timedelta(hours=1)
    assert (after.created_at, after.address, after.browser) == (before.created_at, "192.0.2.1", "Safari on macOS")
    with unwritable(home):
        browsers.see(home, number)  # fails silently
    wait(monkeypatch, browsers.SIGN_IN_LIFE + timedelta(seconds=1))
    assert browsers.my_browsers(chief) == []


def test_browser_words_name_browser_and_system(subtests: pytest.Subtests) -> None:
    for said, words in [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36",
            "Chrome on Windows",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36 Edg/130.0",
            "Edge on Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
            "Safari on iPhone",
        ),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "Another program"),
        ("", "Another program"),
        ("<script>", "Another program"),
    ]:
        with subtests.test(str(said)):
            assert browser_words(said) == words


# The cache of signed-in people equals the database, after any change


@pytest.fixture
def known_browsers_elsewhere(home: Home) -> Iterator[Home]:
    """The same database, opened as another process does."""
    opened = open_home(home.settings)
    yield opened
    opened.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The secrets looked up in the database."""
    found: list[str] = []
    plain = sign_ins.find_sign_in

    def find(session: object, of: str, now: datetime) -> SignedIn | None:
        found.append(of)
        return plain(session, of, now)  # type: ignore[arg-type]

    monkeypatch.setattr(sign_ins, "find_sign_in", find)
    return found


def test_sign_in_is_cached_until_next_commit(
    home: Home, chief: Seat, known_browsers_elsewhere: Home, asked: list[str]
) -> None:
    _, secret = open_one(chief)
    asked.clear()
    for _ in range(5):
        assert browsers.person_of(home, secret) is not None
    assert len(asked) == (0 if home.database.is_sqlite else 5), "it was found when it was opened"
    open_one(Seat(known_browsers_elsewhere, chief.person_id))
    asked.clear()
    for _ in range(5):
        assert browsers.person_of(home, secret) is not None
    assert len(asked) == (1 if home.database.is_sqlite else 5)


def test_unknown_secret_is_not_cached(home: Home, chief: Seat, asked: list[str]) -> None:
    open_one(chief)
    asked.clear()
    assert [browsers.person_of(home, "no secret") for _ in range(3)] == [None] * 3
    assert len(asked) == 3


def test_cached_sign_in_expires_without_commit(home: Home, chief: Seat) -> None:
    _, secret = open_one(chief)
    found = present(browsers.signed_in(home, secret))
    known, moment = KnownBrowsers(), timedelta(microseconds=1)
    assert known.find(home.database, secret_hash(secret), found.expires_at - moment) == found
    assert known.find(home.database, secret_hash(secret), found.expires_at) is None


def test_cache_is_bypassed_if_database_stamp_is_unavailable(
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


def test_cache_equals_database_after_any_change(home: Home, chief: Seat, known_browsers_elsewhere: Home) -> None:
    """Sign-ins are opened and ended, people disabled and restored, here and by another process."""
    rng = np.random.default_rng(3)
    people = [add_person(chief, name).person_id for name in ("Ada", "Bob")]
    opened: list[tuple[int, int, str]] = []
    told = []
    for _ in range(60):
        where, person = (home, known_browsers_elsewhere)[rng.integers(2)], people[rng.integers(2)]
        owner, act = Seat(where, chief.person_id), rng.choice(["open", "open", "end", "disable", "let in"])
        if act == "open" and next(one for one in team.list_people(chief) if one.id == person).disabled_at is None:
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
            assert [browsers.signed_in(one, secret) for one in (home, known_browsers_elsewhere, home)] == [truth] * 3
    assert {*told} == {True, False}


# Elsewhere


ISSUER = "https://id.example.org"


def claims(email: str = "ada@example.org", sub: str = "1", **more: Any) -> dict[str, Any]:
    return {"iss": ISSUER, "sub": sub, "email": email, "email_verified": True, **more}


def by_openid(home: Home, **values: Any) -> int:
    person = present(browsers.person_of(home, elsewhere.sign_in_by_openid(home, claims(**values))))
    return person.id


def by_proxy(home: Home, user: str) -> int:
    found = present(browsers.signed_in(home, elsewhere.sign_in_by_proxy(home, user)))
    assert found.how == "proxy"
    assert elsewhere.person_by_proxy(home, user) == found.person.id
    return found.person.id


def test_people_are_known_by_external_or_own_name(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "bob@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "  ADA@example.org ")
    assert by_openid(home, email="ada@Example.ORG") == ada.person_id
    assert by_proxy(home, "ada@example.org") == ada.person_id
    assert by_openid(home, email="Bob@example.org", sub="2") == bob.person_id
    assert by_proxy(home, "bob@example.org") == bob.person_id
    assert elsewhere.person_by_proxy(home, "Ada") is None, "she is known by something else"


def test_unknown_external_users_are_refused(home: Home, chief: Seat) -> None:
    for act in (
        lambda: elsewhere.sign_in_by_openid(home, claims("eve@example.org")),
        lambda: elsewhere.sign_in_by_proxy(home, "eve"),
    ):
        with pytest.raises(NotKnown, match="is not known here"):
            act()
    assert len(team.list_people(chief)) == 1
    assert elsewhere.person_by_proxy(home, "eve") is None
    for user in ("", "  ", "a\x00b"):
        assert elsewhere.person_by_proxy(home, user) is None


def test_external_name_of_owner_is_not_enough(home: Home, chief: Seat) -> None:
    with pytest.raises(NotKnown):
        elsewhere.sign_in_by_proxy(home, "owner")
    with pytest.raises(NotKnown):
        elsewhere.sign_in_by_openid(home, claims("owner"))
    elsewhere.set_known_as(chief, chief.person_id, "boss@example.org")
    assert by_openid(home, email="boss@example.org") == chief.person_id


def test_settings_can_make_unknown_users_annotators(open_with: Opener) -> None:
    home = open_with(WINNOW_NEW_PEOPLE="annotators")
    owner = Seat(home, team.ensure_owner(home).id)
    eve = by_openid(home, email="eve@example.org")
    assert by_proxy(home, "eve@example.org") == eve
    dan = by_proxy(home, "dan")
    assert [(one.id, one.name, one.role) for one in team.list_people(owner)][1:] == [
        (eve, "eve@example.org", "annotator"),
        (dan, "dan", "annotator"),
    ]
    for user in ("owner", "OWNER", "x" * 81, "a\x00b"):
        with pytest.raises(NotKnown):
            elsewhere.sign_in_by_proxy(home, user)
    assert whats(owner).count("person added") == 2


def test_only_verified_email_counts(home: Home, chief: Seat) -> None:
    add_person(chief, "ada@example.org")
    for wrong in ({"email_verified": False}, {"email_verified": "true"}, {"email_verified": None}, {"email": ""}):
        with pytest.raises(NotKnown, match="has not verified it"):
            elsewhere.sign_in_by_openid(home, {**claims(), **wrong})
    without = claims()
    del without["email"], without["email_verified"]
    with pytest.raises(NotKnown, match="has not verified it"):
        elsewhere.sign_in_by_openid(home, without)


@pytest.mark.parametrize(
    "email", ["ada@evil.org", "ada@example.org.evil.org", "ada@sub.example.org", "example.org@evil"]
)
def test_email_of_other_domains_is_refused(open_with: Opener, email: str) -> None:
    home = open_with(WINNOW_OIDC_DOMAINS="Example.org, @example.net", WINNOW_NEW_PEOPLE="annotators")
    with pytest.raises(NotKnown, match=r"an e-mail of example\.org, example\.net"):
        elsewhere.sign_in_by_openid(home, claims(email))
    assert by_openid(home, email="ada@EXAMPLE.org")
    assert by_openid(home, email="ada@example.net", sub="2")


def test_account_is_bound_to_subject_after_first_sign_in(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    assert by_openid(home) == ada.person_id
    assert by_openid(home, email="new@example.org") == ada.person_id, "her e-mail has changed"
    with pytest.raises(NotKnown, match="another account of the same e-mail"):
        elsewhere.sign_in_by_openid(home, claims(sub="2"))  # anyone who got her old address
    assert len(browsers.my_browsers(ada)) == 2
    elsewhere.set_known_as(chief, ada.person_id, "ada@example.org")
    assert by_openid(home, sub="2") == ada.person_id, "the chief has said that it is her"


def test_subject_of_another_provider_is_bound_by_name_again(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    assert by_openid(home) == ada.person_id
    assert by_openid(home, iss="https://new.example.org") == ada.person_id


def test_disabled_person_is_refused(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "ada@example.org")
    by_openid(home)
    team.disable_person(chief, ada.person_id)
    for act in (
        lambda: elsewhere.sign_in_by_openid(home, claims()),
        lambda: elsewhere.sign_in_by_proxy(home, "ada@example.org"),
    ):
        with pytest.raises(NotKnown, match="Your access has ended"):
            act()
    assert elsewhere.person_by_proxy(home, "ada@example.org") is None


def test_external_names_are_set_by_owners_and_unique(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    elsewhere.set_known_as(chief, ada.person_id, "a@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "a@example.org")
    with pytest.raises(team.PersonNameError, match="is another person's"):
        elsewhere.set_known_as(chief, bob.person_id, "A@example.org")
    with pytest.raises(team.PersonNameError, match="1 to 80"):
        elsewhere.set_known_as(chief, bob.person_id, "x" * 81)
    with pytest.raises(NotFound):
        elsewhere.set_known_as(chief, 99, "b@example.org")
    elsewhere.set_known_as(chief, ada.person_id, "")
    elsewhere.set_known_as(chief, bob.person_id, "a@example.org")
    assert by_proxy(home, "ada") == ada.person_id


# Attempts


def test_address_is_rate_limited_across_names() -> None:
    tried = Attempts()
    allowed = [tried.may_try(f"name {n}", "192.0.2.1") for n in range(attempts.PER_ADDRESS.amount + 5)]
    assert sum(allowed) == attempts.PER_ADDRESS.amount
    assert tried.may_try("name 1", "192.0.2.2"), "others are not"


def test_blocked_address_does_not_use_up_name_limit() -> None:
    tried = Attempts()
    for n in range(attempts.PER_ADDRESS.amount):
        tried.may_try(f"name {n}", "192.0.2.1")
    for _ in range(50):
        assert not tried.may_try("ada", "192.0.2.1")
    assert tried.may_try("ada", "192.0.2.2")


def test_rate_limit_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr("limits.storage.memory.time.time", lambda: now[0])
    tried = Attempts()
    while tried.may_try("ada", ""):
        pass
    now[0] += 60 * attempts.MINUTES + 1
    assert tried.may_try("ada", "")


def test_concurrent_attempts_respect_limit() -> None:
    tried = Attempts()
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda n: tried.may_try("ada", f"192.0.2.{n}"), range(100)))
    assert sum(allowed) == attempts.PER_NAME.amount


def test_audit_lines_of_strangers_are_limited() -> None:
    tried = Attempts()
    one = sum(tried.may_note("192.0.2.1") for _ in range(1000))
    assert one == attempts.NOTED_PER_ADDRESS.amount
    all_of_them = one + sum(tried.may_note(f"198.51.{n // 250}.{n % 250}") for n in range(1000))
    assert all_of_them <= attempts.NOTED.amount


IPV6 = st.ip_addresses(v=6).filter(lambda one: one.ipv4_mapped is None)  # type: ignore[union-attr]


@given(IPV6, IPV6)
def test_ipv6_network_of_64_bits_counts_as_one_address(one: object, other: object) -> None:
    same = int(one) >> 64 == int(other) >> 64  # type: ignore[call-overload]
    assert (network(str(one)) == network(str(other))) is same


def test_ipv4_mapped_address_counts_as_ipv4() -> None:
    assert network("::ffff:192.0.2.1") == "192.0.2.1"
    tried = Attempts()
    while tried.may_try("ada", "::ffff:192.0.2.1"):
        pass
    assert tried.may_try("bob", "::ffff:192.0.2.2"), "others are not"


@given(st.ip_addresses(v=4))
def test_each_ipv4_address_counts(one: object) -> None:
    assert network(str(one)) == str(one)


@given(st.text())
def test_network_accepts_any_text(text: str) -> None:
    assert isinstance(network(text), str)


@given(st.text(), st.sampled_from([" ", "  ", "\t", "\n"]))
def test_names_are_folded_in_case_and_spaces(name: str, space: str) -> None:
    assert folded(f"{space}{name}{space}") == folded(name)


def test_waiting_time_is_reported_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    for module in ("limits.storage.memory", "workflow.people.attempts"):
        monkeypatch.setattr(f"{module}.time.time", lambda: now[0])
    tried = Attempts()
    assert tried.must_wait("ada", "192.0.2.1") == 0
    while tried.may_try("ada", "192.0.2.1"):
        now[0] += 10
    wait = tried.must_wait("ada", "192.0.2.1")
    assert 60 * (attempts.MINUTES - 1) <= wait <= 60 * attempts.MINUTES
    now[0] += wait - 5
    assert not tried.may_try("ada", "192.0.2.1")
    now[0] += 6
    assert tried.must_wait("ada", "192.0.2.1") == 0
    assert tried.may_try("ada", "192.0.2.1")


def test_invalid_links_are_limited_by_address() -> None:
    tried = Attempts()
    for _ in range(attempts.LINKS_PER_ADDRESS.amount):
        assert tried.must_wait_for_links("192.0.2.1") == 0
        tried.link_failed("192.0.2.1")
    assert 0 < tried.must_wait_for_links("192.0.2.1") <= 60 * attempts.MINUTES
    assert tried.must_wait_for_links("192.0.2.2") == 0


def test_clicks_are_rate_limited_to_human_speed() -> None:
    tried = Attempts()
    allowed = sum(tried.may_press(1) for _ in range(3 * attempts.PRESSES_PER_PERSON.amount))
    # A minute may have ended meanwhile.
    assert attempts.PRESSES_PER_PERSON.amount <= allowed <= 2 * attempts.PRESSES_PER_PERSON.amount
    assert tried.may_press(2)
