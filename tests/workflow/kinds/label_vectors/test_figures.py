"""The queue, the files, the counts and the figures of label vectors, each by its own function."""

from __future__ import annotations

import numpy as np
import pytest

from db import entries
from db import projects as stored
from tests.workflow.vector_world import LABELS, answer_truly, vector_project
from tests.workflow.world import annotator, exported, exported_cells
from workflow.kinds.label_vectors import answering, exporting, progress, reviewing, rows
from workflow.people import aside
from workflow.projects.progress import at_a_glance, read_progress
from workflow.seat import Seat
from workflow.server.home import Home


@pytest.fixture(params=["instance", "cell", "diagnosis"])
def seat(request: pytest.FixtureRequest, home: Home, owner: int) -> Seat:
    made = Seat(home, owner, vector_project(home, owner, question=request.param, refresh_every=1))
    for _ in range(3):
        answer_truly(home, owner, made.project_id)
    made.settle()
    return made


def test_the_counts_by_the_log_are_those_of_the_pool(seat: Seat) -> None:
    with seat.learner() as opened:
        project = stored.get(opened.session, opened.project_id)
        found = progress.count(opened.home, opened.session, project, opened.learner.settings, None)
        assert found == (opened.learner.pool.n_answered, opened.learner.pool.n_open, None)


def test_the_queue_shows_so_many_and_looks_through_all(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SHOWN", 3)
    with seat.learner() as opened:
        view, lines = rows.list_queue(opened, ""), list(rows.queue_lines(opened))
        assert not opened.learner.pool.blind_rows.any()
        by_row, learner = opened.learner.settings.by_row, opened.learner
        assert (view.by_row, view.criterion) == (by_row, learner.settings.asked_by)
        assert len(view.rows) == 3
        assert view.matching == view.listed == len(lines) - 1 == learner.pool.open.any(axis=1).sum()
        for one in view.rows:
            assert one.unknown == (learner.cells[one.row] < 0).sum()
            assert (one.label is None) == (one.probability is None) == by_row
    assert [line[2] for line in lines[1:4]] == [one.row_id for one in view.rows]


def test_wide_and_long_files_say_the_same(seat: Seat) -> None:
    with seat.learner() as opened:
        cells = opened.learner.cells
        sources = exporting.snapshot(opened).sources()
    wide, long = (f(seat.home, seat.person_id, seat.project_id) for f in (exported, exported_cells))
    words = np.where(cells < 0, "", cells.astype(str))
    np.testing.assert_array_equal(wide[list(LABELS)].to_numpy(), words)
    assert len(long) == cells.size == sum(sources.values())
    np.testing.assert_array_equal(long["value"].to_numpy().reshape(cells.shape), words)
    for label in LABELS:
        part = long[long["label"] == label]
        assert part["source"].tolist() == wide[f"winnow_source:{label}"].tolist()
        assert part["probability"].tolist() == wide[f"winnow_probability:{label}"].tolist()


def test_figures_of_the_page_are_those_of_the_learner(seat: Seat) -> None:
    with seat.learner() as opened:
        view = progress.read_progress(opened, progress.DEFAULT_RULES)
        learner = opened.learner
        assert view.settled == learner.share_settled
        assert view.by_row == learner.settings.by_row
        assert view.unasked == (learner.cells < 0).sum() - (learner.cells[learner.test_rows] < 0).sum()
        assert sum(one.answered for one in view.labels) == sum(learner.answers_per_label().values())
        assert view.stop.by_truth
        assert 0 < view.known < 1
        for band in (view.curve.macro_f1, view.curve.micro_f1, *view.curve.precision.values()):
            known = ~np.isnan(band.value)
            assert (band.low[known] <= band.value[known]).all()
            assert (band.value[known] <= band.high[known]).all()


def test_the_curve_ends_with_the_model_that_answers_once_somebody_is_set_aside(
    home: Home, owner: int
) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell", overlap=2))
    ada = annotator(home, owner, "Ada")
    for person, times in ((owner, 4), (ada, 9)):
        for _ in range(times):
            answer_truly(home, person, seat.project_id)
    seat.settle()
    before = read_progress(seat).curve.model_version[-1]
    aside.set_aside(seat, ada)
    read_progress(seat)  # builds the learner anew, and begins its fit
    seat.settle()
    view = read_progress(seat)
    assert view.held_out is not None
    with seat.learner() as opened:
        assert view.curve.model_version[-1] == opened.learner.version_published == 3 < before
    assert view.curve.micro_f1.value[-1] == view.held_out.micro_f1.value
    assert at_a_glance(seat)[opened.project_id].curve[-1] == round(view.held_out.micro_f1.value, 4)
    aside.count_again(seat, ada)
    read_progress(seat)
    seat.settle()
    assert read_progress(seat).curve.model_version[-1] == before


def test_before_the_first_fit_a_label_is_known_or_not(home: Home, owner: int) -> None:
    with Seat(home, owner, vector_project(home, owner)).learner() as opened:
        learner = type(opened.learner)(opened.learner.table, opened.learner.settings)
    assert learner.share_settled == 1 - learner.pool.open.sum() / learner.pool.n_holes
    assert not learner.curve


def test_what_the_model_said_of_each_label(seat: Seat) -> None:
    with seat.learner() as opened:
        log = entries.after(opened.session, opened.project_id, 0)
        last = log[-1]
        row = reviewing.open_row(opened, last.row)
        free = answering.forgettable(opened, last.row)
        still = answering.still_counting(
            opened.learner.pool, last.row, opened.learner.pool.fold.entries(last.row)
        )
    said = answering.model_said(last)
    assert set(said) <= set(last.labels)
    assert set(said.values()) <= {"yes", "no"}
    assert {one.label for one in row.labels if one.may_forget} == set(free)
    assert set(last.labels) <= set(free)
    assert last.seq in still


@pytest.mark.parametrize("model", ["automatic", "bmlcs", "onevsall"])
def test_which_model_predicts_and_why(home: Home, owner: int, model: str) -> None:
    made = Seat(home, owner, vector_project(home, owner, model=model, refresh_every=1))
    for _ in range(2):
        answer_truly(home, owner, made.project_id)
    made.settle()
    with made.learner() as opened:
        told = progress.read_progress(opened, progress.DEFAULT_RULES).predictor
        now, curve = opened.learner.progress(), opened.learner.curve
        assert told is not None
        assert {told.title, told.other} == {"BML-CS", "One-vs-all"}
        assert told.automatic is (model == "automatic")
        assert (told.title == "One-vs-all") is (now.predictor == "onevsall")
        if model != "automatic":
            assert now.predictor == model
            assert told.f1 is told.other_f1 is told.error is None
        elif now.comparison is not None:
            assert told.error == now.comparison.error
            assert (told.f1 or 0) - (told.other_f1 or 0) == pytest.approx(
                now.comparison.lead * (1 if now.predictor == "onevsall" else -1)
            )
        same = [point.answers for point in curve if point.predictor == now.predictor]
        assert told.since in same
        assert told.threshold == now.threshold
        before = type(opened.learner)(opened.learner.table, opened.learner.settings)
        assert progress._predictor(before, before.progress()) is None
