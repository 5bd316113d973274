"""The card as its host treats it: drawn again and again, ended late, beside forms that a program fills in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pages.parts.components import scripts_in
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER, Room
from tests.workflow.vector_world import vector_project
from web.scripts import FOLDER
from workflow.server.home import Home

pytestmark = pytest.mark.browser

# A card in a place of its own, drawn as Streamlit draws one. `listening`: what of it hears something that is no node.
STAGE = """async (scripts) => {
    window.listening = 0;
    for (const [name, step] of [["addEventListener", 1], ["removeEventListener", -1]]) {
        const old = EventTarget.prototype[name];
        EventTarget.prototype[name] = function (type, ...rest) {
            if (!(this instanceof Node) && ["keydown", "change"].includes(type)) window.listening += step;
            return old.call(this, type, ...rest);
        };
    }
    const { default: modules } = await import(new URL(scripts, document.baseURI).href);
    const draw = modules["one_label/card.js"].default;
    const place = document.createElement("div").attachShadow({ mode: "open" });
    document.body.append(place.host);
    window.sent = [];
    window.drawCard = (turn, token = `token ${turn}`) => draw({
        parentElement: place,
        setTriggerValue: (name, press) => window.sent.push(press.kind),
        data: {
            project: 1, room: "candidates", tab: "tab", turn, token, empty: null, undoable: null,
            redoable: null, saved: null, done: null, drawing: turn, route: null, height: null, frame: null,
            counts: { answered: 0, left: 2, share: "", about: "", of: "" },
            question: {
                rows: [{ key: "1", label: "ant", about: "", probability: 1 }], hidden: 0,
                noneKey: "0", none: true, nClasses: 2, groups: [], yesNo: null, first: null,
                model: "", why: "", shown: "", telling: null, marks: [],
                view: { id: "row", images: [], audio: null, segment: null, text: "text", features: [], caption: [] },
            },
        },
    });
    // True where somebody took the key for themselves.
    window.pressKey = (key) => !window.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}"""


@pytest.fixture
def stage(page: Page, server: Server) -> Page:
    """A page without a card of Winnow's own, on which one can be drawn by hand."""
    page.goto(server.base)
    page.get_by_role("heading", name="Projects").wait_for()
    page.evaluate(STAGE, scripts_in(FOLDER).address)
    return page


def test_a_card_hears_its_keys_until_its_last_drawing_is_ended(stage: Page) -> None:
    """Where data come while its modules are on their way, Streamlit ends the first drawing after the second began."""
    seen: dict[str, Any] = stage.evaluate("""() => {
        const [first, second] = [window.drawCard(1), window.drawCard(2)];
        const begun = window.listening;
        first();
        const taken = window.pressKey("1");
        second();
        return { begun, taken, sent: window.sent, ended: window.listening, after: window.pressKey("1") };
    }""")
    assert seen == {"begun": 1, "taken": True, "sent": ["is"], "ended": 0, "after": False}


def test_a_search_that_was_open_when_the_page_was_left_hears_no_more_classes(stage: Page) -> None:
    stage.evaluate("() => { window.end = window.drawCard(1); window.pressKey('0'); }")
    assert stage.evaluate("window.listening") == 2, "the keys, and the list of classes"
    stage.get_by_role("dialog", name="None of these").wait_for()
    stage.evaluate("() => window.end()")
    stage.wait_for_function("window.listening === 0")
    assert stage.get_by_role("dialog").count() == 0


def test_what_is_open_stays_when_the_same_question_is_drawn_late(stage: Page) -> None:
    stage.evaluate("() => { window.drawCard(1, 'one'); window.pressKey('0'); }")
    search = stage.get_by_role("dialog", name="None of these")
    search.get_by_role("combobox").fill("an")
    stage.evaluate("() => { window.drawCard(2, 'one'); }")
    assert search.get_by_role("combobox").input_value() == "an"
    stage.evaluate("() => { window.drawCard(3, 'two'); }")
    assert search.count() == 0


def test_a_keydown_without_a_key_is_nobody_s(stage: Page, errors_of: Callable[[Page], list[str]]) -> None:
    errors = errors_of(stage)
    stage.evaluate("""() => {
        window.drawCard(1);
        const field = document.body.appendChild(document.createElement("input"));
        field.dispatchEvent(new Event("keydown", { bubbles: true, composed: true }));  // as what fills in forms does
    }""")
    assert stage.evaluate("window.sent") == []
    assert errors == []


def test_one_kind_s_card_takes_the_place_of_another_s(annotating: Page, here: Room, home: Home) -> None:
    page = annotating
    other = "Many labels"  # no box of projects may take the one name for the other's beginning
    vectors = vector_project(home, OWNER, other, question="instance")
    page.reload()
    page.locator(room.CARD).wait_for()
    for name, asked, project, keys in (
        (other, "Which labels are right?", vectors, ("1", "Enter")),
        (here.name, "Which one is it?", here.project, ("1",)),
    ):
        room.choose(page, "Project", name)
        page.get_by_role("heading", name=asked).wait_for()
        expect(page.locator(room.CARD)).to_have_count(1)
        page.evaluate("document.activeElement.blur()")  # the box that was chosen in takes what is typed
        room.press(page, *keys)
        assert room.log_of(here.server, project)
    assert here.kinds() == ["is"]
