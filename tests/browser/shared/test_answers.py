"""Every answer by key: what is pressed is what is stored, and comes back."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.shared.conftest import Room
from tests.databases import on_both

pytestmark = pytest.mark.browser


@on_both
def test_each_kind_has_its_key(annotating: Page, here: Room) -> None:
    page = annotating
    offered = room.labels_on_screen(page)
    page.keyboard.press("m")
    expect(page.locator(".choice").first).to_have_attribute("aria-pressed", "false")
    for key in ("1", "2", "2", "3"):  # the second press of 2 takes its mark away
        page.keyboard.press(key)
    assert here.kinds() == [], "a mark is no answer"
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


def test_escape_stops_marking_and_one_mark_is_a_plain_answer(annotating: Page, here: Room) -> None:
    page = annotating
    page.keyboard.press("m")
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.locator(".markbar")).to_be_hidden()
    label = room.labels_on_screen(page)[1]
    room.press(page, "m", "2", "Enter")
    (entry,) = here.log()
    assert (entry["kind"], entry["labels"]) == ("is", f'["{label}"]')


@on_both
def test_undo_and_redo_by_key_and_in_the_history(annotating: Page, here: Room) -> None:
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


@on_both
def test_presses_of_redo_in_quick_succession_store_one_answer(annotating: Page, here: Room) -> None:
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


def test_the_key_sheet_answers_nothing(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    for word in ("Rule it out", "Mark several", "None of these", "Undo, redo"):
        expect(sheet).to_contain_text(word)
    for key in ("1", "s", "c", "x", "r", "m"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    assert room.token(page) == shown
    assert here.kinds() == []
    room.press(page, "1")


@on_both
def test_note_and_flag_go_with_the_answer_and_no_further(annotating: Page, here: Room) -> None:
    page = annotating
    page.keyboard.press("t")
    page.keyboard.type("1 or 7? s u x")
    assert here.kinds() == [], "typing in the note answers nothing"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_role("button", name="Flag")).to_have_attribute("aria-pressed", "true")
    room.press(page, "1")
    expect(page.locator(".note")).to_be_hidden()
    room.press(page, "1")
    first, second = here.log()
    assert (first["note"], first["flagged"]) == ("1 or 7? s u x", 1)
    assert (second["note"], second["flagged"]) == (None, 0)


def test_a_note_waits_while_an_earlier_answer_is_taken_back(annotating: Page, here: Room) -> None:
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


def test_a_long_history_can_be_closed_where_one_is(annotating: Page, here: Room) -> None:
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
    """Press these keys in one moment: while what the first of them answers is on its way."""
    press = "new KeyboardEvent('keydown', { key, code: /[0-9]/.test(key) ? `Digit${key}` : '' })"
    page.evaluate(f"(keys) => [...keys].forEach((key) => window.dispatchEvent({press}))", keys)


def test_a_mark_begun_while_an_answer_is_saved_is_for_the_next_question(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    at_once(page, "1m2")
    room.wait_for_next(page, shown)
    expect(page.locator(".choice").first).to_have_attribute(
        "aria-pressed", "false"
    )  # marking; 2 was for no question
    offered = room.labels_on_screen(page)
    room.press(page, "1", "2", "Enter")
    assert here.kinds() == ["is", "among"]
    assert json.loads(here.log()[-1]["labels"]) == offered[:2]


def test_a_note_begun_while_an_answer_is_saved_is_written_to_the_next_question(
    annotating: Page, here: Room
) -> None:
    page = annotating
    shown = room.token(page)
    at_once(page, "1txu?")
    room.wait_for_next(page, shown)
    page.keyboard.type(" more")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("xu? more")
    page.keyboard.press("Escape")
    room.press(page, "2")
    assert [(entry["kind"], entry["note"]) for entry in here.log()] == [("is", None), ("is", "xu? more")]


def test_a_note_that_cannot_be_stored_is_refused_in_words_and_kept(annotating: Page, here: Room) -> None:
    page = annotating
    shown = room.token(page)
    page.keyboard.press("t")
    # Half of a character, as a broken input method or a script leaves it.
    page.locator(".note").evaluate(
        "field => { field.value = 'heard twice \\ud83d'; field.dispatchEvent(new Event('input')) }"
    )
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".saved")).to_contain_text(
        "Not saved: A note cannot be stored with half of a character"
    )
    assert room.token(page) == shown
    assert page.locator(".note").evaluate("field => field.value.slice(0, 11)") == "heard twice"
    assert here.log() == []
    page.locator(".note").fill("heard twice")
    page.keyboard.press("Escape")
    room.press(page, "1")
    (entry,) = here.log()
    assert entry["note"] == "heard twice"
    assert not [line for line in here.server.lines if "Traceback" in line]
