"""The tasks of a newcomer and of an owner in the browser."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser import room
from tests.browser.server import Server
from tests.plcore.tables.media.sound.recordings import written
from tests.plcore.tables.zips import make_zip
from workflow import demos
from workflow.demos import Demo, calls, digits, remarks

# Owner tasks next to answering: rename, archive and restore a project


@pytest.mark.browser
def test_project_is_renamed_deleted_by_its_name_and_restored(page: Page, server: Server) -> None:
    page.get_by_role("button", name="More of Demo").click()
    page.get_by_role("menuitem", name="Rename, settings").click()
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.wait_for()
    name.fill("Digits of mine")
    name.press("Tab")
    page.locator(".st-key-winnow_title").get_by_text("Digits of mine").wait_for()
    page.get_by_role("tab", name="Danger zone").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    dialog = page.get_by_role("dialog", name="Delete project")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Delete", exact=True).click()
    dialog.get_by_role("textbox", name="Type the project's name").fill("Demo")
    dialog.get_by_role("button", name="Delete project").click()
    dialog.get_by_text("This is not the name. Type Digits of mine.").wait_for()
    dialog.get_by_role("textbox", name="Type the project's name").fill("Digits of mine")
    dialog.get_by_role("button", name="Delete project").click()
    page.get_by_text("Import rows whose label is uncertain").wait_for()
    page.reload()
    page.get_by_text("Bin (1)").click()
    expect(page.get_by_text("Digits of mine")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("button", name="Start").wait_for()
    expect(page.get_by_text("Bin (1)")).to_have_count(0)
    expect(page.get_by_text("Digits of mine").first).to_be_visible()


# The work of a bird recordist: import a detector's table with recordings, listen and answer, export the same table
# with the answers


RATE = 22_050
BIRDS = {
    "Great tit, Kohlmeise (Parus major)": ("Parus major", 4_200.0),
    "Zaunkönig – Eurasian wren": ("Troglodytes troglodytes", 5_600.0),
    "Rödhake – European robin": ("Erithacus rubecula", 3_100.0),
    "Pěnkava obecná – Common chaffinch": ("Fringilla coelebs", 2_400.0),
}
RECORDINGS = [f"Waldrand Süd, früh – čtvrtek № {k}.wav" for k in range(5)]
WINDOWS, SECONDS = 8, 3.0
ANSWERS = 30


def sings(recording: int, window: int) -> str:
    """The bird that can be heard there."""
    return list(BIRDS)[(3 * recording + window) % len(BIRDS)]


def recording(number: int) -> bytes:
    """Eight windows of three seconds, a bird's notes in each, in noise."""
    draw = np.random.default_rng(number)
    times = np.arange(round(SECONDS * RATE)) / RATE
    windows = []
    for window in range(WINDOWS):
        pitch = BIRDS[sings(number, window)][1]
        notes = np.sin(2 * np.pi * (pitch * times + 200 * np.sin(2 * np.pi * 3 * times) / (2 * np.pi * 3)))
        windows.append(0.3 * notes * (np.sin(2 * np.pi * 2 * times) > 0.3))
    sound = np.concatenate(windows)
    return written(sound + 0.01 * draw.standard_normal(len(sound)), RATE).getvalue()


def raven() -> list[dict[str, str]]:
    """Two detections in each window; the likelier one is the bird that sings in three of four."""
    rows = []
    for number, name in enumerate(RECORDINGS):
        for window in range(WINDOWS):
            right = sings(number, window)
            wrong = list(BIRDS)[(list(BIRDS).index(right) + 1) % len(BIRDS)]
            scores = ("0.8125", "0.4375") if (number + window) % 4 else ("0.4375", "0.8125")
            for label, score in zip((right, wrong), scores, strict=True):
                rows.append(
                    {
                        "Selection": str(len(rows) + 1),
                        "View": "Spectrogram 1",
                        "Channel": "1",
                        "Begin Time (s)": f"{number * WINDOWS * SECONDS + window * SECONDS:.1f}",
                        "End Time (s)": f"{number * WINDOWS * SECONDS + (window + 1) * SECONDS:.1f}",
                        "Low Freq (Hz)": "0",
                        "High Freq (Hz)": "11025",
                        "Common Name": label,
                        "Species Code": BIRDS[label][0].lower().replace(" ", ""),
                        "Confidence": score,
                        "Begin Path": rf"D:\Aufnahmen\2026\{name}",
                        "File Offset (s)": f"{window * SECONDS:.1f}",
                    }
                )
    return rows


def packed(rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    sounds = {f"Clips/{name}": recording(number) for number, name in enumerate(RECORDINGS)}
    return make_zip({"BirdNET_SelectionTable.txt": out.getvalue().encode(), **sounds})


def asked_window(page: Page) -> tuple[int, int]:
    """The window and the recording of the current question."""
    match = re.fullmatch(r".*№ (\d)\.wav (\d+)-\d+ s", room.row_id(page))
    assert match is not None, room.row_id(page)
    return int(match[1]), int(int(match[2]) / SECONDS)


@pytest.mark.browser
@pytest.mark.proof
def test_forty_clips_are_answered_and_exported(
    page: Page, server: Server, errors_of: Callable[[Page], list[str]]
) -> None:
    errors, rows = errors_of(page), raven()
    room.play_slowly(page)
    page.goto(f"{server.base}/import")
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "Dawn chorus.zip", "mimeType": "application/zip", "buffer": packed(rows)}
    )
    page.get_by_role("button", name="Create project").click()  # the one action
    page.locator(room.CARD).wait_for()
    said: dict[tuple[int, int], str] = {}
    for _ in range(ANSWERS):
        page.locator(".spectrogram.there").wait_for()
        window = asked_window(page)
        assert window not in said
        page.keyboard.press("p")
        page.get_by_role("button", name="Pause").wait_for()
        said[window] = sings(*window)
        room.answer(page, said[window])

    page.goto(f"{server.base}/export")
    found = back(page)
    assert [{name: one[name] for name in rows[0]} for one in found] == rows, "the same rows and columns, in order"
    for place, one in enumerate(found):
        window = divmod(place // 2, WINDOWS)
        label = said.get(window)
        wanted = "" if label is None else "true" if label == one["Common Name"] else "false"
        assert (one["verified"], one["verified_label"]) == (wanted, label or "")
        assert bool(one["verified_by"]) == bool(one["verified_at"]) == bool(wanted)
    assert sum(one["verified"] == "true" for one in found) == ANSWERS
    assert not errors


def back(page: Page) -> list[dict[str, str]]:
    """The table for Raven from the Export page, read as Raven reads it: by tabs and column names."""
    page.get_by_text("Raven selection table, verified").click()
    page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name=re.compile("Download .*verified.txt")).click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t"))


# A newcomer's script: from the sign-in link to the first right answer of each demo, and from Home to a
# project of their own, in as few actions as promised. An action is a press of a button or of a key, or the
# choice of a file


TO_A_RIGHT_ANSWER = 3
TO_A_PROJECT = 4


class Newcomer:
    """Counts the actions of a newcomer. Reading and waiting are free."""

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
        self.page.locator(room.TABLE_BOX).set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def truth_of(demo: Demo) -> Mapping[str, str]:
    """{name of a row: its true label}"""
    if demo is demos.DIGITS:
        cells, _ = digits.demo_cells()
        return {str(number): digit for number, digit in enumerate(cells["digit"], start=1)}
    if demo is demos.CALLS:
        with zipfile.ZipFile(io.BytesIO(calls.make_file())) as file:
            table = pd.read_csv(io.BytesIO(file.read("calls.csv")))
    else:
        table = pd.read_csv(io.BytesIO(remarks.make_file()))
    return dict(zip(table["id"], table["true_label"], strict=True))


@pytest.mark.browser
@pytest.mark.parametrize(
    "demo",
    [pytest.param(one, marks=() if one is demos.DIGITS else pytest.mark.proof, id=one.name) for one in demos.ALL],
)
def test_newcomer_reaches_first_right_answer_of_demo(page: Page, server: Server, demo: Demo) -> None:
    truth = truth_of(demo)
    newcomer = Newcomer(page)
    newcomer.click(demo.title)
    page.locator(room.CARD).wait_for()
    project = int(page.url.partition("project=")[2])
    expect(page.get_by_text("Tour, 1 of 5")).to_be_visible()  # and keys answer next to it
    asked = truth[room.row_id(page)]
    newcomer.press(room.key_for(page, asked))
    given = room.log_of(server, project)[-1]
    assert (given["kind"], json.loads(given["labels"])) == ("is", [asked])
    assert newcomer.actions <= TO_A_RIGHT_ANSWER
    page.get_by_role("button", name="End the tour").click()
    expect(page.get_by_text("Tour, 1 of 5")).to_have_count(0)


@pytest.mark.browser
@pytest.mark.proof
def test_newcomer_reaches_own_project(page: Page, server: Server) -> None:
    newcomer = Newcomer(page)
    newcomer.click("Import data")
    rows = "".join(f"r{n},{'wren|robin' if n % 2 else 'robin|tit'},{n}.5\n" for n in range(20))
    newcomer.choose_file("birds.csv", f"id,candidates,hour\n{rows}".encode())
    newcomer.click("Create project")
    page.locator(room.CARD).wait_for()
    newcomer.press(room.first_key(page))
    assert newcomer.actions <= TO_A_PROJECT
    page.goto(server.base)
    expect(page.get_by_text("birds", exact=True)).to_be_visible()
