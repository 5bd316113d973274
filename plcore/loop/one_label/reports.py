"""Reports of an ActiveLearner: questions, progress, curve points, row states and disambiguated labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plcore.arrays.types import FloatArray, IntArray
from plcore.evaluation.estimates import NOTHING_COUNTED, ControlCounts
from plcore.loop.entries import Entry


@dataclass(frozen=True)
class Question:
    """A row to ask about, its choices, and the reason for asking."""

    row: int
    choices: tuple[str, ...]  # the remaining candidates, in class order
    probabilities: tuple[float, ...]  # the model's shares of the choices; for PL-KNN without the row's own vote
    strategy: str
    score: float  # the row's score under the strategy
    decides: int  # targets whose winners, necessary or possible labels this answer could change
    undecided: int  # targets not settled now
    model_version: int
    predicted: str | None = None  # the model's current prediction for the row; None if it has none


@dataclass(frozen=True)
class Progress:
    """Progress of the work. Test rows are counted in `n_test` only."""

    answers: int  # unwithdrawn answers (is, among, not, none, bad, verdict)
    answered: int  # rows with at least one answer
    bad: int  # rows marked as bad items
    ambiguous_left: int  # rows with two candidates or more
    candidates_left: int  # labels still to be ruled out: sum over these rows of |candidates| - 1
    settled: float
    """Share of the initially ambiguous rows whose decision no further answer can change; without a proof, share of them
    that have one label now or are bad items."""
    accuracy: float | None  # accuracy on the test rows; None without test rows
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
    control: ControlCounts = NOTHING_COUNTED
    progressive_error: float | None = None  # error of an online model on the answered rows, see `.models.OnlineModel`


@dataclass(frozen=True)
class RowState:
    """The current state of one row."""

    row: int
    original: tuple[str, ...]  # candidates at import
    candidates: tuple[str, ...]  # current candidates; none for a bad item
    bad: bool
    test: bool
    answer: Entry | None  # the latest answer that counts
    entries: tuple[Entry, ...]  # all unwithdrawn entries, in order


@dataclass(frozen=True)
class Disambiguation:
    """A label for every row, with its source.

    labels : int (n,) class number, -1 for bad, open, remaining and disputed rows
    sources : str (n,) "given" (one candidate at import), "person" (answers left one), "verdict" (a reviewer resolved
        it), "truth" (true label at import), "necessary" (the neighbours leave one candidate, whatever their labels
        are), "model", "file" (the file's scores, until a model that uses them is trained), "bad", "remaining" (one
        class is left after "none of these", which neither the file nor a person named), or "open" (several
        candidates, and no model trained yet). If people answer independently, also "pending" (more people are to
        answer), "combined" (they differ, and the rule decides) and "disputed" (they differ, and it does not)
    confidence : float (n,) 1 for verdict, truth and given, but the score of a given row's only candidate if the file
        has one below 1; the label's share of the scores for file, and of the row's label distribution for necessary and
        model; the posterior of the annotator model, below 1, for rows that several people answered; 1 for other
        answers; NaN for bad, open, remaining and disputed
    outside : float (n,) probability that the truth is none of the row's candidates, if blind checks show that this
        happens (`.checks.rows_at_risk`); None if they do not
    likeliest, likelihood : (n,) as labels and confidence, but disputed rows have the most likely class under the
        annotator model
    """

    labels: IntArray
    sources: NDArray[np.str_]
    confidence: FloatArray
    outside: FloatArray | None
    likeliest: IntArray
    likelihood: FloatArray
