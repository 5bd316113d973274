"""`make screenshots`: every page at desktop and phone size, light and dark, into screenshots/, which git ignores.

A fresh server with the demo project and sixty questions answered by the hidden labels. Only the images in README and
docs are kept, in docs/screens: copy them there when a page has changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import room
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server
from tests.conftest import ROOT
from tests.workflow.vector_world import answer_truly, vector_project
from workflow import demos
from workflow.demos.digits import demo_cells
from workflow.people import team
from workflow.server.home import open_home
from workflow.server.settings import Settings

FOLDER = ROOT / "screenshots"
SIZES = {"": {"width": 1280, "height": 800}, "-phone": {"width": 390, "height": 844}}
PAGES = {
    "home": ("Projects", ""),
    "annotate": ("", room.CARD),
    "models": ("", ".models"),
    "queue": ("", ".list"),
    "progress": ("", ".js-plotly-plot .main-svg"),
    "map": ("", ".js-plotly-plot .main-svg"),
    "export": ("", "[data-testid=stDataFrame]"),
    "suggest": ("Suggest labels", ""),
    "import": ("Import data", ""),
    "people": ("People", ""),
    "account": ("My account", ""),
    "audit": ("Audit", ""),
    "backups": ("Backups", ""),
    "disputes": ("", room.CARD),
    "team": ("", ".team"),
    "review": ("", ".list"),
    "settings": ("", "[data-testid=stTabs]"),
}
ANSWERS = 60
SETTLE = 1500


def answer_as_an_oracle(page: Page, base: str) -> None:
    cells, _ = demo_cells()
    page.goto(f"{base}/annotate")
    page.locator(room.CARD).wait_for()
    for _ in range(ANSWERS):
        room.answer(page, str(cells["digit"].iloc[int(room.row_id(page)) - 1]))


def open_page(page: Page, base: str, name: str, settle: int = SETTLE) -> None:
    """Open one of PAGES, and wait until it is drawn; settle : milliseconds for charts and fonts"""
    heading, selector = PAGES[name]
    go(page, f"{base}/{'' if name == 'home' else name}", heading, selector, settle)


def go(page: Page, address: str, heading: str, selector: str, settle: int = SETTLE) -> None:
    page.goto(address)
    if heading:
        page.get_by_role("heading", name=heading, exact=True).wait_for()
    else:
        page.locator(selector).first.wait_for()
    room.drawn(page)
    expect(page.locator("[data-testid=stSkeleton]:visible")).to_have_count(0)
    page.wait_for_timeout(settle)


def take(browser: Browser, state: str, names: Iterable[str], show: Callable[[Page, str], None]) -> None:
    """Take each of these pages in both colour schemes and sizes; `show` opens one."""
    for scheme in ("light", "dark"):
        for suffix, size in SIZES.items():
            context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=state)  # type: ignore[arg-type]
            page = context.new_page()
            for name in names:
                show(page, name)
                page.screenshot(path=FOLDER / f"{name}-{scheme}{suffix}.png")
            context.close()


def vector_projects(home: Path) -> dict[str, str]:
    """Pages of two projects of label vectors, created next to the running server: {name: address with parameters}."""
    opened = open_home(Settings.from_environment({"WINNOW_HOME": str(home)}))
    owner = team.ensure_owner(opened).id
    rows = vector_project(opened, owner, "Scenes", question="instance")
    cells = vector_project(opened, owner, "Scenes, label by label")
    for project in (rows, cells):
        for _ in range(8):
            answer_truly(opened, owner, project)
    opened.close()
    return {
        "annotate-labels": f"annotate?project={rows}",
        "annotate-label": f"annotate?project={cells}",
        "progress-labels": f"progress?project={cells}",
        "review-labels": f"review?project={cells}",
        "map-labels": f"map?project={cells}",
    }


def made_demos(page: Page, base: str) -> dict[str, str]:
    """The question pages of the demos that Home creates: {name: address with parameters}."""
    found = {}
    for name, demo in (("annotate-calls", demos.CALLS), ("annotate-votes", demos.REMARKS)):
        page.goto(base)
        page.get_by_role("button", name=demo.title, exact=True).first.click()
        page.wait_for_url("**/annotate?project=*")
        page.locator(room.CARD).wait_for()
        found[name] = page.url.removeprefix(f"{base}/")
    return found


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
            take(browser, state, PAGES, lambda page, name: open_page(page, server.base, name))
            others = made_demos(page, server.base) | vector_projects(server.home)
            take(
                browser,
                state,
                others,
                lambda page, name: go(page, f"{server.base}/{others[name]}", *PAGES[name.partition("-")[0]]),
            )
            browser.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
