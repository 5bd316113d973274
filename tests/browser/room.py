"""Helpers that act and look like an annotator."""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import ConsoleMessage, FloatRect, Locator, Page, Route, expect
from playwright.sync_api import TimeoutError as PageTimeout
from sqlalchemy import NullPool, create_engine, text

from tests.browser.server import Server

TABLE_BOX = "input[type=file][aria-label^='A table']"
"""The box on the Import page for the file of a new project."""
CARD = ".card"


def birdsong_frame(folder: Path) -> pd.DataFrame:
    """BirdSong as an ordinary file: id, candidates such as bird03|bird11, the true bird, 38 features."""
    data = dict(np.load(folder / "birdsong.npz"))
    names = np.array([f"bird{k:02d}" for k in range(data["S"].shape[1])])
    frame = pd.DataFrame(data["X"], columns=[f"f{k:02d}" for k in range(data["X"].shape[1])])
    frame.insert(0, "id", [f"clip{k:05d}" for k in range(len(frame))])
    frame.insert(1, "candidates", ["|".join(names[row.astype(bool)]) for row in data["S"]])
    frame.insert(2, "bird", names[data["y"]])
    return frame


def violations(page: Page) -> list[str]:
    """The violations of the content policy that the browser reports from now on."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            found.append(message.text)

    page.on("console", note)
    return found


def go_to(page: Page, section: str, name: str) -> None:
    """Choose a page under a heading of the menu."""
    page.get_by_test_id("stTopNavSection").filter(has_text=section).click()
    page.get_by_role("menuitem", name=name).click()


def choose(page: Page, label: str, text: str) -> None:
    """Choose in a box by keyboard only: type the text, press Enter."""
    type_choice(page, page.get_by_role("combobox", name=label, exact=True), text)


def type_choice(page: Page, box: Locator, text: str) -> None:
    """Choose in a box by keyboard, and repeat until the drawn page has the choice: a box that is being redrawn loses
    it, and one whose key changes with the choice is there twice for a moment. A list that is still open from the choice
    before is not yet the one of this text, so Enter waits for an option that has it."""
    box = box.first
    held = box.locator("xpath=ancestor::*[@data-testid='stSelectbox' or @data-testid='stMultiSelect']")
    for _ in range(10):
        drawn(page)
        box.focus()
        page.keyboard.type(text)
        try:
            page.get_by_role("option").first.filter(has_text=text).wait_for(timeout=3000)
            page.keyboard.press("Enter")
        except PageTimeout:
            box.fill("")
        drawn(page)
        if text in held.inner_text() or text in box.input_value():
            return
    raise AssertionError(f"{text!r} could not be chosen")


def close_choices(page: Page) -> None:
    """Close the list of a box for several choices. It stays open for more choices, covers the page, and may lose an
    Escape right after a choice."""
    for _ in range(10):
        page.keyboard.press("Escape")
        try:
            page.get_by_role("listbox").wait_for(state="detached", timeout=3000)
        except PageTimeout:
            continue
        return
    raise AssertionError("the list of choices stays open")


LATE = re.compile(
    r"/static/js/(DataFrame|TextInput|Selectbox|Checkbox|Radio|Multiselect|Metric|PlotlyChart|Pagination|ButtonGroup)\.[^/]*\.js"
)
"""Streamlit's scripts that a page is first drawn without; while any is missing there is a skeleton."""


class Gate:
    """Holds requests until it is opened."""

    def __init__(self) -> None:
        self.held: list[Route] | None = []

    def come(self, route: Route) -> None:
        if self.held is None:
            route.continue_()
        else:
            self.held.append(route)

    def open(self) -> None:
        held, self.held = self.held or [], None
        for one in held:
            one.continue_()


def drawn(page: Page) -> None:
    """Wait until the server has drawn the current page."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def until(page: Page, script: str, arg: object = None) -> Any:
    """Return the value of a script as soon as it is truthy. `wait_for_function` evaluates its script in the page again
    and again, which the policy of our pages forbids."""
    for _ in range(300):
        if value := page.evaluate(script, arg):
            return value
        page.wait_for_timeout(100)
    raise PageTimeout(f"never true: {script}")


def place_of(one: Locator) -> FloatRect:
    """Where an element is once the page is drawn and nothing moves it any more: for clicks next to it, or in it."""
    drawn(one.page)
    found = one.bounding_box()
    while True:
        one.page.wait_for_timeout(100)
        before, found = found, one.bounding_box()
        if found is not None and found == before:
            return found


def line_of(page: Page, row: str) -> Locator:
    """The button that opens this row in the list of Queue or Review."""
    name = re.escape(row).replace("/", r"\/")
    return page.get_by_role("button", name=re.compile(f"^Row {name}(:|$)")).first


def open_line(page: Page, row: str) -> None:
    """Click on the line of this row in a list, which opens it in the drawer."""
    line_of(page, row).click()
    page.get_by_role("dialog", name=f"Row {row}", exact=True).wait_for()


def open_first_line(page: Page) -> None:
    """Open the first row of a list by keyboard."""
    page.locator(".open").first.focus()
    page.keyboard.press("Enter")


def import_csv(page: Page, base: str, frame: pd.DataFrame, name: str) -> None:
    """Upload through the Import page, take its guesses, and create the project; true labels stay hidden."""
    begin_import(page, base, frame, name)
    page.locator(CARD).wait_for()


def begin_import(page: Page, base: str, frame: pd.DataFrame, name: str) -> None:
    """The same, up to the click that creates the project."""
    page.goto(f"{base}/import")
    written = io.StringIO()
    frame.to_csv(written, index=False)
    page.locator(TABLE_BOX).set_input_files(
        {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": written.getvalue().encode()}
    )
    create = page.get_by_role("button", name="Create project")
    create.wait_for()
    drawn(page)
    if page.get_by_role("combobox", name=TRUTH).count():
        hide_truth(page)
    create.click()


TRUTH = "The other true labels"


def hide_truth(page: Page) -> None:
    """On the Import page: hide the true labels, so that annotators are asked."""
    box, hidden = page.get_by_role("combobox", name=TRUTH), re.compile("^stay hidden")
    for _ in range(10):  # a late redraw of the page closes an open list
        box.click()
        with suppress(PageTimeout):
            page.get_by_role("option", name=hidden).click(timeout=3_000)
            break
    expect(box).to_have_value(hidden)


_SLOWLY = """() => {
    const play = HTMLMediaElement.prototype.play;
    HTMLMediaElement.prototype.play = function () {
        this.playbackRate = 0.25;
        return play.call(this);
    };
}"""


def play_slowly(page: Page) -> None:
    """Make recordings play four times as slowly from now on, so that a busy machine looks or clicks before they end."""
    page.add_init_script(f"({_SLOWLY})()")
    page.evaluate(_SLOWLY)


def settle(page: Page) -> None:
    """Wait until the card has measured its space, in the frame after it was drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def token(page: Page) -> str:
    return page.locator(CARD).get_attribute("data-token") or ""


def row_id(page: Page) -> str:
    return page.locator(CARD).get_attribute("data-row") or ""


def key_for(page: Page, label: str) -> str:
    """The key of this label among the choices; if the question is yes or no, all choices are shown first."""
    if page.locator(".verdicts.two").count():
        page.keyboard.press("a")
    choice = page.locator(".choice", has=page.locator(".label").get_by_text(label, exact=True))
    return choice.get_attribute("data-key") or ""


def first_key(page: Page) -> str:
    """The key of the first choice."""
    return page.locator(".choice").first.get_attribute("data-key") or ""


def wait_for_next(page: Page, old_token: str) -> None:
    expect(page.locator(CARD)).not_to_have_attribute("data-token", old_token)


def annotate(page: Page, server: Server, project: int) -> None:
    annotate_at(page, f"{server.base}/annotate?project={project}")


def annotate_at(page: Page, address: str) -> None:
    page.goto(address)
    page.locator(CARD).wait_for()


def press(page: Page, *keys: str) -> None:
    """Press keys, the last of which answers, and wait for the next question."""
    shown = token(page)
    for key in keys:
        page.keyboard.press(key)
    wait_for_next(page, shown)


def log_of(server: Server, project: int) -> list[dict[str, Any]]:
    """The entries as they are in the database, lists as their JSON."""
    engine = create_engine(server.database_url, poolclass=NullPool)
    with engine.connect() as connection:
        found = connection.execute(
            text("SELECT * FROM entries WHERE project_id = :project ORDER BY seq"), {"project": project}
        )
        rows = [dict(row) for row in found.mappings()]
    engine.dispose()
    return [{name: _as_json(value) for name, value in row.items()} for row in rows]


def _as_json(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value  # SQLite has it as text already


def answer(page: Page, label: str) -> str:
    """Press the label's key as an annotator does; returns the row's id once the next question is shown."""
    shown, asked = token(page), row_id(page)
    page.keyboard.press(key_for(page, label))
    wait_for_next(page, shown)
    return asked


def labels_on_screen(page: Page) -> list[str]:
    return page.locator(".choice .label").all_inner_texts()
