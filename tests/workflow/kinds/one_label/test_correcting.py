"""Corrections of a row with candidates: what each stores."""

from __future__ import annotations

import pytest

from plcore import AnswerError
from tests.workflow.four import ask, four_class_project, left, log
from workflow.answering import loop
from workflow.kinds.one_label.answering import CORRECTIONS
from workflow.rows import reviewing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def four(home: Home, owner: int) -> int:
    return four_class_project(home, owner)


def answered(home: Home, owner: int, project: int) -> int:
    """A row with candidates ant, bee and cat that is answered: it is ant."""
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "is", ["ant"])
    return question.view.row


@pytest.mark.parametrize(
    ("kind", "labels", "stored", "stands"),
    [
        ("is", ["bee"], [("is", ("bee",))], ("bee",)),
        ("among", ["bee", "cat"], [("among", ("bee", "cat"))], ("bee", "cat")),
        ("none", [], [("none", ())], ("bee", "cat", "dog")),
        ("bad", [], [("bad", ())], ()),
        ("is", ["dog"], [("none", ()), ("is", ("dog",))], ("dog",)),
    ],
)
def test_each_correction(
    home: Home,
    owner: int,
    four: int,
    kind: str,
    labels: list[str],
    stored: list[tuple[str, tuple[str, ...]]],
    stands: tuple[str, ...],
) -> None:
    row = answered(home, owner, four)
    seat = Seat(home, owner, four)
    opened = reviewing.open_row(seat, row)
    reviewing.correct(seat, row, opened.token, kind, labels, note="why", flagged=True)
    written = log(home, four)[1:]
    assert [(one.kind, one.labels) for one in written] == stored
    assert {(one.strategy, one.note, one.flagged) for one in written} == {("review", "why", True)}
    assert {one.predicted for one in written} == {log(home, four)[0].predicted}, (
        "what the model said at first"
    )
    assert written[0].token == opened.token
    assert left(home, owner, four, row) == stands
    assert kind in CORRECTIONS


@pytest.mark.parametrize(
    ("kind", "labels", "changes"),
    [
        ("skip", [], {}),
        ("unsure", [], {}),
        ("labels", [], {}),
        ("not", ["ant"], {}),  # all that is left
        ("is", [], {}),
        ("is", ["zebra"], {}),
        ("is", ["ant", "bee"], {}),
        ("among", ["bee", "bee"], {}),
        ("among", ["bee", "zebra"], {}),
        ("bad", ["ant"], {}),
        ("is", ["ant"], {"ant": 1}),
    ],
)
def test_what_is_none_is_refused_and_stores_nothing(
    home: Home, owner: int, four: int, kind: str, labels: list[str], changes: dict[str, int]
) -> None:
    row = answered(home, owner, four)
    seat = Seat(home, owner, four)
    with pytest.raises(AnswerError):
        reviewing.correct(seat, row, reviewing.open_row(seat, row).token, kind, labels, changes=changes)
    assert len(log(home, four)) == 1
    assert left(home, owner, four, row) == ("ant",)
