"""What a card says of rows with candidates, against the pool itself."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from plcore.evaluation import wilson_interval
from tests.workflow.world import answer_next, small_project
from workflow import kinds
from workflow.access import Right
from workflow.answering import loop
from workflow.kinds.one_label.exporting import describe
from workflow.seat import Seat
from workflow.server.home import Home


def described(seat: Seat) -> tuple[dict, object]:
    with seat.learner(Right.OWN) as opened:
        return asdict(describe(opened, kinds.stop_rules(opened.project))), opened.learner.pool


def test_a_project_that_nobody_has_answered(home: Home, owner: int) -> None:
    found, pool = described(Seat(home, owner, small_project(home, owner)))
    mean = pool.original.sum(axis=1).mean()
    assert found["before"] == f"{mean:.2f} candidates a row on average"
    assert found["after"] == f"{mean:.2f} on average, without rows set aside"
    assert found["set_aside"] == found["blind_checks"] == 0
    assert found["test_rows"] == int(pool.test_rows.sum())
    assert found["model"] == "plknn"
    (accuracy,) = found["measures"]
    assert accuracy["words"].startswith("Accuracy on test rows")
    assert accuracy["n"] == found["test_rows"]
    low, high = wilson_interval(accuracy["value"], accuracy["n"])
    assert (accuracy["low"], accuracy["high"]) == pytest.approx((float(low), float(high)))


def test_blind_checks_are_measured_by_agreement_too(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.4, test_share=0.0))
    for _ in range(20):
        answer_next(home, owner, seat.project_id or 0)
    question = loop.next_question(seat)
    assert question is not None
    loop.submit_answer(seat, question.token, "bad")
    found, pool = described(seat)
    assert found["set_aside"] == 1
    assert found["blind_checks"] == int(pool.control_rows.sum()) > 0
    left = pool.sizes[~pool.bad]
    assert found["after"] == f"{left.mean():.2f} on average, without rows set aside"
    estimated, agreed, outside = found["measures"]
    assert outside["words"].startswith("Rows whose truth is none of their candidates")
    assert (outside["value"], outside["low"], outside["n"]) == (0.0, 0.0, agreed["n"])
    assert estimated["words"] == "Accuracy over all rows, estimated by blind checks"
    asked = pool.control_rows & pool.answered & (pool.sizes == 1)
    assert agreed["n"] == int(asked.sum())
    assert agreed["words"].startswith("Agreement on blind checks")
    assert 0 <= agreed["low"] <= agreed["value"] <= agreed["high"] <= 1
    assert np.isclose(agreed["value"] * agreed["n"], round(agreed["value"] * agreed["n"]))


def test_without_test_rows_and_checks_nothing_is_measured(home: Home, owner: int) -> None:
    found, _ = described(Seat(home, owner, small_project(home, owner, test_share=0.0)))
    assert found["measures"] == ()
    assert found["test_rows"] == 0
