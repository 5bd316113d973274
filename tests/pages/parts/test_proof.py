"""The top of the Progress page with goal and random order: it never claims more than is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from pages.parts import proof as proof_marks
from pages.parts.proof import goal_words, saved_words
from plcore.evaluation import RandomOrderLine, Reach
from plcore.loop.one_label import TRUTH, RandomOrderFound
from workflow.projects.proving import Proof, RandomLine

NEVER = Reach(np.inf, np.inf, np.inf)


def view(
    *,
    more: Reach | None = None,
    saved: Reach | None = None,
    goal: float | None = 0.9,
    seconds: float | None = 5.0,
    reached: bool = False,
    missing: str = "",
    running: bool = False,
    at: int = 208,
    answered: int = 208,
    how: str = TRUTH,
) -> Any:
    line = RandomOrderLine((0.0,), (0.5,), (0.4,), (0.6,), NEVER)
    random = None
    if saved is not None:
        found = RandomOrderFound(how, line, "plknn", 300, 5, at, 0.8)
        arrays = (np.array(part) for part in (line.answers, line.value, line.low, line.high))
        random = RandomLine(*arrays, at, saved, found)  # type: ignore[arg-type]
    proof = Proof(goal, reached, more, True, random, missing, running)
    return SimpleNamespace(proof=proof, left=1000, answered=answered, seconds_per_answer=seconds)


def test_goal_words_describe_distance_to_goal(subtests: pytest.Subtests) -> None:
    for seen, words in [
        (view(more=Reach(140, 100, 190)), "**About 140 more answers to 90%** (100 to 190), 12 minutes at this pace"),
        (view(more=Reach(140, 100, np.inf), seconds=None), "**About 140 more answers to 90%** (100 or more)"),
        (
            view(more=Reach(400, 22, np.inf)),
            "**At least 22 more answers to 90%**: too uncertain, because the curve hardly rises.",
        ),
        (
            view(more=Reach(400, 0, np.inf)),
            "**A few or many more answers to 90%**: too uncertain, because the curve hardly rises.",
        ),
        (view(more=NEVER), "Judging by the answers so far, **90% is not reached**; 1,000 rows are open."),
        (
            view(more=Reach(1200, 300, np.inf), goal=0.955),
            "Judging by the answers so far, **95.5% is not reached** within 300 answers; 1,000 rows are open.",
        ),
        (view(), "**Goal 90%.** It is too early for an estimate."),
        (view(reached=True, more=Reach(0, 0, 0)), "**The goal of 90% is reached.**"),
    ]:
        with subtests.test(words):
            assert goal_words(seen) == words


def test_saved_words_describe_answers_saved(subtests: pytest.Subtests) -> None:
    for seen, title, words in [
        (
            view(saved=Reach(312, 232, 402)),
            "About 310 questions saved",
            "Random order would have needed about 520 answers (440 to 610) for this accuracy; here it took 208. "
            "That is 26 minutes.",
        ),
        (
            view(saved=Reach(312, 232, np.inf), seconds=None),
            "About 310 questions saved",
            "Random order would have needed about 520 answers (at least 440) for this accuracy; here it took 208.",
        ),
        (
            view(saved=Reach(np.inf, 232, np.inf)),
            "At least 230 questions saved",
            "Random order would have needed 440 answers or more for this accuracy; here it took 208.",
        ),
        (
            view(saved=Reach(50, -20, 130)),
            "Too early to tell",
            "So far the difference from random order is within chance. Random order would have needed 190 to 340 "
            "answers for this accuracy; here it took 208.",
        ),
        (
            view(saved=Reach(np.inf, -20, np.inf)),
            "Too early to tell",
            "So far the difference from random order is within chance. Random order would have needed 190 answers or "
            "more for this accuracy; here it took 208.",
        ),
        (
            view(saved=Reach(-40, -40, -40), at=40),
            "Too early to tell",
            "So far the difference from random order is within chance. Random order would have needed no answers for "
            "this accuracy; here it took 40.",
        ),
        (view(answered=19), "Against random order", "Not known yet. It is estimated after the first 20 answers."),
        (
            view(answered=20),
            "Against random order",
            "Not known yet. It is estimated in the background, after other work on your projects.",
        ),
        (view(missing="Two *more*."), "Against random order", "Not known yet. Two \\*more\\*\\."),
        (view(running=True), "Against random order", "Winnow is estimating what random order would have reached ..."),
        (
            view(running=True, missing="It was ended from outside twice."),
            "Against random order",
            "Not known yet. It was ended from outside twice\\.",
        ),
        (
            view(saved=Reach(312, 232, 402), how="checks"),
            "Blind checks cannot show a saving",
            "In tests, blind checks alone placed random order five points too low, so the saving may be "
            "zero. Projects with hidden true labels show savings.",
        ),
    ]:
        with subtests.test(words):
            assert saved_words(seen) == (title, words)


def test_chart_marks_goal_and_random_order() -> None:
    answers = np.array([0.0, 100.0])
    figure = proof_marks.random_order(go.Figure(), answers, answers / 200, answers / 400, answers / 100)
    assert figure.data[-1].name == "random order, estimated"
    assert figure.data[-1].line.dash == "dash"
    marked = proof_marks.goal(figure, 0.9, 100.0, (40.0, 20.0, np.inf))
    assert marked.layout.annotations[0].text == "goal 90%"
    bar, dot = marked.data[-2:]
    assert list(bar.x) == [120.0, 300.0], "it goes no farther than the chart"
    assert list(dot.x) == [140.0]
    for more in (None, (900.0, 300.0, np.inf)):
        assert len(proof_marks.goal(go.Figure(), 0.9, 100.0, more).data) == 0, "the line alone"
