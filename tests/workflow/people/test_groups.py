"""Groups of people: made, changed and removed by the owners of this Winnow."""

from __future__ import annotations

import pytest

from tests.workflow.world import somebody
from workflow.access import NotAllowed
from workflow.people import members
from workflow.people.members import GroupError
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner)


def test_groups_come_and_go(seat: Seat) -> None:
    ada, bob = (somebody(seat.home, seat.person_id, name) for name in ("Ada", "Bob"))
    experts = members.make_group(seat, "  Bird   experts ", [bob, ada])
    assert [(one.id, one.name, one.people) for one in members.list_groups(seat)] == [
        (experts, "Bird experts", (ada, bob))
    ]
    members.change_group(seat, experts, "BIRD experts", [ada])
    assert [(one.name, one.people) for one in members.list_groups(seat)] == [("BIRD experts", (ada,))]
    members.remove_group(seat, experts)
    members.remove_group(seat, experts)
    assert members.list_groups(seat) == []
    with pytest.raises(GroupError, match="no such group"):
        members.change_group(seat, experts, "x", [])


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b"])
def test_names_that_cannot_be_shown_are_refused(seat: Seat, name: str) -> None:
    with pytest.raises(GroupError, match="1 to 80 printable characters"):
        members.make_group(seat, name, [])
    assert members.list_groups(seat) == []


def test_a_name_is_taken_once_whatever_its_case_and_people_are_known(seat: Seat) -> None:
    experts = members.make_group(seat, "Experts", [])
    others = members.make_group(seat, "Others", [])
    for act in (
        lambda: members.make_group(seat, "experts", []),
        lambda: members.change_group(seat, others, "EXPERTS", []),
    ):
        with pytest.raises(GroupError, match="A group named 'Experts' exists already"):
            act()
    with pytest.raises(GroupError, match="no person 99"):
        members.change_group(seat, experts, "Experts", [seat.person_id, 99])
    assert [one.people for one in members.list_groups(seat)] == [(), ()]


def test_they_are_for_owners_of_this_winnow(seat: Seat) -> None:
    ada = Seat(seat.home, somebody(seat.home, seat.person_id, "Ada"))
    for act in (
        lambda: members.list_groups(ada),
        lambda: members.make_group(ada, "x", []),
        lambda: members.remove_group(ada, 1),
    ):
        with pytest.raises(NotAllowed):
            act()
