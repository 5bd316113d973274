"""Named snapshots on the Export page: what they are for, made, listed, and the export of one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, words
from tests.workflow.world import annotator, answer_next, file_of, small_project
from workflow.exporting import files
from workflow.exporting.snapshots import NAME_LENGTH, list_snapshots, make_snapshot
from workflow.seat import Seat
from workflow.server.home import Home

MAKE = "Make a snapshot of now"


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    project = small_project(home, owner)
    answer_next(home, owner, project)
    return Seat(home, owner, project)


def open_export(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, "export.py", project=str(seat.project_id))


def said(test: AppTest) -> str:
    return words(test).replace("\\", "")


def name_it(test: AppTest, name: str) -> AppTest:
    next(one for one in test.text_input if one.label == "Name").set_value(name)
    next(one for one in test.button if one.label == MAKE).click().run()
    assert not test.exception
    return test


def press(test: AppTest, label: str, of: int = 0) -> AppTest:
    [one for one in test.button if one.label == label][of].click().run()
    assert not test.exception
    return test


def test_without_any_the_page_says_what_they_are_for(seat: Seat, show: Open) -> None:
    test = open_export(show, seat)
    assert "There is none yet. Make one before you publish or cite the labels" in said(test)
    assert "the same file can be taken away again later" in said(test)


def test_one_is_made_with_a_press_and_listed_with_its_facts(seat: Seat, show: Open) -> None:
    test = name_it(open_export(show, seat), "first *release*")
    (made,) = list_snapshots(seat)
    assert (made.name, made.seq, made.by) == ("first *release*", 1, "owner")
    assert "There is none yet." not in said(test)
    assert "**first \\*release\\***" in words(test), "as it was typed, not as Markdown"
    assert "1 entry" in said(test)
    assert "by owner" in said(test)
    assert made.sha256[:12] in "".join(one.proto.popover.label for one in test.get("popover"))
    assert made.sha256 in [one.value for one in test.code], "the whole of it, to copy"
    (box,) = (one for one in test.text_input if one.label == "Name")
    assert box.value == "", "for the next"


def test_the_latest_is_the_first(seat: Seat, show: Open) -> None:
    for name in ("older", "newer"):
        make_snapshot(seat, name)
    assert re.findall("older|newer", said(open_export(show, seat))) == ["newer", "older"]


def test_a_listed_one_is_exported_by_the_box_as_of(seat: Seat, show: Open) -> None:
    then = file_of(seat)
    make_snapshot(seat, "first release")
    answer_next(seat.home, seat.person_id, seat.project_id or 0)
    test = press(open_export(show, seat), "Export this")
    assert next(one for one in test.text_input if one.label == "As of").value == "first release"
    assert "as it was after entry 1 of 2, " in said(test)
    press(test, "Prepare file")
    (one,) = files.prepared(seat)
    path, _ = files.find(seat, one.key)
    assert Path(path).read_bytes() == then != file_of(seat)


@pytest.mark.parametrize(
    ("name", "fault"), [("", "needs a name"), ("40", "would be read as an entry"), ("there", "already")]
)
def test_a_name_that_cannot_be_is_said_and_kept(seat: Seat, show: Open, name: str, fault: str) -> None:
    make_snapshot(seat, "there")
    test = name_it(open_export(show, seat), name)
    assert fault in said(test)
    assert next(one for one in test.text_input if one.label == "Name").value == name
    assert len(list_snapshots(seat)) == 1
    (box,) = (one for one in test.text_input if one.label == "Name")
    assert box.max_chars == NAME_LENGTH


def test_where_the_state_typed_is_none_they_are_still_there_to_choose(seat: Seat, show: Open) -> None:
    make_snapshot(seat, "first release")
    test = open_export(show, seat)
    next(one for one in test.text_input if one.label == "As of").set_value("frist release").run()
    assert "no snapshot 'frist release'" in said(test)
    assert "as it was after entry 1 of 1, " in said(press(test, "Export this"))


def test_a_snapshot_of_a_project_without_answers_says_so(home: Home, owner: int, show: Open) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    assert "before the first entry" in said(name_it(open_export(show, seat), "as imported"))


def test_who_does_not_own_the_project_sees_none(seat: Seat, show: Open) -> None:
    make_snapshot(seat, "first release")
    ada = annotator(seat.home, seat.person_id, "Ada")
    test = show(ada, "export.py", project=str(seat.project_id))
    assert "first release" not in said(test)
    assert not [one for one in test.button if one.label == MAKE]
