"""The demos by name: none is taken for another, and what is said of each is true."""

from __future__ import annotations

from workflow.demos import calls, digits, making, remarks
from workflow.projects.managing import NAME_LENGTH


def test_no_two_have_a_name_or_a_key_in_common() -> None:
    assert len({one.name for one in making.ALL}) == len({one.key for one in making.ALL}) == len(making.ALL)
    assert {name: one.name for name, one in making.BY_NAME.items()} == {
        one.name: one.name for one in making.ALL
    }


def test_each_says_that_it_is_a_demo_and_what_is_made_up() -> None:
    for demo in making.ALL:
        assert demo.name.startswith("Demo: ")
        assert len(demo.name) <= NAME_LENGTH
        assert "held out" in demo.description
    assert "no bird is in them" in making.CALLS.description
    assert "templates of Winnow's own" in making.REMARKS.description


def test_every_class_is_explained() -> None:
    assert set(making.CALLS.room.descriptions) == set(calls.NAMES)
    assert set(making.REMARKS.room.descriptions) == set(remarks.ABOUT)
    assert all(name in making.CALLS.room.guidelines for name in calls.NAMES)
    assert (making.DIGITS.name, making.DIGITS.make_file) == (digits.NAME, None)
