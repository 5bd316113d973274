"""Key presses, clicks and answers in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser import room
from tests.browser.shared.conftest import OWNER, Room
from tests.databases import on_postgres_in_proofs
from tests.workflow.vector_world import vector_project
from workflow.answering.room import change_room, room_of
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

# Answers bypass the page: its redraws before, during and after never reset the card


pytestmark = pytest.mark.browser

PRESSES = re.compile("/presses/")


def sent_by(page: Page) -> list[int]:
    """Statuses of the route's replies to this page from now on."""
    found: list[int] = []
    page.on("response", lambda answer: found.append(answer.status) if PRESSES.search(answer.url) else None)
    return found


def by_its_page(page: Page) -> list[bytes]:
    """Answers sent through the page, with a reload, from now on."""
    found: list[bytes] = []

    def note(sent: str | bytes) -> None:
        if isinstance(sent, bytes) and b'"press"' in sent:
            found.append(sent)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.reload()
    page.locator(room.CARD).wait_for()
    return found


def test_answer_runs_no_page_script_and_survives_redraw(
    annotating: Page, here: Room, errors_of: Callable[[Page], list[str]]
) -> None:
    page, errors, statuses = annotating, errors_of(annotating), sent_by(annotating)
    told = by_its_page(page)
    for _ in range(3):
        room.press(page, "1")
    assert (statuses, told) == ([200] * 3, [])
    token, row = room.token(page), room.row_id(page)
    page.keyboard.press(",")  # the page reruns for it, and redraws its card
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


def test_reopened_page_shows_current_question(annotating: Page, here: Room) -> None:
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
    expect(other.locator(".saved")).to_contain_text("already answered")
    assert (here.kinds(), room.token(other)) == (["is"], room.token(page))
    room.press(other, "2")
    assert here.kinds() == ["is", "is"]


def test_note_is_kept_until_lost_server_stores_it(annotating: Page, here: Room) -> None:
    page, lost = annotating, list[str]()

    def cut(route: Route) -> None:
        if len(lost) == 0:  # the request is lost
            route.abort()
        else:  # it is stored, and the reply is lost
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


def test_refused_answer_keeps_card_and_note(annotating: Page, here: Room) -> None:
    page = annotating
    page.route(PRESSES, lambda route: route.fulfill(status=503, content_type="text/plain", body="The disk is full."))
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


def test_answers_go_through_page_if_route_is_blocked(annotating: Page, here: Room) -> None:
    page, asked, told = annotating, list[str](), by_its_page(annotating)
    page.route(PRESSES, lambda route: (asked.append("x"), route.fulfill(status=405))[1])
    room.press(page, "1")
    room.press(page, "2")
    room.press(page, "u")
    assert (here.kinds(), len(asked), len(told)) == (["is", "is", "withdraw"], 1, 3)


def test_press_after_sign_in_ended_redirects_and_stores_nothing(here: Room, browser: Any, home: Home) -> None:
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


def test_changed_guidelines_arrive_with_next_answer(annotating: Page, here: Room, home: Home) -> None:
    page, seat = annotating, Seat(home, OWNER, here.project)
    room.press(page, "1")
    change_room(seat, replace(room_of(seat), guidelines="Count the legs."))
    room.press(page, "1")
    page.keyboard.press("g")
    expect(page.get_by_text("Count the legs.")).to_be_visible()
    token = room.token(page)
    room.press(page, "1")
    assert (len(here.log()), room.token(page) == token) == (3, False)


def test_label_vector_answers_use_press_route(page: Page, here: Room, home: Home) -> None:
    project = vector_project(home, OWNER, f"{here.name} vectors", question="instance")
    room.annotate(page, here.server, project)
    statuses = sent_by(page)
    room.press(page, "1", "Enter")
    room.press(page, "s")
    room.press(page, "u")
    assert statuses == [200] * 3
    assert len(room.log_of(here.server, project)) >= 3


# Every answer by key: the pressed label is stored, and undo brings the row back


@on_postgres_in_proofs
def test_each_kind_of_answer_has_its_key(annotating: Page, here: Room) -> None:
    page = annotating
    offered = room.labels_on_screen(page)
    page.keyboard.press("m")
    expect(page.locator(".choice").first).to_have_attribute("aria-pressed", "false")
    for key in ("1", "2", "2", "3"):  # the second press of 2 removes its mark
        page.keyboard.press(key)
    assert here.kinds() == [], "a mark is not an answer"
    room.press(page, "Enter")
    room.press(page, "c")
    room.press(page, "x")
    room.press(page, "s")
    row, before = room.row_id(page), room.labels_on_screen(page)
    room.press(page, "Shift+2")
    assert room.row_id(page) == row, "a row that is still open stays"
    assert room.labels_on_screen(page) == [label for label in before if label != before[1]]
    log = here.log()
    assert [entry["kind"] for entry in log] == ["among", "unsure", "bad", "skip", "not"]
    assert log[0]["labels"] == f'["{offered[0]}", "{offered[2]}"]'.replace(", ", ", ")
    assert log[4]["labels"] == f'["{before[1]}"]'


def test_escape_stops_marking_and_single_mark_is_plain_answer(annotating: Page, here: Room) -> None:
    page = annotating
    page.keyboard.press("m")
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.locator(".markbar")).to_be_hidden()
    label = room.labels_on_screen(page)[1]
    room.press(page, "m", "2", "Enter")
    (entry,) = here.log()
    assert (entry["kind"], entry["labels"]) == ("is", f'["{label}"]')


@on_postgres_in_proofs
def test_undo_and_redo_work_by_key_and_in_history(annotating: Page, here: Room) -> None:
    page = annotating
    rows = []
    for _ in range(3):
        rows.append(room.row_id(page))
        room.press(page, "1")
    room.press(page, "u")
    room.press(page, "Shift+U")
    assert here.kinds() == ["is"] * 3 + ["withdraw", "is"]
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="Your last answers")
    expect(history.get_by_role("listitem")).to_have_count(4)
    shown = room.token(page)
    history.get_by_role("button", name=re.compile(f"Undo: row {rows[0]} is")).click()
    room.wait_for_next(page, shown)
    assert room.row_id(page) == rows[0]
    log = here.log()
    assert (log[-1]["kind"], log[-1]["target_seq"]) == ("withdraw", 1)
    page.keyboard.press("h")
    shown = room.token(page)
    history.get_by_role("button", name=re.compile(f"Redo: row {rows[0]} is")).click()
    room.wait_for_next(page, shown)
    log = here.log()
    assert (log[-1]["kind"], log[-1]["labels"]) == ("is", log[0]["labels"])


@on_postgres_in_proofs
def test_rapid_redo_presses_store_one_answer(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "1")
    room.press(page, "u")
    shown = room.token(page)
    for _ in range(4):
        page.keyboard.press("Shift+U")
        page.wait_for_timeout(30)
    room.wait_for_next(page, shown)
    page.wait_for_timeout(500)
    assert here.kinds() == ["is", "withdraw", "is"]


def test_key_sheet_gives_no_answer(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    for word in ("Rule it out", "Mark several", "None of these", "Undo, redo"):
        expect(sheet).to_contain_text(word)
    expect(sheet.locator("dt").first).to_be_in_viewport()
    for key in ("1", "s", "c", "x", "r", "m"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    assert room.token(page) == shown
    assert here.kinds() == []
    room.press(page, "1")


@on_postgres_in_proofs
def test_note_and_flag_belong_to_one_answer(annotating: Page, here: Room) -> None:
    page = annotating
    page.keyboard.press("t")
    page.keyboard.type("1 or 7? s u x")
    assert here.kinds() == [], "typing in the note answers nothing"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_role("button", name="Flag", exact=True)).to_have_attribute("aria-pressed", "true")
    room.press(page, "1")
    expect(page.locator(".note")).to_be_hidden()
    room.press(page, "1")
    first, second = here.log()
    assert (first["note"], first["flagged"]) == ("1 or 7? s u x", 1)
    assert (second["note"], second["flagged"]) == (None, 0)


def test_note_is_kept_while_earlier_answer_is_undone(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "1")
    row = room.row_id(page)
    page.keyboard.press("t")
    page.keyboard.type("too dark")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    room.press(page, "u")
    assert room.row_id(page) != row
    expect(page.locator(".note")).to_be_hidden()
    room.press(page, "1")
    assert room.row_id(page) == row
    expect(page.locator(".note")).to_have_value("too dark")
    room.press(page, "1")
    assert [(entry["kind"], entry["note"], entry["flagged"]) for entry in here.log()] == [
        ("is", None, 0),
        ("withdraw", None, 0),
        ("is", None, 0),
        ("is", "too dark", 1),
    ]
    room.press(page, "u")
    expect(page.locator(".note")).to_be_hidden()


def test_long_history_can_be_closed(annotating: Page, here: Room) -> None:
    page = annotating
    for _ in range(16):
        room.press(page, "s")
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="Your last answers")
    expect(history.get_by_role("listitem")).to_have_count(16)
    close = history.get_by_role("button", name="Close")
    expect(close).to_be_focused()
    expect(close).to_be_in_viewport(ratio=1)
    page.keyboard.press("Enter")
    expect(history).to_have_count(0)
    assert set(here.kinds()) == {"skip"}


def at_once(page: Page, keys: str) -> None:
    """Press these keys at once, while the answer of the first is on its way."""
    press = "new KeyboardEvent('keydown', { key, code: /[0-9]/.test(key) ? `Digit${key}` : '' })"
    page.evaluate(f"(keys) => [...keys].forEach((key) => window.dispatchEvent({press}))", keys)


def test_mark_made_while_saving_is_for_next_question(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    at_once(page, "1m2")
    room.wait_for_next(page, shown)
    expect(page.locator(".choice").first).to_have_attribute(
        "aria-pressed", "false"
    )  # marking; 2 belonged to no question
    offered = room.labels_on_screen(page)
    room.press(page, "1", "2", "Enter")
    assert here.kinds() == ["is", "among"]
    assert json.loads(here.log()[-1]["labels"]) == offered[:2]


def test_note_typed_while_saving_is_for_next_question(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    at_once(page, "1txu?")
    room.wait_for_next(page, shown)
    page.keyboard.type(" more")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("xu? more")
    page.keyboard.press("Escape")
    room.press(page, "2")
    assert [(entry["kind"], entry["note"]) for entry in here.log()] == [("is", None), ("is", "xu? more")]


def test_invalid_note_is_refused_and_kept(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    page.keyboard.press("t")
    # Half of a character, as a broken input method or a script leaves it.
    page.locator(".note").evaluate(
        "field => { field.value = 'heard twice \\ud83d'; field.dispatchEvent(new Event('input')) }"
    )
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".saved")).to_contain_text("Not saved: A note cannot be stored with half of a character")
    assert room.token(page) == shown
    assert page.locator(".note").evaluate("field => field.value.slice(0, 11)") == "heard twice"
    assert here.log() == []
    page.locator(".note").fill("heard twice")
    page.keyboard.press("Escape")
    room.press(page, "1")
    (entry,) = here.log()
    assert entry["note"] == "heard twice"
    assert not [line for line in here.server.lines if "Traceback" in line]
