"""The question page uses its space: the item is large, choices keep their place, and a thumb reaches all of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from plcore import LearnerSettings
from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_every_page import findings
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.sounds import tone
from tests.workflow.vector_world import vector_project
from workflow import importing
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

BIRDS = ("Great tit", "Coal tit", "Marsh tit", "Blue tit", "Common chiffchaff", "Eurasian nuthatch")
SCORES = (0.62, 0.55, 0.2, 0.31, 0.11, 0.08)
TEXT = (
    "The council voted on Monday to close the swimming pool until spring because the price of heating has doubled "
    "and parents of the junior team say that training will now cost an hour by bus every single day of the week "
)
PHONE = {"width": 390, "height": 844}
ROWS = 12


def six_project(home: Home, name: str, shown: str) -> int:
    """Rows of six candidates with scores, each with a picture, a recording or a text. Texts have different lengths."""
    files = {}
    if shown == "image":
        files = {f"{row}.png": picture(row, size=(240 + row, 180)) for row in range(ROWS)}
    if shown == "sound":
        files = {f"{row}.wav": tone(3, hertz=500.0 + 200 * row) for row in range(ROWS)}
    lines = ["id,candidates,shown,x"]
    for row in range(ROWS):
        scores = SCORES[row % 6 :] + SCORES[: row % 6]
        cell = "|".join(f"{bird}:{score}" for bird, score in zip(BIRDS, scores, strict=True))
        told = f"{row}.png" if shown == "image" else f"{row}.wav" if shown == "sound" else ""
        lines.append(f'r{row},{cell},"{told or " ".join((6 * TEXT).split()[: 12 + 15 * row])}",{row}.5')
    read = importing.read_upload(make_zip({"t.csv": "\n".join(lines).encode(), **files}))
    checked = importing.check(read, read.suggest_roles())
    assert checked.table is not None, checked.problems
    return importing.create(Seat(home, OWNER), name, checked.table, LearnerSettings(n_neighbors=3, control_share=0.0))


@pytest.fixture
def make(home: Home, name: str) -> Callable[[str], int]:
    return lambda shown: six_project(home, f"{name} {shown}", shown)


@pytest.fixture
def phone(browser: Browser, signed_in: str) -> Iterator[Page]:
    context = browser.new_context(
        viewport=PHONE,  # type: ignore[arg-type]
        has_touch=True,
        is_mobile=True,
        storage_state=signed_in,
    )
    yield context.new_page()
    context.close()


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return {"x": found["x"], "y": found["y"], "width": found["width"], "height": found["height"]}


def sideways(page: Page) -> int:
    """Pixels by which the page, or a box on the card, can be scrolled sideways."""
    return int(
        page.evaluate(
            """() => {
                const card = [...document.querySelectorAll("*")].map(one => one.shadowRoot?.querySelector(".card"))
                    .find(Boolean);
                const all = [document.scrollingElement, document.querySelector("[data-testid=stMain]"),
                    ...card.querySelectorAll(".instance, .ask, .choices, .reading, .scroll, .foot")];
                return Math.max(...all.map(one => one.scrollWidth - one.clientWidth));
            }"""
        )
    )


@pytest.mark.parametrize("shown", ["image", *(pytest.param(one, marks=pytest.mark.proof) for one in ("sound", "text"))])
def test_desktop_layout_gives_row_space_and_never_moves(
    page: Page, server: Server, make: Callable[[str], int], shown: str
) -> None:
    room.annotate(page, server, make(shown))
    room.settle(page)
    instance, ask = box(page, ".instance"), box(page, ".ask")
    assert instance["height"] >= 0.6 * 800
    assert instance["width"] >= 1.6 * ask["width"]
    assert 380 <= ask["width"] <= 420, "one column"
    foot = box(page, ".foot")
    assert foot["y"] + foot["height"] <= 800
    assert foot["height"] < 60, "one line"
    assert box(page, ".choice")["height"] < 60, "name on one line, share beneath"
    places = []
    for _ in range(4):
        room.settle(page)
        places.append([box(page, one) for one in (".instance", ".ask", ".choice", ".foot")])
        assert sideways(page) <= 0
        room.press(page, "1")
    assert all(place == places[0] for place in places), "same place, same height"


def test_model_shares_and_file_scores_are_distinguished(page: Page, server: Server, make: Callable[[str], int]) -> None:
    room.annotate(page, server, make("text"))
    room.press(page, "1")
    widths = page.locator(".choice .bar .fill").evaluate_all("all => all.map(one => one.style.width)")
    assert "100%" in widths, "the longest bar is the likeliest"
    assert page.locator(".choice .notch").count() == len(BIRDS)
    notches = page.locator(".choice .notch").evaluate_all("all => all.map(one => parseFloat(one.style.left))")
    numbers = [float(text) for text in page.locator(".choice > .weight").all_inner_texts()]
    assert notches == pytest.approx([100 * number / max(numbers) for number in numbers], abs=0.01)
    expect(page.locator(".scale")).to_contain_text("in your file")


def test_text_size_follows_its_length(page: Page, server: Server, make: Callable[[str], int]) -> None:
    room.annotate(page, server, make("text"))
    seen = set()
    for _ in range(ROWS - 1):
        text = page.locator(".text")
        words = len(text.inner_text().split())
        size = text.evaluate("node => parseFloat(getComputedStyle(node).fontSize)")
        assert size == (26 if words <= 40 else 20 if words <= 120 else 17)
        seen.add(size)
        line = text.evaluate(
            """node => {
                const letters = node.firstChild.nodeType === 3 && node.childNodes.length === 1 ? node.firstChild : null;
                if (!letters) return 0;
                const range = document.createRange(), lines = new Map();
                for (let at = 0; at < letters.length; at += 1) {
                    range.setStart(letters, at);
                    range.setEnd(letters, at + 1);
                    const top = Math.round(range.getBoundingClientRect().top);
                    lines.set(top, (lines.get(top) ?? 0) + 1);
                }
                return Math.max(...lines.values());
            }"""
        )
        assert line <= 63, "62 characters and a space"
        room.press(page, "1")
    assert seen == {26, 20, 17}


def test_phone_gives_long_text_the_height_that_few_choices_leave(
    phone: Page, server: Server, make: Callable[[str], int]
) -> None:
    page = phone
    room.annotate(page, server, make("text"))
    room.settle(page)
    page.locator(".text").evaluate("one => { one.textContent = 'many words '.repeat(200); }")
    assert box(page, ".instance")["height"] < 0.3 * 844, "below it are six"
    page.locator(".candidate").evaluate_all("all => all.slice(2).forEach((one) => one.remove())")
    instance, foot = box(page, ".instance"), box(page, ".foot")
    assert instance["height"] > 0.5 * 844
    assert page.evaluate("document.documentElement.scrollHeight") == 844, "the choices are still on the screen"
    lowest = page.locator(".choice").last.bounding_box()
    assert lowest is not None
    assert lowest["y"] + lowest["height"] <= foot["y"]


@pytest.mark.parametrize("shown", ["image", "text", pytest.param("sound", marks=pytest.mark.proof)])
def test_phone_shows_six_choices_without_scrolling(
    phone: Page, server: Server, make: Callable[[str], int], shown: str
) -> None:
    page = phone
    room.annotate(page, server, make(shown))
    room.settle(page)
    instance, foot = box(page, ".instance"), box(page, ".foot")
    assert instance["height"] <= 0.4 * 844
    # A text takes the height it needs, and the choices are near the thumb; everything else has its share of the page.
    assert (instance["height"] < 0.3 * 844) == (shown == "text")
    assert instance["y"] <= 60, "one line over it"
    assert foot["y"] + foot["height"] == pytest.approx(844, abs=1), "a bar at the foot"
    choices = page.locator(".choice")
    expect(choices).to_have_count(6)
    lowest = choices.last.bounding_box()
    assert lowest is not None
    assert foot["y"] - lowest["y"] - lowest["height"] <= 90, "near the thumb"
    for choice in choices.all():
        place = choice.bounding_box()
        assert place is not None
        assert place["height"] >= 50
        assert place["y"] + place["height"] <= foot["y"]
    for button in page.locator(".card button:visible").all():
        size = button.bounding_box()
        assert size is not None
        assert min(size["width"], size["height"]) >= 44, button.inner_text()
    assert page.locator(".foot button:visible").all_inner_texts() == [
        "None of these…" if page.get_by_role("button", name="None of these…").count() else "Find a class…",
        "Cannot tell",
        "Skip",
        "Undo",
        "More",
    ]
    assert sideways(page) <= 0
    kept = (".choice", ".foot") if shown == "text" else (".instance", ".choice", ".foot")
    before = [box(page, one) for one in kept]
    room.press(page, "1")
    room.settle(page)
    assert [box(page, one) for one in kept] == before
    page.get_by_role("button", name="More").tap()
    expect(page.get_by_role("button", name="More")).to_have_attribute("aria-expanded", "true")
    assert findings(page) == []
    page.get_by_role("button", name="History").tap()
    expect(page.get_by_role("dialog", name="Your last answers")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="History")).to_be_hidden()


@pytest.mark.proof  # tests/browser/test_every_page.py covers the demo
@pytest.mark.parametrize("shown", ["image", "sound", "text"])
def test_double_text_size_does_not_scroll_sideways(
    phone: Page, page: Page, server: Server, make: Callable[[str], int], shown: str
) -> None:
    project = make(shown)
    for one in (phone, page):
        room.annotate(one, server, project)
        one.evaluate("document.documentElement.style.fontSize = '200%'")
        room.settle(one)
        assert sideways(one) <= 0


def test_phone_header_is_one_line(phone: Page, server: Server, make: Callable[[str], int]) -> None:
    """Menu, project and progress are visible and clickable."""
    page = phone
    room.annotate(page, server, make("text"))
    for one in ("[data-testid=stExpandSidebarButton]", ".st-key-winnow_title", ".track", ".counts"):
        place = box(page, one)
        assert 0 <= place["y"] <= place["y"] + place["height"] <= 47, one
        hit = page.evaluate(
            """([x, y]) => {
                let node = document.elementFromPoint(x, y);
                while (node?.shadowRoot?.elementFromPoint(x, y)) node = node.shadowRoot.elementFromPoint(x, y);
                const mine = "[data-testid=stExpandSidebarButton], [class*=st-key-winnow_title], .head";
                return node.closest(mine) !== null;
            }""",
            [place["x"] + place["width"] / 2, place["y"] + place["height"] / 2],
        )
        assert hit, one
    icon = page.get_by_test_id("stExpandSidebarButton").get_by_test_id("stIconMaterial")
    assert icon.evaluate("one => getComputedStyle(one, '::before').content") == '"menu"'
    page.get_by_test_id("stExpandSidebarButton").tap()
    expect(page.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "false")


@pytest.mark.proof
def test_toast_covers_neither_project_nor_answers(page: Page, server: Server) -> None:
    """It is at the bottom, on a phone at the top, where only the row is."""
    table = pd.DataFrame({"id": range(8), "candidates": "ant|bee", "x": range(8)})
    room.begin_import(page, server.base, table, "toasted")
    expect(page.get_by_test_id("stToast")).to_be_visible()  # for seconds, whenever the card comes
    toast = box(page, "[data-testid=stToast]")
    assert toast["y"] > 400
    assert toast["x"] + toast["width"] < box(page, ".choice")["x"]
    room.begin_import(page, server.base, table, "toasted again")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_test_id("stToast")).to_be_visible()
    toast, choice = box(page, "[data-testid=stToast]"), box(page, ".choice")
    assert toast["y"] >= 46, "below the line with the project"
    assert toast["y"] + toast["height"] <= choice["y"], "no answer is below it"


def swipe(page: Page, x: float, y: float = 2, on: str = ".single", fingers: int = 1) -> None:
    """Swipe with one finger, or several side by side, from the middle of the element this far to the right, and
    down."""
    start = box(page, on)
    at = (start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    session = page.context.new_cdp_session(page)

    def touch(kind: str, part: float) -> None:
        points = [
            {"x": at[0] + x * part, "y": at[1] + y * part + 30 * finger, "id": finger} for finger in range(fingers)
        ]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if kind == "touchEnd" else points})

    touch("touchStart", 0)
    for part in range(1, 6):
        touch("touchMove", part / 5)
    touch("touchEnd", 1)
    session.detach()


def test_manifest_makes_app_installable(page: Page, server: Server, make: Callable[[str], int]) -> None:
    room.annotate(page, server, make("text"))
    link = page.locator("link[rel=manifest]")
    expect(link).to_have_count(1)
    answer = page.request.get(str(link.get_attribute("href")))
    assert answer.headers["content-type"].startswith("application/manifest+json")
    assert "manifest-src 'self'" in answer.headers["content-security-policy"]
    said = answer.json()
    sizes = {one["sizes"] for one in said["icons"]}
    assert sizes == {"192x192", "512x512"}
    for one in said["icons"]:
        icon = page.request.get(f"{server.base}/app/{one['src']}")
        assert (icon.status, icon.headers["content-type"]) == (200, "image/png")
    session = page.context.new_cdp_session(page)
    found = session.send("Page.getAppManifest")
    assert found["url"] == f"{server.base}/app/manifest.webmanifest"
    assert found["errors"] == []
    assert json.loads(found["data"]) == said
    errors = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert [one for one in errors if one["errorId"] != "in-incognito"] == [], "the browser reads its icons too"


def test_swipe_answers_yes_or_no(phone: Page, server: Server, home: Home, name: str) -> None:
    project = vector_project(home, OWNER, name, question="cell")
    page = phone
    room.annotate(page, server, project)
    expect(page.get_by_text("or swipe: right is yes, left is no")).to_be_visible()
    for key in ("y", "n"):
        expect(page.locator(f".verdict[data-key={key}]")).to_be_visible()
    swipe(page, 40)  # a swipe that is too short
    assert room.log_of(server, project) == []
    for x in (130, -130):
        shown = room.token(page)
        swipe(page, x)
        room.wait_for_next(page, shown)
    assert [entry["kind"] for entry in room.log_of(server, project)] == ["yes", "no"]


def test_other_touch_gestures_give_no_answer(phone: Page, server: Server, home: Home, name: str) -> None:
    """They scroll, zoom with two fingers, move an enlarged picture, select typed text, seek in a recording, or turn
    pictures."""
    project = vector_project(home, OWNER, name, question="cell")
    page = phone
    room.annotate(page, server, project)
    shown = room.token(page)
    swipe(page, 60, 200)
    swipe(page, 130, fingers=2)
    for one in ("recording", "pictures"):
        page.locator(".single").evaluate("(node, one) => node.classList.add(one)", one)
        swipe(page, 130)
        page.locator(".single").evaluate("(node, one) => node.classList.remove(one)", one)
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    # A tap might only stop the scrolling.
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Note", exact=True).click()
    page.locator("textarea.note").fill("a note that is long enough to be marked")
    swipe(page, 130, on="textarea.note")
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setPageScaleFactor", {"pageScaleFactor": 2})
    room.until(page, "visualViewport.scale === 2")
    session.detach()
    touch_allowed = page.locator(".body").evaluate("node => getComputedStyle(node).touchAction")
    assert touch_allowed == "pan-y pinch-zoom"
    swipe(page, -90)
    assert room.log_of(server, project) == []
    assert room.token(page) == shown
    assert page.locator(".aimed").count() == 0
    assert page.locator(".single").evaluate("node => node.style.translate") == ""
