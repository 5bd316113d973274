"""Long lists on a page."""

from __future__ import annotations

SHOWN = 200
"""Lines that a page shows at most; its search looks through all of them."""
