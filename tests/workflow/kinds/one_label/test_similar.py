"""Which rows may be shown beside a question: decided ones, no blind check among them."""

from __future__ import annotations

from tests.workflow.text_world import text_frame, text_project
from tests.workflow.world import opened
from workflow import answering
from workflow.home import Home
from workflow.kinds.one_label.similar import answered_labels, shown_to_all
from workflow.seat import Seat


def test_rows_with_one_label_left_are_shown(home: Home, owner: int) -> None:
    project = text_project(home, owner, control_share=0.0, test_share=0.0)
    seat, rows = Seat(home, owner, project), []
    for kind in ("is", "bad", "is"):
        question = answering.next_question(seat)
        truth = text_frame()["truth"][question.view.row]
        answering.submit_answer(seat, question.token, kind, [truth] if kind == "is" else [])
        rows.append((question.view.row, truth))
    with opened(home, owner, project) as learner:
        mask = shown_to_all(learner)
        assert sorted(mask.nonzero()[0].tolist()) == sorted([rows[0][0], rows[2][0]])
        assert answered_labels(learner, rows[0][0]) == (rows[0][1],)
        mask[:] = True
        assert shown_to_all(learner).sum() == 2, "the array is the caller's own"
