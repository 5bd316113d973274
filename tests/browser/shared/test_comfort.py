"""Goal, pause, last ten answers, examples and qualification, by keys in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.shared.conftest import OWNER, Room
from workflow.answering import loop
from workflow.people import examples, goals, members, qualification, team
from workflow.people.examples import QUALIFICATION
from workflow.people.goals import Goal
from workflow.people.qualification import QualificationRule
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


@pytest.fixture
def seat(home: Home, here: Room) -> Seat:
    return Seat(home, OWNER, here.project)


def decided(seat: Seat) -> tuple[int, str]:
    """A row that can be marked, and its label."""
    while True:
        question = loop.next_question(seat)
        saved = loop.submit_answer(seat, question.token, "is", question.choices[:1])
        if examples.marking(seat, saved.row).labels:
            return saved.row, saved.labels[0]


def test_a_goal_is_reached_by_keys_and_said_once(page: Page, here: Room, seat: Seat) -> None:
    goals.set_goal(seat, Goal(answers=2))
    room.annotate(page, here.server, here.project)
    goal, saved = page.locator(".goal"), page.locator(".saved")
    expect(goal).to_have_text("0 of 2 today")
    room.press(page, "1")
    expect(goal).to_have_text("1 of 2 today")
    expect(saved).not_to_contain_text("goal")
    room.press(page, "1")
    expect(goal).to_have_text("2 of 2 today")
    expect(saved).to_contain_text("That is your goal for today: 2 answers.")
    room.press(page, "1")
    expect(goal).to_have_text("3 of 2 today")
    expect(saved).not_to_contain_text("goal")


def test_a_pause_hides_the_question_until_enter(annotating: Page, here: Room) -> None:
    page, token = annotating, room.token(annotating)
    page.keyboard.press("Shift+P")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    expect(page.locator(".choice")).to_have_count(0)
    page.keyboard.press("1")
    page.reload()
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(room.CARD)).to_have_attribute("data-token", token)
    assert here.log() == []
    room.press(page, "1")
    assert here.kinds() == ["is"]


def test_the_last_ten_show_their_rows_and_open_one(annotating: Page, here: Room) -> None:
    page, rows = annotating, []
    for _ in range(12):
        rows.append(room.row_id(page))
        room.press(page, "1")
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="Your last answers")
    expect(history.get_by_role("listitem")).to_have_count(12)
    expect(history.locator(".look:has(.about)")).to_have_count(10)
    expect(history.get_by_role("button", name=re.compile("^Open: "))).to_have_count(10)
    history.get_by_role("button", name=re.compile(f"Open: row {rows[-2]} is")).click()
    expect(page.get_by_role("heading", name=f"Row {rows[-2]}")).to_be_visible()


def test_examples_come_by_key_and_go_by_it(page: Page, here: Room, seat: Seat) -> None:
    row, label = decided(seat)
    examples.mark(seat, row, label, "look at the <b>wing</b>")
    room.annotate(page, here.server, here.project)
    page.keyboard.press("Shift+G")
    dialog = page.get_by_role("dialog", name="Examples")
    expect(dialog.get_by_role("heading", name=label, exact=True)).to_be_visible()
    expect(dialog.get_by_text("look at the <b>wing</b>")).to_be_visible()
    page.keyboard.press("Shift+G")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Examples").click()
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("g")
    expect(page.get_by_text("Look twice.")).to_be_visible()


def test_known_rows_are_answered_by_keys_before_the_start(
    browser: Browser, home: Home, here: Room, seat: Seat, name: str
) -> None:
    known = {}
    for _ in range(2):
        row, label = decided(seat)
        examples.mark(seat, row, label, f"why {label}", QUALIFICATION)
        with seat.learner() as opened:
            known[str(opened.learner.table.ids[row])] = label
    qualification.change_rule(seat, QualificationRule(2, 1))
    before = here.log()
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    secret = team.make_link(Seat(home, OWNER), name)
    members.share(Seat(home, OWNER), name, [here.project], "annotator")
    page.goto(f"{here.server.base}/signin?link={secret}")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Projects").wait_for()
    room.annotate(page, here.server, here.project)
    expect(page.get_by_role("heading", name="A few known rows first")).to_be_visible()
    page.keyboard.press("Enter")
    judged, asked = page.locator(".judged"), page.locator(".choice:enabled")
    for wrong in (True, False):
        for number in range(2):
            expect(page.get_by_text(f"Known row {number + 1} of 2")).to_be_visible()
            expect(asked.first).to_be_visible()
            label = known[room.row_id(page)]
            other = next(one for one in room.labels_on_screen(page) if one != label)
            page.keyboard.press(room.key_for(page, other if wrong else label))
            expect(judged).to_contain_text(f"It is {label}." if wrong else "Right.")
            expect(judged).to_contain_text(f"why {label}")
            page.keyboard.press("Enter")
        if wrong:
            expect(page.get_by_role("heading", name="Not yet")).to_be_visible()
            page.keyboard.press("Enter")
    expect(page.locator(".choice:not(.known)").first).to_be_visible()
    assert here.log() == before
    room.press(page, "1")
    assert len(here.log()) == len(before) + 1
    context.close()
