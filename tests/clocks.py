"""Wall clocks that a test has set: to put instead of `datetime` in the module that reads the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


def stopped(at: datetime) -> type[datetime]:
    """It is this moment, however often someone looks."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return at.astimezone(tz)

    return Stopped


def ahead(by: timedelta) -> type[datetime]:
    """It is so much later than it is."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz or UTC) + by

    return Ahead
