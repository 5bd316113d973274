"""What the card is told after a press, beside what its page has drawn."""

from __future__ import annotations

import pytest

from pages.parts.after_press import answered_before, card_after
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import loop, press
from workflow.answering.loop import Saved
from workflow.seat import Seat
from workflow.server.home import Home

#: What the page alone says: it is of its session, or of its frame.
OF_THE_PAGE = {"tab", "turn", "drawing", "route", "person", "project", "similar", "panel", "examples"}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_every_kind_of_project_tells_its_card(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    after = press.now(seat, None)
    data = card_after(after)
    assert (data["token"], data["height"], data["offer"]) == (after.question.token, 0, None)
    assert not OF_THE_PAGE & set(data)
    assert card_after(after, "Not saved: so.")["saved"]["message"] == "Not saved: so."
    loop.pause(seat, after.question.token)
    paused = card_after(press.now(seat, None))
    assert (paused["token"], paused["question"], paused["empty"]["title"]) == (None, None, "Paused")


def test_an_answer_that_was_there_is_named() -> None:
    assert answered_before(Saved(3, "is", 5, "r5", ("ant",))).endswith(
        "already (ant), in another tab perhaps."
    )
    assert "already (skip)" in answered_before(Saved(3, "skip", 5, "r5", ()))
