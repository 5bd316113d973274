"""Work at projects: what is due is asked for once, what waits is found, and a project that takes none is left alone."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from db import trained
from db.projects import Project
from db.trained import RandomOrderEstimate
from tests.workflow.world import small_project
from workflow.models.waiting import ask_for_due, find_waiting
from workflow.server.home import Home


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    now = datetime.now(UTC)
    return trained.ask_random_order(session, project.id, asked_by=asked_by, asked_at=now, seq=0, answers=0)


def test_what_is_due_is_asked_for_once_and_found_until_it_is_over(home: Home, owner: int) -> None:
    first, second, third = (small_project(home, owner, name) for name in ("first", "second", "third"))

    def found() -> tuple[list[Project], list[RandomOrderEstimate]]:
        return find_waiting(
            home,
            lambda project: project.id != second,
            trained.latest_random_order,
            lambda _session, project, last: last is None and project.id == first,
        )

    with home.database.read() as session:
        in_use = {one.id for one in find_waiting(home, bool, trained.latest_random_order, lambda *_: True)[0]}
        assert {first, second, third} <= in_use
        assert trained.latest_random_order(session, first) is None
    assert [project.id for project in found()[0]] == [first]
    (made,) = ask_for_due(home, found(), ask, trained.get_random_order)
    assert (made.project_id, made.unfinished) == (first, True)
    assert found() == ([], [made])
    assert ask_for_due(home, found(), ask, trained.get_random_order) == [made], "it is not asked for again"
    with home.database.write() as session:
        trained.end_random_order(session, made.id, trained.DONE, datetime.now(UTC), report={})
    assert found() == ([], [])
