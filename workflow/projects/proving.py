"""Evidence of progress: how far the owner's goal is, what random order would have reached, what is saved so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from db import trained
from plcore.evaluation import Reach, fit_learning_curve
from plcore.loop.one_label import TRUTH, RandomOrderFound
from workflow.projects.figures import StopView

LATEST = 5
"""Answers over which what the test rows read now is the mean: it moves by a row or two with each."""

ROUGH = 5
"""Where the least is this many times less than what is likeliest, and there is no most, no number is likely."""


@dataclass(frozen=True)
class Measured:
    """The honest curve that leads the page. Arrays of one length.

    accuracy : NaN if it is unknown      rows : that each point is measured on
    fixed : whether these are the same rows from the first answer to the last, as test rows are
    """

    answers: np.ndarray
    accuracy: np.ndarray
    rows: np.ndarray
    fixed: bool


@dataclass(frozen=True)
class RandomLine:
    """Estimate of random order, over answers of the project: blind checks are counted as they were asked.

    answers, value, low, high : the line and its interval      at : answers that were given when it was estimated
    saved : answers that random order would have needed beyond these to come as far; infinite where it never would
    """

    answers: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at: int
    saved: Reach
    found: RandomOrderFound

    @property
    def by_truth(self) -> bool:
        """Whether it was replayed on the truth that the table hides; else it is carried on from blind checks."""
        return self.found.how == TRUTH

    @property
    def surely_saved(self) -> bool:
        """Whether the interval holds no order of questions that saves nothing. Never by blind checks: their line lies
        too low, by five points where it was measured, and would show savings that are none."""
        return self.by_truth and self.saved.low > 0


@dataclass(frozen=True)
class Proof:
    """goal : the owner's, None if none is set      reached : whether the rule of the goal says so

    more : answers until it has, from now on; None: nothing can be said yet
    fixed : whether that is about the figure on the page, which uses the same rows to the end; else about all rows
    random : None if it is not estimated, or could not be; then `missing` says what is missing, if anything is known
    running : whether an estimate is under way, or waits; if no worker takes it for now, `missing` says why
    """

    goal: float | None
    reached: bool
    more: Reach | None
    fixed: bool
    random: RandomLine | None
    missing: str
    running: bool


def read_proof(session: Session, project_id: int, stop: StopView, measured: Measured) -> Proof:
    """Everything that the page says of it. The curve is fitted now; random order was estimated by a worker."""
    last = trained.RANDOM_ORDERS.latest(session, project_id)
    done = trained.RANDOM_ORDERS.latest(session, project_id, trained.DONE)
    report = {} if done is None or done.report is None else done.report
    stored = report.get("found")
    found = RandomOrderFound.from_json(stored) if isinstance(stored, dict) else None
    missing, running = str(report.get("missing", "")), last is not None and last.unfinished
    if last is not None and last.state == trained.FAILED:
        missing = f"The latest estimate failed: {last.fault}"
    elif last is not None and running:
        lease = trained.training(session, project_id, trained.TASK)
        rests = lease is not None and lease.ended and lease.key == str(last.id)
        missing = (lease.fault or "") if lease is not None and rests else ""
    goal = stop.rules.goal
    return Proof(
        goal=goal,
        reached=any(one.rule == "goal" for one in stop.reached),
        more=None if goal is None else answers_to(goal, measured),
        fixed=measured.fixed,
        random=None if found is None or done is None else random_line(found, done.answers),
        missing=missing,
        running=running,
    )


def answers_to(goal: float, measured: Measured) -> Reach | None:
    """Answers from now on until accuracy is the goal; None if the curve is too short to be carried on."""
    curve = fit_learning_curve(measured.answers, measured.accuracy, measured.rows)
    if curve is None:
        return None
    now = float(measured.answers[-1])
    if measured.fixed:
        latest = measured.accuracy[measured.answers > now - LATEST]
        reach = curve.reads(goal, now, float(latest.mean()), float(measured.rows[-1]))
    else:
        reach = curve.reach(goal)
    return Reach(*(max(part - now, 0.0) for part in reach))


def is_rough(more: Reach) -> bool:
    """Whether a number of answers that is known no better than this would mislead."""
    return not np.isfinite(more.high) and more.low < more.value / ROUGH


def random_line(found: RandomOrderFound, at: int) -> RandomLine:
    """Estimates, over all answers. at : how many there were, those to blind checks too"""
    each = at / found.given  # blind checks are spread evenly over the questions
    line = found.line
    value, low, high = (np.array(part, dtype=np.float64) for part in (line.value, line.low, line.high))
    saved = Reach(*(part * each - at for part in line.needed))
    return RandomLine(np.array(line.answers) * each, value, low, high, at, saved, found)
