"""Somebody whom work needs and who is away, such as a cluster: when it is looked again whether they are there."""

from __future__ import annotations

import time
from collections.abc import Callable

FIRST, LAST = 10.0, 300.0
"""Seconds until the next look: after the first that found nobody, and at most; twice as many after each."""


class Away:
    """One that may be away. clock : seconds, ascending"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.there()

    def there(self) -> None:
        """They were there: the next time that they are not, it is looked again soon."""
        self._wait, self._until = FIRST, 0.0

    def missed(self) -> str:
        """They were not there; when it is tried again, as a sentence."""
        wait = self._wait
        self._until, self._wait = self._clock() + wait, min(2 * wait, LAST)
        return f"It is tried again in {f'{wait:g} seconds' if wait < 120 else f'{wait / 60:.0f} minutes'}."

    @property
    def is_due(self) -> bool:
        """Whether it is to be looked, for the first time or again."""
        return self._clock() >= self._until
