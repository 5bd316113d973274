"""Figures about shortlists, for pages. A shortlist is the choices shown first: as few as hold the truth at the promised
rate."""

from __future__ import annotations

from dataclasses import dataclass

from plcore.evaluation import OutsideRate, checks_needed, exact_interval
from workflow.answering.room_settings import miss_of

CERTAIN = 100
"""Blind checks below which a promise is uncertain: a single project's rate may miss it by percentage points."""

Interval = tuple[float, float]


@dataclass(frozen=True)
class ShortlistView:
    """How well shortlists do in a project.

    promise : promised share of the shortlists that hold the truth; None if shortlists are off
    leaves_out : whether the model in force can have any (`plcore.loop.ModelEntry.leaves_out`)
    weighs_own : whether the weights of a row's own candidates prevent shortlists (`plcore.loop.one_label.weighs_own`)
    in_full : share of the questions shown with all choices, in addition to the blind checks; 1 if there are many checks
    drawn : blind checks drawn, answered or not      outside : of those with known truth
    in_force : whether questions have shortlists now
    held, measured : checks whose shortlist, as it was when they were asked, holds the truth; all checks that had one
    asked : answers to questions that showed only a shortlist at first      none : of these, those that were "none of
        these"      others : those that named a choice not on the shortlist
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
        """Number of blind checks that the thresholds come from."""
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
        """How many checks must still be answered before a shortlist can leave anything out under this promise."""
        return max(0, checks_needed(miss_of(promise)) - self.checks)
