"""Shortlists in words: what is missing, what is promised, what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pages.parts import learner_form as part
from plcore.evaluation import outside_rate
from workflow.kinds.shortlists import ShortlistView

VIEW = ShortlistView(
    promise=0.95,
    leaves_out=True,
    weighs_own=False,
    in_full=0.2,
    drawn=200,
    outside=outside_rate(2, 120),
    in_force=True,
    held=93,
    measured=97,
    asked=310,
    none=12,
    others=20,
)


def test_the_measured_rate_stands_beside_the_promise() -> None:
    assert (
        part.measured_in_words(VIEW)
        == "promised 95\u00a0%, held in 93 of 97 checks (96\u00a0%, 90 to 99\u00a0%)"
    )
    assert part.measured_in_words(replace(VIEW, held=0, measured=0)) == ""
    assert part.answers_in_words(VIEW) == (
        "Of 310 answers to shortlisted questions 12 said “none of these” (4\u00a0%, 2 to 7\u00a0%), "
        "20 named a choice behind the key."
    )
    assert part.answers_in_words(replace(VIEW, asked=0)) == ""
    assert "In 2 of 120 blind checks (2\u00a0%, 0 to 6\u00a0%)" in part.outside_in_words(VIEW)
    assert part.outside_in_words(replace(VIEW, outside=outside_rate(0, 0))) == ""


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"promise": None}, "All choices are shown at once."),
        ({"drawn": 0}, "no blind checks to measure by"),
        ({"leaves_out": False}, "PL-KNN and Kernel ridge leave the row out"),
        ({"weighs_own": True, "in_force": False}, "checks are no measure"),
        ({"in_full": 1.0, "in_force": False}, "A third of the questions or more are blind checks"),
        (
            {"outside": outside_rate(0, 12), "in_force": False},
            "7 more blind checks must be answered for 95\u00a0%",
        ),
        (
            {"outside": outside_rate(0, 18), "in_force": False},
            "1 more blind check must be answered for 95\u00a0%",
        ),
        ({"outside": outside_rate(9, 60), "in_force": False}, "In 9 of 60 blind checks the truth was none"),
        ({"in_force": False}, "The next version of the model takes the blind checks in"),
        ({"outside": outside_rate(0, 40)}, "below 100 the promise is uncertain"),
        ({}, "From 120 blind checks."),
    ],
)
def test_how_it_stands(changed: dict[str, object], said: str) -> None:
    assert said in part.standing_in_words(replace(VIEW, **changed))  # type: ignore[arg-type]
