"""Work at projects that is due by itself or was requested, whatever it is: found, and asked for where it is due."""

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
    """(projects at which the work is due and not asked for yet, requests that are unfinished), of projects in use.

    takes : whether such work is done at a project at all      latest : the latest request at a project
    is_due : whether it is, after that request
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


def ask_for_due(
    home: Home,
    found: tuple[list[Project], list[RequestT]],
    ask: Callable[[Session, Project, None], int],
    get: Callable[[Session, int], RequestT | None],
) -> list[RequestT]:
    """The requests to be dealt with: those that are unfinished, and those that are made here where work is due."""
    due, unfinished = found
    for project in due:
        with home.database.write() as session:
            made = get(session, ask(session, project, None))
        unfinished += [made] if made is not None else []
    return unfinished


# Someone whom work needs and who is away, such as a cluster: when it is looked again whether they are there.

FIRST, LAST = 10.0, 300.0
"""Seconds until the next look: after the first that found no one, and at most; twice as many after each."""


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
        words = counted(round(wait), "second") if wait < 120 else counted(round(wait / 60), "minute")
        return f"It is tried again in {words}."

    @property
    def is_due(self) -> bool:
        """Whether it is to be looked, for the first time or again."""
        return self._clock() >= self._until
