"""A tour that was ended stays so: for this person, at this project."""

from __future__ import annotations

from tests.workflow.world import annotator, small_project
from workflow.access import Role
from workflow.demos import making
from workflow.people.audited import EventFilter, audit_lines
from workflow.seat import Seat
from workflow.server.home import Home


def test_it_is_ended_for_one_person_at_one_project(home: Home, owner: int) -> None:
    seat, other = (Seat(home, owner, small_project(home, owner, name)) for name in ("one", "two"))
    ada = Seat(home, annotator(home, owner, "Ada", Role.VIEWER), seat.project_id)
    assert not making.ended(seat)
    making.end(ada)
    assert (making.ended(ada), making.ended(seat), making.ended(other)) == (True, False, False)
    making.end(seat)
    assert (making.ended(seat), making.ended(other)) == (True, False)


def test_twice_is_harmless_and_the_audit_says_it_once(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    making.end(seat)
    making.end(seat)
    lines = [one for one in audit_lines(seat.everywhere, EventFilter()) if one.what == "tour ended"]
    assert len(lines) == 1
