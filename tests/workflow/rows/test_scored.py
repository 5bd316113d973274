"""The scores of a file against answers: by label, by score, and rows drawn to look at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, LearnerSettings, Roles
from tests.workflow.world import annotator, small_project
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.kinds.one_label.rows import scores_given
from workflow.projects import managing
from workflow.rows import reviewing
from workflow.rows.reviewing import BINS
from workflow.seat import Seat
from workflow.server.home import Home

WEIGHTED = [
    "wren:0.9|robin:0.1", "wren:0.8|robin:0.2", "robin:0.9|wren:0.3", "wren:0.6|tit:0.4", "tit:0.7|robin:0.2",
]  # fmt: skip


def detections(home: Home, owner: int, **settings: object) -> int:
    frame = pd.DataFrame({"c": WEIGHTED * 4, "x": np.arange(20.0)})
    table = LabelTable.from_frame(frame, Roles(candidates="c", form="weighted", numbers=("x",)))
    learner = LearnerSettings(n_neighbors=3, **{"control_share": 0.0} | settings)  # type: ignore[arg-type]
    return managing.create_project(Seat(home, owner), "birds", table, learner)


def say(seat: Seat, row: int, *labels: str, kind: str = "is") -> None:
    question = loop.ask_next(seat, row)
    loop.submit_answer(seat, question.token, kind, labels)


def test_shares_are_counted_by_label_from_a_score_on(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    say(seat, 0, "wren")
    say(seat, 1, "robin")
    say(seat, 2, "robin")
    say(seat, 5, "wren")
    view = reviewing.scores(seat, 0.7)
    assert view is not None
    assert [line.label for line in view.lines] == ["wren", "robin", "tit"]
    assert view.highest == 0.9
    seen = {line.label: (line.seen.scored, line.seen.looked_at, line.seen.right) for line in view.lines}
    assert seen == {"wren": (8, 3, 2), "robin": (4, 1, 1), "tit": (4, 0, 0)}
    assert (view.total.seen.scored, view.total.seen.looked_at, view.total.seen.right) == (16, 4, 3)
    assert view.total.drawn.looked_at == 0
    bins = reviewing.scores(seat, 0.7, "wren")
    assert bins is not None
    assert [(one.looked_at, one.right) for one in bins.bins if one.looked_at] == [(1, 0), (1, 0), (2, 2)]
    assert len(bins.bins) == BINS
    assert bins.edges[-1] == 0.9
    with pytest.raises(ValueError, match="heron"):
        reviewing.scores(seat, 0.7, "heron")


def test_rows_set_aside_and_skipped_say_nothing_and_undo_takes_back(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    say(seat, 0, kind="bad")
    say(seat, 1, "wren", kind="not")
    view = reviewing.scores(seat, 0.7)
    assert view is not None
    assert (view.total.seen.looked_at, view.total.seen.right) == (1, 0)


def test_blind_checks_stand_for_all_and_are_never_chosen(home: Home, owner: int) -> None:
    project = detections(home, owner, control_share=0.5)
    seat = Seat(home, owner, project)
    with seat.learner() as opened:
        drawn = set(np.flatnonzero(opened.learner.pool.control_rows).tolist())
        found = scores_given(opened.learner)
    assert found is not None
    assert drawn == set(found.rows[found.drawn].tolist())
    asked = {reviewing.ask_scored(seat, 0.0, "wren").view.row for _ in range(12)}
    assert asked
    assert not asked & drawn


def test_only_rows_of_the_label_from_the_score_on_are_drawn(home: Home, owner: int) -> None:
    seat = Seat(home, owner, detections(home, owner))
    asked = {reviewing.ask_scored(seat, 0.85, "wren").view.row for _ in range(20)}
    assert asked <= {0, 5, 10, 15}
    assert len(asked) > 1
    for row in (0, 5, 10, 15):
        say(seat, row, "wren")
    with pytest.raises(reviewing.AnswerError, match="No row with wren from this score on is left"):
        reviewing.ask_scored(seat, 0.85, "wren")


def test_a_table_without_scores_has_none_and_annotators_see_none(home: Home, owner: int) -> None:
    plain = small_project(home, owner)
    assert reviewing.scores(Seat(home, owner, plain), 0.5) is None
    with pytest.raises(reviewing.AnswerError, match="came without scores"):
        reviewing.ask_scored(Seat(home, owner, plain), 0.5, "ant")
    ben = annotator(home, owner, "Ben")
    with pytest.raises(NotAllowed):
        reviewing.scores(Seat(home, ben, plain), 0.5)
