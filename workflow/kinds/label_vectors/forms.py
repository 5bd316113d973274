"""How a question about label vectors is put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflow.common.asked import FormsNow


def forms_now(opened: Any) -> FormsNow | None:
    """See `workflow.room.forms_of`: what a question is about, a row or a label, says how it is put."""
    del opened
    return None
