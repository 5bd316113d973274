"""The demos by name: none is taken for another, and what is said of each is true."""

from __future__ import annotations

from workflow.demos import calls, catalogue, digits, remarks
from workflow.projects import NAME_LENGTH


def test_no_two_have_a_name_or_a_key_in_common() -> None:
    assert (
        len({one.name for one in catalogue.ALL})
        == len({one.key for one in catalogue.ALL})
        == len(catalogue.ALL)
    )
    assert {name: one.name for name, one in catalogue.BY_NAME.items()} == {
        one.name: one.name for one in catalogue.ALL
    }


def test_each_says_that_it_is_a_demo_and_what_is_made_up() -> None:
    for demo in catalogue.ALL:
        assert demo.name.startswith("Demo: ")
        assert len(demo.name) <= NAME_LENGTH
        assert "held out" in demo.description
    assert "no bird is in them" in catalogue.CALLS.description
    assert "templates of Winnow's own" in catalogue.REMARKS.description


def test_every_class_is_explained() -> None:
    assert set(catalogue.CALLS.room.descriptions) == set(calls.NAMES)
    assert set(catalogue.REMARKS.room.descriptions) == set(remarks.ABOUT)
    assert all(name in catalogue.CALLS.room.guidelines for name in calls.NAMES)
    assert (catalogue.DIGITS.name, catalogue.DIGITS.make_file) == (digits.NAME, None)
