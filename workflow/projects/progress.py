"""Progress page data: accuracy, settled and open rows, and pace; and what Home shows of each project."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from db import entries, projects
from plcore.loop import StopRules as StopRules
from workflow import kinds
from workflow.access import visible_projects
from workflow.kinds import glances
from workflow.models import random_order
from workflow.people import audit
from workflow.people.audit import EventKind
from workflow.projects.figures import FEWEST_MEASURED as FEWEST_MEASURED
from workflow.projects.figures import Glance, pace
from workflow.projects.figures import LabelCount as LabelCount
from workflow.projects.figures import StopView as StopView
from workflow.seat import Seat


class CannotReplay(ValueError):  # noqa: N818 - what a page says, not a fault
    """Projects of this kind are not replayed in random order."""


def at_a_glance(seat: Seat, project_ids: Collection[int] | None = None) -> dict[int, Glance]:
    """Return {id: glance} of the projects in use that the person may see, if anything is known about them. Waits for no
    learner, and builds none.

    project_ids : only these; None for all

    Raises NotAllowed if the person is unknown or disabled.
    """
    with seat.reading() as reading:
        session = reading.session
        seen = [one for one, _ in visible_projects(session, reading, project_ids) if one.in_use]
        ends = entries.log_ends(session, project_ids)

    def read_pace(project_id: int) -> float | None:
        with seat.reading() as reading:
            return pace(reading.session, project_id)

    found = {one.id: glances.glance_of(seat.home, one, read_pace) for one in seen}
    # A glance beyond the end of the log comes from a database that has been replaced.
    return {key: one for key, one in found.items() if one is not None and one.seq <= ends[key].height}


def read_progress(seat: Seat) -> Any:
    """Return everything the page draws, as the project's kind measures it (`progress` in its folder), from the learner,
    caught up with the log, and the log itself."""
    with seat.learner() as opened:
        return opened.kind.read_progress(opened, kinds.stop_rules(opened.project))


def watched(seat: Seat) -> tuple[object, ...]:
    """Return values that change whenever there is something new to draw; the log's latest seq first."""
    with seat.reading() as reading:
        waits = kinds.finding(seat.home, reading.project) is not None  # until then its learner has no neighbours
    values: tuple[object, ...] = seat.kind.watched(seat)
    return (*values, "waits") if waits else values


def estimate_random_order(seat: Seat) -> None:
    """Have a worker estimate what random order would have reached; does nothing if an estimate was already requested or
    is running.

    Raises
    CannotReplay : Projects of this kind are not replayed.
    NotAllowed : The person is not an owner.
    """
    with seat.owning() as owning:
        if not kinds.replays_random_order(owning.project):
            raise CannotReplay("Random order is not estimated in projects of this kind.")
        random_order.ask(owning.session, owning.project, seat.person_id)


# The stop panel: the owner's rules, and their current verdicts.


def stop_view(seat: Seat) -> StopView:
    """Return the current state of the rules. Reads only the end of the curve: cheap enough to call after every
    answer."""
    with seat.learner() as opened:
        return opened.kind.stop_view(opened.learner, kinds.stop_rules(opened.project))


def change_stop_rules(seat: Seat, rules: StopRules) -> None:
    """Set new rules, for everyone.

    Raises NotAllowed if the person is not an owner.
    """
    with seat.owning() as owning:
        projects.change(owning.session, owning.project.id, stop_rules=rules.to_json())
        audit.note_at(owning, EventKind.SETTINGS_CHANGED, settings="stop rules")
