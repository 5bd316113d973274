"""Evidence of progress: the distance to the owner's goal, an estimate of random order, and the answers saved so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from db import trained
from plcore.evaluation import Reach, fit_learning_curve
from plcore.loop.one_label import TRUTH, RandomOrderFound
from workflow.projects.figures import StopView

LATEST = 5
"""Number of latest answers whose mean is the current value on the test rows, which moves by a row or two with each
answer."""

ROUGH = 5
"""If the lower bound is this many times below the estimate, and there is no upper bound, no number is shown."""


@dataclass(frozen=True)
class Measured:
    """The held-out curve at the top of the page. Arrays of equal length.

    accuracy : NaN if unknown      rows : number of rows that each point is measured on
    fixed : whether these are the same rows from the first answer to the last, as test rows are
    """

    answers: np.ndarray
    accuracy: np.ndarray
    rows: np.ndarray
    fixed: bool


@dataclass(frozen=True)
class RandomLine:
    """An estimate of random order, over the project's answers, including those to blind checks.

    answers, value, low, high : the line and its interval      at : number of answers given when it was estimated
    saved : further answers that random order would have needed to get as far; infinite if it never would
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
        """Whether it was replayed on the hidden true labels of the table; else it is extrapolated from blind checks."""
        return self.found.how == TRUTH

    @property
    def surely_saved(self) -> bool:
        """Whether the interval excludes orders of questions that save nothing. Never True by blind checks: their line
        is too low, by five points where it was measured, and would show savings that do not exist."""
        return self.by_truth and self.saved.low > 0


@dataclass(frozen=True)
class Proof:
    """goal : the owner's goal, None if none is set      reached : whether the goal's rule is met

    more : further answers until then; None: no estimate yet
    fixed : whether that refers to the figure on the page, which uses the same rows to the end; else to all rows
    random : None if it is not estimated, or could not be; then `missing` says why, if known
    running : whether an estimate runs or waits; if no worker can take it now, `missing` says why
    """

    goal: float | None
    reached: bool
    more: Reach | None
    fixed: bool
    random: RandomLine | None
    missing: str
    running: bool


def read_proof(session: Session, project_id: int, stop: StopView, measured: Measured) -> Proof:
    """Read everything that the page shows about it. The curve is fitted now; a worker has estimated random order."""
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
    """Estimate the further answers until accuracy reaches the goal; None if the curve is too short to extrapolate."""
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
    """Whether an estimate this uncertain would mislead."""
    return not np.isfinite(more.high) and more.low < more.value / ROUGH


def random_line(found: RandomOrderFound, at: int) -> RandomLine:
    """Return the estimates over all answers. at : number of answers then, including those to blind checks"""
    each = at / found.given  # blind checks are spread evenly over the questions
    line = found.line
    value, low, high = (np.array(part, dtype=np.float64) for part in (line.value, line.low, line.high))
    saved = Reach(*(part * each - at for part in line.needed))
    return RandomLine(np.array(line.answers) * each, value, low, high, at, saved, found)
