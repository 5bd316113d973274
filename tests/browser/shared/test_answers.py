"""Every answer by key, by button and on a phone: what is pressed is what is stored."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_accessibility import findings
from tests.workflow.four import four_class_project
from workflow.classes import change_classes
from workflow.home import Home
from workflow.room import RoomSettings, change_room

pytestmark = pytest.mark.browser
ROOM = RoomSettings(
    "Look **twice**. <img src=x onerror='window.hurt=1'>", "fixed", {"cat": "with whiskers", "dog": "barks"}
)


class Room:
    """A project of its own on the server all these tests share: rows of three candidates out of four classes."""

    def __init__(self, server: Server, home: Home, name: str) -> None:
        self.server = server
        self.project = four_class_project(home, OWNER, name)
        change_room(home, OWNER, self.project, ROOM)

    @property
    def address(self) -> str:
        return f"{self.server.base}/annotate?project={self.project}"

    def log(self) -> list[dict[str, Any]]:
        """The entries as they lie in the database."""
        return room.log_of(self.server, self.project)

    def kinds(self) -> list[str]:
        return [entry["kind"] for entry in self.log()]


def labels_on_screen(page: Page) -> list[str]:
    return page.locator(".choice .label").all_inner_texts()


@pytest.fixture
def here(server: Server, home: Home, name: str) -> Room:
    return Room(server, home, name)


@pytest.fixture
def annotating(page: Page, here: Room) -> Page:
    room.annotate(page, here.server, here.project)
    return page


def test_each_kind_has_its_key(annotating: Page, here: Room) -> None:
    page = annotating
    offered = labels_on_screen(page)
    page.keyboard.press("m")
    expect(page.locator(".choice").first).to_have_attribute("aria-pressed", "false")
    for key in ("1", "2", "2", "3"):  # the second press of 2 takes its mark away
        page.keyboard.press(key)
    assert here.kinds() == [], "a mark is no answer"
    room.press(page, "Enter")
    room.press(page, "c")
    room.press(page, "x")
    room.press(page, "s")
    row, before = room.row_id(page), labels_on_screen(page)
    room.press(page, "Shift+2")
    assert room.row_id(page) == row, "a row that is still open stays"
    assert labels_on_screen(page) == [label for label in before if label != before[1]]
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
    label = labels_on_screen(page)[1]
    room.press(page, "m", "2", "Enter")
    (entry,) = here.log()
    assert (entry["kind"], entry["labels"]) == ("is", f'["{label}"]')


def test_none_of_these_with_and_without_a_name(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "0", "Enter")
    assert here.kinds() == ["none"]
    assert labels_on_screen(page) == ["ant", "bee", "cat"]
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


def test_undo_and_redo_by_key_and_in_the_history(annotating: Page, here: Room) -> None:
    page = annotating
    rows = []
    for _ in range(3):
        rows.append(room.row_id(page))
        room.press(page, "1")
    room.press(page, "u")
    room.press(page, "y")
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


def test_presses_of_redo_in_quick_succession_store_one_answer(annotating: Page, here: Room) -> None:
    page = annotating
    room.press(page, "1")
    room.press(page, "u")
    shown = room.token(page)
    for _ in range(4):
        page.keyboard.press("y")
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


def test_many_candidates_leave_the_reason_in_sight_also_under_long_guidelines(
    page: Page, server: Server, home: Home
) -> None:
    names = [f"species {number:02d}" for number in range(14)]
    frame = pd.DataFrame(
        {"id": range(30), "candidates": "|".join(names[:13]), "x": range(30), "y": range(30)}
    )
    frame.loc[0, "candidates"] = names[13]
    room.import_csv(page, server.base, frame, "many")
    project = int(re.search(r"project=(\d+)", page.url)[1])  # type: ignore[index]
    rules = "\n".join(f"1. Rule {k}." for k in range(80))
    change_room(home, OWNER, project, RoomSettings(rules, "fixed", {}))
    page.reload()
    page.locator(room.CARD).wait_for()
    expect(page.locator(".choice")).to_have_count(13)
    footer = page.locator(".foot").bounding_box()
    reason, choices = page.locator(".why").bounding_box(), page.locator(".choices").bounding_box()
    assert footer is not None
    assert reason is not None
    assert choices is not None
    assert reason["y"] + reason["height"] <= footer["y"]
    assert choices["height"] > 300, "most candidates are seen at once"
    page.keyboard.press("g")
    expect(page.get_by_text("Rule 1.", exact=True)).to_be_visible()
    page.wait_for_timeout(500)
    card = page.locator(room.CARD).bounding_box()
    assert card is not None
    assert card["y"] < 500, "the question stays on the screen"


def test_a_class_added_meanwhile_is_found_in_an_open_tab(annotating: Page, here: Room, home: Home) -> None:
    page = annotating
    change_classes(home, OWNER, here.project, 0, "add", ["eel"])
    room.press(page, "1")
    expect(page.locator(".saved")).not_to_contain_text("Not saved")  # what it meant it still means
    assert len(here.log()) == 2
    page.keyboard.press("0")
    search = page.get_by_role("dialog", name="None of these")
    expect(search.get_by_role("status")).to_have_text(
        "5 found."
    )  # also where it was opened before the list came
    page.keyboard.type("ee")
    expect(search.get_by_role("option").first).to_contain_text("eel")
    row = room.row_id(page)
    room.press(page, "Enter")
    expect(page.locator(".saved")).to_contain_text(f"row {row} is eel")
    assert json.loads(here.log()[-1]["labels"]) == ["eel"]


def test_a_list_that_comes_late_is_shown_in_the_open_search(annotating: Page, here: Room) -> None:
    page = annotating
    search = page.get_by_role("dialog", name="None of these")
    lit = search.locator("[aria-selected=true]")
    listed = f"window.__winnowClasses.get({here.project})"
    page.wait_for_function(f"window.__winnowClasses && {listed}")
    page.evaluate(f"window.late = {listed}.splice(0, 2)")
    page.keyboard.press("0")
    expect(search.get_by_role("status")).to_have_text("2 found.")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = lit.locator("span").first.inner_text()
    page.evaluate(f"{listed}.unshift(...window.late); window.dispatchEvent(new Event('winnow-classes'))")
    expect(search.get_by_role("status")).to_have_text("4 found.")
    expect(lit).to_contain_text(chosen)  # Enter takes what it would have taken
    page.keyboard.press("Enter")
    expect(page.locator(".saved")).to_contain_text(f"is {chosen}")


def test_the_image_is_zoomed_and_the_keys_stay_its_own(page: Page, server: Server, digits: int) -> None:
    room.annotate(page, server, digits)
    page.keyboard.press("z")
    zoom = page.get_by_role("dialog", name=re.compile("Image of row"))
    image = zoom.get_by_role("img")
    small = image.bounding_box()
    page.keyboard.press("+")
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(200)
    large = image.bounding_box()
    assert small is not None
    assert large is not None
    assert large["width"] > 3 * small["width"]
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(zoom).to_have_count(0)
    assert room.log_of(server, digits) == []


def test_every_button_is_reached_by_tab_and_seen(annotating: Page) -> None:
    page = annotating
    page.evaluate("document.activeElement?.blur()")
    reached, outlines = set(), []
    for _ in range(70):
        page.keyboard.press("Tab")
        found = page.evaluate("""() => {
            let node = document.activeElement;
            while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
            if (!node?.closest?.('.card')) return null;
            return [node.getAttribute('aria-label') || node.innerText, getComputedStyle(node).outlineStyle];
        }""")
        if found:
            reached.add(found[0].replace("\n", " "))
            outlines.append(found[1])
    names = " | ".join(reached)
    for name in (
        "the model's share",
        "Rule out",
        "None of these",
        "Mark several",
        "Cannot tell",
        "Skip",
    ):
        assert name in names, f"{name} is not reached by Tab: {names}"
    for name in ("Bad item", "Note", "Flag", "History", "Keys", "features"):
        assert name in names, f"{name} is not reached by Tab: {names}"
    assert set(outlines) == {"solid"}, "the focus is always visible"


def test_a_phone_has_a_large_button_for_everything(browser: Browser, signed_in: str, here: Room) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    page = context.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 390
    for button in page.locator(".card button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44, button.inner_text()

    def tap(name: str) -> None:
        shown = room.token(page)
        page.get_by_role("button", name=name, exact=True).first.tap()
        room.wait_for_next(page, shown)

    rules_out = page.locator(".out").first.get_attribute("aria-label")
    assert rules_out is not None
    tap(rules_out)
    for name in ("Cannot tell", "Bad item", "Skip", "Undo my last answer"):
        tap(name)
    page.get_by_role("button", name="Mark several").tap()
    page.locator(".choice").nth(0).tap()
    page.locator(".choice").nth(1).tap()
    tap("Save: one of these 2")
    page.get_by_role("button", name="None of these…").tap()
    shown = room.token(page)
    page.get_by_role("option", name="None of these, and I cannot say which").tap()
    room.wait_for_next(page, shown)
    page.wait_for_timeout(300)
    top = page.locator(".instance").bounding_box()
    assert top is not None
    assert 0 <= top["y"] < 400, "the next instance begins where one looks"
    assert here.kinds() == ["not", "unsure", "bad", "skip", "withdraw", "among", "none"]
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_over_the_card_has_no_serious_finding(
    browser: Browser, signed_in: str, here: Room, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, storage_state=signed_in)
    page = context.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    room.press(page, "1")
    room.press(page, "u")
    wrong = {}
    for key in ("0", "h", "?", "m", "t"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        if found := findings(page):
            wrong[key] = found
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)
    context.close()
    assert not wrong


def test_guidelines_are_text_and_open_by_their_key(annotating: Page) -> None:
    page = annotating
    words = page.get_by_text("Look twice.")
    expect(words).to_be_hidden()
    page.keyboard.press("g")
    expect(words).to_be_visible()
    expect(words).to_contain_text("<img")
    assert page.evaluate("window.hurt") is None
    page.keyboard.press("g")
    expect(words).to_be_hidden()


def test_candidates_stand_in_the_rooms_order_with_their_descriptions(annotating: Page) -> None:
    page = annotating
    for _ in range(3):
        assert labels_on_screen(page) == ["ant", "bee", "cat"]
        expect(page.locator(".choice", has_text="cat")).to_contain_text("with whiskers")
        expect(page.locator(".model")).to_have_text(re.compile(r"Shares by model \d+"))
        room.press(page, "1")


def test_a_thousand_classes_come_once_and_are_searched_at_once(page: Page, server: Server) -> None:
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
    page.wait_for_timeout(500)

    def holds_the_list() -> bool:
        raw = [one if isinstance(one, bytes) else one.encode() for one in frames]
        return any(one.count(b"species-0") > 500 for one in raw)

    assert holds_the_list()
    frames.clear()
    room.press(page, "1")
    page.wait_for_timeout(300)
    assert frames
    assert not holds_the_list(), "an answer does not send the classes again"
    page.keyboard.press("0")
    search = page.get_by_role("combobox", name="Search all classes")
    search.wait_for()
    took = search.evaluate("""(input) => {
        const begun = performance.now();
        for (const words of ["s", "sp", "species-09", "0999", "species 0999"]) {
            input.value = words;
            input.dispatchEvent(new Event("input"));
        }
        return performance.now() - begun;
    }""")
    expect(page.get_by_role("option")).to_have_count(2)
    assert took < 5 * 50, "a letter typed is answered at once"
    room.press(page, "Enter")
    log = room.log_of(server, int(re.search(r"project=(\d+)", page.url)[1]))  # type: ignore[index]
    assert [entry["kind"] for entry in log] == ["is", "none", "is"]
    assert log[2]["labels"] == '["species-0999"]'
