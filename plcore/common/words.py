"""Names and cells as they are shown in a message."""

from __future__ import annotations

from collections.abc import Sequence

_MAX_SHOWN = 40


def shortened(text: str) -> str:
    """A cell or a name, cut where it is too long for a message."""
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"


def quoted(text: str) -> str:
    """A cell or a name as it is shown in a message: in quotes, line breaks visible, never too long."""
    return repr(shortened(text))


def listed(names: Sequence[str], at_most: int = 8) -> str:
    """Names in quotes, joined by commas; the rest only counted."""
    shown = ", ".join(quoted(name) for name in names[:at_most])
    return shown + (f" and {len(names) - at_most} more" if len(names) > at_most else "")
