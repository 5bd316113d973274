"""A project that was taken along is brought in on the Import page; what cannot be is said there, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, words
from tests.pages.file_boxes import boxes, give
from tests.workflow.backups.forging import new_home
from tests.workflow.world import annotator, answer_next, small_project, somebody
from workflow.backups.one_project import take_along
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

BOX = "The file of a project"


@pytest.fixture
def file(tmp_path: Path) -> bytes:
    """A project of another Winnow, in which Ada has answered."""
    with new_home(tmp_path / "there") as there:
        project = small_project(there.home, there.person_id, "birds *of* 2026")
        answer_next(there.home, annotator(there.home, there.person_id, "Ada"), project)
        take_along(there.at(project), tmp_path / "p.zip")
    return (tmp_path / "p.zip").read_bytes()


def said(test: AppTest) -> str:
    return words(test).replace("\\", "")


def press(test: AppTest) -> AppTest:
    next(one for one in test.button if one.label == "Bring it in").click().run()
    assert not test.exception
    return test


def names(home: Home, owner: int) -> list[str]:
    return [one.name for one in managing.list_projects(Seat(home, owner))]


def test_it_is_here_with_a_press_and_its_people_are_named(
    home: Home, owner: int, show: Open, file: bytes
) -> None:
    test = show(owner, "import_table.py")
    assert "People are known again by their names." in said(test)
    assert not [one for one in test.button if one.label == "Bring it in"], "there is no file yet"
    test = press(give(test, BOX, "birds.winnow.zip", file))
    assert names(home, owner) == ["birds *of* 2026"]
    (toast,) = test.toast
    assert toast.value.replace("\\", "") == "birds *of* 2026 is here. New here, on the People page: Ada"
    assert [one.disabled_at is None for one in team.list_people(Seat(home, owner))] == [True, False]
    assert not list((home.settings.home / "uploads").iterdir()), "the file is not kept"


def test_another_name_makes_room_for_a_second_one(home: Home, owner: int, show: Open, file: bytes) -> None:
    small_project(home, owner, "birds *of* 2026")
    test = press(give(show(owner, "import_table.py"), BOX, "birds.zip", file))
    assert "A project named 'birds *of* 2026' exists already" in said(test)
    next(one for one in test.text_input if one.label == "Its name here (optional)").set_value("birds 2")
    press(test)
    assert sorted(names(home, owner)) == ["birds *of* 2026", "birds 2"]


def test_a_damaged_one_is_said_with_its_place(home: Home, owner: int, show: Open, file: bytes) -> None:
    place = file.index(b'"entries"')
    other = file[:place] + b'"Entries"' + file[place + 9 :]
    test = press(give(show(owner, "import_table.py"), BOX, "birds.zip", other))
    assert "The backup birds.zip is damaged at project.json: expected" in said(test)
    assert names(home, owner) == []
    assert BOX in boxes(test), "for another one"


def test_what_is_no_project_is_said(home: Home, owner: int, show: Open) -> None:
    test = press(give(show(owner, "import_table.py"), BOX, "birds.csv", b"id,label\n1,wren\n"))
    assert "birds.csv is no backup of Winnow's" in said(test)


def test_who_owns_no_winnow_brings_nothing_in(home: Home, owner: int, show: Open) -> None:
    test = show(somebody(home, owner, "Ada"), "import_table.py")
    assert boxes(test) == {}
