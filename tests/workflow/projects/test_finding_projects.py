"""The list of projects: the same statements for few and for many, searched and sorted, and only the first counted."""

from __future__ import annotations

import pytest

from tests.databases import on_postgres_in_proofs
from tests.statements import noted_statements
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow.kinds import glances
from workflow.projects import managing, progress
from workflow.projects.managing import ListOrder
from workflow.seat import Seat
from workflow.server.home import Home


def make(home: Home, owner: int, first: int, beyond: int) -> None:
    """Make projects of both kinds in turn, with an answer of the owner in each third of them; each fourth is
    archived."""
    for number in range(first, beyond):
        new, answer = (vector_project, answer_truly) if number % 2 else (small_project, answer_next)
        project = new(home, owner, f"p{number}")
        if number % 3 == 0:
            answer(home, owner, project)
        if number % 4 == 3:
            managing.archive_project(Seat(home, owner, project))


def look(seat: Seat) -> None:
    """Read what Home shows."""
    managing.project_names(seat)
    found = managing.find_projects(seat, most=50)
    progress.at_a_glance(seat, [one.id for one in found.first])
    managing.put_away(seat)


@on_postgres_in_proofs
@pytest.mark.parametrize("role", ["owner", "annotator", "reviewer"])
def test_list_of_many_projects_needs_statements_of_list_of_few(home: Home, owner: int, role: str) -> None:
    counted = []
    for first, beyond in ((0, 4), (4, 16)):
        make(home, owner, first, beyond)
        person = owner if role == "owner" else annotator(home, owner, f"{role} of {beyond}", role)
        look(Seat(home, person))  # counts logs that have grown
        with noted_statements() as noted:
            look(Seat(home, person))
        counted.append(noted)
    few, many = counted
    assert len(few) == len(many), (few, many)


def test_found_projects_equal_filtered_summaries(home: Home, owner: int) -> None:
    make(home, owner, 0, 8)
    ada = annotator(home, owner, "Ada")
    (answered,) = [one.id for one in managing.list_projects(Seat(home, owner)) if one.name == "p2"]
    answer_next(home, ada, answered)
    for person, by in ((owner, "Ada"), (ada, None)):
        seat = Seat(home, person)
        first, *_ = known = managing.list_projects(seat)
        assert (first.id, first.last_by) == (answered, by)
        assert {one.name: one.begun for one in known} == {
            "p0": person == owner, "p1": False, "p2": person == ada, "p4": False, "p5": False, "p6": person == owner,
        }  # fmt: skip
        assert [managing.get_project(seat.at(one.id)) for one in known] == known
        assert managing.find_projects(seat, most=2) == managing.FoundProjects(tuple(known[:2]), 6)
        by_name = managing.find_projects(seat, order=ListOrder.NAME, most=3)
        assert [one.name for one in by_name.first] == ["p0", "p1", "p2"]
        by_left = managing.find_projects(seat, order=ListOrder.LEFT, most=4)
        assert list(by_left.first) == sorted(known, key=lambda one: -one.left)[:4]


def test_search_ignores_case_in_every_script(home: Home, owner: int) -> None:
    for name in ("Ästuar Süd", "ästuar nord", "Wald"):
        small_project(home, owner, name)

    def names(words: str) -> list[str]:
        found = managing.find_projects(Seat(home, owner), words, ListOrder.NAME, most=2)
        assert found.total == len(found.first)
        return [one.name for one in found.first]

    assert names("ÄST") == ["ästuar nord", "Ästuar Süd"]
    assert names("süd Ä") == ["Ästuar Süd"]
    assert names("none") == []


def test_only_first_projects_are_counted(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    make(home, owner, 0, 6)
    counted = []
    real = glances.counts

    def noted(*arguments: object) -> object:
        counted.append(arguments)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(glances, "counts", noted)
    assert len(managing.find_projects(Seat(home, owner), most=2).first) == 2
    assert len(counted) == 2
