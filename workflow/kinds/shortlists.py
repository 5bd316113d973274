"""Texts about shortlists for pages: the choices shown first, so few that they hold the truth as often as was
promised."""

from __future__ import annotations

from dataclasses import dataclass

from plcore.evaluation import OutsideRate, checks_needed, exact_interval
from workflow.answering.room_settings import miss_of

CERTAIN = 100
"""Blind checks below which a promise is uncertain: what one project gets differs by points from it."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class ShortlistView:
    """How shortlists are in a project.

    promise : share of the shortlists that are to hold the truth; None if nothing is left out
    leaves_out : whether the model in force can have any (`plcore.loop.ModelEntry.leaves_out`)
    weighs_own : whether the weights of a row's own candidates are in the way (`plcore.loop.one_label.weighs_own`)
    in_full : share of the questions shown with all choices, next to the blind checks; 1 if these are many
    drawn : blind checks that are asked about, answered or not      outside : of those with known truth
    in_force : whether questions have shortlists now
    held, measured : checks whose shortlist, as it stood when they were asked, holds the truth; all that had one
    asked : answers to questions of which a shortlist alone was shown first      none : of these that said "none of
        these"      others : that named one of the choices behind the key
    """

    promise: float | None
    leaves_out: bool
    weighs_own: bool
    in_full: float
    drawn: int
    outside: OutsideRate
    in_force: bool
    held: int
    measured: int
    asked: int
    none: int
    others: int

    @property
    def checks(self) -> int:
        """Blind checks that thresholds come from."""
        return self.outside.checks

    @property
    def held_interval(self) -> Interval:
        low, high = exact_interval(self.held, self.measured)
        return float(low), float(high)

    @property
    def none_interval(self) -> Interval:
        low, high = exact_interval(self.none, self.asked)
        return float(low), float(high)

    def missing(self, promise: float) -> int:
        """Checks still to be answered before anything can be left out under this promise."""
        return max(0, checks_needed(miss_of(promise)) - self.checks)
