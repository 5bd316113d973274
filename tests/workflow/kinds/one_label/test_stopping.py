"""The stop panel's rules: kept apart from the room's settings, judged on the project as it stands."""

from __future__ import annotations

import numpy as np
import pytest

from db import projects as stored_projects
from plcore import CurvePoint
from plcore.loop.stopping import StopRules
from tests.workflow.world import annotator, answer_next, opened, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop, room, undoing
from workflow.kinds.one_label.progress import control_estimate
from workflow.projects import progress, standing
from workflow.projects.figures import standing_points
from workflow.seat import Seat
from workflow.server.home import Home


def curve(*answers: int) -> list[CurvePoint]:
    return [CurvePoint(seq, n, None, 0.0, 0, seq) for seq, n in enumerate(answers)]


def seqs(points: list[CurvePoint]) -> list[int]:
    return [point.seq for point in points]


def test_what_was_taken_back_is_not_on_the_curve() -> None:
    assert seqs(standing_points(curve(0, 1, 2, 3))) == [0, 1, 2, 3]
    assert seqs(standing_points(curve(0, 1, 2, 1))) == [0, 3]
    assert seqs(standing_points(curve(0, 1, 2, 1, 2, 2))) == [0, 3, 5]
    assert seqs(standing_points(curve(0, 1, 0))) == [2]


def test_the_end_of_the_curve_is_the_end_of_the_whole_curve() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        walk = np.maximum(np.cumsum(rng.choice([1, 1, 1, -1, 2], size=rng.integers(1, 60))), 0)
        points = curve(*walk.tolist())
        whole = standing_points(points)
        over = int(rng.integers(1, 20))
        end = standing_points(points, over)
        assert end == whole[-len(end) :]
        assert end[0] is whole[0] or end[0].answers <= whole[-1].answers - over


def test_rules_are_kept_beside_the_room(home: Home, owner: int, project: int) -> None:
    assert progress.stop_view(Seat(home, owner, project)).rules == StopRules()
    room.change_room(Seat(home, owner, project), room.RoomSettings(guidelines="Look twice."))
    rules = StopRules(settled=0.9, flat_within=None, budget=7)
    progress.change_stop_rules(Seat(home, owner, project), rules)
    assert progress.stop_view(Seat(home, owner, project)).rules == rules
    assert room.room_of(Seat(home, owner, project)).guidelines == "Look twice."
    room.change_room(Seat(home, owner, project), room.RoomSettings(guidelines="Once is enough."))
    assert progress.stop_view(Seat(home, owner, project)).rules == rules, (
        "the room's settings leave the rules alone"
    )
    assert loop.next_question(Seat(home, owner, project)) is not None
    with home.database.read() as session:
        stored = stored_projects.get(session, project)
    assert set(stored.room) == set(room.RoomSettings().to_json()), "and the other way round"
    assert stored.stop_rules == rules.to_json()
    with pytest.raises(room.RoomError, match="no setting 'stop'"):
        room.RoomSettings.from_json({"stop": {}})


def test_only_the_owner_sets_rules(home: Home, owner: int, project: int) -> None:
    ada = annotator(home, owner, "Ada")
    with pytest.raises(NotAllowed):
        progress.change_stop_rules(Seat(home, ada, project), StopRules(budget=1))
    assert progress.stop_view(Seat(home, ada, project)).rules == StopRules()
    with pytest.raises(NotFound):
        progress.change_stop_rules(Seat(home, owner, 99), StopRules())


def test_a_budget_is_reached_and_asking_goes_on(home: Home, owner: int, project: int) -> None:
    progress.change_stop_rules(
        Seat(home, owner, project), StopRules(settled=None, flat_within=None, budget=2)
    )
    answer_next(home, owner, project)
    assert progress.stop_view(Seat(home, owner, project)).reached == ()
    answer_next(home, owner, project)
    (reached,) = progress.stop_view(Seat(home, owner, project)).reached
    assert (reached.rule, reached.words) == ("budget", "2 of 2 answers are given.")
    assert loop.next_question(Seat(home, owner, project)) is not None
    undoing.undo(Seat(home, owner, project))
    assert progress.stop_view(Seat(home, owner, project)).reached == ()


def test_the_proof_is_reached(home: Home, owner: int, project: int) -> None:
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_next(home, owner, project)
    view = progress.stop_view(Seat(home, owner, project))
    assert "settled" in [one.rule for one in view.reached]
    assert view.by_truth


def test_without_truth_the_flat_rule_goes_by_controls(home: Home, owner: int) -> None:
    project = small_project(home, owner, "blind", test_share=0.0, control_share=0.4)
    view = progress.stop_view(Seat(home, owner, project))
    assert not view.by_truth
    flat = next(one for one in view.verdicts if one.rule == "flat")
    with opened(home, owner, project) as learner:
        free = learner.progress().control.free
    assert flat.words == f"Accuracy is measured on {free} rows so far; the rule needs 30."


def test_a_model_that_is_not_there_yet_has_no_estimate(home: Home, owner: int) -> None:
    project = small_project(
        home, owner, "later", test_share=0.0, control_share=0.4, model="clpl", strategy="margin"
    )
    with opened(home, owner, project) as learner:
        counts = [learner.progress().control]
        assert counts[0].free > 0
        assert np.isnan(control_estimate(learner, counts).value).all()


def test_the_card_is_told_when_a_rule_is_reached(home: Home, owner: int, project: int) -> None:
    rules = StopRules(settled=None, flat_within=None, budget=2)
    progress.change_stop_rules(Seat(home, owner, project), rules)
    answer_next(home, owner, project)
    assert standing.standing(Seat(home, owner, project)).stop == ""
    answer_next(home, owner, project)
    assert standing.standing(Seat(home, owner, project)).stop == "2 of 2 answers are given."
    assert loop.next_question(Seat(home, owner, project)) is not None, "asking goes on if it is wanted"


def test_only_plknn_speaks_of_a_proof(home: Home, owner: int, project: int) -> None:
    (settled, *_) = progress.stop_view(Seat(home, owner, project)).verdicts
    assert "predictions are settled" in settled.words
    assert progress.read_progress(Seat(home, owner, project)).has_proof
    for model, strategy in (("clpl", "margin"), ("clpl", "apl"), ("pegasos-max", "margin")):
        other = small_project(home, owner, f"{model} {strategy}", model=model, strategy=strategy)
        (settled, *_) = progress.stop_view(Seat(home, owner, other)).verdicts
        assert settled.rule == "settled"
        assert "rows are decided" in settled.words
        assert not progress.read_progress(Seat(home, owner, other)).has_proof


def test_controls_measure_nothing_before_there_is_a_model(home: Home, owner: int) -> None:
    """Or rows with one candidate, which nothing has predicted yet, would count as predicted wrong."""
    project = small_project(
        home, owner, "new", model="clpl", strategy="margin", test_share=0.0, control_share=0.5
    )
    for _ in range(6):
        answer_next(home, owner, project)
    view = progress.read_progress(Seat(home, owner, project))
    assert not view.has_model
    assert view.control_asked + view.control_free > 0
    assert view.control is None
    assert view.control_interval == (0.0, 1.0)
    assert np.isnan(view.curve.control).all()


def test_a_budget_counts_answers_that_no_version_knows_yet(home: Home, owner: int) -> None:
    project = small_project(home, owner, "new", model="clpl", strategy="margin")
    progress.change_stop_rules(
        Seat(home, owner, project), StopRules(settled=None, flat_within=None, budget=2)
    )
    for _ in range(2):
        answer_next(home, owner, project)
    (budget,) = progress.stop_view(Seat(home, owner, project)).verdicts
    assert (budget.words, budget.reached) == ("2 of 2 answers are given.", True)
