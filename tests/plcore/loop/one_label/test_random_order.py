"""A project replayed in random order: by hidden truth, by blind checks, or not at all with a reason."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation.estimates import ControlCounts
from plcore.evaluation.random_order import FEWEST_ORDERS
from plcore.loop.entries import Entry
from plcore.loop.one_label import CurvePoint, random_order
from plcore.loop.one_label.learner import ActiveLearner, LearnerCurve
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.random_order import (
    CHECKS,
    FEWEST_CHECKS,
    ORDERS,
    TRUTH,
    CannotEstimateError,
    RandomOrderFound,
    RandomOrderRuns,
    make_run,
)
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.training import Trainer
from tests.plcore.loop.fake_table import FakeTable, blobs

SETTINGS = LearnerSettings(n_neighbors=5)


def project(
    settings: LearnerSettings, answers: int, n: int = 240, truth: str = "all", q: float = 0.8
) -> tuple[RandomOrderRuns, np.ndarray, FakeTable]:
    """A project whose questions were chosen by its strategy and answered with the truth."""
    table, y = blobs(n, truth=truth, q=q)
    runs = RandomOrderRuns(table, settings)
    learner = ActiveLearner(table, dataclasses.replace(settings, model="plknn", strategy="apl"))
    for _ in range(answers):
        question = learner.next_question("ann")
        entry = Entry(learner.seq + 1, "is", question.row, "ann", (learner.classes[y[question.row]],))
        learner.apply(entry)
        runs.apply(entry)
    return runs, y, table


def test_known_truth_is_replayed_and_measured_on_test_rows() -> None:
    runs, _, _ = project(SETTINGS, 40)
    told: list[tuple[int, int, str]] = []
    found = runs.measure(lambda *how_far: told.append(how_far))
    assert (found.how, found.model, found.orders) == (TRUTH, "plknn", ORDERS)
    assert (found.measured, found.given) == (int(runs.pool.test_rows.sum()), 40)
    assert found.line.answers[0] == 0.0
    assert 40.0 in found.line.answers
    assert all(
        0 <= low <= value <= high <= 1
        for value, low, high in zip(found.line.value, found.line.low, found.line.high, strict=True)
    )
    assert found.line.value[-1] > found.line.value[0]
    assert told[0][0] == 0
    assert all(done <= total for done, total, _ in told)
    assert RandomOrderFound.from_json(found.to_json()) == found


def test_replay_is_reproducible_and_leaves_the_project_unchanged() -> None:
    runs, _, _ = project(SETTINGS, 30)
    before = runs.pool.candidates.copy(), runs.pool.seq
    one = runs.measure()
    assert one == runs.measure() == project(SETTINGS, 30)[0].measure()
    assert np.array_equal(runs.pool.candidates, before[0])
    assert runs.pool.seq == before[1]


def test_start_and_current_accuracy_match_the_learner() -> None:
    runs, y, table = project(SETTINGS, 40)
    learner = ActiveLearner(table, SETTINGS)
    start = learner.curve[-1].accuracy
    for row in np.flatnonzero(runs.pool.answered).tolist():
        learner.apply(Entry(learner.seq + 1, "is", row, "ann", (learner.classes[y[row]],)))
    found = runs.measure()
    assert found.now == pytest.approx(learner.curve[-1].accuracy)
    assert found.line.value[0] == pytest.approx(start), "nothing is answered yet in any order"


def test_blind_checks_alternately_answer_and_measure() -> None:
    settings = dataclasses.replace(SETTINGS, control_share=0.3, test_share=0.0)
    runs, _, _ = project(settings, 150, n=400, truth="none")
    found = runs.measure()
    checks = int((runs.pool.control_rows & runs.pool.answered).sum())
    assert found.how == CHECKS
    assert checks >= FEWEST_CHECKS
    assert found.measured >= checks
    assert found.given == 150 - checks
    assert found.line.answers[-1] <= found.given
    assert found == runs.measure()


def test_no_run_learns_a_check_that_measures_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no run has more rows to learn from than the project."""
    settings = dataclasses.replace(SETTINGS, control_share=0.3, test_share=0.0)
    runs, _, _ = project(settings, 150, n=400, truth="none")
    made: list[OneLabelPool[Any]] = []
    real = make_run

    def watched(*args: Any, **more: Any) -> Any:
        run = real(*args, **more)
        made.append(run.pool)
        return run

    monkeypatch.setattr("plcore.loop.one_label.random_order.make_run", watched)
    runs.measure()
    checks = np.flatnonzero(runs.pool.control_rows & runs.pool.answered)
    _, *folds = made
    held = [set(checks[pool.control_rows[checks]].tolist()) for pool in folds]
    assert sorted(row for some in held for row in some) == checks.tolist(), "each is held out once"
    assert {len(pool.train) for pool in folds} == {len(runs.pool.train)}


@pytest.mark.parametrize("model", ["plknn", "clpl"])
def test_answer_enabled_by_a_withdrawn_entry_is_replayed(model: str) -> None:
    table, _ = blobs(240, q=0.5)
    runs = RandomOrderRuns(table, dataclasses.replace(SETTINGS, model=model))
    pool = runs.pool
    row, other = pool.train[pool.first[pool.train].sum(axis=1) == 2][:2].tolist()
    outside = pool.names(~pool.first[row])[0]
    for number, (kind, about, who, *labels) in enumerate(
        [("none", row, "ann"), ("is", row, "bob", outside), ("not", other, "ann", pool.names(pool.first[other])[0])],
        start=1,
    ):  # fmt: skip
        runs.apply(Entry(number, kind, about, who, tuple(labels)))
    runs.apply(Entry(4, "withdraw", row, "ann", target=1))
    run = runs._run()
    run.follow(runs._entries())
    assert np.array_equal(run.pool.candidates, pool.candidates), "it learns what the project does"
    run.begin()
    assert np.array_equal(run.pool.candidates, pool.first), "nothing is answered any more"
    assert runs.measure().given == 2


def test_missing_part_is_reported() -> None:
    with pytest.raises(CannotEstimateError, match="first answers"):
        project(SETTINGS, 0)[0].measure()
    no_truth = dataclasses.replace(SETTINGS, test_share=0.0)
    with pytest.raises(CannotEstimateError, match="no blind checks, and the table hides no true labels"):
        project(no_truth, 20, truth="none")[0].how()
    few = dataclasses.replace(no_truth, control_share=0.3)
    runs, _, _ = project(few, 20, n=400, truth="none")
    missing = FEWEST_CHECKS - int((runs.pool.control_rows & runs.pool.answered).sum())
    with pytest.raises(CannotEstimateError, match=f"{missing} more blind checks must be answered"):
        runs.how()
    with pytest.raises(CannotEstimateError, match="this project has 12 in all"):
        project(dataclasses.replace(few, control_share=0.05), 20, truth="none")[0].how()
    several = dataclasses.replace(SETTINGS, overlap=2, own_since=0)
    with pytest.raises(CannotEstimateError, match="several people answer each row"):
        project(several, 10)[0].how()


def test_given_truth_is_not_replayed() -> None:
    given = dataclasses.replace(SETTINGS, truth_role="given")
    runs, _, _ = project(given, 5, truth=0.5)
    with pytest.raises(CannotEstimateError, match="no blind checks"):
        runs.how()


@pytest.mark.parametrize(("over_after", "orders"), [(0, FEWEST_ORDERS), (4, 4), (99, ORDERS)])
def test_budget_ends_the_replay_after_a_minimum_of_orders(
    over_after: int, orders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, _, _ = project(SETTINGS, 40)
    looked = 0

    def is_over(_: Any) -> bool:
        nonlocal looked
        looked += 1  # once before each order
        return looked > over_after

    monkeypatch.setattr(random_order._Clock, "is_over", property(is_over))
    assert 3 <= FEWEST_ORDERS < ORDERS
    assert runs.measure(budget=1e9).orders == orders


def test_too_slow_model_is_not_replayed() -> None:
    runs, _, _ = project(SETTINGS, 40)
    with pytest.raises(CannotEstimateError, match="too long"):
        runs.measure(budget=1e-9)

    class Stop(Exception):  # noqa: N818
        pass

    def stop(*_: Any) -> None:
        raise Stop

    with pytest.raises(Stop):
        runs.measure(stop)


@pytest.mark.parametrize("model", ["plknn", "pegasos-max", "kernelridge", "clpl"])
def test_restarted_run_equals_a_new_run(model: str) -> None:
    settings = LearnerSettings(n_neighbors=5, model=model, strategy="random")
    table, y = blobs(120, q=0.6)

    def quiet(*_: Any) -> None:
        return None

    def run_through(run: Any, rows: range) -> np.ndarray:
        run.begin()
        for row in rows:
            if not run.pool.test_rows[row]:
                run.answer(row, int(y[row]))
        return np.asarray(run.said(quiet))

    run = make_run(table, settings)
    start = run.said(quiet).copy()
    there = run_through(run, range(40))
    other = run_through(run, range(40, 80))
    assert np.array_equal(run_through(make_run(table, settings), range(40, 80)), other)
    assert np.array_equal(run_through(run, range(40)), there)
    assert np.array_equal(run_through(run, range(0)), start)


def test_trained_run_matches_the_trainer() -> None:
    settings = LearnerSettings(model="clpl", strategy="random")
    table, y = blobs(120, q=0.6)
    run, pool = make_run(table, settings), OneLabelPool(table, settings)
    for seq, row in enumerate(pool.train[:20].tolist(), start=1):
        run.answer(row, int(y[row]))
        pool.apply(Entry(seq, "verdict", row, "ann", (pool.classes[y[row]],)))
    said = Trainer(pool).train().scores[pool.held].argmax(axis=1)
    assert np.array_equal(run.said(lambda *_: None), said)


# Points of a curve round-trip through columns, with None kept, in order of arrival.


SHARES = st.one_of(st.none(), st.floats(0, 1))
POINTS = st.lists(
    st.builds(
        CurvePoint,
        seq=st.integers(0, 2**40),
        answers=st.integers(0, 99),
        accuracy=SHARES,
        settled=st.floats(0, 1),
        candidates_left=st.integers(0, 2**40),
        model_version=st.integers(0, 99),
        control=st.builds(ControlCounts, *[st.integers(0, 9)] * 4),
        progressive_error=SHARES,
    ),
    min_size=1,
    max_size=8,
)


@given(POINTS, POINTS)
def test_curve_points_round_trip_through_columns(early, late):
    curve = LearnerCurve(early[0])
    for point in early[1:]:
        curve.append(point)
    again = LearnerCurve.from_arrays(curve.to_arrays())
    assert (again.start, again.version) == (early[0], early[-1].model_version)
    for point in late:
        again.append(point)
    assert again.version == late[-1].model_version
    unread = LearnerCurve.from_arrays(again.to_arrays())
    assert again.points() == [*early, *late] == unread.points() == again.points()
    assert LearnerCurve.from_arrays(again.to_arrays()).points() == [*early, *late]
    assert LearnerCurve.from_arrays(again.start_alone()).points() == early[:1]


def test_points_returns_a_new_list_each_time():
    curve = LearnerCurve(CurvePoint(0, 0, None, 0.0, 3, 0))
    curve.points().clear()
    assert len(curve.points()) == 1


def test_curve_of_versions_keeps_its_start():
    start, version = CurvePoint(0, 0, None, 0.0, 3, 0), CurvePoint(9, 9, 0.5, 0.5, 1, 9)
    curve = LearnerCurve(start, [version])
    assert curve.points() == [version]
    assert LearnerCurve.from_arrays(curve.start_alone()).points() == [start]
