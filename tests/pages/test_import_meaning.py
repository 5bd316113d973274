"""The Import page offers to learn from meaning before the project is created."""

from __future__ import annotations

import dataclasses

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Open, by_label, press, words
from tests.pages.test_models_page import known
from tests.pages.test_pages import upload
from tests.workflow.encoder_world import latest
from tests.workflow.text_world import text_frame
from workflow.importing import encoding_requests
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home

__all__ = ["known"]

pytestmark = pytest.mark.usefixtures("known")
TABLE = text_frame().to_csv(index=False).encode()
NUMBERS = text_frame().assign(text=[str(number) for number in range(60)]).to_csv(index=False).encode()


def meaning(test: AppTest) -> AppTest:
    """The page once the button is on."""
    by_label(test.toggle, "Learn from meaning").set_value(True).run()
    return test


def made(home: Home, owner: int) -> Seat:
    (project,) = managing.list_projects(Seat(home, owner))
    return Seat(home, owner, project.id)


def test_offer_states_terms_and_choice_is_stored(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TABLE)
    shown = words(test).replace("\\", "")
    assert "Winnow reads **text** word by word. *Words* also reads what it means." in shown
    assert "It is downloaded once from huggingface.co (0 MB, MIT, Copyright (c) Ada)." in shown
    assert "nothing about them is sent. About 1 minute for 60 rows." in shown
    by_label(meaning(test).button, "Create project").click().run()
    assert not test.exception
    seat = made(home, owner)
    assert (latest(seat).encoder, latest(seat).asked_by) == ("words", owner)


def test_no_encoding_is_requested_unless_chosen(home: Home, owner: int, show: Open) -> None:
    test = upload(show(owner, "import_table.py"), TABLE)
    press(test, "Create project")
    assert encoding_requests.encoders(made(home, owner)).running is None


def test_non_commercial_licence_must_be_accepted(home: Home, owner: int, show: Open) -> None:
    test = meaning(upload(show(owner, "import_table.py"), TABLE))
    box = by_label(test.selectbox, "Encoder")
    box.select_index(1).run()
    assert by_label(test.button, "Create project").disabled
    next(one for one in test.checkbox if one.label.startswith("My use is non-commercial")).check().run()
    press(test, "Create project")
    assert latest(made(home, owner)).encoder == "limited"


def test_texts_in_another_language_are_reported(owner: int, show: Open) -> None:
    text = "die Karte ist noch nicht da und ich weiß nicht, wie ich das Geld auf mein Konto bekomme"
    test = upload(show(owner, "import_table.py"), text_frame().assign(text=text).to_csv(index=False).encode())
    assert "The texts seem to be in German, and Words knows English only: it may not help." in words(test)


def test_no_encoder_is_offered_without_text_or_when_disabled(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = upload(show(owner, "import_table.py"), NUMBERS)
    assert "Learn from meaning" not in [one.label for one in test.toggle]
    off = dataclasses.replace(home, settings=dataclasses.replace(home.settings, encoders=False))
    monkeypatch.setattr("pages.parts.frame.home", lambda: off)
    test = upload(show(owner, "import_table.py"), TABLE)
    assert "Learn from meaning" not in [one.label for one in test.toggle]
