"""axe-core over every page, light and dark, desktop and phone: no serious finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.conftest import answered
from tests.browser.screenshots import PAGES, SIZES, go, open_page, vector_projects
from tests.browser.server import Server
from tests.workflow.alike_world import alike_project
from workflow.people import team
from workflow.server.home import open_home
from workflow.server.settings import Settings

pytestmark = pytest.mark.browser

STUMBLING = "[data-testid=stSidebarNavItems] li:not([role])"
"""What `pages/parts/menu.js` leaves none of in the menu of a phone."""


def findings(page: Page) -> list[str]:
    """The serious and critical violations, each with the elements it is about."""
    expect(page.locator(STUMBLING)).to_have_count(0)
    if page.get_by_test_id("stApp").count():  # the door has none; what is drawn anew is pale meanwhile
        room.drawn(page)
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['target']}"
        for one in Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@pytest.fixture
def signed_in(browser: Browser, server: Server, tmp_path: Path) -> str:
    """The state of a browser whose owner has answered a few questions of the demo."""
    context = browser.new_context(viewport=SIZES[""])
    answered(context.new_page(), server)
    path = str(tmp_path / "state.json")
    context.storage_state(path=path)
    context.close()
    return path


@pytest.mark.parametrize("suffix", ["", pytest.param("-phone", marks=pytest.mark.proof)])
def test_no_page_has_a_serious_finding(browser: Browser, looked_at: tuple[Server, Path], suffix: str) -> None:
    server, cookies = looked_at
    wrong = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport=SIZES[suffix], color_scheme=scheme, storage_state=cookies)  # type: ignore[arg-type]
        page = context.new_page()
        for name in PAGES:
            open_page(page, server.base, name, settle=300)
            if found := findings(page):
                wrong[f"{name}-{scheme}"] = found
        context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)


def test_neither_has_the_door(browser: Browser, server: Server) -> None:
    """The page that those see who are not signed in, and one where a link does not work."""
    wrong = {}
    for scheme in ("light", "dark"):
        for suffix, size in SIZES.items():
            context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
            page = context.new_page()
            for name, query in (("signin", ""), ("no link", "?link=none")):
                page.goto(f"{server.base}/signin{query}")
                page.get_by_role("img", name="Winnow").wait_for()
                if found := findings(page):
                    wrong[f"{name}{suffix}-{scheme}"] = found
            context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)


def test_neither_has_a_page_of_label_vectors(browser: Browser, server: Server, signed_in: str) -> None:
    """Those that `test_vectors` does not look at."""
    project = vector_projects(server.home)["progress-labels"].partition("=")[2]
    # What differs from the other kind of project differs in every scheme and size.
    context = browser.new_context(viewport=SIZES["-phone"], color_scheme="dark", storage_state=signed_in)  # type: ignore[arg-type]
    page = context.new_page()
    wrong = {}
    for name in ("queue", "map", "review", "settings"):
        go(page, f"{server.base}/{name}?project={project}", *PAGES[name], settle=300)
        if found := findings(page):
            wrong[name] = found
    context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)


def test_neither_has_the_grid_of_many_rows(browser: Browser, server: Server, signed_in: str) -> None:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    owner = team.ensure_owner(home).id
    kinds = ("image", "sound", "numbers")
    projects = {shown: alike_project(home, owner, shown, shown).project_id for shown in kinds}
    home.close()
    wrong = {}
    for suffix, scheme in (("", "light"), ("-phone", "dark")):
        context = browser.new_context(viewport=SIZES[suffix], color_scheme=scheme, storage_state=signed_in)  # type: ignore[arg-type]
        page = context.new_page()
        for shown, project in projects.items():
            room.annotate(page, server, project or 0)
            page.keyboard.press("Shift+M")
            page.locator(".tiles").wait_for()
            page.keyboard.press("b")
            if found := findings(page):
                wrong[f"{shown}{suffix}-{scheme}"] = found
        context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)
