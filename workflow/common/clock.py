"""A clock for lengths of time: it shows the moment, but nobody sets it while the process runs.

The wall clock may be set back or forward under a person who looks at a question. Moments of it that are stored can be
compared by another process, too, as far as its wall clock showed the same when it began.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_BEGAN = datetime.now(UTC), time.monotonic()


def steady() -> datetime:
    """The moment at which the process began by the wall clock, and the time since then by one that is never set."""
    moment, ticks = _BEGAN
    return moment + timedelta(seconds=time.monotonic() - ticks)
