"""Answers in the forms that pages and programs send, and the next question."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import questions as stored_batches
from plcore import AnswerError, LearnerSettings
from tests.workflow import vector_world
from tests.workflow.answering.malformed import PRESS, malformed
from tests.workflow.world import small_table
from workflow.answering import asked, batches
from workflow.answering.asked import AskedAs, QuestionForm, Saved, screen_order, stamp
from workflow.answering.press import MOST, Press, wanted_of
from workflow.answering.room_settings import RoomSettings
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

# Whether a stored entry may come from an answer, even if stored as another kind


def saved(kind: str, labels: str = "", denied: str = "") -> Saved:
    return Saved(3, kind, 0, "r0", tuple(labels), repeated=True, denied=tuple(denied))


def test_valid_answer_is_accepted(subtests: pytest.Subtests) -> None:
    for stored, kind, labels in [
        (saved("is", "a"), "is", "a"),
        (saved("among", "ab"), "among", "ba"),
        (saved("is", "a"), "none", "ac"),
        (saved("among", "ab"), "none", "ab"),
        (saved("none"), "none", ""),
        (saved("unsure", "a"), "unsure", ""),
        (saved("yes", "ab", "c"), "labels", "ab"),
        (saved("yes", "a"), "labels", "ab"),
        (saved("no", "abc"), "labels", ""),
        (saved("no", "a"), "labels", "b"),
    ]:
        with subtests.test(str(stored)):
            assert stored.may_be(kind, labels)


def test_invalid_answer_is_rejected(subtests: pytest.Subtests) -> None:
    for stored, kind, labels in [
        (saved("is", "a"), "is", "b"),
        (saved("is", "a"), "among", "a"),
        (saved("is", "a"), "none", ""),
        (saved("is", "a"), "none", "b"),
        (saved("not", "a"), "none", "a"),
        (saved("yes", "ab", "c"), "labels", "abc"),
        (saved("yes", "ab", "c"), "labels", "a"),
        (saved("no", "abc"), "labels", "a"),
        (saved("skip"), "labels", ""),
        (saved("unsure", "a"), "skip", ""),
    ]:
        with subtests.test(str(stored)):
            assert not stored.may_be(kind, labels)


# A press from a browser: parsed, or refused with a message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PRESS, "x"]), inner),
    max_leaves=20,
)


def test_press_fields_are_read_as_sent() -> None:
    sent = PRESS | {"labels": ["ant", "سنونو"], "token": "1.2.3", "shown": "ab", "seq": MOST, "note": " x\ny "}
    assert Press.read(sent | {"flagged": True, "more": [1]}) == Press(
        "is", ("ant", "سنونو"), "1.2.3", "ab", MOST, "x\ny", flagged=True
    )
    assert Press.read(PRESS | {"token": None, "note": None}) == Press("is", (), "", None, None, "", flagged=False)


@pytest.mark.parametrize("said", [pytest.param(said, id=str(k)) for k, (_, said) in enumerate(malformed())])
def test_invalid_press_is_refused_with_printable_message(said: object) -> None:
    with pytest.raises(AnswerError) as refused:
        Press.read(said)
    words = str(refused.value)
    words.encode()
    assert "Fix: " in words
    assert len(words) < 400


@given(JSON)
def test_arbitrary_press_is_read_or_refused(said: object) -> None:
    try:
        assert isinstance(Press.read(said), Press)
    except AnswerError as refusal:
        str(refusal).encode()
    for part in ("token", "x"):
        wanted = wanted_of(said, part)
        assert wanted is None or wanted.encode()


def test_labels_of_batch_press_are_row_numbers() -> None:
    assert Press.read(PRESS | {"labels": ["3", "0", "3"]}).rows == {0, 3}
    for label in ("", "-1", "1.5", "x", "²", "٣", "9" * 9_000, str(MOST + 1)):
        with pytest.raises(AnswerError, match="labels must be numbers of rows"):
            _ = Press.read(PRESS | {"labels": ["1", label]}).rows


# First content of a screen: the likeliest, or class order; nothing jumps while someone looks


LIKELIEST, FIXED = RoomSettings(), RoomSettings(order="fixed")


class Learner:
    """A stand-in that can be a weak key."""


def test_choices_are_ordered_by_share_or_class() -> None:
    shares = {"ant": 0.2, "bee": 0.5, "cat": 0.3}
    assert screen_order(Learner(), LIKELIEST, 1, "t", shares) == ("bee", "cat", "ant")  # type: ignore[arg-type]
    assert screen_order(Learner(), FIXED, 1, "t", shares) == ("ant", "bee", "cat")  # type: ignore[arg-type]


def test_order_of_choices_is_stable_for_one_question() -> None:
    learner, before, after = Learner(), {"a": 0.9, "b": 0.1}, {"a": 0.1, "b": 0.9}
    assert screen_order(learner, LIKELIEST, 1, "t", before) == ("a", "b")  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 1, "t", after) == ("a", "b")  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 2, "t", after) == ("b", "a"), "somebody else"  # type: ignore[arg-type]
    assert screen_order(Learner(), LIKELIEST, 1, "t", after) == ("b", "a"), "after a restart"  # type: ignore[arg-type]
    assert screen_order(learner, LIKELIEST, 1, "u", after) == ("b", "a"), "the next showing"  # type: ignore[arg-type]
    screen_order(learner, FIXED, 1, "u", after)
    assert screen_order(learner, LIKELIEST, 1, "u", before) == ("a", "b"), "the room was set again"  # type: ignore[arg-type]


@given(shows=st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1), min_size=1, max_size=6))
def test_new_choices_are_placed_after_remaining_ones(shows: list[dict[str, float]]) -> None:
    learner, last = Learner(), ()
    for shares in shows:
        order = screen_order(learner, LIKELIEST, 1, "t", shares)  # type: ignore[arg-type]
        assert sorted(order) == sorted(shares)
        stay = tuple(label for label in last if label in shares)
        assert order[: len(stay)] == stay
        new = [shares[label] for label in order[len(stay) :]]
        assert new == sorted(new, reverse=True)
        last = order


def test_stamp_is_unique_to_its_choices() -> None:
    assert stamp(["a", "b"]) == stamp(("a", "b"))
    different = [["a", "b"], ["b", "a"], ["ab"], ["a"], [], ["a", "b", ""]]
    assert len({stamp(one) for one in different}) == len(different)


# The form of a question, to plain values and back


labels = st.lists(st.text(max_size=4), max_size=3).map(tuple)


@given(
    st.builds(
        AskedAs,
        form=st.sampled_from([str(form) for form in QuestionForm]),
        about=labels,
        drawn=st.booleans(),
        choices=st.integers(0, 99),
        first=st.none() | labels,
        batch=st.none() | st.text(min_size=1, max_size=4),
    )
)
def test_asked_as_round_trips_through_json(asked: AskedAs) -> None:
    assert AskedAs.from_json(json.loads(json.dumps(asked.to_json()))) == asked


def test_asked_as_json_omits_defaults() -> None:
    assert AskedAs(QuestionForm.WHICH, choices=3).to_json() == {"form": "which", "choices": 3}
    shown = AskedAs("which", choices=2, first=("b", "a"))
    assert shown.to_json() == {"form": "which", "choices": 2, "first": ["b", "a"]}


# Batches: names of showings and entries, and the rows on a person's screen


@pytest.fixture
def together_seat(home: Home, owner: int) -> Seat:
    settings = LearnerSettings(n_neighbors=6, test_share=0.3)
    return Seat(home, owner, managing.create_project(Seat(home, owner), "small", small_table(200), settings))


def test_tokens_of_batches_and_their_entries_are_unique(together_seat: Seat) -> None:
    with together_seat.turn() as turn:
        rows = [int(row) for row in turn.learner.pool.train if turn.learner.pool.is_open(int(row))]
        label = turn.learner.pool.names(turn.learner.pool.candidates[rows[0]])[0]
        first = batches.reserve_free(turn, rows[:1], label, batches.FOUND)
        second = batches.reserve_free(turn, rows[:1], label, batches.CHOSEN)
    assert first is not None
    assert second is not None
    tokens = {batches.batch_token(one) for one in (first, second)}
    assert len(tokens) == 2
    assert len({batches.entry_token(token, number) for token in tokens for number in (0, 1)}) == 4


def test_batch_reserves_limited_rows_with_its_label(together_seat: Seat) -> None:
    with together_seat.turn() as turn:
        pool = turn.learner.pool
        rows = [int(row) for row in pool.train if pool.is_open(int(row))]
        label = pool.classes[0]
        batch = batches.reserve_free(turn, rows, label, batches.FOUND)
        assert batch is not None
        with_it = [row for row in rows if pool.candidates[row, 0]]
        assert [one.row for one in batch.rows] == with_it[: asked.MOST]
        assert batches.reserve_free(turn, pool.held.tolist(), label, batches.FOUND) is None
        shown = batches.shown(turn, batch)
        again = batches.shown_again(turn)
    assert again is not None
    assert again.token == shown.token, "as long as all of it stands it is the same showing"
    with together_seat.home.database.read() as session:
        kept = stored_batches.get_batch(session, together_seat.project_id or 0, together_seat.person_id)
    assert kept is not None
    assert kept.rows == batch.rows


def test_kind_without_batches_is_reported(home: Home, owner: int) -> None:
    vectors = vector_world.vector_project(home, owner, "vectors")
    with Seat(home, owner, vectors).turn() as turn, pytest.raises(AnswerError, match="not confirmed together"):
        batches.batching_of(turn.opened)
