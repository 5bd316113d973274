"""An annotator's turn at a project, and the writing of entries."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries
from plcore import AnswerError
from plcore.loop import Place
from tests.databases import on_postgres_in_proofs
from tests.present import present
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, log_of
from workflow.answering import loop, undoing
from workflow.answering.asked import Given, Saved
from workflow.answering.history import overlaps, place_of, question_token, second_token
from workflow.answering.turn import EntryWriter, StaleQuestion
from workflow.seat import Seat

# Turns: places that overlap, tokens, and what one turn writes


NUMBERS = st.lists(st.integers(0, 99), min_size=3, max_size=4)
PLACES = st.builds(Place, st.integers(0, 2), st.one_of(st.none(), st.sampled_from("ab")))


@given(one=PLACES, other=PLACES)
def test_whole_row_overlaps_each_of_its_labels(one: Place, other: Place) -> None:
    same = one.row == other.row and (one.label == other.label or None in (one.label, other.label))
    assert overlaps(one, {other}) == overlaps(other, {one}) == same
    assert not overlaps(one, set())


@given(parts=NUMBERS, other=NUMBERS)
def test_two_showings_never_share_token(parts: list[int], other: list[int]) -> None:
    assert (question_token(*parts) == question_token(*other)) == (parts == other)
    tokens = {second_token(question_token(*parts), number) for number in (0, 1)}
    assert len(tokens) == 2
    assert question_token(*parts) in tokens


def test_place_without_label_is_whole_row() -> None:
    assert place_of(SimpleNamespace(row=3)) == Place(3)
    assert place_of(SimpleNamespace(row=3, label="a")) == Place(3, "a")


def test_turn_knows_places_reserved_by_others(world: KindWorld, seat: Seat) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    assert loop.next_question(ada) is not None
    with ada.turn() as turn:
        hers = place_of(turn.open_now())
        assert turn.taken == set()
        assert not turn.is_taken(hers)
    with seat.turn() as turn:
        assert turn.taken == {hers}
        assert turn.is_taken(hers)
        assert turn.is_taken(Place(hers.row))
        assert turn.open_now() is None
        assert turn.may_ask(hers), "it is open, though it is before someone else"
        assert turn.revision(hers) == 0
        assert turn.token(hers, 0) != turn.token(hers, 1)
        assert turn.annotator == str(seat.person_id)
    world.say(ada, "skip")
    with ada.turn() as turn:
        assert turn.revision(hers) == 1
        assert turn.taken == set()


@on_postgres_in_proofs
def test_revision_of_place_matches_database(world: KindWorld, seat: Seat) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    touched = set()

    def check() -> None:
        for one in (seat, ada):
            with one.turn() as turn:
                here = turn.session, turn.project_id, turn.person_id
                for row in range(turn.learner.table.n_rows):
                    places = [Place(row), *(Place(row, label) for label in turn.learner.classes)]
                    assert [turn.revision(place) for place in places] == [
                        entries.count_for(*here, *place) for place in places
                    ]

    check()
    for who, kind in zip((seat, ada, seat), world.ANSWERS, strict=False):
        question = present(loop.next_question(who))
        touched.add(world.say(who, kind, question).row)
        check()
    undoing.undo(seat)
    check()
    seat.settle()  # one whose model is fitted now stays
    assert all(slot.put_away() for slot in seat.home.shelf.opened().values())
    check()
    with seat.turn() as turn:
        untouched = turn.learner.pool.fold.is_untouched
        assert {row for row in range(turn.learner.table.n_rows) if not untouched(row)} == touched


def test_untouched_rows_need_no_database_query(world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_place: object) -> int:
        raise AssertionError("The database was asked.")

    with monkeypatch.context() as other:
        other.setattr(entries, "count_for", refuse)
        question = loop.next_question(seat)
    assert question is not None
    world.say(seat, "skip", question)
    with seat.turn() as turn:
        place = place_of(question) if hasattr(question, "row") else Place(question.view.row, None)
        monkeypatch.setattr(entries, "count_for", refuse)
        with pytest.raises(AssertionError, match="was asked"):
            turn.revision(place)


def test_unknown_token_was_never_given(world: KindWorld, seat: Seat) -> None:
    saved = world.answer(seat)
    with seat.reading() as reading:
        token = entries.get(reading.session, reading.project.id, saved.seq).token.removesuffix(".is")  # type: ignore[union-attr]
    with seat.turn() as turn:
        assert turn.given_before(token).seq == saved.seq
        assert turn.given_before(token).repeated
        with pytest.raises(StaleQuestion, match="no longer open for you"):
            turn.given_before("9.9.9.9")
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    with ada.turn() as turn, pytest.raises(StaleQuestion):
        turn.given_before(token)


def test_closed_place_is_explained(world: KindWorld, seat: Seat) -> None:
    for label in (None, "beach"):
        with seat.turn() as turn:
            assert turn.decided_meanwhile(Place(1, label)).startswith("Someone else has decided this ")


def test_every_entry_has_question_facts_and_only_first_its_token(world: KindWorld, seat: Seat) -> None:
    question = present(loop.next_question(seat))
    with seat.turn() as turn:
        open_now = present(turn.open_now())
        first, every = turn.facts(open_now, Given("skip", note="why", flagged=True))
    assert (first["token"], first["revision"]) == (question.token, 0)
    assert first["seconds"] >= 0
    assert not set(first) & set(every)
    assert (every["note"], every["flagged"]) == ("why", True)
    assert (every["strategy"], every["predicted"]) == (question.strategy, question.predicted)
    saved = world.say(seat, "skip", question)
    assert isinstance(saved, Saved)
    assert not saved.repeated


# Entries about one place in one transaction: each records the state of the place before and after it


def test_second_entry_of_press_sees_first(world: KindWorld, seat: Seat) -> None:
    loop.next_question(seat)
    with seat.turn() as turn:
        open_now = present(turn.open_now())
        place = place_of(open_now)
        writer = turn.writer(place)
        assert isinstance(writer, EntryWriter)
        assert writer.CHANGED.endswith("now.")
        first = writer.write("skip", token="a", note="first")
        second = writer.write("bad", token="b")
        assert (second.seq, second.revision) == (first.seq + 1, first.revision + 1)
        assert second.before == first.after
        assert len(turn.opened.written) == 2
        assert turn.learner.seq == 0, "the learner follows after the commit"
    with seat.turn() as turn:
        assert turn.learner.pool.bad[place.row]
        back = turn.writer(place).write("withdraw", token="c", target=second.seq)
        assert (back.before, back.after) == (second.after, second.before)
        assert (back.target_seq, back.revision) == (second.seq, 2)
    assert [(one.kind, one.row, one.label, one.note) for one in log_of(seat)] == [
        ("skip", place.row, place.label, "first"),
        ("bad", place.row, place.label, None),
        ("withdraw", place.row, place.label, None),
    ]
    with seat.learner() as opened:
        assert opened.learner.seq == 3
        assert not opened.learner.pool.bad[place.row]


def test_entry_refused_by_learner_is_not_written(world: KindWorld, seat: Seat) -> None:
    assert loop.next_question(seat) is not None
    with seat.turn() as turn:
        writer = turn.writer(place_of(turn.open_now()))
        for kind, labels in (("is" if world.kind == "one_label" else "yes", ("zebra",)), ("shout", ())):
            with pytest.raises(AnswerError):
                writer.write(kind, labels, token="a")
        with pytest.raises(AnswerError):
            writer.write("withdraw", token="a", target=99)
        assert turn.opened.written == []
        skipped = writer.write("skip", token="a")
    with seat.turn() as turn:
        writer = turn.writer(Place(skipped.row, skipped.label))
        writer.write("withdraw", token="b", target=skipped.seq)
        with pytest.raises(AnswerError, match="no longer counts"):
            writer.write("withdraw", token="c", target=skipped.seq)
    assert [one.kind for one in log_of(seat)] == ["skip", "withdraw"]
