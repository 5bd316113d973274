"""Wall clocks set by a test: replacements for `datetime` in the module that reads the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


def stopped(at: datetime) -> type[datetime]:
    """A clock that always shows this moment."""

    class Stopped(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return at.astimezone(tz)

    return Stopped


def ahead(by: timedelta) -> type[datetime]:
    """A clock that is ahead by this much."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz or UTC) + by

    return Ahead
