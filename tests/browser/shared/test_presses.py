"""Presses go past the page: what it draws before, beside and after them never takes the card back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import room
from tests.browser.shared.conftest import OWNER, Room
from tests.workflow.vector_world import vector_project
from workflow.answering.room import change_room, room_of
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

PRESSES = re.compile("/presses/")


def sent_by(page: Page) -> list[int]:
    """Statuses of what the route has answered to this page from now on."""
    found: list[int] = []
    page.on("response", lambda answer: found.append(answer.status) if PRESSES.search(answer.url) else None)
    return found


def by_its_page(page: Page) -> list[bytes]:
    """Presses that go by the page, which is loaded anew, from now on."""
    found: list[bytes] = []

    def note(sent: str | bytes) -> None:
        if isinstance(sent, bytes) and b'"press"' in sent:
            found.append(sent)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.reload()
    page.locator(room.CARD).wait_for()
    return found


def test_an_answer_runs_no_page_and_stands_whatever_the_page_draws(
    annotating: Page, here: Room, errors_of: Callable[[Page], list[str]]
) -> None:
    page, errors, statuses = annotating, errors_of(annotating), sent_by(annotating)
    told = by_its_page(page)
    for _ in range(3):
        room.press(page, "1")
    assert (statuses, told) == ([200] * 3, [])
    token, row = room.token(page), room.row_id(page)
    page.keyboard.press(",")  # the page runs for it, and draws its card with what it finds
    dialog = page.get_by_role("dialog", name="Similar answered rows")
    expect(dialog.locator(".likes")).not_to_contain_text("Looking")
    page.keyboard.press("Escape")
    assert (room.token(page), room.row_id(page)) == (token, row)
    page.emulate_media(color_scheme="dark")
    page.emulate_media(color_scheme="light")
    expect(page.locator(room.CARD)).to_have_attribute("data-token", token)
    expect(page.locator(".saved")).to_contain_text("Saved: ")
    room.press(page, "u")
    assert here.kinds() == ["is"] * 3 + ["withdraw"]
    assert errors == []


def test_a_page_that_was_left_comes_back_with_what_stands(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "1")
    room.press(page, "2")
    token = room.token(page)
    page.get_by_role("link", name="Progress").click()
    expect(page.locator(room.CARD)).to_have_count(0)
    page.get_by_role("link", name="Answer").click()
    expect(page.locator(room.CARD)).to_have_attribute("data-token", token)
    room.press(page, "1")
    token = room.token(page)
    page.reload()
    expect(page.locator(room.CARD)).to_have_attribute("data-token", token)
    assert here.kinds() == ["is"] * 3


def test_two_tabs_store_one_answer_to_one_question(annotating: Page, here: Room) -> None:
    page, other = annotating, annotating.context.new_page()
    room.annotate(other, here.server, here.project)
    assert room.token(other) == room.token(page)
    room.press(page, "1")
    room.press(other, "1")
    expect(other.locator(".saved")).to_contain_text("answered already")
    assert (here.kinds(), room.token(other)) == (["is"], room.token(page))
    room.press(other, "2")
    assert here.kinds() == ["is", "is"]


def test_what_was_typed_stays_until_a_server_that_was_gone_has_it(annotating: Page, here: Room) -> None:
    page, lost = annotating, list[str]()

    def cut(route: Route) -> None:
        if len(lost) == 0:  # nothing of it arrives
            route.abort()
        else:  # it is stored, and nobody hears of it
            route.fetch()
            route.fulfill(status=502, body="Bad gateway")
        lost.append(route.request.post_data or "")
        if len(lost) == 2:
            page.unroute(PRESSES)

    page.route(PRESSES, cut)
    page.keyboard.press("t")
    page.keyboard.type("heard twice")
    page.keyboard.press("Escape")
    statuses = sent_by(page)
    room.press(page, "1")
    assert statuses[-1] == 200
    (entry,) = here.log()
    assert (entry["kind"], entry["note"]) == ("is", "heard twice")
    expect(page.locator(".saved")).to_contain_text("Saved: ")


def test_a_refusal_in_words_keeps_the_card_and_what_was_typed(annotating: Page, here: Room) -> None:
    page = annotating
    page.route(
        PRESSES, lambda route: route.fulfill(status=503, content_type="text/plain", body="The disk is full.")
    )
    page.keyboard.press("t")
    page.keyboard.type("mine")
    page.keyboard.press("Escape")
    token = room.token(page)
    page.keyboard.press("1")
    expect(page.locator(".saved")).to_have_text("The disk is full.")
    assert room.token(page) == token
    page.unroute(PRESSES)
    room.press(page, "1")
    assert [(entry["kind"], entry["note"]) for entry in here.log()] == [("is", "mine")]


def test_where_only_pages_come_through_presses_go_by_the_page(annotating: Page, here: Room) -> None:
    page, asked, told = annotating, list[str](), by_its_page(annotating)
    page.route(PRESSES, lambda route: (asked.append("x"), route.fulfill(status=405))[1])
    room.press(page, "1")
    room.press(page, "2")
    room.press(page, "u")
    assert (here.kinds(), len(asked), len(told)) == (["is", "is", "withdraw"], 1, 3)


def test_a_press_after_the_sign_in_has_ended_stores_nothing_and_says_so(
    here: Room, browser: Any, home: Home
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{here.server.base}/signin?link={team.make_start_link(home)}")
    page.get_by_role("heading", name="Projects").wait_for()
    room.annotate(page, here.server, here.project)
    room.press(page, "1")
    page.context.clear_cookies()
    page.keyboard.press("1")
    page.wait_for_url(re.compile("/signin"))
    assert here.kinds() == ["is"]
    context.close()


def test_guidelines_that_the_owner_changes_come_with_the_next_answer(
    annotating: Page, here: Room, home: Home
) -> None:
    page, seat = annotating, Seat(home, OWNER, here.project)
    room.press(page, "1")
    change_room(seat, replace(room_of(seat), guidelines="Count the legs."))
    room.press(page, "1")
    page.keyboard.press("g")
    expect(page.get_by_text("Count the legs.")).to_be_visible()
    token = room.token(page)
    room.press(page, "1")
    assert (len(here.log()), room.token(page) == token) == (3, False)


def test_label_vectors_go_the_same_way(page: Page, here: Room, home: Home) -> None:
    project = vector_project(home, OWNER, f"{here.name} vectors", question="instance")
    room.annotate(page, here.server, project)
    statuses = sent_by(page)
    room.press(page, "1", "Enter")
    room.press(page, "s")
    room.press(page, "u")
    assert statuses == [200] * 3
    assert len(room.log_of(here.server, project)) >= 3
