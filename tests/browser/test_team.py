"""Three people answer with overlap 2; the Team page counts them right, one is set aside, and all comes back."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.workflow.world import annotator, opened, small_frame, small_project
from workflow.answering import loop
from workflow.people import figures
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

OWNER = 1


def answer(seat: Seat, *, right: bool) -> None:
    question = loop.next_question(seat)
    assert question is not None
    true = str(small_frame().truth[question.view.row])
    wrong = next(one for one in question.choices if one != true)
    loop.submit_answer(seat, question.token, "is", [true if right else wrong])


def labels(home: Home, project: int) -> list[list[bool]]:
    with opened(home, OWNER, project) as learner:
        found: list[list[bool]] = learner.candidates.tolist()
        return found


def test_one_of_three_is_set_aside_and_counts_again(page: Page, server: Server, home: Home) -> None:
    project = small_project(home, OWNER, "Three people", overlap=2, fold="majority", test_share=0.3)
    ada, ben, cem = (Seat(home, annotator(home, OWNER, name), project) for name in ("Ada", "Ben", "Cem"))
    for _ in range(10):
        answer(ada, right=True)
        answer(ben, right=True)
        answer(cem, right=False)
    before = labels(home, project)
    counted = {one.name: one for one in figures.team(Seat(home, OWNER, project)).people}
    assert {name: one.answers for name, one in counted.items()} == {"Ada": 10, "Ben": 10, "Cem": 10}
    assert counted["Cem"].others.right == 0

    page.goto(f"{server.base}/team?project={project}")
    expect(page.get_by_text("How far do they agree?")).to_be_visible()
    room.drawn(page)  # what is drawn late closes an open list
    page.get_by_role("combobox", name="More about").click()
    page.get_by_role("option", name="Cem").click()
    # Both in the warning about them and beside what was chosen.
    page.get_by_role("button", name="Set them aside").nth(1).click()
    page.get_by_role("button", name="Set them aside now").click()
    again = page.get_by_role("button", name="Count them again")
    expect(again).to_have_count(1)  # who is set aside is not warned of
    assert labels(home, project) != before
    again.click()
    expect(page.get_by_role("button", name="Set them aside")).to_have_count(2)
    assert labels(home, project) == before
