"""Figures about a project of label vectors."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from sqlalchemy.orm import Session

from db import answers, entries
from db import projects as stored
from plcore import LabelTable
from plcore.loop.label_vectors import export
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.stopping import StopRules
from tests.present import present
from tests.workflow.vector_world import LABELS, ROLES, answer_truly, vector_frame, vector_project
from tests.workflow.world import annotator, counts_agreed, exported, exported_cells, opened
from workflow.answering import loop, undoing
from workflow.kinds import stop_rules
from workflow.kinds.label_vectors import answering, exporting, progress, reviewing, rows
from workflow.kinds.label_vectors.exporting import describe_figures, describe_predictions, describe_question
from workflow.kinds.label_vectors.progress import glance
from workflow.people import aside
from workflow.projects import managing, standing
from workflow.projects import progress as projects_progress
from workflow.projects.figures import F1, Glance
from workflow.projects.progress import at_a_glance, read_progress
from workflow.rows import reviewing as rows_reviewing
from workflow.rows.finding import QueueSearch
from workflow.seat import Seat
from workflow.server.home import Home

# The queue, the files, the counts and the figures of label vectors, each by its own function


@pytest.fixture(params=["instance", "cell", "diagnosis"])
def figures_seat(request: pytest.FixtureRequest, home: Home, owner: int) -> Seat:
    made = Seat(home, owner, vector_project(home, owner, question=request.param, refresh_every=1))
    for _ in range(3):
        answer_truly(home, owner, made.project_id)
    made.settle()
    return made


def test_counts_by_log_match_pool(figures_seat: Seat) -> None:
    with figures_seat.learner() as opened:
        project = stored.get(opened.session, opened.project_id)
        found = progress.count(opened.home, opened.session, project, opened.learner.settings, None)
        assert found == (opened.learner.pool.n_answered, opened.learner.pool.n_open, None)


def test_queue_is_paged_and_searched_in_full(figures_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SHOWN", 3)
    with figures_seat.learner() as opened:
        view, lines = rows.list_queue(opened, QueueSearch()), list(rows.queue_lines(opened))
        pages = [rows.list_queue(opened, QueueSearch(page=at)) for at in range(-(-view.listed // 3))]
        assert rows.list_queue(opened, QueueSearch(page=99)) == pages[-1]
        assert not opened.learner.pool.blind_rows.any()
        by_row, learner = opened.learner.settings.by_row, opened.learner
        assert (view.by_row, view.criterion) == (by_row, learner.settings.asked_by)
        assert len(view.rows) == 3
        assert view.matching == view.listed == len(lines) - 1 == learner.pool.open.any(axis=1).sum()
        for one in view.rows:
            assert one.unknown == (learner.cells[one.row] < 0).sum()
            assert (one.label is None) == (one.probability is None) == by_row
    assert [line[2] for line in lines[1:]] == [one.row_id for page in pages for one in page.rows]


def test_wide_and_long_exports_agree(figures_seat: Seat) -> None:
    with figures_seat.learner() as opened:
        cells = opened.learner.cells
        sources = exporting.snapshot(opened).sources()
    wide, long = (
        f(figures_seat.home, figures_seat.person_id, figures_seat.project_id) for f in (exported, exported_cells)
    )
    words = np.where(cells < 0, "", cells.astype(str))
    np.testing.assert_array_equal(wide[list(LABELS)].to_numpy(), words)
    assert len(long) == cells.size == sum(sources.values())
    np.testing.assert_array_equal(long["value"].to_numpy().reshape(cells.shape), words)
    for label in LABELS:
        part = long[long["label"] == label]
        assert part["source"].tolist() == wide[f"winnow_source:{label}"].tolist()
        assert part["probability"].tolist() == wide[f"winnow_probability:{label}"].tolist()


def test_figures_of_page_match_learner(figures_seat: Seat) -> None:
    with figures_seat.learner() as opened:
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


def test_curve_ends_with_current_model_after_exclusion(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question="cell", overlap=2))
    ada = annotator(home, owner, "Ada")
    for person, times in ((owner, 4), (ada, 9)):
        for _ in range(times):
            answer_truly(home, person, seat.project_id)
    seat.settle()
    before = read_progress(seat).curve.model_version[-1]
    aside.set_aside(seat, ada)
    read_progress(seat)  # builds the learner again, and begins its fit
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


def test_before_first_fit_every_label_is_known_or_open(home: Home, owner: int) -> None:
    with Seat(home, owner, vector_project(home, owner)).learner() as opened:
        learner = type(opened.learner)(opened.learner.table, opened.learner.settings)
    assert learner.share_settled == 1 - learner.pool.open.sum() / learner.pool.n_holes
    assert not learner.curve


def test_prediction_of_each_label_is_logged(figures_seat: Seat) -> None:
    with figures_seat.learner() as opened:
        log = entries.after(opened.session, opened.project_id, 0)
        last = log[-1]
        row = reviewing.open_row(opened, last.row)
        free = answering.forgettable(opened, last.row)
        still = answering.still_counting(opened.learner.pool, last.row, opened.learner.pool.fold.entries(last.row))
    said = answering.model_said(last)
    assert set(said) <= set(last.labels)
    assert set(said.values()) <= {"yes", "no"}
    assert {one.label for one in row.labels if one.may_forget} == set(free)
    assert set(last.labels) <= set(free)
    assert last.seq in still


@pytest.mark.parametrize("model", ["automatic", "bmlcs", "onevsall"])
def test_progress_names_predicting_model_and_reason(home: Home, owner: int, model: str) -> None:
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


# Progress of a project of label vectors: Home shows it without a learner, with the same numbers as the learner


def test_labels_of_bad_row_are_neither_answered_nor_open(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell")
    _, left = counts_agreed(home, owner, project)
    answer_truly(home, owner, project)
    asked = present(loop.next_question(Seat(home, owner, project)))
    with opened(home, owner, project) as learner:
        out = int(learner.pool.open[asked.view.row].sum())
    loop.submit_answer(Seat(home, owner, project), asked.token, "bad")
    assert counts_agreed(home, owner, project) == (1, left - 1 - out)


def test_project_of_bad_items_is_finished(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="cell", control_share=0.2)
    while (asked := loop.next_question(Seat(home, owner, project))) is not None:
        loop.submit_answer(Seat(home, owner, project), asked.token, "bad")
    summary = managing.get_project(Seat(home, owner, project))
    assert (summary.answered, summary.left) == (0, 0)


def test_log_is_recounted_only_if_it_has_grown(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
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


# Label vectors have no scores to judge


def test_label_vectors_have_no_score_review(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with seat.learner() as opened:
        assert opened.kind.SCORES is None
    assert rows_reviewing.scores(seat, 0.5) is None


# Stop rules of label vectors: they count labels, look at F1, and speak from the first answer on


def verdicts(home: Home, owner: int, project: int) -> dict[str, tuple[bool, str]]:
    view = projects_progress.stop_view(Seat(home, owner, project))
    return {one.rule: (one.reached, one.words) for one in view.verdicts}


def test_default_stop_rule_is_reached_only_at_end(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance")
    assert projects_progress.stop_view(Seat(home, owner, project)).rules == StopRules(flat_within=None)
    reached, words = verdicts(home, owner, project)["settled"]
    assert not reached
    assert words.endswith("% of the empty labels are known or sure; the rule waits for 100%.")
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_truly(home, owner, project)
    assert verdicts(home, owner, project) == {"settled": (True, "No label is open any more.")}


def test_settled_share_matches_stop_rule(home: Home, owner: int) -> None:
    """The share known or confident: one figure, from the first model to the end."""
    project = vector_project(home, owner, question="cell", refresh_every=4)
    seen = []
    for _ in range(9):
        loop.next_question(Seat(home, owner, project))
        home.shelf.settle(project)
        settled = standing.standing(Seat(home, owner, project)).settled
        assert projects_progress.read_progress(Seat(home, owner, project)).settled == settled
        words = verdicts(home, owner, project)["settled"][1]
        assert words.startswith(f"{np.floor(settled * 100):g}% of the empty labels are known or sure")
        seen.append(settled)
        answer_truly(home, owner, project)
    assert seen[0] > 0, "nothing is answered yet, and the model is sure of something"
    assert len(set(seen)) == 3, "it moves where a model was fitted"
    while (asked := loop.next_question(Seat(home, owner, project))) is not None:
        answer_truly(home, owner, project, asked)
    assert standing.standing(Seat(home, owner, project)).settled == 1.0


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_budget_counts_labels_before_first_model(home: Home, owner: int, question: str) -> None:
    project = vector_project(home, owner, question=question, refresh_every=1000)
    rules = StopRules(settled=None, flat_within=None, budget=6)
    projects_progress.change_stop_rules(Seat(home, owner, project), rules)
    given = 0
    while given < 6:
        assert verdicts(home, owner, project)["budget"] == (False, f"{given} of 6 labels are answered.")
        assert standing.standing(Seat(home, owner, project)).stop == ""
        asked = present(loop.next_question(Seat(home, owner, project)))
        given += 1 if asked.label is not None else sum(line.cell < 0 for line in asked.lines)
        answer_truly(home, owner, project, asked)
    words = f"{given} of 6 labels are answered."
    assert verdicts(home, owner, project)["budget"] == (True, words)
    assert standing.standing(Seat(home, owner, project)).stop == words
    assert projects_progress.read_progress(Seat(home, owner, project)).stop.reached[0].words == words
    assert loop.next_question(Seat(home, owner, project)) is not None, "asking goes on if it is wanted"
    undoing.undo(Seat(home, owner, project))
    assert not verdicts(home, owner, project)["budget"][0]


def large_project(home: Home, owner: int, **settings: object) -> int:
    table = LabelTable.from_cells(vector_frame(150, full=110), ROLES)
    made = LabelVectorSettings(**{"refresh_every": 4, **settings})  # type: ignore[arg-type]
    return managing.create_project(Seat(home, owner), "large", table, made)


def test_flat_rule_uses_held_out_rows(home: Home, owner: int) -> None:
    project = large_project(home, owner)
    projects_progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 1.0, 8))
    assert projects_progress.stop_view(Seat(home, owner, project)).by_truth
    assert verdicts(home, owner, project)["flat"] == (False, "The rule looks at the latest 8 labels; 0 are answered.")
    for _ in range(12):
        say_yes(home, owner, project)
        home.shelf.settle(project)
    reached, words = verdicts(home, owner, project)["flat"]
    assert reached
    with opened(home, owner, project) as learner:
        points = [point for point in learner.curve if point.yes + point.no >= 4]
        f1 = [point.held_out.micro_f1.value for point in points if point.held_out is not None]
    moved = f"{100 * np.ptp(f1):.1f}".removesuffix(".0")
    assert words.startswith(f"F1 moved by {moved} point")


def say_yes(home: Home, owner: int, project: int) -> None:
    """Answer yes to everything: only the curve matters here."""
    asked = present(loop.next_question(Seat(home, owner, project)))
    loop.submit_answer(Seat(home, owner, project), asked.token, "yes")


@pytest.mark.parametrize(("test_share", "control_share"), [(0.5, 0.0), (0.0, 0.5)], ids=["held-out rows", "checks"])
def test_weakest_labels_are_measured_on_cells_never_learnt(
    home: Home, owner: int, test_share: float, control_share: float
) -> None:
    project = large_project(home, owner, test_share=test_share, control_share=control_share)
    while (asked := loop.next_question(Seat(home, owner, project))) is not None:
        loop.submit_answer(Seat(home, owner, project), asked.token, "yes" if asked.view.row % 2 else "no")
    home.shelf.settle(project)
    found = projects_progress.read_progress(Seat(home, owner, project)).weakest
    with opened(home, owner, project) as learner:
        pool, (shares, threshold) = learner.pool, present(learner.shares_of(np.arange(len(learner.pool.cells))))
        apart = np.broadcast_to(pool.test_rows[:, None], pool.cells.shape)
        if control_share:
            apart = pool.control_cells & pool.answered & ~pool.bad[:, None]
        yes, said = (pool.cells == 1) & apart, (shares > threshold) & apart
        either, both = (yes | said).sum(axis=0), (yes & said).sum(axis=0)
        expected = {
            label: (rows, pytest.approx(2 * hits / (rows + hits)))
            for label, rows, hits in zip(learner.classes, either, both, strict=True)
            if rows >= 10 and hits < rows
        }
    assert expected
    assert {one.label: (one.rows, one.share) for one in found}.items() <= expected.items()
    assert len(found) == min(4, len(expected))
    assert [one.high for one in found] == sorted(one.high for one in found)


def test_flat_rule_uses_blind_labels_without_held_out_rows(home: Home, owner: int) -> None:
    project = large_project(home, owner, test_share=0.0, control_share=0.5)
    projects_progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 0.5, 3))
    view = projects_progress.stop_view(Seat(home, owner, project))
    assert not view.by_truth
    assert view.verdicts[0].words == "F1 is measured on 0 blind labels so far; the rule needs 30."
    projects_progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 0.5, 24))
    for _ in range(15):  # fits may follow each fourth answer that trains
        for _ in range(4):
            say_yes(home, owner, project)
        home.shelf.settle(project)
    with opened(home, owner, project) as learner:
        given, curve = learner.pool.counts["yes"], learner.curve
    begun = max(place for place, point in enumerate(curve) if point.yes <= curve[-1].yes - 24)
    latest = curve[begun:]
    assert given == 60
    assert len(latest) >= 3
    assert curve[-1].control.cells >= 30
    f1 = [point.control.f1.value for point in latest if point.control.f1 is not None]
    moved = f"{100 * np.ptp(f1):.1f}".removesuffix(".0")
    reached, words = verdicts(home, owner, project)["flat"]
    assert reached
    assert words.startswith(f"F1 moved by {moved} point")


# API data of a project of label vectors


SAID = {1: True, 0: False, -1: None}


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, vector_project(home, owner))


def test_question_tells_which_labels_are_known(there: Seat) -> None:
    shown = loop.next_question(there)
    told = describe_question(shown)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [(one["label"], one["known"]) for one in told["choices"]] == [
        (line.label, SAID[line.cell]) for line in shown.lines
    ]
    assert (told["token"], told["shown"], told["label"]) == (shown.token, shown.shown, shown.label)


@pytest.mark.parametrize(("question", "fit"), [("instance", ["labels"]), ("cell", ["yes", "no"])])
def test_question_lists_its_allowed_answers(home: Home, owner: int, question: str, fit: list[str]) -> None:
    seat = Seat(home, owner, vector_project(home, owner, question=question))
    assert describe_question(loop.next_question(seat))["answers"] == [*fit, "unsure", "bad", "skip"]


def test_figures_report_f1(there: Seat) -> None:
    for _ in range(3):
        answer_truly(there.home, there.person_id, there.project_id or 0)
    there.settle()
    view = projects_progress.read_progress(there)
    told = describe_figures(view)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert (told["measure"]["name"], told["measure"]["by"]) == ("F1", "test rows")
    assert told["measure"]["value"] == view.held_out.micro_f1.value
    blind = describe_figures(dataclasses.replace(view, n_test=0))
    assert [one["value"] for one in blind["curve"]] == [
        None if value != value else value for value in view.curve.control.value
    ]


def test_predictions_list_known_and_predicted_labels(there: Seat) -> None:
    answer_truly(there.home, there.person_id, there.project_id or 0)
    there.settle()
    with there.learner() as opened:
        found = opened.learner.export_cells()
        told = describe_predictions(opened, range(opened.learner.table.n_rows))
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        for row, one in enumerate(told):
            assert (one["row"], one["row_id"]) == (row, found.ids[row])
            for column, share in enumerate(one["shares"]):
                cell = found.cells[row, column]
                assert share["label"] == found.labels[column]
                assert share["value"] == SAID[int(cell if cell >= 0 else found.predicted[row, column])]
        assert describe_predictions(opened, [5, 2])[1] == told[2]


def test_page_of_predictions_computes_its_rows_only(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    there.settle()
    made: list[int] = []
    real = export.LabelVectorExport
    monkeypatch.setattr(export, "LabelVectorExport", lambda *parts: made.append(len(parts[0])) or real(*parts))
    with there.learner() as opened:
        describe_predictions(opened, range(3))
    assert made == [3]


# At a glance a project of label vectors shows its F1, as its Progress page does


def glance_of(seat: Seat) -> Glance:
    with seat.learner() as opened:
        assert opened.kind.glance is glance
        return glance(opened.learner, stop_rules(opened.project))


def test_glance_matches_progress(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    answer_truly(home, owner, seat.project_id or 0)
    home.shelf.settle(seat.project_id or 0)
    view = projects_progress.read_progress(seat)
    seen = glance_of(seat)
    assert (seen.what, seen.measured) == (F1, view.n_test)
    assert view.held_out is not None
    assert seen.curve[-1] == pytest.approx(view.held_out.micro_f1.value, abs=1e-4)
    assert seen.interval == pytest.approx((view.held_out.micro_f1.low, view.held_out.micro_f1.high), abs=1e-4)
    assert seen.lows == pytest.approx(view.curve.micro_f1.low, abs=1e-4), "each point with its own"
    assert seen.highs == pytest.approx(view.curve.micro_f1.high, abs=1e-4)
    assert seen.more is None
