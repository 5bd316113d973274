"""The box for a file in a browser: by keyboard, dropped, too large, cancelled; and its bar."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FileChooser, Locator, Page, Route, expect

from tests.browser.server import Server

pytestmark = pytest.mark.browser

CSV = "id,candidates,x\n" + "".join(f"r{number:02},a|b,{number:02}\n" for number in range(20))
LABEL = "A table, or a zip of a table and its files"


@pytest.fixture
def box(page: Page, server: Server) -> Locator:
    page.goto(f"{server.base}/import")
    found = page.get_by_role("group", name=LABEL)
    found.wait_for()
    return found


def lying(server: Server) -> set[str]:
    """The files that wait there."""
    folder = server.home / "uploads"
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def choose(page: Page, box: Locator) -> FileChooser:
    """What the button opens, by the keyboard alone."""
    button = box.get_by_role("button", name=f"Choose a file: {LABEL}")
    with page.expect_file_chooser() as opened:
        button.press("Enter")
    return opened.value


def test_a_file_is_chosen_by_the_keyboard_and_taken_away_again(
    page: Page, server: Server, box: Locator
) -> None:
    before = lying(server)
    expect(box).to_contain_text("Choose a file, or drop it here.")
    expect(box).to_contain_text("At most 200 MB, one file.")
    choose(page, box).set_files({"name": "birds.csv", "mimeType": "text/csv", "buffer": CSV.encode()})
    expect(box.get_by_role("status")).to_contain_text("birds.csv · 0.2 kB")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()
    (mine,) = lying(server) - before
    away = box.get_by_role("button", name="Take away")
    away.focus()
    page.keyboard.press("Enter")
    expect(box.get_by_role("status")).to_have_text("Choose a file, or drop it here.")
    expect(page.get_by_role("button", name="Create project")).to_have_count(0)
    assert mine not in lying(server)


def drop(page: Page, box: Locator, *names: str) -> None:
    files = page.evaluate_handle(
        """([names, text]) => {
            const held = new DataTransfer();
            for (const name of names) held.items.add(new File([text], name));
            return held;
        }""",
        [names, CSV],
    )
    for event in ("dragover", "drop"):
        box.dispatch_event(event, {"dataTransfer": files})


def test_one_file_is_dropped_and_several_are_told_so(page: Page, box: Locator) -> None:
    drop(page, box, "one.csv", "two.csv")
    expect(box.get_by_role("status")).to_have_text("Drop one file alone.")
    drop(page, box, "one.csv")
    expect(box.get_by_role("status")).to_contain_text("one.csv")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()


def test_a_file_too_large_is_told_before_any_of_it_is_sent(page: Page, box: Locator) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate("() => { Object.defineProperty(File.prototype, 'size', { get: () => 345e6 }); }")
    drop(page, box, "huge.csv")
    expect(box.get_by_role("status")).to_have_text("The file has 345 MB. At most 200 MB, one file.")
    assert not [url for url in sent if "/uploads" in url]


def test_a_bar_shows_how_far_it_is_and_cancelling_leaves_nothing(
    page: Page, server: Server, box: Locator, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, held, before = errors_of(page), list[Route](), lying(server)
    page.route(re.compile("/uploads"), lambda route: held.append(route))  # the answer stays out
    choose(page, box).set_files({"name": "birds.csv", "mimeType": "text/csv", "buffer": CSV.encode()})
    expect(box.get_by_role("progressbar", name=LABEL)).to_be_visible()
    expect(box.get_by_role("status")).to_contain_text("birds.csv")
    box.get_by_role("button", name="Cancel").click()
    expect(box.get_by_role("progressbar")).to_have_count(0)
    expect(box.get_by_role("status")).to_have_text("Choose a file, or drop it here.")
    page.unroute(re.compile("/uploads"))
    assert lying(server) == before
    assert errors == []


def test_what_the_server_refuses_is_said_in_its_words(page: Page, box: Locator) -> None:
    words = "Files of one person that wait here may have 500 MB in all."
    page.route(re.compile("/uploads"), lambda route: route.fulfill(status=507, body=words))
    drop(page, box, "one.csv")
    expect(box.get_by_role("status")).to_have_text(words)
    page.unroute(re.compile("/uploads"))
    drop(page, box, "one.csv")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read_in_the_dark(page: Page, box: Locator, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(box).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = Axe().run(page, context='[data-testid="stMain"]', options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert [one["id"] for one in found.response["violations"]] == []
