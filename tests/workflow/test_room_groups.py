"""Groups of classes in a project: set by the owner, usable as answers by everyone, stored as names of classes."""

from __future__ import annotations

import json

import pytest

from tests.present import present
from tests.workflow.four import ask, four_class_project, left
from tests.workflow.importing.test_more_rows import later, upload
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, count_entries, log, small_project
from workflow import importing
from workflow.answering import loop, room, undoing
from workflow.answering.room import RoomError, RoomSettings
from workflow.importing import more_rows, reading
from workflow.projects import classes, standing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home

FUR = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}
FILE = b"class,group\ncat,furry\ndog,furry\nant,insect\nbee,insect\n"


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return four_class_project(home, owner)


@pytest.fixture
def seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def test_groups_are_set_from_file_and_removed(seat: Seat) -> None:
    assert room.groups_of(seat) == {}
    room.change_room(seat, RoomSettings("Look.", "fixed", {"ant": "small"}))
    found = room.groups_in_file(seat, FILE, "groups.csv")
    assert found == FUR
    assert room.groups_of(seat) == {}, "looking at a file stores nothing"
    room.set_groups(seat, found)
    assert room.groups_of(seat) == FUR
    assert room.room_of(seat) == RoomSettings("Look.", "fixed", {"ant": "small"}, FUR), "the rest of the room stays"
    room.set_groups(seat, {})
    assert room.groups_of(seat) == {}


def test_groups_that_cannot_be_stay_out(home: Home, owner: int, seat: Seat, project: int) -> None:
    room.set_groups(seat, FUR)
    assert room.groups_of(Seat(home, annotator(home, owner, "Ada"), project)) == FUR
    with pytest.raises(RoomError, match="each once"):
        room.set_groups(seat, {"twice": ("ant", "ant")})
    assert room.groups_of(seat) == FUR


def test_label_vectors_accept_no_groups(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    assert room.groups_of(seat) == {}
    for refused in (lambda: room.set_groups(seat, FUR), lambda: room.groups_in_file(seat, FILE, "a.csv")):
        with pytest.raises(RoomError, match="it has no groups"):
            refused()


def test_question_has_groups_that_split_its_candidates(home: Home, owner: int, seat: Seat, project: int) -> None:
    room.set_groups(seat, {**FUR, "all": ("ant", "bee", "cat", "dog")})
    assert ask(home, owner, project).groups == {"insect": ("ant", "bee"), "furry": ("cat",)}
    classes.change_classes(seat, 0, "rename", ["bee", "wasp"])
    question = present(loop.next_question(seat))
    assert question.groups == {"insect": ("ant", "wasp"), "furry": ("cat",)}


def test_candidates_of_group_are_one_entry(home: Home, owner: int, seat: Seat, project: int) -> None:
    room.set_groups(seat, FUR)
    question = ask(home, owner, project)
    here = question.groups["insect"]
    loop.submit_answer(seat, question.token, "among", here)
    (entry,) = log(home, project)
    assert (entry.kind, entry.labels, entry.after) == ("among", ("ant", "bee"), ("ant", "bee"))
    assert loop.submit_answer(seat, question.token, "among", here).repeated
    assert count_entries(home) == 1


def test_group_outside_candidates_is_stored_as_none_and_among(home: Home, owner: int, seat: Seat, project: int) -> None:
    classes.change_classes(seat, 0, "add", ["fox"])
    question = present(loop.next_question(seat))
    row, given = question.view.row, ["dog", "fox"]
    saved = loop.submit_answer(seat, question.token, "none", given, note="no legs seen", shown=question.shown)
    first, second = log(home, project)[1:]
    assert (first.kind, first.labels, first.after) == ("none", (), ("dog", "fox"))
    assert (second.kind, second.labels, second.after) == ("among", ("dog", "fox"), ("dog", "fox"))
    assert first.note == second.note == "no legs seen"
    assert (saved.kind, saved.labels) == ("among", ("dog", "fox"))
    assert loop.submit_answer(seat, question.token, "none", given).repeated
    assert count_entries(home) == 3
    assert left(home, owner, project, row) == ("dog", "fox")
    # One press, one undo, one redo; one line of the history.
    assert [one.kind for one in standing.standing(seat).history] == ["among"]
    undoing.undo(seat)
    assert left(home, owner, project, row) == question.choices
    assert [one.kind for one in log(home, project)[3:]] == ["withdraw", "withdraw"]
    undoing.redo(seat)
    assert left(home, owner, project, row) == ("dog", "fox")
    assert [one.kind for one in log(home, project)[5:]] == ["none", "among"]


def test_group_answer_means_its_candidates(home: Home, owner: int, seat: Seat, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(seat, question.token, "none", ["dog", "bee", "cat"], shown=question.shown)
    (entry,) = log(home, project)
    assert (entry.kind, entry.labels, entry.after) == ("among", ("bee", "cat"), ("bee", "cat"))
    other = present(loop.next_question(seat))
    loop.submit_answer(seat, other.token, "none", ["dog", "ant"], shown=other.shown)
    assert [(one.kind, one.labels) for one in log(home, project)][1:] == [("is", ("ant",))]


def test_group_shown_before_class_changes_keeps_its_meaning(home: Home, owner: int, seat: Seat, project: int) -> None:
    """Its meaning is unchanged: renamed classes by their new names, merged ones once."""
    version = 0
    classes.change_classes(seat, version, "add", ["fox"])
    version = classes.classes_view(seat).version
    question = present(loop.next_question(seat))
    classes.change_classes(seat, version, "rename", ["dog", "hound"])
    classes.change_classes(seat, classes.classes_view(seat).version, "merge", ["fox", "hound"])
    loop.submit_answer(seat, question.token, "none", ["dog", "fox"], shown=question.shown)
    said = [(one.kind, one.labels) for one in log(home, project) if one.kind in ("none", "is", "among")]
    assert said == [("none", ()), ("is", ("hound",))]


def test_group_answer_with_changed_candidates_is_refused(home: Home, owner: int, seat: Seat, project: int) -> None:
    question = ask(home, owner, project)
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(seat, question.token, "none", ["dog"], shown="other candidates")
    assert count_entries(home) == 0


def test_review_lists_classes_of_group_answer(home: Home, owner: int, seat: Seat, project: int) -> None:
    question = ask(home, owner, project)
    loop.submit_answer(seat, question.token, "among", ["ant", "bee"])
    (line,) = reviewing.open_row(seat, question.view.row).history
    assert (line.kind, line.labels, line.after) == ("among", ("ant", "bee"), ("ant", "bee"))


def studio(n: int = 12) -> bytes:
    """An export with a taxonomy: each task has one genus, or a species of each of two."""
    corvus, parus = ["Corvus", "rook"], ["Parus", "tit"]

    def task(number: int) -> dict[str, object]:
        paths = [["Corvus"]] if number % 2 else [corvus, parus, ["Corvus", "raven"]]
        result = [{"from_name": "bird", "to_name": "x", "type": "taxonomy", "value": {"taxonomy": paths}}]
        return {
            "id": number,
            "data": {"x": f"a long song, number {number}"},
            "annotations": [{"id": number, "result": result}],
        }

    return json.dumps([task(number) for number in range(n)]).encode()


def test_taxonomy_groups_are_imported_with_table(home: Home, owner: int) -> None:
    upload = importing.read_upload(studio(), "studio.json")
    assert upload.notes[-1] == "Groups of the taxonomy can be answers, too: 'Corvus', 'Parus'."
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    seat = Seat(home, owner)
    here = seat.at(importing.create(seat, "birds", checked.table, upload=upload))
    assert room.room_of(here).groups == {"Corvus": ("rook", "raven"), "Parus": ("tit",)}
    assert room.groups_of(here) == {"Corvus": ("rook", "raven")}
    assert loop.next_question(here) is not None
    assert room.groups_in_file(here, studio(), "studio.json") == room.room_of(here).groups, "or later"


def test_oversized_taxonomy_is_left_out_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_GROUPED", 2)
    upload = importing.read_upload(studio(), "studio.json")
    assert upload.groups == {}
    assert upload.notes[-1] == ("The groups of the taxonomy are left out: of their classes, at most 2 are allowed.")


def test_groups_accept_classes_of_added_rows_and_follow_renames(home: Home, owner: int) -> None:
    """A class from added rows can be in a group, and a group continues under the present names of its classes."""
    seat = Seat(home, owner, small_project(home, owner))
    room.set_groups(seat, {"flying": ("bee", "ant")})
    rows = later(n=2).assign(candidates=["ant|fly", "fly|bee"], truth="")
    more_rows.add_rows(seat, more_rows.read_rows(seat, upload(rows)))
    assert room.groups_of(seat) == {"flying": ("bee", "ant")}
    found = room.groups_in_file(seat, b"class,group\nbee,flying\nfly,flying\n", "groups.csv")
    room.set_groups(seat, found)
    classes.change_classes(seat, classes.classes_view(seat).version, "rename", ["fly", "housefly"])
    assert {name: set(of) for name, of in room.groups_of(seat).items()} == {"flying": {"bee", "housefly"}}
    rows = later(start=62, n=1).assign(candidates=["fly|cat"], truth="")
    more_rows.add_rows(seat, more_rows.read_rows(seat, upload(rows)))
    assert {name: set(of) for name, of in room.groups_of(seat).items()} == {"flying": {"bee", "housefly"}}
