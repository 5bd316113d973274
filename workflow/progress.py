"""What the Progress page shows: how good the model is, what is settled, what is left, the pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflow import kinds
from workflow.common.figures import FEWEST_MEASURED, LabelCount, StopView

if TYPE_CHECKING:
    from workflow.seat import Seat

__all__ = ["FEWEST_MEASURED", "LabelCount", "StopView", "read_progress", "watched"]


def read_progress(seat: Seat) -> Any:
    """Everything the page draws, as the project's kind measures it (`progress` in its folder), from the learner, caught
    up with the log, and the log itself.

    Raises
    ------
    NotAllowed, NotFound
    """
    with seat.learner() as opened:
        return opened.kind.read_progress(opened, kinds.stop_rules(opened.project))


def watched(seat: Seat) -> tuple[Any, ...]:
    """Values that change whenever there is something new to draw; the log's latest seq comes first.

    Raises
    ------
    NotAllowed, NotFound
    """
    return seat.kind.watched(seat)
