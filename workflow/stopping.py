"""The stop panel: the owner's rules, and what they say of the project as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from db import projects
from plcore import ControlCounts
from plcore.evaluation.estimates import Estimate, control_accuracy
from plcore.stopping import StopRules, Verdict, judge
from workflow import access

if TYPE_CHECKING:
    from db.projects import Project
    from plcore import ActiveLearner, CurvePoint, LabelTable
    from workflow.home import Home

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

KEY = "stop"
"""Under which the rules lie beside the other settings of a project's room."""


@dataclass(frozen=True)
class StopView:
    """The rules, and what each that is switched on has come to.

    by_truth : whether the accuracy of the flat rule is that on held-out truth; else it comes from control answers
    """

    rules: StopRules
    verdicts: tuple[Verdict, ...]
    by_truth: bool

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
    with home.learners.open(home, person_id, project_id) as learner:
        return stop_view_of(learner, rules)


def stop_view_of(learner: ActiveLearner[LabelTable], rules: StopRules) -> StopView:
    """As `stop_view`, of a learner that is open."""
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
        proof=has_proof(learner),
    )
    return StopView(rules, verdicts, by_truth)


def standing_points(curve: Sequence[CurvePoint], latest: int | None = None) -> list[CurvePoint]:
    """The curve without what was taken back: of several points for one number of answers the latest, and none
    beyond the number that stands.

    latest : only so many answers back, and the point before them; None: the whole curve
    """
    points: list[CurvePoint] = []
    for point in reversed(curve):
        if points and point.answers >= points[-1].answers:
            continue
        points.append(point)
        if latest is not None and point.answers <= points[0].answers - latest:
            break
    return points[::-1]


def has_proof(learner: ActiveLearner[LabelTable]) -> bool:
    """Whether "settled" is a proof about predictions; under all models but PL-KNN it counts decided rows."""
    return learner.settings.model == "plknn"


def control_estimate(learner: ActiveLearner[LabelTable], counts: Sequence[ControlCounts]) -> Estimate:
    """Accuracy by control answers at each of these points; unknown while there is no model to measure."""
    if learner.settings.is_trained and learner.version_published is None:
        counts = [ControlCounts()] * len(counts)
    return control_accuracy(counts, learner.pool.share_ambiguous)


def rules_of(project: Project) -> StopRules:
    """The project's rules; the defaults where none were set."""
    return StopRules.from_json(project.room.get(KEY, {}))


def change_stop_rules(home: Home, person_id: int, project_id: int, rules: StopRules) -> None:
    """Set the rules anew, for everybody. What else is kept of the room stays.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotFound
    """
    with home.database.write() as session:
        access.require_owner(session, person_id)
        project = access.require_project(session, project_id)
        projects.change_room(session, project_id, {**project.room, KEY: rules.to_json()})
