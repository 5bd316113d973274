"""What follows from the figures of models: the best is taken, and nothing within noise."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation.learners import WITHIN
from plcore.loop.comparison import FEWEST_AHEAD, FEWEST_ROWS, ModelComparison, ModelFigures


def compared(rows: int = 1000, checks: int = 0, best: str | None = "b", **figures: tuple) -> ModelComparison:
    """figures : name = (consistency, kappa) or (consistency, kappa, accuracy)"""
    made = (
        ModelFigures(name, consistency=one[0], kappa=one[1], accuracy=one[2] if len(one) > 2 else None)
        for name, one in figures.items()
    )
    return ModelComparison(tuple(made), best, rows, checks)


def test_the_first_comparison_takes_the_best_however_near_the_others_are():
    found = compared(a=(0.80, 0.70), b=(0.80, 0.7001))
    assert found.choice(None) == "b"
    assert found.choice("a") == "a"


def test_of_a_few_rows_nothing_follows_not_even_the_first_time():
    few, enough = (
        compared(rows, a=(0.1, 0.1), b=(0.9, 0.9), best="b") for rows in (FEWEST_ROWS - 1, FEWEST_ROWS)
    )
    assert (few.choice(None), few.choice("a")) == (None, "a")
    assert (enough.choice(None), enough.choice("a")) == ("b", "b")


def test_a_model_is_left_for_one_that_is_clearly_ahead():
    assert compared(a=(0.80, 0.70), b=(0.83, 0.73)).choice("a") == "b"
    assert compared(a=(0.80, 0.70), b=(0.81, 0.72)).choice("a") == "a", "by no more than .02 of kappa"
    assert compared(rows=40, a=(0.80, 0.70), b=(0.90, 0.85)).choice("a") == "a", "by four rows of forty"
    assert compared(rows=60, a=(0.80, 0.70), b=(0.90, 0.85)).choice("a") == "b", "by six of sixty"


def test_blind_checks_come_first_and_few_of_them_tell_nothing():
    ahead = {"a": (0.80, 0.70, 0.55), "b": (0.79, 0.69, 0.81)}
    assert compared(checks=26, **ahead).choice("a") == "b"
    assert compared(checks=18, **ahead).choice("a") == "a", "by less than six checks"
    assert compared(checks=26, a=(0.80, 0.70, 0.78), b=(0.85, 0.76, 0.81)).choice("a") == "b", "a tie: kappa"


def test_a_model_without_figures_is_left_and_none_is_taken_where_there_are_none():
    assert compared(b=(0.8, 0.7)).choice("gone") == "b"
    assert compared(best=None).choice("a") is None
    assert compared(best=None).choice(None) is None
    assert compared(b=(0.8, 0.7)).of("gone") == ModelFigures("gone")


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(-0.2, 1),
    st.floats(-0.2, 1),
    st.integers(1, 10_000),
    st.data(),
)
def test_a_choice_made_once_more_stays(first, second, kappa, other, rows, data):
    """Whatever the figures are: from the best nothing leads away, and choosing twice is choosing once."""
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


def test_a_report_is_stored_as_json_and_read_as_it_was():
    figures = (
        ModelFigures("plsvc", 10.0, 0.5, 0.25, None, 1.5),
        ModelFigures("m3pl", note="left out: the time budget"),
    )
    found = ModelComparison(figures, "plsvc", 12, 0)
    assert ModelComparison.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert ModelComparison.from_json(found.to_json()).of("m3pl").kappa is None
    with pytest.raises(TypeError, match="figured"):
        ModelComparison.from_json({**found.to_json(), "figured": 1})


def test_the_lines_call_a_figure_as_the_json_does():
    """Consistency and kappa are two shares of one model; the lines have the one that it is chosen by."""
    found = ModelComparison((ModelFigures("plsvc", 10.0, 0.5, 0.25, 0.75, 1.5),), "plsvc", 12, 6)
    names, figures = (line.split("\t") for line in found.lines().splitlines()[:2])
    told = dict(zip(names, figures, strict=True))
    own = found.to_json()["figures"][0]
    assert (told["kappa"], told["accuracy"], told["note"]) == ("0.250", "0.750", "best")
    assert all(
        float(told[name]) == own[name] for name in ("kappa", "consistency", "accuracy") if name in told
    )
