"""Which rows may be shown beside a question: decided ones, no blind check among them."""

from __future__ import annotations

from tests.workflow.text_world import text_frame, text_project
from tests.workflow.world import opened
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home


def test_rows_with_one_label_left_are_shown(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.0, test_share=0.0)
    seat, rows = Seat(home, owner, project), []
    for kind in ("is", "bad", "is"):
        question = loop.next_question(seat)
        truth = text_frame()["truth"][question.view.row]
        loop.submit_answer(seat, question.token, kind, [truth] if kind == "is" else [])
        rows.append((question.view.row, truth))
    with opened(home, owner, project) as learner:
        mask = learner.pool.shown_to_all()
        assert sorted(mask.nonzero()[0].tolist()) == sorted([rows[0][0], rows[2][0]])
        assert learner.pool.answered_labels(rows[0][0]) == (rows[0][1],)
        mask[:] = True
        assert learner.pool.shown_to_all().sum() == 2, "the array is the caller's own"
