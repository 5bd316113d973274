"""Files and formats of an import in the browser."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image
from playwright.sync_api import FileChooser, Locator, Page, Route, expect

from tests.browser import room
from tests.browser.server import Server

# From a typical file to the first question: one action, in any format


pytestmark = pytest.mark.browser

TOPICS = ("energy", "film", "sport", "town")
ROWS = 24


def sentence(k: int) -> str:
    return f"the {TOPICS[k % 4]} story number {k} of this week"


def top_five() -> bytes:
    """The shortlist of a language model: labels and scores in separate columns."""
    head = "text," + ",".join(f"label{k},score{k}" for k in range(1, 4))
    rows = [
        f"{sentence(k)},{TOPICS[k % 4]},0.6,{TOPICS[(k + 1) % 4]},0.3,{TOPICS[(k + 2) % 4]},0.1" for k in range(ROWS)
    ]
    return "\n".join([head, *rows]).encode()


def votes() -> bytes:
    """One vote per row, three annotators for every task."""
    rows = [
        f"t{k},{worker},{TOPICS[(k + (worker == 'w3')) % 4]},{sentence(k)}"
        for k in range(ROWS)
        for worker in ("w1", "w2", "w3")
    ]
    return "\n".join(["task,worker,label,text", *rows]).encode()


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["id", "labels", "text"])
    for k in range(ROWS):
        sheet.append([k, f"{TOPICS[k % 4]}|{TOPICS[(k + 1) % 4]}", sentence(k)])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def json_lines() -> bytes:
    return "\n".join(
        json.dumps({"id": k, "text": sentence(k), "candidates": [TOPICS[k % 4], TOPICS[(k + 1) % 4]]})
        for k in range(ROWS)
    ).encode()


def hugging_face() -> bytes:
    """Parquet with images and sets of class numbers, as `datasets` writes it."""
    features = {
        "image": {"_type": "Image"},
        "labels": {"feature": {"names": list(TOPICS), "_type": "ClassLabel"}, "_type": "Sequence"},
    }
    images = []
    for k in range(ROWS):
        buffer = io.BytesIO()
        shade = np.full((24, 24, 3), 10 * k % 255, dtype=np.uint8)
        shade[:, : 1 + k % 20] = 255 - 10 * k % 255
        Image.fromarray(shade).save(buffer, "PNG")
        images.append({"bytes": buffer.getvalue(), "path": f"{k}.png"})
    table = pa.table(
        {
            "image": pa.array(images, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            "labels": pa.array([[k % 4, (k + 1) % 4] for k in range(ROWS)], pa.list_(pa.int64())),
        }
    )
    about = json.dumps({"info": {"features": features}})
    buffer = io.BytesIO()
    pa.parquet.write_table(table.replace_schema_metadata({"huggingface": about}), buffer)
    return buffer.getvalue()


def label_studio() -> bytes:
    def choice(label: str) -> list[dict[str, object]]:
        return [{"from_name": "topic", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]

    return json.dumps(
        [
            {
                "id": k,
                "data": {"text": sentence(k)},
                "annotations": [{"id": k, "completed_by": 1, "result": choice(TOPICS[k % 4])}],
                "predictions": [{"model_version": "m", "score": 0.4, "result": choice(TOPICS[(k + 1) % 4])}],
            }
            for k in range(ROWS)
        ]
    ).encode()


FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "top5.csv": (top_five, "0.6"),
    "votes.csv": (votes, "2 of 3 votes"),
    "book.xlsx": (workbook, ""),
    "lines.jsonl": (json_lines, ""),
    "images.parquet": (hugging_face, ""),
    "studio.json": (label_studio, "0.4"),
}


def test_column_head_changes_role_by_keyboard(page: Page, server: Server) -> None:
    """Also before the scripts of the boxes under *Add a role* are loaded."""
    gate = room.Gate()
    page.route(room.LATE, gate.come)
    page.goto(f"{server.base}/import")
    rows = "".join(f"r{number},{number},wren|robin\n" for number in range(ROWS))
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "birds.csv", "mimeType": "text/csv", "buffer": f"id,size,labels\n{rows}".encode()}
    )
    chip = page.get_by_label("Role of the column size")
    expect(chip).to_have_value("numbers")
    expect(page.get_by_text("It learns from: number 'size'")).to_be_visible()
    chip.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("1 column of 3 is ignored")).to_be_visible()
    expect(chip).to_have_value("")
    expect(chip).to_be_focused()
    gate.open()
    page.get_by_text("Add a role").click()
    expect(page.get_by_role("combobox", name="Row id (optional)")).to_have_value("id")


PROOFS = ("book.xlsx", "images.parquet", "lines.jsonl", "studio.json", "votes.csv")
"""Formats whose page differs in nothing from another's."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.proof) if one in PROOFS else one for one in FILES]
)
def test_file_needs_one_click_to_first_question(page: Page, server: Server, name: str) -> None:
    make, weight = FILES[name]
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": make()}
    )
    create = page.get_by_role("button", name="Create project")
    create.wait_for()
    expect(page.get_by_text("It will ask")).to_be_visible()
    expect(page.get_by_text(f"{ROWS} rows, 4 classes").first).to_be_visible()
    if weight and name != "top5.csv":  # whose numbers are in the preview, too
        expect(page.get_by_text(weight, exact=True).first).to_be_visible()
    create.click()
    page.locator(room.CARD).wait_for()
    shown = page.locator(room.CARD)
    if name == "images.parquet":
        picture = shown.locator("img").first
        expect(picture).to_be_visible()
        expect(picture).to_have_js_property("naturalWidth", 24)
    else:
        expect(shown).to_contain_text("story number")
    expect(page.locator(".choice").first).to_be_visible()
    if weight:
        expect(shown.locator(".weight").filter(has_text=weight).first).to_be_visible()


# The box for a file in a browser: by keyboard, dropped, too large, cancelled; and its bar


CSV = "id,candidates,x\n" + "".join(f"r{number:02},a|b,{number:02}\n" for number in range(20))
LABEL = "A table, or a zip of a table and its files"


@pytest.fixture
def box(page: Page, server: Server) -> Locator:
    page.goto(f"{server.base}/import")
    found = page.get_by_role("group", name=LABEL)
    found.wait_for()
    return found


def lying(server: Server) -> set[str]:
    """The files stored there."""
    folder = server.home / "uploads"
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


def choose(page: Page, box: Locator) -> FileChooser:
    """Open the button's menu by keyboard only."""
    button = box.get_by_role("button", name=f"Choose a file: {LABEL}")
    with page.expect_file_chooser() as opened:
        button.press("Enter")
    return opened.value


def test_file_is_chosen_by_keyboard_and_removed_again(page: Page, server: Server, box: Locator) -> None:
    before = lying(server)
    expect(box).to_contain_text("Choose a file, or drop it here.")
    expect(box).to_contain_text("At most 200 MB, one file.")
    choose(page, box).set_files({"name": "birds.csv", "mimeType": "text/csv", "buffer": CSV.encode()})
    expect(box.get_by_role("status")).to_contain_text("birds.csv · 0.2 kB")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()
    (mine,) = lying(server) - before
    away = box.get_by_role("button", name="Remove")
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


def test_one_dropped_file_is_accepted_and_several_are_refused(page: Page, box: Locator) -> None:
    drop(page, box, "one.csv", "two.csv")
    expect(box.get_by_role("status")).to_have_text("Drop a single file.")
    drop(page, box, "one.csv")
    expect(box.get_by_role("status")).to_contain_text("one.csv")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()


def test_oversized_file_is_reported_before_upload(page: Page, box: Locator) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    page.evaluate("() => { Object.defineProperty(File.prototype, 'size', { get: () => 345e6 }); }")
    drop(page, box, "huge.csv")
    expect(box.get_by_role("status")).to_have_text("The file has 345 MB. At most 200 MB, one file.")
    assert not [url for url in sent if "/uploads" in url]


def test_upload_shows_progress_and_cancelling_removes_it(
    page: Page, server: Server, box: Locator, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, held, before = errors_of(page), list[Route](), lying(server)
    page.route(re.compile("/uploads"), lambda route: held.append(route))  # the answer remains excluded
    choose(page, box).set_files({"name": "birds.csv", "mimeType": "text/csv", "buffer": CSV.encode()})
    expect(box.get_by_role("progressbar", name=LABEL)).to_be_visible()
    expect(box.get_by_role("status")).to_contain_text("birds.csv")
    box.get_by_role("button", name="Cancel").click()
    expect(box.get_by_role("progressbar")).to_have_count(0)
    expect(box.get_by_role("status")).to_have_text("Choose a file, or drop it here.")
    page.unroute(re.compile("/uploads"))
    assert lying(server) == before
    assert errors == []


def test_refusal_of_server_is_shown_in_file_box(page: Page, box: Locator) -> None:
    words = "Files of one person that wait here may have 500 MB in all."
    page.route(re.compile("/uploads"), lambda route: route.fulfill(status=507, body=words))
    drop(page, box, "one.csv")
    expect(box.get_by_role("status")).to_have_text(words)
    page.unroute(re.compile("/uploads"))
    drop(page, box, "one.csv")
    expect(page.get_by_role("button", name="Create project")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.proof)])
def test_file_box_fits_phone_and_is_accessible(page: Page, box: Locator, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(box).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = Axe().run(page, context='[data-testid="stMain"]', options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert [one["id"] for one in found.response["violations"]] == []
