"""The question page's settings, reservations, pauses and clock."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries, questions
from db.questions import OpenQuestion
from plcore import AnswerError
from plcore.arrays.words import forbidden_in_name
from tests.clocks import ahead
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next, small_project
from workflow.answering import loop, room
from workflow.answering import turn as turns
from workflow.answering.asked import NOTE_LENGTH, AskedAs, QuestionForm, checked_note
from workflow.answering.loop import StaleQuestion
from workflow.answering.room import RoomError, RoomSettings
from workflow.answering.room_settings import DESCRIPTION_LENGTH, FORMS, GUIDELINES_LENGTH, ORDERS
from workflow.answering.turn import has_same_reason, steady, to_store
from workflow.people import goals
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home

# Settings of the question page: validated, for owners only, and their effect on a question


def test_new_project_has_defaults(home: Home, owner: int, project: int) -> None:
    assert room.room_of(Seat(home, owner, project)) == RoomSettings()


def test_stored_room_settings_round_trip() -> None:
    wanted = RoomSettings("# A", "fixed", {"ant": "six legs"})
    assert RoomSettings.from_json(wanted.to_json()) == wanted
    assert RoomSettings.from_json({}) == RoomSettings()


def test_invalid_stored_settings_are_refused(subtests: pytest.Subtests) -> None:
    for stored in [
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
    ]:
        with subtests.test(str(stored)), pytest.raises(RoomError):
            RoomSettings.from_json(stored)


def test_descriptions_belong_to_their_candidates(home: Home, owner: int, project: int) -> None:
    room.change_room(Seat(home, owner, project), RoomSettings(descriptions={"ant": "six legs"}))
    question = present(loop.next_question(Seat(home, owner, project)))
    said = {one.label: one.description for one in question.candidates}
    assert said == {label: "six legs" if label == "ant" else "" for label in question.choices}


def test_candidates_are_ordered_by_probability_or_class(home: Home, owner: int, project: int) -> None:
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


def test_order_of_choices_stays_while_question_is_open(home: Home, owner: int, project: int) -> None:
    """Others answer and the shares change; the displayed order stays, and the next showing has a new one."""
    ada = annotator(home, owner, "Ada")
    shown = present(loop.next_question(Seat(home, owner, project)))
    order = [one.label for one in shown.candidates]
    out_of_order = 0
    while (hers := loop.next_question(Seat(home, ada, project))) is not None:
        # Votes for the label that the owner sees last.
        label = order[-1] if order[-1] in hers.choices else hers.choices[0]
        loop.submit_answer(Seat(home, ada, project), hers.token, "is", [label])
        again = present(loop.next_question(Seat(home, owner, project)))
        assert again.token == shown.token
        assert [one.label for one in again.candidates] == order
        shares = [one.probability for one in again.candidates]
        out_of_order += shares != sorted(shares, reverse=True)
    assert out_of_order, "the shares did change so that a new showing would have another order"


def test_class_names_lists_all_classes(home: Home, owner: int) -> None:
    assert room.class_names(Seat(home, owner, small_project(home, owner))) == ("ant", "bee", "cat")


# The room's settings in their stored form: there and back, and refused by name


TEXT = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")).filter(lambda one: forbidden_in_name(one) is None),
    max_size=DESCRIPTION_LENGTH,
)


@given(
    guidelines=TEXT,
    order=st.sampled_from(ORDERS),
    descriptions=st.dictionaries(TEXT, TEXT, max_size=4),
    groups=st.dictionaries(
        TEXT.filter(str.strip), st.lists(TEXT, min_size=1, max_size=3, unique=True).map(tuple), max_size=3
    ),
    forms=st.sampled_from(FORMS),
    drawn=st.booleans(),
    further=st.lists(st.integers(1, 9), max_size=5, unique=True).map(tuple),
)
def test_any_room_settings_round_trip(
    guidelines: str,
    order: str,
    descriptions: dict[str, str],
    groups: dict[str, tuple[str, ...]],
    forms: str,
    drawn: bool,
    further: tuple[int, ...],
) -> None:
    wanted = RoomSettings(guidelines, order, descriptions, groups, None, forms, drawn, further=further)
    assert RoomSettings.from_json(json.loads(json.dumps(wanted.to_json()))) == wanted


def test_invalid_groups_are_refused(subtests: pytest.Subtests) -> None:
    for groups, why in [
        (["Corvus"], "groups must be a dict"),
        ({3: ("rook",)}, "the name of a group, 3, must be text"),
        ({" ": ("rook",)}, "a group has no name"),
        ({"x" * 201: ("rook",)}, "at most 200 characters; it has 201"),
        ({"Corvus": "rook"}, "must hold names of classes"),
        ({"Corvus": ("rook", 3)}, "must hold names of classes"),
        ({"Corvus": ()}, "one class or more, each once. Got \\[\\]"),
        ({"Corvus": ("rook", "rook")}, "each once"),
        ({f"g{k}": tuple(f"c{n}" for n in range(10_000)) for k in range(3)}, "20,000 classes in all; they have 30,000"),
    ]:
        with subtests.test(str(groups)), pytest.raises(RoomError, match=why):
            RoomSettings(groups=groups)


def test_longest_allowed_texts_are_accepted() -> None:
    assert len(RoomSettings("x" * GUIDELINES_LENGTH).guidelines) == 20_000
    with pytest.raises(RoomError, match=r"guidelines may have at most 20,000 characters; it has 20,001"):
        RoomSettings("x" * (GUIDELINES_LENGTH + 1))
    with pytest.raises(RoomError, match=r"the description of 'ant' may have at most 200"):
        RoomSettings(descriptions={"ant": "x" * (DESCRIPTION_LENGTH + 1)})
    with pytest.raises(RoomError, match="no setting 'colour'; it has guidelines, order, descriptions, groups"):
        RoomSettings.from_json({"colour": "red"})
    with pytest.raises(RoomError, match="a label must be a str"):
        RoomSettings(descriptions={3: "three"})  # type: ignore[dict-item]


# Stored data of an open question


NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = SimpleNamespace(strategy="effect", score=0.5, model_version=7, decides=3, undecided=9, predicted="wren")
WHERE = {
    "project_id": 1, "person_id": 2, "row": 3, "token": "2.3.0", "revision": 0, "shown_at": NOW, "reserved_at": NOW,
    "reserved_until": NOW,
}  # fmt: skip


def test_question_is_stored_with_reason_and_form() -> None:
    how = AskedAs(QuestionForm.WHICH)
    stored = to_store(ASKED, how, **WHERE)
    assert {name: getattr(stored, name) for name in vars(ASKED)} == vars(ASKED)
    assert {name: getattr(stored, name) for name in WHERE} == WHERE
    assert stored.asked == how.to_json()
    assert to_store(ASKED, None, **WHERE).asked is None


@pytest.mark.parametrize("part", vars(ASKED))
def test_stored_question_matches_until_any_part_changes(part: str) -> None:
    how = AskedAs(QuestionForm.WHICH)
    stored = to_store(ASKED, how, **WHERE)
    assert has_same_reason(ASKED, how, stored)
    assert not has_same_reason(SimpleNamespace(**(vars(ASKED) | {part: "another"})), how, stored)
    assert not has_same_reason(ASKED, None, stored)
    assert not has_same_reason(ASKED, how, replace(stored, asked=None))


# Seconds spent on a question, by a monotonic clock


def test_steady_clock_follows_monotonic_time() -> None:
    before, ticks = steady(), time.monotonic()
    after, later = steady(), time.monotonic()
    assert timedelta() <= after - before <= timedelta(seconds=later - ticks + 0.001)
    assert abs(datetime.now(UTC) - after) < timedelta(minutes=1), "no clock was set while the tests ran"


@pytest.mark.parametrize("days", [-3, 3])
def test_changing_wall_clock_does_not_change_answer_time(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch, days: int
) -> None:
    question = loop.next_question(seat)

    monkeypatch.setattr(turns, "datetime", ahead(timedelta(days=days)))
    world.answer(seat, question)
    with seat.home.database.read() as session:
        found = entries.latest(session, seat.project_id or 0, seat.person_id, 2)
    assert all(one.at - datetime.now(UTC) > timedelta(days=days, minutes=-5) for one in found)
    assert abs(found[0].at - datetime.now(UTC)) > timedelta(days=2)
    spent = [one.seconds for one in found if one.seconds is not None]
    assert len(spent) == 1
    assert 0 <= spent[0] < 60


@pytest.mark.parametrize(
    ("ago", "stored"), [(-60.0, 0.0), (59.5, 59.5), (3600.0, 3600.0), (3600.5, None), (90_000.0, None)]
)
def test_answer_seconds_are_non_negative_and_unknown_beyond_an_hour(ago: float, stored: float | None) -> None:
    now = datetime(2026, 5, 4, tzinfo=UTC)
    question = questions.OpenQuestion(
        project_id=1,
        person_id=1,
        row=0,
        token="1.0.0",
        revision=0,
        strategy="mp",
        score=0.0,
        model_version=0,
        decides=0,
        undecided=0,
        shown_at=now - timedelta(seconds=ago),
        reserved_at=now,
        reserved_until=now,
    )
    assert question.seconds(now) == stored


# Pauses: they do not count as seconds, the row is free for others, and the question returns if no one took it


def open_now(seat: Seat) -> OpenQuestion:
    with seat.home.database.read() as session:
        found = questions.get(session, seat.project_id or 0, seat.person_id)
    assert found is not None
    return found


def move_back(seat: Seat, **lengths: timedelta) -> None:
    """Move the times of the open question back by this much."""
    found = open_now(seat)
    moved = {name: getattr(found, name) - length for name, length in lengths.items()}
    with seat.home.database.write() as session:
        questions.put(session, OpenQuestion(**(vars(found) | moved)))


def seconds_of_last(seat: Seat) -> float:
    """Of two entries of one click, the first has the seconds."""
    with seat.home.database.read() as session:
        found = entries.latest(session, seat.project_id or 0, seat.person_id, 2)
    return max(one.seconds or 0 for one in found)


def test_answer_seconds_exclude_pause(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    hour = timedelta(hours=1)
    move_back(seat, shown_at=hour + timedelta(seconds=30), reserved_at=hour, paused_at=hour)
    loop.go_on(seat)
    again = loop.next_question(seat)
    assert (again.token, again.view.row) == (question.token, question.view.row)
    assert open_now(seat).paused_at is None
    world.answer(seat, again)
    assert 30 <= seconds_of_last(seat) < 60


def test_answer_in_another_tab_counts_until_pause(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    loop.pause(seat, question.token)
    hour = timedelta(hours=1)
    move_back(seat, shown_at=hour + timedelta(seconds=30), paused_at=hour)
    world.answer(seat, question)
    assert 29 <= seconds_of_last(seat) < 60
    assert not goals.day(seat, None).paused


def test_row_is_free_during_break_and_returns_if_unclaimed(world: KindWorld, seat: Seat, ada: Seat) -> None:
    question = loop.next_question(seat)
    assert loop.next_question(ada).token.split(".")[1:] != question.token.split(".")[1:]
    loop.pause(seat, question.token)
    assert standing.standing(ada).elsewhere == 0
    place = open_now(seat)
    theirs = loop.ask_next(ada, place.row, place.label, drawn=True)
    assert theirs.view.row == question.view.row
    loop.go_on(seat)
    other = loop.next_question(seat)
    assert open_now(seat).paused_at is None
    assert (open_now(seat).row, open_now(seat).label) != (place.row, place.label), "it is before Ada now"
    world.answer(ada, theirs)
    world.answer(seat, other)


def test_pause_needs_question_on_screen(seat: Seat) -> None:
    with pytest.raises(StaleQuestion, match="no longer open for you"):
        loop.pause(seat, "1.1.1")
    question = loop.next_question(seat)
    with pytest.raises(StaleQuestion):
        loop.pause(seat, "1.1.1")
    loop.pause(seat, question.token)
    first = open_now(seat)
    loop.pause(seat, question.token)
    assert open_now(seat) == first, "a second press changes nothing"


def test_resuming_without_pause_changes_nothing(seat: Seat) -> None:
    question = loop.next_question(seat)
    before = open_now(seat)
    loop.go_on(seat)
    now = open_now(seat)
    # The reason may change: a background ranking may be ready by now.
    assert (now.row, now.label, now.token) == (before.row, before.label, before.token)
    assert now.shown_at == before.shown_at
    assert loop.next_question(seat).token == question.token


# Stored notes, and refused ones


def test_note_keeps_its_lines_and_is_stripped() -> None:
    assert checked_note(None) is checked_note(" \n") is None
    assert checked_note(" two\n\tlines ") == "two\n\tlines"
    assert checked_note("x" * NOTE_LENGTH) == "x" * NOTE_LENGTH


def test_too_long_note_is_refused_with_both_lengths() -> None:
    with pytest.raises(AnswerError, match=r"at most 2,000 characters; this one has 2,001\. Fix: shorten it"):
        checked_note("x" * (NOTE_LENGTH + 1))
    with pytest.raises(AnswerError, match="at most 3 characters; this one has 4"):
        checked_note("four", 3)


@pytest.mark.parametrize(
    ("note", "said"), [("a\0", "NUL"), ("\ud83d!", "half of a character"), ("\x1b[1m", "terminal escape")]
)
def test_note_with_invalid_character_is_refused(note: str, said: str) -> None:
    with pytest.raises(AnswerError, match=f"{said}.* at character .*Fix: remove it"):
        checked_note(note)
