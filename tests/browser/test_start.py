"""A first start, by the command of `make run` and by Streamlit's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser import room
from tests.browser.server import START, Server

pytestmark = pytest.mark.browser


def test_first_start_makes_demo_and_asks_its_first_question(context: BrowserContext, tmp_path: Path) -> None:
    """Its speed is measured in benchmarks/pages/start.py."""
    server = Server(tmp_path / "home", command=START).start()
    try:
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(".choice").first.wait_for()
    finally:
        server.stop()


@pytest.mark.proof  # tests/web/test_server.py asks such a server, without a browser
def test_streamlit_run_starts_same_server(context: BrowserContext, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    server = Server(tmp_path / "home", command=command).start()
    try:
        assert server.link.startswith(server.base), "WINNOW_PORT counts here, too"
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start").click()
        page.locator(room.CARD).wait_for()
    finally:
        server.stop()
