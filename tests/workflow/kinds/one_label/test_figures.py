"""Figures about a project with one label per row."""

from __future__ import annotations

import dataclasses
import gc
import json
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from db import projects as stored
from db import projects as stored_projects
from plcore import CurvePoint, LabelTable, LearnerSettings, Roles
from plcore.loop.one_label import OneLabelPool
from plcore.loop.stopping import StopRules
from tests.workflow.four import four_class_project
from tests.workflow.world import answer_next, counts_agreed, opened, small_project
from workflow.access import NotAllowed
from workflow.answering import loop, oracle, room, undoing
from workflow.kinds import stop_rules
from workflow.kinds.one_label import progress, reviewing, rows
from workflow.kinds.one_label.exporting import describe_figures, describe_predictions, describe_question
from workflow.kinds.one_label.progress import control_estimate, glance
from workflow.kinds.one_label.rows import scores_given
from workflow.kinds.one_label.showing import YesNo
from workflow.projects import classes, managing, standing
from workflow.projects import progress as projects_progress
from workflow.projects.classes import ClassError
from workflow.projects.figures import RIGHT, Glance, standing_points
from workflow.rows import reviewing as rows_reviewing
from workflow.rows.finding import QueueSearch
from workflow.seat import Seat
from workflow.server.home import Home

# Counting, the queue's file and the figures of one label, each by its own function


def test_log_is_counted_once_after_class_changes(home: Home, owner: int, project: int) -> None:
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


def test_queue_is_paged_and_searched_in_full(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "SHOWN", 3)
    with Seat(home, owner, project).learner() as opened:
        view = rows.list_queue(opened, QueueSearch())
        lines = list(rows.queue_lines(opened))
        pages = [rows.list_queue(opened, QueueSearch(page=at)) for at in range(-(-view.listed // 3))]
        beyond = rows.list_queue(opened, QueueSearch(page=99))
        assert not opened.learner.pool.blind_rows.any()
    assert len(view.rows) == 3
    assert view.matching == view.listed == len(lines) - 1 > 3
    assert lines[0] == ("place", "row", "row_id", "candidates", "score", "reason")
    assert [line[1] - 1 for line in lines[1:]] == [one.row for page in pages for one in page.rows]
    assert beyond == pages[-1]


def test_stop_rules_use_held_out_truth(home: Home, owner: int) -> None:
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


def test_confusion_counts_agreeing_answers() -> None:
    found = progress.Confusion(("a", "b"), np.array([[3, 1], [0, 2]]))
    assert (found.total, found.agreed) == (6, 5)


def test_opened_row_shows_original_and_current_labels(home: Home, owner: int, project: int) -> None:
    saved = answer_next(home, owner, project)
    with Seat(home, owner, project).learner() as opened:
        row = reviewing.open_row(opened, saved.row)
    assert isinstance(row, reviewing.RowReview)
    assert row.candidates == saved.labels
    assert set(saved.labels) < set(row.imported)
    assert (row.out, row.may_correct, row.flagged) == (False, True, False)
    assert [line.after for line in row.history] == [saved.labels]


# Progress of a project of candidates: Home, Annotate and Progress show the same numbers after any actions


def correct(home: Home, owner: int, project: int, row: int, kind: str, labels: list[str]) -> None:
    opened = rows_reviewing.open_row(Seat(home, owner, project), row)
    rows_reviewing.correct(Seat(home, owner, project), row, opened.token, kind, labels)


def test_row_reopened_by_correction_is_not_answered(home: Home, owner: int, project: int) -> None:
    question = loop.next_question(Seat(home, owner, project))
    assert question is not None
    row, two = question.view.row, list(question.choices[:2])
    _, left = counts_agreed(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "is", two[:1])
    assert counts_agreed(home, owner, project) == (1, left - 1)
    correct(home, owner, project, row, "among", two)
    assert counts_agreed(home, owner, project) == (0, left)
    undoing.undo(Seat(home, owner, project))
    assert counts_agreed(home, owner, project) == (1, left - 1)


@pytest.mark.parametrize("put_away", [managing.archive_project, managing.bin_project])
def test_unloaded_project_keeps_only_counts(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch, put_away: Callable[[Home, int, int], None]
) -> None:
    made: list[weakref.ref[OneLabelPool[Any]]] = []

    class Watched(OneLabelPool[Any]):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            made.append(weakref.ref(self))

    monkeypatch.setattr(progress, "OneLabelPool", Watched)

    def kept() -> int:
        gc.collect()
        return sum(one() is not None for one in made)

    used, gone = (small_project(home, owner, name) for name in ("used", "gone"))
    for project in (used, gone):
        view = classes.classes_view(Seat(home, owner, project))
        classes.change_classes(Seat(home, owner, project), view.version, "add", ["dog"])
        answer_next(home, owner, project)
    before = {one.id: one.answered for one in managing.list_projects(Seat(home, owner))}
    assert before == {used: 1, gone: 1}
    assert kept() == 2
    put_away(Seat(home, owner, gone))
    managing.list_projects(Seat(home, owner))
    assert kept() == 1
    for _ in range(3):
        away = managing.put_away(Seat(home, owner))
        assert [one.answered for one in (*away.archived, *away.binned)] == [1]
        assert kept() == 1
    folded = len(made)
    managing.put_away(Seat(home, owner))
    assert len(made) == folded, "the counts of a log that does not grow are not made again"
    managing.restore_project(Seat(home, owner, gone))
    answer_next(home, owner, gone)
    assert managing.get_project(Seat(home, owner, gone)).answered == 2


@pytest.mark.parametrize("seed", [0, pytest.param(2, marks=pytest.mark.proof)])
def test_every_page_shows_same_counts_while_classes_change(home: Home, owner: int, seed: int) -> None:
    """Answers of every kind, corrections, undo and redo; classes added, merged, withdrawn."""
    project = small_project(home, owner, control_share=0.2)
    random = np.random.default_rng(seed)
    rows: list[int] = []
    told: list[int] = []
    for step in range(30):
        if random.random() < 0.25:
            view = classes.classes_view(Seat(home, owner, project))
            names = [one.name for one in view.classes]
            try:
                if len(names) < 3 or random.random() < 0.4:
                    classes.change_classes(Seat(home, owner, project), view.version, "add", [f"new{step}"])
                elif random.random() < 0.5 and view.latest:
                    classes.take_back(Seat(home, owner, project), view.version)
                else:
                    classes.change_classes(Seat(home, owner, project), view.version, "merge", names[:2])
            except ClassError:
                continue  # an answer names the class that would be removed
        luck, question = random.random(), loop.next_question(Seat(home, owner, project))
        if luck < 0.2:
            undoing.undo(Seat(home, owner, project))
        elif luck < 0.25:
            undoing.redo(Seat(home, owner, project))
        elif luck < 0.4 and rows:
            row = int(random.choice(rows))
            labels = rows_reviewing.open_row(Seat(home, owner, project), row).classes[:2]
            try:
                correct(home, owner, project, row, "among", list(labels))
            except (loop.AnswerError, NotAllowed):
                continue  # not among what the row may be; it was but skipped
        elif question is not None:
            kind = str(random.choice(["is", "among", "not", "bad", "skip", "unsure"]))
            labels = {"is": question.choices[:1], "not": question.choices[:1], "among": question.choices[:2]}
            loop.submit_answer(
                Seat(home, owner, project), question.token, kind, list(labels.get(kind, ())), shown=question.shown
            )
            rows.append(question.view.row)
        told.append(counts_agreed(home, owner, project)[0])
    assert max(told) > 0


# Scores that came with candidates, as answers leave them


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


def test_score_review_counts_known_rows_only(home: Home, owner: int) -> None:
    seat = project(home, owner)
    with seat.learner() as opened:
        found = scores_given(opened.learner)
    assert found is not None
    first = found.rows == 0
    assert found.verdicts[first].tolist() == [0, 1]  # robin, wren
    assert found.scores[first].tolist() == [1, 3]
    assert (found.verdicts[~np.isin(found.rows, (0, 4, 8))] == -1).all()


def test_scores_follow_renamed_class(home: Home, owner: int) -> None:
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


# The stop panel's rules: separate from the question settings, checked on the current project


def curve(*answers: int) -> list[CurvePoint]:
    return [CurvePoint(seq, n, None, 0.0, 0, seq) for seq, n in enumerate(answers)]


def seqs(points: list[CurvePoint]) -> list[int]:
    return [point.seq for point in points]


def test_withdrawn_answers_are_not_on_curve() -> None:
    assert seqs(standing_points(curve(0, 1, 2, 3))) == [0, 1, 2, 3]
    assert seqs(standing_points(curve(0, 1, 2, 1))) == [0, 3]
    assert seqs(standing_points(curve(0, 1, 2, 1, 2, 2))) == [0, 3, 5]
    assert seqs(standing_points(curve(0, 1, 0))) == [2]


def test_partial_curve_ends_like_whole_curve() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        walk = np.maximum(np.cumsum(rng.choice([1, 1, 1, -1, 2], size=rng.integers(1, 60))), 0)
        points = curve(*walk.tolist())
        whole = standing_points(points)
        over = int(rng.integers(1, 20))
        end = standing_points(points, over)
        assert end == whole[-len(end) :]
        assert end[0] is whole[0] or end[0].answers <= whole[-1].answers - over


def test_stop_rules_and_room_settings_are_stored_separately(home: Home, owner: int, project: int) -> None:
    assert projects_progress.stop_view(Seat(home, owner, project)).rules == StopRules()
    room.change_room(Seat(home, owner, project), room.RoomSettings(guidelines="Look twice."))
    rules = StopRules(settled=0.9, flat_within=None, budget=7)
    projects_progress.change_stop_rules(Seat(home, owner, project), rules)
    assert projects_progress.stop_view(Seat(home, owner, project)).rules == rules
    assert room.room_of(Seat(home, owner, project)).guidelines == "Look twice."
    room.change_room(Seat(home, owner, project), room.RoomSettings(guidelines="Once is enough."))
    assert projects_progress.stop_view(Seat(home, owner, project)).rules == rules, (
        "the room's settings leave the rules alone"
    )
    assert loop.next_question(Seat(home, owner, project)) is not None
    with home.database.read() as session:
        stored = stored_projects.get(session, project)
    assert set(stored.room) == set(room.RoomSettings().to_json()), "and the other way round"
    assert stored.stop_rules == rules.to_json()
    with pytest.raises(room.RoomError, match="no setting 'stop'"):
        room.RoomSettings.from_json({"stop": {}})


def test_budget_is_reached_and_asking_continues(home: Home, owner: int, project: int) -> None:
    projects_progress.change_stop_rules(Seat(home, owner, project), StopRules(settled=None, flat_within=None, budget=2))
    answer_next(home, owner, project)
    assert projects_progress.stop_view(Seat(home, owner, project)).reached == ()
    answer_next(home, owner, project)
    (reached,) = projects_progress.stop_view(Seat(home, owner, project)).reached
    assert (reached.rule, reached.words) == ("budget", "2 of 2 answers are given.")
    assert loop.next_question(Seat(home, owner, project)) is not None
    undoing.undo(Seat(home, owner, project))
    assert projects_progress.stop_view(Seat(home, owner, project)).reached == ()


def test_settled_rule_is_reached_at_end(home: Home, owner: int, project: int) -> None:
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_next(home, owner, project)
    view = projects_progress.stop_view(Seat(home, owner, project))
    assert "settled" in [one.rule for one in view.reached]
    assert view.by_truth


def test_without_truth_flat_rule_uses_controls(home: Home, owner: int) -> None:
    project = small_project(home, owner, "blind", test_share=0.0, control_share=0.4)
    view = projects_progress.stop_view(Seat(home, owner, project))
    assert not view.by_truth
    flat = next(one for one in view.verdicts if one.rule == "flat")
    with opened(home, owner, project) as learner:
        assert learner.progress().control.free
    assert flat.words == "Accuracy is measured on 0 rows so far; the rule needs 30.", "as no accuracy is shown yet"


def test_untrained_model_has_no_estimate(home: Home, owner: int) -> None:
    project = small_project(home, owner, "later", test_share=0.0, control_share=0.4, model="clpl", strategy="margin")
    with opened(home, owner, project) as learner:
        counts = [learner.progress().control]
        assert counts[0].free > 0
        assert np.isnan(control_estimate(learner, counts).value).all()


def test_card_shows_that_stop_rule_is_reached(home: Home, owner: int, project: int) -> None:
    rules = StopRules(settled=None, flat_within=None, budget=2)
    projects_progress.change_stop_rules(Seat(home, owner, project), rules)
    answer_next(home, owner, project)
    assert standing.standing(Seat(home, owner, project)).stop == ""
    answer_next(home, owner, project)
    assert standing.standing(Seat(home, owner, project)).stop == "2 of 2 answers are given."
    assert loop.next_question(Seat(home, owner, project)) is not None, "asking goes on if it is wanted"


def test_only_plknn_reports_proof(home: Home, owner: int, project: int) -> None:
    (settled, *_) = projects_progress.stop_view(Seat(home, owner, project)).verdicts
    assert "predictions are settled" in settled.words
    assert projects_progress.read_progress(Seat(home, owner, project)).has_proof
    for model, strategy in (("clpl", "margin"), ("clpl", "apl"), ("pegasos-max", "margin")):
        other = small_project(home, owner, f"{model} {strategy}", model=model, strategy=strategy)
        (settled, *_) = projects_progress.stop_view(Seat(home, owner, other)).verdicts
        assert settled.rule == "settled"
        assert "rows are decided" in settled.words
        assert not projects_progress.read_progress(Seat(home, owner, other)).has_proof


def test_controls_measure_nothing_before_first_model(home: Home, owner: int) -> None:
    """Otherwise rows with one candidate, without a prediction yet, would count as predicted wrong."""
    project = small_project(home, owner, "new", model="clpl", strategy="margin", test_share=0.0, control_share=0.5)
    for _ in range(6):
        answer_next(home, owner, project)
    view = projects_progress.read_progress(Seat(home, owner, project))
    assert not view.has_model
    assert view.control_asked + view.control_free > 0
    assert view.control is None
    assert view.control_interval == (0.0, 1.0)
    assert np.isnan(view.curve.control).all()


def test_budget_counts_answers_before_next_version(home: Home, owner: int) -> None:
    project = small_project(home, owner, "new", model="clpl", strategy="margin")
    projects_progress.change_stop_rules(Seat(home, owner, project), StopRules(settled=None, flat_within=None, budget=2))
    for _ in range(2):
        answer_next(home, owner, project)
    (budget,) = projects_progress.stop_view(Seat(home, owner, project)).verdicts
    assert (budget.words, budget.reached) == ("2 of 2 answers are given.", True)


# API data of a project of one true label


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def test_question_for_programs_has_choices_in_screen_order(there: Seat) -> None:
    shown = loop.next_question(there)
    told = describe_question(shown)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [one["label"] for one in told["choices"]] == [one.label for one in shown.candidates]
    assert sum(one["share"] for one in told["choices"]) == pytest.approx(1)
    assert (told["token"], told["shown"], told["label"], told["is_it"]) == (shown.token, shown.shown, None, None)
    assert told["answers"] == ["is", "among", "not", "none", "unsure", "bad", "skip"]
    asked = dataclasses.replace(shown, yes_no=YesNo("bee", ("bee",), "", 0.2))
    assert describe_question(asked)["is_it"] == ["bee"]


def test_figures_use_test_rows_if_available(there: Seat) -> None:
    oracle.answer_for_me(there, 5)
    view = projects_progress.read_progress(there)
    told = describe_figures(view)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert view.n_test
    assert told["measure"] == {
        "name": "accuracy",
        "by": "test rows",
        "value": view.accuracy,
        "low": view.interval[0],
        "high": view.interval[1],
    }
    assert told["labels"][0].keys() == {"label", "answered", "given"}
    blind = describe_figures(dataclasses.replace(view, n_test=0))
    assert blind["measure"] is None
    assert [one["value"] for one in blind["curve"]] == [None] * len(view.curve.answers)


def test_predictions_are_inside_candidates(there: Seat) -> None:
    oracle.answer_for_me(there, 5)
    with there.learner() as opened:
        learner = opened.learner
        told = describe_predictions(opened, range(learner.table.n_rows))
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        found, left = learner.disambiguate(), learner.candidates
        for row, one in enumerate(told):
            label = int(found.labels[row])
            assert one["label"] == (None if label < 0 else learner.classes[label])
            assert (one["row"], one["row_id"], one["source"]) == (row, learner.table.id_of(row), found.sources[row])
            inside = {learner.classes[place] for place in np.flatnonzero(left[row])}
            assert {share["label"] for share in one["shares"]} <= inside
            if not learner.test_rows[row]:
                assert sum(share["share"] for share in one["shares"]) == pytest.approx(1)
        assert describe_predictions(opened, [7, 3])[0] == told[7]
        assert describe_predictions(opened, []) == []


# At a glance a project of one true label shows the figure that leads its Progress page


def glance_of(seat: Seat) -> Glance:
    with seat.learner() as opened:
        assert opened.kind.glance is glance
        return glance(opened.learner, stop_rules(opened.project))


def test_glance_matches_progress_by_test_rows(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    for _ in range(3):
        answer_next(home, owner, seat.project_id or 0)
    seen, view = glance_of(seat), projects_progress.read_progress(seat)
    assert (seen.what, seen.measured, seen.seq) == (RIGHT, view.n_test, 3)
    assert seen.curve[-1] == pytest.approx(view.accuracy, abs=1e-4)
    assert seen.interval == pytest.approx(view.interval, abs=1e-4)
    assert seen.curve == pytest.approx(view.curve.accuracy, abs=1e-4)
    assert seen.lows == pytest.approx(view.curve.low, abs=1e-4), "each point with its own"
    assert seen.highs == pytest.approx(view.curve.high, abs=1e-4)
    assert (seen.goal, seen.reached) == (view.proof.goal, view.proof.reached)


def test_glance_matches_progress_by_blind_checks(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, test_share=0.0, control_share=0.4))
    assert glance_of(seat).measured == 0
    for _ in range(8):
        answer_next(home, owner, seat.project_id or 0)
    seen, view = glance_of(seat), projects_progress.read_progress(seat)
    assert seen.measured == view.control_asked > 0
    assert seen.curve[-1] == pytest.approx(view.control, abs=1e-4)
    assert seen.interval == pytest.approx(view.control_interval, abs=1e-4)
    known = ~np.isnan(view.curve.control)
    assert seen.lows == pytest.approx(view.curve.control_low[known], abs=1e-4)
    assert seen.highs == pytest.approx(view.curve.control_high[known], abs=1e-4)


def test_glance_shows_goal_of_owner(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner))
    projects_progress.change_stop_rules(seat, StopRules(goal=0.9))
    seen = glance_of(seat)
    assert seen.goal == 0.9
    assert not seen.reached
