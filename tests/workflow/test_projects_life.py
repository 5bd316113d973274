"""A project renamed, archived, thrown away and brought back: its table and its log stay throughout."""

from __future__ import annotations

import pytest

from tests.workflow.world import annotator, answer_next, count_entries, small_project, small_table
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.projects import managing
from workflow.projects.managing import ProjectNameError
from workflow.seat import Seat
from workflow.server.home import Home


def names_in_use(home: Home, person: int) -> list[str]:
    return [one.name for one in managing.list_projects(Seat(home, person))]


def test_a_project_gets_another_name_and_description(home: Home, owner: int, project: int) -> None:
    managing.rename_project(Seat(home, owner, project), "  wrens  ", " Songs of wrens. ")
    found = managing.get_project(Seat(home, owner, project))
    assert (found.name, found.description) == ("wrens", "Songs of wrens.")
    managing.rename_project(Seat(home, owner, project), "wrens", "")  # its own name is no other project's


@pytest.mark.parametrize(
    ("name", "description", "said"),
    [
        ("", "", "needs a name"),
        (" " * 5, "", "needs a name"),
        ("x" * 81, "", "at most 80"),
        ("wren\x1b[2J", "", "terminal escape"),
        ("wren\ud83d", "", "half of a character"),
        ("two\nlines", "", "line break"),
        ("wren", "\u202eten", "writing direction"),
        ("other", "", "exists already"),
        ("fine", "x" * 2001, "at most 2,000"),
    ],
)
def test_names_that_cannot_be(
    home: Home, owner: int, project: int, name: str, description: str, said: str
) -> None:
    small_project(home, owner, "other")
    with pytest.raises(ProjectNameError, match=said):
        managing.rename_project(Seat(home, owner, project), name, description)
    with pytest.raises(ProjectNameError, match=said):
        managing.create_project(Seat(home, owner), name, small_table(), description=description)
    assert managing.get_project(Seat(home, owner, project)).name == "small"


@pytest.mark.parametrize("put_away", [managing.archive_project, managing.bin_project])
def test_put_away_and_brought_back_as_it_was(home: Home, owner: int, project: int, put_away) -> None:
    for _ in range(3):
        answer_next(home, owner, project)
    before = managing.get_project(Seat(home, owner, project))
    for _ in range(2):  # twice is harmless
        put_away(Seat(home, owner, project))
    assert names_in_use(home, owner) == []
    with pytest.raises(NotFound):
        managing.get_project(Seat(home, owner, project))
    with pytest.raises(NotFound):
        loop.next_question(Seat(home, owner, project))
    away = managing.put_away(Seat(home, owner))
    here, elsewhere = (
        (away.archived, away.binned) if put_away is managing.archive_project else (away.binned, away.archived)
    )
    assert [one.answered for one in here] == [3]
    assert not elsewhere
    for _ in range(2):
        managing.restore_project(Seat(home, owner, project))
    assert managing.get_project(Seat(home, owner, project)) == before
    assert count_entries(home) == 3
    answer_next(home, owner, project)
    assert managing.put_away(Seat(home, owner)) == managing.PutAway((), ())


def test_the_bin_comes_before_the_archive(home: Home, owner: int, project: int) -> None:
    managing.archive_project(Seat(home, owner, project))
    managing.bin_project(Seat(home, owner, project))
    away = managing.put_away(Seat(home, owner))
    assert ([one.id for one in away.archived], [one.id for one in away.binned]) == ([], [project])
    managing.restore_project(Seat(home, owner, project))
    assert names_in_use(home, owner) == ["small"]


def test_what_was_put_away_last_is_listed_first(home: Home, owner: int) -> None:
    made = [small_project(home, owner, name) for name in "abc"]
    for number in (made[1], made[2], made[0]):
        managing.bin_project(Seat(home, owner, number))
    assert [one.name for one in managing.put_away(Seat(home, owner)).binned] == ["a", "c", "b"]


def test_a_name_that_was_taken_meanwhile_is_said(home: Home, owner: int, project: int) -> None:
    managing.bin_project(Seat(home, owner, project))
    taker = small_project(home, owner, "small")
    with pytest.raises(ProjectNameError, match="exists already"):
        managing.restore_project(Seat(home, owner, project))
    managing.rename_project(Seat(home, owner, taker), "another", "")
    managing.restore_project(Seat(home, owner, project))
    assert set(names_in_use(home, owner)) == {"small", "another"}


def test_only_the_owner_may(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    for use in (managing.archive_project, managing.bin_project, managing.restore_project):
        with pytest.raises(NotAllowed):
            use(Seat(home, ada, project))
    with pytest.raises(NotAllowed):
        managing.rename_project(Seat(home, ada, project), "mine", "")
    assert managing.put_away(Seat(home, ada)) == managing.PutAway((), ())
    with pytest.raises(NotFound):
        managing.bin_project(Seat(home, owner, project + 7))
    assert names_in_use(home, ada) == ["small"]
