from __future__ import annotations

from datetime import timedelta

import pytest

from tests.workflow.people.conftest import add_person, whats
from tests.workflow.people.test_team import wait
from tests.workflow.world import unwritable
from workflow.access import NotAllowed, Right
from workflow.people import browsers, team
from workflow.people.browsers import Visit, browser_words
from workflow.seat import Seat
from workflow.server.home import Home


def open_one(seat: Seat, visit: Visit = browsers.NOWHERE) -> tuple[int, str]:
    """Number and secret of a browser signed in as this person."""
    with seat.everywhere.writing(Right.SEE) as mine:
        secret = browsers.open_browser(mine.session, seat.person_id, "link", visit)
    found = browsers.signed_in(seat.home, secret)
    assert found is not None
    return found.id, secret


def test_a_person_ends_browsers_of_their_own_alone(home: Home, chief: Seat) -> None:
    ada, bob = add_person(chief, "Ada"), add_person(chief, "Bob")
    (_, of_ada), (number, of_bob) = open_one(ada), open_one(bob)
    browsers.end_my_browser(ada, number)
    assert browsers.person_of(home, of_bob), "it is Bob's"
    browsers.end_my_browser(bob, number)
    assert browsers.person_of(home, of_bob) is None
    assert browsers.person_of(home, of_ada)
    assert whats(chief).count("browsers signed out") == 1


def test_all_others_are_ended_together(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    opened = [open_one(ada) for _ in range(3)]
    this, secret = opened[1]
    browsers.end_my_other_browsers(ada, this)
    assert [one.id for one in browsers.my_browsers(ada)] == [this]
    assert browsers.person_of(home, secret)
    browsers.end_my_other_browsers(ada, this)
    assert whats(chief).count("browsers signed out") == 1, "nothing is noted of what did not happen"


def test_an_owner_ends_anybody_s(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    number, secret = open_one(ada)
    for seat in (ada, Seat(home, 99)):
        with pytest.raises(NotAllowed):
            browsers.end_browser(seat, ada.person_id, number)
    browsers.end_browser(chief, chief.person_id, number)
    assert browsers.person_of(home, secret), "it is not the owner's"
    browsers.end_browser(chief, ada.person_id, number)
    assert browsers.person_of(home, secret) is None


def test_signing_out_is_noted_once(home: Home, chief: Seat) -> None:
    _, secret = open_one(chief)
    for _ in range(2):
        browsers.sign_out(home, secret)
    browsers.sign_out(home, "unknown")
    assert whats(chief).count("signed out") == 1


def test_when_a_browser_was_seen_is_kept(home: Home, chief: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    number, _ = open_one(chief, Visit("192.0.2.1", "Safari on macOS"))
    (before,) = browsers.my_browsers(chief)
    wait(monkeypatch, timedelta(hours=1))
    browsers.see(home, number)
    (after,) = browsers.my_browsers(chief)
    assert before.last_seen_at is not None
    assert after.last_seen_at is not None
    assert after.last_seen_at - before.last_seen_at >= timedelta(hours=1)
    assert (after.created_at, after.address, after.browser) == (
        before.created_at,
        "192.0.2.1",
        "Safari on macOS",
    )
    with unwritable(home):
        browsers.see(home, number)  # nobody is told
    wait(monkeypatch, browsers.SIGN_IN_LIFE + timedelta(seconds=1))
    assert browsers.my_browsers(chief) == []


def test_who_is_disabled_cannot_touch_an_account(home: Home, chief: Seat) -> None:
    ada = add_person(chief, "Ada")
    team.disable_person(chief, ada.person_id)
    with pytest.raises(NotAllowed, match="Your access has ended"), ada.everywhere.writing(Right.SEE):
        pass


@pytest.mark.parametrize(
    ("said", "words"),
    [
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
        (
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36",
            "Chrome on Android",
        ),
        ("curl/8.5.0", "Another program"),
        ("", "Another program"),
        ("<script>", "Another program"),
    ],
)
def test_browsers_are_told_in_a_few_words(said: str, words: str) -> None:
    assert browser_words(said) == words
