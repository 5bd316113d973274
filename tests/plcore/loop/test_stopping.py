"""Stop rules: the verdict of each on a curve."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation.learners import WITHIN
from plcore.loop.comparison import FEWEST_AHEAD, ModelComparison, ModelFigures
from plcore.loop.stopping import LABELS, LEAST_MEASURED, ROWS, StopRules, change_over, judge, points


def verdicts(rules, accuracy, settled=None, *, answers=None, done=False, measured=100):
    accuracy = np.asarray(accuracy, dtype=float)
    answers = np.arange(len(accuracy)) if answers is None else np.asarray(answers)
    settled = np.zeros(len(accuracy)) if settled is None else np.asarray(settled, dtype=float)
    found = judge(rules, answers, accuracy, settled, done=done, measured=measured)
    return {one.rule: (one.reached, one.words) for one in found}


def test_disabled_rules_give_no_verdict():
    assert verdicts(StopRules(None, None, 1, None), [0.5]) == {}
    assert set(verdicts(StopRules(budget=3), [0.5])) == {"settled", "flat", "budget"}


def test_settled_at_100_percent_requires_a_proof():
    rules = StopRules(1.0, None)
    assert verdicts(rules, [0.9], [1.0])["settled"][0] is False
    assert verdicts(rules, [0.9], [1.0], done=True)["settled"] == (True, "No answer can change a prediction any more.")
    shown = verdicts(rules, [0.9], [0.9999])["settled"][1]
    assert shown == "99% of the predictions are settled; the rule waits for 100%."


def test_goal_is_reached_and_displayed_only_at_the_exact_accuracy():
    rules = StopRules(None, None, goal=0.9)
    assert verdicts(rules, [0.5, 0.9])["goal"] == (True, "Accuracy is 90%; the goal is 90%.")
    assert verdicts(rules, [0.5, 0.8767])["goal"] == (False, "Accuracy is 87.7%; the goal is 90%.")
    assert verdicts(rules, [0.5, 0.8999])["goal"] == (False, "Accuracy is 89.9%; the goal is 90%.")
    assert verdicts(rules, [np.nan])["goal"] == (False, "Accuracy is not known yet; the goal is 90%.")
    assert verdicts(rules, [0.95], measured=LEAST_MEASURED - 1)["goal"] == (
        False,
        "Accuracy is measured on 29 rows so far; the rule needs 30.",
    )


def test_verdict_without_proof_mentions_rows():
    accuracy, answers = np.array([0.9]), np.array([0])
    rules = StopRules(1.0, None)
    (open_still,) = judge(rules, answers, accuracy, np.array([0.5]), done=False, measured=9, terms=ROWS)
    (over,) = judge(rules, answers, accuracy, np.array([1.0]), done=True, measured=9, terms=ROWS)
    assert open_still.words == "50% of the ambiguous rows are decided; the rule waits for 100%."
    assert (over.reached, over.words) == (True, "No row is open any more.")


def test_verdict_on_label_vectors_mentions_labels():
    rules, answers = StopRules(0.9, 0.01, 10, 50), np.array([0, 10, 20])
    f1, settled = np.array([0.2, 0.6, 0.605]), np.array([0.1, 0.5, 0.912])

    def said(given, measured, **more):
        found = judge(rules, answers, f1, settled, done=False, measured=measured, given=given, terms=LABELS, **more)
        return {one.rule: (one.reached, one.words) for one in found}

    assert said(49, 40) == {
        "settled": (True, "91% of the empty labels are known or sure; the rule waits for 90%."),
        "flat": (True, "F1 moved by 0.5 points over the latest 10 labels; the rule allows 1 point."),
        "budget": (False, "49 of 50 labels are answered."),
    }
    assert said(50, 29)["budget"][0] is True
    assert said(50, 29)["flat"] == (False, "F1 is measured on 29 rows so far; the rule needs 30.")


def test_settled_below_100_percent_compares_the_share():
    assert verdicts(StopRules(0.95, None), [0.9], [0.949])["settled"][0] is False
    assert verdicts(StopRules(0.95, None), [0.9], [0.95])["settled"][0] is True


def test_flat_rule_uses_the_latest_answers_only():
    rules = StopRules(None, 0.01, 3)
    assert verdicts(rules, [0.5, 0.9, 0.905, 0.91, 0.9])["flat"][0] is True
    assert verdicts(rules, [0.5, 0.9, 0.905, 0.91])["flat"][0] is False  # the start is in the window
    assert verdicts(rules, [0.5, 0.9, 0.905, 0.889, 0.9])["flat"][0] is False
    assert verdicts(rules, [0.9, 0.9, 0.9]) == {"flat": (False, "The rule looks at the latest 3 answers; 2 are given.")}
    reached, words = verdicts(rules, [0.5, 0.9, 0.9, 0.895, 0.9])["flat"]
    assert reached
    assert words == "Accuracy moved by 0.5 points over the latest 3 answers; the rule allows 1 point."


def test_flat_rule_starts_at_the_point_before_the_window():
    # Versions of a trained model: points at 0, 10, 40 answers. Over 20 answers the curve has moved since version 10.
    rules = StopRules(None, 0.01, 20)
    assert verdicts(rules, [0.5, 0.8, 0.9], answers=[0, 10, 40])["flat"][0] is False
    assert verdicts(rules, [0.5, 0.9, 0.9], answers=[0, 10, 40])["flat"][0] is True
    assert verdicts(rules, [0.9, 0.9], answers=[35, 40])["flat"][0] is False  # the window is older than the curve


def test_flat_rule_needs_enough_rows_and_known_accuracy():
    rules = StopRules(None, 0.01, 2)
    flat = [0.9, 0.9, 0.9, 0.9]
    assert verdicts(rules, flat, measured=LEAST_MEASURED)["flat"][0] is True
    reached, words = verdicts(rules, flat, measured=LEAST_MEASURED - 1)["flat"]
    assert not reached
    assert "29 rows" in words
    assert verdicts(rules, [0.9, np.nan, 0.9, 0.9])["flat"][0] is False
    assert verdicts(rules, [np.nan, 0.9, 0.9, 0.9])["flat"][0] is True


def test_budget_counts_answers():
    assert verdicts(StopRules(None, None, 1, 5), [0.1, 0.1], answers=[0, 4])["budget"] == (
        False,
        "4 of 5 answers are given.",
    )
    assert verdicts(StopRules(None, None, 1, 5), [0.1, 0.1], answers=[0, 5])["budget"][0] is True


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 40))
def test_change_is_the_range_within_the_window(accuracy, over):
    found = change_over(np.arange(len(accuracy)), np.array(accuracy), over)
    if over >= len(accuracy):
        assert found is None
    else:
        window = accuracy[-over - 1 :]
        assert found == max(window) - min(window)


@given(
    settled=st.none() | st.floats(0.01, 1),
    flat_within=st.none() | st.floats(0.001, 1),
    flat_over=st.integers(1, 10**6),
    budget=st.none() | st.integers(1, 10**6),
    goal=st.none() | st.floats(0.01, 0.99),
)
def test_rules_round_trip_through_json(settled, flat_within, flat_over, budget, goal):
    rules = StopRules(settled, flat_within, flat_over, budget, goal)
    assert StopRules.from_json(json.loads(json.dumps(rules.to_json()))) == rules


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("settled", 0),
        ("settled", 1.1),
        ("settled", True),
        ("settled", float("nan")),
        ("flat_within", -0.1),
        ("flat_within", "1"),
        ("flat_over", 0),
        ("flat_over", None),
        ("flat_over", 2.5),
        ("budget", 0),
        ("budget", True),
        ("goal", 0),
        ("goal", 1.0),
        ("goal", "0.9"),
    ],
)
def test_wrong_rules_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        StopRules(**{name: value})


def test_unknown_rules_are_refused():
    assert StopRules.from_json({}) == StopRules()
    with pytest.raises(ValueError, match="'bugdet'"):
        StopRules.from_json({"bugdet": 5})


def test_percentage_points_are_formatted_for_people():
    assert [points(x) for x in (0.01, 0.005, 0.02, 0.0, 0.0101)] == [
        "1 point", "0.5 points", "2 points", "0 points", "1 point",
    ]  # fmt: skip


# Conclusions from comparisons of models: choose the best, and ignore differences within noise.


def compared(rows: int = 1000, checks: int = 0, best: str | None = "b", **figures: tuple) -> ModelComparison:
    """figures : name = (consistency, kappa) or (consistency, kappa, accuracy)"""
    made = (
        ModelFigures(name, consistency=one[0], kappa=one[1], accuracy=one[2] if len(one) > 2 else None)
        for name, one in figures.items()
    )
    return ModelComparison(tuple(made), best, rows, checks)


def test_first_comparison_chooses_the_best_by_any_margin():
    found = compared(a=(0.80, 0.70), b=(0.80, 0.7001))
    assert found.choice(None) == "b"
    assert found.choice("a") == "a"


def test_model_is_replaced_only_by_a_clearly_better_one():
    assert compared(a=(0.80, 0.70), b=(0.83, 0.73)).choice("a") == "b"
    assert compared(a=(0.80, 0.70), b=(0.81, 0.72)).choice("a") == "a", "by no more than .02 of kappa"
    assert compared(rows=40, a=(0.80, 0.70), b=(0.90, 0.85)).choice("a") == "a", "by four rows of forty"
    assert compared(rows=60, a=(0.80, 0.70), b=(0.90, 0.85)).choice("a") == "b", "by six of sixty"


def test_blind_checks_decide_first_unless_there_are_few():
    ahead = {"a": (0.80, 0.70, 0.55), "b": (0.79, 0.69, 0.81)}
    assert compared(checks=26, **ahead).choice("a") == "b"
    assert compared(checks=18, **ahead).choice("a") == "a", "by less than six checks"
    assert compared(checks=26, a=(0.80, 0.70, 0.78), b=(0.85, 0.76, 0.81)).choice("a") == "b", "a tie: kappa"


def test_unmeasured_model_is_replaced_if_another_was_measured():
    assert compared(b=(0.8, 0.7)).choice("gone") == "b"
    assert compared(best=None).choice("a") is None
    assert compared(best=None).choice(None) is None
    assert compared(b=(0.8, 0.7)).of("gone") == ModelFigures("gone")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(-0.2, 1), st.floats(-0.2, 1), st.integers(1, 10_000), st.data())
def test_choosing_twice_equals_choosing_once(first, second, kappa, other, rows, data):
    """For any figures the best model is kept, so a second choice changes nothing."""
    checks = data.draw(st.sampled_from([0, 20]))
    right = (0.6, 0.9) if checks else (None, None)
    found = compared(rows, checks, a=(first, kappa, right[0]), b=(second, other, right[1]))
    assert found.choice("b") == "b"
    chosen = found.choice("a")
    assert chosen in ("a", "b")
    assert found.choice(chosen) == chosen
    if not checks and chosen == "b":
        assert other - kappa > WITHIN
        assert (second - first) * rows > FEWEST_AHEAD - 1


def test_report_round_trips_through_json():
    figures = (
        ModelFigures("plsvc", 10.0, 0.5, 0.25, None, 1.5),
        ModelFigures("m3pl", note="left out: the time budget"),
    )
    found = ModelComparison(figures, "plsvc", 12, 0)
    assert ModelComparison.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert ModelComparison.from_json(found.to_json()).of("m3pl").kappa is None
    with pytest.raises(TypeError, match="figured"):
        ModelComparison.from_json({**found.to_json(), "figured": 1})


def test_lines_and_json_use_the_same_names():
    """Consistency and kappa are different figures; the lines show the one used for the choice."""
    found = ModelComparison((ModelFigures("plsvc", 10.0, 0.5, 0.25, 0.75, 1.5),), "plsvc", 12, 6)
    names, figures = (line.split("\t") for line in found.lines().splitlines()[:2])
    told = dict(zip(names, figures, strict=True))
    own = found.to_json()["figures"][0]
    assert (told["kappa"], told["accuracy"], told["note"]) == ("0.250", "0.750", "best")
    assert all(float(told[name]) == own[name] for name in ("kappa", "consistency", "accuracy") if name in told)
