"""Invariants after whatever people do, in any order, on any kind of project, and after a restart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import entries
from plcore import AnswerError
from tests.databases import Laying
from tests.workflow.kind_worlds import WORLDS, KindWorld, check_same
from tests.workflow.world import annotator, counts_agreed, file_of
from workflow.access import NotAllowed
from workflow.answering import loop, undoing
from workflow.answering.history import overlaps, place_of
from workflow.answering.turn import StaleQuestion
from workflow.people import team
from workflow.projects import progress, standing
from workflow.rows import instance_map as maps
from workflow.rows import queue, reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

REFUSALS = (AnswerError, StaleQuestion, NotAllowed)

ACTS = st.tuples(
    st.sampled_from(["answer", "answer", "say", "say", "undo", "redo", "choose", "correct", "bad", "again", "restart"]),
    st.integers(0, 1),
    st.integers(0, 6),
)
"""(what, by whom, on which item)"""


@dataclass
class Play:
    """A project with two people who act on it, and its invariants."""

    world: KindWorld
    people: list[Seat]
    pressed: tuple[Seat, Any] | None = None
    opened: list[Home] = field(default_factory=list)

    def do(self, what: str, who: int, number: int) -> None:
        acts: dict[str, Callable[[Seat, int], object]] = {
            "answer": self.answer,
            "say": self.say,
            "undo": lambda seat, _: undoing.undo(seat),
            "redo": lambda seat, _: undoing.redo(seat),
            "choose": self.choose,
            "correct": self.correct,
            "bad": self.out,
            "again": self.again,
            "restart": self.restart,
        }
        acts[what](self.people[who], number)

    def answer(self, seat: Seat, _: int) -> None:
        if (question := loop.next_question(seat)) is not None:
            self.world.answer(seat, question)
            self.pressed = seat, question

    def say(self, seat: Seat, number: int) -> None:
        if (question := loop.next_question(seat)) is not None:
            self.world.say(seat, self.world.ANSWERS[number % len(self.world.ANSWERS)], question)

    def choose(self, seat: Seat, number: int) -> None:
        if rows := queue.list_queue(self.people[0]).rows:
            one = rows[number % len(rows)]
            loop.ask_next(seat, one.row, getattr(one, "label", None))

    def correct(self, seat: Seat, number: int) -> None:
        if rows := reviewing.find(seat, Search()).rows:
            row = rows[number % len(rows)].row
            found = reviewing.open_row(seat, row)
            if any(getattr(one, "person", "") for one in getattr(found, "labels", ())) or hasattr(found, "imported"):
                what = self.world.correction(found)
                reviewing.correct(seat, row, found.token, what.kind, what.labels, changes=what.changes)

    def out(self, seat: Seat, number: int) -> None:
        if rows := reviewing.find(seat, Search()).rows:
            row = rows[number % len(rows)].row
            reviewing.correct(seat, row, reviewing.open_row(seat, row).token, "bad")

    def again(self, seat: Seat, _: int) -> None:
        """Repeat the last answer, as from a second tab: stored once."""
        if self.pressed is not None:
            before = self.length()
            assert self.world.answer(*self.pressed).repeated
            assert self.length() == before

    def restart(self, *_: object) -> None:
        self.opened.append(open_home(self.people[0].home.settings))
        self.people = [Seat(self.opened[-1], one.person_id, one.project_id) for one in self.people]

    def length(self) -> int:
        with self.people[0].reading() as reading:
            return entries.last_seq(reading.session, reading.project.id)

    def check(self) -> None:
        owner = self.people[0]
        owner.settle()  # the curve of a model that is fitted next to the answers has a point for each fit
        counts_agreed(owner.home, owner.person_id, owner.project_id)
        before = []
        for one in self.people:
            with one.turn() as turn:
                if (open_now := turn.open_now()) is not None and turn.may_ask(place_of(open_now)):
                    before.append(place_of(open_now))
                assert turn.learner.seq == self.length()
        assert not any(overlaps(one, {other}) for one, other in itertools.combinations(before, 2))


@contextmanager
def played(world: KindWorld, settings: Settings, **more: object) -> Iterator[Play]:
    home = open_home(settings)
    owner = team.ensure_owner(home).id
    project = world.make(Seat(home, owner), **more)
    play = Play(world, [Seat(home, owner, project), Seat(home, annotator(home, owner, "Ada"), project)], None, [home])
    try:
        yield play
    finally:
        for one in play.opened:
            one.close()


CALM = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]  # every example has a home of its own
EVERY_WORLD = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
CONTROL_SHARES = pytest.mark.parametrize("control_share", [0.3, pytest.param(0.0, marks=pytest.mark.proof)])


def play_and_check(
    world: KindWorld, settings: Settings, control_share: float, acts: list[tuple[str, int, int]]
) -> None:
    """Check the invariants after each of these acts, after all of them, and after a restart."""
    with played(world, settings, control_share=control_share) as play:
        for what, who, number in acts:
            before = play.length()
            try:
                play.do(what, who, number)
            except REFUSALS:
                assert play.length() == before, "what is refused stores nothing"
            play.check()
        live = play.people[0]
        live.settle()
        play.restart()
        again = play.people[0]
        again.settle()
        with live.learner() as one, again.learner() as other:
            np.testing.assert_array_equal(world.state(one.learner), world.state(other.learner))
        with live.turn() as turn:
            best = turn.best(turn.taken)
        with again.turn() as turn:
            assert turn.best(turn.taken) == best
        for whose in (0, 1):
            mine, theirs = (
                Seat(home, play.people[whose].person_id, live.project_id) for home in (live.home, again.home)
            )
            check_same(standing.standing(mine), standing.standing(theirs))
            check_same(reviewing.find(mine, Search()), reviewing.find(theirs, Search()))
        check_same(progress.read_progress(again), progress.read_progress(live))
        check_same(queue.list_queue(again), queue.list_queue(live))
        check_same(maps.instance_map(again), maps.instance_map(live))
        assert file_of(again) == file_of(live)


@EVERY_WORLD
@CONTROL_SHARES
@given(acts=st.lists(ACTS, min_size=4, max_size=12))
@settings(max_examples=2, suppress_health_check=CALM)
def test_any_sequence_of_acts_keeps_invariants(
    world: KindWorld,
    control_share: float,
    acts: list[tuple[str, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
    lay: Laying,
) -> None:
    play_and_check(world, lay(tmp_path_factory.mktemp("home")), control_share, acts)


@pytest.mark.proof
@EVERY_WORLD
@CONTROL_SHARES
@given(acts=st.lists(ACTS, min_size=4, max_size=24))
@settings(max_examples=10, suppress_health_check=CALM)
def test_long_sequence_of_acts_keeps_invariants(
    world: KindWorld,
    control_share: float,
    acts: list[tuple[str, int, int]],
    tmp_path_factory: pytest.TempPathFactory,
    lay: Laying,
) -> None:
    play_and_check(world, lay(tmp_path_factory.mktemp("home")), control_share, acts)


@EVERY_WORLD
def test_project_can_be_answered_to_its_end(world: KindWorld, home: Home, owner: int) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner), control_share=0.2))
    _, left = counts_agreed(home, owner, seat.project_id)
    asked = 0
    while loop.next_question(seat) is not None:
        world.answer(seat)
        asked += 1
    answered, nothing = counts_agreed(home, owner, seat.project_id)
    assert (asked, nothing) == (left, 0)
    assert answered >= left
    now = standing.standing(seat)
    assert now.done
    assert now.settled == 1
    assert now.stop
    assert progress.read_progress(seat).settled == 1
    assert queue.list_queue(seat).rows == ()
    with seat.learner() as opened:
        asked = ~opened.learner.test_rows
        np.testing.assert_array_equal(world.state(opened.learner)[asked], world.truth(opened.learner)[asked])
