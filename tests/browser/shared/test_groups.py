"""Groups of classes: from a taxonomy to one press, by the keys and by the search."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from workflow.projects.classes import change_classes
from workflow.seat import Seat
from workflow.server.home import Home

pytestmark = pytest.mark.browser

TREE = {
    "Corvus": ("Corvus corax", "Corvus corone", "Corvus frugilegus"),
    "Parus": ("Parus major", "Parus minor"),
    "Troglodytes": ("Troglodytes troglodytes", "Troglodytes hiemalis"),
}
GENUS = {species: genus for genus, all_ in TREE.items() for species in all_}


def export() -> bytes:
    """An export of Label Studio: each task was given two crows and two tits; a wren was named elsewhere."""
    crows, tits, wrens = TREE.values()

    def task(number: int) -> dict[str, object]:
        named = wrens if number > 20 else (*crows[:2], *tits)
        paths = [[GENUS[species], species] for species in (*named, *(crows[2:] if number == 21 else ()))]
        result = [{"from_name": "bird", "to_name": "text", "type": "taxonomy", "value": {"taxonomy": paths}}]
        return {
            "id": number,
            "data": {"text": f"a bird that was heard at place number {number}"},
            "annotations": [{"id": number, "completed_by": 1, "result": result}],
        }

    return json.dumps([task(number) for number in range(24)]).encode()


@pytest.fixture
def project(page: Page, server: Server, name: str) -> int:
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": f"{name}.json", "mimeType": "application/json", "buffer": export()}
    )
    page.get_by_role("button", name="Create project").wait_for()
    expect(page.get_by_text("Groups of the taxonomy can be answers, too")).to_be_visible()
    page.get_by_role("button", name="Create project").click()
    page.locator(room.CARD).wait_for()
    found = re.search(r"project=(\d+)", page.url)
    assert found is not None
    return int(found[1])


def said(server: Server, project: int) -> list[tuple[str, list[str]]]:
    """The entries about rows."""
    log = [one for one in room.log_of(server, project) if one["row"] >= 0]
    return [(one["kind"], json.loads(one["labels"])) for one in log]


def test_a_genus_is_one_press_and_one_undo(page: Page, server: Server, home: Home, project: int) -> None:
    four = sorted([*TREE["Corvus"][:2], *TREE["Parus"]])
    while sorted(room.labels_on_screen(page)) != four:
        room.press(page, "s")
    before, row = len(said(server, project)), room.row_id(page)

    def new() -> list[tuple[str, list[str]]]:
        return said(server, project)[before:]

    # W, and the key of a group: one entry with the candidates in it.
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="One of a group")
    expect(dialog.locator(".label")).to_have_text(["Corvus", "Parus"])
    page.keyboard.press("w")
    expect(dialog).to_have_count(0)
    page.keyboard.press("w")
    room.press(page, "1")
    assert [(kind, sorted(labels)) for kind, labels in new()] == [("among", four[:2])]
    expect(page.locator(".saved")).to_contain_text(f"Saved: row {row} is one of Corvus corax, Corvus corone")
    room.press(page, "u")
    assert [kind for kind, _ in new()] == ["among", "withdraw"]
    assert sorted(room.labels_on_screen(page)) == four

    # By the search, without accents: a group that has none of the candidates is none of them, and one of its classes.
    change_classes(Seat(home, OWNER, project), 0, "rename", ["Troglodytes hiemalis", "Zaunkönig"])
    page.reload()
    page.locator(room.CARD).wait_for()
    page.keyboard.press("0")
    option = page.get_by_role("option")
    page.keyboard.type("ZAUNKONIG")
    expect(option.first).to_contain_text("Zaunkönig")
    search = page.get_by_role("combobox", name="Search all classes")
    search.fill("troglodytes")
    expect(option.first).to_contain_text("group, none of the candidates: ")
    room.press(page, "Enter")
    assert [kind for kind, _ in new()[2:]] == ["none", "among"]
    assert sorted(new()[3][1]) == ["Troglodytes troglodytes", "Zaunkönig"]
    room.press(page, "u")
    assert [kind for kind, _ in new()[4:]] == ["withdraw", "withdraw"]
    page.keyboard.press("0")
    search.fill("parus")
    expect(option.first).to_contain_text("group: Parus major, Parus minor")
    room.press(page, "Enter")
    assert [(kind, sorted(labels)) for kind, labels in new()[6:]] == [("among", four[2:])]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Wider: it is one of a group")
