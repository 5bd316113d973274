"""Figures about a project."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import entries
from db import projects as stored
from plcore.evaluation import RandomOrderLine, Reach
from plcore.loop import ROWS, StopRules, judge
from plcore.loop.one_label import TRUTH, RandomOrderFound
from tests.present import present
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.kinds.one_label.test_progress import answer_truly
from tests.workflow.world import log_of, small_project
from workflow.access import Role
from workflow.answering import loop, turn
from workflow.kinds import KINDS
from workflow.kinds.one_label.progress import ProgressView
from workflow.projects import figures, progress
from workflow.projects.figures import (
    MOST_POINTS,
    RIGHT,
    SIMULATED,
    Glance,
    LabelCount,
    StopView,
    most_answered_first,
    number,
    pace,
    standing_points,
    thinned,
)
from workflow.projects.managing import ProjectSummary, summarised
from workflow.projects.proving import Measured, answers_to, random_line
from workflow.seat import Seat
from workflow.server.home import Home

# Figures of every Progress page: computed by hand, and the curve without withdrawn answers


@dataclass(frozen=True)
class Point:
    answers: int
    place: int


def curve(*answers: int) -> list[Point]:
    return [Point(number, place) for place, number in enumerate(answers)]


def test_latest_point_of_equal_answers_counts() -> None:
    assert standing_points(curve(0, 1, 2, 3, 2, 3)) == [Point(0, 0), Point(1, 1), Point(2, 4), Point(3, 5)]
    assert standing_points(curve(0, 1, 2, 1)) == [Point(0, 0), Point(1, 3)]
    assert standing_points([]) == []


def test_only_n_answers_back_and_point_before_them() -> None:
    assert [one.answers for one in standing_points(curve(0, 3, 6, 9, 12), latest=5)] == [6, 9, 12]
    assert [one.answers for one in standing_points(curve(0, 3), latest=100)] == [0, 3]
    assert standing_points(curve(5, 7), 1, lambda point: point.place) == curve(5, 7)


@given(answers=st.lists(st.integers(0, 12), max_size=30), latest=st.one_of(st.none(), st.integers(1, 15)))
def test_standing_curve_is_definition(answers: list[int], latest: int | None) -> None:
    points = curve(*answers)
    kept = [one for one in points if all(later.answers > one.answers for later in points[one.place + 1 :])]
    if latest is not None and kept:
        before = [one for one in kept if one.answers <= kept[-1].answers - latest]
        kept = [*before[-1:], *(one for one in kept if one.answers > kept[-1].answers - latest)]
    assert standing_points(points, latest) == kept


def test_answers_come_before_given_labels() -> None:
    a, b, c = LabelCount("a", 1, 9), LabelCount("b", 4, 0), LabelCount("c", 1, 10)
    assert most_answered_first([a, b, c]) == (b, c, a)


def test_one_reached_rule_is_enough() -> None:
    rules = StopRules(settled=0.9, flat_within=None, budget=2)
    verdicts = judge(
        rules, np.array([0, 1]), np.array([0.5, 0.6]), np.array([0.1, 0.2]), done=False, measured=9, given=2, terms=ROWS
    )
    view = StopView(rules, verdicts, by_truth=True)
    assert len(view.verdicts) == 2
    assert [one.reached for one in view.verdicts].count(True) == len(view.reached) == 1
    assert view.reached[0].words


class Seconds:
    """Replacement for `time` in the clock of turns, advanced by the seconds it is given."""

    passed = 0.0

    def monotonic(self) -> float:
        return self.passed


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_pace_is_median_of_peoples_latest_answers(
    world: KindWorld, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Seconds()
    monkeypatch.setattr(turn, "time", time)
    monkeypatch.setattr(figures, "PACE_WINDOW", 4)
    seat = Seat(home, owner, world.make(Seat(home, owner)))

    def answer_after(seconds: float, **more: str) -> float | None:
        question = loop.next_question(seat)
        time.passed += seconds
        if more.get("note") == "skip":
            world.say(seat, "skip", question)
        else:
            world.answer(seat, question, **more)
        with seat.reading() as reading:
            return pace(reading.session, reading.project.id)

    assert answer_after(7, note="skip") is None
    assert answer_after(7, note=SIMULATED) is None, "neither a skip nor the oracle is someone's answer"
    assert answer_after(2) == 2
    assert answer_after(4) == 3
    assert answer_after(100) == 4, "one coffee break does not count"
    assert answer_after(6) == 5
    assert answer_after(9, note=SIMULATED) == 5
    assert answer_after(8) == 7, "of the latest four"


# A project's line in the list: few points of its curve, and numbers that JSON can hold


HERE = Glance(7, 5, RIGHT, 12, (0.5, 0.75), (None, 0.4), (None, 0.9), 0.9, False, 120.0, "data:")
NOTHING = np.zeros(0)


def test_curve_keeps_its_first_and_last_point_and_few_between() -> None:
    values = np.linspace(0.2, 0.9, 1_000)
    kept = thinned(values, values - 0.1, values + 0.05).curve
    assert len(kept) == MOST_POINTS
    assert (kept[0], kept[-1]) == (0.2, 0.9)
    assert list(kept) == sorted(kept)


def test_each_point_keeps_its_own_interval() -> None:
    values = np.linspace(0.2, 0.9, 1_000)
    kept = thinned(values, values - 0.1, values + 0.05)
    for value, low, high in zip(*kept, strict=True):
        assert low == pytest.approx(value - 0.1, abs=1e-4)
        assert high == pytest.approx(value + 0.05, abs=1e-4)


def test_points_that_are_not_known_are_left_out() -> None:
    values = np.array([np.nan, 0.5, np.nan, 0.75])
    low, high = np.array([0.1, 0.4, np.nan, np.nan]), np.array([0.9, 0.6, np.nan, np.nan])
    assert thinned(values, low, high) == ((0.5, 0.75), (0.4, None), (0.6, None)), "none is made up"
    assert thinned(values[:1], low[:1], high[:1]) == ((), (), ())
    assert thinned(NOTHING, NOTHING, NOTHING) == ((), (), ())


@pytest.mark.parametrize(("value", "stored"), [(None, None), (np.nan, None), (np.inf, None), (0.123456, 0.1235)])
def test_numbers_are_such_as_json_has(value: float | None, stored: float | None) -> None:
    assert number(value) == stored
    json.dumps(number(value), allow_nan=False)


def test_it_round_trips_written() -> None:
    assert Glance.from_json(json.loads(json.dumps(vars(HERE)))) == HERE


def test_interval_is_that_of_last_value() -> None:
    assert HERE.interval == (0.4, 0.9)
    assert dataclasses.replace(HERE, curve=(), lows=(), highs=()).interval is None
    assert dataclasses.replace(HERE, lows=(0.2, None)).interval is None


def test_figures_of_earlier_version_apply_interval_to_last_point() -> None:
    stored = {name: value for name, value in vars(HERE).items() if name not in ("lows", "highs", "pace")}
    assert Glance.from_json({**stored, "low": 0.4, "high": 0.9}) == HERE
    nothing = Glance.from_json({**stored, "curve": [], "low": None, "high": None})
    assert (nothing.lows, nothing.highs) == ((), ())


def test_damaged_stored_figures_are_refused(subtests: pytest.Subtests) -> None:
    for wrong in [
        {"curve": None},
        {"curve": ["x"]},
        {"more_of_it": 1},
        {"lows": [0.1]},
        {"highs": None},
        {"lows": ["x", 0.1]},
    ]:
        with subtests.test(str(wrong)), pytest.raises((TypeError, ValueError)):
            Glance.from_json({**dataclasses.asdict(HERE), **wrong})


# A project as a line of the list on Home, made only from its log


def summary_of(home: Home, project: int) -> ProjectSummary:
    with home.database.read() as session:
        found = stored.get(session, project)
        ends = entries.log_ends(session, [project])
        (one,) = summarised(home, session, [(found, Role.OWNER)], found.created_by, ends)
        return one


def test_new_project_has_no_last_answer(world: KindWorld, seat: Seat) -> None:
    view = summary_of(seat.home, seat.project_id)
    assert (view.id, view.kind) == (seat.project_id, world.kind)
    assert (view.answered, view.last_answer) == (0, None)
    assert view.n_to_ask > 0
    # Of label vectors asked row by row the 12 of 40 rows that are full were never open.
    assert view.left == (28 if world.name == "label_vectors-rows" else view.n_to_ask)


def test_answer_is_counted_and_dated_as_log_has_it(world: KindWorld, seat: Seat) -> None:
    before = summary_of(seat.home, seat.project_id)
    question = present(loop.next_question(seat))
    given = world.true(question)
    loop.submit_answer(seat, question.token, given.kind, given.labels)
    (*_, last) = log_of(seat)
    view = summary_of(seat.home, seat.project_id)
    assert view.last_answer == last.at
    assert view.answered > before.answered
    assert view.left < before.left


def test_project_list_builds_no_learner(
    world: KindWorld, home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = world.make(Seat(home, owner))

    def built(*_: object, **__: object) -> None:
        raise AssertionError("a list of projects built a learner")

    for kind in KINDS.values():
        monkeypatch.setattr(kind, "build_learner", built)
    assert summary_of(home, project).n_rows == world.table().n_rows


# Page texts about the goal and random order, from points and a worker's result


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
def test_answers_to_goal_are_counted_from_now(*, fixed: bool) -> None:
    now = measured(rising(), fixed=fixed)  # 0.785 after 149 answers; 0.82 at 240
    near, far = answers_to(0.82, now), answers_to(0.84, now)
    assert near is not None
    assert far is not None
    assert near.low <= 91 <= near.high
    assert 0 <= near.low <= near.value < far.value
    there = present(answers_to(0.7, now))
    assert there.value == 0.0
    assert answers_to(0.82, measured(rising(10), fixed=fixed)) is None


def test_figure_has_interval() -> None:
    """On a fixed set of rows: its optimism does not delay the figure."""
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


def test_without_goal_and_estimate_nothing_is_claimed(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 5)
    proof = view(home, owner, project).proof
    assert (proof.goal, proof.more, proof.reached, proof.random, proof.missing, proof.running) == (
        None, None, False, None, "", False,
    )  # fmt: skip


def test_goal_is_owner_s_and_figure_page_s(home: Home, owner: int) -> None:
    project = small_project(home, owner, test_share=0.5)
    answer_truly(home, owner, project, 5)
    accuracy = present(view(home, owner, project).accuracy)
    for goal, reached in ((round(accuracy - 0.01, 3), True), (round(min(accuracy + 0.005, 0.999), 3), False)):
        progress.change_stop_rules(Seat(home, owner, project), dataclasses.replace(StopRules(), goal=goal))
        proof = view(home, owner, project).proof
        assert (proof.goal, proof.reached, proof.fixed) == (goal, reached, True)
        assert proof.more is None, "five answers are too few to carry on"


def test_goal_is_not_reached_on_too_few_rows(home: Home, owner: int) -> None:
    project = small_project(home, owner)
    answer_truly(home, owner, project, 5)
    progress.change_stop_rules(Seat(home, owner, project), dataclasses.replace(StopRules(), goal=0.01))
    seen = view(home, owner, project)
    assert seen.accuracy is not None
    assert seen.accuracy >= 0.01
    assert seen.n_test < 30
    assert not seen.proof.reached


def test_by_blind_checks_goal_is_about_all_rows(home: Home, owner: int) -> None:
    project = small_project(home, owner, control_share=0.5, test_share=0.0)
    answer_truly(home, owner, project, 40)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(goal=0.99))
    assert view(home, owner, project).proof.fixed is False
