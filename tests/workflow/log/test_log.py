"""The stored log as learners read it."""

from __future__ import annotations

import pytest

from db import entries, events
from plcore import Entry
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow.answering import undoing
from workflow.kinds import KINDS
from workflow.log.reading import follow, learner_entry, read_class_changes
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture(params=WORLDS, ids=lambda world: world.name)
def world(request: pytest.FixtureRequest) -> KindWorld:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def seat(world: KindWorld, home: Home, owner: int) -> Seat:
    return Seat(home, owner, world.make(Seat(home, owner)))


def test_a_pool_follows_the_log(world: KindWorld, seat: Seat) -> None:
    for _ in range(3):
        world.answer(seat)
    undoing.undo(seat)
    pool = KINDS[world.kind].first_learner(world.table(), world.settings()).pool
    applied: list[Entry] = []

    def apply(entry: Entry) -> None:
        applied.append(entry)
        pool.apply(entry)

    with seat.learner() as opened:
        session, project, last = opened.session, opened.project_id, opened.learner.seq
        assert last >= 4
        assert follow(session, project, pool, apply)
        assert follow(session, project, pool, apply), "nothing is missed"
        assert [one.seq for one in applied] == list(range(1, last + 1))
        assert pool.n_answered == opened.learner.pool.n_answered


def test_a_change_of_classes_ends_it(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    world = WORLDS[0]
    pool = KINDS[world.kind].first_learner(world.table(), world.settings()).pool
    world.say(seat, "skip")
    classes.change_classes(seat, 0, "add", ["zebra"])
    world.say(seat, "skip")
    with seat.learner() as opened:
        session = opened.session
        assert not follow(session, project, pool, pool.apply)
        assert pool.seq == 1, "it stays before that entry"
        (change,) = read_class_changes(session, project)
        assert (change.seq, change.kind, change.names) == (2, "add", ("zebra",))
        assert opened.learner.seq == 3


def test_an_entry_of_the_learner_has_what_it_reads(world: KindWorld, seat: Seat) -> None:
    saved = world.answer(seat, note="a note")
    undoing.undo(seat, saved.seq)
    with seat.reading() as reading:
        stored = entries.after(reading.session, reading.project.id, 0)
    read = [learner_entry(one) for one in stored]
    assert read[-1].target is not None
    assert [(one.seq, one.kind, one.row, one.labels, one.target) for one in read] == [
        (one.seq, one.kind, one.row, one.labels, one.target_seq) for one in stored
    ]
    assert {one.annotator for one in read} == {str(seat.person_id)}
    with seat.reading() as reading:
        assert [learner_entry(one) for one in events.each(reading.session, reading.project.id, 0)] == read
        assert [one.seq for one in events.each(reading.session, reading.project.id, 1)] == [
            one.seq for one in stored[1:]
        ]
