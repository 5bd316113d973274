"""A line for jobs that cost much: so many run at once, the others follow in the order in which they were asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from joblib import cpu_count

AT_ONCE = min(2, cpu_count())
"""Files that are read or checked at the same time by one process: each may take a core, and 500 MB and more."""
LONGEST = 900.0
"""Seconds that anybody waits: more than two small files in front that take all the time they may."""
EVERY = 1.0
"""Seconds until who waits is told again, and can go."""

OnWait = Callable[[int], None]
"""Called with how many are before, those at work among them, 0 from one's turn on: at first and about every second. Who
does not want to go on raises in it."""


class LongLine(Exception):  # noqa: N818 - nothing is wrong but the moment
    """One's turn has not come; nothing was done."""


class Line:
    """Those of one process. at_once : jobs at a time      clock : seconds of any clock that goes on"""

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._clock = clock
        self._changed = threading.Condition()
        self._line: list[object] = []
        """Those at work and those who wait, in the order in which they came."""

    @contextmanager
    def turn(self, on_wait: OnWait | None = None) -> Iterator[None]:
        """One's turn, once it comes. However this is left, by what `on_wait` raises too, the place is given up.

        Raises LongLine where it has not come in LONGEST seconds.
        """
        own = object()
        with self._changed:
            self._line.append(own)
        try:
            self._wait(own, on_wait)
            yield
        finally:
            with self._changed:
                self._line.remove(own)
                self._changed.notify_all()

    def _wait(self, own: object, on_wait: OnWait | None) -> None:
        until = self._clock() + LONGEST
        while (before := self._before(own)) >= self._at_once:
            if on_wait is not None:
                on_wait(before)
            left = until - self._clock()
            if left <= 0:
                raise LongLine(_too_long(before))
            with self._changed:
                if self._line.index(own) == before:  # else there is news already
                    self._changed.wait(min(EVERY, left))
        if on_wait is not None:
            on_wait(0)

    def _before(self, own: object) -> int:
        with self._changed:
            return self._line.index(own)


def _too_long(before: int) -> str:
    files = "1 other file is" if before == 1 else f"{before} other files are"
    return f"Nothing was done: {files} still before this one after {LONGEST / 60:.0f} minutes. Fix: try again later."


IMPORTS = Line(AT_ONCE)
"""For what reads, checks and grows tables. What somebody looks at is none of it, and never waits here."""
