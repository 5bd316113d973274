"""A home of the test, with its owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.databases import Laying
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home, open_home

Opener = Callable[..., Home]


@pytest.fixture
def open_with(lay: Laying, tmp_path: Path) -> Iterator[Opener]:
    """Opens a home with these settings."""
    made: list[Home] = []

    def open_it(**settings: str) -> Home:
        made.append(open_home(lay(tmp_path / f"home{len(made)}", **settings)))
        return made[-1]

    yield open_it
    for one in made:
        one.close()


@pytest.fixture
def home(open_with: Opener) -> Home:
    return open_with()


@pytest.fixture
def chief(home: Home) -> Seat:
    return Seat(home, team.ensure_owner(home).id)


def add_person(chief: Seat, name: str) -> Seat:
    """An annotator with a link who is signed in nowhere."""
    team.make_link(chief, name)
    return Seat(chief.home, next(one.id for one in team.list_people(chief) if one.name == name))


def whats(chief: Seat) -> list[str]:
    """The kinds of all events, latest first."""
    from workflow.people import audited

    return [one.what for one in audited.audit_lines(chief, audited.EventFilter())]
