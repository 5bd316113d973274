"""How the answering room is set: checked at the door, the owner's alone, and what it does to a question."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workflow.world import annotator, answer_next, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, room
from workflow.answering.room import RoomError, RoomSettings
from workflow.seat import Seat
from workflow.server.home import Home


def test_a_new_project_has_the_defaults(home: Home, owner: int, project: int) -> None:
    assert room.room_of(Seat(home, owner, project)) == RoomSettings()


def test_the_owner_sets_it_and_everybody_reads_it(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    wanted = RoomSettings("Look *twice*.", "fixed", {"ant": "six legs"})
    room.change_room(Seat(home, owner, project), wanted)
    assert room.room_of(Seat(home, ada, project)) == wanted
    with pytest.raises(NotAllowed):
        room.change_room(Seat(home, ada, project), RoomSettings())
    with pytest.raises(NotFound):
        room.room_of(Seat(home, owner, project + 1))


def test_json_and_back() -> None:
    wanted = RoomSettings("# A", "fixed", {"ant": "six legs"})
    assert RoomSettings.from_json(wanted.to_json()) == wanted
    assert RoomSettings.from_json({}) == RoomSettings()


@pytest.mark.parametrize(
    "stored",
    [
        {"order": "random"},
        {"guidelines": 3},
        {"guidelines": "x" * 20_001},
        {"guidelines": "a\0b"},
        {"descriptions": ["ant"]},
        {"descriptions": {"ant": 6}},
        {"descriptions": {"ant": "x" * 201}},
        {"descriptions": {"ant": "two\nlines"}},
        {"colour": "red"},
        {"forms": "is"},
        {"drawn_forms": 1},
    ],
)
def test_what_cannot_be_is_refused(stored: dict[str, Any]) -> None:
    with pytest.raises(RoomError):
        RoomSettings.from_json(stored)


def test_descriptions_stand_beside_their_candidates(home: Home, owner: int, project: int) -> None:
    room.change_room(Seat(home, owner, project), RoomSettings(descriptions={"ant": "six legs"}))
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    said = {one.label: one.description for one in question.candidates}
    assert said == {label: "six legs" if label == "ant" else "" for label in question.choices}


def test_candidates_by_probability_or_in_class_order(home: Home, owner: int, project: int) -> None:
    seen = 0
    for _ in range(8):
        room.change_room(Seat(home, owner, project), RoomSettings(order="fixed"))
        fixed = loop.next_question(Seat(home, owner, project))
        room.change_room(Seat(home, owner, project), RoomSettings(order="probability"))
        sorted_ = loop.next_question(Seat(home, owner, project))
        assert fixed is not None
        assert sorted_ is not None
        assert tuple(one.label for one in fixed.candidates) == fixed.choices
        shares = [one.probability for one in sorted_.candidates]
        assert shares == sorted(shares, reverse=True)
        assert dict(zip(fixed.choices, fixed.probabilities, strict=True)) == {
            one.label: one.probability for one in sorted_.candidates
        }
        seen += fixed.candidates != sorted_.candidates
        answer_next(home, owner, project)
    assert seen, "in some of them the two orders differ"


def test_the_order_does_not_jump_while_a_person_looks(home: Home, owner: int, project: int) -> None:
    """Others answer and the shares change; what is on the screen keeps its order, the next showing has a new one."""
    ada = annotator(home, owner, "Ada")
    shown = loop.next_question(Seat(home, owner, project))
    assert shown is not None
    order = [one.label for one in shown.candidates]
    out_of_order = 0
    while (hers := loop.next_question(Seat(home, ada, project))) is not None:
        # Votes for the label that stands last before the owner.
        label = order[-1] if order[-1] in hers.choices else hers.choices[0]
        loop.submit_answer(Seat(home, ada, project), hers.token, "is", [label])
        again = loop.next_question(Seat(home, owner, project))
        assert again is not None
        assert again.token == shown.token
        assert [one.label for one in again.candidates] == order
        shares = [one.probability for one in again.candidates]
        out_of_order += shares != sorted(shares, reverse=True)
    assert out_of_order, "the shares did change so that a new showing would have another order"


def test_the_class_names_are_all_of_them(home: Home, owner: int) -> None:
    assert room.class_names(Seat(home, owner, small_project(home, owner))) == ("ant", "bee", "cat")
