"""A press of the card on the Answer page: what it has brought is drawn, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pages.parts import state
from tests.pages.conftest import Open
from tests.workflow.answering.malformed import PRESS
from tests.workflow.four import ask, four_class_project
from workflow.answering import loop, press
from workflow.people import goals, qualification
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home


def noted(asked: list[str], name: str, ask_it: Callable[..., Any]) -> Callable[..., Any]:
    def noting(*given: Any, **more: Any) -> Any:
        asked.append(name)
        return ask_it(*given, **more)

    return noting


def test_what_a_press_has_brought_is_drawn_and_nothing_is_asked_again(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    asked: list[str] = []
    with monkeypatch.context() as watched:
        for module, name in ((qualification, "now"), (press, "now"), (press, "press")):
            watched.setattr(module, name, noted(asked, f"{module.__name__}.{name}", getattr(module, name)))
        test.session_state[state.CARD] = {
            "press": PRESS | {"token": question.token, "kind": "is", "labels": list(question.choices[:1])}
        }
        test.run()
    assert not test.exception
    # The drawing in which the press is sent asks, and the press itself; the drawing after it asks for nothing.
    assert asked == [
        "workflow.people.qualification.now",
        "workflow.answering.press.now",
        "workflow.answering.press.press",
        "workflow.answering.press.now",
    ]
    seat = Seat(home, owner, project)
    assert sent[-1]["token"] == loop.next_question(seat).token != question.token
    assert sent[-1]["counts"]["answered"] == standing.standing(seat).answered == 1
    assert goals.day(seat, None).answers == 1
    shown = len(sent)
    test.run()
    assert len(sent) > shown, "a page that is loaded asks anew"
    assert sent[-1]["token"] == loop.next_question(seat).token


def test_where_nothing_came_with_a_press_the_page_asks(
    home: Home, owner: int, show: Open, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = four_class_project(home, owner)
    question = ask(home, owner, project)
    test = show(owner, "annotate.py", project=str(project))
    with monkeypatch.context() as late:
        late.setattr(press, "_next", lambda *_: None)
        test.session_state[state.CARD] = {"press": PRESS | {"token": question.token, "kind": "skip"}}
        test.run()
    assert not test.exception
    assert sent[-1]["token"] == loop.next_question(Seat(home, owner, project)).token != question.token
