"""How far a project of label vectors is, as Home tells it without a learner: the same as the learner knows it."""

from __future__ import annotations

import numpy as np
import pytest
from sqlalchemy.orm import Session

from db import answers
from tests.workflow.vector_world import LABELS, answer_truly, vector_project
from tests.workflow.world import counts_agreed, opened
from workflow.answering import loop, undoing
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.mark.parametrize("question", ["instance", "cell"])
@pytest.mark.parametrize(
    ("seed", "control_share"), [(0, 0.0), pytest.param(1, 0.0, marks=pytest.mark.slow), (2, 0.3)]
)
def test_every_page_counts_the_same(
    home: Home, owner: int, question: str, seed: int, control_share: float
) -> None:
    """Answers, bad items, rows brought back, known labels said anew, undo and redo."""
    project = vector_project(home, owner, question=question, refresh_every=1000, control_share=control_share)
    random = np.random.default_rng(seed)
    for _ in range(60):
        luck, asked = random.random(), loop.next_question(Seat(home, owner, project))
        if asked is None:
            break
        if luck < 0.15:
            loop.submit_answer(Seat(home, owner, project), asked.token, str(random.choice(["bad", "skip"])))
        elif luck < 0.35:
            undoing.undo(Seat(home, owner, project))
        elif luck < 0.45:
            undoing.redo(Seat(home, owner, project))
        elif question == "instance" and luck < 0.6:  # also of labels that were known at import
            some = [label for label in LABELS if random.random() < 0.5]
            loop.submit_answer(Seat(home, owner, project), asked.token, "labels", some)
        else:
            answer_truly(home, owner, project, asked)
        counts_agreed(home, owner, project)


def test_labels_of_a_bad_row_are_neither_answered_nor_open(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell")
    _, left = counts_agreed(home, owner, project)
    answer_truly(home, owner, project)
    asked = loop.next_question(Seat(home, owner, project))
    assert asked is not None
    with opened(home, owner, project) as learner:
        out = int(learner.pool.open[asked.view.row].sum())
    loop.submit_answer(Seat(home, owner, project), asked.token, "bad")
    assert counts_agreed(home, owner, project) == (1, left - 1 - out)


def test_a_project_of_bad_items_is_finished(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.2)
    while (asked := loop.next_question(Seat(home, owner, project))) is not None:
        loop.submit_answer(Seat(home, owner, project), asked.token, "bad")
    summary = managing.get_project(Seat(home, owner, project))
    assert (summary.answered, summary.left) == (0, 0)


def test_a_log_is_read_again_only_where_it_has_grown(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = vector_project(home, owner), vector_project(home, owner, "others", question="instance")
    read, calls = answers.answers_of, []

    def counting(
        session: Session, project: int, answers: tuple[str, ...], without: tuple[int, ...] = ()
    ) -> list[tuple[int, str, tuple[str, ...]]]:
        calls.append(project)
        return read(session, project, answers, without)

    monkeypatch.setattr(answers, "answers_of", counting)
    for _ in range(2):
        managing.list_projects(Seat(home, owner))
    assert sorted(calls) == [first, second]
    calls.clear()
    answer_truly(home, owner, first)
    answer_truly(home, owner, second)
    for _ in range(3):
        for project in (first, second):
            counts_agreed(home, owner, project)
    assert calls == [first, second]
    undoing.undo(Seat(home, owner, second))
    counts_agreed(home, owner, second)
    assert calls == [first, second, second]
