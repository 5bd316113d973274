"""Following the logs across servers: what another process has written, the learners in memory here have taken in before
anybody asks.

PostgreSQL tells of it (`db.listening`). What is not told, or not taken in here, is taken in by who comes next, as ever:
nothing waits for news, and no answer is held up by them.
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from db.listening import Listener
from db.projects import NoSuchProjectError
from workflow.kinds.opening import take_in_news
from workflow.saving import FaultLog

if TYPE_CHECKING:
    from workflow.home import Home

logger = logging.getLogger("winnow")

PATIENCE = 1.0
"""Seconds for which it listens before it looks whether it is to end."""
TOGETHER = 0.1
"""Seconds for which news are gathered: where many answer, they are taken in together, or by who answers next."""
AGAIN = 5.0
"""Seconds after which it listens again where PostgreSQL was not there."""


class Follower:
    """Takes in, in a thread of its own, what other processes write to the logs of open projects. Nothing on SQLite."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._listener: Listener | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)

    def start(self) -> None:
        if not self._home.database.is_sqlite:
            self._thread.start()

    def stop(self) -> None:
        """Returns once nothing is taken in any more. Harmless where it was never started."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._leave()

    def look(self, seconds: float) -> dict[int, int]:
        """Take in what was told since the last look; {project: seq of its latest entry} of it. The first look takes in
        what was missed by all open projects, and listens from then on.

        seconds : it waits so long for the first news      Raises DatabaseUnavailableError, SQLAlchemyError
        """
        if self._listener is None:
            self._listener = Listener(self._home.settings.database_url)
            news = dict.fromkeys(self._home.shelf.opened(), -1)
        else:
            news = self._listener.wait(seconds)
        opened = self._home.shelf.opened() if news else {}
        for project, seq in news.items():
            slot = opened.get(project)
            learner = None if slot is None else slot.learner
            if slot is None or learner is None or 0 <= seq <= learner.seq:
                continue  # nobody needs it here, or it was written here
            try:
                take_in_news(self._home, project, slot)
            except NoSuchProjectError:
                continue  # it was deleted meanwhile
        return news

    def _follow(self) -> None:
        faults = FaultLog()
        while not self._stop.is_set():
            try:
                if self.look(PATIENCE):
                    self._stop.wait(TOGETHER)
                faults.well()
            except Exception as error:  # PostgreSQL may be away for a while
                self._leave()
                faults.say(error, "News of other servers could not be taken in; it is tried again.")
                self._stop.wait(AGAIN)

    def _leave(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
