"""Tokens for programs on My account, as its script draws them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.account_parts import LIFE, LIVES, PURPOSE, in_words
from tests.pages.conftest import Open, words
from tests.pages.test_people_pages import press
from workflow.people import tokens
from workflow.people.tokens import ApiToken
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner)


def make(test: AppTest, purpose: str, life: str = "90 days") -> AppTest:
    press(test, "new-token")
    test.text_input(key=PURPOSE).set_value(purpose)
    test.selectbox(key=LIFE).set_value(life)
    return press(test, "make-token")


def test_a_token_is_made_shown_once_and_ended(seat: Seat, show: Open) -> None:
    test = make(show(seat.person_id, "account.py"), "bird survey")
    (secret,) = [one.value for one in test.code]
    found = tokens.user_of(seat.home, secret)
    assert found is not None
    assert found.person.id == seat.person_id
    assert "The token for bird survey" in words(test)
    assert "not used yet" in words(test)
    assert state.TOKEN not in test.session_state
    test.run()
    assert not test.code
    assert secret not in words(test)
    (one,) = tokens.my_tokens(seat)
    assert one.expires_at is not None
    assert (one.expires_at - one.created_at).days == 90
    press(test, f"end-token-{one.id}")
    assert tokens.my_tokens(seat) == []
    assert tokens.user_of(seat.home, secret) is None


def test_what_is_refused_is_said_and_stays_in_its_box(seat: Seat, show: Open) -> None:
    test = make(show(seat.person_id, "account.py"), "survey", "Until I end it")
    assert tokens.my_tokens(seat)[0].expires_at is None
    make(test, "survey")
    assert "already" in words(test)
    assert test.text_input(key=PURPOSE).value == "survey"
    assert not test.code
    assert len(tokens.my_tokens(seat)) == 1


def test_a_person_sees_their_own_alone(seat: Seat, show: Open) -> None:
    tokens.make_token(seat, "the owner's own")
    team_seat = Seat(seat.home, seat.person_id + 1)
    from workflow.people import team

    team.make_link(seat, "Ada")
    assert "the owner" not in words(show(team_seat.person_id, "account.py"))


def test_tokens_in_words() -> None:
    at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert in_words(ApiToken(1, 1, "a*b", at, None, None)) == (
        "**a\\*b**  \nmade 2026-03-01 · ends when you end it · not used yet"
    )
    assert in_words(ApiToken(1, 1, "x", at, at, at)).endswith(
        "ends 2026-03-01 · last used 2026-03-01 12:30 UTC"
    )
    assert None in LIVES.values()
