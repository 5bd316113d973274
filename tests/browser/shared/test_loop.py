"""The annotation loop, its content security policy and progress in the browser."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.databases import on_postgres_in_proofs

# The whole loop on real data: upload, ask, answer, learn, plot, undo, export, read back


pytestmark = pytest.mark.browser
ANSWERS = 20


@pytest.mark.public_data
@on_postgres_in_proofs
def test_birdsong_is_uploaded_answered_and_exported(
    page: Page, server: Server, data_folder: Path, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    frame = room.birdsong_frame(data_folder).set_index("id", drop=False)
    room.import_csv(page, server.base, frame, "birdsong")

    # Answer as an oracle would; one answer is wrong on purpose and withdrawn.
    answered: dict[str, str] = {}
    while len(answered) < ANSWERS:
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
    expect(page.locator(".winnow-left li.answered")).to_have_text(f"answered{ANSWERS}")
    accuracy = page.get_by_test_id("stMetric").filter(has_text="Accuracy")
    expect(accuracy).to_contain_text("%")
    assert 40 < float(re.search(r"([\d.]+)\s?%", accuracy.inner_text())[1]) < 100
    room.until(page, f"document.querySelector('.js-plotly-plot').calcdata.at(-1).length >= {ANSWERS}")

    # Export, read back.
    room.go_to(page, "Data", "Export")
    page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    back = pd.read_csv(io.BytesIO(Path(waiting.value.path()).read_bytes()), dtype=str, keep_default_na=False).set_index(
        "id", drop=False
    )
    assert len(back) == len(frame) == 4998
    asked = back[back.winnow_source == "person"]
    assert dict(zip(asked.id, asked.winnow_label, strict=True)) == answered
    assert (asked.winnow_candidates == asked.winnow_label).all(), "an answered row has one candidate left"
    inside = [
        label in candidates.split("|") for label, candidates in zip(back.winnow_label, frame.candidates, strict=True)
    ]
    assert all(inside)
    held_out = back[back.winnow_source == "truth"]
    assert len(held_out) == 4998 // 3
    assert (held_out.winnow_label == held_out.bird).all()
    assert set(back.winnow_source) == {"given", "person", "necessary", "model", "truth"}
    as_written = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(back[frame.columns].reset_index(drop=True), as_written)
    assert not errors


# The Content-Security-Policy in a browser: forbidden actions fail


INLINE = (
    "const s = document.createElement('script'); s.textContent = 'window.hurt = 1'; document.body.append(s);",
    "const d = document.createElement('div'); d.innerHTML = '<b onclick=\"window.hurt = 1\">b</b>';"
    " document.body.append(d); d.firstChild.click();",
    "setTimeout('window.hurt = 1')",
)
ELSEWHERE = (
    "fetch('http://127.0.0.1:1/x').then(() => 1, () => 0)",
    "new Promise(done => { const i = new Image(); i.onload = () => done(1); i.onerror = () => done(0);"
    " i.src = 'http://127.0.0.1:1/x.png'; })",
    "new Promise(done => { const s = document.createElement('script'); s.onload = () => done(1);"
    " s.onerror = () => done(0); s.src = 'http://127.0.0.1:1/x.js'; document.head.append(s); })",
)


def test_content_policy_blocks_inline_scripts_and_other_servers(page: Page, server: Server) -> None:
    page.goto(f"{server.base}/home")
    page.get_by_test_id("stMain").wait_for()
    for script in INLINE:
        with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            page.evaluate(f"() => {{ {script} }}")
        assert page.evaluate("window.hurt") is None
    found = room.violations(page)
    for script in ELSEWHERE:
        found.clear()
        assert page.evaluate(script) == 0
        assert found


# Progress and Map in a real browser: charts drawn, their picture and data to remove, the owner's rules


CHART = ".js-plotly-plot .main-svg"


def test_stop_rules_are_set_on_progress(
    page: Page, server: Server, digits: int, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    page.goto(f"{server.base}/progress?project={digits}")
    page.locator(CHART).first.wait_for()
    page.get_by_role("button", name="Change the rules").click()
    panel = page.get_by_test_id("stPopoverBody")
    panel.get_by_text("Budget", exact=True).click()
    panel.get_by_label("Answers in all").fill("7")
    panel.get_by_role("button", name="Save").click()
    expect(page.get_by_text("0 of 7 answers are given.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("0 of 7 answers are given.")).to_be_visible()
    assert not errors


def test_chart_downloads_as_picture_and_data(page: Page, server: Server, digits: int) -> None:
    page.goto(f"{server.base}/map?project={digits}")
    page.locator(CHART).first.wait_for()
    with page.expect_download() as asked:
        page.get_by_role("button", name="Data (CSV)").click()
    with Path(asked.value.path()).open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) > 100
    assert {line["state"] for line in lines} <= {"open", "answered", "given", "held out", "bad"}
    page.locator(".js-plotly-plot").first.hover()
    with page.expect_download() as asked:
        page.locator("[data-title='Download plot as a PNG']").first.click()
    assert Path(asked.value.path()).read_bytes().startswith(b"\x89PNG")
