"""The simulated person: true answers through the usual functions, marked as simulated, only if there is hidden
truth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plcore import LabelTable, LearnerSettings
from tests.workflow.world import ROLES, annotator, answer_next, count_entries, log, opened, small_frame, small_project
from workflow.answering import loop, oracle
from workflow.projects import managing, progress
from workflow.seat import Seat
from workflow.server.home import Home


def test_oracle_answers_with_truth_marked_as_simulated(home: Home, owner: int, project: int) -> None:
    assert oracle.answer_for_me(Seat(home, owner, project), 7) == 7
    truth = small_frame().truth
    stored = log(home, project)
    assert [(e.kind, e.labels, e.note, e.person_id) for e in stored] == [
        ("is", (truth[e.row],), "simulated", owner) for e in stored
    ]
    assert len({e.row for e in stored}) == 7
    assert managing.get_project(Seat(home, owner, project)).answered == 7


def test_simulated_questions_match_those_of_a_person(home: Home, owner: int, project: int) -> None:
    oracle.answer_for_me(Seat(home, owner, project), 5)
    by_hand = small_project(home, owner, "by hand")
    truth = small_frame().truth
    for _ in range(5):
        question = loop.next_question(Seat(home, owner, by_hand))
        loop.submit_answer(Seat(home, owner, by_hand), question.token, "is", [truth[question.view.row]])
    assert [e.row for e in log(home, by_hand)] == [e.row for e in log(home, project)]


def test_oracle_stops_if_nothing_is_left(home: Home, owner: int, project: int) -> None:
    left = managing.get_project(Seat(home, owner, project)).left
    assert oracle.answer_for_me(Seat(home, owner, project), 10_000) == left
    assert loop.next_question(Seat(home, owner, project)) is None
    assert oracle.answer_for_me(Seat(home, owner, project), 1) == 0


def test_oracle_answers_none_with_truth_outside_candidates(home: Home, owner: int, project: int) -> None:
    truth = small_frame().truth
    question = loop.next_question(Seat(home, owner, project))
    while len(question.choices) < 3:  # a row that stays open without its truth
        answer_next(home, owner, project)
        question = loop.next_question(Seat(home, owner, project))
    row = question.view.row
    loop.submit_answer(Seat(home, owner, project), question.token, "not", [truth[row]], shown=question.shown)
    assert loop.next_question(Seat(home, owner, project)).view.row == row
    before = count_entries(home)
    assert oracle.answer_for_me(Seat(home, owner, project), 1) == 1
    assert [(e.kind, e.row, e.note) for e in log(home, project)[before:]] == [
        ("none", row, "simulated"),
        ("is", row, "simulated"),
    ]
    with opened(home, owner, project) as learner:
        assert learner.state(row).candidates == (truth[row],)


def test_rows_without_known_truth_stay_open(home: Home, owner: int) -> None:
    frame = small_frame()
    frame.loc[frame.index % 2 == 0, "truth"] = ""
    table = LabelTable.from_frame(frame, ROLES)
    project = managing.create_project(Seat(home, owner), "half", table, LearnerSettings(n_neighbors=4))
    answered = oracle.answer_for_me(Seat(home, owner, project), 10_000)
    stored = log(home, project)
    assert answered == len(stored) > 0
    assert {(e.kind, e.note, e.row % 2) for e in stored} == {("is", "simulated", 1)}
    with opened(home, owner, project) as learner:
        open_rows = [row for row in range(60) if learner.pool.is_open(row)]
    assert open_rows
    assert all(row % 2 == 0 for row in open_rows)


@pytest.mark.parametrize("case", ["no truth", "given", "all held out"])
def test_oracle_needs_hidden_truth(home: Home, owner: int, case: str) -> None:
    roles = replace(ROLES, truth=None) if case == "no truth" else ROLES
    settings = LearnerSettings(
        n_neighbors=4,
        truth_role="given" if case == "given" else "hidden",
        test_share=0.0 if case == "given" else 0.99 if case == "all held out" else 1 / 3,
    )
    frame = small_frame()
    if case == "all held out":
        frame.loc[5:, "truth"] = ""
    project = managing.create_project(Seat(home, owner), case, LabelTable.from_frame(frame, roles), settings)
    with pytest.raises(oracle.NoTruth, match="hides no true labels"):
        oracle.answer_for_me(Seat(home, owner, project), 1)
    assert not oracle.can_answer(Seat(home, owner, project))
    assert count_entries(home) == 0


@pytest.mark.parametrize("n", [0, -1, 10_001])
def test_number_out_of_range_is_refused(home: Home, owner: int, project: int, n: int) -> None:
    with pytest.raises(ValueError, match=r"1\.\.10,000"):
        oracle.answer_for_me(Seat(home, owner, project), n)


def test_oracle_leaves_reserved_row_alone(home: Home, owner: int) -> None:
    frame = small_frame()
    frame.loc[frame.index % 2 == 0, "truth"] = ""  # so that the oracle must find rows itself
    table = LabelTable.from_frame(frame, ROLES)
    settings = LearnerSettings(n_neighbors=4, test_share=0.0)
    project = managing.create_project(Seat(home, owner), "two people", table, settings)
    ada = annotator(home, owner, "Ada")
    with opened(home, owner, project) as learner:
        hers = next(int(row) for row in learner.ranking()[0] if row % 2 == 1)
    loop.ask_next(Seat(home, ada, project), hers)
    assert oracle.answer_for_me(Seat(home, owner, project), 10_000) > 0
    assert hers not in {e.row for e in log(home, project)}
    assert loop.next_question(Seat(home, ada, project)).view.row == hers


def test_simulated_answers_do_not_count_for_pace(home: Home, owner: int, project: int) -> None:
    oracle.answer_for_me(Seat(home, owner, project), 3)
    assert progress.read_progress(Seat(home, owner, project)).seconds_per_answer is None
    answer_next(home, owner, project)
    assert progress.read_progress(Seat(home, owner, project)).seconds_per_answer is not None


def test_controls_with_known_truth_are_answered_among_unknown_rows(home: Home, owner: int) -> None:
    frame = small_frame()
    frame.loc[frame.index % 2 == 0, "truth"] = ""
    table = LabelTable.from_frame(frame, ROLES)
    settings = LearnerSettings(n_neighbors=4, test_share=0.0, control_share=0.4)
    project = managing.create_project(Seat(home, owner), "half", table, settings)
    with opened(home, owner, project) as learner:
        known = {row for row in learner.pool.control_left().tolist() if row % 2 == 1}
    assert known
    oracle.answer_for_me(Seat(home, owner, project), 10_000)
    answered = {e.row: e.strategy for e in log(home, project)}
    assert known <= answered.keys()
    assert {answered[row] for row in known} == {"control"}
