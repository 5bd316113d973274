"""A home in a temporary folder, its owner, and a small project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import postgres_server, postgres_url
from tests.workflow.world import small_project
from workflow import team
from workflow.home import Home, open_home
from workflow.settings import Settings

__all__ = ["postgres_server", "postgres_url"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    opened = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")}))
    yield opened
    opened.close()


@pytest.fixture
def owner(home: Home) -> int:
    return team.ensure_owner(home).id


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner)
