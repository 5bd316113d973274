"""The tour of a demo: step by step, gone for good at one press, and nowhere else."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts.tour import STEPS
from tests.pages.conftest import Open, words
from tests.workflow.world import annotator, small_project
from workflow import demos
from workflow.demos import Demo
from workflow.server.home import Home


def press(test: AppTest, label: str) -> AppTest:
    next(one for one in test.button if one.label == label).click().run()
    assert not test.exception
    return test


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


@pytest.mark.parametrize("demo", demos.ALL, ids=lambda one: one.key)
def test_it_goes_step_by_step(home: Home, owner: int, show: Open, demo: Demo) -> None:
    test = show(owner, "annotate.py", project=str(small_project(home, owner, demo.name)))
    steps = STEPS[demo.key]
    for place, step in enumerate(steps, start=1):
        assert f"Tour, {place} of {len(steps)}" in words(test)
        assert step.words in words(test)
        assert ("Next" in labels(test)) == (place < len(steps))
        if place < len(steps):
            press(test, "Next")


def test_it_goes_on_where_it_was_on_the_page_it_sends_to(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "annotate.py", project=str(small_project(home, owner, demos.DIGITS.name)))
    for _ in range(4):
        press(test, "Next")
    test.switch_page("progress.py").run()
    assert "Tour, 5 of 5" in words(test)


def test_the_page_that_a_step_sends_to_begins_with_that_step(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "progress.py", project=str(small_project(home, owner, demos.DIGITS.name)))
    assert "Tour, 4 of 5" in words(test)
    press(test, "Next")
    assert "Tour, 5 of 5" in words(test)


def test_one_press_ends_it_for_good(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, demos.DIGITS.name)
    test = press(show(owner, "annotate.py", project=str(project)), "End the tour")
    assert "Tour" not in words(test)
    for page in ("annotate.py", "progress.py"):
        assert "Tour" not in words(show(owner, page, project=str(project))), "in a new tab, too"
    ada = annotator(home, owner, "Ada")
    assert "Tour, 1 of 5" in words(show(ada, "annotate.py", project=str(project))), "hers is her own"


def test_a_project_of_ones_own_has_none(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    for page in ("annotate.py", "progress.py"):
        assert "End the tour" not in labels(show(owner, page, project=str(project)))


def test_it_sends_nobody_where_they_may_not_go() -> None:
    for steps in STEPS.values():
        assert {step.page for step in steps if step.page and not step.owners} == {"progress.py"}
        assert len(" ".join(step.words for step in steps).split()) < 260, "two minutes, and no more"
