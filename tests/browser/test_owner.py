"""What an owner does beside answering: correct an answer, rename a project, put it away and bring it back."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from workflow.demos.digits import LABELS

pytestmark = pytest.mark.browser


def test_an_answer_is_found_and_corrected_without_a_mouse(
    page: Page, server: Server, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    given = page.locator(".choice .label").first.inner_text()
    asked = room.answer(page, given)
    right = next(label for label in LABELS if label != given)

    page.goto(f"{server.base}/review")
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    page.get_by_role("heading", name=f"Row {asked}", exact=True).wait_for()
    page.get_by_text("Nothing is ever changed or deleted here").wait_for()
    room.drawn(page)
    room.type_choice(page, page.get_by_role("combobox", name="Label", exact=True).last, right)
    page.get_by_label("Note (optional)").fill("looked again")
    button = page.get_by_role("button", name="Save the correction")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stToast")).to_contain_text(f"is {right}")
    page.reload()
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    expect(page.get_by_text("As it stands").locator("xpath=following::p[1]")).to_have_text(right)
    assert not errors


def test_renamed_put_into_the_bin_and_restored(page: Page, server: Server) -> None:
    page.get_by_role("button", name="More of Demo").click()
    page.get_by_role("link", name="Rename, settings").click()
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.wait_for()
    name.fill("Digits of mine")
    page.get_by_role("button", name="Save name and description").click()
    page.get_by_text("Project settings · Digits of mine").wait_for()
    page.get_by_role("tab", name="Put away").click()
    page.get_by_role("button", name="Put it into the bin").click()
    page.get_by_text("Bring rows whose label is uncertain").wait_for()
    page.reload()
    page.get_by_text("Bin (1)").click()
    expect(page.get_by_text("Digits of mine")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("button", name="Start").wait_for()
    expect(page.get_by_text("Bin (1)")).to_have_count(0)
    expect(page.get_by_text("Digits of mine").first).to_be_visible()


def test_a_text_keeps_its_lines_in_review(page: Page, server: Server) -> None:
    lines = "To: you\n\n  * first <b>\n  2. second"
    table = pd.DataFrame(
        {"id": range(6), "candidates": "ant|bee", "letter": [f"{lines} {k}" for k in range(6)]}
    )
    room.import_csv(page, server.base, table, "letters")
    asked = room.answer(page, "ant")
    page.goto(page.url.replace("/annotate", "/review"))
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    text = page.locator("p.text")
    expect(text).to_be_visible()
    assert text.inner_text() == f"{lines} {asked}"


def test_a_refused_change_of_classes_leaves_the_owner_where_they_were(page: Page, server: Server) -> None:
    page.goto(f"{server.base}/settings")
    tab = page.get_by_role("tab", name="Classes")
    tab.click()
    page.get_by_role("textbox", name="New class").fill("7")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Add the class").click()
    expect(page.get_by_text("class '7' already")).to_be_visible()
    expect(tab).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("textbox", name="New class")).to_have_value("7")


def test_a_class_is_renamed_and_people_see_the_new_name(page: Page, server: Server) -> None:
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    old = page.locator(".choice .label").first.inner_text()
    page.goto(f"{server.base}/settings")
    page.get_by_role("tab", name="Classes").click()
    page.get_by_text("Rename", exact=True).click()
    room.choose(page, "Class", old)
    page.get_by_role("textbox", name="New name").fill("a new name")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Rename it").click()
    page.get_by_text(f"Latest change: renamed {old} to a new name.").wait_for()
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    names = page.locator(".choice .label").all_inner_texts()
    assert "a new name" in names
    assert old not in names
    asked = room.answer(page, "a new name")
    page.goto(f"{server.base}/review")
    page.get_by_text("1 answered row").wait_for()
    room.open_line(page, asked)
    expect(page.get_by_text("As it stands").locator("xpath=following::p[1]")).to_have_text("a new name")
