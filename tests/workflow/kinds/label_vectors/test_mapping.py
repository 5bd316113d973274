"""How rows of label vectors stand on the map; and no table of them hides a truth."""

from __future__ import annotations

import numpy as np
import pytest

from tests.workflow.vector_world import LABELS, answer_truly, true_labels, vector_project
from workflow.answering import loop, oracle
from workflow.kinds.label_vectors.rows import label_to_ask, named_on_map
from workflow.seat import Seat
from workflow.server.home import Home


def test_answered_and_open_rows_and_the_labels_that_are_right(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="instance"))
    said = answer_truly(home, owner, seat.project_id)
    bad = loop.next_question(seat)
    assert bad is not None
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = learner.pool.answered_rows, learner.pool.open_rows
        assert answered[said.row]
        assert not still_open[[said.row, bad.view.row]].any()
        assert still_open.sum() == learner.pool.n_open
        first, second = learner.pool.labels_shown([said.row, bad.view.row])
        assert set(first) == true_labels(said.row)
        assert second == ()
        known = np.flatnonzero(learner.original[0] == 1)
        assert learner.pool.labels_shown([0]) == (tuple(LABELS[column] for column in known),)
        assert opened.kind.HIDDEN_TRUTH is None
    assert not oracle.can_answer(seat)
    with pytest.raises(oracle.NoTruth):
        oracle.answer_for_me(seat, 1)


def test_a_row_is_named_by_what_is_right_else_by_what_the_model_says(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell"))
    bad = loop.next_question(seat)
    assert bad is not None
    loop.submit_answer(seat, bad.token, "bad")
    seat.settle()
    with seat.learner() as opened:
        learner = opened.learner
        rows = np.arange(learner.table.n_rows)
        named, cells = named_on_map(learner, rows.tolist()), learner.cells
        shares, threshold = learner.shares_of(rows)
        for row in rows.tolist():
            right, unknown = np.flatnonzero(cells[row] == 1), cells[row] < 0
            if row == bad.view.row:
                assert (named.classes[row], named.known[row]) == (-1, False)
                assert np.isnan(named.doubt[row])
                continue
            if len(right):
                assert (named.classes[row], named.known[row]) == (right[0], True)
            else:
                likely = np.where(unknown, shares[row], 0.0)
                says = likely.max() > threshold
                assert named.classes[row] == (likely.argmax() if says else -1)
                assert not named.known[row]
            wrong = np.minimum(shares[row], 1 - shares[row])[unknown]
            np.testing.assert_equal(named.doubt[row], wrong.max() if len(wrong) else np.nan)


def test_the_open_label_in_doubt_most_is_asked_and_no_blind_check(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell", control_share=0.4))
    with seat.learner() as opened:
        learner = opened.learner
        free = learner.pool.open & ~learner.pool.control_cells
        assert (learner.pool.open & learner.pool.control_cells).any()
        for row in range(learner.table.n_rows):
            label = label_to_ask(learner, row)
            if label is None:
                assert not free[row].any()
                continue
            assert free[row, LABELS.index(label)]
            if (told := learner.shares_of(np.array([row]))) is not None:
                far = np.abs(told[0][0] - told[1])
                assert far[LABELS.index(label)] == far[free[row]].min()
    whole = Seat(home, owner, vector_project(home, owner, "rows", question="instance"))
    with whole.learner() as opened:
        row = int(np.flatnonzero(opened.learner.pool.open.any(axis=1))[0])
        assert label_to_ask(opened.learner, row) is None
