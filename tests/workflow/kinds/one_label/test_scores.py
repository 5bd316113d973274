"""Scores that came with candidates, as answers leave them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from plcore import LabelTable, LearnerSettings, Roles
from workflow.answering import loop
from workflow.kinds.one_label.rows import scores_given
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home


def project(home: Home, owner: int) -> Seat:
    cells = {
        "c": ["wren:3|robin:1", "wren:1|robin:2", "robin:2|tit:1", "tit:1"] * 3,
        "t": ["wren", "", "", ""] * 3,
        "x": np.arange(12.0),
    }
    roles = Roles(candidates="c", form="weighted", truth="t", numbers=("x",))
    settings = LearnerSettings(n_neighbors=2, truth_role="given", test_share=0.0, control_share=0.0)
    table = LabelTable.from_frame(pd.DataFrame(cells), roles)
    return Seat(home, owner, managing.create_project(Seat(home, owner), "birds", table, settings))


def test_true_labels_of_the_file_count_and_what_is_open_does_not(home: Home, owner: int) -> None:
    seat = project(home, owner)
    with seat.learner() as opened:
        found = scores_given(opened.learner)
    assert found is not None
    first = found.rows == 0
    assert found.verdicts[first].tolist() == [0, 1]  # robin, wren
    assert found.scores[first].tolist() == [1, 3]
    assert (found.verdicts[~np.isin(found.rows, (0, 4, 8))] == -1).all()


def test_scores_follow_a_class_that_is_renamed(home: Home, owner: int) -> None:
    seat = project(home, owner)
    question = loop.ask_next(seat, 1)
    loop.submit_answer(seat, question.token, "is", ["wren"])
    classes.change_classes(seat, classes.classes_view(seat).version, "rename", ["wren", "Zaunkönig"])
    with seat.learner() as opened:
        found, names = scores_given(opened.learner), opened.learner.classes
    assert found is not None
    row = found.rows == 1
    said = dict(zip((names[k] for k in found.labels[row]), found.verdicts[row].tolist(), strict=True))
    assert said == {"robin": 0, "Zaunkönig": 1}
