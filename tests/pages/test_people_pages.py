"""People, My account and Audit, as their scripts draw them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import frame, state
from pages.parts.account_parts import browser_in_words
from tests.pages.conftest import Open, words
from workflow.people import browsers, passwords, team, tokens
from workflow.people.browsers import SignIn, Visit
from workflow.seat import Seat
from workflow.server.home import Home

GOOD = "four plain words here"


@pytest.fixture
def ada(home: Home, owner: int) -> Seat:
    """Ada, signed in in one browser."""
    seat = Seat(home, owner)
    team.redeem_link(home, team.make_link(seat, "Ada"), Visit("192.0.2.1", "Firefox on Linux"))
    return Seat(home, owner + 1)


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


def test_an_owner_acts_in_a_person_s_line(home: Home, owner: int, ada: Seat, show: Open) -> None:
    passwords.set_password(ada, GOOD)
    test = show(owner, "people.py")
    assert "1 browser signed in · has a password" in words(test)
    press(test, f"link-{ada.person_id}")
    (link,) = [one.value for one in test.code]
    assert team.look_at_link(home, link.split("link=")[1]) == "Ada"
    assert "1 open link" in words(test)
    press(test, f"end-links-{ada.person_id}")
    with pytest.raises(team.LinkError):
        team.look_at_link(home, link.split("link=")[1])
    (browser,) = browsers.my_browsers(ada)
    press(test, f"out-{browser.id}")
    assert browsers.my_browsers(ada) == []
    press(test, f"clear-{ada.person_id}")
    assert not passwords.has_password(ada)
    press(test, f"end-{ada.person_id}")
    assert "access ended · not signed in" in words(test)
    assert [one.label for one in test.button if "elsewhere" in one.label.lower()] == []


def test_an_owner_sees_and_ends_tokens_of_others(home: Home, owner: int, ada: Seat, show: Open) -> None:
    secrets = [tokens.make_token(ada, purpose) for purpose in ("survey", "note*book")]
    test = show(owner, "people.py")
    assert "1 browser signed in · 2 tokens\n" in words(test)
    used = tokens.user_of(home, secrets[0])
    assert used is not None
    tokens.note_use(home, used.id)
    test.run()
    assert f"2 tokens, last used {datetime.now(UTC):%Y-%m-%d}" in words(test)
    assert "ends when it is ended" in words(test)
    assert not any(secret in words(test) for secret in secrets)
    press(test, f"end-token-{used.id}")
    assert "1 token" in words(test)
    assert "last used" not in words(test)
    assert [tokens.user_of(home, secret) is None for secret in secrets] == [True, False]


def test_a_link_that_others_cannot_reach_says_so(
    owner: int, ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host, said in (("127.0.0.1", True), ("winnow.example.org", True), ("", True)):
        monkeypatch.setattr(frame, "host", lambda host=host: host)
        test = press(show(owner, "people.py"), f"link-{ada.person_id}")
        assert bool(test.warning) is said
    assert "WINNOW\\_ALLOWED\\_HOSTS" in test.warning[0].value


def test_names_elsewhere_are_asked_for_where_they_count(
    home: Home, owner: int, ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(home.settings.sign_in, "proxy_user_header", "remote-user")
    try:
        test = show(owner, "people.py")
        test.text_input(key=f"known-as-{ada.person_id}-").set_value("Ada@Example.org")
        press(test, f"save-known-{ada.person_id}")
        assert "elsewhere ada" in words(test)
        test.text_input(key=f"known-as-{owner}-").set_value("ada@example.org")
        press(test, f"save-known-{owner}")
        assert "is another person" in words(test)
    finally:
        object.__setattr__(home.settings.sign_in, "proxy_user_header", "")


def test_a_password_is_set_and_changed_on_my_account(home: Home, ada: Seat, show: Open) -> None:
    test = show(ada.person_id, "account.py")
    new, again = test.text_input
    new.set_value(GOOD)
    again.set_value("another")
    press(test, "set-password")
    assert "The two passwords differ" in words(test)
    assert [one.value for one in test.text_input] == ["", ""]
    for box in test.text_input:
        box.set_value(GOOD)
    press(test, "set-password")
    assert browsers.person_of(home, passwords.sign_in_by_password(home, "Ada", GOOD))
    kept = ("new", "again")
    assert {test.session_state[f"{state.PASSWORD}-{name}"] for name in kept} == {""}
    present, new, again = test.text_input
    present.set_value("wrong")
    for box in (new, again):
        box.set_value("another plain one")
    press(test, "set-password")
    assert "present password is wrong" in words(test)


def test_browsers_are_ended_on_my_account(ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    team.redeem_link(ada.home, team.make_link(Seat(ada.home, 1), "Ada"), Visit("", "Safari on iPhone"))
    team.redeem_link(ada.home, team.make_link(Seat(ada.home, 1), "Ada"))
    phone = next(one for one in browsers.my_browsers(ada) if one.browser == "Safari on iPhone")
    other = next(one for one in browsers.my_browsers(ada) if one.browser == "Firefox on Linux")
    monkeypatch.setattr(frame, "sign_in_id", lambda: phone.id)
    test = show(ada.person_id, "account.py")
    assert "**Safari on iPhone** · **this one**" in words(test)
    press(test, f"out-{other.id}")
    assert len(browsers.my_browsers(ada)) == 2
    press(test, "out-others")
    assert [one.id for one in browsers.my_browsers(ada)] == [phone.id]


def test_the_audit_is_shown_and_filtered(owner: int, ada: Seat, show: Open) -> None:
    test = show(owner, "audit.py")
    assert list(test.dataframe[0].value.What) == ["signed in", "link made", "person added"]
    test.selectbox[1].set_value("link-made").run()
    assert list(test.dataframe[0].value.Whom) == ["Ada"]
    test.selectbox[1].set_value("project-binned").run()
    assert "Nothing of this kind was noted." in words(test)
    assert not test.exception


def test_a_browser_of_before_it_was_noted_has_words_too() -> None:
    at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert (
        browser_in_words(SignIn(1, 1, at, None, "", "", ""))
        == "**A browser**  \nsigned in 2026-03-01 12:30 UTC"
    )
    full = browser_in_words(SignIn(1, 1, at, at, "password", "192.0.2.1", "Firefox on Linux"), this=1)
    assert full.startswith("**Firefox on Linux** · **this one**  \n")
    assert "by a password · last seen 2026-03-01 12:30 UTC · 192" in full
