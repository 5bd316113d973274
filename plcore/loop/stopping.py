"""Stopping rules over the curve, joined by "or". They only give advice; people decide whether to continue."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from plcore.arrays.checks import check_int, check_names, is_real

if TYPE_CHECKING:
    from plcore.arrays.types import FloatArray, IntArray

LEAST_MEASURED = 30
"""Minimum number of rows behind an accuracy: with fewer, a curve can be flat by chance."""


@dataclass(frozen=True)
class Terms:
    """Words for the quantities in the rules. The defaults are for predictions of one label per row.

    figure : the quantity of the flat rule      measured_on : the cells or rows it is measured on
    counted, given : the unit of the budget, and its phrase for the current count ("40 answers are given")
    settled : the quantity whose share the first rule uses      done : the sentence if nothing is left to settle
    """

    figure: str = "Accuracy"
    measured_on: str = "rows"
    counted: str = "answers"
    given: str = "given"
    settled: str = "predictions are settled"
    done: str = "No answer can change a prediction any more."


PREDICTIONS = Terms()
ROWS = Terms(settled="ambiguous rows are decided", done="No row is open any more.")
"""Words for models that prove nothing about their predictions."""

LABELS = Terms("F1", "rows", "labels", "answered", "empty labels are known or sure", "No label is open any more.")
"""For label vectors. An empty label counts one bit at first, then the entropy of its prediction, and 0 once it is
known. `settled` is the share of the bits that are gone."""


@dataclass(frozen=True)
class StopRules:
    """Stopping rules as plain JSON values; None switches a rule off. Raises ValueError naming the rule that is wrong.

    settled : stop once no further answer can change this share in (0, 1] of the predictions; 1 asks for the proof
    flat_within, flat_over : stop once accuracy has changed by at most flat_within, in (0, 1], over the latest flat_over
        answers, at least 1
    budget : stop after this many answers, at least 1
    goal : stop once accuracy reaches this share in (0, 1)
    """

    settled: float | None = 1.0
    flat_within: float | None = 0.01
    flat_over: int = 100
    budget: int | None = None
    goal: float | None = None

    def __post_init__(self) -> None:
        for name in ("settled", "flat_within"):
            value = getattr(self, name)
            if value is not None and not (is_real(value) and 0 < value <= 1):
                raise ValueError(f"{name} must be None or a number above 0 and at most 1. Got {value!r}.")
        check_int("flat_over", self.flat_over, 1)
        if self.budget is not None:
            check_int("budget", self.budget, 1)
        if self.goal is not None and not (is_real(self.goal) and 0 < self.goal < 1):
            raise ValueError(f"goal must be None or a number above 0 and below 1. Got {self.goal!r}.")

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StopRules:
        """Return the rules from the output of `to_json`, with defaults for missing ones. Raises ValueError."""
        check_names("rule", stored, cls.__dataclass_fields__)
        return cls(**stored)

    def to_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """The verdict of one rule: "goal", "settled", "flat" or "budget"."""

    rule: str
    reached: bool
    words: str


def judge(
    rules: StopRules,
    answers: IntArray,
    accuracy: FloatArray,
    settled: FloatArray,
    *,
    done: bool,
    measured: int,
    given: int | None = None,
    terms: Terms = PREDICTIONS,
) -> tuple[Verdict, ...]:
    """Return the verdict of each active rule on a curve; any rule that is reached is a reason to stop.

    answers, accuracy, settled : (p,) the curve, p >= 1, answers ascending; accuracy NaN if it is unknown
    done : whether no answer can change a decision any more, by proof (`ActiveLearner.done`)
    measured : number of rows behind the latest accuracy
    given : current number of answers, as the curve may end earlier; None: as at the end of the curve
    terms : the words for what accuracy, answers and settled are
    """
    given = int(answers[-1]) if given is None else given
    verdicts = []
    if rules.goal is not None:
        verdicts.append(_judge_goal(rules.goal, float(accuracy[-1]), measured, terms))
    if rules.settled is not None:
        verdicts.append(_judge_settled(rules.settled, float(settled[-1]), done, terms))
    if rules.flat_within is not None:
        moved = change_over(answers, accuracy, rules.flat_over)
        verdicts.append(_judge_flat(rules.flat_within, rules.flat_over, moved, given, measured, terms))
    if rules.budget is not None:
        words = f"{given:,} of {rules.budget:,} {terms.counted} are {terms.given}."
        verdicts.append(Verdict("budget", given >= rules.budget, words))
    return tuple(verdicts)


def change_over(answers: IntArray, accuracy: FloatArray, over: int) -> float | None:
    """Return the largest minus the smallest accuracy over the latest `over` answers; None if there are fewer
    answers or an accuracy is unknown."""
    begun = int(answers[-1]) - over
    if begun < answers[0]:
        return None
    first = int(answers.searchsorted(begun, side="right")) - 1
    moved = float(accuracy[first:].max() - accuracy[first:].min())
    return None if math.isnan(moved) else moved


def _judge_goal(goal: float, accuracy: float, measured: int, terms: Terms) -> Verdict:
    figure = terms.figure
    if measured < LEAST_MEASURED:
        words = f"{figure} is measured on {measured:,} {terms.measured_on} so far; the rule needs {LEAST_MEASURED}."
    elif math.isnan(accuracy):
        words = f"{figure} is not known yet; the goal is {goal * 100:g}%."
    else:
        reached, shown = accuracy >= goal, round(accuracy * 100, 1)
        if not reached and shown >= goal * 100:
            shown = math.floor(accuracy * 1000) / 10  # do not round up to the goal
        return Verdict("goal", reached, f"{figure} is {shown:g}%; the goal is {goal * 100:g}%.")
    return Verdict("goal", False, words)


def _judge_settled(wanted: float, share: float, done: bool, terms: Terms) -> Verdict:
    if done:
        return Verdict("settled", True, terms.done)
    # Rounded down: 100% is shown only when it is exact. As on the pages, in whole per cent, unless the rule is finer.
    parts = 1 if round(100 * wanted, 6).is_integer() else 10
    now = math.floor(share * 100 * parts) / parts
    words = f"{now:g}% of the {terms.settled}; the rule waits for {wanted * 100:g}%."
    return Verdict("settled", wanted < 1 and share >= wanted, words)


def _judge_flat(within: float, over: int, moved: float | None, given: int, measured: int, terms: Terms) -> Verdict:
    figure, latest = terms.figure, f"the latest {over:,} {terms.counted}"
    if measured < LEAST_MEASURED:
        words = f"{figure} is measured on {measured:,} {terms.measured_on} so far; the rule needs {LEAST_MEASURED}."
    elif given < over:
        words = f"The rule looks at {latest}; {given:,} are {terms.given}."
    elif moved is None:
        words = f"{figure} is not known over all of {latest} yet."
    else:
        words = f"{figure} moved by {points(moved)} over {latest}; the rule allows {points(within)}."
        return Verdict("flat", moved <= within + 1e-12, words)
    return Verdict("flat", False, words)


def points(share: float) -> str:
    """Return a difference of accuracies in percentage points, such as "1 point" or "0.5 points"."""
    shown = f"{share * 100:.1f}".removesuffix(".0")
    return f"{shown} point{'' if shown == '1' else 's'}"
