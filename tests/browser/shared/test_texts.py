"""Texts as people read them: marked, as large as they allow, in their own direction, beside answered rows like them."""

from __future__ import annotations

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from plcore import LabelTable, LearnerSettings, Roles
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_accessibility import findings
from tests.workflow.text_world import TOPICS, text_frame, text_project
from workflow.projects.managing import create_project
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser


def marked(page: Page) -> list[str]:
    return page.locator(".text mark").all_inner_texts()


def test_words_are_marked_and_similar_rows_are_shown_on_demand(
    page: Page, server: Server, home: Home, name: str
) -> None:
    project = text_project(home, OWNER, name)
    room.annotate(page, server, project)
    expect(page.locator(".text")).to_be_visible()
    room.annotate(page, server, project)  # words are looked through once the first question is drawn
    truth = dict(zip(text_frame()["id"], text_frame()["truth"], strict=True))
    text, labels = page.locator(".text").inner_text(), room.labels_on_screen(page)
    assert text in set(text_frame()["text"])
    expect(page.locator(".legend")).to_contain_text(f"Underlined: what speaks for {labels[0]}")
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
    page.get_by_role("button", name="Similar").click()
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
    assert len(room.log_of(server, project)) == 3, "keys of the panel are no answers"


def test_every_script_is_read_in_its_own_way(page: Page, server: Server, home: Home, name: str) -> None:
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
