"""A home in a temporary folder, its owner, and a small project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plcore.arrays import candidate_sets
from tests.clocks import Clock
from tests.databases import Laying, backend, lay, postgres_databases, postgres_server, postgres_url
from tests.hashing import cheap_passwords
from tests.workflow.backups.forging import checked_here
from tests.workflow.kind_worlds import WORLDS, KindWorld, WideWorld
from tests.workflow.world import annotator, small_project
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home, open_home

__all__ = ["backend", "cheap_passwords", "checked_here", "lay", "postgres_databases", "postgres_server", "postgres_url"]


@pytest.fixture
def home(lay: Laying, tmp_path: Path) -> Iterator[Home]:
    opened = open_home(lay(tmp_path / "home"))
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def owner(home: Home) -> int:
    return team.ensure_owner(home).id


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner)


@pytest.fixture(params=WORLDS, ids=lambda world: world.name)
def world(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> KindWorld:
    """Each kind of project in turn."""
    if isinstance(request.param, WideWorld):
        for name in ("FEW_CELLS", "FEW_CLASSES"):
            monkeypatch.setattr(candidate_sets, name, 1)
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def seat(world: KindWorld, home: Home, owner: int) -> Seat:
    """The owner at a new project of that kind."""
    return Seat(home, owner, world.make(Seat(home, owner)))


@pytest.fixture
def ada(seat: Seat) -> Seat:
    """An annotator at it."""
    return Seat(seat.home, annotator(seat.home, seat.person_id, "Ada"), seat.project_id)
