"""Turns at a project of label vectors: tokens of rows and of labels, and what an entry can change."""

from __future__ import annotations

import pytest

from db import entries
from plcore.loop import Place
from tests.workflow.vector_world import LABELS, answer_truly, vector_project
from workflow.answering import loop, undoing
from workflow.kinds.label_vectors.turn import WHOLE_ROW, LabelVectorTurn, LabelVectorWriter
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner, question="cell"))


def test_every_label_of_a_row_has_tokens_of_its_own(seat: Seat) -> None:
    with seat.turn() as turn:
        assert isinstance(turn, LabelVectorTurn)
        assert WHOLE_ROW in turn.ANSWERS
        places = [Place(3), Place(4), *(Place(3, label) for label in LABELS)]
        tokens = {turn.token(place, revision) for place in places for revision in (0, 1, 2)}
        assert len(tokens) == 3 * len(places)
        assert "row" in turn.decided_meanwhile(Place(3))
        assert "label" in turn.decided_meanwhile(Place(3, LABELS[0]))


def test_an_entry_changes_the_labels_it_names(seat: Seat) -> None:
    question = loop.next_question(seat)
    assert question is not None
    label = question.label
    with seat.turn() as turn:
        writer = turn.writer(Place(question.view.row, label))
        assert isinstance(writer, LabelVectorWriter)
        said = writer.write("yes", (label,), token="a")
        again = writer.write("no", (label,), token="b")
        assert (said.before, said.after) == (("",), ("1",))
        assert (again.before, again.after) == (("1",), ("0",))
        out = writer.write("bad", token="c")
        assert (out.before, out.after) == ((), ("bad",))
        assert writer.labels_now(said) == (label,)


def test_a_label_stands_as_before_until_somebody_says_more(seat: Seat) -> None:
    saved = answer_truly(seat.home, seat.person_id, seat.project_id)

    def stands() -> bool:
        with seat.learner() as opened:
            entry = entries.get(opened.session, opened.project_id, saved.seq)
            assert entry is not None
            assert opened.person_id == entry.person_id
            return opened.kind.make_turn(opened).stands_as_before(saved.row, (entry,))

    assert not stands()
    undoing.undo(seat)
    assert stands()
    question = loop.next_question(seat)
    assert question is not None
    loop.submit_answer(seat, question.token, "bad")
    assert not stands(), "the row is out"
