"""What the Progress page shows: the curve on held-out truth, what is settled, what is left, the pace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from db import entries
from workflow import access

if TYPE_CHECKING:
    from plcore import CurvePoint
    from workflow.home import Home

PACE_WINDOW = 20
"""Answers over which the pace is the median, so that one coffee break does not count."""


@dataclass(frozen=True)
class Curve:
    """One point per number of answers, and the start. Arrays of one length; after an undo the curve goes on from
    where it was taken back to.

    answers : answers given · accuracy : share of held-out rows predicted right, NaN without any ·
    low, high : 95 % Wilson interval of it · settled : share of decisions no answer can change ·
    candidates_left : candidates beyond one per row · model_version : the log's seq the model stands at
    """

    answers: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray
    settled: np.ndarray
    candidates_left: np.ndarray
    model_version: np.ndarray


@dataclass(frozen=True)
class ProgressView:
    """Counts are rows; shares are in [0, 1]. recall: of the approximate neighbour search, None where it is exact."""

    curve: Curve
    answered: int
    left: int
    candidates_left: int
    settled: float
    done: bool
    accuracy: float | None
    interval: tuple[float, float] | None
    n_test: int
    has_truth: bool
    seconds_per_answer: float | None
    answers_per_label: dict[str, int]
    model_version: int
    recall: float | None

    @property
    def time_left(self) -> timedelta | None:
        """Rows left times the median pace; most rows never need asking, so it is mostly too much."""
        if self.seconds_per_answer is None:
            return None
        return timedelta(seconds=self.seconds_per_answer * self.left)


def progress(home: Home, person_id: int, project_id: int) -> ProgressView:
    """Everything the page draws, from the learner (caught up with the log) and the log itself.

    Raises
    ------
    NotAllowed, NotFound
    """
    with home.learners.open(home, person_id, project_id) as learner:
        now = learner.progress()
        points = _standing_points(learner.curve)
        labels = learner.answers_per_label()
        has_truth = learner.table.truth is not None
        done = learner.done
        graph = learner.graph
        version = learner.model_version
    with home.database.read() as session:
        seconds = entries.seconds_of_latest(session, project_id, PACE_WINDOW)
    accuracy = np.array([np.nan if p.accuracy is None else p.accuracy for p in points])
    low, high = wilson_interval(accuracy, now.n_test)
    curve = Curve(
        answers=np.array([p.answers for p in points]),
        accuracy=accuracy,
        low=low,
        high=high,
        settled=np.array([p.settled for p in points]),
        candidates_left=np.array([p.candidates_left for p in points]),
        model_version=np.array([p.model_version for p in points]),
    )
    return ProgressView(
        curve=curve,
        answered=now.answered,
        left=now.ambiguous_left,
        candidates_left=now.candidates_left,
        settled=now.settled,
        done=done,
        accuracy=now.accuracy,
        interval=None if now.accuracy is None else (float(low[-1]), float(high[-1])),
        n_test=now.n_test,
        has_truth=has_truth,
        seconds_per_answer=float(np.median(seconds)) if seconds else None,
        answers_per_label=labels,
        model_version=version,
        recall=graph.recall if graph.kind == "approximate" else None,
    )


def _standing_points(curve: list[CurvePoint]) -> list[CurvePoint]:
    """The curve without what was taken back: of several points for one number of answers the latest, and none
    beyond the number that stands."""
    points: list[CurvePoint] = []
    for point in curve:
        while points and points[-1].answers >= point.answers:
            points.pop()
        points.append(point)
    return points


def version(home: Home, person_id: int, project_id: int) -> int:
    """The log's latest seq: a cheap number for a page to watch."""
    with home.database.read() as session:
        access.require_person(session, person_id)
        access.require_project(session, project_id)
        return entries.last_seq(session, project_id)


def wilson_interval(share: np.ndarray, n: int, z: float = 1.959964) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of a share out of n (Wilson 1927); never leaves [0, 1], unlike the normal one."""
    if n == 0:
        return np.full_like(share, np.nan), np.full_like(share, np.nan)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return centre - half, centre + half
