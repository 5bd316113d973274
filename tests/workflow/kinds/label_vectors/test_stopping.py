"""Stop rules of label vectors: they count labels, look at F1, and speak from the first answer on."""

from __future__ import annotations

import numpy as np
import pytest

from plcore import LabelTable
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.stopping import StopRules
from tests.workflow.vector_world import ROLES, answer_truly, vector_frame, vector_project
from tests.workflow.world import opened
from workflow.answering import loop, undoing
from workflow.projects import managing, progress, standing
from workflow.seat import Seat
from workflow.server.home import Home


def verdicts(home: Home, owner: int, project: int) -> dict[str, tuple[bool, str]]:
    view = progress.stop_view(Seat(home, owner, project))
    return {one.rule: (one.reached, one.words) for one in view.verdicts}


def test_by_default_only_the_end_is_a_reason_to_stop(home: Home, owner: int) -> None:
    project = vector_project(home, owner, question="instance")
    assert progress.stop_view(Seat(home, owner, project)).rules == StopRules(flat_within=None)
    reached, words = verdicts(home, owner, project)["settled"]
    assert not reached
    assert words.endswith("% of the empty labels are known or sure; the rule waits for 100 %.")
    while loop.next_question(Seat(home, owner, project)) is not None:
        answer_truly(home, owner, project)
    assert verdicts(home, owner, project) == {"settled": (True, "No label is open any more.")}


def test_annotate_says_what_the_rule_says(home: Home, owner: int) -> None:
    """How much is known or sure: one figure, from the first model to the end."""
    project = vector_project(home, owner, question="cell", refresh_every=4)
    seen = []
    for _ in range(9):
        loop.next_question(Seat(home, owner, project))
        home.shelf.settle(project)
        settled = standing.standing(Seat(home, owner, project)).settled
        assert progress.read_progress(Seat(home, owner, project)).settled == settled
        words = verdicts(home, owner, project)["settled"][1]
        assert words.startswith(f"{np.floor(settled * 1000) / 10:g} % of the empty labels are known or sure")
        seen.append(settled)
        answer_truly(home, owner, project)
    assert seen[0] > 0, "nothing is answered yet, and the model is sure of something"
    assert len(set(seen)) == 3, "it moves where a model was fitted"
    while (asked := loop.next_question(Seat(home, owner, project))) is not None:
        answer_truly(home, owner, project, asked)
    assert standing.standing(Seat(home, owner, project)).settled == 1.0


@pytest.mark.parametrize("question", ["instance", "cell"])
def test_the_budget_is_of_labels_and_counts_before_any_model(home: Home, owner: int, question: str) -> None:
    project = vector_project(home, owner, question=question, refresh_every=1000)
    rules = StopRules(settled=None, flat_within=None, budget=6)
    progress.change_stop_rules(Seat(home, owner, project), rules)
    given = 0
    while given < 6:
        assert verdicts(home, owner, project)["budget"] == (False, f"{given} of 6 labels are answered.")
        assert standing.standing(Seat(home, owner, project)).stop == ""
        asked = loop.next_question(Seat(home, owner, project))
        assert asked is not None
        given += 1 if asked.label is not None else sum(line.cell < 0 for line in asked.lines)
        answer_truly(home, owner, project, asked)
    words = f"{given} of 6 labels are answered."
    assert verdicts(home, owner, project)["budget"] == (True, words)
    assert standing.standing(Seat(home, owner, project)).stop == words
    assert progress.read_progress(Seat(home, owner, project)).stop.reached[0].words == words
    assert loop.next_question(Seat(home, owner, project)) is not None, "asking goes on if it is wanted"
    undoing.undo(Seat(home, owner, project))
    assert not verdicts(home, owner, project)["budget"][0]


def large_project(home: Home, owner: int, **settings: object) -> int:
    table = LabelTable.from_cells(vector_frame(150, full=110), ROLES)
    made = LabelVectorSettings(**{"refresh_every": 4, **settings})  # type: ignore[arg-type]
    return managing.create_project(Seat(home, owner), "large", table, made)


def test_flat_by_held_out_rows(home: Home, owner: int) -> None:
    project = large_project(home, owner)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 1.0, 8))
    assert progress.stop_view(Seat(home, owner, project)).by_truth
    assert verdicts(home, owner, project)["flat"] == (
        False,
        "The rule looks at the latest 8 labels; 0 are answered.",
    )
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
    """Yes to whatever is asked: what matters here is that the curve goes on."""
    asked = loop.next_question(Seat(home, owner, project))
    assert asked is not None
    loop.submit_answer(Seat(home, owner, project), asked.token, "yes")


def test_flat_by_blind_labels_where_nothing_is_held_out(home: Home, owner: int) -> None:
    project = large_project(home, owner, test_share=0.0, control_share=0.5)
    progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 0.5, 3))
    view = progress.stop_view(Seat(home, owner, project))
    assert not view.by_truth
    assert view.verdicts[0].words == "F1 is measured on 0 blind labels so far; the rule needs 30."
    progress.change_stop_rules(Seat(home, owner, project), StopRules(None, 0.5, 24))
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
