"""Files uploaded in the boxes of a page, without a browser."""

from __future__ import annotations

import json

from streamlit.testing.v1 import AppTest

from pages.parts import frame, state
from pages.parts.importing.uploads import held_at
from workflow.importing import arrivals
from workflow.seat import Seat
from workflow.server.home import home


def boxes(test: AppTest) -> dict[str, str]:
    """The upload boxes on the page: their keys by their labels."""
    found = [one.proto for one in test.get("bidi_component") if one.proto.component_name == "winnow_file_box"]
    return {json.loads(one.json)["label"]: one.id.partition(f"{state.FILE}-box-")[2] for one in found}


def give(test: AppTest, label: str, name: str, data: bytes) -> AppTest:
    """The page after this file was uploaded in the box whose label begins with these words."""
    arriving = arrivals.begin(Seat(home(), frame.person_id()), name, len(data))
    arriving.write(data)
    test.session_state[held_at(_key(test, label))] = arriving.finish().key
    arriving.end()
    return _run(test)


def take_away(test: AppTest, label: str) -> AppTest:
    """The page after the file was removed again."""
    test.session_state[held_at(_key(test, label))] = None
    return _run(test)


def _key(test: AppTest, label: str) -> str:
    return next(key for shown, key in boxes(test).items() if shown.startswith(label))


def _run(test: AppTest) -> AppTest:
    test.run()
    assert not test.exception
    return test
