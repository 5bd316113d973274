"""Projects that ask about the same rows: linked by an owner, or made from one file by an import."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore import TableError
from tests.workflow.two_questions import linked_projects, table_of, two_labels_frame
from tests.workflow.world import annotator
from workflow import importing
from workflow.access import NotAllowed, NotFound
from workflow.answering import room
from workflow.answering.room import RoomError, RoomSettings
from workflow.backups import one_project
from workflow.people import members
from workflow.projects import linking, managing
from workflow.projects.linking import Linked
from workflow.projects.managing import ProjectNameError
from workflow.seat import Seat
from workflow.server.home import Home

CSV = two_labels_frame().to_csv(index=False).encode()


def read(seat: Seat, further: tuple[str, ...] = ("behaviour",), csv: bytes = CSV, **columns: str) -> importing.DryRun:
    return importing.dry_run(seat, csv, "birds.csv", {"candidates": "species", **columns}, further=further)


def bring_in(seat: Seat, csv: bytes = CSV, **columns: str) -> int:
    chosen = {"candidates": "species", **columns}
    return importing.bring_in(seat, csv, "b.csv", chosen, project="birds", settings={}, further=("behaviour",))[0]


def test_link_names_projects_in_order(home: Home, owner: int) -> None:
    species, behaviour = linked_projects(Seat(home, owner))
    third = managing.create_project(Seat(home, owner), "third", table_of(two_labels_frame(), "behaviour"))
    assert linking.further_of(species) == (Linked(behaviour.project_id or 0, "behaviour"),)
    assert [one.id for one in linking.linkable(species)] == [behaviour.project_id, third]
    linked = linking.link(species, [third, behaviour.project_id or 0])
    assert [one.name for one in linked] == ["third", "behaviour"]
    assert linking.link(species, []) == ()


def test_settings_of_question_page_keep_link(home: Home, owner: int) -> None:
    species, behaviour = linked_projects(Seat(home, owner))
    room.change_room(species, RoomSettings("Look twice.", further=(99,)))
    assert room.room_of(species) == RoomSettings("Look twice.", further=(behaviour.project_id or 0,))


def test_link_is_refused_without_shared_rows(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner)
    other = two_labels_frame()
    other["id"] = "s" + other["id"]
    first = managing.create_project(seat, "other", table_of(other, "species"))
    with pytest.raises(RoomError, match="small has none of the rows of this project"):
        linking.link(seat.at(first), [project])
    without = table_of(two_labels_frame(), "species", id=None)
    second = managing.create_project(seat, "without ids", without)
    with pytest.raises(RoomError, match="none of the rows"):
        linking.link(seat.at(second), [first])
    third = managing.create_project(seat, "without ids, too", table_of(two_labels_frame(), "behaviour", id=None))
    assert linking.link(seat.at(second), [third])


def test_link_refuses_itself_doubles_and_too_many(home: Home, owner: int) -> None:
    species, behaviour = linked_projects(Seat(home, owner))
    own, other = species.project_id or 0, behaviour.project_id or 0
    with pytest.raises(RoomError, match="cannot follow itself"):
        linking.link(species, [own])
    with pytest.raises(RoomError, match="at most 5 projects, each once"):
        linking.link(species, [other, other])
    with pytest.raises(RoomError, match="at most 5 projects"):
        linking.link(species, [2, 3, 4, 5, 6, 7])
    with pytest.raises(NotFound):
        linking.link(species, [99])


def test_link_needs_owner_of_both_projects(home: Home, owner: int) -> None:
    species, behaviour = linked_projects(Seat(home, owner))
    ada = Seat(home, annotator(home, owner, "Ada", "owner"), species.project_id)
    assert linking.link(ada, [behaviour.project_id or 0])
    members.give_role(behaviour, [ada.person_id], "annotator")
    with pytest.raises(NotAllowed):
        linking.link(ada, [behaviour.project_id or 0])


@pytest.mark.usefixtures("checked_here")
def test_downloaded_project_loses_link(home: Home, owner: int, tmp_path: Path) -> None:
    species, _ = linked_projects(Seat(home, owner))
    one_project.take_along(species, tmp_path / "species.zip")
    brought = one_project.bring_in(Seat(home, owner), tmp_path / "species.zip", "again")
    assert room.room_of(Seat(home, owner, brought.project_id)).further == ()


def test_import_makes_project_of_each_question(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    first = bring_in(seat)
    (other,) = linking.further_of(seat.at(first))
    assert other.name == "birds: behaviour"
    made = [managing.get_project(seat.at(one)) for one in (first, other.id)]
    assert [(one.n_rows, one.n_classes) for one in made] == [(30, 3), (30, 2)]


def test_dry_run_says_how_further_question_is_read(home: Home, owner: int) -> None:
    found = read(Seat(home, owner))
    assert "Learnt from: number 'size'." in found.reading
    (further,) = found.further
    assert "from column 'behaviour'" in further.reading
    assert f"Further question 'behaviour': {further.reading}" in found.notes
    assert not any("'behaviour'" in one.message for one in found.doubts), "it is not left out"
    assert managing.list_projects(Seat(home, owner)) == []


def test_empty_cells_of_further_question_keep_every_class(home: Home, owner: int) -> None:
    frame = two_labels_frame()
    frame.loc[0, "behaviour"] = ""
    (further,) = read(Seat(home, owner), csv=frame.to_csv(index=False).encode()).further
    assert further.table.n_rows == 30
    assert further.table.candidates[0].all()


def test_further_question_about_first_column_is_refused(home: Home, owner: int) -> None:
    with pytest.raises(TableError, match="Column 'species' holds the labels of the first question"):
        read(Seat(home, owner), ("species",))
    with pytest.raises(TableError, match="no such column"):
        read(Seat(home, owner), ("behavior",))


def test_rows_that_are_left_out_need_an_id_column(home: Home, owner: int) -> None:
    frame = two_labels_frame()
    frame.loc[0, "species"] = ""
    csv = frame.to_csv(index=False).encode()
    seat = Seat(home, owner)
    with pytest.raises(TableError, match="its rows cannot be recognized"):
        read(seat, csv=csv, unlabelled="leave-out", id="")
    assert managing.get_project(seat.at(bring_in(seat, csv, unlabelled="leave-out"))).n_rows == 29


def test_taken_name_of_further_question_stores_nothing(home: Home, owner: int) -> None:
    seat = Seat(home, owner)
    managing.create_project(seat, "birds: behaviour", table_of(two_labels_frame(), "species"))
    with pytest.raises(ProjectNameError, match="'birds: behaviour' exists already"):
        bring_in(seat)
    assert len(managing.list_projects(seat)) == 1
