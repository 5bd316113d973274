"""The facts of a card against the log that they are taken from, in projects of every kind."""

from __future__ import annotations

from datetime import timedelta
from statistics import median

import pytest

from db import entries
from db.entries import LogEntry
from tests.workflow.alike_world import alike_project
from tests.workflow.exporting.cards import facts_of
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import annotator, answer_next, small_project
from workflow.access import Right
from workflow.answering import batches, oracle, undoing
from workflow.exporting.card_facts import CardFacts, without_names
from workflow.log.verifying import verify_project
from workflow.projects import classes, managing
from workflow.rows.finding import names_of
from workflow.seat import Seat
from workflow.server.home import Home


def facts(seat: Seat, *, named: bool = False) -> CardFacts:
    with seat.learner(Right.OWN) as opened:
        session = opened.session
        names = names_of(session) if named else without_names(session, opened.project_id)
        return facts_of(opened, names)


def log_of(seat: Seat) -> list[LogEntry]:
    with seat.reading() as reading:
        return entries.after(reading.session, reading.project.id, 0)


def test_people_are_counted_by_name_or_by_number(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for kind in ("skip", "unsure"):
        world.say(ada, kind)
    world.answer(ada)
    undoing.undo(ada)
    world.answer(seat)
    world.answer(seat)
    found, log = facts(seat), log_of(seat)
    first, second = found.annotators
    assert (first.name, first.answers, first.skips, first.unsure, first.seconds) == (
        "Annotator 1",
        0,
        1,
        1,
        None,
    )
    assert (second.name, second.skips) == ("Annotator 2", 0)
    assert second.answers == found.answers > 0
    assert [one.name for one in facts(seat, named=True).annotators] == ["Ada", "owner"]
    standing = [one for one in log if one.person_id == seat.person_id]
    assert found.answers == len(standing)
    assert found.withdrawn == sum(one.target_seq is not None for one in log)
    assert (
        found.seconds == second.seconds == median(one.seconds for one in standing if one.seconds is not None)
    )
    assert (found.first, found.last) == (standing[0].at, standing[-1].at)
    assert sum(found.asked_by.values()) == found.answers == sum(n * rows for n, rows in found.per_row.items())
    assert found.entries == len(log)


def test_a_skip_that_was_taken_back_is_none(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for kind in ("skip", "unsure"):
        world.say(ada, kind)
    undoing.undo(ada)
    (found,) = facts(seat).annotators
    assert (found.skips, found.unsure) == (1, 0)
    undoing.undo(ada)
    (found,) = facts(seat).annotators
    assert (found.skips, found.unsure) == (0, 0)


def test_the_card_names_the_head_that_verify_finds(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    (verified,) = verify_project(seat)
    found = facts(seat, named=True)  # the log says who, and so does its head
    assert facts(seat).head != verified.head
    assert (found.head, found.entries) == (verified.head, verified.entries)
    with seat.reading() as reading:
        assert found.table_sha256 == reading.project.table_hash
        assert found.settings == reading.project.settings
        assert found.created_at == reading.project.created_at


def test_a_project_that_nobody_has_answered(world: KindWorld, seat: Seat) -> None:
    found = facts(seat)
    assert found.annotators == ()
    assert (found.answers, found.withdrawn, found.entries, found.simulated) == (0, 0, 0, 0)
    assert (found.seconds, found.first, found.last) == (None, None, None)
    assert found.per_row == found.asked_by == {}
    assert found.head == found.table_sha256
    assert found.n_rows == 40
    assert found.task == "tabular-classification"
    assert world.kind == "one_label" or found.classes == "labels"


def test_answers_of_the_oracle_are_no_ones_time(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    oracle.answer_for_me(seat, 3)
    found = facts(seat)
    assert found.simulated == found.answers == 3
    assert found.seconds is None


def test_rows_confirmed_together_are_left_out_of_the_time_for_an_answer(home: Home, owner: int) -> None:
    seat = alike_project(home, owner, shown="numbers")
    batch = batches.next_batch(seat)
    assert isinstance(batch, batches.ShownBatch)
    batches.confirm_batch(seat, batch.token)
    found = facts(seat)
    assert (found.answers, found.seconds) == (len(batch.tiles), None)


def test_models_stand_in_the_order_in_which_they_were_in_force(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    assert facts(seat).models == ("plknn",)
    managing.change_learner(seat, model="pegasos-average")
    answer_next(home, owner, project)
    managing.change_learner(seat, model="perceptron-max")
    assert facts(seat).models == ("plknn", "pegasos-average", "perceptron-max")


def test_what_people_wrote_is_kept_as_it_is(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    managing.rename_project(seat, "Birds", "Songs | calls")
    assert (facts(seat).name, facts(seat).description, facts(seat).guidelines) == (
        "Birds",
        "Songs | calls",
        "",
    )


def test_a_change_of_classes_is_no_answer(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    classes.change_classes(seat, 0, "add", ["elk"])
    classes.take_back(seat, classes.classes_view(seat).version)
    found = facts(seat)
    assert (found.answers, found.withdrawn, found.annotators, found.entries) == (0, 0, (), 2)
    assert found.n_classes == 3


@pytest.mark.parametrize("name", ["Ada", "Zoë"])
def test_a_name_stands_only_where_it_is_asked_for(home: Home, owner: int, project: int, name: str) -> None:
    answer_next(home, annotator(home, owner, name), project)
    seat = Seat(home, owner, project)
    assert name not in repr(facts(seat))
    assert name in repr(facts(seat, named=True))
    assert facts(seat).last - facts(seat).first == timedelta(0)  # type: ignore[operator]
