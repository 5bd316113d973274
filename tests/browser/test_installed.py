"""The server installed from the wheels: `winnow serve`, away from the checkout, on an empty home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.server import Server
from tests.browser.test_training import wait_for_model
from tests.packaging.wheel import Installed, build, install_with_dependencies
from tests.workflow.world import small_project
from workflow.people import team
from workflow.server.home import open_home
from workflow.server.settings import Settings

# The kernels are compiled for the new environment, and the machine may be busy.
pytestmark = [pytest.mark.browser, pytest.mark.proof, pytest.mark.timeout(1200)]
COMPILING = 900
"""Seconds that a first start may take."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With its dependencies as pip fetches them."""
    wheels = build(tmp_path_factory.mktemp("wheels"))
    return install_with_dependencies(wheels, tmp_path_factory.mktemp("environment"))


@pytest.fixture
def server(installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    running = Server(tmp_path / "home", command=[str(installed.winnow), "serve"], cwd=tmp_path)
    yield running.start(timeout=COMPILING)
    running.stop()


def test_serve_asks_first_question_and_trains_in_own_processes(
    server: Server, context: BrowserContext, installed: Installed, tmp_path: Path
) -> None:
    page = context.new_page()
    page.goto(server.link)
    page.get_by_role("button", name="Start").click()
    page.locator(".card .choice").first.wait_for()

    # .streamlit/config.toml of the wheel counts: Streamlit does not greet, and its text has our colour.
    assert not [line for line in server.lines if "Streamlit" in line]
    expect(page.locator(".stApp")).to_have_css("color", "rgb(15, 26, 24)")

    done = installed.run(installed.winnow, "projects", "--json", cwd=tmp_path, WINNOW_HOME=str(server.home))
    (demo,) = json.loads(done.stdout)
    assert (demo["id"], demo["rows"], demo["classes"]) == (1, 1797, 10)

    home = open_home(Settings.from_environment({"WINNOW_HOME": str(server.home)}))
    project = small_project(home, team.ensure_owner(home).id, model="plsvc", strategy="margin")
    home.close()
    page.goto(f"{server.base}/annotate?project={project}")
    page.locator(".card .choice").first.wait_for()
    wait_for_model(page, server, project, 0)

    assert server.stop() in (0, -15)
    assert not [line for line in server.lines if "Traceback" in line]
