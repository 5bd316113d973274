"""None of these: the search over all classes, including those added while it is open."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from pages.parts.components import scripts_in
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER, Room
from web.packed import FOLDER
from workflow.projects.classes import change_classes
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def test_none_of_these_works_with_and_without_class(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "0", "Enter")
    assert here.kinds() == ["none"]
    assert room.labels_on_screen(page) == ["ant", "bee", "cat"]
    outside = "dog"
    page.keyboard.press("0")
    expect(page.get_by_role("combobox", name="Search all classes")).to_be_focused()
    page.keyboard.type(outside)
    expect(page.get_by_role("option").first).to_contain_text(outside)
    shown, row = room.token(page), room.row_id(page)
    page.keyboard.press("Enter")
    room.wait_for_next(page, shown)
    log = here.log()
    assert [entry["kind"] for entry in log] == ["none", "none", "is"]
    assert log[2]["labels"] == f'["{outside}"]'
    expect(page.locator(".saved")).to_contain_text(f"row {row} is {outside}")
    # One press, one undo; and the search closes without an answer.
    room.press(page, "u")
    assert here.kinds() == ["none", "none", "is", "withdraw", "withdraw"]
    assert room.row_id(page) == row
    page.keyboard.press("0")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(here.kinds()) == 5


def test_misspelt_class_is_not_mistaken_for_none_of_these(annotating: Page, here: Room) -> None:
    page = annotating
    page.keyboard.press("0")
    search = page.get_by_role("dialog", name="None of these")
    page.keyboard.type("dgo")
    expect(search.get_by_role("status")).to_contain_text("No match.")
    page.keyboard.press("Enter")
    expect(search).to_be_visible()
    assert here.kinds() == []
    page.keyboard.press("ArrowDown")
    room.press(page, "Enter")
    assert here.kinds() == ["none"]


def test_class_added_meanwhile_is_found_in_open_tab(annotating: Page, here: Room, home: Home) -> None:
    page = annotating
    change_classes(Seat(home, OWNER, here.project), 0, "add", ["eel"])
    room.press(page, "1")
    expect(page.locator(".saved")).not_to_contain_text("Not saved")  # its meaning is unchanged
    assert len(here.log()) == 2
    page.keyboard.press("0")
    search = page.get_by_role("dialog", name="None of these")
    expect(search.get_by_role("status")).to_have_text("5 found.")  # also if it was opened before the list arrived
    page.keyboard.type("ee")
    expect(search.get_by_role("option").first).to_contain_text("eel")
    row = room.row_id(page)
    room.press(page, "Enter")
    expect(page.locator(".saved")).to_contain_text(f"row {row} is eel")
    assert json.loads(here.log()[-1]["labels"]) == ["eel"]


def test_late_class_list_is_shown_in_open_search(annotating: Page, here: Room) -> None:
    page = annotating
    search = page.get_by_role("dialog", name="None of these")
    lit = search.locator("[aria-selected=true]")
    address = page.evaluate("(address) => new URL(address, document.baseURI).href", scripts_in(FOLDER).address)
    module = f"(await import('{address}')).default['one_label/search.js']"
    room.until(page, f"async () => {module}.classesOf({here.project}).length > 0")
    page.evaluate(f"""async () => {{
        window.classes = {module};
        window.all = window.classes.classesOf({here.project}).map((one) => [one.label, one.about]);
        window.classes.keep({here.project}, window.all.slice(2));
    }}""")
    page.keyboard.press("0")
    expect(search.get_by_role("status")).to_have_text("2 found.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = lit.locator("span").first.inner_text()
    page.evaluate(f"window.classes.keep({here.project}, window.all)")
    expect(search.get_by_role("status")).to_have_text("4 found.")
    expect(lit).to_contain_text(chosen)  # Enter chooses the same as before
    page.keyboard.press("Enter")
    expect(page.locator(".saved")).to_contain_text(f"is {chosen}")


def test_thousand_classes_are_loaded_once_and_searchable(page: Page, server: Server) -> None:
    names = [f"species-{number:04d}" for number in range(1000)]
    frame = pd.DataFrame(
        {
            "id": [f"r{number}" for number in range(1000)],
            "candidates": [f"{names[k]}|{names[(k * 7 + 1) % 1000]}" for k in range(1000)],
            "x": [k / 1000 for k in range(1000)],
            "y": [(k * 37 % 1000) / 1000 for k in range(1000)],
        }
    )
    frames: list[bytes | str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(frame)))
    room.import_csv(page, server.base, frame, "species")

    def holds_the_list() -> bool:
        raw = [one if isinstance(one, bytes) else one.encode() for one in frames]
        return any(one.count(b"species-0") > 500 for one in raw)

    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    assert holds_the_list()
    frames.clear()
    with page.expect_response("**/presses/*") as told:
        room.press(page, "1")
    frames.append(told.value.body())
    assert not holds_the_list(), "an answer does not send the classes again"
    page.keyboard.press("0")
    search = page.get_by_role("combobox", name="Search all classes")
    search.wait_for()
    took = search.evaluate("""(input) => {
        const times = [1, 2, 3, 4, 5].map(() => {  // others may have the processor in between
            const begun = performance.now();
            for (const words of ["s", "sp", "species-09", "0999", "species 0999"]) {
                input.value = words;
                input.dispatchEvent(new Event("input"));
            }
            return performance.now() - begun;
        });
        return Math.min(...times);
    }""")
    expect(page.get_by_role("option")).to_have_count(2)
    assert took < 5 * 50, "a letter typed is answered at once"
    room.press(page, "Enter")
    log = room.log_of(server, int(re.search(r"project=(\d+)", page.url)[1]))  # type: ignore[index]
    assert [entry["kind"] for entry in log] == ["is", "none", "is"]
    assert log[2]["labels"] == '["species-0999"]'
