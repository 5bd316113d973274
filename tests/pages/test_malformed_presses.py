"""Presses that no page of ours sends: each is refused in words, nothing is stored, and the card stands as before."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.label_vectors import card as label_vectors_card
from pages.parts.one_label import card as one_label_card
from tests.pages.conftest import Open, pressing
from tests.workflow.answering.malformed import PRESS
from tests.workflow.answering.malformed import malformed as every_malformed
from tests.workflow.four import ask, four_class_project, log
from tests.workflow.people.test_disputes import open_rows, say, shared
from tests.workflow.vector_world import vector_project
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home

HUGE = "9" * 9_000
SAID = "Not saved: "
MALFORMED = [said for _, said in every_malformed()][::4]
"""All of them are tried where a press is read; here, that a page does as it should with any."""


def send(test: AppTest, said: Any, trigger: str = "press") -> AppTest:
    test.session_state[state.CARD] = {trigger: said}
    return test.run()


@pytest.fixture
def vectors_sent(sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """`sent`, of the card of label vectors."""
    monkeypatch.setattr(label_vectors_card, "_CARD", one_label_card._CARD)
    return sent


def check_each_is_refused(test: AppTest, sent: list[dict[str, Any]], presses: list[Any]) -> None:
    token = sent[-1]["token"]
    for said in presses:
        turn = sent[-1]["turn"]
        send(test, said)
        assert not test.exception, said
        assert sent[-1]["saved"]["message"].startswith(SAID), ascii(said)[:80]
        assert (sent[-1]["token"], sent[-1]["turn"]) == (token, turn + 1), "the card listens again"


def test_annotate(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    project = four_class_project(home, owner)
    token = ask(home, owner, project).token
    test = show(owner, "annotate.py", project=str(project))
    fitting = PRESS | {"token": token}
    presses = [*MALFORMED]
    presses += [
        fitting | {"kind": kind} for kind in ("", "IS", "withdraw", "verdict", "__class__", "confirm\n")
    ]
    presses += [fitting | {"labels": labels} for labels in ([], ["eel"], ["ant", "ant"], [""], [HUGE])]
    presses += [fitting | {"kind": "confirm", "labels": labels} for labels in (["x"], [HUGE], ["-1"])]
    presses += [PRESS | {"token": other, "labels": ["ant"]} for other in ("", "x", "1.1.1.1", token + "0")]
    presses += [PRESS | {"kind": "undo", "seq": seq} for seq in (0, 7, 2**31 - 1)]
    presses += [PRESS | {"kind": kind, "token": "x"} for kind in ("pause", "qualify", "confirm")]
    with caplog.at_level(logging.WARNING):
        check_each_is_refused(test, sent, presses)
    assert not [one for one in caplog.records if one.levelno >= logging.ERROR or one.exc_info]
    assert log(home, project) == []
    pressing(test, "is", token=token, labels=["ant"], note="kept")
    assert [(one.kind, one.note) for one in log(home, project)] == [("is", "kept")]


def test_label_vectors(home: Home, owner: int, show: Open, vectors_sent: list[dict[str, Any]]) -> None:
    project = vector_project(home, owner)
    question = loop.next_question(Seat(home, owner, project))
    home.shelf.settle(project)
    test = show(owner, "annotate.py", project=str(project))
    presses = [*MALFORMED]
    presses += [
        PRESS | {"token": question.token, "kind": "labels", "labels": one} for one in (["eel"], [HUGE])
    ]
    check_each_is_refused(test, vectors_sent, presses)
    assert log(home, project) == []


@pytest.mark.parametrize("trigger", ["similar", "panel", "here"])
def test_what_is_wanted_besides_is_not_shown(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], trigger: str
) -> None:
    project = four_class_project(home, owner)
    ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    for said in (*MALFORMED, {"token": "\0"}, {"wanted": "\ud800"}, {"wanted": [HUGE]}, {"token": "1.1.1"}):
        send(test, said, trigger)
        assert not test.exception
        assert sent[-1]["panel"] is None
        assert not (sent[-1]["similar"] or {}).get("rows")


def test_disputes(home: Home, owner: int, show: Open, sent: list[dict[str, Any]]) -> None:
    seat, ada, ben = shared(Seat(home, owner))
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    project = seat.project_id or 0
    before = log(home, project)
    test = show(owner, "disputes.py", project=str(project))
    opened = sent[-1]["token"]
    fitting = PRESS | {"token": opened}
    presses = [*MALFORMED]
    presses += [fitting | {"kind": kind} for kind in ("", "bad", "unsure", "pause", "x")]
    presses += [fitting | {"kind": "settle", "labels": labels} for labels in (["eel"], [HUGE])]
    presses += [PRESS | {"kind": "settle", "token": "x", "labels": ["ant"]}, PRESS | {"kind": "discuss"}]
    check_each_is_refused(test, sent, presses)
    pressing(test, "look", seq=2**31 - 1)
    assert "There is no row" in sent[-1]["saved"]["message"]
    assert sent[-1]["token"] == opened, "the dispute that was looked at stays"
    assert log(home, project) == before


def test_presses_sooner_than_hands_could_are_refused_and_store_nothing(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    token = ask(home, owner, project).token
    test = show(owner, "annotate.py", project=str(project))
    monkeypatch.setattr(type(home.attempts), "may_press", lambda _self, person: person != owner)
    pressing(test, "is", token=token, labels=["ant"])
    assert "more presses within a minute" in sent[-1]["saved"]["message"]
    assert log(home, project) == []
