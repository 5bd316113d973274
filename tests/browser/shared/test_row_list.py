"""The list of rows on Queue and Review, and the drawer with the open row: keys, focus, phones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from plcore import LabelTable, LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_every_page import SIDEWAYS, findings
from tests.workflow.alike_world import alike_project
from workflow import importing
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

HTML = "<img src=x onerror='window.hurt=1'>"


@pytest.fixture
def pictures(home: Home, name: str) -> Seat:
    return alike_project(home, OWNER, name)


def open_queue(page: Page, server: Server, seat: Seat) -> list[str]:
    """The ids of the rows that the page lists, in order."""
    page.goto(f"{server.base}/queue?project={seat.project_id}")
    page.locator(".open").first.wait_for()
    room.drawn(page)
    names = page.locator(".open").evaluate_all("all => all.map(one => one.ariaLabel)")
    return [name.removeprefix("Row ") for name in names]


def drawer(page: Page, row: str) -> Locator:
    return page.get_by_role("dialog", name=f"Row {row}", exact=True)


def test_list_keys_open_select_and_close_rows(
    page: Page, server: Server, pictures: Seat, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    ids = open_queue(page, server, pictures)
    lines = [room.line_of(page, one) for one in ids[:4]]
    lines[0].focus()
    page.keyboard.press("ArrowDown")
    expect(lines[1]).to_be_focused()
    page.keyboard.press("Space")
    box = page.get_by_role("checkbox", name=f"Select row {ids[1]}", exact=True)
    expect(box).to_be_checked()
    page.get_by_text("1 row selected").wait_for()
    page.get_by_role("button", name="Clear").click()
    expect(box).not_to_be_checked()
    lines[1].focus()
    before = room.place_of(lines[2])
    page.keyboard.press("Enter")
    drawer(page, ids[1]).wait_for()
    expect(page.get_by_role("heading", name=f"Row {ids[1]}", exact=True)).to_be_focused()
    expect(lines[1]).to_have_attribute("aria-expanded", "true")
    assert room.place_of(lines[2]) == before, "the drawer lies over the page"
    page.keyboard.press("j")
    drawer(page, ids[2]).wait_for()
    page.keyboard.press("j")
    drawer(page, ids[3]).wait_for()
    page.keyboard.press("k")
    drawer(page, ids[2]).wait_for()
    expect(lines[2]).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(lines[2]).to_be_focused()
    expect(lines[2]).to_have_attribute("aria-expanded", "false")
    assert not errors


def test_drawer_asks_its_row_next(page: Page, server: Server, pictures: Seat) -> None:
    wanted = open_queue(page, server, pictures)[2]
    marked = page.locator("[data-testid=stTopNavSection][aria-current]")
    expect(marked).to_contain_text("Explore")
    room.open_line(page, wanted)
    page.get_by_role("button", name="Ask this row next").click()
    page.locator(room.CARD).wait_for()
    assert room.row_id(page) == wanted
    expect(marked).to_have_count(0)


def test_typing_in_drawer_stays_on_its_row(page: Page, server: Server, pictures: Seat) -> None:
    question = loop.next_question(pictures)
    assert question is not None
    loop.submit_answer(pictures, question.token, "is", [question.choices[0]])
    page.goto(f"{server.base}/review?project={pictures.project_id}")
    room.open_line(page, question.view.row_id)
    note = page.get_by_label("Note (optional)")
    note.press_sequentially("jkj")
    expect(note).to_have_value("jkj")
    drawer(page, question.view.row_id).wait_for()
    page.get_by_role("button", name="Close (Esc)").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.proof)])
def test_open_drawer_is_accessible_and_touchable(
    browser: Browser, server: Server, pictures: Seat, signed_in: str, scheme: str
) -> None:
    phone = {"width": 390, "height": 844}
    for size in ({"width": 1280, "height": 800}, phone):
        context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=signed_in)  # type: ignore[arg-type]
        page = context.new_page()
        asked = open_queue(page, server, pictures)[1]
        room.open_line(page, asked)
        room.drawn(page)
        assert not findings(page)
        if size == phone:
            assert page.evaluate(SIDEWAYS) <= 0
            for pressed in drawer(page, asked).get_by_role("button").all():
                box = pressed.bounding_box()
                assert box is not None
                assert box["height"] >= 43.5, pressed.inner_text()
        context.close()


def test_row_names_and_texts_are_escaped(page: Page, server: Server, home: Home, name: str) -> None:
    lines = "".join(f'"{HTML} {n}",wren|robin,"{HTML} {n}",{n}\n' for n in range(6))
    table = LabelTable.read_csv(f"id,candidates,text,n\n{lines}".encode())
    number = importing.create(Seat(home, OWNER), name, table, LearnerSettings(n_neighbors=2))
    page.goto(f"{server.base}/queue?project={number}")
    first = page.locator(".open").first
    expect(first).to_contain_text(HTML)
    first.click()
    expect(page.locator("header h2")).to_contain_text(HTML)
    room.drawn(page)
    assert page.evaluate("window.hurt") is None
