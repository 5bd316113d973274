"""Many rows at once, by keys: twelve pictures confirmed but one, undone; rows chosen in the queue; recordings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.workflow.alike_world import alike_project
from workflow.answering import batches, loop
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


@pytest.fixture
def pictures(home: Home, name: str) -> Seat:
    return alike_project(home, OWNER, name)


def log_of(server: Server, seat: Seat) -> list[dict[str, Any]]:
    return room.log_of(server, seat.project_id or 0)


def open_batch(page: Page, server: Server, seat: Seat) -> list[int]:
    """Shift+M from the card; the rows of the tiles."""
    room.annotate(page, server, seat.project_id or 0)
    shown = room.token(page)
    page.keyboard.press("Shift+M")
    room.wait_for_next(page, shown)
    page.locator(".tiles").wait_for()
    return rows_on_screen(page)


def rows_on_screen(page: Page) -> list[int]:
    found: list[int] = page.locator(".tick").evaluate_all("all => all.map(one => Number(one.dataset.row))")
    return found


def taken_out(page: Page) -> list[int]:
    found: list[int] = page.locator('.tick[aria-pressed="true"]').evaluate_all(
        "all => all.map(one => Number(one.dataset.row))"
    )
    return found


def test_twelve_pictures_are_confirmed_but_one_and_undone(
    page: Page, server: Server, pictures: Seat, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    rows = open_batch(page, server, pictures)
    assert len(rows) == 12
    expect(page.get_by_role("heading", name="Are these 12 all")).to_be_visible()
    expect(page.locator(".tile img").first).to_have_js_property("naturalWidth", 240)
    confirm = page.locator(".confirm")
    expect(confirm).to_contain_text("12 are")
    page.keyboard.press("c")
    assert taken_out(page) == [rows[2]]
    expect(confirm).to_contain_text("11 are")
    expect(confirm).to_contain_text("1 is asked alone")
    foot = confirm.bounding_box()
    assert foot is not None
    assert foot["y"] + foot["height"] <= 800, "without scrolling"
    room.press(page, "Enter")

    log = log_of(server, pictures)
    kept = [row for row in rows if row != rows[2]]
    assert [(entry["row"], entry["kind"]) for entry in log] == [(row, "is") for row in kept]
    assert len({entry["at"] for entry in log}) == 1
    expect(page.locator(".saved")).to_contain_text("Saved: 11 rows are")
    assert not set(rows) & set(rows_on_screen(page)), "the next ones are others"

    room.press(page, "u")
    expect(page.locator(".saved")).to_contain_text("your answers to 11 rows were withdrawn")
    assert rows_on_screen(page) == kept, "they are here again"
    log = log_of(server, pictures)
    assert sorted(entry["target_seq"] for entry in log[11:]) == [entry["seq"] for entry in log[:11]]

    shown = room.token(page)
    page.keyboard.press("Escape")
    room.wait_for_next(page, shown)
    page.locator(".choices").wait_for()
    page.keyboard.press("h")
    history = page.locator(".history li")
    expect(history).to_have_count(1)
    expect(history).to_contain_text("11 rows are")
    assert not errors


def test_rows_stay_taken_out_when_the_card_is_drawn_anew(page: Page, server: Server, pictures: Seat) -> None:
    room.annotate(page, server, pictures.project_id or 0)
    room.press(page, "1")
    rows = open_batch(page, server, pictures)
    page.keyboard.press("c")
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page.locator(".confirm")).to_contain_text("11 are")
    # A row is answered meanwhile, and a press is dealt with: the letters move.
    question = loop.ask_next(pictures, rows[0])
    loop.submit_answer(pictures, question.token, "is", [question.choices[0]])
    room.press(page, "u")
    assert rows_on_screen(page) == rows[1:]
    assert taken_out(page) == [rows[2]]
    expect(page.locator(".confirm")).to_contain_text("10 are")
    stored = len(log_of(server, pictures))
    room.press(page, "Enter")
    assert [entry["row"] for entry in log_of(server, pictures)[stored:]] == [rows[1], *rows[3:]]

    others = rows_on_screen(page)
    page.keyboard.press("a")
    assert taken_out(page) == [others[0]]
    room.press(page, "Escape")
    page.locator(".choices").wait_for()
    room.press(page, "Shift+M")
    page.locator(".tiles").wait_for()
    assert set(rows_on_screen(page)) & set(others)
    assert taken_out(page) == [], "who comes back begins anew"


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("image", "Image"),
        ("text", "it stood still and then went into the wood"),
        ("sound", "A recording"),
        ("numbers", "x -"),
    ],
)
def test_what_a_tile_holds_can_be_heard(
    page: Page, server: Server, home: Home, name: str, shown: str, held: str
) -> None:
    open_batch(page, server, alike_project(home, OWNER, name, shown))
    tick = page.locator(".tick").first
    expect(tick).to_have_accessible_name(re.compile(r"^Take row r\d+ out; the model's share"))
    expect(tick).to_have_accessible_description(re.compile(held))
    tick.focus()
    page.keyboard.press("Tab")
    if shown == "sound":
        page.keyboard.press("Tab")  # over its player
    expect(page.locator(".closer").first).to_be_focused()


def test_arrows_move_the_frame_and_space_takes_out(page: Page, server: Server, pictures: Seat) -> None:
    rows = open_batch(page, server, pictures)
    for name in ("ArrowRight", "ArrowDown", "Space"):  # of four columns the second of the second line
        page.keyboard.press(name)
    assert taken_out(page) == [rows[5]]
    page.keyboard.press("Space")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # nothing is above
    page.keyboard.press("Space")
    assert taken_out(page) == [rows[1]]
    page.keyboard.press("z")
    expect(page.get_by_role("dialog")).to_have_attribute("aria-label", f"Image of row r{rows[1]}")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert taken_out(page) == [rows[1]], "Escape closes what is open, and no more"
    assert log_of(server, pictures) == []


def test_a_choice_from_the_queue_is_confirmed_as_the_label_chosen(
    page: Page, server: Server, pictures: Seat
) -> None:
    page.goto(f"{server.base}/queue?project={pictures.project_id}")
    table = page.locator("[data-testid=stDataFrame] canvas").first
    box = room.place_of(table)
    ticked = ("Ask this row next", "Look at 2 of them together", "Look at 3 of them together")
    for line, button in enumerate(ticked):  # the ticks stand left of each line
        page.mouse.click(box["x"] + 18, box["y"] + 35 + 56 * (line + 0.5))
        expect(page.get_by_role("button", name=button)).to_be_enabled()
    page.get_by_role("button", name=ticked[-1]).click()
    page.locator(".tiles").wait_for()
    rows = rows_on_screen(page)
    assert len(rows) == 3
    expect(page.locator(".batch")).to_contain_text("you chose these rows")
    room.press(page, "Enter")
    assert sorted(entry["row"] for entry in log_of(server, pictures)) == sorted(rows)
    assert {entry["strategy"] for entry in log_of(server, pictures)} == {"selection"}


def test_recordings_have_players_and_one_plays_at_a_time(
    page: Page, server: Server, home: Home, name: str
) -> None:
    seat = alike_project(home, OWNER, name, "sound")
    room.play_slowly(page)
    open_batch(page, server, seat)
    playing = "all => all.map(one => !one.paused)"
    expect(page.locator(".tile canvas")).to_have_count(12)
    page.keyboard.press("p")
    expect(page.locator(".tile").first.locator(".go")).to_have_attribute("aria-label", "Pause")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("p")
    expect(page.locator(".tile").nth(1).locator(".go")).to_have_attribute("aria-label", "Pause")
    assert sum(page.locator("audio").evaluate_all(playing)) == 1


def test_without_a_group_the_page_says_why_and_goes_back(
    page: Page, server: Server, home: Home, name: str
) -> None:
    seat = alike_project(
        home, OWNER, name, "numbers", test_share=0.0
    )  # nobody can tell how right the model is
    assert isinstance(batches.next_batch(seat), batches.NoBatch)
    room.annotate(page, server, seat.project_id or 0)
    page.keyboard.press("Shift+M")
    expect(page.get_by_role("heading", name="No rows to confirm together now")).to_be_visible()
    expect(page.locator(".done")).to_contain_text("one by one")
    page.keyboard.press("Enter")
    page.locator(".choices").wait_for()
