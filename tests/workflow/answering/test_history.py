"""One person's latest answers: what undo takes back, what redo gives again."""

from __future__ import annotations

import pytest

from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.world import annotator
from workflow.answering import history, undoing
from workflow.answering.history import OwnAnswer
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home


def own(seq: int, withdrawal: int | None = None, *, redoable: bool = False) -> OwnAnswer:
    return OwnAnswer(seq, "is", 0, "r0", ("a",), None, False, withdrawal, redoable)


def test_undo_takes_the_newest_that_stands_redo_what_was_taken_back_last() -> None:
    answers = [own(9, 12, redoable=True), own(8), own(7, 13, redoable=True), own(6, 14), own(5)]
    assert history.latest_standing(answers) == 8
    assert history.latest_withdrawn(answers) == 7
    assert history.latest_standing([own(6, 14)]) is None
    assert history.latest_withdrawn([own(6, 14), own(5)]) is None
    assert history.latest_standing([]) is history.latest_withdrawn([]) is None


@pytest.fixture(params=WORLDS, ids=lambda world: world.name)
def world(request: pytest.FixtureRequest) -> KindWorld:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def seat(world: KindWorld, home: Home, owner: int) -> Seat:
    return Seat(home, owner, world.make(Seat(home, owner)))


def test_one_press_is_one_answer_however_many_entries_it_stored(world: KindWorld, seat: Seat) -> None:
    for _ in range(4):
        world.answer(seat)
    answers = standing.standing(seat).history
    assert len(answers) == 4
    assert [one.seq for one in answers] == sorted((one.seq for one in answers), reverse=True)
    for one in answers:
        with seat.reading() as reading:
            token = history.entries.get(reading.session, reading.project.id, one.seq).token  # type: ignore[union-attr]
            stored = history.stored_by(
                reading.session, reading.project.id, token.removesuffix(history.SECOND)
            )
            assert history.stored_by(reading.session, reading.project.id, "1.9.9.9") is None
        assert stored is not None
        assert stored.seq == one.seq, "of two entries the second speaks for both"
        with seat.reading() as reading:
            beside = history.denied_beside(reading.session, stored)
            before = history.entries.get(reading.session, reading.project.id, one.seq - 1)
        is_second = stored.token.endswith(history.SECOND)
        assert beside == (before.labels if is_second and before is not None else ())


def test_what_was_answered_again_meanwhile_is_not_given_again(world: KindWorld, seat: Seat) -> None:
    first = world.answer(seat)
    undoing.undo(seat)
    assert standing.standing(seat).redoable == first.seq
    world.answer(seat)  # the same row, which undo has put before them
    (_, old) = standing.standing(seat).history
    assert (old.seq, old.redoable) == (first.seq, False)
    assert undoing.redo(seat) is None


def test_a_history_goes_back_so_far_and_is_of_one_person(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
    monkeypatch.setattr(history, "REACH", 3)
    for _ in range(5):
        world.say(seat, "skip")
    world.answer(ada)
    assert len(standing.standing(seat).history) == 3
    assert len(standing.standing(ada).history) == 1
    for _ in range(3):
        assert undoing.undo(seat) is not None
    # What lies farther back than the history is no more to be found by it.
    assert all(one.withdrawal is not None for one in standing.standing(seat).history)
