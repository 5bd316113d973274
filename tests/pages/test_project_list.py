"""The list of projects, demos and first steps."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import home_parts
from pages.parts.home_parts import next_step, state_line
from tests.pages.conftest import Open, press, words
from tests.statements import noted_statements
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, answer_next, small_project
from workflow import demos
from workflow.access import Role
from workflow.kinds.one_label import WORDS
from workflow.projects import managing
from workflow.projects.figures import F1, RIGHT, Glance
from workflow.projects.managing import ProjectSummary
from workflow.seat import Seat
from workflow.server.home import Home

# A line of Home's list: state and accuracy of the project, and the next step


PROJECT = ProjectSummary(
    id=1,
    name="birds",
    description="Heard at dawn. Three months.",
    n_rows=50,
    n_classes=4,
    n_to_ask=40,
    answered=10,
    left=30,
    disputes=0,
    last_answer=datetime.now(UTC),
    last_by="Ada",
    begun=True,
    answers=None,
    created_at=datetime.now(UTC),
    kind="one_label",
    words=WORDS,
    by_row=True,
    role=Role.OWNER,
    pictured="numbers",
    sourced=False,
)
GLANCE = Glance(9, 9, RIGHT, 40, (0.5, 0.6, 0.87), (0.4, 0.5, 0.84), (0.6, 0.7, 0.9), None, False, None, pace=6.0)


def test_button_names_next_step(subtests: pytest.Subtests) -> None:
    for project, glance, label, page in [
        ({}, {}, "Continue", "annotate.py"),
        ({"begun": False}, {}, "Start", "annotate.py"),
        ({"disputes": 2}, {}, "Resolve", "disputes.py"),
        ({"left": 0}, {}, "Export", "export.py"),
        ({}, {"reached": True, "goal": 0.9}, "Export", "export.py"),
        ({"left": 0, "role": Role.ANNOTATOR}, {}, "View", "progress.py"),
        ({"role": Role.VIEWER}, {}, "View", "progress.py"),
        ({"role": Role.ANNOTATOR}, {}, "Continue", "annotate.py"),
    ]:
        with subtests.test(str(project | glance)):
            step = next_step(replace(PROJECT, **project), replace(GLANCE, **glance))  # type: ignore[arg-type]
            assert step == (label, page)


def test_project_line_describes_its_state(subtests: pytest.Subtests) -> None:
    for project, glance, line in [
        ({}, {}, "Heard at dawn"),
        ({"disputes": 1}, {}, ":orange-badge[1 dispute waits for you]"),
        ({"disputes": 3}, {}, ":orange-badge[3 disputes wait for you]"),
        ({"left": 0}, {}, f":green-badge[{WORDS.finished.rstrip('.')}]"),
        ({}, {"reached": True, "goal": 0.9}, ":green-badge[The goal of 90% is reached]"),
        ({"left": 300}, {"goal": 0.9, "more": 143.0}, "About 140 more answers to your 90%, 14 minutes"),
        ({}, {"goal": 0.9, "more": 18.0, "pace": None}, "About 18 more answers to your 90%"),
        ({"role": Role.ANNOTATOR}, {"goal": 0.9, "more": 18.0}, "About 18 more answers to 90%, 2 minutes"),
        ({}, {"goal": 0.9, "more": 31.0}, "Judging by the answers so far, your 90% is out of reach with these rows"),
        ({}, {"goal": 0.9, "more": None}, "Distance to your 90% cannot be estimated yet"),
        ({}, {"goal": 0.9, "more": 18.0, "measured": 9}, "Distance to your 90% cannot be estimated yet"),
        ({"last_answer": None}, {}, "The first question is ready"),
        ({"role": Role.VIEWER}, {}, "You are a viewer here."),
    ]:
        with subtests.test(str(project | glance)):
            assert state_line(replace(PROJECT, **project), replace(GLANCE, **glance)) == line  # type: ignore[arg-type]


def test_project_description_is_escaped() -> None:
    assert state_line(replace(PROJECT, description="*stars* :red[x]"), None) == (r"\*stars\* \:red\[x\]")


def test_figure_is_shown_with_its_interval() -> None:
    assert home_parts._figure(GLANCE) == "**87%**  \n:small[:gray[84 to 90%]]"
    assert home_parts._figure(replace(GLANCE, what=F1)).startswith("**F1 87%**")
    assert home_parts._figure(None).startswith("–")


def test_last_annotator_is_named_only_if_visible() -> None:
    counts = home_parts._counts
    assert ",  \nlast by Ada " in counts(PROJECT, "Bob")
    assert ",  \nlast by you " in counts(PROJECT, "Ada")
    assert counts(replace(PROJECT, last_answer=None), "Ada").endswith("answered,  \nnot started")
    assert re.search(r"answered,  \nlast \d+ \w+ ago$", counts(replace(PROJECT, last_by=None), "Ada"))
    others = counts(replace(PROJECT, answered=0, answers=12, last_by=None, begun=False), "Bob")
    assert re.match(r"0 of 30 answered,  \n12 answers, last .* ago, none of yours$", others)


def test_sparkline_is_scaled_and_ends_at_last_value() -> None:
    drawn = spark((0.2, 0.4, 0.6))
    assert 'aria-label="from 20% to 60%"' in drawn
    assert "0% calc(90% - 1px), 50% calc(50% - 1px), 100% calc(10% - 1px)" in drawn, "lowest to highest"
    assert "100% calc(10% + 1px), 50% calc(50% + 1px), 0% calc(90% + 1px)" in drawn, "and back below the line"
    assert "50% calc(90% - 1px)" in spark((0.5, 0.5, 0.5)), "level where it is level"
    assert '<i style="top:10%">' in drawn


def test_sparkline_draws_interval_band() -> None:
    drawn = spark((0.4, 0.5, 0.6), (0.2, 0.4, 0.5), (0.6, 0.9, 1.0))
    assert "polygon(0% 50%, 50% 20%, 100% 10%, 100% 60%, 50% 70%, 0% 90%)" in drawn, "high, and back by low"
    assert "from 40% to 60%, which is 50 to 100%" in drawn
    assert drawn.count("<b ") == 1


def test_sparkline_band_is_drawn_only_where_known() -> None:
    values = (0.1, 0.2, 0.3, 0.4, 0.5)
    assert "<b " not in spark(values)
    assert "<b " not in spark(values, (None, None, None, None, 0.4), (None, None, None, None, 0.6)), "no width"
    halves = spark(values, (0.1, 0.1, None, 0.3, 0.4), (0.2, 0.3, None, 0.5, 0.9))
    assert halves.count("<b ") == 2
    assert "polygon(75% 50%, 100% 10%, 100% 60%, 75% 70%)" in halves, "nothing is made up between"


def spark(
    curve: tuple[float, ...],
    lows: tuple[float | None, ...] | None = None,
    highs: tuple[float | None, ...] | None = None,
) -> str:
    unknown = (None,) * len(curve)
    return home_parts._spark(replace(GLANCE, curve=curve, lows=lows or unknown, highs=highs or unknown))


def names(test: AppTest) -> list[str]:
    return re.findall(r"\*\*(alpha|beta|gamma|delta)\*\*", words(test))


def test_project_list_has_search_from_fourth_project_on(home: Home, owner: int, show: Open) -> None:
    for name in ("beta", "alpha", "gamma"):
        project = small_project(home, owner, name)
    test = show(owner)
    assert not test.text_input, "three are seen at a glance"
    answer_next(home, owner, project)
    small_project(home, owner, "delta")
    test = show(owner)
    assert names(test)[0] == "delta", "the newest, before the last answered"
    test.selectbox[0].set_value("Name").run()
    assert names(test) == ["alpha", "beta", "delta", "gamma"]
    test.text_input[0].set_value("ET").run()
    assert names(test) == ["beta"]
    test.text_input[0].set_value("nothing such").run()
    assert "No project matches." in words(test)


def test_long_list_is_drawn_in_parts(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_parts, "AT_ONCE", 2)
    for name in ("alpha", "beta", "gamma", "delta"):
        small_project(home, owner, name)
    test = show(owner)
    assert names(test) == ["delta", "gamma"]
    assert "2 of 4 projects" in words(test)
    test.text_input[0].set_value("alpha").run()
    assert names(test) == ["alpha"], "those that are not drawn are searched, too"
    assert "more-projects" not in {one.key for one in test.button}
    test.text_input[0].set_value("").run()
    test.button(key="more-projects").click().run()
    assert names(test) == ["delta", "gamma", "beta", "alpha"]
    assert "more-projects" not in {one.key for one in test.button}


def test_long_archive_is_drawn_in_parts(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_parts, "AT_ONCE", 2)
    for name in ("alpha", "beta", "gamma"):
        managing.archive_project(Seat(home, owner, small_project(home, owner, name)))

    def restored(test: AppTest) -> int:
        return sum(one.label == "Restore" for one in test.button)

    test = show(owner)
    assert restored(test) == 2
    assert [one.label for one in test.expander] == ["Archived (3)"]
    test.button(key="more-Archived").click().run()
    assert restored(test) == 3


def test_home_of_many_projects_makes_statements_of_home_of_few(home: Home, owner: int, show: Open) -> None:
    counted = []
    for first, beyond in ((0, 3), (3, 12)):
        for number in range(first, beyond):
            (vector_project if number % 2 else small_project)(home, owner, f"p{number}")
        for person in (owner, annotator(home, owner, f"Ada {beyond}")):
            show(person)  # counts the new logs
            with noted_statements("ScriptRunner.scriptThread") as noted:
                show(person)
            counted.append(len(noted))
    assert counted[:2] == counted[2:]
    assert min(counted) > 0


def test_project_line_links_to_its_pages(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, "alpha")
    (menu,) = show(owner).menu_button
    assert menu.label == "More of alpha"
    assert menu.options == ["Answer", "Progress", "Review", "Export", "Rename, settings, archive, delete"]


def test_chosen_entry_of_project_menu_opens_its_page(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, "alpha")
    test = show(owner)
    test.menu_button[0].click("Progress").run()
    assert not test.exception
    assert test.query_params["project"] == str(project)
    assert "##### Progress" in words(test)


# The three demos on Home: one click opens each, and creates it first if necessary


def test_existing_demo_is_opened(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, demos.CALLS.name)
    test = press(show(owner), demos.CALLS.title)
    assert test.query_params["project"] == str(project)
    assert f" **{demos.CALLS.name}**\n ##### Answer" in words(test).replace("\\", "")
    assert len(managing.list_projects(Seat(home, owner))) == 1


def test_missing_demo_is_created_and_opened(home: Home, owner: int, show: Open) -> None:
    test = press(show(owner), demos.REMARKS.title)
    (made,) = managing.list_projects(Seat(home, owner))
    assert (made.name, made.n_rows) == (demos.REMARKS.name, 600)
    assert test.query_params["project"] == str(made.id)
    assert "first of all" in words(test), "its guidelines stand above the question"
    assert [one.label for one in show(owner).button if one.label == demos.REMARKS.title]


def test_failed_demo_is_explained(home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(demos.REMARKS, make_file=lambda _on_step: b"id,labels\n1,\n")
    monkeypatch.setattr(demos, "ALL", (demos.DIGITS, demos.CALLS, broken))
    test = press(show(owner), broken.title)
    assert len(test.error) == 1
    assert [one.label for one in test.button if one.label == "Import data"], "the page is whole"
    assert managing.list_projects(Seat(home, owner)) == []


def test_annotator_is_offered_no_demo(home: Home, owner: int, show: Open) -> None:
    test = show(annotator(home, owner, "Ada"))
    assert not {one.label for one in test.button} & {demo.title for demo in demos.ALL}


# Home before the first own project: purpose of Winnow, and the link to the import


def test_demo_stays_until_first_own_project(home: Home, owner: int, show: Open) -> None:
    small_project(home, owner, demos.DIGITS.name)
    test = show(owner)
    assert "Winnow finds the one that is" in words(test)
    assert "a few questions of a demo first" in words(test)
    assert [one.label for one in test.button] == ["Import data", *(demo.title for demo in demos.ALL), "Start"]
    small_project(home, owner, "my own")
    test = show(owner)
    assert "Winnow finds the one that is" not in words(test)
    assert [one.value for one in test.title] == ["Projects"]


def test_step_drawings_are_balanced_markup() -> None:
    class Balance(HTMLParser):
        open: list[str]

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    for drawing, _, _ in home_parts.STEPS:
        reader = Balance()
        reader.open = []
        reader.feed(drawing)
        assert reader.open == []
