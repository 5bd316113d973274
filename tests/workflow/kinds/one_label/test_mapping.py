"""How rows with candidates stand on the map."""

from __future__ import annotations

import numpy as np

from tests.workflow.world import answer_next
from workflow import answering
from workflow.home import Home
from workflow.kinds.one_label.mapping import answered_and_open, labels_on_map
from workflow.seat import Seat


def test_answered_and_open_rows_and_what_each_may_be(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    said = answer_next(home, owner, project)
    question = answering.next_question(seat)
    assert question is not None
    answering.submit_answer(seat, question.token, "not", question.choices[:1], shown=question.shown)
    bad = answering.next_question(seat)
    assert bad is not None
    answering.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = answered_and_open(learner)
        assert set(np.flatnonzero(answered)) == {said.row, question.view.row, bad.view.row}
        assert still_open.sum() >= learner.pool.n_open
        assert not still_open[said.row]
        first, second, third = labels_on_map(learner, [said.row, question.view.row, bad.view.row])
        assert first == said.labels
        assert second == question.choices[1:]
        assert third == ()
