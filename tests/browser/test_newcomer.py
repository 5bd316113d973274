"""A newcomer's script: from the sign-in link to the first right answer of each demo, and from Home to a project of
their own, in as few actions as promised. An action is a press of a button or of a key, or the choice of a file."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from workflow import demos
from workflow.demos import Demo, calls, digits, remarks

pytestmark = pytest.mark.browser

TO_A_RIGHT_ANSWER = 3
TO_A_PROJECT = 4


class Newcomer:
    """Counts what they do. Whatever stands there may be read and waited for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.actions = 0

    def click(self, name: str) -> None:
        self.actions += 1
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def press(self, key: str) -> None:
        self.actions += 1
        room.press(self.page, key)

    def choose_file(self, name: str, content: bytes) -> None:
        self.actions += 1
        self.page.locator(room.TABLE_BOX).set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": content}
        )


def truth_of(demo: Demo) -> Mapping[str, str]:
    """{name of a row: its true label}."""
    if demo is demos.DIGITS:
        cells, _ = digits.demo_cells()
        return {str(number): digit for number, digit in enumerate(cells["digit"], start=1)}
    if demo is demos.CALLS:
        with zipfile.ZipFile(io.BytesIO(calls.make_file())) as file:
            table = pd.read_csv(io.BytesIO(file.read("calls.csv")))
    else:
        table = pd.read_csv(io.BytesIO(remarks.make_file()))
    return dict(zip(table["id"], table["true_label"], strict=True))


def test_from_the_link_to_the_first_right_answer_of_each_demo(page: Page, server: Server) -> None:
    for demo in demos.ALL:
        truth = truth_of(demo)
        page.goto(server.base)  # as the link left them, signed in
        newcomer = Newcomer(page)
        newcomer.click(demo.title)
        page.locator(room.CARD).wait_for()
        project = int(page.url.partition("project=")[2])
        expect(page.get_by_text("Tour, 1 of 5")).to_be_visible()  # and keys answer beside it
        asked = truth[room.row_id(page)]
        newcomer.press(room.key_for(page, asked))
        given = room.log_of(server, project)[-1]
        assert (given["kind"], json.loads(given["labels"])) == ("is", [asked])
        assert newcomer.actions <= TO_A_RIGHT_ANSWER, demo.name
        page.get_by_role("button", name="End the tour").click()
        expect(page.get_by_text("Tour, 1 of 5")).to_have_count(0)


def test_from_home_to_a_project_of_ones_own(page: Page, server: Server) -> None:
    newcomer = Newcomer(page)
    newcomer.click("Bring a table")
    rows = "".join(f"r{n},{'wren|robin' if n % 2 else 'robin|tit'},{n}.5\n" for n in range(20))
    newcomer.choose_file("birds.csv", f"id,candidates,hour\n{rows}".encode())
    newcomer.click("Create project")
    page.locator(room.CARD).wait_for()
    newcomer.press(room.first_key(page))
    assert newcomer.actions <= TO_A_PROJECT
    page.goto(server.base)
    expect(page.get_by_text("birds", exact=True)).to_be_visible()
