"""`make screenshots`: every page at desktop and phone size, light and dark, into docs/screens.

A fresh server with the demo project, sixty questions answered as an oracle would.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from tests.conftest import ROOT
from workflow.demo import demo_cells

FOLDER = ROOT / "docs" / "screens"
SIZES = {"": {"width": 1280, "height": 800}, "-phone": {"width": 390, "height": 844}}
PAGES = {
    "home": ("Projects", ""),
    "annotate": ("", room.CARD),
    "queue": ("", "[data-testid=stDataFrame]"),
    "progress": ("", ".js-plotly-plot .main-svg"),
    "map": ("", ".js-plotly-plot .main-svg"),
    "export": ("", "[data-testid=stDataFrame]"),
    "import": ("Import a table", ""),
    "people": ("People", ""),
    "review": ("", "[data-testid=stDataFrame]"),
    "settings": ("", "[data-testid=stTabs]"),
}
ANSWERS = 60


def answer_as_an_oracle(page: Page, base: str) -> None:
    cells, _ = demo_cells()
    page.goto(f"{base}/annotate")
    page.locator(room.CARD).wait_for()
    for _ in range(ANSWERS):
        room.answer(page, str(cells["digit"].iloc[int(room.row_id(page)) - 1]))


def open_page(page: Page, base: str, name: str) -> None:
    """One of PAGES, once it is drawn."""
    heading, selector = PAGES[name]
    page.goto(f"{base}/{'' if name == 'home' else name}")
    if heading:
        page.get_by_role("heading", name=heading, exact=True).wait_for()
    else:
        page.locator(selector).first.wait_for()
    page.wait_for_timeout(1500)  # charts and fonts settle


def take(browser: Browser, state: str, base: str) -> None:
    for scheme in ("light", "dark"):
        for suffix, size in SIZES.items():
            context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=state)  # type: ignore[arg-type]
            page = context.new_page()
            for name in PAGES:
                open_page(page, base, name)
                page.screenshot(path=FOLDER / f"{name}-{scheme}{suffix}.png")
            context.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            context = browser.new_context(viewport=SIZES[""])  # type: ignore[arg-type]
            page = context.new_page()
            page.goto(server.link)
            page.get_by_role("heading", name="Projects").wait_for()
            answer_as_an_oracle(page, server.base)
            state = str(Path(folder) / "state.json")
            context.storage_state(path=state)
            take(browser, state, server.base)
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
