"""The tab Learning of the project's settings: an encoder of the owner's own, from the press to what came of it."""

from __future__ import annotations

import sys

import pytest
from streamlit.testing.v1 import AppTest

from db import trained
from tests.pages.conftest import Open, words
from tests.plcore.tables.encoders.models import encoder, mean_color
from tests.workflow.encoder_world import at_each_step, latest, stored, words_encoder
from tests.workflow.text_world import text_project
from workflow.importing import encoding_requests
from workflow.importing.encoding_worker import EncodingWorker
from workflow.seat import Seat
from workflow.server.home import Home

PAGE = "project_page.py"


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, text_project(home, owner))


def opened(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, PAGE, project=str(seat.project_id))


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


def press(test: AppTest, label: str) -> AppTest:
    next(one for one in test.button if one.label == label).click().run()
    assert not test.exception
    return test


def bars(test: AppTest) -> list[str]:
    return [str(one.proto.text) for one in test.get("progress")]


def test_without_an_encoder_one_sentence_says_how_to_get_one(seat: Seat, show: Open) -> None:
    test = opened(show, seat)
    shown = words(test).replace("\\", "")
    assert "An ONNX model of yours for images, texts or sounds" in shown
    assert str(seat.home.encoders_dir) in shown
    assert "docs/library.md" in shown
    assert not [one for one in test.selectbox if one.label == "Encoder"]
    assert not [label for label in labels(test) if label.startswith("Learn from")]


def test_it_is_asked_for_waits_and_is_cancelled(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    words_encoder(seat.home, "alpha")
    test = opened(show, seat)
    assert "Learn from what alpha sees" in labels(test), "the first by name"
    next(one for one in test.selectbox if one.label == "Encoder").select("words").run()
    press(test, "Learn from what words sees")
    assert (latest(seat).encoder, latest(seat).asked_by) == ("words", seat.person_id)
    assert "words waits for a worker" in words(test)
    assert not [label for label in labels(test) if label.startswith("Learn from")]
    press(test, "Cancel")
    assert latest(seat).state == trained.CANCELLED
    assert "The latest encoding was cancelled." in words(test)
    assert "waits for a worker" not in words(test)
    assert "Cancel" not in labels(test)
    assert [label for label in labels(test) if label.startswith("Learn from")]


def test_how_far_it_is_is_shown_and_then_what_came_of_it(
    seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.importing.encoding_worker.TOLD_EVERY", 0.0)
    encoding_requests.ask(seat, words_encoder(seat.home))
    texts: list[str] = []
    at_each_step(monkeypatch, lambda *_: texts.extend(bars(opened(show, seat))))
    EncodingWorker(seat.home, "one").look()
    assert texts == ["words: reading the rows …", *(f"words: {done} of 60" for done in (16, 32, 48))]
    test = opened(show, seat)
    assert bars(test) == []
    shown = words(test)
    assert "The rows got embeddings of **words**" in shown
    assert "Its vectors take the place of those that the rows have." in shown
    assert "Cancel" not in labels(test)
    assert len(stored(seat)) == 1


def test_a_page_that_watches_shows_the_end(seat: Seat, show: Open) -> None:
    encoding_requests.ask(seat, words_encoder(seat.home))
    test = opened(show, seat)
    assert "words waits for a worker" in words(test)
    EncodingWorker(seat.home, "one").look()
    test.run()
    assert not test.exception
    assert "The rows got embeddings of **words**" in words(test)


def test_why_it_failed_is_said_with_the_fix(seat: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding_requests.ask(seat, words_encoder(seat.home))
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnxruntime", None)
        EncodingWorker(seat.home, "one").look()
    shown = words(opened(show, seat)).replace("\\", "")
    assert "The rows could not be encoded: Encoders need ONNX Runtime, which is not installed." in shown
    assert "pip install 'plcore[onnx]'" in shown
    encoder(seat.home.encoders_dir / "words", {"kind": "image", "size": 4}, mean_color())
    encoding_requests.ask(seat, "words")
    EncodingWorker(seat.home, "one").look()
    test = opened(show, seat)
    assert "No row has an image to encode" in words(test)
    assert "Learn from what words sees" in labels(test), "it can be tried again"


def test_a_press_for_an_encoder_that_is_gone_begins_no_other(seat: Seat, show: Open) -> None:
    words_encoder(seat.home)
    test = opened(show, seat)
    for file in (seat.home.encoders_dir / "words").iterdir():
        file.unlink()
    (seat.home.encoders_dir / "words").rmdir()
    words_encoder(seat.home, "other")
    press(test, "Learn from what words sees")
    assert encoding_requests.encoders(seat).running is None
