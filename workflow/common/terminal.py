"""Text of people's own as a terminal may show it."""

from __future__ import annotations

from plcore.common import escaped

__all__ = ["escaped"]
