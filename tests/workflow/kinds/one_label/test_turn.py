"""Turns at a project with one true label: blind checks are not chosen, tokens end with the classes they named."""

from __future__ import annotations

import numpy as np
import pytest

from db import entries
from plcore import AnswerError
from plcore.loop import Place
from tests.workflow.world import answer_next, small_project
from workflow.answering import loop, undoing
from workflow.kinds.one_label.turn import OneLabelTurn, OneLabelWriter, row_token
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home


def test_a_control_comes_by_its_draw_alone(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.4))
    with seat.turn() as turn:
        assert isinstance(turn, OneLabelTurn)
        pool = turn.learner.pool
        control, other = (
            int(np.flatnonzero(pool.control_rows & (pool.sizes > 1))[0]),
            int(turn.learner.ranking()[0][0]),
        )
        assert not turn.may_choose(Place(control), drawn=False)
        assert turn.may_choose(Place(control), drawn=True)
        assert turn.may_choose(Place(other), drawn=False)
        held_out = int(np.flatnonzero(turn.learner.test_rows)[0])
        assert not turn.may_choose(Place(held_out), drawn=True)
    with pytest.raises(AnswerError, match="no longer open"):
        loop.ask_next(seat, control)
    assert loop.ask_next(seat, control, drawn=True).view.row == control


def test_a_token_is_of_the_classes_as_they_were(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    with seat.turn() as turn:
        before = turn.token(Place(3), 0)
        assert before == row_token(owner, 3, 0, turn.learner.pool.class_map)
    classes.change_classes(seat, 0, "add", ["zebra"])
    with seat.turn() as turn:
        assert turn.token(Place(3), 0) == before, "more classes mean nothing else"
    classes.take_back(seat, classes.classes_view(seat).version)
    with seat.turn() as turn:
        assert turn.token(Place(3), 0) != before


def test_a_writer_knows_what_is_left_after_each_entry(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    assert question is not None
    with seat.turn() as turn:
        writer = turn.writer(Place(question.view.row))
        assert isinstance(writer, OneLabelWriter)
        assert writer.left == question.choices
        said = writer.write("not", question.choices[:1], token="a")
        assert (said.before, said.after) == (question.choices, question.choices[1:])
        assert writer.left == question.choices[1:]
        with pytest.raises(AnswerError, match="is not among what is left"):
            writer.write("is", question.choices[:1], token="b")
        out = writer.write("bad", token="b")
        assert (out.after, writer.left) == ((), ())


def test_a_row_stands_as_before_until_somebody_says_more(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    saved = answer_next(home, owner, project)

    def stands() -> bool:
        with seat.learner() as opened:
            entry = entries.get(opened.session, project, saved.seq)
            assert entry is not None
            assert opened.person_id == entry.person_id
            return opened.kind.make_turn(opened).stands_as_before(saved.row, (entry,))

    assert not stands(), "it is answered"
    undoing.undo(seat)
    assert stands()
    question = loop.next_question(seat)
    assert question is not None
    loop.submit_answer(seat, question.token, "not", question.choices[-1:], shown=question.shown)
    assert not stands()
