"""From a file to a project: what is guessed, what a person named instead, and nothing half stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plcore import LearnerSettings, Roles
from tests.workflow import vector_world
from tests.workflow.kind_worlds import WORLDS, KindWorld
from tests.workflow.test_media import ZIP
from workflow import importing, projects
from workflow.home import Home
from workflow.seat import Seat


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_file_becomes_a_project_of_its_kind(world: KindWorld, home: Home, owner: int) -> None:
    table = world.table()
    upload = importing.read_upload(table.cells.to_csv(index=False).encode())
    assert upload.files is None
    checked = importing.check(upload, table.roles)
    assert checked.problems == ()
    assert checked.table is not None
    assert importing.kind_of_table(checked.table) == world.kind
    seat = Seat(home, owner)
    project = importing.create(seat, " imported ", checked.table, world.settings(), "about it")
    made = projects.get_project(seat.at(project))
    assert (made.name, made.description, made.kind) == ("imported", "about it", world.kind)
    other = next(one for one in WORLDS if one.kind != world.kind)
    with pytest.raises(importing.CannotLearn):
        importing.create(seat, "other", checked.table, other.settings())
    assert len(projects.list_projects(seat)) == 1


def test_every_problem_is_found_and_no_table_made() -> None:
    upload = importing.read_upload(b"c,x\na|b,1\n,2\na,oops\n")
    checked = importing.check(upload, Roles(candidates="c", numbers=("x",)))
    assert checked.table is None
    assert len(checked.problems) == 2
    assert {problem.column for problem in checked.problems} == {"c", "x"}
    with pytest.raises(importing.TableError):
        importing.read_upload(b"")


def test_looking_through_many_files_says_how_far_it_is() -> None:
    upload, steps = importing.read_upload(ZIP), []
    assert importing.check(upload, upload.suggest_roles(), steps.append).table is not None
    assert steps == sorted(steps)
    assert steps
    assert 0 <= steps[0] <= steps[-1] <= 1


GUESS = Roles(candidates="c", truth="t", id="i", text="w", numbers=("x", "y"))


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ({}, GUESS),
        ({"truth": None}, GUESS),
        ({"truth": "x"}, replace(GUESS, truth="x", numbers=("y",))),
        ({"text": "t"}, replace(GUESS, text="t", truth=None)),
        ({"candidates": "t"}, replace(GUESS, candidates="t", truth=None)),
        ({"separator": "x"}, replace(GUESS, separator="x")),
        ({"id": "c"}, replace(GUESS, id="c", candidates=None)),
    ],
)
def test_a_column_that_is_named_leaves_the_role_it_was_guessed_for(
    chosen: dict[str, str | None], wanted: Roles
) -> None:
    assert importing.adjusted(GUESS, chosen) == wanted


def test_candidates_that_are_named_are_no_label_vectors() -> None:
    found = importing.adjusted(vector_world.ROLES, {"candidates": "beach"})
    assert (found.candidates, found.label_columns, found.label_vectors) == ("beach", (), False)
    votes = Roles(annotators=("a", "b"), numbers=("x",))
    assert importing.adjusted(votes, {"candidates": "a"}).annotators == ()


def test_a_name_that_is_taken_keeps_the_files_open_for_another_try(home: Home, owner: int) -> None:
    upload = importing.read_upload(ZIP)
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    seat = Seat(home, owner)
    settings = LearnerSettings(n_neighbors=3)
    first = importing.create(seat, "one", WORLDS[0].table())
    with pytest.raises(projects.ProjectNameError):
        importing.create(seat, "one", table, settings)
    assert importing.create(seat, "two", table, settings) != first
