"""A lock that threads get in the order in which they asked for it."""

from __future__ import annotations

from collections import deque
from threading import Lock, get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class FairLock:
    """Like `threading.RLock`, which whoever runs may take before those that have waited: where thirty people answer in
    one project, some wait many times as long as the others. Here nobody is passed by.
    """

    def __init__(self) -> None:
        self._inside = Lock()
        self._waiting: deque[tuple[int, Lock]] = deque()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, once more where this thread has it; False where another has it, and `blocking` is False."""
        me = get_ident()
        with self._inside:
            if self._owner is None:
                self._owner = me
            if self._owner == me:
                self._depth += 1
                return True
            if not blocking:
                return False
            turn = Lock()
            turn.acquire()
            self._waiting.append((me, turn))
        try:
            turn.acquire()
        except BaseException:  # Ctrl-C while it waits
            self._give_up(me, turn)
            raise
        return True

    def release(self) -> None:
        """Give it back; after as many times as it was taken the thread has it that has waited longest.

        Raises RuntimeError where this thread has it not.
        """
        with self._inside:
            if self._owner != get_ident():
                raise RuntimeError("A lock is released by the thread that has it; this one has it not.")
            self._depth -= 1
            if self._depth == 0:
                self._hand_on()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _hand_on(self) -> None:
        if not self._waiting:
            self._owner = None
            return
        self._owner, turn = self._waiting.popleft()
        self._depth = 1
        turn.release()

    def _give_up(self, me: int, turn: Lock) -> None:
        """Wait no longer; where it was given to this thread just now, hand it on."""
        with self._inside:
            if (me, turn) in self._waiting:
                self._waiting.remove((me, turn))
            else:
                self._hand_on()
