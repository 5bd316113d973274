"""Home's demos: three of them, one press opens each, and has it made before where it is not there yet."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, words
from tests.workflow.world import annotator, small_project
from workflow import demos
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


def press(test: AppTest, title: str) -> AppTest:
    next(one for one in test.button if one.label == title).click().run(timeout=120)
    assert not test.exception
    return test


def test_what_is_there_is_opened(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, demos.CALLS.name)
    test = press(show(owner), demos.CALLS.title)
    assert test.query_params["project"] == str(project)
    assert f"Answer · {demos.CALLS.name}" in words(test).replace("\\", "")
    assert len(managing.list_projects(Seat(home, owner))) == 1


def test_what_is_not_is_made_first(home: Home, owner: int, show: Open) -> None:
    test = press(show(owner), demos.REMARKS.title)
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows) == (demos.REMARKS.name, 600)
    assert test.query_params["project"] == str(made.id)
    assert "first of all" in words(test), "its guidelines stand above the question"
    assert [one.label for one in show(owner).button if one.label == demos.REMARKS.title]


def test_why_it_could_not_be_made_is_said(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(demos.REMARKS, make_file=lambda _on_step: b"id,labels\n1,\n")
    monkeypatch.setattr(demos, "ALL", (demos.DIGITS, demos.CALLS, broken))
    test = press(show(owner), broken.title)
    assert len(test.error) == 1
    assert [one.label for one in test.button if one.label == "Bring a table"], "the page is whole"
    assert managing.list_projects(Seat(home, owner)) == []


def test_others_are_offered_none(home: Home, owner: int, show: Open) -> None:
    test = show(annotator(home, owner, "Ada"))
    assert not {one.label for one in test.button} & {demo.title for demo in demos.ALL}
