"""Pages of a project whose kind has no capability leave out or refuse what needs one."""

from __future__ import annotations

import pytest

from tests.pages.conftest import Open, words
from tests.third_kind import add_triage
from tests.workflow.world import answer_next, small_table
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

PAGES = ("annotate", "progress", "review_page", "disputes", "team_page", "models_page", "export", "project_page")


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, home: Home, owner: int) -> int:
    add_triage(monkeypatch)
    made = managing.create_project(Seat(home, owner), "triage", small_table())
    answer_next(home, owner, made)
    return made


@pytest.mark.parametrize("page", PAGES)
def test_page_of_project_without_capabilities_is_drawn(show: Open, owner: int, project: int, page: str) -> None:
    test = show(owner, f"{page}.py", project=str(project))
    assert [one.value for one in test.error] == []
    assert "triage" in words(test)


@pytest.mark.parametrize(("page", "name"), [("queue_page", "queue"), ("map_page", "map")])
def test_page_of_missing_capability_says_so(show: Open, owner: int, project: int, page: str, name: str) -> None:
    assert f"Projects of triage have no {name}" in words(show(owner, f"{page}.py", project=str(project)))
