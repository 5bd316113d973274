"""Work on projects that is due automatically or was requested, of any kind: found, and requested when due."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from db import projects
from db.trained import Request
from plcore.arrays import counted

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.server.home import Home

RequestT = TypeVar("RequestT", bound=Request)


def find_waiting(
    home: Home,
    takes: Callable[[Project], object],
    latest: Callable[[Session, int], RequestT | None],
    is_due: Callable[[Session, Project, RequestT | None], bool],
) -> tuple[list[Project], list[RequestT]]:
    """Return (projects whose work is due and not yet requested, unfinished requests), of projects in use.

    takes : whether a project has such work at all      latest : returns the latest request of a project
    is_due : whether the work is due, after that request
    """
    due, unfinished = [], []
    with home.database.read() as session:
        for project in projects.listed(session):
            if not takes(project):
                continue
            last = latest(session, project.id)
            if last is not None and last.unfinished:
                unfinished.append(last)
            elif is_due(session, project, last):
                due.append(project)
    return due, unfinished


def request_due_work(
    home: Home,
    found: tuple[list[Project], list[RequestT]],
    ask: Callable[[Session, Project, None], int],
    get: Callable[[Session, int], RequestT | None],
) -> list[RequestT]:
    """Return the requests to work on: the unfinished ones, and new ones for work that is due."""
    due, unfinished = found
    for project in due:
        with home.database.write() as session:
            made = get(session, ask(session, project, None))
        unfinished += [made] if made is not None else []
    return unfinished


# A resource that may be unavailable, such as a cluster: when to check for it again.

FIRST, LAST = 10.0, 300.0
"""Seconds until the next check: after the first failure, and at most; doubled after each failure."""


class Away:
    """A resource that may be unavailable. clock : seconds, ascending"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.there()

    def there(self) -> None:
        """Note that it was available: after the next failure, the check is soon again."""
        self._wait, self._until = FIRST, 0.0

    def missed(self) -> str:
        """Note that it was unavailable; returns when it is tried again, as a sentence."""
        wait = self._wait
        self._until, self._wait = self._clock() + wait, min(2 * wait, LAST)
        words = counted(round(wait), "second") if wait < 120 else counted(round(wait / 60), "minute")
        return f"It is tried again in {words}."

    @property
    def is_due(self) -> bool:
        """Whether a check is due, the first or another."""
        return self._clock() >= self._until
