"""The stop panel: the owner's rules, and what they say of the project as it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from db import projects
from plcore import ControlCounts
from plcore.evaluation.estimates import Estimate, control_accuracy
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.reports import LabelVectorPoint
from plcore.loop.stopping import LABELS, PREDICTIONS, ROWS, StopRules, Verdict, judge
from workflow import access
from workflow.kinds import VECTORS, kind_of
from workflow.saving import saving

if TYPE_CHECKING:
    from db.projects import Project
    from plcore import ActiveLearner, LabelTable
    from workflow.home import Home
    from workflow.learners import Learner

__all__ = [
    "StopRules",
    "StopView",
    "change_stop_rules",
    "control_estimate",
    "has_proof",
    "rules_of",
    "standing_points",
    "stop_view",
    "stop_view_of",
]

PointT = TypeVar("PointT")

KEY = "stop"
"""Under which the rules lie beside the other settings of a project's room."""


@dataclass(frozen=True)
class StopView:
    """The rules, and what each that is switched on has come to.

    by_truth : whether the accuracy of the flat rule is that on held-out truth; else it comes from control answers
    vectors : whether the rules are about label vectors: they count labels, and the flat one looks at F1
    """

    rules: StopRules
    verdicts: tuple[Verdict, ...]
    by_truth: bool
    vectors: bool = False

    @property
    def reached(self) -> tuple[Verdict, ...]:
        """The rules that say stop; one is enough."""
        return tuple(one for one in self.verdicts if one.reached)


def stop_view(home: Home, person_id: int, project_id: int) -> StopView:
    """What the rules say now. Looks at the end of the curve only: cheap enough to ask after every answer.

    Raises
    ------
    NotAllowed, NotFound
    """
    with home.database.read() as session:
        access.require_person(session, person_id)
        rules = rules_of(access.require_project(session, project_id))
    with home.learners.open_any(home, person_id, project_id) as learner:
        return stop_view_of(learner, rules)


def stop_view_of(learner: Learner, rules: StopRules) -> StopView:
    """As `stop_view`, of a learner that is open."""
    if isinstance(learner, LabelVectorLearner):
        return _of_vectors(learner, rules)
    points = standing_points(learner.curve, rules.flat_over)
    by_truth = bool(learner.test_rows.any())
    if by_truth:
        measured = int(learner.test_rows.sum())
        accuracy = np.array([np.nan if p.accuracy is None else p.accuracy for p in points])
    else:
        measured = points[-1].control.asked + points[-1].control.free
        accuracy = control_estimate(learner, [point.control for point in points]).value
    verdicts = judge(
        rules,
        np.array([p.answers for p in points]),
        accuracy,
        np.array([p.settled for p in points]),
        done=learner.done,
        measured=measured,
        given=learner.pool.answers,  # a trained version knows those before it alone
        terms=PREDICTIONS if has_proof(learner) else ROWS,
    )
    return StopView(rules, verdicts, by_truth)


def _of_vectors(learner: LabelVectorLearner[LabelTable], rules: StopRules) -> StopView:
    """Points are those of the model's versions, which come after some answers; the budget counts all labels answered.

    An empty cell counts one bit at import, then its entropy by the model, and nothing once it is known.
    """
    pool = learner.pool
    points = standing_points(learner.curve, rules.flat_over, _labels_answered)
    holes = max(int(((learner.original < 0) & ~learner.test_rows[:, None]).sum()), 1)
    by_truth = bool(learner.test_rows.any())
    if by_truth:
        measured = int(learner.test_rows.sum())
        shares = [None if p.held_out is None else p.held_out.micro_f1 for p in points]
    else:
        measured = points[-1].control.cells if points else 0
        shares = [p.control.f1 for p in points]
    verdicts = judge(
        rules,
        np.array([_labels_answered(p) for p in points] or [0]),
        np.array([np.nan if share is None else share.value for share in shares] or [np.nan]),
        np.array([1 - p.entropy / holes for p in points] or [1 - int(pool.open.sum()) / holes]),
        done=learner.done,
        measured=measured,
        given=pool.counts["yes"] + pool.counts["no"],
        terms=LABELS if by_truth else replace(LABELS, measured_on="blind labels"),
    )
    return StopView(rules, verdicts, by_truth, vectors=True)


def _labels_answered(point: LabelVectorPoint) -> int:
    return point.yes + point.no


def standing_points(
    curve: Sequence[PointT], latest: int | None = None, count: Callable[[PointT], int] = attrgetter("answers")
) -> list[PointT]:
    """The curve without what was taken back: of several points for one number of answers the latest, and none
    beyond the number that stands.

    latest : only so many answers back, and the point before them; None: the whole curve
    count : of a point, its number of answers
    """
    points: list[PointT] = []
    for point in reversed(curve):
        if points and count(point) >= count(points[-1]):
            continue
        points.append(point)
        if latest is not None and count(point) <= count(points[0]) - latest:
            break
    return points[::-1]


def has_proof(learner: ActiveLearner[LabelTable]) -> bool:
    """Whether "settled" is a proof about predictions; under models without one it counts decided rows."""
    return learner.settings.proves_done


def control_estimate(learner: ActiveLearner[LabelTable], counts: Sequence[ControlCounts]) -> Estimate:
    """Accuracy by control answers at each of these points; unknown while there is no model to measure."""
    if learner.settings.is_trained and learner.version_published is None:
        counts = [ControlCounts()] * len(counts)
    return control_accuracy(counts, learner.pool.share_ambiguous)


def rules_of(project: Project) -> StopRules:
    """The project's rules; the defaults where none were set. Of label vectors none but the end is one: whether their
    curve has come to rest cannot be told from a number of labels that suits tables of every size."""
    if KEY not in project.room and kind_of(project.settings) == VECTORS:
        return StopRules(flat_within=None)
    return StopRules.from_json(project.room.get(KEY, {}))


def change_stop_rules(home: Home, person_id: int, project_id: int, rules: StopRules) -> None:
    """Set the rules anew, for everybody. What else is kept of the room stays.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with saving(home) as session:
        access.require_owner(session, person_id)
        project = access.require_project(session, project_id)
        projects.change_room(session, project_id, {**project.room, KEY: rules.to_json()})
