"""A full disk on each page: it is reported in words, and everything typed is still there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, by_label, pressing, words
from tests.pages.test_pages import upload
from tests.workflow.world import annotator, full_disk, small_frame, small_project
from workflow import saving
from workflow.answering import loop, room
from workflow.exporting import files
from workflow.people import team
from workflow.projects import classes, managing, progress
from workflow.seat import Seat
from workflow.server.home import Home

SAID = "database could not be written"


def press(test: AppTest, label: str) -> AppTest:
    with full_disk():
        by_label(test.button, label).click().run()
    assert not test.exception
    return test


def change(test: AppTest, field: Any, value: object) -> None:
    """Change a field that is saved at once, while the disk is full."""
    with full_disk():
        field.set_value(value).run()
    assert not test.exception


def test_settings_keep_typed_text_in_every_part(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    change(test, by_label(test.text_input, "Name"), "wrens")
    assert SAID in words(test)
    assert by_label(test.text_input, "Name").value == "wrens"
    assert managing.get_project(Seat(home, owner, project)).name == "small"
    by_label(test.button, "Try again").click().run()
    assert managing.get_project(Seat(home, owner, project)).name == "wrens"
    # The parts below are drawn all the same.
    change(test, by_label(test.text_area, "Guidelines"), "Look at the wing.")
    assert SAID in words(test)
    assert by_label(test.text_area, "Guidelines").value == "Look at the wing."
    by_label(test.button, "Try again").click().run()
    assert SAID not in words(test)
    assert room.room_of(Seat(home, owner, project)).guidelines == "Look at the wing."


@pytest.mark.parametrize("label", ["Archive", "Delete project"])
def test_project_that_cannot_be_archived_stays_open(home: Home, owner: int, show: Open, label: str) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    if label != "Archive":
        by_label(test.button, "Delete").click().run()
        by_label(test.text_input, "Type the project's name").set_value("small").run()
    press(test, label)
    assert SAID in words(test)
    assert not test.toast
    assert [one.id for one in managing.list_projects(Seat(home, owner))] == [project]


def test_unsaved_model_choice_stays_on_page(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    change(test, by_label(test.selectbox, "Model"), "plsvc")
    assert SAID in words(test)
    assert by_label(test.selectbox, "Model").value == "plsvc"
    assert managing.learner_settings(Seat(home, owner, project))["model"] == "plknn"


def test_unsaved_new_class_stays_on_page(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "New class").set_value("eel").run()
    press(test, "Add the class")
    assert SAID in words(test)
    assert by_label(test.text_input, "New class").value == "eel"
    assert len(classes.classes_view(Seat(home, owner, project)).classes) == 3


def test_project_that_cannot_be_restored_stays_archived(home: Home, owner: int, show: Open) -> None:
    managing.archive_project(Seat(home, owner, small_project(home, owner)))
    test = press(show(owner), "Restore")
    assert SAID in words(test)
    assert managing.list_projects(Seat(home, owner)) == []


def test_unsaved_queue_strategy_is_reset_to_stored_one(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "queue_page.py", project=str(project))
    before = test.selectbox[0].value
    with full_disk():
        test.selectbox[0].set_value("random").run()
    assert not test.exception
    assert SAID in words(test)
    assert test.selectbox[0].value == before
    test.selectbox[0].set_value("random").run()
    assert SAID not in words(test)
    assert managing.learner_settings(Seat(home, owner, project))["strategy"] == "random"


def test_unsaved_stop_rules_stay_on_page(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "progress.py", project=str(project))
    by_label(test.toggle, "Budget").set_value(True)
    by_label(test.number_input, "Answers in all").set_value(7)
    press(test, "Save")
    assert SAID in words(test)
    assert by_label(test.number_input, "Answers in all").value == 7
    assert progress.stop_view(Seat(home, owner, project)).rules.budget is None


def test_unsaved_invitation_keeps_name(home: Home, owner: int, show: Open) -> None:
    annotator(home, owner, "Ada")
    test = show(owner, "people.py")
    test.text_input[0].set_value("Bob")
    press(test, "Create sign-in link")
    assert SAID in words(test)
    assert not test.code
    assert test.text_input[0].value == "Bob"
    press(test, "End access now")
    assert SAID in words(test)
    assert all(one.disabled_at is None for one in team.list_people(Seat(home, owner)))
    by_label(test.button, "Create sign-in link").click().run()
    assert len(test.code) == 1
    assert test.text_input[0].value == ""


def test_unsaved_import_stays_on_page(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), small_frame().to_csv(index=False).encode(), "three.csv")
    test.text_input[0].set_value("my birds")
    press(test, "Create project")
    # The database if it is linked into the data folder; its files if that is on another disk.
    assert "could not be written" in words(test)
    assert test.text_input[0].value == "my birds"
    by_label(test.button, "Create project").click().run()
    assert [one.name for one in managing.list_projects(Seat(home, owner))] == ["my birds"]


def test_uncaught_save_error_is_shown_by_frame(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **_more: object) -> None:
        raise saving.NotSaved("It could not be written.")

    project = small_project(home, owner)
    monkeypatch.setattr(files, "export_view", full)
    test = show(owner, "export.py", project=str(project))
    assert "It could not be written." in words(test).replace("\\", "")


@pytest.mark.parametrize("page", [None, "annotate.py", "progress.py", "export.py"])
def test_every_page_reports_missing_database_file(home: Home, owner: int, show: Open, page: str | None) -> None:
    project = small_project(home, owner)
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    said = "database file was deleted or moved away"
    assert said not in words(show(owner, page, project=str(project)))
    path.rename(away)
    test = show(owner, page, project=str(project))
    assert said in words(test)
    if page is None:
        assert "small" in words(test), "what was stored is still shown"
    home.database._reader.dispose()  # one more connection is needed than available
    test = show(owner, page, project=str(project))
    assert said in words(test)
    away.rename(path)
    assert said not in words(show(owner, page, project=str(project)))


def test_card_survives_failing_store_and_continues(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]]
) -> None:
    project = small_project(home, owner)
    test = show(owner, "annotate.py", project=str(project))
    before = sent[-1]
    path, away = home.settings.home / "winnow.sqlite3", home.settings.home / "away"
    path.rename(away)
    for _ in range(2):
        pressing(test, "is", labels=["ant"], token=before["token"])
        assert not test.exception
        assert sent[-1]["token"] == before["token"], "what is typed stays with its question"
        assert "was deleted or moved away" in str(sent[-1])
        assert sent[-1]["saved"]["tone"] == "bad"
    away.rename(path)
    pressing(test, "is", labels=[loop.next_question(Seat(home, owner, project)).choices[0]], token=before["token"])
    assert managing.get_project(Seat(home, owner, project)).answered == 1
    assert sent[-1]["token"] != before["token"]


@pytest.mark.parametrize("table", ["entries", "people", "projects", "questions", "events", "sign_ins", "members"])
def test_missing_database_table_is_explained_on_every_page(home: Home, owner: int, show: Open, table: str) -> None:
    project = small_project(home, owner)
    with closing(sqlite3.connect(home.settings.home / "winnow.sqlite3")) as other:
        other.execute("PRAGMA legacy_alter_table = ON")
        other.execute(f"ALTER TABLE {table} RENAME TO gone")
    said = 0
    for page in (None, "annotate.py", "progress.py", "review_page.py", "people.py", "audit.py", "export.py"):
        said += "The database is damaged" in words(show(owner, page, project=str(project)))
    assert said, "show() fails where a page ends in an error"
