"""Fast fingers, a held key, two tabs: every stored answer was acknowledged and meant."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.databases import on_both

pytestmark = pytest.mark.browser

# Notes every question the card showed and every line that said "Saved", as the person would have seen them.
WATCH = """
() => {
  window.seen = { shown: [], saved: [] };
  const look = () => {
    for (const host of document.querySelectorAll("*")) {
      const card = host.shadowRoot?.querySelector(".card") ?? (host.matches(".card") ? host : null);
      if (!card) continue;
      const token = card.dataset.token, line = card.querySelector(".saved");
      if (token && window.seen.shown.at(-1) !== token) window.seen.shown.push(token);
      if (line?.dataset.seq && window.seen.saved.at(-1) !== line.dataset.seq) window.seen.saved.push(line.dataset.seq);
    }
  };
  // A busy machine may paint no frame between two drawings.
  for (const host of document.querySelectorAll("*"))
    if (host.shadowRoot?.querySelector(".card"))
      new MutationObserver(look).observe(host.shadowRoot, { childList: true, subtree: true });
  const tick = () => { look(); requestAnimationFrame(tick); };
  tick();
}
"""


@pytest.fixture
def annotating(page: Page, server: Server, digits: int) -> Page:
    room.annotate(page, server, digits)
    page.evaluate(WATCH)
    return page


@on_both
def test_ten_presses_forty_milliseconds_apart(annotating: Page, server: Server, digits: int) -> None:
    page = annotating
    pressed = 0
    while pressed < 10 or len(room.log_of(server, digits)) < 3:  # a slow machine takes fewer of them
        page.keyboard.press("1")
        page.wait_for_timeout(40)
        pressed += 1
    expect(page.locator(".saved")).not_to_contain_text("Saving")
    page.wait_for_timeout(500)
    seen = page.evaluate("window.seen")
    log = room.log_of(server, digits)
    stored = [str(entry["seq"]) for entry in log]
    assert set(stored) <= set(seen["saved"]), "stored but never acknowledged"
    rows = [entry["row"] for entry in log]
    assert len(rows) == len(set(rows)), "two answers on one instance"
    assert {entry["token"] for entry in log} <= set(seen["shown"]), "an answer on an instance never shown"


@on_both
def test_a_held_key_gives_one_answer(annotating: Page, server: Server, digits: int) -> None:
    page = annotating
    first = room.token(page)
    for _ in range(8):  # repeated keydown without keyup is what auto-repeat sends
        page.keyboard.down("1")
        page.wait_for_timeout(60)
    page.keyboard.up("1")
    room.wait_for_next(page, first)
    page.wait_for_timeout(500)
    assert len(room.log_of(server, digits)) == 1


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_held_press_on_the_focused_candidate_gives_one_answer(
    annotating: Page, server: Server, digits: int, key: str
) -> None:
    page = annotating
    first = room.token(page)
    page.locator(".choice").first.focus()
    for _ in range(12):
        page.keyboard.down(key)
        page.wait_for_timeout(60)
    page.keyboard.up(key)
    room.wait_for_next(page, first)
    page.wait_for_timeout(500)
    assert len(room.log_of(server, digits)) == 1


def test_letters_of_another_script_count_by_their_place(
    annotating: Page, server: Server, digits: int
) -> None:
    page = annotating
    typing = "([key, code]) => window.dispatchEvent(new KeyboardEvent('keydown', { key, code }))"
    first = room.token(page)
    page.evaluate(typing, ["ы", "KeyS"])
    room.wait_for_next(page, first)
    page.evaluate(typing, ["р", "KeyH"])
    expect(page.get_by_role("dialog", name="Your last answers")).to_be_visible()
    page.evaluate(typing, ["Р", "KeyH"])
    expect(page.get_by_role("dialog")).to_have_count(0)
    second = room.token(page)
    page.evaluate(typing, ["ö", "Semicolon"])  # in the place of no letter: no key of ours
    page.evaluate(typing, ["ψ", "KeyC"])
    room.wait_for_next(page, second)
    assert [entry["kind"] for entry in room.log_of(server, digits)] == ["skip", "unsure"]


@on_both
def test_two_tabs_do_not_answer_twice(
    annotating: Page, context: BrowserContext, server: Server, digits: int
) -> None:
    first = annotating
    second = context.new_page()
    room.annotate(second, server, digits)
    assert room.token(first) == room.token(second), "both tabs show the question that is open"
    asked = room.token(first)
    first.keyboard.press("1")
    room.wait_for_next(first, asked)
    second.keyboard.press("2")
    room.wait_for_next(second, asked)
    assert room.token(second) == room.token(first)
    log = room.log_of(server, digits)
    assert [entry["kind"] for entry in log] == ["is"]


def test_typing_in_a_field_answers_nothing(annotating: Page, server: Server, digits: int) -> None:
    page = annotating
    page.evaluate("""() => {
        const field = document.createElement("input");
        field.id = "field";
        document.body.append(field);
    }""")
    page.locator("#field").focus()
    page.keyboard.type("123 us")
    assert page.locator("#field").input_value() == "123 us"
    page.wait_for_timeout(500)
    assert room.log_of(server, digits) == []


@on_both
def test_skip_and_undo_by_key_and_by_button(annotating: Page, server: Server, digits: int) -> None:
    page = annotating
    asked, name = room.token(page), room.row_id(page)
    page.keyboard.press("s")
    room.wait_for_next(page, asked)
    assert room.row_id(page) != name
    expect(page.locator(".saved")).to_contain_text(f"row {name} skipped")
    shown = room.token(page)
    page.get_by_role("button", name="Undo my last answer").click()
    room.wait_for_next(page, shown)
    assert room.row_id(page) == name
    shown = room.token(page)
    page.locator(".choice").first.click()
    room.wait_for_next(page, shown)
    assert [entry["kind"] for entry in room.log_of(server, digits)] == ["skip", "withdraw", "is"]
