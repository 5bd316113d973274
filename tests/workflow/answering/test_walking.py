"""Several questions in one pass: after an answer in one project, the next asks the same person about the same row."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from db import entries
from plcore import LabelTable, Roles
from plcore.loop import Pool
from tests.present import present
from tests.workflow.two_questions import linked_projects, table_of, two_labels_frame
from tests.workflow.world import annotator
from workflow.answering import loop, undoing, walking
from workflow.answering import press as pressing
from workflow.answering.press import Pressed
from workflow.people import members
from workflow.projects import linking, managing
from workflow.seat import Seat
from workflow.server.home import Home

OPEN_IN_BOTH = 20
"""Rows of 30 that both projects ask about."""


@pytest.fixture
def pair(home: Home, owner: int) -> list[Seat]:
    return linked_projects(Seat(home, owner))


def answered(seat: Seat, lead: Seat, kind: str = "is") -> tuple[int, Pressed]:
    """Answer this person's next question there; returns its row, and what comes."""
    question = present(loop.next_question(seat))
    labels = [question.choices[0]] if kind in ("is", "not") else []
    return question.view.row, pressing.press(seat, question.token, kind, labels, lead=lead.project_id)


def row_on_screen(seat: Seat) -> int:
    return int(present(pressing.now(seat, None).question).view.row)


def whole_walk(seat: Seat, lead: Seat) -> list[tuple[int, int]]:
    """Answer until nothing is left; returns (project, row) of each answer."""
    given = []
    while True:
        now = pressing.now(seat, None, lead.project_id)
        if now.question is None:
            return given
        row, done = answered(seat, lead)
        given.append((seat.project_id or 0, row))
        seat = seat if done.go is None else seat.at(done.go)


def first_open_in_both(pair: list[Seat]) -> int:
    """Answer the species of rows until one that the second project asks about; returns that row."""
    for _ in range(30):
        row, done = answered(pair[0], pair[0])
        if done.go is not None:
            assert done.go == pair[1].project_id
            return row
    raise AssertionError


def test_second_project_asks_about_same_row(pair: list[Seat]) -> None:
    species, behaviour = pair
    row = first_open_in_both(pair)
    assert row_on_screen(behaviour) == row
    same, done = answered(behaviour, species)
    assert (same, done.go) == (row, species.project_id)
    assert row_on_screen(species) != row


def test_walk_answers_each_open_question_once(pair: list[Seat]) -> None:
    species, behaviour = pair
    given = whole_walk(species, species)
    assert len(given) == len(set(given)) == 30 + OPEN_IN_BOTH
    for (project, row), (other, next_row) in pairwise(given):
        if project == species.project_id and row % 3 != 2:
            assert (other, next_row) == (behaviour.project_id, row)
    assert pressing.now(behaviour, None, species.project_id).question is None


def test_card_names_question_and_latest_answer_elsewhere(pair: list[Seat]) -> None:
    species, behaviour = pair
    first = present(pressing.now(species, None).standing.walk)
    assert (first.place, first.of, first.name, first.last, first.undo) == (0, 2, "species", None, None)
    row = first_open_in_both(pair)
    second = present(pressing.now(behaviour, None, species.project_id).standing.walk)
    where, saved = present(second.last)
    assert (second.place, second.name, where, saved.row) == (1, "behaviour", "species", row)
    assert second.undo == (species.project_id, saved.seq)


def test_undo_names_latest_answer_of_all_projects(pair: list[Seat]) -> None:
    species, behaviour = pair
    row = first_open_in_both(pair)
    answered(behaviour, species)
    seen = present(pressing.now(species, None, species.project_id).standing.walk)
    project, seq = present(seen.undo)
    assert project == behaviour.project_id
    undoing.undo(behaviour, seq)
    assert row_on_screen(behaviour) == row
    back = present(pressing.now(behaviour, None, species.project_id).standing.walk)
    assert present(back.undo)[0] == species.project_id


def test_bad_item_is_not_asked_about_again(pair: list[Seat]) -> None:
    species, _ = pair
    for _ in range(5):
        _, done = answered(species, species, "bad")
        assert done.go is None


def test_skipped_row_is_asked_about_in_second_project(pair: list[Seat]) -> None:
    species, behaviour = pair
    for _ in range(30):
        row, done = answered(species, species, "skip")
        if done.go is not None:
            break
    assert row_on_screen(behaviour) == row


def test_row_that_stays_on_screen_is_not_left(home: Home, owner: int) -> None:
    species, _ = linked_projects(Seat(home, owner))
    wide = two_labels_frame()
    wide["species"] = "robin|thrush|wren"
    first = managing.create_project(Seat(home, owner), "wide", table_of(wide, "species"))
    seat = Seat(home, owner, first)
    linking.link(seat, [species.project_id or 0])
    row, done = answered(seat, seat, "not")
    assert (done.go, row_on_screen(seat)) == (None, row)


def test_row_on_someone_elses_screen_is_passed_over(pair: list[Seat]) -> None:
    species, behaviour = pair
    ada = Seat(species.home, annotator(species.home, species.person_id, "Ada"))
    row = next(one for one in range(30) if one % 3 != 2)
    loop.ask_next(ada.at(behaviour.project_id or 0), row)
    loop.ask_next(species, row)
    _, done = answered(species, species)
    assert done.go is None


def test_project_without_role_is_left_out(pair: list[Seat]) -> None:
    species, behaviour = pair
    ada = Seat(species.home, annotator(species.home, species.person_id, "Ada"), species.project_id)
    assert [one.name for one in walking.steps_of(ada)] == ["species", "behaviour"]
    members.give_role(behaviour, [ada.person_id], "viewer")
    assert walking.steps_of(ada) == ()
    assert pressing.now(ada, None).standing.walk is None
    _, done = answered(ada, ada)
    assert done.go is None


def test_archived_project_is_left_out(pair: list[Seat]) -> None:
    species, behaviour = pair
    managing.archive_project(behaviour)
    assert walking.steps_of(species) == ()
    assert linking.further_of(species) == ()


def test_other_lead_in_address_is_ignored(pair: list[Seat], project: int) -> None:
    species, behaviour = pair
    assert walking.steps_of(species, project) == ()
    assert walking.steps_of(species, 99) == ()
    assert walking.steps_of(behaviour) == (), "behaviour names no other project"


def test_rows_are_found_by_id_in_another_order(home: Home, owner: int) -> None:
    frame, seat = two_labels_frame(), Seat(home, owner)
    first = managing.create_project(seat, "species", table_of(frame, "species"))
    turned = frame[::-1].reset_index(drop=True)
    second = managing.create_project(seat, "behaviour", table_of(turned, "behaviour"))
    linking.link(seat.at(first), [second])
    row = first_open_in_both([seat.at(first), seat.at(second)])
    assert row_on_screen(seat.at(second)) == 29 - row


def test_label_vectors_of_row_are_asked_together(home: Home, owner: int) -> None:
    seat, frame = Seat(home, owner), two_labels_frame()
    frame["loud"], frame["near"] = "", ["1" if row == 3 else "" for row in range(30)]
    roles = Roles(label_columns=("loud", "near"), label_vectors=True, id="id", numbers=("size",))
    first = managing.create_project(seat, "species", table_of(frame, "species"))
    second = managing.create_project(seat, "tags", LabelTable.from_frame(frame, roles))
    linking.link(seat.at(first), [second])
    row = first_open_in_both([seat.at(first), seat.at(second)])
    question = present(loop.next_question(seat.at(second)))
    assert (question.view.row, question.label) == (row, None)
    done = pressing.press(seat.at(second), question.token, "labels", ["loud"], shown=question.shown, lead=first)
    assert done.go == first


def test_blind_check_is_passed_over_unless_due(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    species, behaviour = linked_projects(Seat(home, owner), checks=0.5)
    with behaviour.learner() as opened:
        checks = {*np.flatnonzero(opened.learner.pool.blind_rows).tolist()}
    assert len(checks) > 3
    monkeypatch.setattr(Pool, "control_is_due", lambda *_: False)
    for row in sorted(checks):
        loop.ask_next(species, row)
        same, done = answered(species, species)
        assert (same, done.go) == (row, None)


def test_due_blind_check_comes_with_question_before_it(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check whose row came without its first question would be told apart."""
    species, behaviour = linked_projects(Seat(home, owner), checks=0.5)
    with behaviour.learner() as opened:
        check = int(opened.learner.pool.control_left()[0])
    monkeypatch.setattr(Pool, "control_is_due", lambda self, *_: self.settings.control_share > 0)
    first = next(one for one in range(30) if one != check)
    loop.ask_next(species, first)
    _, done = answered(species, species)
    assert done.go is None, "the check's row is asked about in the first project"
    assert row_on_screen(species) == check
    row, done = answered(species, species)
    assert (row, done.go) == (check, behaviour.project_id)
    answered(behaviour, species)
    with home.database.read() as session:
        (entry,) = entries.after(session, behaviour.project_id or 0, 0)
    assert (entry.row, entry.strategy) == (check, "control")


def test_two_people_walk_without_answering_anything_twice(pair: list[Seat]) -> None:
    species, behaviour = pair
    ada = Seat(species.home, annotator(species.home, species.person_id, "Ada"), species.project_id)
    with ThreadPoolExecutor(2) as both:
        walks = [*both.map(lambda one: whole_walk(one, species), (species, ada))]
    given = [one for walk in walks for one in walk]
    assert len(given) == len(set(given))
    left = [managing.get_project(one).left for one in (species, behaviour)]
    assert len(given) == 30 + OPEN_IN_BOTH - sum(left)


def test_answer_is_kept_if_next_project_fails(pair: list[Seat], monkeypatch: pytest.MonkeyPatch) -> None:
    species, _ = pair

    def fails(*_: object) -> int:
        raise loop.NotSaved("The disk is full.")

    monkeypatch.setattr(walking, "walk_on", fails)
    row, done = answered(species, species)
    assert (done.saved.row, done.go) == (row, None)
    assert done.after is not None
