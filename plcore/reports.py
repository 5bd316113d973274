"""What an ActiveLearner is told and tells: settings, questions, progress, disambiguated labels."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plcore._types import FloatArray, IntArray
from plcore.estimators import MODELS, ONLINE, TRAINED
from plcore.fold import Entry
from plcore.graph import WEIGHTS
from plcore.query.effects import check_choice
from plcore.query.strategies import STRATEGIES
from plcore.query.uncertainty import MARGIN

TRUTH_ROLES = ("hidden", "given")


@dataclass(frozen=True)
class LearnerSettings:
    """How a learner learns and asks; plain JSON values. Raises ValueError naming the setting that is wrong.

    n_neighbors : K of PL-KNN and of the effect scores, the row itself counted
    weights : "linear" | "uniform"
    strategy : effect rule "apl" | "mw" | "pl" (exact: it searches), baseline "random" | "mp" | "act", or
        "margin": where the model hesitates most between two candidates
    test_share : share in [0, 1) of the rows with a true label that is held out for the accuracy
    truth_role : what the other true labels are for: "hidden" (never used), "given" (exact labels to train on)
    seed : of the draws of test rows and control rows, and of what the strategy draws
    model : one of `plcore.estimators.MODELS`
    C : its parameter C (C_max of "m3pl", 1 / alpha of Pegasos; the others have none); None: its default
    train_every, train_seconds : a model trained in the background is trained anew after so many answers, or
        so many seconds after an answer, whichever is first
    control_share : share in [0, 1) of the rows, and of the questions, that are blind controls (see `plcore.pool`)
    """

    n_neighbors: int = 10
    weights: str = "linear"
    strategy: str = "apl"
    test_share: float = 1 / 3
    truth_role: str = "hidden"
    seed: int = 0
    model: str = "plknn"
    C: float | None = None
    train_every: int = 5
    train_seconds: float = 2.0
    control_share: float = 0.0

    def __post_init__(self) -> None:
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("strategy", self.strategy, (*STRATEGIES, MARGIN))
        check_choice("model", self.model, MODELS)
        check_choice("truth_role", self.truth_role, TRUTH_ROLES)
        _check_int("n_neighbors", self.n_neighbors, 1)
        _check_int("seed", self.seed, 0)
        _check_int("train_every", self.train_every, 1)
        for name in ("test_share", "control_share"):
            value = getattr(self, name)
            if not _is_real(value) or not 0 <= float(value) < 1:
                raise ValueError(f"{name} must be a number in [0, 1). Got {value!r}.")
        if not _is_real(self.train_seconds) or not 0 <= self.train_seconds < np.inf:
            raise ValueError(f"train_seconds must be a number of at least 0. Got {self.train_seconds!r}.")
        if self.C is not None and (not _is_real(self.C) or not 0 < self.C < np.inf):
            raise ValueError(f"C must be None or a number above 0. Got {self.C!r}.")

    @property
    def is_trained(self) -> bool:
        """Whether the model is trained as a whole, in the background."""
        return self.model in TRAINED

    @property
    def is_online(self) -> bool:
        """Whether the model takes one answer at a time."""
        return self.model in ONLINE

    @property
    def model_key(self) -> str:
        """What a trained model depends on besides table and log, as part of a file name."""
        drawn = float(self.test_share).hex(), float(self.control_share).hex()
        parts = self.model, None if self.C is None else float(self.C), *drawn, self.truth_role, self.seed
        return f"{self.model}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_int(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{name} must be an int of at least {least}. Got {value!r}.")


@dataclass(frozen=True)
class Question:
    """A row to ask about, its choices, and why it is asked."""

    row: int
    choices: tuple[str, ...]  # the candidates left, in class order
    probabilities: tuple[float, ...]  # the model's shares of the choices; PL-KNN's without the row's own vote
    strategy: str
    score: float  # the row's score under the strategy
    decides: int  # targets whose winners, necessary or possible labels this answer could change
    undecided: int  # targets not settled now
    model_version: int
    predicted: str | None = None  # what the model gives the row now; None where it says nothing


@dataclass(frozen=True)
class ControlCounts:
    """How many control rows the model gets right: of those answered, and of those that had one candidate anyway."""

    right_asked: int = 0
    asked: int = 0
    right_free: int = 0
    free: int = 0


@dataclass(frozen=True)
class Progress:
    """Where the work stands. Test rows are counted in `n_test` only."""

    answers: int  # unwithdrawn answers (is, among, not, none, bad)
    answered: int  # rows with at least one of them
    bad: int  # rows taken out
    ambiguous_left: int  # rows with two candidates or more
    candidates_left: int  # labels still to be ruled out: sum over these rows of |candidates| - 1
    settled: (
        float  # share of decisions that no further answer can change, among the initially ambiguous rows;
    )
    # with another model than PL-KNN the share of these rows that have one label, or are out
    accuracy: float | None  # share of test rows predicted right; None without test rows
    n_train: int
    n_test: int
    model_version: int
    control: ControlCounts
    n_control: int


@dataclass(frozen=True)
class CurvePoint:
    """The model after one entry that changed candidates, or a model version; the first point is the start (seq 0)."""

    seq: int
    answers: int
    accuracy: float | None
    settled: float
    candidates_left: int
    model_version: int
    control: ControlCounts = ControlCounts()
    progressive_error: float | None = (
        None  # of an online model, over the rows answered; see `plcore.online_model`
    )


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

    labels : int (n,) class number, -1 for bad and open rows
    sources : str (n,) "given" (one candidate at import), "oracle" (answers left one), "truth" (true label at
        import), "necessary" (the neighbours leave one candidate, whatever their labels are), "model", "bad",
        or "open" (several candidates, and no model trained yet)
    confidence : float (n,) 1 for given, oracle and truth; the label's share in the row's label distribution
        for necessary and model; NaN for bad and open
    """

    labels: IntArray
    sources: NDArray[np.str_]
    confidence: FloatArray
