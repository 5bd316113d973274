"""Which model predicts, and why, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts.label_vectors.card import predicts
from workflow.kinds.label_vectors.progress import Predictor

AHEAD = Predictor(
    title="One-vs-all",
    other="BML-CS",
    since=60,
    automatic=True,
    f1=0.581,
    other_f1=0.52,
    error=0.012,
    threshold=0.31,
)


def test_one_that_is_ahead() -> None:
    assert predicts(AHEAD) == (
        "From answer 60 on **One-vs-all** predicts, micro F1 58.1\u00a0% on known cells that it was not shown, "
        "BML-CS 52.0\u00a0%: 6.1 points ahead (standard error 1.2). It says yes above a probability of 31\u00a0%."
    )


def test_from_the_start() -> None:
    assert predicts(replace(AHEAD, since=0)).startswith("**One-vs-all** predicts, micro F1")


@pytest.mark.parametrize(("f1", "how"), [(0.6, "8.0 points ahead"), (0.51, "behind by no more than chance")])
def test_bml_cs_ahead_and_behind_by_chance(f1: float, how: str) -> None:
    said = predicts(replace(AHEAD, title="BML-CS", other="One-vs-all", f1=f1, other_f1=0.52, since=0))
    assert f"One-vs-all 52.0\u00a0%: {how} (standard error 1.2)." in said


def test_nothing_compared() -> None:
    unknown = replace(AHEAD, title="BML-CS", other="One-vs-all", f1=None, other_f1=None, error=None, since=0)
    assert predicts(unknown) == (
        "**BML-CS** predicts, for too few known cells are yes to compare it with One-vs-all. "
        "It says yes above a probability of 31\u00a0%."
    )
    assert predicts(replace(unknown, automatic=False)).startswith(
        "**BML-CS** predicts, as Project settings have it. It says yes"
    )
