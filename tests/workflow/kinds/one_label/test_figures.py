"""Counting, the queue's file and the figures of one label, each by its own function."""

from __future__ import annotations

import numpy as np
import pytest

from db import projects as stored
from tests.workflow.world import answer_next, small_project
from workflow import classes
from workflow.home import Home
from workflow.kinds.one_label import counting, progress, queue, reviewing, stopping
from workflow.seat import Seat


def test_the_log_is_folded_once_where_the_classes_have_changed(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    answer_next(home, owner, project)

    def count(kept: counting.Kept | None) -> tuple[int, int, counting.Kept | None]:
        with home.database.read() as session:
            found = stored.get(session, project)
            with seat.learner() as opened:
                settings = opened.learner.settings
            return counting.count(home, session, found, settings, kept)

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
    monkeypatch.setattr(queue, "SHOWN", 3)
    with Seat(home, owner, project).learner() as opened:
        view = queue.list_queue(opened, "")
        lines = list(queue.queue_lines(opened))
        assert not queue.has_blind_checks(opened.learner)
    assert len(view.rows) == 3
    assert view.matching == view.listed == len(lines) - 1 > 3
    assert lines[0] == ("place", "row", "row_id", "candidates", "score", "reason")
    assert [line[3] for line in lines[1:4]] == ["|".join(one.candidates) for one in view.rows]


def test_where_truth_is_held_out_the_rules_look_at_it(home: Home, owner: int) -> None:
    held_out = Seat(home, owner, small_project(home, owner))
    checks = Seat(home, owner, small_project(home, owner, "checks", test_share=0.0, control_share=0.4))
    for seat, by_truth in ((held_out, True), (checks, False)):
        with seat.learner() as opened:
            view = stopping.stop_view(opened.learner, stopping.DEFAULT_RULES)
            assert view.by_truth == by_truth
            assert stopping.share_settled(opened.learner) == opened.learner.progress().settled
    with checks.learner() as opened:
        value = stopping.control_estimate(opened.learner, [opened.learner.progress().control]).value
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
