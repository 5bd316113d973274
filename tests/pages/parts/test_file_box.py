"""The box for a file: what it is told, what it holds, and that nobody holds a file of somebody else's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts import state, uploads
from tests.pages.conftest import Open, words
from tests.pages.file_boxes import give, take_away
from tests.workflow.world import somebody
from workflow.importing import arrivals
from workflow.seat import Seat
from workflow.server.home import Home

CSV = b"id,candidates,x\n" + b"".join(b"r%d,a|b,%d\n" % (number, number) for number in range(12))


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of a browser: what stands under a box's key is what the browser tells of it."""
    drawn = uploads._BOX

    def box(key: str, data: dict[str, Any], on_chosen_change: Callable[[], None]) -> None:
        if st.session_state.get(key, {}).get("chosen"):
            on_chosen_change()
            st.session_state[key] = {}
            st.rerun()
        drawn(key=f"{key}-drawn", data=data)

    monkeypatch.setattr(uploads, "_BOX", box)


def told(test: AppTest) -> dict[str, Any]:
    """What the first box is told."""
    proto = next(
        one.proto for one in test.get("bidi_component") if one.proto.component_name == "winnow_file_box"
    )
    found: dict[str, Any] = json.loads(proto.json)
    return found


def test_an_empty_box_says_what_it_takes(owner: int, show: Open) -> None:
    said = told(show(owner, "import_table.py"))
    assert said["label"] == "A table, or a zip of a table and its files"
    assert said["limit"] == "At most 200 MB, one file."
    assert (said["most"], said["address"], said["file"]) == (200_000_000, "uploads", None)


def test_a_file_stays_in_its_box_until_it_is_taken_away(owner: int, show: Open) -> None:
    test = give(show(owner, "import_table.py"), "A table", "birds.csv", CSV)
    assert told(test)["file"] == {"name": "birds.csv", "size": "0.1 kB"}
    test.switch_page("home.py").run()
    test.switch_page("import_table.py").run()
    assert told(test)["file"] is not None, "also while another page was shown"
    assert told(take_away(test, "A table"))["file"] is None


@pytest.mark.usefixtures("pressed")
def test_the_browser_names_the_file_and_the_one_before_goes(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "import_table.py")
    seat, keys = Seat(home, owner), []
    for name in ("one.csv", "two.csv"):
        coming = arrivals.begin(seat, name, len(CSV))
        coming.write(CSV)
        keys.append(coming.finish().key)
        coming.end()
    first, second = keys
    box = f"{state.FILE}-box-import"
    for key, shown in ((first, "one.csv"), (second, "two.csv"), ("", None)):
        test.session_state[box] = {"chosen": {"key": key}}
        test.run()
        assert not test.exception
        assert (told(test)["file"] or {}).get("name") == shown
    assert arrivals.find(seat, first) is None
    assert arrivals.find(seat, second) is None
    assert list(home.uploads_dir.iterdir()) == []


@pytest.mark.usefixtures("pressed")
@pytest.mark.parametrize("key", ["x" * 32, "../winnow.sqlite3", 7, None, ["a"], {"key": "a"}])
def test_what_is_no_key_of_a_file_holds_nothing(owner: int, show: Open, key: object) -> None:
    test = show(owner, "import_table.py")
    test.session_state[f"{state.FILE}-box-import"] = {"chosen": {"key": key}}
    test.run()
    assert not test.exception
    assert told(test)["file"] is None


def test_a_file_of_somebody_else_s_is_none(home: Home, owner: int, show: Open) -> None:
    other = Seat(home, somebody(home, owner, "Ada"))
    coming = home.arrivals.begin(
        home.uploads_dir, other.person_id, "hers.csv", 1, arrivals.Room(10, 10, 1_000_000)
    )
    coming.write(b"x")
    key = coming.finish().key
    coming.end()
    test = show(owner, "import_table.py")
    test.session_state[uploads.held_at("import")] = key
    test.run()
    assert told(test)["file"] is None
    assert "The file is not here any more. Choose it again." in words(test)


def test_what_was_made_a_project_is_kept_no_longer(home: Home, owner: int, show: Open) -> None:
    test = give(show(owner, "import_table.py"), "A table", "birds.csv", CSV)
    assert len(list(home.uploads_dir.iterdir())) == 1
    next(button for button in test.button if button.label == "Create project").click().run()
    assert not test.exception
    assert list(home.uploads_dir.iterdir()) == []
    test.switch_page("import_table.py").run()
    assert told(test)["file"] is None
    assert "not here any more" not in words(test)
