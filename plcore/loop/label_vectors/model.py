"""The model of a project of label vectors: BML-CS, fitted to the cells of one moment, then an answer at a time; and
what predicts, BML-CS or an SVM for each label.

A fit is a job that holds all it needs, so that it can run in another thread, or be made again from the log: the same
cells give the same model, and the same changes after it the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plcore.arrays.types import AnyArray, BoolArray, FeatureMatrix, FloatArray, Matrix
from plcore.loop.label_vectors.controls import ControlSample
from plcore.loop.label_vectors.estimates import (
    FEWEST_YES,
    HiddenTrial,
    calibrate,
    control_estimate,
    entropy_of,
    held_out,
    hide,
)
from plcore.loop.label_vectors.fold import UNKNOWN, VectorTable
from plcore.loop.label_vectors.pool import LabelVectorPool, VectorChange
from plcore.loop.label_vectors.registry import AUTOMATIC, BMLCS, ONE_VS_ALL
from plcore.loop.label_vectors.reports import LabelVectorPoint, PredictorComparison
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.sensing.bml_cs import BMLCSClassifier
from plcore.sensing.learner import SensingLearner
from plcore.sensing.metrics import EVEN
from plcore.sensing.one_vs_all import OneVsAllSVC

# Which model predicts cells that no one was asked about: BML-CS, or an SVM for each label.
#
# Both are fitted a few times without a seeded share of the known cells, and judged by these: micro F1 of yes and no
# as the app would say them, calibrated and cut by the cells hidden in the other trials.

TRIALS = 3


def choose(comparison: PredictorComparison | None) -> str:
    """One-vs-all if it is ahead by more than one standard error; else BML-CS, which follows each answer."""
    if comparison is None or comparison.lead <= comparison.error:
        return BMLCS
    return ONE_VS_ALL


def compare(
    cells: AnyArray, bmlcs: Sequence[HiddenTrial], onevsall: Sequence[HiddenTrial]
) -> PredictorComparison | None:
    """The two models on the known cells (n, L) that the trials, both of the same, were not shown. None if fewer than
    FEWEST_YES of them are yes, or all are in one row: nothing can be said."""
    hidden = [(cells != UNKNOWN) & (trial.shown == UNKNOWN) for trial in bmlcs]
    judged = np.sum([at.sum(axis=1) for at in hidden], axis=0) if hidden else np.zeros(len(cells))
    yes = int(sum((cells[at] == 1).sum() for at in hidden))
    if yes < FEWEST_YES or (judged > 0).sum() < 2:
        return None
    counts = [_counts(cells, hidden, trials) for trials in (bmlcs, onevsall)]
    first, second = (float(hits.sum() / size.sum()) for hits, size in counts)
    # The jackknife over rows (Efron and Stein 1981): cells of one row are alike.
    without = [_share(hits.sum() - hits, size.sum() - size)[judged > 0] for hits, size in counts]
    difference = without[1] - without[0]
    n = len(difference)
    variance = (1 - 1 / n) * float(((difference - difference.mean()) ** 2).sum())
    return PredictorComparison(int(judged.sum()), yes, first, second, float(np.sqrt(variance)))


def _counts(
    cells: AnyArray, hidden: Sequence[BoolArray], trials: Sequence[HiddenTrial]
) -> tuple[FloatArray, FloatArray]:
    """(n,), (n,) of each row, over the trials: twice the cells rightly said to be yes; cells yes and said to be yes."""
    hits, size = np.zeros(len(cells)), np.zeros(len(cells))
    for k, (at, trial) in enumerate(zip(hidden, trials, strict=True)):
        others = [*trials[:k], *trials[k + 1 :]]
        # By what this trial was shown, so that none of its hidden cells counts in the others either.
        model = calibrate(trial.shown, trial.values, others)
        said = model.proba(trial.values, (trial.shown != UNKNOWN).any(axis=1)) > model.threshold
        yes = cells == 1
        hits += 2.0 * (yes & said & at).sum(axis=1)
        size += (yes & at).sum(axis=1) + (said & at).sum(axis=1)
    return hits, size


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part / whole, 0 if there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


class LabelVectorModel:
    """Beliefs about every cell, from cells (n, L) of which some are known and features X (n, d).

    scores : what the criterion of the settings gives each row (n,), or cell (n, L), by BML-CS; higher = ask sooner
    predictor : "bmlcs" or "onevsall", which predicts      comparison : by which it was chosen; None if it was not
    """

    def __init__(self, X: Matrix, cells: AnyArray, settings: LabelVectorSettings) -> None:
        # Without thresholds of their own: that of the calibration is fitted to cells they were not shown.
        classifier = BMLCSClassifier(
            n_components=settings.components(cells.shape[1]),
            max_iter=settings.max_iter,
            threshold=EVEN,
            mode=settings.mode,
            missing=settings.missing,
            random_state=settings.seed,
        )
        times = TRIALS if settings.model == AUTOMATIC else 1
        parts = [hide(cells, settings.seed, trial) for trial in range(times)]
        parts = [shown for shown in parts if (shown != cells).any()]
        # The models of the trials first: nothing of them is left when the first takes its place in memory.
        trials: dict[str, list[HiddenTrial]] = {}
        if settings.model != ONE_VS_ALL:
            trials[BMLCS] = [
                HiddenTrial(shown, SensingLearner.means(classifier, X, shown)) for shown in parts
            ]
        if settings.model != BMLCS:
            trials[ONE_VS_ALL] = [HiddenTrial(shown, _svm_distances(X, shown)) for shown in parts]
        self.predictor = settings.model
        self.comparison: PredictorComparison | None = None
        if settings.model == AUTOMATIC:
            self.comparison = compare(cells, trials[BMLCS], trials[ONE_VS_ALL])
            self.predictor = choose(self.comparison)
        self._sensing = SensingLearner(classifier, random_state=settings.seed).fit(X, cells)
        self._distances = _svm_distances(X, cells) if self.predictor == ONE_VS_ALL else None
        self._calibration = calibrate(cells, self._values, trials[self.predictor])
        self._scored_as, self._criterion = settings.question_entry.scored_as, settings.asked_by
        self._look()

    @property
    def _values(self) -> FloatArray:
        """(n, L) what the model that predicts makes of every cell."""
        return self._sensing.label_mean_ if self._distances is None else self._distances

    @property
    def threshold(self) -> float:
        """Above which probability a cell is predicted to be yes."""
        return self._calibration.threshold

    def _look(self) -> None:
        # After every answer, asked for or not: which covariances are rebuilt, and together with which others,
        # depends on when they are looked at, and a rebuilt model must be the one that lived through questions.
        self.scores: FloatArray = self._sensing.scores(self._scored_as, self._criterion)

    def learn(self, change: VectorChange) -> None:
        """Take in the new cells of a row at rank one. SVMs stay as they were fitted; what they make of a row of which
        the first is now known is read as that of such rows."""
        self._sensing.answer_row(change.row, change.values)
        self._look()

    def proba(self, rows: Sequence[int] | AnyArray | slice = slice(None)) -> FloatArray:
        """(r, L) probability of yes of the cells of rows (an index or mask); of known cells it says nothing."""
        partial = (self._sensing.cells_[rows] != UNKNOWN).any(axis=1)
        return self._calibration.proba(self._values[rows], partial)


def _svm_distances(X: Matrix, cells: AnyArray) -> FloatArray:
    """(n, L) distances of all cells from the margins of SVMs fitted to the known ones; 0 if none is known."""
    if not (cells != UNKNOWN).any():
        return np.zeros(cells.shape)
    frame = pd.DataFrame(cells)  # a matrix whatever its width
    return OneVsAllSVC(threshold=EVEN).fit(X, frame).decision_function(X)


@dataclass(frozen=True, eq=False)
class Refreshed:
    """A model fitted to the answers up to `seq`, and where the work stood then. One learner may adopt it, once."""

    seq: int
    model: LabelVectorModel
    point: LabelVectorPoint


@dataclass(frozen=True, eq=False)
class RefreshJob:
    """All that a fit needs, as it stood after the entry `seq`; nothing in it changes any more."""

    seq: int
    X: FeatureMatrix
    cells: AnyArray  # (n, L) int8, what models learn from
    open: BoolArray  # (n, L) what is not known
    test_rows: BoolArray
    truth: AnyArray  # (t, L) of these
    control: ControlSample
    answers: int
    yes: int
    no: int
    settings: LabelVectorSettings

    @classmethod
    def of(cls, pool: LabelVectorPool[VectorTable], X: Matrix) -> RefreshJob:
        """The job for a pool as it is."""
        return cls(
            seq=pool.seq,
            X=X,
            cells=pool.learnt_cells(),
            open=pool.unknown,
            test_rows=pool.test_rows,
            truth=pool.original[pool.test_rows],
            control=pool.control_sample(),
            answers=pool.answers,
            yes=pool.counts["yes"],
            no=pool.counts["no"],
            settings=pool.settings,
        )

    def run(self) -> Refreshed:
        """Fit the model; takes no lock and changes nothing. Raises ValueError where the data cannot be fitted."""
        model = LabelVectorModel(self.X, self.cells, self.settings)
        proba = model.proba()
        point = LabelVectorPoint(
            seq=self.seq,
            answers=self.answers,
            yes=self.yes,
            no=self.no,
            unasked=int(self.open.sum()),
            entropy=entropy_of(proba[self.open]),
            held_out=held_out(self.truth, proba[self.test_rows], model.threshold),
            control=control_estimate(
                self.control,
                proba[self.control.rows, self.control.columns],
                by_row=self.settings.by_row,
                threshold=model.threshold,
            ),
            predictor=model.predictor,
            comparison=model.comparison,
            threshold=model.threshold,
        )
        return Refreshed(self.seq, model, point)
