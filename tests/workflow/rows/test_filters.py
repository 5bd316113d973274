"""Filters of the queue and of the review, and their counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.present import present
from tests.statements import noted_statements
from tests.workflow.kind_worlds import IN_EVERY_FORM_ON_BOTH, WORLDS, KindWorld
from tests.workflow.world import annotator
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.rows import queue, reviewing
from workflow.rows.queue import QueueFilter
from workflow.rows.reviewing import Search
from workflow.seat import Seat
from workflow.server.home import Home

BY_KIND = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)


def listed(seat: Seat, only: QueueFilter = QueueFilter.ALL) -> Any:
    return queue.list_queue(seat, only=only)


def places(view: Any) -> list[tuple[int, str | None]]:
    return [(one.row, getattr(one, "label", None)) for one in view.rows]


def shared(world: KindWorld, home: Home, owner: int, **settings: object) -> tuple[Seat, Seat]:
    """The seats of the owner and of an annotator."""
    project = world.make(Seat(home, owner), **settings)
    return Seat(home, owner, project), Seat(home, annotator(home, owner, "Ada"), project)


@BY_KIND
def test_queue_filters_list_as_many_rows_as_they_count(home: Home, owner: int, world: KindWorld) -> None:
    mine, ada = shared(world, home, owner, overlap=2, fold="majority", control_share=0.0)
    asked = []
    for flagged in (False, True, False):
        question: Any = present(loop.next_question(ada))
        asked.append((question.view.row, getattr(question, "label", None)))
        world.answer(ada, question, flagged=flagged)
    view = listed(mine)
    assert (view.begun, view.flagged) == (3, 1)
    assert not set(places(view)) & set(asked)
    waiting = listed(mine, QueueFilter.WAITING)
    assert places(waiting) == asked, "in the order in which they were begun"
    assert waiting.matching == 3
    flagged_rows = {row for row, _ in places(listed(mine, QueueFilter.FLAGGED))}
    assert flagged_rows == {asked[1][0]}
    row_id = waiting.rows[0].row_id
    assert places(queue.list_queue(mine, row_id, only=QueueFilter.WAITING))[:1] == asked[:1], "a search narrows it"
    world.answer(mine, loop.ask_next(mine, *asked[1]))
    assert places(listed(mine, QueueFilter.WAITING)) == [asked[0], asked[2]], "two people have answered the other"


@BY_KIND
def test_others_answers_do_not_show_in_queue(home: Home, owner: int, world: KindWorld) -> None:
    mine, ada = shared(world, home, owner, overlap=2, fold="majority", control_share=0.0)
    before: Any = present(loop.next_question(ada))
    fresh = loop.ask_next(ada, before.view.row, getattr(before, "label", None))
    world.answer(ada, fresh, flagged=True)
    assert listed(ada).flagged == 0
    for only in (QueueFilter.WAITING, QueueFilter.FLAGGED):
        with pytest.raises(NotAllowed, match="reviewers"):
            queue.list_queue(ada, only=only)
        (line,) = listed(mine, only).rows
        assert line.row == before.view.row
        if world.kind == "one_label":
            assert line.candidates == before.choices
            assert line.reason == "It has 1 answer and waits for 1 more."


@IN_EVERY_FORM_ON_BOTH
def test_review_filters_count_what_they_list(home: Home, owner: int, world: KindWorld) -> None:
    seat = Seat(home, owner, world.make(Seat(home, owner)))
    for number in range(9):
        question = present(loop.next_question(seat))
        given = world.against(question) if number % 2 and question.predicted is not None else world.true(question)
        world.answer(seat, question, given, flagged=number % 3 == 0)
        home.shelf.settle(present(seat.project_id))
    first = reviewing.find(seat, Search()).rows[0]
    opened: Any = reviewing.open_row(seat, first.row)
    what = world.correction(opened)
    reviewing.correct(seat, first.row, opened.token, what.kind, what.labels, changes=what.changes)
    base = Search(), Search(words="r1"), Search(label=first.labels[0] if first.labels else None)
    for search in (
        *base,
        replace(base[0], flagged=True),
        replace(base[0], disagrees=True),
        replace(base[1], flagged=True),
        replace(base[0], corrected=True),
        replace(base[1], corrected=True),
    ):
        found = reviewing.find(seat, search)
        assert found.flagged == reviewing.find(seat, replace(search, flagged=True)).total
        assert found.corrected == reviewing.find(seat, replace(search, corrected=True)).total
        if found.disagreeing is not None:
            assert found.disagreeing == reviewing.find(seat, replace(search, disagrees=True)).total
    every = reviewing.find(seat, Search())
    assert 0 < every.flagged < every.total
    assert 0 < every.corrected < every.total
    assert reviewing.count_listed(seat) == every.total
    assert (every.disagreeing is None) == (world.name == "label_vectors-rows")


def test_switch_counts_what_review_lists(home: Home, owner: int) -> None:
    world = WORLDS[0]
    mine, ada = shared(world, home, owner)
    for seat, kind in ((mine, "is"), (ada, "unsure"), (ada, "among"), (mine, "bad"), (ada, "skip")):
        world.say(seat, kind)
    for seat, count in ((mine, 3), (ada, 2)):
        assert reviewing.count_listed(seat) == reviewing.find(seat, Search()).total == count


@BY_KIND
def test_counts_take_no_more_statements_with_more_answers(home: Home, owner: int, world: KindWorld) -> None:
    mine, ada = shared(world, home, owner, overlap=2, fold="majority")
    counted = []
    for answers in (2, 8):
        for number in range(answers):
            world.answer(ada, flagged=number % 2 == 0)
        listed(mine)
        with noted_statements() as noted:
            listed(mine)
            reviewing.count_listed(mine)
            reviewing.find(mine, Search())
        counted.append(noted)
    assert len(counted[0]) == len(counted[1]), counted
