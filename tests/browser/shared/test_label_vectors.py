"""Label vectors in the browser."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import room
from tests.browser.screenshots import PAGES, SIZES, go, vector_projects
from tests.browser.server import Server
from tests.browser.shared.conftest import OWNER
from tests.browser.test_every_page import findings
from tests.conftest import DATA
from tests.workflow.vector_world import LABELS, true_labels, vector_frame, vector_project
from workflow.server.home import Home

# Label vectors in the browser: from a file with missing labels to answers by keyboard, the curve, and the exported file


pytestmark = pytest.mark.browser


@pytest.fixture
def make(home: Home, name: str) -> Callable[[str], int]:
    """Creates a project that asks this kind of question; returns its id."""
    return lambda question: vector_project(home, OWNER, name, question=question)


def row_of(page: Page) -> int:
    return int(room.row_id(page).removeprefix("r"))


def mark(page: Page, labels: set[str]) -> None:
    """Mark these labels and no others, each by its key."""
    for toggle in page.locator(".toggle").all():
        on = toggle.get_attribute("aria-pressed") == "true"
        if on != (toggle.get_attribute("data-label") in labels):
            page.keyboard.press(toggle.get_attribute("data-key") or "")


def test_all_labels_of_row_are_answered_by_keyboard(page: Page, server: Server, make: Callable[[str], int]) -> None:
    project = make("instance")
    room.annotate(page, server, project)
    row, right = row_of(page), true_labels(row_of(page))
    expect(page.get_by_role("heading", name="Which labels are right?")).to_be_visible()
    shares = [int(text.removesuffix("%")) for text in page.locator(".toggle .percent").all_inner_texts()]
    unknown = [
        share
        for share, toggle in zip(shares, page.locator(".toggle").all_inner_texts(), strict=True)
        if "known" not in toggle
    ]
    assert unknown == sorted(unknown, reverse=True), "the likeliest first"
    page.keyboard.press("1")
    page.keyboard.press("1")
    assert room.log_of(server, project) == [], "a mark is not an answer"
    mark(page, right)
    room.press(page, "Enter")
    log = room.log_of(server, project)
    said = {entry["kind"]: set(json.loads(entry["labels"])) for entry in log}
    known = {label for label, cell in zip(LABELS, vector_frame().iloc[row][list(LABELS)], strict=True) if cell != ""}
    assert said.get("yes", set()) == right - known
    assert said.get("no", set()) == set(LABELS) - right - known
    assert row_of(page) != row
    expect(page.locator(".saved")).to_contain_text(f"Saved: row r{row}")
    room.press(page, "u")
    assert row_of(page) == row
    room.press(page, "Shift+U")
    kinds = [entry["kind"] for entry in room.log_of(server, project)]
    assert kinds == [entry["kind"] for entry in log] + ["withdraw"] * len(log) + [entry["kind"] for entry in log]
    room.press(page, "s")
    room.press(page, "c")
    room.press(page, "x")
    assert [entry["kind"] for entry in room.log_of(server, project)][-3:] == ["skip", "unsure", "bad"]


def test_enter_on_link_saves_nothing(page: Page, server: Server, make: Callable[[str], int]) -> None:
    project = make("instance")
    room.annotate(page, server, project)
    page.get_by_role("link", name="Progress").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/progress"))
    expect(page.get_by_text("The curves begin with the first answer.")).to_be_visible()
    assert room.log_of(server, project) == []


def test_single_label_is_answered_by_keys(page: Page, server: Server, make: Callable[[str], int]) -> None:
    project = make("cell")
    room.annotate(page, server, project)
    asked = []
    for key in ("y", "n", "c", "s", "x"):
        asked.append((row_of(page), page.locator(".named").inner_text()))
        room.press(page, key)
    log = room.log_of(server, project)
    assert [(entry["row"], entry["label"]) for entry in log] == asked
    assert [entry["kind"] for entry in log] == ["yes", "no", "unsure", "skip", "bad"]
    room.press(page, "u")
    assert (row_of(page), page.locator(".named").inner_text()) == asked[-1]
    room.press(page, "Shift+U")
    assert [entry["kind"] for entry in room.log_of(server, project)][-2:] == ["withdraw", "bad"]
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet).to_contain_text("Yes, the label is right")
    for key in ("y", "n", "c"):
        page.keyboard.press(key)
    page.keyboard.press("Escape")
    assert len(room.log_of(server, project)) == 7, "the key sheet answers nothing"


def test_rapid_presses_answer_each_label_once(page: Page, server: Server, make: Callable[[str], int]) -> None:
    project = make("cell")
    room.annotate(page, server, project)
    for _ in range(10):
        page.keyboard.press("n")
        page.wait_for_timeout(40)
    expect(page.locator(".saved")).not_to_contain_text("Saving")
    page.wait_for_timeout(500)
    places = [(entry["row"], entry["label"]) for entry in room.log_of(server, project)]
    assert 1 <= len(places) <= 10
    assert len(set(places)) == len(places)


def test_many_labels_are_searched(page: Page, server: Server) -> None:
    """Corel5k has this many labels."""
    random = np.random.default_rng(0)
    names = [f"word{number:03d}" for number in range(374)]
    cells = np.where(random.random((60, 374)) < 0.05, "1", "0").astype(object)
    cells[20:][random.random((40, 374)) < 0.5] = ""
    frame = pd.DataFrame(cells, columns=names)
    frame.insert(0, "x", random.normal(size=60).round(3))
    frame.insert(0, "id", [f"r{number}" for number in range(60)])
    page.goto(f"{server.base}/import")
    text = io.StringIO()
    frame.to_csv(text, index=False)
    page.locator(room.TABLE_BOX).set_input_files(
        {"name": "words.csv", "mimeType": "text/csv", "buffer": text.getvalue().encode()}
    )
    page.get_by_role("combobox", name="Question type").wait_for()
    room.choose(page, "Question type", "all labels of a row at once")
    page.get_by_role("button", name="Create project").click()
    page.locator(room.CARD).wait_for()
    expect(page.locator(".toggle")).to_have_count(374)
    asked = next(name for name, cell in zip(names, frame.iloc[row_of(page)][names], strict=True) if cell == "")
    page.keyboard.press("0")
    expect(page.get_by_label("Search the labels")).to_be_focused()
    page.keyboard.type(asked)
    expect(page.locator(".toggle:visible")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".toggle:visible")).to_have_count(374)
    toggle = page.locator(f'.toggle[data-label="{asked}"]')
    expect(toggle).to_have_attribute("aria-pressed", "true")
    page.keyboard.type(asked)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"{asked} was marked already; press it to unmark it.")).to_be_visible()
    expect(toggle).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    project = int(re.search(r"project=(\d+)", page.url)[1])  # type: ignore[index]
    assert room.log_of(server, project) == [], "Enter in the search only marks"
    room.press(page, "Enter")
    (yes,) = [entry for entry in room.log_of(server, project) if entry["kind"] == "yes"]
    assert json.loads(yes["labels"]) == [asked]


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.proof)])
@pytest.mark.parametrize("question", ["instance", pytest.param("cell", marks=pytest.mark.proof)])
def test_label_vector_pages_are_accessible_and_touchable(
    browser: Browser,
    signed_in: str,
    server: Server,
    make: Callable[[str], int],
    question: str,
    scheme: Literal["light", "dark"],
) -> None:
    project = make(question)
    wrong = {}
    context = browser.new_context(color_scheme=scheme, storage_state=signed_in)
    opened = context.new_page()
    # The other pages do not depend on the question type.
    for name in ("annotate", "progress", "export") if question == "instance" else ("annotate",):
        opened.goto(f"{server.base}/{name}?project={project}")
        shown = {"annotate": room.CARD, "progress": ".js-plotly-plot", "export": "[data-testid=stDataFrame]"}
        opened.locator(shown[name]).first.wait_for()
        if found := findings(opened):
            wrong[name] = found
    context.close()
    assert not wrong
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, storage_state=signed_in
    )
    phone = context.new_page()
    room.annotate(phone, server, project)
    assert phone.evaluate("document.scrollingElement.scrollWidth") <= 390
    for button in phone.locator(".card button:visible").all():
        box = button.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44, button.inner_text()
    shown = room.token(phone)
    answer = "Yes" if question == "cell" else "Save"
    phone.locator(".card").get_by_role("button", name=re.compile(f"^{answer}")).tap()
    room.wait_for_next(phone, shown)
    context.close()
    assert {entry["kind"] for entry in room.log_of(server, project)} <= {"yes", "no"}


@pytest.mark.public_data
def test_emotions_are_imported_answered_and_exported(page: Page, server: Server) -> None:
    """60% of the cells emptied; 6 yes or no by keyboard, 2 whole rows; the curve; the export read back."""
    data = dict(np.load(DATA / "emotions.npz"))
    names = [str(name) for name in data["label_names"]]
    truth = data["Y"].astype(int)
    holes = np.random.default_rng(0).random(truth.shape) < 0.6
    holes[::5] = False
    frame = pd.DataFrame(data["X"].round(5), columns=[str(name) for name in data["feature_names"]])
    frame.insert(0, "id", [f"song{number:03d}" for number in range(len(truth))])
    given = pd.DataFrame(truth, columns=names).astype(str).where(~holes, "")
    room.import_csv(page, server.base, pd.concat([frame, given], axis=1), "emotions")
    project = int(re.search(r"project=(\d+)", page.url)[1])  # type: ignore[index]
    said: dict[tuple[int, str], int] = {}
    for _ in range(6):
        row, label = int(room.row_id(page).removeprefix("song")), page.locator(".named").inner_text()
        value = said[row, label] = int(truth[row, names.index(label)])
        room.press(page, "y" if value else "n")
    page.goto(f"{server.base}/settings?project={project}")
    page.get_by_role("tab", name="Model").click()
    room.choose(page, "Question type", "all labels of a row at once")
    page.get_by_role("status").get_by_text("Saved", exact=True).wait_for()
    room.annotate(page, server, project)
    for _ in range(2):
        row = int(room.row_id(page).removeprefix("song"))
        right = {name for name, value in zip(names, truth[row], strict=True) if value}
        said |= {(row, name): int(name in right) for name in names}
        mark(page, right)
        room.press(page, "Enter")
    page.goto(f"{server.base}/progress?project={project}")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    expect(page.get_by_text("On held-out rows", exact=True)).to_be_visible()
    expect(page.get_by_text("Precision at 3", exact=True)).to_be_visible()
    page.goto(f"{server.base}/export?project={project}")
    with page.expect_download() as at_once:
        page.get_by_role("button", name=re.compile("^Download .* (row|line)s?$")).click()
    page.get_by_role("link", name=re.compile("^Download ")).wait_for()
    room.drawn(page)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    text = Path(waiting.value.path()).read_text()
    assert Path(at_once.value.path()).read_text() == text, "a short file comes without a second press"
    back = list(csv.DictReader(io.StringIO(text)))
    assert [line["id"] for line in back] == frame["id"].tolist()
    for row, line in enumerate(back):
        for column, name in enumerate(names):
            known = said.get((row, name)) if holes[row, column] else int(truth[row, column])
            assert line[name] == ("" if known is None else str(known)), (row, name)


# Review of label vectors in the browser, without a mouse: find an answer, correct the row, see it in the
# export


def test_answer_is_corrected_and_cleared_by_keyboard(
    page: Page, server: Server, home: Home, name: str, errors_of: Callable[[Page], list[str]]
) -> None:
    errors = errors_of(page)
    project = vector_project(home, OWNER, name, question="cell")
    room.annotate(page, server, project)
    asked, label = room.row_id(page), page.locator(".named").inner_text()
    room.press(page, "y")

    page.goto(f"{server.base}/review?project={project}")
    page.get_by_text("of 1 answer, latest first").wait_for()
    room.open_first_line(page)
    page.get_by_role("heading", name=f"Row {asked}", exact=True).wait_for()
    right = page.get_by_text("Current labels").locator("xpath=following::p[1]")
    expect(right).to_contain_text(label)
    assert not findings(page)
    room.choose(page, "Is wrong", label)
    send(page)
    expect(page.get_by_test_id("stToast")).to_contain_text(f"is wrong: {label}")
    expect(right).not_to_contain_text(label)
    room.choose(page, "Is unknown again", label)
    send(page)
    expect(page.get_by_test_id("stToast").last).to_contain_text(f"is unknown again: {label}")
    page.get_by_text("No answer matches all of these filters").wait_for()
    kinds = [(entry["kind"], entry["strategy"]) for entry in room.log_of(server, project)]
    assert kinds[1:] == [("no", "review"), ("withdraw", "review"), ("withdraw", "review")]

    page.goto(f"{server.base}/map?project={project}&colour=State")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    expect(page.get_by_text("Open rows have labels left to ask")).to_be_visible()
    assert not errors


def send(page: Page) -> None:
    page.keyboard.press("Escape")
    button = page.get_by_role("button", name="Save correction")
    button.focus()
    page.keyboard.press("Enter")


@pytest.mark.proof
def test_other_label_vector_pages_are_accessible(browser: Browser, server: Server, signed_in: str) -> None:
    project = vector_projects(server.home)["progress-labels"].partition("=")[2]
    # Elements of this kind of project, in every colour scheme and size.
    context = browser.new_context(viewport=SIZES["-phone"], color_scheme="dark", storage_state=signed_in)  # type: ignore[arg-type]
    page = context.new_page()
    wrong = {}
    for name in ("queue", "map", "review", "settings"):
        go(page, f"{server.base}/{name}?project={project}", *PAGES[name], settle=300)
        if found := findings(page):
            wrong[name] = found
    context.close()
    assert not wrong, "\n".join(f"{where}: {what}" for where, found in wrong.items() for what in found)
