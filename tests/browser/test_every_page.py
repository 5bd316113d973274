"""Every page in the browser: it loads, is accessible, and does not jump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Route, expect
from playwright.sync_api import TimeoutError as PageTimeout

from tests.browser import room
from tests.browser.screenshots import PAGES, SIZES, open_page
from tests.browser.server import Server
from tests.workflow.alike_world import alike_project
from web.document import NEEDED, START
from workflow.people import team
from workflow.server.home import Home

# Every page: checks of axe-core, a walk by keyboard, text at 200%, and its requests


pytestmark = pytest.mark.browser

AT_MOST = 400
"""Presses of Tab until the walk must be back at its start."""

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return null;
  window.winnowWalked ??= new Map();
  const first = !window.winnowWalked.has(at);
  if (first) window.winnowWalked.set(at, window.winnowWalked.size);
  const drawn = at.closest("canvas") ?? at;  // that of a cell, which is drawn there
  const box = drawn.getBoundingClientRect();
  const style = getComputedStyle(drawn);
  return {
    number: window.winnowWalked.get(at), first,
    name: `${at.tagName.toLowerCase()} ${(at.getAttribute("aria-label") || at.textContent || "").trim().slice(0, 60)}`,
    shown: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight
      && box.right > 0 && box.left < innerWidth && style.visibility !== "hidden",
  };
}"""
THERE = """() => {
  const shown = one => one.checkVisibility({ visibilityProperty: true }) && one.getBoundingClientRect().width > 0;
  const pressed = "[data-testid=stMain] button, [data-testid=stMain] a[href], [data-testid=stHeader] a[href]";
  window.winnowThere = [...document.querySelectorAll(pressed)].filter(shown);
}"""
"""Controls at the start of the walk: in a table the walk selects a cell, which adds a button to clear the selection."""
TO_BE_REACHED = """() => {
  const walked = window.winnowWalked ?? new Map();
  const besides = one => one.role === "radio"  // the arrows go from one choice of a group to the next
    && [...one.closest("[role=radiogroup]").querySelectorAll("[role=radio]")].some(other => walked.has(other));
  const passed = one => one.disabled || one.tabIndex < 0 || walked.has(one) || besides(one)
    || one.closest("[inert], .modebar");
  return window.winnowThere.filter(one => one.isConnected && !passed(one)).map(one => one.outerHTML.slice(0, 160));
}"""
SIDEWAYS = """() => {
  const main = document.querySelector("[data-testid=stMain]") ?? document.scrollingElement;
  return Math.max(main.scrollWidth - main.clientWidth, document.scrollingElement.scrollWidth - innerWidth);
}"""


CUT = """() => {
  const words = "[data-testid=stMain] :is(button, a) *, [data-testid=stMain] [data-testid=stButtonGroup] > div";
  return [...document.querySelectorAll(words)]
    .filter(one => one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1)
    .filter(one => getComputedStyle(one).overflowX !== "visible")
    .map(one => `cuts the words “${one.textContent.trim().slice(0, 60)}”`);
}"""
"""Words of buttons, links and rows of choices that are not to be read to their end."""

DOUBLE = "document.documentElement.style.fontSize = '200%'"
"""Like a browser with text at 200%: all sizes of the pages follow the root's."""


def walk(page: Page) -> list[str]:
    """Walk through the page by Tab only; in a table from cell to cell. Returns the problem, if any."""
    wrong = []
    page.evaluate(THERE)
    for _ in range(AT_MOST):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None or (at["number"] == 0 and not at["first"]):
            break
        if "Link to heading" in at["name"]:
            wrong.append("stops at the anchor of a heading")
        if not at["shown"]:
            wrong.append(f"has the focus and is not to be seen: {at['name']}")
    else:
        wrong.append(f"{AT_MOST} presses of Tab do not come round")
    return wrong + [f"cannot be reached: {one}" for one in page.evaluate(TO_BE_REACHED)]


def test_every_page_is_accessible_keeps_content_policy_and_contacts_own_server_only(
    browser: Browser, looked_at: tuple[Server, Path]
) -> None:
    """Look for violations, walk by keyboard, then make it a phone's page with text at 200%: in one load of the page,
    which takes longer than the rest."""
    server, cookies = looked_at
    context = browser.new_context(viewport=SIZES[""], storage_state=cookies)  # type: ignore[arg-type]
    page = context.new_page()
    own, elsewhere = urlsplit(server.base).netloc, []

    def note(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != own:
            elsewhere.append(address)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda socket: note(socket.url))
    violated = room.violations(page)
    wrong, titles = {}, {}
    for name in PAGES:
        page.set_viewport_size(SIZES[""])  # type: ignore[arg-type]
        open_page(page, server.base, name, settle=300)
        titles[name] = page.title()
        if name == "progress":
            box = room.place_of(page.locator(".js-plotly-plot").first)
            assert box["y"] + 0.75 * box["height"] <= 800, "its curve is below the words of the demo's tour"
        if found := findings(page) + walk(page) + cut_with_double_text(page):
            wrong[name] = found
    context.close()
    assert len(set(titles.values())) == len(PAGES), titles
    assert all(one.endswith(" · Winnow") for one in titles.values()), titles
    assert not elsewhere
    assert violated == []
    assert not wrong, listed(wrong)


def cut_with_double_text(page: Page) -> list[str]:
    """The pixels by which the page, on a phone with text at 200%, can be scrolled sideways, and the words it cuts."""
    page.set_viewport_size(SIZES["-phone"])  # type: ignore[arg-type]
    page.evaluate(DOUBLE)
    with suppress(PageTimeout):  # parts drawn by scripts follow
        room.until(page, f"({SIDEWAYS})() <= 1")
    beyond = page.evaluate(SIDEWAYS)
    cut = list(dict.fromkeys(page.evaluate(CUT)))
    return [f"scrolls sideways by {beyond} pixels", *cut] if beyond > 1 else cut


def listed(wrong: dict[str, list[str]]) -> str:
    return "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)


@pytest.mark.proof
@pytest.mark.parametrize("suffix", SIZES)
def test_double_text_size_scrolls_no_page_sideways(
    browser: Browser, looked_at: tuple[Server, Path], suffix: str
) -> None:
    """Also with text at 200% from the start."""
    server, cookies = looked_at
    context = browser.new_context(viewport=SIZES[suffix], storage_state=cookies)  # type: ignore[arg-type]
    context.add_init_script(f"addEventListener('DOMContentLoaded', () => {DOUBLE})")
    page = context.new_page()
    wrong = {}
    for name in PAGES:
        open_page(page, server.base, name, settle=300)
        if (beyond := page.evaluate(SIDEWAYS)) > 1:
            wrong[name] = beyond
    context.close()
    assert not wrong, wrong


# axe-core over every page in its other colours and on a phone: no serious finding


STUMBLING = "[data-testid=stSidebarNavItems] li:not([role])"
"""Menu entries that `pages/parts/head/menu.js` removes on a phone."""


OTHER_LOOKS = (("dark", ""), ("light", "-phone"), ("dark", "-phone"))
"""Colour schemes and sizes other than that in which every page is looked at: `make proofs`."""

MOVED = """document.getAnimations().every(
    (one) => one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity
)"""
"""Whether all that appears has appeared: what fades in has too little contrast meanwhile."""


def findings(page: Page) -> list[str]:
    """The serious and critical violations, each with the elements it is about."""
    expect(page.locator(STUMBLING)).to_have_count(0)
    if page.get_by_test_id("stApp").count():  # the sign-in page has none; parts being redrawn are pale
        room.drawn(page)
    room.until(page, MOVED)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['target']}"
        for one in Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.mark.proof
@pytest.mark.parametrize(("scheme", "suffix"), OTHER_LOOKS)
def test_every_page_is_accessible(
    browser: Browser, looked_at: tuple[Server, Path], scheme: Literal["light", "dark"], suffix: str
) -> None:
    server, cookies = looked_at
    wrong = {}
    context = browser.new_context(viewport=SIZES[suffix], color_scheme=scheme, storage_state=cookies)  # type: ignore[arg-type]
    page = context.new_page()
    for name in PAGES:
        open_page(page, server.base, name, settle=300)
        if found := findings(page):
            wrong[name] = found
    context.close()
    assert not wrong, listed(wrong)


@pytest.mark.parametrize(
    ("scheme", "suffix"), [("light", ""), *(pytest.param(*one, marks=pytest.mark.proof) for one in OTHER_LOOKS)]
)
def test_sign_in_page_is_accessible(
    browser: Browser, looked_at: tuple[Server, Path], scheme: Literal["light", "dark"], suffix: str
) -> None:
    """The page for people who are not signed in, also after an invalid link."""
    server, wrong = looked_at[0], {}
    context = browser.new_context(viewport=SIZES[suffix], color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for name, query in (("signin", ""), ("no link", "?link=none")):
        page.goto(f"{server.base}/signin{query}")
        page.get_by_role("img", name="Winnow").wait_for()
        if found := findings(page):
            wrong[name] = found
    context.close()
    assert not wrong, listed(wrong)


# A placeholder in a page is as high as the content that replaces it: nothing below it jumps


LAST = {
    "queue": "open rows.",
    "review": "answered rows, latest first",
    "progress": "When to stop",
    "map": "Rows that are similar",
}
"""Words below the parts that load late."""
LISTS = ("queue", "review")
"""Pages with a list of rows, which its own script draws."""
HEIGHTS_SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
NEARLY = 20
"""Pixels that text may move when its font loads late."""


def top(page: Page, words: str) -> float:
    return room.place_of(page.get_by_text(words).first)["y"]


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.proof)])
@pytest.mark.parametrize(
    "name", ["queue", "progress", *(pytest.param(one, marks=pytest.mark.proof) for one in ("review", "map"))]
)
def test_late_part_does_not_move_content_below(
    looked_at: tuple[Server, Path], browser: Browser, name: str, size: str
) -> None:
    server, state = looked_at
    context = browser.new_context(viewport=HEIGHTS_SIZES[size], storage_state=state)  # type: ignore[arg-type]
    page, gate = context.new_page(), room.Gate()
    page.route(room.LATE, gate.come)
    page.goto(f"{server.base}/{name}")
    expect(page.get_by_text(LAST[name]).first).to_be_visible()
    skeletons = page.get_by_test_id("stSkeleton")
    expect(skeletons.first).to_be_attached()
    if name in LISTS:
        expect(page.get_by_role("button", name=re.compile("^Row "))).not_to_have_count(0)
    before = top(page, LAST[name])
    gate.open()
    expect(skeletons).to_have_count(0)
    assert top(page, LAST[name]) == pytest.approx(before, abs=NEARLY)
    context.close()


def test_goal_below_card_has_its_place_before_the_card_is_drawn(
    looked_at: tuple[Server, Path], browser: Browser
) -> None:
    server, state = looked_at
    context = browser.new_context(viewport=HEIGHTS_SIZES["desktop"], storage_state=state)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{server.base}/annotate")
    page.locator(room.CARD).wait_for()
    expect(page.get_by_role("button", name="Goal and breaks")).to_be_visible()
    room.drawn(page)
    before = top(page, "Goal and breaks")
    page.locator(".st-key-winnow_card").evaluate("card => { card.style.display = 'none'; }")
    assert top(page, "Goal and breaks") == pytest.approx(before, abs=NEARLY)
    context.close()


# Files of a page are requested before the page needs them: its document names exactly these


DRAWN = {START: "text=Signed in as", "annotate": room.CARD}
"""Content that appears once the page is loaded."""
MENU = "stMenuButtonButton"
ELSEWHERE = "import"
"""A page whose document names no more scripts than every page's."""
DEMO = 1
"""The one project of a new Winnow."""
SEVERAL = 4
"""Number of projects from which Home, too, has select boxes."""

TELL = """(hash) => new Promise((resolve) => {
    window.addEventListener("message", () => resolve(location.hash));
    window.postMessage({ stCommVersion: 1, type: "UPDATE_HASH", hash }, "*");
})"""
"""Sends Streamlit's page to another place in it, like a site that frames it; resolves to its place then."""


class NewBrowser:
    """A new browser with only these cookies; `asked` is {script: who requested it}."""

    def __init__(self, browser: Browser, cookies: str | Path) -> None:
        self.context = browser.new_context(storage_state=cookies)
        self.page = self.context.new_page()
        self.asked: dict[str, str] = {}
        session = self.context.new_cdp_session(self.page)
        session.on("Network.requestWillBeSent", self._note)
        session.send("Network.enable")

    def draws(self, which: str, projects: int) -> None:
        """Wait until the page is drawn with all its scripts; late parts have a grey placeholder until then."""
        self.page.locator(DRAWN[which]).first.wait_for()
        chooser = self.page.get_by_role("combobox") if which == START else self.page.get_by_test_id(MENU)
        expect(chooser).to_have_count(int(projects > 1))
        expect(self.page.get_by_test_id("stSkeleton")).to_have_count(0)
        self.page.wait_for_load_state("networkidle")

    def _note(self, one: dict[str, Any]) -> None:
        path = one["request"]["url"].partition("?")[0]
        if path.endswith(".js") and not path.startswith("blob:"):
            self.asked.setdefault(path, one["initiator"]["type"])


def check_scripts(browser: Browser, server: Server, cookies: str | Path, projects: int) -> None:
    """Check Home and the question page. projects : how many there are"""
    for which in DRAWN:
        named = NewBrowser(browser, cookies)
        named.page.goto(f"{server.base}/{which}")  # of the project used last
        named.draws(which, projects)
        links = named.page.eval_on_selector_all("link[rel=modulepreload]", "all => all.map(one => one.href)")
        # Some may be requested early by scripts that need them.
        assert {one for one, by in named.asked.items() if by != "parser"} <= set(links), which
        # A page opened from another page requests its own files: exactly these were named.
        assert ELSEWHERE not in NEEDED
        asking = NewBrowser(browser, cookies)
        asking.page.goto(f"{server.base}/{ELSEWHERE}")
        asking.page.locator(f"nav a[href$='/{which}']").first.click()
        asking.draws(which, projects)
        assert set(named.asked) <= set(asking.asked), which
        assert "script" in asking.asked.values()
        for one in (named, asking):
            one.context.close()


def test_document_lists_scripts_of_page_with_one_project(browser: Browser, looked_at: tuple[Server, Path]) -> None:
    check_scripts(browser, *looked_at, projects=1)


@pytest.mark.proof
def test_document_lists_scripts_of_page_with_several(
    page: Page, browser: Browser, server: Server, home: Home, tmp_path: Path
) -> None:
    for number in range(1, SEVERAL):
        alike_project(home, team.ensure_owner(home).id, f"Numbers {number}", "numbers")
    page.context.storage_state(path=tmp_path / "state.json")
    check_scripts(browser, server, tmp_path / "state.json", SEVERAL)


@pytest.fixture
def looking(browser: Browser, looked_at: tuple[Server, Path]) -> Iterator[Page]:
    """A page in a separate browser, at the server where nothing is changed."""
    context = browser.new_context(viewport=SIZES[""], storage_state=looked_at[1])  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


def test_page_is_drawn_before_streamlit_health_check(looking: Page, looked_at: tuple[Server, Path]) -> None:
    """Its websocket opens at once. No site may control the page, even a site that is named in the settings."""
    held: list[Route] = []
    asked = ("**/_stcore/health", "**/_stcore/host-config")
    for address in asked:
        looking.route(address, lambda one: held.append(one))
    with looking.expect_request(asked[0]), looking.expect_request(asked[1]):
        looking.goto(f"{looked_at[0].base}/annotate?project={DEMO}")
        looking.locator(room.CARD).wait_for()
    assert looking.evaluate(TELL, "#told") == ""
    while len(held) < len(asked):
        looking.wait_for_timeout(20)
    with looking.expect_response(asked[1]):
        for one in held:
            one.continue_()
    assert looking.evaluate(TELL, "#told") == ""


def test_streamlit_server_is_requested_below_root_path(looking: Page, looked_at: tuple[Server, Path]) -> None:
    """It is not requested below the page's own address first."""
    asked: list[str] = []
    looking.on("request", lambda one: asked.append(one.url))
    looking.goto(f"{looked_at[0].base}/annotate?project={DEMO}")
    looking.locator(room.CARD).wait_for()
    assert f"{looked_at[0].base}/_stcore/health" in asked
    assert not [one for one in asked if "/annotate/" in one]
