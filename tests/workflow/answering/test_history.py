"""An annotator's history, and a project's answers in memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.workflow.four import four_class_project
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next
from workflow.answering import history, loop, oracle, undoing
from workflow.answering.history import OwnAnswer, read
from workflow.answering.loop import NotSaved
from workflow.people import goals
from workflow.projects import standing
from workflow.rows import reviewing
from workflow.saving import raising_not_saved
from workflow.seat import Seat
from workflow.server.home import Home, open_home

# One person's latest answers: what undo withdraws, what redo gives again


def own(seq: int, withdrawal: int | None = None, *, redoable: bool = False) -> OwnAnswer:
    return OwnAnswer(seq, "is", 0, "r0", ("a",), None, False, withdrawal, redoable)


def test_undo_takes_newest_standing_answer_redo_last_withdrawn() -> None:
    answers = [own(9, 12, redoable=True), own(8), own(7, 13, redoable=True), own(6, 14), own(5)]
    assert history.latest_standing(answers) == 8
    assert history.latest_withdrawn(answers) == 7
    assert history.latest_standing([own(6, 14)]) is None
    assert history.latest_withdrawn([own(6, 14), own(5)]) is None
    assert history.latest_standing([]) is history.latest_withdrawn([]) is None


def test_press_with_several_entries_is_one_answer(world: KindWorld, seat: Seat) -> None:
    for _ in range(4):
        world.answer(seat)
    answers = standing.standing(seat).history
    assert len(answers) == 4
    assert [one.seq for one in answers] == sorted((one.seq for one in answers), reverse=True)
    for one in answers:
        with seat.reading() as reading:
            token = history.entries.get(reading.session, reading.project.id, one.seq).token  # type: ignore[union-attr]
            stored = history.stored_by(reading.session, reading.project.id, token.removesuffix(history.SECOND))
            assert history.stored_by(reading.session, reading.project.id, "1.9.9.9") is None
        assert stored is not None
        assert stored.seq == one.seq, "of two entries the second speaks for both"
        with seat.reading() as reading:
            beside = history.denied_beside(reading.session, stored)
            before = history.entries.get(reading.session, reading.project.id, one.seq - 1)
        is_second = stored.token.endswith(history.SECOND)
        assert beside == (before.labels if is_second and before is not None else ())


def test_row_answered_again_meanwhile_is_not_redone(world: KindWorld, seat: Seat) -> None:
    first = world.answer(seat)
    undoing.undo(seat)
    assert standing.standing(seat).redoable == first.seq
    world.answer(seat)  # the same row, which undo has opened
    (_, old) = standing.standing(seat).history
    assert (old.seq, old.redoable) == (first.seq, False)
    assert undoing.redo(seat) is None


def test_history_is_limited_and_personal(world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    monkeypatch.setattr(history, "REACH", 3)
    for _ in range(5):
        world.say(seat, "skip")
    world.answer(ada)
    assert len(standing.standing(seat).history) == 3
    assert len(standing.standing(ada).history) == 1
    for _ in range(3):
        assert undoing.undo(seat) is not None
    # Redo cannot reach answers older than the history.
    assert all(one.withdrawal is not None for one in standing.standing(seat).history)


# The cache of latest entries equals the database, after any change


BEFORE = datetime.now(UTC) - timedelta(days=1)


def check(*seats: Seat) -> None:
    """Check that cached and fresh history are equal; from now on it is cached."""
    for seat in seats:
        with seat.learner() as opened:
            here = opened.session, opened.project_id, opened.person_id
            kept, fresh = opened.own_log, read(*here)
            assert kept.work_since(*here, BEFORE) == fresh.work_since(*here, BEFORE)
            assert kept == fresh
            assert opened.own_log is kept


def test_answers_undo_redo_and_corrections_by_others_are_followed(world: KindWorld, seat: Seat, ada: Seat) -> None:
    check(seat, ada)
    for number, kind in enumerate((*world.ANSWERS, *world.ANSWERS)):
        world.say(seat, kind, note="look" if number % 2 else None)
        check(seat, ada)
        if number % 3 == 0:
            undoing.undo(seat)
            check(seat)
            if number % 2:
                undoing.redo(seat)
                check(seat)
    row = world.answer(ada).row
    check(ada, seat)
    found = reviewing.open_row(seat, row)
    what = world.correction(found)
    reviewing.correct(seat, row, found.token, what.kind, what.labels, changes=what.changes)
    check(ada, seat)


def test_answer_of_two_entries_counts_once_for_the_day(home: Home, owner: int) -> None:
    seat = Seat(home, owner, four_class_project(home, owner))
    check(seat)
    for _ in range(3):
        answer_next(home, owner, seat.project_id or 0)
        question = loop.next_question(seat)
        other = next(name for name in standing.standing(seat).classes if name not in question.choices)
        loop.submit_answer(seat, question.token, "none", [other])
        check(seat)
    assert goals.day(seat, None).answers == 6
    undoing.undo(seat)
    check(seat)
    assert goals.day(seat, None).answers == 5


def test_entries_of_another_process_are_followed(home: Home, owner: int, project: int) -> None:
    here, other = Seat(home, owner, project), open_home(home.settings)
    there = Seat(other, owner, project)
    try:
        check(here, there)
        for seat in (here, here, there, there, here):
            answer_next(seat.home, owner, project)
            check(here)
        oracle.answer_for_me(there, 3)
        check(there)
        undoing.undo(there)
        check(here)
    finally:
        other.close()


def test_uncommitted_answer_is_not_cached(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)
    check(seat)
    question = loop.next_question(seat)

    def lost(*_: object) -> None:
        with raising_not_saved():
            raise loop.NotSaved("The disk is full.")

    with monkeypatch.context() as full:
        full.setattr(home.database, "check_file", lost)  # after all that is written, before the commit
        with pytest.raises(NotSaved):
            loop.submit_answer(seat, question.token, "is", question.choices[:1])
    check(seat)
    assert len(standing.standing(seat).history) == 1
    loop.submit_answer(seat, question.token, "is", question.choices[:1])
    check(seat)
    with seat.turn() as turn:
        turn.close_question()
        turn.writer(loop.Place(question.view.row)).write("unsure", token="another")
        assert turn.opened.own_log.last.kind == "unsure", "the transaction sees what it wrote"
        assert turn.opened.own_log is not turn.opened.own_log
    check(seat)
