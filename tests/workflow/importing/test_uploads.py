"""From a file to a project: what is guessed, what a person named instead, and nothing half stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore import LearnerSettings, Roles
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.kind_worlds import WORLDS, KindWorld
from workflow import importing
from workflow.importing.uploads import made_before
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

ROWS = "".join(f"r{row},{'wren|robin' if row % 2 else 'robin|owl'},{row % 3}.png\n" for row in range(12))
ZIP = make_zip(
    {"birds.csv": f"id,labels,photo\n{ROWS}".encode()} | {f"{k}.png": picture(k) for k in range(3)}
)


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_file_becomes_a_project_of_its_kind(world: KindWorld, home: Home, owner: int) -> None:
    table = world.table()
    upload = importing.read_upload(table.cells.to_csv(index=False).encode())
    assert upload.reading.files is None
    checked = importing.check(upload, table.roles)
    assert checked.problems == ()
    assert checked.table is not None
    assert importing.kind_of_table(checked.table) == world.kind
    seat = Seat(home, owner)
    project = importing.create(seat, " imported ", checked.table, world.settings(), "about it")
    made = managing.get_project(seat.at(project))
    assert (made.name, made.description, made.kind) == ("imported", "about it", world.kind)
    other = next(one for one in WORLDS if one.kind != world.kind)
    with pytest.raises(importing.CannotLearn):
        importing.create(seat, "other", checked.table, other.settings())
    assert len(managing.list_projects(seat)) == 1


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


def test_a_file_with_columns_named_is_the_table_they_make(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"task,worker,label\nt1,ann,wren\nt1,bob,robin\nt2,ann,owl\n")
    rows = tmp_path / "tasks.csv"
    rows.write_bytes(b"task,grams,length\nt1,9.5,3\nt2,210,4\n")
    upload, table = importing.read_as_named(path, {"numbers": ["length"]}, rows=rows)
    assert (upload.shape, upload.needs_rows, table.roles.numbers) == (
        "table with a vote in each row",
        False,
        ("length",),
    )
    assert table.candidates.tolist() == [[False, True, True], [True, False, False]]
    with pytest.raises(importing.TableError, match="there is no such column"):
        importing.read_as_named(path, {"text": "song"}, rows=rows)


@pytest.mark.parametrize(
    ("data", "needs"),
    [
        (b"task,worker,label\nt1,ann,wren\nt1,bob,robin\n", True),
        (b"id,labels\n1,a|b\n2,b\n", True),
        (b"id,labels,w\n1,a|b,3\n2,b,4\n", False),
    ],
)
def test_a_table_of_the_rows_is_wanted_where_nothing_describes_them(data: bytes, needs: bool) -> None:
    assert importing.read_upload(data).needs_rows is needs
    assert not importing.read_upload(data, as_it_is=True).needs_rows or b"worker" not in data


def test_the_same_file_again_is_doubted_whatever_its_columns_are_taken_for(home: Home, owner: int) -> None:
    data, seat = b"id,labels,w,v\n1,a|b,3,4\n2,b,4,5\n3,a,4,6\n", Seat(home, owner)
    upload = importing.read_upload(data, "birds.csv")
    assert made_before(seat, upload) == []
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    project = importing.create(seat, "birds", table, LearnerSettings(n_neighbors=2), upload=upload)
    (doubt,) = made_before(seat, importing.read_upload(data, "other.csv"))
    made = managing.get_project(seat.at(project)).created_at
    assert doubt.message == f"Project 'birds' was made from the same file on {made:%Y-%m-%d}."
    assert made_before(seat, importing.read_upload(data + b"4,a,4,7\n")) == []
    beside = importing.read_upload(b"id,labels\n1,a|b\n", rows=(data, None))
    assert made_before(seat, beside) == [], "with a table of its rows it is another one"
    managing.archive_project(seat.at(project))
    (doubt,) = made_before(seat, upload)
    assert "'birds', which is archived, was made" in doubt.message
    managing.bin_project(seat.at(project))
    assert made_before(seat, upload) == []


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_project_with_something_to_ask_is_not_doubted(world: KindWorld) -> None:
    assert importing.doubts_about(world.table(), world.settings()) == []


def test_a_name_that_is_taken_keeps_the_files_open_for_another_try(home: Home, owner: int) -> None:
    upload = importing.read_upload(ZIP)
    table = importing.check(upload, upload.suggest_roles()).table
    assert table is not None
    seat = Seat(home, owner)
    settings = LearnerSettings(n_neighbors=3)
    first = importing.create(seat, "one", WORLDS[0].table())
    with pytest.raises(managing.ProjectNameError):
        importing.create(seat, "one", table, settings)
    assert importing.create(seat, "two", table, settings) != first
