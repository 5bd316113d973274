"""Review, Project settings and the archive on Home, as their scripts draw them."""

from __future__ import annotations

import csv
import dataclasses
import io
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from db import people
from pages.parts import frame, label_vectors, one_label, state
from pages.parts.rows import row_table
from pages.parts.rows.row_table import ListedRow
from plcore import LearnerSettings
from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.label_vectors import CRITERION_ENTRIES, QUESTION_ENTRIES, LabelVectorSettings
from plcore.tables import ColumnVectors, directions_of
from tests.conftest import ROOT
from tests.pages.conftest import PATIENCE, Open, by_label, history, listed, open_in_list, press, sent_to, words
from tests.workflow.two_questions import linked_projects
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow import demos
from workflow.answering import loop, room
from workflow.importing import more_rows
from workflow.kinds import label_vectors as label_vectors_kind
from workflow.kinds import one_label as one_label_kind
from workflow.kinds.label_vectors import settings as vector_words
from workflow.kinds.one_label.settings import MODELS, TRAINED
from workflow.projects import classes, linking, managing
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


def test_every_learner_setting_is_in_form_or_fixed() -> None:
    fields = {field.name for field in dataclasses.fields(LearnerSettings)}
    assert {one.name for one in (*one_label.LEARNING, *one_label.ANSWERING)} == fields - one_label_kind.DRAWN - {
        "adopted",
        "adopted_features",
        "own_since",
    }
    assert set(MODELS) == set(MODEL_ENTRIES)
    trained = {name for name, one in MODEL_ENTRIES.items() if one.upkeep is Upkeep.TRAINED}
    assert set(TRAINED) == {"automatic"} | trained


def test_every_label_vector_setting_is_in_form_or_fixed() -> None:
    fields = {field.name for field in dataclasses.fields(LabelVectorSettings)}
    compared = {"mode", "missing", "max_iter"}  # for benchmarks
    drawn = {one.name for one in (*label_vectors.LEARNING, *label_vectors.ANSWERING)}
    assert drawn == fields - label_vectors_kind.DRAWN - compared - {"own_since"}
    assert set(vector_words.QUESTIONS) == set(QUESTION_ENTRIES)
    assert set(vector_words.CRITERIA) == set(CRITERION_ENTRIES)


def test_several_people_can_answer_each_label(home: Home, owner: int, show: Open) -> None:
    project = vector_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.number_input, "Annotators per label").set_value(3).run()
    assert managing.learner_settings(Seat(home, owner, project))["overlap"] == 1, "cannot be undone: asked first"
    press(test, "Collect independent answers")
    by_label(test.number_input, "Share of rows with several annotators (%)").set_value(25).run()
    assert not test.exception
    now = managing.learner_settings(Seat(home, owner, project))
    assert (now["overlap"], now["fold"], now["own_since"]) == (3, "majority", 0)
    assert now["overlap_share"] == 0.25
    by_label(test.selectbox, "Combine answers by").set_value("latest").run()
    assert managing.learner_settings(Seat(home, owner, project))["fold"] == "majority", "asked first"
    press(test, "Use the latest answer")
    assert managing.learner_settings(Seat(home, owner, project))["fold"] == "latest"
    shown = show(owner, "project_page.py", project=str(project))
    assert "In this project annotators answer independently" in words(shown)


def drawer_title(test: AppTest) -> str:
    (head,) = sent_to(test, "winnow_row_drawer")
    return str(head["title"])


def test_review_without_answers_points_to_first_question(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    shown = words(show(owner, "review_page.py", project=str(project)))
    assert "No answers yet" in shown


def test_review_finds_opens_and_corrects_answer(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    saved = [answer_next(home, ada, project) for _ in range(4)]
    test = show(owner, "review_page.py", project=str(project))
    assert len(listed(test)) == 4
    by_label(test.text_input, "Search").set_value("nothing such").run()
    assert "No answer matches" in words(test)
    by_label(test.text_input, "Search").set_value("").run()
    open_in_list(test, project, saved[0].row)
    assert drawer_title(test) == f"Row {saved[0].row_id}"
    other = next(name for name in ("ant", "bee", "cat") if name != saved[0].labels[0])
    by_label([one for one in test.selectbox if one.key and one.key.endswith("-label")][1:], "Label").set_value(other)
    by_label(test.text_input, "Note (optional)").set_value("heard again")
    press(test, "Save correction")
    opened = reviewing.open_row(Seat(home, owner, project), saved[0].row)
    assert opened.candidates == (other,)
    assert opened.history[-1].note == "heard again"
    assert "heard again" in [one.get("Note") for one in history(test)]


def test_review_csv_holds_answers_of_all_pages(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviewing, "AT_ONCE", 2)
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    saved = [answer_next(home, ada, project) for _ in range(5)]
    seat, first = Seat(home, owner, project), saved[0]
    lines = list(csv.DictReader(io.StringIO(reviewing.answers_csv(seat, reviewing.Search()).decode())))
    assert [one["row_id"] for one in lines] == [one.row_id for one in reversed(saved)]
    assert lines[-1] | {"answered": "", "model_prediction": ""} == {
        "row": str(first.row + 1), "row_id": first.row_id, "answer": "is", "labels": first.labels[0],
        "model_prediction": "", "annotator": "Ada", "answered": "", "flagged": "0", "note": "",
    }  # fmt: skip
    some = reviewing.answers_csv(seat, reviewing.Search(words=first.row_id)).decode()
    assert first.row_id in some
    assert len(some.splitlines()) < 6
    assert not reviewing.answers_csv(Seat(home, owner, project), reviewing.Search(kind="bad")).count(b"Ada")
    test = show(owner, "review_page.py", project=str(project))
    assert [one.label for one in test.get("download_button")] == ["CSV"]


def test_list_click_opens_row_at_time_of_click(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", kept)
    lines = [ListedRow(row, f"r{row}", at, {}, mark) for at, (row, mark) in enumerate(((70, "a"), (80, ""), (70, "b")))]

    def opened(**sent: Any) -> tuple[int | None, int | None]:
        kept["q-list"] = {"open": sent}
        row_table._open("q", lines)
        return row_table.opened_row("q"), row_table.place_of_open_row("q", lines)

    assert opened(at=1, row=80, play=True) == (80, 1)
    assert kept[state.PLAY]
    assert opened(at=2, row=70, play=False) == (70, 2), "of two lines of a row the one that was clicked"
    assert not kept[state.PLAY]
    assert opened(at=1, row=90, play=False) == (70, 2), "a line that is not there any more opens nothing"
    assert row_table.opened_row("other") is None, "a row of another list"
    assert row_table.place_of_open_row("q", lines[:2]) == 0, "without its line, the first of the row"
    kept["q-drawer"] = {"go": {"at": 1}}
    row_table._go("q", lines)
    assert row_table.opened_row("q") == 80
    kept["q-drawer"] = {"go": {"at": 3}}
    row_table._go("q", lines)
    assert row_table.opened_row("q") == 80
    row_table.open_row("q", None)
    assert row_table.opened_row("q") is None


def test_list_ticks_are_dropped_when_list_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", kept)
    name, ticked = row_table._ticked("q", [7, 8])
    assert ticked == ()
    kept["q-list"] = {"tick": {"list": name, "rows": [8]}}
    row_table._tick("q")
    assert row_table._ticked("q", [7, 8]) == (name, (8,))
    assert row_table._ticked("q", [8, 9])[1] == (), "another list"
    row_table.untick("q")
    again, ticked = row_table._ticked("q", [7, 8])
    assert ticked == ()
    assert again != name, "the browser forgets them, too"


def test_times_are_shown_in_browser_time_zone(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = small_project(home, owner)
    row = answer_next(home, owner, project).row
    monkeypatch.setattr(type(st.context), "timezone", "Asia/Kathmandu")
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, row)
    assert "Times: Asia/Kathmandu." in words(test)
    for component in ("winnow_row_list", "winnow_row_facts"):
        assert [one["zone"] for one in sent_to(test, component)] == ["Asia/Kathmandu"]
    for moment in (listed(test).Answered[0], history(test)[0]["When"]):
        assert datetime.fromisoformat(moment).tzinfo is not None, "a moment, not words"


@pytest.mark.usefixtures("boxes_keep_their_words")
def test_review_stays_usable_after_correction(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    saved = [answer_next(home, owner, project) for _ in range(3)]
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, saved[0].row)
    other = next(name for name in ("ant", "bee", "cat") if name != saved[0].labels[0])
    by_label(test.selectbox[1:], "Label").set_value(other)
    press(test, "Save correction")
    by_label(test.text_input, "Search").set_value(saved[0].row_id).run()
    assert not test.exception
    assert drawer_title(test) == f"Row {saved[0].row_id}", "the row stays open"
    assert list(listed(test).Row) == [saved[0].row_id]
    assert list(listed(test).Answer) == [other]


def test_correction_of_row_answered_meanwhile_is_refused(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    row = answer_next(home, owner, project).row
    test = show(owner, "review_page.py", project=str(project))
    open_in_list(test, project, row)
    by_label(test.radio, "Correct answer").set_value("bad").run()
    opened = reviewing.open_row(Seat(home, owner, project), row)
    reviewing.correct(Seat(home, owner, project), row, opened.token, "is", opened.imported[-1:])
    before = reviewing.open_row(Seat(home, owner, project), row)
    press(test, "Save correction")
    assert f"row {opened.view.row_id} was already corrected" in words(test)
    assert not test.toast
    assert reviewing.open_row(Seat(home, owner, project), row) == before


def test_annotators_review_shows_their_own_answers(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    answer_next(home, owner, project)
    mine = answer_next(home, ada, project)
    test = show(ada, "review_page.py", project=str(project))
    assert list(listed(test).Row) == [mine.row_id]
    assert not [one for one in test.selectbox if one.label == "Annotator"]


def test_settings_page_is_for_owners_only(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small_project(home, owner)
    ada = annotator(home, owner, "Ada")
    monkeypatch.setattr(frame, "person_id", lambda: ada)
    direct = AppTest.from_file(str(ROOT / "pages" / "project_page.py"), default_timeout=PATIENCE).run()
    assert "owner" in words(direct)
    assert not direct.button


def test_name_and_learner_are_changed(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "Name").set_value(" wrens *and* robins").run()
    assert not test.exception
    assert [one.value for one in test.get("html") if "Saved" in one.proto.body]
    assert by_label(test.text_input, "Name").value == "wrens *and* robins"
    assert managing.get_project(Seat(home, owner, project)).name == "wrens *and* robins"
    by_label(test.text_input, "Name").set_value(" ").run()
    assert "needs a name" in words(test)

    assert not [one for one in test.number_input if one.label == "Retrain after (answers)"]
    by_label(test.selectbox, "Model").set_value("plsvc").run()
    by_label(test.number_input, "Retrain after (answers)").set_value(9).run()
    assert not test.exception
    now = managing.learner_settings(Seat(home, owner, project))
    assert (now["model"], now["train_every"], now["C"]) == ("plsvc", 9, None)


def test_saved_setting_is_undone_unless_it_was_for_good(home: Home, owner: int, show: Open) -> None:
    seat = Seat(home, owner, small_project(home, owner, "wrens"))
    test = show(owner, "project_page.py", project=str(seat.project_id))
    by_label(test.text_input, "Name").set_value("robins").run()
    press(test, "Undo")
    assert managing.get_project(seat).name == by_label(test.text_input, "Name").value == "wrens"
    assert [one.value for one in test.get("html") if "Saved" in one.proto.body]
    by_label(test.number_input, "Annotators per row").set_value(2).run()
    press(test, "Collect independent answers")
    assert managing.learner_settings(seat)["overlap"] == 2
    assert not [one for one in test.button if one.label == "Undo"], "answers stay independent"


def test_owner_chooses_words_or_meaning_once_rows_are_encoded(home: Home, owner: int, show: Open) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    test = show(owner, "project_page.py", project=str(seat.project_id))
    assert not [one for one in test.selectbox if one.label == "Models learn from"]
    with seat.reading() as reading:
        table_hash, n_rows = reading.project.table_hash, reading.project.n_rows
    values = directions_of(np.random.default_rng(0).normal(size=(n_rows, 2)))
    vectors = ColumnVectors("id", "words", "5a" * 32, values)
    more_rows.add_rows(seat, more_rows.read_encoded(seat, table_hash, vectors))
    test.run()
    by_label(test.selectbox, "Models learn from").set_value("words").run()
    assert not test.exception
    assert managing.learner_settings(seat)["features"] == "words"


def test_unsaved_people_settings_survive_model_change(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    here = Seat(home, owner, project)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.number_input, "Annotators per row").set_value(2).run()
    managing.change_learner(here, model="plsvc")  # by a worker, or in another tab
    press(test, "Collect independent answers")
    assert by_label(test.selectbox, "Model").value == "plsvc"
    now = managing.learner_settings(here)
    assert (now["overlap"], now["model"]) == (2, "plsvc")


@pytest.mark.usefixtures("boxes_keep_their_words")
def test_renamed_project_stays_selected(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    small_project(home, owner, "other")
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "Name").set_value("wrens").run()
    test.run()
    assert " **wrens**\n" in words(test)
    assert not test.error


def test_guidelines_are_saved(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_area, "Guidelines").set_value("Look at the **wing**.")
    by_label(test.radio, "Order of the candidates").set_value("fixed").run()
    assert not test.exception
    now = room.room_of(Seat(home, owner, project))
    assert (now.guidelines, now.order) == ("Look at the **wing**.", "fixed")


def test_further_questions_are_saved(home: Home, owner: int, show: Open) -> None:
    species, behaviour = linked_projects(Seat(home, owner))
    test = show(owner, "project_page.py", project=str(species.project_id))
    box = by_label(test.multiselect, "Further questions about the same row")
    assert box.value == [behaviour.project_id]
    box.set_value([]).run()
    assert not test.exception
    assert linking.further_of(species) == ()
    by_label(test.multiselect, "Further questions about the same row").set_value([behaviour.project_id]).run()
    assert [one.name for one in linking.further_of(species)] == ["behaviour"]


def test_class_merge_is_previewed(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    for _ in range(3):
        answer_next(home, owner, project)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.radio, "Change the classes").set_value("Merge").run()
    by_label(test.selectbox, "Merge").set_value("bee").run()
    by_label(test.selectbox, "into").set_value("ant").run()
    touched = classes.touched(Seat(home, owner, project), "bee")
    assert f"**{touched.rows} rows**" in words(test)
    assert classes.classes_view(Seat(home, owner, project)).version == 0, "nothing is stored before the button"
    press(test, "Merge them")
    assert [one.name for one in classes.classes_view(Seat(home, owner, project)).classes] == ["ant", "cat"]
    assert "merged bee into ant" in words(test)
    press(test, "Undo")
    assert [one.name for one in classes.classes_view(Seat(home, owner, project)).classes] == ["ant", "bee", "cat"]


def test_many_classes_are_searchable(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.parts.one_label.classes.LISTED", 2)
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))

    def listed() -> list[str]:
        tables = (one.value for one in test.dataframe)
        return next(one["Class"].tolist() for one in tables if "Earlier names" in one.columns)

    assert listed() == ["ant", "bee"]
    assert "2 of 3 classes are listed" in words(test)
    by_label(test.text_input, "Find a class").set_value("CA").run()
    assert listed() == ["cat"]
    by_label(test.text_input, "Find a class").set_value("x").run()
    assert listed() == []
    assert "0 of 3 classes are listed" in words(test)


def test_refused_change_of_classes_is_reported(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "New class").set_value("bee").run()
    press(test, "Add the class")
    assert "class 'bee' already" in words(test).replace("\\", "")
    by_label(test.text_input, "New class").set_value("eel").run()
    press(test, "Add the class")
    assert "eel" in list(test.dataframe[1].value["Class"])


def test_classes_of_project_archived_meanwhile_stay(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "New class").set_value("eel").run()
    managing.archive_project(Seat(home, owner, project))
    press(test, "Add the class")
    assert [one.value for one in test.error] == [
        frame.escape("small is archived; the owner can restore it on the Home page.")
    ]
    test.switch_page("home.py").run()
    assert not test.error, "said once"
    managing.restore_project(Seat(home, owner, project))
    assert "eel" not in [one.name for one in classes.classes_view(Seat(home, owner, project)).classes]


def test_name_is_not_markdown_in_toast(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, "*birds* [x](http://y)")
    managing.archive_project(Seat(home, owner, project))
    test = show(owner)
    press(test, "Restore")
    (toast,) = test.toast
    assert toast.value == frame.escape("*birds* [x](http://y) is back")
    test = show(owner, "project_page.py", project=str(project))
    by_label(test.text_input, "New class").set_value("_eel_").run()
    press(test, "Add the class")
    (toast,) = test.toast
    assert toast.value == frame.escape("Saved: add: _eel_")


def test_disabled_owner_cannot_restore_project(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    managing.archive_project(Seat(home, owner, project))
    test = show(owner)
    with home.database.write() as session:
        people.disable(session, owner, datetime.now(UTC))
    press(test, "Restore")
    assert "access has ended" in words(test)


def test_project_is_deleted_only_by_its_name(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, "my *birds*")
    test = show(owner, "project_page.py", project=str(project))
    assert "Delete project" not in [one.label for one in test.button]
    press(test, "Delete")
    n_rows = managing.get_project(Seat(home, owner, project)).n_rows
    assert f"has {n_rows} rows, 0 answered. Once it is deleted, no one can open" in words(test)
    assert "from which an owner can restore it" in words(test)
    for typed in ("", "my birds"):
        by_label(test.text_input, "Type the project's name").set_value(typed).run()
        press(test, "Delete project")
        assert "This is not the name. Type " + frame.escape("my *birds*") in words(test)
        assert [one.id for one in managing.list_projects(Seat(home, owner))] == [project]
    by_label(test.text_input, "Type the project's name").set_value(" my *birds* ").run()
    press(test, "Delete project")
    assert managing.list_projects(Seat(home, owner)) == []


def test_binned_project_is_restored_on_home(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    managing.bin_project(Seat(home, owner, project))
    test = show(owner)
    assert [one.label for one in test.expander] == ["Bin (1)"]
    assert "Import rows whose label is uncertain" in words(test)
    press(test, "Restore")
    assert [one.id for one in managing.list_projects(Seat(home, owner))] == [project]
    assert [one.label for one in test.expander] == ["Demos"]


def test_home_explains_why_project_cannot_be_restored(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    managing.archive_project(Seat(home, owner, project))
    small_project(home, owner)
    test = show(owner)
    press(test, "Restore")
    assert "exists already" in words(test)


def test_home_names_next_step(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    assert "The first question is ready" in words(show(owner))
    while (question := loop.next_question(Seat(home, owner, project))) is not None:
        loop.submit_answer(Seat(home, owner, project), question.token, "is", question.choices[:1])
    test = show(owner)
    assert ":green-badge[" in words(test)
    assert [one.label for one in test.button] == ["Import data", "Export", *(demo.title for demo in demos.ALL)]
