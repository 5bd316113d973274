"""Clocks set by a test; two replace `datetime` in the module that reads the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


class Clock:
    """Seconds that stand still until they are set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


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
