"""Counting, the queue's file and the figures of one label, each by its own function."""

from __future__ import annotations

import numpy as np
import pytest

from db import projects as stored
from tests.workflow.world import answer_next, small_project
from workflow.kinds.one_label import progress, reviewing, rows
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home


def test_the_log_is_folded_once_where_the_classes_have_changed(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)

    def count(kept: progress.Kept | None) -> tuple[int, int, progress.Kept | None]:
        with home.database.read() as session:
            found = stored.get(session, project)
            with seat.learner() as opened:
                settings = opened.learner.settings
            return progress.count(home, session, found, settings, kept)

    answered, left, kept = count(None)
    assert (answered, kept) == (1, None), "by the log's counts alone"
    classes.change_classes(seat, 0, "add", ["zebra"])
    *again, kept = count(None)
    assert again == [answered, left]
    assert kept is not None
    answer_next(home, owner, project)
    *now, same = count(kept)
    assert now == [2, left - 1]
    assert same is kept


def test_the_queue_shows_so_many_and_looks_through_all(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SHOWN", 3)
    with Seat(home, owner, project).learner() as opened:
        view = rows.list_queue(opened, "")
        lines = list(rows.queue_lines(opened))
        assert not opened.learner.pool.blind_rows.any()
    assert len(view.rows) == 3
    assert view.matching == view.listed == len(lines) - 1 > 3
    assert lines[0] == ("place", "row", "row_id", "candidates", "score", "reason")
    assert [line[3] for line in lines[1:4]] == ["|".join(one.candidates) for one in view.rows]


def test_where_truth_is_held_out_the_rules_look_at_it(home: Home, owner: int) -> None:
    held_out = Seat(home, owner, small_project(home, owner))
    checks = Seat(home, owner, small_project(home, owner, "checks", test_share=0.0, control_share=0.4))
    for seat, by_truth in ((held_out, True), (checks, False)):
        with seat.learner() as opened:
            view = progress.stop_view(opened.learner, progress.DEFAULT_RULES)
            assert view.by_truth == by_truth
            assert opened.learner.share_settled == opened.learner.progress().settled
    with checks.learner() as opened:
        value = progress.control_estimate(opened.learner, [opened.learner.progress().control]).value
        assert value.shape == (1,)


def test_a_confusion_counts_what_agreed() -> None:
    found = progress.Confusion(("a", "b"), np.array([[3, 1], [0, 2]]))
    assert (found.total, found.agreed) == (6, 5)


def test_a_row_is_opened_with_what_it_was_and_is(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with Seat(home, owner, project).learner() as opened:
        row = reviewing.open_row(opened, saved.row)
    assert isinstance(row, reviewing.RowReview)
    assert row.candidates == saved.labels
    assert set(saved.labels) < set(row.imported)
    assert (row.out, row.may_correct, row.flagged) == (False, True, False)
    assert [line.after for line in row.history] == [saved.labels]
