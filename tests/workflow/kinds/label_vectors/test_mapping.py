"""How rows of label vectors stand on the map; and no table of them hides a truth."""

from __future__ import annotations

import numpy as np

from tests.workflow.vector_world import LABELS, answer_truly, true_labels, vector_project
from workflow import answering
from workflow.home import Home
from workflow.kinds.label_vectors import truth
from workflow.kinds.label_vectors.mapping import answered_and_open, labels_on_map
from workflow.seat import Seat


def test_answered_and_open_rows_and_the_labels_that_are_right(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    said = answer_truly(home, owner, seat.project_id)
    bad = answering.next_question(seat)
    assert bad is not None
    answering.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = answered_and_open(learner)
        assert answered[said.row]
        assert not still_open[[said.row, bad.view.row]].any()
        assert still_open.sum() == learner.pool.n_open
        first, second = labels_on_map(learner, [said.row, bad.view.row])
        assert set(first) == true_labels(said.row)
        assert second == ()
        known = np.flatnonzero(learner.original[0] == 1)
        assert labels_on_map(learner, [0]) == (tuple(LABELS[column] for column in known),)
        assert not truth.hides_truth(learner)
        assert truth.known_places(learner) == []
    shown = answering.next_question(seat)
    with seat.learner() as opened:
        assert truth.true_answer(opened.learner, shown) is None
