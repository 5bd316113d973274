from __future__ import annotations

from workflow.log.reading import Vote


def test_votes_of_one_place_are_told_apart_by_their_person() -> None:
    one = Vote(3, None, 1, frozenset({"ant"}), frozenset({"ant", "bee"}), None, check=False, known=None)
    assert one != one._replace(person_id=2)
    assert one.names <= one.choices
