"""From a file as people have it to the first question: one action, whatever the format."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server

pytestmark = pytest.mark.browser

TOPICS = ("energy", "film", "sport", "town")
ROWS = 24


def sentence(k: int) -> str:
    return f"the {TOPICS[k % 4]} story number {k} of this week"


def top_five() -> bytes:
    """The shortlist of a language model: labels and scores in columns of their own."""
    head = "text," + ",".join(f"label{k},score{k}" for k in range(1, 4))
    rows = [
        f"{sentence(k)},{TOPICS[k % 4]},0.6,{TOPICS[(k + 1) % 4]},0.3,{TOPICS[(k + 2) % 4]},0.1"
        for k in range(ROWS)
    ]
    return "\n".join([head, *rows]).encode()


def votes() -> bytes:
    """A vote a row, three people on every task."""
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


@pytest.mark.parametrize("name", FILES)
def test_one_action_from_the_file_to_the_first_question(page: Page, server: Server, name: str) -> None:
    make, weight = FILES[name]
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": make()}
    )
    create = page.get_by_role("button", name="Create project")
    create.wait_for()
    expect(page.get_by_text("Your first question will look like this")).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="Rows").first).to_contain_text(str(ROWS))
    expect(page.get_by_test_id("stMetric").filter(has_text="Classes")).to_contain_text("4")
    if weight and name != "top5.csv":  # whose numbers stand in the preview, too
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
