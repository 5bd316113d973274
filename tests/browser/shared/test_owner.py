"""Owner tasks next to answering: correct an answer, change classes, reread a text."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import Room
from workflow.demos.digits import LABELS

pytestmark = pytest.mark.browser


def test_answer_is_found_and_corrected_by_keyboard(
    page: Page, server: Server, digits: int, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    room.annotate(page, server, digits)
    given = page.locator(".choice .label").first.inner_text()
    asked = room.answer(page, given)
    right = next(label for label in LABELS if label != given)

    page.goto(f"{server.base}/review?project={digits}")
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    page.get_by_role("heading", name=f"Row {asked}", exact=True).wait_for()
    page.get_by_text("Corrections are added, nothing is overwritten").wait_for()
    room.drawn(page)
    room.type_choice(page, page.get_by_role("combobox", name="Label", exact=True).last, right)
    page.get_by_label("Note (optional)").fill("looked again")
    button = page.get_by_role("button", name="Save correction")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stToast")).to_contain_text(f"is {right}")
    page.reload()
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    expect(page.get_by_text("Current labels").locator("xpath=following::p[1]")).to_have_text(right)
    assert not errors


@pytest.mark.proof
def test_text_keeps_its_lines_in_review(page: Page, server: Server) -> None:
    lines = "To: you\n\n  * first <b>\n  2. second"
    table = pd.DataFrame({"id": range(6), "candidates": "ant|bee", "letter": [f"{lines} {k}" for k in range(6)]})
    room.import_csv(page, server.base, table, "letters")
    asked = room.answer(page, "ant")
    page.goto(page.url.replace("/annotate", "/review"))
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    text = page.locator("p.text")
    expect(text).to_be_visible()
    assert text.inner_text() == f"{lines} {asked}"


def test_phone_has_one_select_for_sections_of_settings(browser: Browser, here: Room, signed_in: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    page = context.new_page()
    page.goto(f"{here.server.base}/settings?project={here.project}")
    section = page.get_by_role("combobox", name="Section", exact=True)
    section.select_option("Danger zone")
    expect(page.get_by_role("button", name="Archive")).to_be_visible()
    expect(page.get_by_role("tab")).to_have_count(0)
    section.select_option("General")
    name = page.get_by_role("textbox", name="Name", exact=True)
    expect(name).to_have_count(1)
    section.select_option("Questions")
    expect(name).to_have_count(0)
    page.get_by_role("textbox", name="Guidelines").fill("Look twice.")
    page.get_by_role("textbox", name="Guidelines").blur()
    page.get_by_text("Saved", exact=True).first.wait_for()
    expect(section).to_have_value("Questions")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    section.select_option("Model")
    chosen = page.get_by_role("combobox", name="Model", exact=True)
    assert chosen.evaluate("one => one.scrollWidth > one.clientWidth"), "the choice is longer than its box"
    assert chosen.evaluate("one => getComputedStyle(one).textOverflow") == "ellipsis", "so it ends in dots"
    context.close()


def test_number_of_settings_stays_next_to_its_words_while_it_is_typed(page: Page, here: Room) -> None:
    page.goto(f"{here.server.base}/settings?project={here.project}")
    page.get_by_role("tab", name="Team").click()
    number = page.get_by_role("spinbutton", name="Annotators per row")
    hint = page.get_by_text("Rows need this many independent answers.")
    before = room.place_of(number)
    number.fill("2")
    words, typed = room.place_of(hint), room.place_of(number)
    assert typed == before
    assert typed["x"] > words["x"] + words["width"]


def test_refused_class_keeps_tab_and_renamed_class_is_shown(page: Page, here: Room) -> None:
    room.annotate(page, here.server, here.project)
    old = page.locator(".choice .label").first.inner_text()
    page.goto(f"{here.server.base}/settings?project={here.project}")
    tab = page.get_by_role("tab", name="Questions")
    tab.click()
    page.get_by_role("textbox", name="New class").fill(old)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add the class").click()
    expect(page.get_by_text(f"class '{old}' already")).to_be_visible()
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("textbox", name="New class")).to_have_value(old)

    page.get_by_text("Rename", exact=True).click()
    room.choose(page, "Class", old)
    page.get_by_role("textbox", name="New name").fill("a new name")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Rename it").click()
    page.get_by_text(f"Latest change: renamed {old} to a new name.").wait_for()
    room.annotate(page, here.server, here.project)
    names = room.labels_on_screen(page)
    assert "a new name" in names
    assert old not in names
    asked = room.answer(page, "a new name")
    page.goto(f"{here.server.base}/review?project={here.project}")
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    expect(page.get_by_text("Current labels").locator("xpath=following::p[1]")).to_have_text("a new name")
