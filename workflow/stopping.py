"""The stop panel: the owner's rules, and what they say of the project now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from db import projects
from plcore.loop import StopRules
from workflow import kinds
from workflow.common.figures import StopView
from workflow.people import audit
from workflow.people.audit import EventKind

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["StopRules", "StopView", "change_stop_rules", "stop_view"]


def stop_view(seat: Seat) -> StopView:
    """What the rules say now. Looks at the end of the curve only: cheap enough to ask after every answer.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        return opened.kind.stop_view(opened.learner, kinds.stop_rules(opened.project))


def change_stop_rules(seat: Seat, rules: StopRules) -> None:
    """Set the rules anew, for everybody.

    Raises
    ------
    NotAllowed
        The person is not an owner.
    NotSaved, NotFound
    """
    with seat.owning() as owning:
        projects.change_stop_rules(owning.session, owning.project.id, rules.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="stop rules")
