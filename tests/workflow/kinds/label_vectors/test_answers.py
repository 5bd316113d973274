"""What an answer about a label vector stores, and which do not fit what was asked."""

from __future__ import annotations

import pytest

from plcore import AnswerError
from tests.workflow.vector_world import LABELS, vector_project
from tests.workflow.world import count_entries
from workflow.answering import loop
from workflow.answering.turn import StaleQuestion
from workflow.kinds.label_vectors.answering import answer
from workflow.kinds.label_vectors.showing import vector_stamp
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.mark.parametrize(
    ("question", "kind", "labels"),
    [
        ("instance", "yes", ()),
        ("instance", "no", ()),
        ("instance", "labels", ("zebra",)),
        ("instance", "bad", (LABELS[0],)),
        ("cell", "labels", (LABELS[0],)),
        ("cell", "yes", (LABELS[0],)),
    ],
)
def test_what_does_not_fit_the_question_is_refused(
    home: Home, owner: int, question: str, kind: str, labels: tuple[str, ...]
) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question=question))
    asked = loop.next_question(seat)
    assert asked is not None
    with pytest.raises(AnswerError):
        loop.submit_answer(seat, asked.token, kind, labels)
    assert count_entries(home) == 0


def test_an_answer_to_another_screen_is_refused(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    asked = loop.next_question(seat)
    assert asked is not None
    cells = {one.label: one.cell for one in asked.lines}
    assert asked.shown == vector_stamp(tuple(cells[label] for label in LABELS))
    with pytest.raises(StaleQuestion, match="have changed since it was shown"):
        loop.submit_answer(seat, asked.token, "labels", LABELS[:1], shown=vector_stamp((1,) * 5))
    assert count_entries(home) == 0
    loop.submit_answer(seat, asked.token, "labels", LABELS[:1], shown=asked.shown)


def test_the_last_entry_speaks_for_the_press(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    asked = loop.next_question(seat)
    assert asked is not None
    with seat.turn() as turn:
        open_now = turn.open_now()
        assert open_now is not None
        stored = answer(turn, open_now, loop.Given("labels", LABELS))
    assert stored.kind == "yes"
    assert stored.token == asked.token, "nothing was said to be wrong: one entry"
    assert set(stored.labels) == {one.label for one in asked.lines if one.cell != 1}
