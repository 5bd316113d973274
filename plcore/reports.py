"""What an ActiveLearner is told and tells: settings, questions, progress, disambiguated labels."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plcore._types import FloatArray, IntArray
from plcore.fold import Entry
from plcore.graph import WEIGHTS
from plcore.query.effects import check_choice
from plcore.query.strategies import STRATEGIES

TRUTH_ROLES = ("hidden", "given")


@dataclass(frozen=True)
class LearnerSettings:
    """How a learner learns and asks; plain JSON values. Raises ValueError naming the setting that is wrong.

    n_neighbors : K of the model and of the effect scores, the row itself counted
    weights : "linear" | "uniform"
    strategy : effect rule "apl" | "mw" | "pl" (exact: it searches), or baseline "random" | "mp" | "act"
    test_share : share in [0, 1) of the rows with a true label that is held out for the accuracy
    truth_role : what the other true labels are for: "hidden" (never used), "given" (exact labels to train on)
    seed : of the draw of test rows, and of what the strategy draws
    """

    n_neighbors: int = 10
    weights: str = "linear"
    strategy: str = "apl"
    test_share: float = 1 / 3
    truth_role: str = "hidden"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("strategy", self.strategy, STRATEGIES)
        check_choice("truth_role", self.truth_role, TRUTH_ROLES)
        _check_int("n_neighbors", self.n_neighbors, 1)
        _check_int("seed", self.seed, 0)
        if not isinstance(self.test_share, Real) or not 0 <= float(self.test_share) < 1:
            raise ValueError(f"test_share must be a number in [0, 1). Got {self.test_share!r}.")


def _check_int(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name} must be an int of at least {least}. Got {value!r}.")


@dataclass(frozen=True)
class Question:
    """A row to ask about, its choices, and why it is asked."""

    row: int
    choices: tuple[str, ...]  # the candidates left, in class order
    probabilities: tuple[float, ...]  # what the neighbours, without the row itself, say of each choice
    strategy: str
    score: float  # the row's score under the strategy
    decides: int  # targets whose winners, necessary or possible labels this answer could change
    undecided: int  # targets not settled now
    model_version: int
    predicted: str | None = None  # what the model gives the row now; None where it says nothing


@dataclass(frozen=True)
class Progress:
    """Where the work stands. Rows are training rows; test rows are counted in `n_test` only."""

    answers: int  # unwithdrawn answers (is, among, not, none, bad)
    answered: int  # rows with at least one of them
    bad: int  # rows taken out
    ambiguous_left: int  # rows with two candidates or more
    candidates_left: int  # labels still to be ruled out: sum over these rows of |candidates| - 1
    settled: float  # share of decisions that no further answer can change, among the initially ambiguous rows
    accuracy: float | None  # share of test rows predicted right; None without test rows
    n_train: int
    n_test: int
    model_version: int


@dataclass(frozen=True)
class CurvePoint:
    """The model after one entry that changed candidates; the first point is the start (seq 0)."""

    seq: int
    answers: int
    accuracy: float | None
    settled: float
    candidates_left: int
    model_version: int


@dataclass(frozen=True)
class RowState:
    """One row as it stands."""

    row: int
    original: tuple[str, ...]  # candidates at import
    candidates: tuple[str, ...]  # candidates now; none while the row is out
    bad: bool
    test: bool
    answer: Entry | None  # the latest answer that counts
    entries: tuple[Entry, ...]  # all unwithdrawn entries, in order


@dataclass(frozen=True)
class Disambiguation:
    """A label for every row, with its source.

    labels : int (n,) class number, -1 for bad rows
    sources : str (n,) "given" (one candidate at import), "oracle" (answers left one), "truth" (true label at
        import), "necessary" (the neighbours leave one candidate, whatever their labels are), "model", or
        "bad"
    confidence : float (n,) 1 for given, oracle and truth; the label's share in the row's label distribution
        for necessary and model; NaN for bad
    """

    labels: IntArray
    sources: NDArray[np.str_]
    confidence: FloatArray
