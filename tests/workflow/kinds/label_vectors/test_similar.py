"""Which rows may be shown beside a question: those with a label that people said is right, blind checks left out."""

from __future__ import annotations

import numpy as np

from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import opened
from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import Home


def test_labels_said_to_be_right_are_shown_but_for_blind_checks(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance", control_share=0.3)
    checked = False
    while not checked:  # which row is asked about also goes by when a ranking in the background is ready
        answer_truly(home, owner, project, loop.next_question(Seat(home, owner, project)))
        with opened(home, owner, project) as learner:
            pool = learner.pool
            said = pool.answered & (pool.cells == 1)
            checked = bool((said & pool.control_cells).any())
    with opened(home, owner, project) as learner:
        pool = learner.pool
        said &= ~pool.control_cells
        assert learner.pool.shown_to_all().tolist() == said.any(axis=1).tolist()
        for row in np.flatnonzero(said.any(axis=1)).tolist():
            named = tuple(np.array(learner.classes)[said[row]])
            assert learner.pool.answered_labels(row) == named
