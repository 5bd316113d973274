"""The whole loop on real data: upload, ask, answer, learn, plot, undo, export, read back."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.databases import on_both

pytestmark = pytest.mark.browser
ANSWERS = {"sqlite": 60, "postgres": 20}


@pytest.mark.public_data
@on_both
def test_birdsong_from_upload_to_export(
    page: Page, server: Server, data_folder: Path, errors_of: Callable[[Page], list[str]], backend: str
) -> None:
    answers = ANSWERS[backend]
    errors = errors_of(page)
    frame = room.birdsong_frame(data_folder).set_index("id", drop=False)
    room.import_csv(page, server.base, frame, "birdsong")

    # Answer as an oracle would; one answer is wrong on purpose and taken back.
    answered: dict[str, str] = {}
    while len(answered) < answers:
        asked = room.row_id(page)
        label = frame.bird[asked]
        assert asked not in answered
        room.answer(page, label)
        expect(page.locator(".saved")).to_contain_text(f"Saved: row {asked} is {label}")
        answered[asked] = label
    undone = asked
    shown = room.token(page)
    page.keyboard.press("u")
    room.wait_for_next(page, shown)
    assert room.row_id(page) == undone, "undo puts the row before the person again"
    del answered[undone]
    wrong = next(label for label in frame.candidates[undone].split("|") if label != frame.bird[undone])
    room.answer(page, wrong)
    answered[undone] = wrong

    # The curve is there, with a point for every answer, and it starts from held-out truth.
    page.get_by_role("link", name="Progress").click()
    page.locator(".js-plotly-plot").first.wait_for()
    expect(page.get_by_test_id("stMetric").filter(has_text="Answered")).to_contain_text(str(answers))
    accuracy = page.get_by_test_id("stMetric").filter(has_text="Accuracy").inner_text()
    assert 40 < float(re.search(r"([\d.]+)\s%", accuracy)[1]) < 100
    points = page.evaluate("document.querySelector('.js-plotly-plot').calcdata.at(-1).length")
    assert points >= answers

    # Export, read back.
    room.go_to(page, "Data", "Export")
    page.get_by_role("button", name="Prepare file").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    back = pd.read_csv(
        io.BytesIO(Path(waiting.value.path()).read_bytes()), dtype=str, keep_default_na=False
    ).set_index("id", drop=False)
    assert len(back) == len(frame) == 4998
    oracle = back[back.winnow_source == "oracle"]
    assert dict(zip(oracle.id, oracle.winnow_label, strict=True)) == answered
    assert (oracle.winnow_candidates == oracle.winnow_label).all(), "an answered row has one candidate left"
    inside = [
        label in candidates.split("|")
        for label, candidates in zip(back.winnow_label, frame.candidates, strict=True)
    ]
    assert all(inside)
    held_out = back[back.winnow_source == "truth"]
    assert len(held_out) == 4998 // 3
    assert (held_out.winnow_label == held_out.bird).all()
    assert set(back.winnow_source) == {"given", "oracle", "necessary", "model", "truth"}
    as_written = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(back[frame.columns].reset_index(drop=True), as_written)
    assert not errors
