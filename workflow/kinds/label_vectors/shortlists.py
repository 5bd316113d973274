"""Shortlists: there are none here. A question is about labels that may all be right, not about one among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflow.common.opened import Opened
    from workflow.common.shortlists import ShortlistView


def shortlist_view(opened: Opened[Any]) -> ShortlistView | None:
    """See `workflow.kinds.Kind`."""
    del opened
    return None
