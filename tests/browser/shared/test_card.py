"""The question card in the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from pages.parts.components import scripts_in
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import DEMO, OWNER, Room, member
from tests.browser.test_every_page import findings
from tests.workflow.vector_world import vector_project
from web.packed import FOLDER
from workflow.answering import loop
from workflow.answering.room import RoomSettings, change_room
from workflow.people import examples, goals, qualification
from workflow.people.examples import QUALIFICATION
from workflow.people.goals import Goal
from workflow.people.qualification import QualificationRule
from workflow.seat import Seat
from workflow.server.home import Home

# The question card: its layout on a desktop and a phone, and the panels over it


pytestmark = pytest.mark.browser


@pytest.mark.proof
def test_question_stays_visible_with_many_candidates_and_guidelines(page: Page, server: Server, home: Home) -> None:
    names = [f"species {number:02d}" for number in range(14)]
    frame = pd.DataFrame({"id": range(30), "candidates": "|".join(names[:13]), "x": range(30), "y": range(30)})
    frame.loc[0, "candidates"] = names[13]
    room.import_csv(page, server.base, frame, "many")
    project = int(re.search(r"project=(\d+)", page.url)[1])  # type: ignore[index]
    rules = "\n".join(f"1. Rule {k}." for k in range(80))
    change_room(Seat(home, OWNER, project), RoomSettings(rules, "fixed", {}))
    page.reload()
    page.locator(room.CARD).wait_for()
    expect(page.locator(".choice")).to_have_count(13)
    room.settle(page)
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


def test_zoomed_image_keeps_keys_from_card(page: Page, server: Server, digits: int) -> None:
    room.annotate(page, server, digits)
    page.keyboard.press("z")
    zoom = page.get_by_role("dialog", name=re.compile("Image of row"))
    image = zoom.get_by_role("img")
    small = image.bounding_box()
    page.keyboard.press("+")
    page.mouse.move(640, 400)
    page.mouse.wheel(0, -400)
    assert small is not None
    room.until(  # the wheel is heard when the browser has time
        page,
        "([image, least]) => image.getBoundingClientRect().width > least",
        arg=[image.element_handle(), 3 * small["width"]],
    )
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(zoom).to_have_count(0)
    assert room.log_of(server, digits) == []


def test_every_button_is_reached_by_tab_with_visible_focus(annotating: Page) -> None:
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
    for name in ("the model's share", "Rule out", "None of these", "Mark several", "Cannot tell", "Skip"):
        assert name in names, f"{name} is not reached by Tab: {names}"
    for name in ("Bad item", "Note", "Flag", "History", "Keys", "features"):
        assert name in names, f"{name} is not reached by Tab: {names}"
    assert set(outlines) == {"solid"}, "the focus is always visible"


@pytest.mark.proof
def test_phone_has_large_button_for_every_action(browser: Browser, signed_in: str, here: Room) -> None:
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
    more = page.get_by_role("button", name="More")
    for name in ("Cannot tell", "Bad item", "Skip", "Undo my last answer"):
        if name == "Bad item":
            more.tap()
        tap(name)
    more.tap()
    page.get_by_role("button", name="Mark several").tap()
    page.locator(".choice").nth(0).tap()
    page.locator(".choice").nth(1).tap()
    tap("Save: one of these 2")
    page.get_by_role("button", name="None of these…").tap()
    shown = room.token(page)
    page.get_by_role("option", name="None of these; I do not know which").tap()
    room.wait_for_next(page, shown)
    top = room.place_of(page.locator(".instance"))["y"]
    assert 0 <= top < 400, "the next instance begins where one looks"
    assert here.kinds() == ["not", "unsure", "bad", "skip", "withdraw", "among", "none"]
    context.close()


def test_pages_and_projects_are_found_by_keyboard(page: Page, here: Room) -> None:
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    search = page.get_by_role("dialog", name="Search pages, projects and rows")
    page.keyboard.press("Control+k")
    expect(search).to_be_visible()
    page.keyboard.type("1")  # a choice of the card, if it were not covered
    page.keyboard.press("Control+k")
    expect(search).to_be_hidden()
    assert here.kinds() == []
    page.keyboard.press("Control+k")
    page.keyboard.type("que")
    expect(search.get_by_role("option").first).to_have_text("QueueExplore")
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue*")
    page.get_by_role("heading", name="Queue").wait_for()
    assert f"project={here.project}" in page.url
    page.keyboard.press("Control+k")
    page.keyboard.type("handwritten")
    expect(search.get_by_role("option")).to_have_text(
        ["Demo: handwritten digits", "Open rows with “handwritten”", "Answered rows with “handwritten”"]
    )
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/queue?project={DEMO}")
    page.get_by_role("button", name="Search pages, projects and rows").click()
    page.keyboard.type("no such name")
    expect(search).to_contain_text("No page or project matches.")
    page.keyboard.press("Escape")
    expect(search).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("17")
    search.get_by_role("option", name="Open rows with “17”").click()
    expect(page.get_by_placeholder("Search ID, candidate or text")).to_have_value("17")
    page.get_by_text("matching rows.").wait_for()


@pytest.mark.proof
def test_phone_menu_closes_after_page_is_chosen(browser: Browser, signed_in: str, here: Room) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    page = phone.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    drawer = page.get_by_test_id("stSidebar")
    for name in ("Progress", "Map"):
        page.get_by_test_id("stExpandSidebarButton").tap()
        expect(drawer).to_have_attribute("data-collapsed", "false")
        drawer.get_by_role("link", name=name).tap()
        page.wait_for_url(f"**/{name.lower()}*")
        expect(drawer).to_have_attribute("data-collapsed", "true")
    page.reload()
    page.get_by_role("heading", name="Map").wait_for()
    expect(drawer).to_have_attribute("data-collapsed", "true")
    page.get_by_role("button", name="Search pages, projects and rows").tap()
    search = page.get_by_role("dialog", name="Search pages, projects and rows")
    search.get_by_role("option", name="Review").tap()
    page.wait_for_url("**/review*")
    phone.close()


DIALOGS = {"0": "None of these", "h": "Your last answers", "?": "Keys"}
"""{key: name of the dialog that it opens}"""


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.proof)])
def test_dialogs_over_card_are_accessible(
    browser: Browser, signed_in: str, here: Room, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, storage_state=signed_in)
    page = context.new_page()
    page.goto(here.address)
    page.locator(room.CARD).wait_for()
    room.press(page, "1")
    room.press(page, "u")
    opened = {key: page.get_by_role("dialog", name=name) for key, name in DIALOGS.items()}
    opened |= {"m": page.locator(".card.marking"), "t": page.locator(".note:focus")}
    wrong = {}
    for key, one in opened.items():
        page.keyboard.press(key)
        expect(one).to_be_visible()
        if found := findings(page):
            wrong[key] = found
        page.keyboard.press("Escape")
        expect(one).not_to_be_visible()
    context.close()
    assert not wrong


def test_guidelines_are_plain_text_and_open_by_key(annotating: Page) -> None:
    page = annotating
    words = page.get_by_text("Look twice.")
    expect(words).to_be_hidden()
    page.keyboard.press("g")
    expect(words).to_be_visible()
    expect(words).to_contain_text("<img")
    assert page.evaluate("window.hurt") is None
    page.keyboard.press("g")
    expect(words).to_be_hidden()


def test_candidates_have_configured_order_and_descriptions(annotating: Page) -> None:
    page = annotating
    for _ in range(3):
        assert room.labels_on_screen(page) == ["ant", "bee", "cat"]
        expect(page.locator(".choice", has_text="cat")).to_contain_text("with whiskers")
        expect(page.locator(".model")).to_have_text("model")
        expect(page.locator(".model")).to_have_attribute("title", re.compile("which has learnt from the "))
        room.press(page, "1")


# The card under its host: redrawn repeatedly, ended late, next to forms that a program fills in


# A card in a place of its own, drawn as Streamlit draws one. `listening`: its listeners on objects other than nodes.
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
    window.drawCard = (turn, token = `token ${turn}`, texts = 1) => draw({
        parentElement: place,
        setTriggerValue: (name, press) => window.sent.push(press.kind),
        data: {
            project: 1, room: "candidates", tab: "tab", turn, token, empty: null, undoable: null,
            redoable: null, saved: null, done: null, drawing: turn, route: null, height: null, frame: null,
            counts: { answered: 0, begun: 0, left: 2, share: "", about: "", of: "" },
            question: {
                rows: [{ key: "1", label: "ant", about: "", probability: 1 }], hidden: 0,
                noneKey: "0", none: true, nClasses: 2, groups: [], yesNo: null, first: null,
                model: "", why: "", shown: "", telling: null, marks: [],
                view: {
                    id: "row", images: [], boxes: [], audio: null, segment: null,
                    texts: [["claim", "text"], ["reply", "other text"]].slice(0, texts), features: [],
                    caption: [["day", "Monday"], ["premise", "a premise of more than forty characters in all"]],
                },
            },
        },
    });
    // True where someone took the key for themselves.
    window.pressKey = (key) => !window.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
}"""


@pytest.fixture
def stage(page: Page, server: Server) -> Page:
    """A page without a card, on which a test can draw one."""
    page.goto(f"{server.base}/signin")
    page.evaluate(STAGE, scripts_in(FOLDER).address)
    return page


def test_card_listens_to_keys_until_last_drawing_ends(stage: Page) -> None:
    """If data arrive while its modules are loading, Streamlit ends the first drawing after the second began."""
    seen: dict[str, Any] = stage.evaluate("""() => {
        const [first, second] = [window.drawCard(1), window.drawCard(2)];
        const begun = window.listening;
        first();
        const taken = window.pressKey("1");
        second();
        return { begun, taken, sent: window.sent, ended: window.listening, after: window.pressKey("1") };
    }""")
    assert seen == {"begun": 1, "taken": True, "sent": ["is"], "ended": 0, "after": False}


def test_long_caption_is_text_above_text(stage: Page) -> None:
    stage.evaluate("() => { window.drawCard(1); }")
    expect(stage.locator(".rowname .caption")).to_have_text("Monday")
    expect(stage.locator(".context")).to_have_text(["premisea premise of more than forty characters in all"])
    expect(stage.locator(".reading")).to_have_text("claimtext")


def test_texts_look_alike_in_order_of_file(stage: Page) -> None:
    stage.evaluate("() => { window.drawCard(1, 'token', 2); }")
    expect(stage.locator(".reading .column")).to_have_text(["claim", "reply"])
    texts = stage.locator(".reading .text")
    expect(texts).to_have_text(["text", "other text"])
    style = "one => { const { fontSize, color } = getComputedStyle(one); return [fontSize, color, one.offsetLeft]; }"
    first, second = (texts.nth(place).evaluate(style) for place in range(2))
    assert first == second


def test_search_open_when_page_is_left_stops_listening(stage: Page) -> None:
    stage.evaluate("() => { window.end = window.drawCard(1); window.pressKey('0'); }")
    assert stage.evaluate("window.listening") == 2, "the keys, and the list of classes"
    stage.get_by_role("dialog", name="None of these").wait_for()
    stage.evaluate("() => window.end()")
    stage.wait_for_function("window.listening === 0")
    assert stage.get_by_role("dialog").count() == 0


def test_open_search_survives_redraw_of_same_question(stage: Page) -> None:
    stage.evaluate("() => { window.drawCard(1, 'one'); window.pressKey('0'); }")
    search = stage.get_by_role("dialog", name="None of these")
    search.get_by_role("combobox").fill("an")
    stage.evaluate("() => { window.drawCard(2, 'one'); }")
    assert search.get_by_role("combobox").input_value() == "an"
    stage.evaluate("() => { window.drawCard(3, 'two'); }")
    assert search.count() == 0


def test_note_keeps_focus_on_redraw_of_same_question(stage: Page) -> None:
    """Otherwise the next letters would be keys of the card, and give answers."""
    stage.evaluate("() => { window.drawCard(1, 'one'); window.pressKey('t'); }")
    stage.keyboard.type("a note")
    stage.keyboard.press("ArrowLeft")
    stage.evaluate("() => { window.drawCard(2, 'one'); }")
    stage.keyboard.type("s 1")
    assert stage.locator(".note").input_value() == "a nots 1e"
    assert stage.evaluate("window.sent") == []
    stage.evaluate("() => { window.drawCard(3, 'two'); }")
    assert stage.locator(".note").input_value() == ""
    assert stage.locator(".note").is_hidden()


def test_keydown_without_key_is_ignored(stage: Page, errors_of: Callable[[Page], list[str]]) -> None:
    errors = errors_of(stage)
    stage.evaluate("""() => {
        window.drawCard(1);
        const field = document.body.appendChild(document.createElement("input"));
        field.dispatchEvent(new Event("keydown", { bubbles: true, composed: true }));  // as what fills in forms does
    }""")
    assert stage.evaluate("window.sent") == []
    assert errors == []


def test_card_is_replaced_when_kind_of_project_changes(annotating: Page, here: Room, home: Home) -> None:
    page = annotating
    other = "Many labels"  # neither name is a prefix of the other, so a box of projects cannot confuse them
    vectors = vector_project(home, OWNER, other, question="instance")
    page.reload()
    page.locator(room.CARD).wait_for()
    for name, asked, project, keys in (
        (other, "Which labels are right?", vectors, ("1", "Enter")),
        (here.name, "Which one is it?", here.project, ("1",)),
    ):
        page.get_by_test_id("stMenuButtonButton").click()
        page.get_by_role("menuitem", name=name, exact=True).click()
        page.get_by_role("heading", name=asked).wait_for()
        expect(page.locator(room.CARD)).to_have_count(1)
        room.press(page, *keys)
        assert room.log_of(here.server, project)
    assert here.kinds() == ["is"]


# Goal, pause, last ten answers, examples and qualification, by keys in a browser


@pytest.fixture
def seat(home: Home, here: Room) -> Seat:
    return Seat(home, OWNER, here.project)


def decided(seat: Seat) -> tuple[int, str]:
    """A row that can be marked, and its label."""
    while True:
        question = loop.next_question(seat)
        saved = loop.submit_answer(seat, question.token, "is", question.choices[:1])
        if examples.marking(seat, saved.row).labels:
            return saved.row, saved.labels[0]


def test_goal_reached_by_keys_is_reported_once(page: Page, here: Room, seat: Seat) -> None:
    goals.set_goal(seat, Goal(answers=2))
    room.annotate(page, here.server, here.project)
    goal, saved = page.locator(".goal"), page.locator(".saved")
    expect(goal).to_have_text("0 of 2 today")
    room.press(page, "1")
    expect(goal).to_have_text("1 of 2 today")
    expect(saved).not_to_contain_text("goal")
    room.press(page, "1")
    expect(goal).to_have_text("2 of 2 today")
    expect(saved).to_contain_text("That is your goal for today: 2 answers.")
    room.press(page, "1")
    expect(goal).to_have_text("3 of 2 today")
    expect(saved).not_to_contain_text("goal")


def test_pause_hides_question_until_enter(annotating: Page, here: Room) -> None:
    page, token = annotating, room.token(annotating)
    page.keyboard.press("Shift+P")
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    expect(page.locator(".choice")).to_have_count(0)
    page.keyboard.press("1")
    page.reload()
    expect(page.get_by_role("heading", name="Paused")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(room.CARD)).to_have_attribute("data-token", token)
    assert here.log() == []
    room.press(page, "1")
    assert here.kinds() == ["is"]


def test_history_shows_last_rows_and_opens_one(annotating: Page, here: Room) -> None:
    page, rows = annotating, []
    for _ in range(12):
        rows.append(room.row_id(page))
        room.press(page, "1")
    page.keyboard.press("h")
    history = page.get_by_role("dialog", name="Your last answers")
    expect(history.get_by_role("listitem")).to_have_count(12)
    expect(history.locator(".look:has(.about)")).to_have_count(10)
    expect(history.get_by_role("button", name=re.compile("^Open: "))).to_have_count(10)
    history.get_by_role("button", name=re.compile(f"Open: row {rows[-2]} is")).click()
    expect(page.get_by_role("heading", name=f"Row {rows[-2]}")).to_be_visible()


def test_examples_open_by_key(page: Page, here: Room, seat: Seat) -> None:
    row, label = decided(seat)
    examples.mark(seat, row, label, "look at the <b>wing</b>")
    room.annotate(page, here.server, here.project)
    page.keyboard.press("Shift+G")
    dialog = page.get_by_role("dialog", name="Examples")
    expect(dialog.get_by_role("heading", name=label, exact=True)).to_be_visible()
    expect(dialog.get_by_text("look at the <b>wing</b>")).to_be_visible()
    page.keyboard.press("Shift+G")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Examples", exact=True).click()
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("g")
    expect(page.get_by_text("Look twice.")).to_be_visible()


def test_qualification_is_passed_by_keys_before_first_question(
    browser: Browser, home: Home, here: Room, seat: Seat, name: str
) -> None:
    known = {}
    for _ in range(2):
        row, label = decided(seat)
        examples.mark(seat, row, label, f"why {label}", QUALIFICATION)
        with seat.learner() as opened:
            known[str(opened.learner.table.ids[row])] = label
    qualification.change_rule(seat, QualificationRule(2, 1))
    before = here.log()
    page = member(browser, here.server, home, here.project, name)
    room.annotate(page, here.server, here.project)
    expect(page.get_by_role("heading", name="A few known rows first")).to_be_visible()
    page.keyboard.press("Enter")
    judged, asked = page.locator(".judged"), page.locator(".choice:enabled")
    for wrong in (True, False):
        for number in range(2):
            expect(page.get_by_text(f"Known row {number + 1} of 2")).to_be_visible()
            expect(asked.first).to_be_visible()
            label = known[room.row_id(page)]
            other = next(one for one in room.labels_on_screen(page) if one != label)
            page.keyboard.press(room.key_for(page, other if wrong else label))
            expect(judged).to_contain_text(f"It is {label}." if wrong else "Right.")
            expect(judged).to_contain_text(f"why {label}")
            page.keyboard.press("Enter")
        if wrong:
            expect(page.get_by_role("heading", name="Not yet")).to_be_visible()
            page.keyboard.press("Enter")
    expect(page.locator(".choice:not(.known)").first).to_be_visible()
    assert here.log() == before
    room.press(page, "1")
    assert len(here.log()) == len(before) + 1
    page.context.close()
