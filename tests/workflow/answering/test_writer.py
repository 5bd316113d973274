"""Entries about one place in one transaction: each says how the place stood before and after it."""

from __future__ import annotations

import pytest

from db import entries
from plcore import AnswerError
from plcore.loop import Place
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import loop
from workflow.answering.history import place_of
from workflow.answering.turn import EntryWriter
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture(params=WORLDS, ids=lambda world: world.name)
def world(request: pytest.FixtureRequest) -> KindWorld:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def seat(world: KindWorld, home: Home, owner: int) -> Seat:
    return Seat(home, owner, world.make(Seat(home, owner)))


def log(seat: Seat) -> list[entries.LogEntry]:
    with seat.reading() as reading:
        return entries.after(reading.session, reading.project.id, 0)


def test_what_is_written_second_finds_what_the_first_left(world: KindWorld, seat: Seat) -> None:
    loop.next_question(seat)
    with seat.turn() as turn:
        open_now = turn.open_now()
        assert open_now is not None
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
    assert [(one.kind, one.row, one.label, one.note) for one in log(seat)] == [
        ("skip", place.row, place.label, "first"),
        ("bad", place.row, place.label, None),
        ("withdraw", place.row, place.label, None),
    ]
    with seat.learner() as opened:
        assert opened.learner.seq == 3
        assert not opened.learner.pool.bad[place.row]


def test_what_the_learner_would_refuse_is_not_written(world: KindWorld, seat: Seat) -> None:
    question = loop.next_question(seat)
    assert question is not None
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
        with pytest.raises(AnswerError, match="does not stand any more"):
            writer.write("withdraw", token="c", target=skipped.seq)
    assert [one.kind for one in log(seat)] == ["skip", "withdraw"]
