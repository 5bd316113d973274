"""Keys, texts and the tour in the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from plcore import LabelTable, LearnerSettings, Roles
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.shared.test_question_page import box, phone, sideways, six_project
from tests.browser.test_every_page import findings
from tests.databases import on_postgres_in_proofs
from tests.workflow.text_world import TOPICS, text_frame, text_project
from workflow import demos
from workflow.projects import managing
from workflow.projects.managing import create_project
from workflow.seat import Seat
from workflow.server.home import Home

# Fast fingers, a held key, two tabs: every stored answer was acknowledged and meant


pytestmark = pytest.mark.browser

# Records every question that the card showed and every line with "Saved".
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
def keys_annotating(page: Page, server: Server, digits: int) -> Page:
    room.annotate(page, server, digits)
    page.evaluate(WATCH)
    return page


@on_postgres_in_proofs
def test_rapid_presses_answer_each_shown_row_once(keys_annotating: Page, server: Server, digits: int) -> None:
    page = keys_annotating
    pressed = 0
    while pressed < 10 or len(room.log_of(server, digits)) < 3:  # fewer events on a slow machine
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


@on_postgres_in_proofs
def test_held_key_gives_one_answer(keys_annotating: Page, server: Server, digits: int) -> None:
    page = keys_annotating
    first = room.token(page)
    for _ in range(8):  # repeated keydown without keyup is what auto-repeat sends
        page.keyboard.down("1")
        page.wait_for_timeout(60)
    page.keyboard.up("1")
    room.wait_for_next(page, first)
    page.wait_for_timeout(500)
    assert len(room.log_of(server, digits)) == 1


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_key_held_on_focused_candidate_gives_one_answer(
    keys_annotating: Page, server: Server, digits: int, key: str
) -> None:
    page = keys_annotating
    first = room.token(page)
    page.locator(".choice").first.focus()
    for _ in range(12):
        page.keyboard.down(key)
        page.wait_for_timeout(60)
    page.keyboard.up(key)
    room.wait_for_next(page, first)
    page.wait_for_timeout(500)
    assert len(room.log_of(server, digits)) == 1


def test_keys_of_other_scripts_work_by_position(keys_annotating: Page, server: Server, digits: int) -> None:
    page = keys_annotating
    typing = "([key, code]) => window.dispatchEvent(new KeyboardEvent('keydown', { key, code }))"
    first = room.token(page)
    page.evaluate(typing, ["ы", "KeyS"])
    room.wait_for_next(page, first)
    page.evaluate(typing, ["р", "KeyH"])
    expect(page.get_by_role("dialog", name="Your last answers")).to_be_visible()
    page.evaluate(typing, ["Р", "KeyH"])
    expect(page.get_by_role("dialog")).to_have_count(0)
    second = room.token(page)
    page.evaluate(typing, ["ö", "Semicolon"])  # not a letter: not one of our keys
    page.evaluate(typing, ["ψ", "KeyC"])
    room.wait_for_next(page, second)
    assert [entry["kind"] for entry in room.log_of(server, digits)] == ["skip", "unsure"]


@on_postgres_in_proofs
def test_two_tabs_do_not_answer_twice(
    keys_annotating: Page, context: BrowserContext, server: Server, digits: int
) -> None:
    first = keys_annotating
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


def test_typing_in_field_gives_no_answer(keys_annotating: Page, server: Server, digits: int) -> None:
    page = keys_annotating
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


@on_postgres_in_proofs
def test_skip_and_undo_by_key_and_by_button(keys_annotating: Page, server: Server, digits: int) -> None:
    page = keys_annotating
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


# Texts as people read them: marked, as large as they allow, in their own direction, next to answered rows
# like them


def marked(page: Page) -> list[str]:
    return page.locator(".text mark").all_inner_texts()


def test_text_evidence_is_marked_and_similar_rows_shown_on_demand(
    page: Page, server: Server, home: Home, name: str
) -> None:
    project = text_project(home, OWNER, name)
    room.annotate(page, server, project)
    expect(page.locator(".text")).to_be_visible()
    room.annotate(page, server, project)  # the highlighted words are computed after the first question is drawn
    truth = dict(zip(text_frame()["id"], text_frame()["truth"], strict=True))
    text, labels = page.locator(".text").inner_text(), room.labels_on_screen(page)
    assert text in set(text_frame()["text"])
    expect(page.locator(".legend")).to_contain_text(f"Underlined: evidence for {labels[0]}")
    first = marked(page)
    of_first = set(TOPICS[labels[0]]) & set(text.split())
    assert of_first <= set(" ".join(first).split())
    page.locator(".choice").nth(1).focus()
    expect(page.locator(".legend")).to_contain_text(labels[1])
    assert marked(page) != first
    assert page.locator(".text").inner_text() == text, "marks change nothing of the text"
    page.keyboard.press(",")
    panel = page.get_by_role("dialog", name="Similar answered rows")
    expect(panel).to_contain_text("No answered row can be compared")
    page.keyboard.press(",")
    expect(panel).to_have_count(0)
    asked = [room.answer(page, truth[room.row_id(page)]) for _ in range(3)]
    page.get_by_role("button", name="Similar", exact=True).click()
    expect(panel.locator(".like")).to_have_count(3)
    shown = {
        line.locator(".about").inner_text().removeprefix("Row "): line.locator("strong").inner_text()
        for line in panel.locator(".like").all()
    }
    assert shown == {row: truth[row] for row in asked}
    assert findings(page) == []
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert len(room.log_of(server, project)) == 3, "keys of the panel are not answers"


def test_texts_have_direction_and_size_of_their_script(page: Page, server: Server, home: Home, name: str) -> None:
    texts = {
        "arabic": "مرحبا بكم في حديقة الطيور، انظروا إلى الطائر الأزرق.",
        "chinese": "今天早上我在公园里看见了一只蓝色的小鸟在树上唱歌。" * 8,
        "markup": "<b>no</b> <img src=x onerror='window.hurt=1'> of it",
        "long": "word " * 4000,
    }
    frame = pd.DataFrame({"id": [*texts], "candidates": "a|b", "text": [*texts.values()]})
    frame.loc[len(frame)] = ["known", "a", "something else"]
    table = LabelTable.from_frame(frame, Roles(candidates="candidates", id="id", text="text"))
    project = create_project(Seat(home, OWNER), name, table, LearnerSettings(control_share=0.0))
    room.annotate(page, server, project)
    sizes = {}
    for _ in texts:
        row, place = room.row_id(page), page.locator(".text")
        style = place.evaluate(
            "node => [getComputedStyle(node).fontSize, getComputedStyle(node).direction,"
            " node.scrollWidth <= node.clientWidth + 1]"
        )
        sizes[row] = style
        assert place.inner_text().strip() == texts[row].strip()
        if row == "long":
            box = page.locator(".reading").evaluate("node => [node.scrollHeight, node.clientHeight]")
            assert box[0] > 4 * box[1], "it scrolls in its box"
        room.press(page, "1")
    assert sizes["arabic"] == ["26px", "rtl", True]
    assert sizes["chinese"] == ["20px", "ltr", True]
    assert sizes["markup"] == ["26px", "ltr", True]
    assert sizes["long"] == ["17px", "ltr", True]
    assert page.evaluate("window.hurt") is None


# The tour of a demo on a phone: one line that moves no choice, opened over the row, folded and ended by a
# tap


__all__ = ["phone"]


@pytest.fixture
def demo(home: Home) -> Iterator[int]:
    """A project with six choices per row and the name of a demo, which makes it one."""
    number = six_project(home, demos.CALLS.name, "sound")
    yield number
    managing.bin_project(Seat(home, OWNER, number))


def places(page: Page) -> list[dict[str, float]]:
    room.settle(page)
    return [box(page, one) for one in (".choice >> nth=0", ".choice >> nth=5", ".foot")]


@pytest.mark.proof
def test_tour_on_phone_hides_no_choice(phone: Page, server: Server, demo: int) -> None:
    page = phone
    room.annotate(page, server, demo)
    tour, words = box(page, ".st-key-winnow_tour"), page.locator(".st-key-winnow_tour")
    assert tour["height"] <= 44, "one line"
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_hidden()
    before = places(page)
    assert box(page, ".instance")["height"] >= 0.3 * 844
    last, foot = before[1:]
    assert last["y"] + last["height"] <= foot["y"], "all six are in sight"
    assert foot["y"] + foot["height"] == pytest.approx(844, abs=1)
    for name in ("Read", "End the tour"):
        place = page.get_by_role("button", name=name, exact=True).bounding_box()
        assert place is not None
        assert place["height"] >= 43.5, name

    page.get_by_role("button", name="Read", exact=True).tap()
    expect(page.get_by_role("button", name="Fold", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_visible()  # it is open by then
    assert places(page) == before, "it lies over the row"
    opened = box(page, ".st-key-winnow_tour")
    assert tour["height"] < opened["height"]
    assert opened["y"] + opened["height"] <= before[0]["y"]
    expect(words).to_contain_text("press the number of the loudest")
    assert sideways(page) <= 0
    assert findings(page) == []

    page.get_by_role("button", name="Next", exact=True).tap()
    expect(page.get_by_text("Tour, 2 of 5")).to_be_visible()
    page.get_by_role("button", name="Fold", exact=True).tap()
    expect(page.get_by_role("button", name="Read", exact=True)).to_be_visible()
    assert places(page) == before
    room.press(page, "1")
    assert places(page) == before

    page.get_by_role("button", name="End the tour").tap()
    expect(page.locator(".st-key-winnow_tour")).to_have_count(0)
    room.settle(page)
    assert box(page, ".instance")["height"] >= 0.37 * 844, "the row has its room again"


def test_tour_on_desktop_is_unfolded(page: Page, server: Server, demo: int) -> None:
    room.annotate(page, server, demo)
    expect(page.locator(".st-key-winnow_tour")).to_contain_text("press the number of the loudest")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_visible()
    for name in ("Read", "Fold"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
