"""Pages opened as a person, on a home of the test's own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import InitialValue, Selectbox
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from pages.parts import frame, state
from pages.parts.one_label import card as one_label_card
from tests.conftest import ROOT
from tests.hashing import cheap_passwords
from tests.migrated import lay_database
from tests.workflow.backups.forging import checked_here
from workflow.people import team
from workflow.server.home import Home, close_home
from workflow.server.home import home as process_home

__all__ = ["cheap_passwords", "checked_here"]

Open = Callable[..., AppTest]
PATIENCE = 600
"""Seconds that drawing a page may take: the first of a process imports the app, and the machine may be busy."""


@pytest.fixture(scope="session", autouse=True)
def drawing_costs_what_a_server_spends() -> Iterator[None]:
    """A server searches every package for components when it starts, and compiles a page when it is first drawn;
    AppTest does both for each drawing, and asks a thousand times a second whether it is done."""
    scripts, look = ScriptCache(), local_script_runner.require_widgets_deltas

    def wait(runner: LocalScriptRunner, timeout: float) -> None:
        runner._script_thread.join(timeout)  # type: ignore[union-attr]
        look(runner, 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(local_script_runner, "ScriptCache", lambda: scripts)
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path))
    monkeypatch.delenv("WINNOW_DATABASE_URL", raising=False)
    close_home()
    lay_database(tmp_path)
    yield process_home()
    close_home()


@pytest.fixture
def owner(home: Home) -> int:
    return team.ensure_owner(home).id


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page as this person; AppTest has no header from the guard."""

    def open_page(person: int, page: str | None = None, **query: str) -> AppTest:
        monkeypatch.setattr(frame, "person_id", lambda: person)
        test = AppTest.from_file(str(ROOT / "pages" / "main.py"), default_timeout=PATIENCE)
        for name, value in query.items():
            test.query_params[name] = value
        test.run()
        if page:
            test.switch_page(page).run()
        assert not test.exception
        return test

    return open_page


def by_label(found: Iterable[Any], label: str) -> Any:
    """The first of these elements that has this label."""
    return next(one for one in found if one.label == label)


def press(test: AppTest, label: str) -> AppTest:
    """The page after a click on the button of this label, which raises nothing."""
    by_label(test.button, label).click().run()
    assert not test.exception
    return test


def pressing(test: AppTest, kind: str, **more: Any) -> AppTest:
    """The page after an action of the card, as the browser sends it."""
    press = {"kind": kind, "labels": [], "token": "", "shown": None, "seq": None, "note": "", "flagged": False}
    test.session_state[state.CARD] = {"press": press | more}
    return test.run()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Data that the page sends to the card, without a browser."""
    told: list[dict[str, Any]] = []

    def card(data: dict[str, Any], on_press_change: Callable[[], None], **_: Any) -> None:
        if st.session_state.get(state.CARD):  # a press comes before the page is drawn
            on_press_change()
            st.session_state[state.CARD] = None
            st.rerun()
        told.append(data)

    monkeypatch.setattr(one_label_card, "_CARD", card)
    return told


def open_in_list(test: AppTest, project: int, row: int, key: str = state.REVIEW) -> AppTest:
    """The Review page, or another list, after a click on the line of this row, which AppTest cannot make."""
    test.session_state[state.OPENED] = f"{key}-{project}", row, ""
    return test.run()


def sent_to(test: AppTest, component: str) -> list[dict[str, Any]]:
    """The data of each of these components on the page."""
    drawn = [one.proto for one in test.get("bidi_component")]
    return [json.loads(one.json) for one in drawn if one.component_name.endswith(component)]


CELLS: dict[str, Callable[[dict[str, Any]], object]] = {
    "words": lambda line: line["words"],
    "shares": lambda line: line["shares"],
    "near": lambda line: float(line["near"]),
    "answer": lambda line: line["answer"]["words"],
    "predicted": lambda line: line["predicted"]["words"],
    "person": lambda line: line["person"],
    "at": lambda line: line["at"],
}
"""The text that a user reads in each column of a list."""


def listed(test: AppTest) -> pd.DataFrame:
    """The list of rows on the Queue or Review page, its columns by their titles."""
    (data,) = sent_to(test, "winnow_row_list")
    return pd.DataFrame(
        {
            "#": [line["place"] for line in data["lines"]],
            **({"Picture": [_picture(line) for line in data["lines"]]} if data["pictured"] else {}),
            "Row": [line["id"] for line in data["lines"]],
            "Text": [line["text"] for line in data["lines"]],
            **{one["title"]: [CELLS[one["name"]](line) for line in data["lines"]] for one in data["columns"]},
        }
    )


def _picture(line: dict[str, Any]) -> str:
    return line["image"] or ("sound" if line["sound"] else "")


def history(test: AppTest) -> list[dict[str, str]]:
    """The entries about the open row: who answered what, and what else is stored with it."""
    (data,) = sent_to(test, "winnow_row_facts")
    return [
        {"Annotator": one["person"], "Said": one["words"], "When": one["at"], **dict(one["details"])}
        for one in data["history"]
    ]


def words(test: AppTest) -> str:
    shown = [*test.title, *test.markdown, *test.caption, *test.info, *test.error, *test.warning, *test.metric]
    menus = [f" **{one.label}**" for one in test.menu_button]  # the project, if there are several
    return "\n".join([*menus, *(f"{getattr(one, 'label', '')} {one.value}" for one in shown)])


def what_is_left(test: AppTest) -> str:
    """The parts of the Progress page's bar, such as "answered 2, open 58"."""
    (bar,) = (one.proto.body for one in test.get("html") if "winnow-left" in one.proto.body)
    return bar.partition('aria-label="')[2].partition('"')[0]


def listed_problems(test: AppTest) -> list[str]:
    """The problems that the Import page lists, as a user reads them, each with its fix."""
    (listed,) = (one.value for one in test.markdown if one.value.startswith("1. "))
    found = [re.sub(r"\\(\W)", r"\1", line.removeprefix("1. ")).replace("**", "") for line in listed.splitlines()]
    assert all("*Fix:* " in line for line in found)
    return found


@pytest.fixture
def boxes_keep_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make select boxes send the words they were drawn with until someone chooses, like a browser; AppTest sends those
    of the latest drawing.
    """
    said: dict[str, str] = {}
    latest = Selectbox._widget_state.fget  # the property AppTest reads at every run

    def as_in_a_browser(box: Selectbox) -> WidgetState:
        sent = latest(box)
        if isinstance(box._value, InitialValue) and box.id in said:
            sent.string_value = said[box.id]
        elif sent.HasField("string_value"):
            said[box.id] = sent.string_value
        return sent

    monkeypatch.setattr(Selectbox, "_widget_state", property(as_in_a_browser))
