"""The model of a project of label vectors. BML-CS is fitted to all current cells, then updated answer by answer; BML-CS
or an SVM per label makes the predictions.

A fit is a job that holds everything it needs, so it can run in another thread, or again from the log. The same cells
give the same model, and the same later changes give the same state.
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

# The model that predicts unasked cells: BML-CS, or an SVM for each label.
#
# Both are fitted a few times with a seeded share of the known cells hidden, and compared on these: micro F1 of yes and
# no as the app would predict them, with calibration and threshold from the cells hidden in the other trials.

TRIALS = 3


def choose(comparison: PredictorComparison | None) -> str:
    """Return one-vs-all if it leads by more than one standard error, else BML-CS, which follows each answer."""
    if comparison is None or comparison.lead <= comparison.error:
        return BMLCS
    return ONE_VS_ALL


def compare(
    cells: AnyArray, bmlcs: Sequence[HiddenTrial], onevsall: Sequence[HiddenTrial]
) -> PredictorComparison | None:
    """Compare the two models on the known cells (n, L) hidden in their common trials.

    None if fewer than FEWEST_YES of these cells are yes, or all are in one row: too few to compare."""
    hidden = [(cells != UNKNOWN) & (trial.shown == UNKNOWN) for trial in bmlcs]
    judged = np.sum([at.sum(axis=1) for at in hidden], axis=0) if hidden else np.zeros(len(cells))
    yes = int(sum((cells[at] == 1).sum() for at in hidden))
    if yes < FEWEST_YES or (judged > 0).sum() < 2:
        return None
    counts = [_counts(cells, hidden, trials) for trials in (bmlcs, onevsall)]
    first, second = (float(hits.sum() / size.sum()) for hits, size in counts)
    # Jackknife over rows (Efron and Stein 1981), since cells of one row are correlated.
    without = [_share(hits.sum() - hits, size.sum() - size)[judged > 0] for hits, size in counts]
    difference = without[1] - without[0]
    n = len(difference)
    variance = (1 - 1 / n) * float(((difference - difference.mean()) ** 2).sum())
    return PredictorComparison(int(judged.sum()), yes, first, second, float(np.sqrt(variance)))


def _counts(
    cells: AnyArray, hidden: Sequence[BoolArray], trials: Sequence[HiddenTrial]
) -> tuple[FloatArray, FloatArray]:
    """Return (n,) and (n,), per row, summed over the trials: twice the true positives, and the number of yes plus
    predicted yes."""
    hits, size = np.zeros(len(cells)), np.zeros(len(cells))
    for k, (at, trial) in enumerate(zip(hidden, trials, strict=True)):
        others = [*trials[:k], *trials[k + 1 :]]
        # Calibrate with the cells shown in this trial, so that its hidden cells do not influence the others.
        model = calibrate(trial.shown, trial.values, others)
        said = model.proba(trial.values, (trial.shown != UNKNOWN).any(axis=1)) > model.threshold
        yes = cells == 1
        hits += 2.0 * (yes & said & at).sum(axis=1)
        size += (yes & at).sum(axis=1) + (said & at).sum(axis=1)
    return hits, size


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, 0 if `whole` is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


class LabelVectorModel:
    """Beliefs about every cell, from partly known cells (n, L) and features X (n, d).

    scores : score of each row (n,) or cell (n, L) under the criterion of the settings, by BML-CS; higher = ask sooner
    predictor : the model that predicts, "bmlcs" or "onevsall"      comparison : comparison that chose it, or None
    """

    def __init__(self, X: Matrix, cells: AnyArray, settings: LabelVectorSettings) -> None:
        # No thresholds of its own: the threshold of the calibration is fitted to hidden cells.
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
        # Fit the models of the trials first: their memory is free again before the main model is fitted.
        trials: dict[str, list[HiddenTrial]] = {}
        if settings.model != ONE_VS_ALL:
            trials[BMLCS] = [HiddenTrial(shown, SensingLearner.means(classifier, X, shown)) for shown in parts]
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
        """Return (n, L) the value of every cell by the model that predicts."""
        return self._sensing.label_mean_ if self._distances is None else self._distances

    @property
    def threshold(self) -> float:
        """Return the probability above which a cell is predicted as yes."""
        return self._calibration.threshold

    def _look(self) -> None:
        # Compute the scores after every answer, even if no one asks. The covariances that are rebuilt together depend
        # on when scores are read, and a rebuilt model must equal one that answered questions.
        self.scores: FloatArray = self._sensing.scores(self._scored_as, self._criterion)

    def learn(self, change: VectorChange) -> None:
        """Learn the new cells of a row as a rank-one update. SVMs stay as fitted. If this is the first known cell of
        the row, their values are then calibrated as those of partly known rows."""
        self._sensing.answer_row(change.row, change.values)
        self._look()

    def proba(self, rows: Sequence[int] | AnyArray | slice = slice(None)) -> FloatArray:
        """Return (r, L) the probability of yes of the cells of rows (an index or mask). Only unknown cells are
        meaningful."""
        partial = (self._sensing.cells_[rows] != UNKNOWN).any(axis=1)
        return self._calibration.proba(self._values[rows], partial)


def _svm_distances(X: Matrix, cells: AnyArray) -> FloatArray:
    """Return (n, L) the distances of all cells from the margins of SVMs fitted to the known cells; 0 if none is
    known."""
    if not (cells != UNKNOWN).any():
        return np.zeros(cells.shape)
    frame = pd.DataFrame(cells)  # a matrix for any number of columns
    return OneVsAllSVC(threshold=EVEN).fit(X, frame).decision_function(X)


@dataclass(frozen=True, eq=False)
class Refreshed:
    """A model fitted to the answers up to `seq`, and the progress at that time. A single learner may adopt it, once."""

    seq: int
    model: LabelVectorModel
    point: LabelVectorPoint


@dataclass(frozen=True, eq=False)
class RefreshJob:
    """Everything that a fit needs, as of entry `seq`; it no longer changes."""

    seq: int
    X: FeatureMatrix
    cells: AnyArray  # (n, L) int8, the cells that models learn from
    open: BoolArray  # (n, L) the unknown cells
    test_rows: BoolArray
    truth: AnyArray  # (t, L) of the test rows
    control: ControlSample
    answers: int
    yes: int
    no: int
    settings: LabelVectorSettings

    @classmethod
    def of(cls, pool: LabelVectorPool[VectorTable], X: Matrix) -> RefreshJob:
        """Return the job for the current state of a pool."""
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
        """Fit the model; takes no lock and changes nothing. Raises ValueError if the data cannot be fitted."""
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
