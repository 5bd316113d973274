"""What a screen shows first: the likeliest, or class order; nothing jumps while somebody looks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workflow.answering.asked import screen_order, stamp
from workflow.answering.room_settings import RoomSettings

LIKELIEST, FIXED = RoomSettings(), RoomSettings(order="fixed")


class Learner:
    """Something that orders can be kept beside."""


def test_the_likeliest_first_or_the_order_of_the_classes() -> None:
    shares = {"ant": 0.2, "bee": 0.5, "cat": 0.3}
    assert screen_order(Learner(), LIKELIEST, 1, "t", shares) == ("bee", "cat", "ant")  # type: ignore[arg-type]
    assert screen_order(Learner(), FIXED, 1, "t", shares) == ("ant", "bee", "cat")  # type: ignore[arg-type]


def test_the_order_stays_for_one_showing_to_one_person() -> None:
    learner, before, after = Learner(), {"a": 0.9, "b": 0.1}, {"a": 0.1, "b": 0.9}
    assert screen_order(learner, LIKELIEST, 1, "t", before) == ("a", "b")  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 1, "t", after) == ("a", "b")  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 2, "t", after) == ("b", "a"), "somebody else"  # type: ignore[arg-type]
    assert screen_order(Learner(), LIKELIEST, 1, "t", after) == ("b", "a"), "after a restart"  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 1, "u", after) == ("b", "a"), "the next showing"  # type: ignore[arg-type]
    screen_order(learner, FIXED, 1, "u", after)
    assert screen_order(learner, LIKELIEST, 1, "u", before) == ("a", "b"), "the room was set anew"  # type: ignore[arg-type]


@given(
    shows=st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1), min_size=1, max_size=6
    )
)
def test_labels_that_come_stand_behind_those_that_stay(shows: list[dict[str, float]]) -> None:
    learner, last = Learner(), ()
    for shares in shows:
        order = screen_order(learner, LIKELIEST, 1, "t", shares)  # type: ignore[arg-type]
        assert sorted(order) == sorted(shares)
        stay = tuple(label for label in last if label in shares)
        assert order[: len(stay)] == stay
        new = [shares[label] for label in order[len(stay) :]]
        assert new == sorted(new, reverse=True)
        last = order


def test_a_stamp_names_these_choices_and_no_others() -> None:
    assert stamp(["a", "b"]) == stamp(("a", "b"))
    different = [["a", "b"], ["b", "a"], ["ab"], ["a"], [], ["a", "b", ""]]
    assert len({stamp(one) for one in different}) == len(different)
