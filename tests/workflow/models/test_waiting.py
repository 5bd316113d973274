"""Work at projects: what is due is asked for once, what waits is found, and a project that takes none is left alone."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from db import random_orders
from db.projects import Project
from db.random_orders import RandomOrderEstimate
from tests.workflow.world import small_project
from workflow.home import Home
from workflow.models.waiting import ask_for_due, find_waiting


def ask(session: Session, project: Project, asked_by: int | None) -> int:
    now = datetime.now(UTC)
    return random_orders.ask(session, project.id, asked_by=asked_by, asked_at=now, seq=0, answers=0)


def test_what_is_due_is_asked_for_once_and_found_until_it_is_over(home: Home, owner: int) -> None:
    first, second, third = (small_project(home, owner, name) for name in ("first", "second", "third"))

    def found() -> tuple[list[Project], list[RandomOrderEstimate]]:
        return find_waiting(
            home,
            lambda project: project.id != second,
            random_orders.latest,
            lambda _session, project, last: last is None and project.id == first,
        )

    with home.database.read() as session:
        in_use = {one.id for one in find_waiting(home, bool, random_orders.latest, lambda *_: True)[0]}
        assert {first, second, third} <= in_use
        assert random_orders.latest(session, first) is None
    assert [project.id for project in found()[0]] == [first]
    (made,) = ask_for_due(home, found(), ask, random_orders.get)
    assert (made.project_id, made.unfinished) == (first, True)
    assert found() == ([], [made])
    assert ask_for_due(home, found(), ask, random_orders.get) == [made], "it is not asked for again"
    with home.database.write() as session:
        random_orders.end(session, made.id, random_orders.DONE, datetime.now(UTC), report={})
    assert found() == ([], [])
