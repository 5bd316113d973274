"""What a page says of the goal and of random order, from points and from what a worker has stored."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from plcore.evaluation import RandomOrderLine, Reach
from plcore.loop import StopRules
from plcore.loop.one_label import TRUTH, RandomOrderFound
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.world import small_project
from workflow.kinds.one_label.progress import ProgressView
from workflow.projects import progress
from workflow.projects.proving import Measured, answers_to, random_line
from workflow.seat import Seat
from workflow.server.home import Home


def measured(accuracy: np.ndarray, *, fixed: bool = True, rows: float = 500.0) -> Measured:
    return Measured(np.arange(len(accuracy)), accuracy, np.full(len(accuracy), rows), fixed)


def rising(n: int = 150) -> np.ndarray:
    return np.asarray(0.9 - 0.4 / (1 + np.arange(n) / 60))


def view(home: Home, owner: int, project: int) -> ProgressView:
    found = progress.read_progress(Seat(home, owner, project))
    assert isinstance(found, ProgressView)
    return found


def found(needed: Reach, given: int) -> RandomOrderFound:
    line = RandomOrderLine((0.0, float(given)), (0.4, 0.6), (0.3, 0.5), (0.5, 0.7), needed)
    return RandomOrderFound(TRUTH, line, "plknn", 300, 5, given, 0.65)


@pytest.mark.parametrize("fixed", [True, False])
def test_answers_to_a_goal_are_counted_from_now(*, fixed: bool) -> None:
    now = measured(rising(), fixed=fixed)  # 0.785 after 149 answers; 0.82 at 240
    near, far = answers_to(0.82, now), answers_to(0.84, now)
    assert near is not None
    assert far is not None
    assert near.low <= 91 <= near.high
    assert 0 <= near.low <= near.value < far.value
    there = answers_to(0.7, now)
    assert there is not None
    assert there.value == 0.0
    assert answers_to(0.82, measured(rising(10), fixed=fixed)) is None


def test_a_figure_is_known_better_than_what_it_stands_for() -> None:
    """The same rows to the end: that they flatter does not delay the figure."""
    figure, truth = (answers_to(0.82, measured(rising(), fixed=fixed, rows=200.0)) for fixed in (True, False))
    assert figure is not None
    assert truth is not None
    assert figure.low > truth.low


def test_random_order_counts_blind_checks_as_they_were_asked() -> None:
    line = random_line(found(Reach(300.0, 220.0, np.inf), given=160), at=200)
    assert line.answers.tolist() == [0.0, 200.0]
    assert line.saved == Reach(175.0, 75.0, np.inf)
    assert line.surely_saved
    assert not random_line(found(Reach(300.0, 150.0, 400.0), given=160), at=200).surely_saved


def test_no_saving_is_sure_by_blind_checks() -> None:
    by_checks = dataclasses.replace(found(Reach(300.0, 220.0, np.inf), given=160), how="checks")
    line = random_line(by_checks, at=200)
    assert line.saved.low > 0
    assert not line.surely_saved


def test_without_a_goal_and_an_estimate_nothing_is_claimed(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 5)
    proof = view(home, owner, project).proof
    assert (proof.goal, proof.more, proof.reached, proof.random, proof.missing, proof.running) == (
        None, None, False, None, "", False,
    )  # fmt: skip


def test_the_goal_is_the_owner_s_and_the_figure_the_page_s(home: Home, owner: int) -> None:
    project = small_project(home, owner, test_share=0.5)
    answer_truly(home, owner, project, 5)
    accuracy = view(home, owner, project).accuracy
    assert accuracy is not None
    for goal, reached in ((round(accuracy - 0.01, 3), True), (round(min(accuracy + 0.005, 0.999), 3), False)):
        progress.change_stop_rules(Seat(home, owner, project), dataclasses.replace(StopRules(), goal=goal))
        proof = view(home, owner, project).proof
        assert (proof.goal, proof.reached, proof.fixed) == (goal, reached, True)
        assert proof.more is None, "five answers are too few to carry on"


def test_no_goal_is_reached_on_so_few_rows_that_its_rule_says_nothing(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 5)
    progress.change_stop_rules(Seat(home, owner, project), dataclasses.replace(StopRules(), goal=0.01))
    seen = view(home, owner, project)
    assert seen.accuracy is not None
    assert seen.accuracy >= 0.01
    assert seen.n_test < 30
    assert not seen.proof.reached


def test_by_blind_checks_the_goal_is_about_all_rows(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 40)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(goal=0.99))
    assert view(home, owner, project).proof.fixed is False
