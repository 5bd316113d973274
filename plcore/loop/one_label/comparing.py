"""Compare the possible models of a pool on its own rows, in the background. No database, no files.

The results are determined by table, settings and entries.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from plcore.arrays.types import FEATURE_SETS, BoolArray, FeatureMatrix, IntArray, StepProgress, Table
from plcore.blocks import BlockProgress, Blocks
from plcore.evaluation import compare_learners, replay_in_blocks
from plcore.evaluation.learners import read_learners
from plcore.loop.comparison import (
    FEWEST_ANSWERED,
    FEWEST_ROWS,
    FeatureComparison,
    ModelComparison,
    ModelFigures,
    TooFewRowsError,
)
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.training import held_weights, members_held, plain_features, scaled_features, sources_of
from plcore.loop.registry import MODEL_ENTRIES, Upkeep

FEWEST_CHECKS = 10
"""Minimum number of answered blind checks to measure models by them."""
BY_VOTES = next(one.name for one in MODEL_ENTRIES.values() if one.upkeep is Upkeep.VOTES)


_Features: TypeAlias = tuple[FeatureMatrix, bool, Mapping[str, FeatureMatrix]]
"""Output of `_features`."""


class Comparer:
    """Compares models on the current rows of a pool.

    Every training row that is not a bad item is held out once and predicted by fits on the others. Answered blind
    checks join them once there are enough, with the candidates of the *file*: their answers are the truth that
    predictions are compared with, and no fit ever sees them. Test rows are not used: they must not influence the
    choice.

    If rows come from sources (`.training.sources_of`), all rows of a source are held out together. Every other held-out
    row stays in its source for learners that use sources, with the candidates of the file and without weight, as in a
    version (`.training.KernelFits`).

    by_truth : measure by the true labels of the table instead, which no fit sees either; only for tables without a
        project, where the true labels have no other use
    """

    def __init__(self, pool: OneLabelPool[Table], *, by_truth: bool = False) -> None:
        self.pool, self._by_truth = pool, by_truth
        self._made: _Features | None = _features(pool)
        self._sources = sources_of(pool, self._made[0])

    def compare(
        self, progress: StepProgress | None = None, budget: float | None = None, blocks: Blocks | None = None
    ) -> ModelComparison:
        """Compare all models that can be compared; return their figures and the best one.

        progress : called between fits with (fits done, total fits, name of the model); an exception it raises ends the
            comparison
        budget : CPU seconds, after which the models not yet tried are left out; features get the same budget again
        blocks : runs the fits, see `plcore.evaluation.compare_learners`; progress is then reported between
            fits only
        Raises TooFewRowsError; ValueError if nothing can be compared on these rows; BlockError, RunnerError of blocks.
        """
        pool = self.pool
        rows, candidates, truth = compared_rows(pool)
        if self._by_truth:
            truth = pool.truth[rows]
        if len(rows) < FEWEST_ROWS:
            raise TooFewRowsError(
                f"Rows to learn from: {len(rows)}. That is too few to compare models, which takes at least "
                f"{FEWEST_ROWS}. Until then the project keeps its model. Fix: add rows, or choose a model by hand."
            )
        checks = int((truth >= 0).sum())
        found = self._compare(
            [
                *(one.name for one in read_learners(None) if one.name in MODEL_ENTRIES),
                *(one.name for one in MODEL_ENTRIES.values() if one.source),
            ],
            None,
            (rows, candidates, truth),
            budget=budget,
            progress=progress,
            blocks=blocks,
        )
        figures = tuple(_figures(one) for one in found.to_dict("records"))
        best = next((str(name) for name in found["learner"][found["chosen"]]), None)
        features = None if best is None else self.compare_features(best, progress, budget, blocks)
        return ModelComparison(figures, best, len(rows), checks, features)

    def compare_features(
        self,
        model: str,
        progress: StepProgress | None = None,
        budget: float | None = None,
        blocks: Blocks | None = None,
    ) -> FeatureComparison | None:
        """Compare the feature sets with one model; None if they do not differ, or too few rows are answered.
        The other arguments and the errors are those of `compare`."""
        pool = self.pool
        has_choice = getattr(pool.table, "has_feature_choice", False)
        rows, truth = answered_rows(pool)
        known = truth >= 0
        if not has_choice or known.sum() < FEWEST_ANSWERED:
            return None
        accuracy = {}
        for use in FEATURE_SETS:
            found = self._compare(
                [model],
                None if use == pool.settings.features_in_force else use,
                (rows, pool.candidates[rows], truth),
                budget=None if budget is None else budget / len(FEATURE_SETS),
                progress=progress,
                blocks=blocks,
            )
            accuracy[use] = _number(found["accuracy"].iloc[0])
        measured = {use: share for use, share in accuracy.items() if share is not None}
        return FeatureComparison(measured, model, int(known.sum()))

    def _compare(
        self, learners: Sequence[str], use: str | None, compared: tuple[IntArray, BoolArray, IntArray], **how: Any
    ) -> pd.DataFrame:
        """Return the figures of learners on the compared rows and, if there are sources, with the other members of the
        sources.

        use : the feature set, None for the one in force      compared : output of `compared_rows`
        how : budget, progress and blocks of `compare_learners`
        """
        pool, (rows, candidates, truth) = self.pool, compared
        weights, n = pool.weights_of(rows, candidates), len(rows)
        others = members_held(pool, self._sources, rows)
        if len(others):
            more = pool.original[others]
            rows, candidates = np.concatenate([rows, others]), np.concatenate([candidates, more])
            truth = np.concatenate([truth, np.full(len(others), -1)])
            if weights is not None:
                weights = np.concatenate([weights, held_weights(pool, others, more)])
        X, keep_scales, own = self._features_of(rows, use)
        return compare_learners(
            X,
            candidates,
            learners,
            y_true=np.where(truth < 0, np.nan, truth) if (truth >= 0).any() else None,
            random_state=pool.settings.seed,
            candidate_weights=weights,
            weighted=[one.name for one in MODEL_ENTRIES.values() if one.weighs_candidates],
            keep_scales=keep_scales,
            own_features=own,
            own_parameters={BY_VOTES: {"n_neighbors": pool.settings.n_neighbors, "weights": pool.settings.weights}},
            groups=None if self._sources is None else self._sources[rows],
            members_only=np.arange(len(rows)) >= n if len(others) else None,
            imported=pool.first[rows],
            **how,
        )

    def _features_of(self, rows: IntArray, use: str | None) -> _Features:
        """Return the features of these rows, and keep those of no others: a comparison takes minutes."""
        made = None
        if use is None:
            made, self._made = self._made, None
        X, keep_scales, own = made or _features(self.pool, use)
        return X[rows], keep_scales, {name: plain[rows] for name, plain in own.items()}


def _features(pool: OneLabelPool[Table], use: str | None = None) -> _Features:
    """Return (features, keep_scales, own).

    features : of all rows, as `features_with_scales`      keep_scales : whether they keep their scales
    own : features of the models with neighbour votes, by name, as in the project's graph"""
    plain, blocks = plain_features(pool, use)
    own = {one.name: plain for one in MODEL_ENTRIES.values() if one.upkeep is Upkeep.VOTES}
    return scaled_features(pool, plain, blocks), bool(blocks), own


def compared_rows(pool: OneLabelPool[Table]) -> tuple[IntArray, BoolArray, IntArray]:
    """Return (rows, their candidates, the column of their true label or -1) for a comparison, see
    `Comparer`."""
    rows = pool.train[~pool.bad[pool.train]]
    checked = np.flatnonzero(pool.control_rows & pool.answered & (pool.sizes == 1) & ~pool.bad)
    if len(checked) < FEWEST_CHECKS:
        return rows, pool.candidates[rows], np.full(len(rows), -1)
    truth = np.concatenate([np.full(len(rows), -1), pool.candidates[checked].argmax(axis=1)])
    candidates = np.concatenate([pool.candidates[rows], pool.original[checked]])
    return np.concatenate([rows, checked]), candidates, truth


def answered_rows(pool: OneLabelPool[Table]) -> tuple[IntArray, IntArray]:
    """Return (training rows without bad items, the column of the label that answers left for each, or -1).

    A row is predicted by fits that have not seen it, so its own answer does not help. Blind checks are not used: they
    must not influence the choice.
    """
    rows = pool.train[~pool.bad[pool.train]]
    known = pool.answered[rows] & (pool.sizes[rows] == 1) & (pool.sizes_at_first[rows] > 1)
    truth = np.full(len(rows), -1)
    truth[known] = pool.candidates[rows[known]].argmax(axis=1)
    return rows, truth


def _figures(line: Mapping[Hashable, Any]) -> ModelFigures:
    """Convert one line of `compare_learners` to plain values."""
    option = MODEL_ENTRIES[line["learner"]].c_option
    C = None if option is None else line["parameters"].get(option)
    return ModelFigures(
        model=line["learner"],
        C=None if C is None else float(C),
        consistency=_number(line["candidate_accuracy"]),
        kappa=_number(line["kappa"]),
        accuracy=_number(line["accuracy"]),
        seconds=float(line["seconds"]),
        note=line["note"],
    )


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(value)


# Simulated labelling runs on a table with known truth: the error each strategy would have reached. No database.


@dataclass(frozen=True)
class StrategyPoint:
    """A point of a strategy's curve.

    error : mean share of wrong predictions over the runs, after this many answers
    spread : standard deviation between runs, None for a single run
    """

    strategy: str
    answers: int
    error: float
    spread: float | None


@dataclass(frozen=True)
class StrategyRuns:
    """The curves of all strategies, one after the other. rows : rows with a true label      runs : runs per strategy"""

    points: tuple[StrategyPoint, ...]
    rows: int
    runs: int

    def told(self) -> str:
        """Return a sentence that describes the runs."""
        return f"{self.runs} runs by each strategy on {self.rows:,} rows of known truth."

    def to_csv(self) -> str:
        """Return CSV text with the columns strategy, answers, error, spread."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("strategy", "answers", "error", "spread"))
        for one in self.points:
            spread = "" if one.spread is None else f"{one.spread:.4f}"
            writer.writerow((one.strategy, one.answers, f"{one.error:.4f}", spread))
        return text.getvalue()

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`."""
        return asdict(self)


class StrategyReplays:
    """Replays labelling runs on a pool before its first entry; the table's hidden truth answers the questions
    and measures the error."""

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        self.pool = pool

    def replay(
        self,
        blocks: Blocks,
        strategies: Sequence[str],
        *,
        learner: str = BY_VOTES,
        progress: BlockProgress | None = None,
        **options: Any,
    ) -> StrategyRuns:
        """Return the curves of the strategies. PL-KNN uses the features of the project's graph, other
        learners standardised ones.

        Options as for `plcore.evaluation.replay_in_blocks`. Raises ValueError, BlockError, RunnerError.
        """
        pool = self.pool
        rows = np.flatnonzero(pool.truth >= 0)
        if not len(rows):
            raise ValueError("The table has no true labels to answer with or measure on. Fix: name their column.")
        X, _, own = _features(pool)
        found = replay_in_blocks(
            blocks,
            own.get(learner, X)[rows],
            pool.candidates[rows],
            pool.truth[rows],
            strategies,
            learner=learner,
            progress=progress,
            keep_scales=learner in own,
            **options,
        )
        points = tuple(
            StrategyPoint(
                one.strategy, answers, float(errors.mean()), float(errors.std(ddof=1)) if len(errors) > 1 else None
            )
            for one in found
            for answers, errors in zip(one.answers.tolist(), one.errors.T, strict=True)
        )
        return StrategyRuns(points, len(rows), len(found[0].errors))
