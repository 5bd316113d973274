"""Labelling runs replayed again and again, in blocks: one job for a repetition by a strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plcore.common.checks import check_int, check_names
from plcore.common.runners import (
    BlockJob,
    BlockProgress,
    Blocks,
    WrittenPart,
    remove_halves,
    run_parts,
)
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.evaluation.parts.rows import (
    KeptFeatures,
    keep_array,
    keep_features,
    kept_features,
)
from plcore.evaluation.replay import REPLAYED, Replay, replay

TEST_SHARE = 0.3
"""Of the rows, drawn anew for each repetition; the error is measured on them."""
FEWEST_ROWS = 20
POINTS = 10
"""Of a curve, beside its start."""


@dataclass(frozen=True)
class ReplayedRuns:
    """The runs by one strategy. answers : (p,) ascending      errors : (runs, p) of each run after so many answers"""

    strategy: str
    answers: IntArray
    errors: FloatArray


@dataclass(frozen=True)
class ReplayJob(BlockJob):
    """Writes (p, 2) answers and errors of one run. budget : answers      candidates, truth : names of parts"""

    strategy: str
    learner: str
    repetition: int
    seed: int
    budget: int
    features: KeptFeatures
    candidates: str
    truth: str

    def __str__(self) -> str:
        return f"Run {self.repetition + 1} by {self.strategy}"


def replay_once(job: ReplayJob) -> WrittenPart:
    """One run: rows to measure on are drawn, the others asked about."""
    X, candidates, truth = kept_features(job, job.features), job.read(job.candidates), job.read(job.truth)
    drawn = np.random.default_rng([job.seed, job.repetition]).permutation(len(truth))
    n_test = round(TEST_SHARE * len(truth))
    test, train = np.sort(drawn[:n_test]), np.sort(drawn[n_test:])
    entry = LEARNER_ENTRIES[job.learner]
    found: Replay = replay(
        X[train],
        np.array(candidates[train]),
        truth[train],
        X[test],
        truth[test],
        strategy=job.strategy,
        learner=entry.make({}, X),
        budget=job.budget,
        every=max(1, job.budget // POINTS),
        random_state=int(np.random.default_rng([job.seed, job.repetition, 1]).integers(2**31)),
    )
    return job.write(np.column_stack([found.answers, found.errors]))


def replay_in_blocks(
    blocks: Blocks,
    X: Any,
    candidates: BoolArray,
    truth: IntArray,
    strategies: Sequence[str] = ("apl", "random"),
    *,
    runs: int = 5,
    budget: float = 0.1,
    learner: str = next(iter(LEARNER_ENTRIES)),
    seed: int = 0,
    progress: BlockProgress | None = None,
) -> tuple[ReplayedRuns, ...]:
    """How far each strategy gets, over runs of `replay`, by whoever makes them; runs whose parts are there are not made
    anew. Each repetition holds out other rows to measure the error on, the same for all strategies.

    X (n, d), dense or CSR; candidates (n, m); truth (n,) the column of each row's true label
    strategies : names that can be replayed      runs : of each
    budget : answers, or a share below 1 of the rows that are not held out      learner : its name; PL-KNN by itself
    Raises ValueError for what is not allowed, and BlockError, RunnerError.
    """
    check_names("strategy", strategies, REPLAYED)
    check_names("learner", [learner], LEARNER_ENTRIES)
    check_int("runs", runs, 1)
    n_asked = len(truth) - round(TEST_SHARE * len(truth))
    if (
        not 0 < budget <= n_asked
        or not (budget < 1 or float(budget).is_integer())
        or len(truth) < FEWEST_ROWS
    ):
        raise ValueError(
            f"budget must be a whole number of answers from 1 to the {n_asked:,} rows that can be asked about, or a "
            f"share of them below 1, and rows at least {FEWEST_ROWS}. Got {budget!r} and {len(truth):,} rows."
        )
    folder = blocks.folder
    folder.mkdir(parents=True, exist_ok=True)
    features, sets, labels = (
        keep_features(folder, X),
        keep_array(folder, candidates),
        keep_array(folder, truth),
    )
    names = tuple(dict.fromkeys(strategies))
    jobs = [
        ReplayJob(
            folder,
            strategy=strategy,
            learner=learner,
            repetition=repetition,
            seed=seed,
            budget=max(1, round(budget * n_asked)) if budget < 1 else int(budget),
            features=features,
            candidates=sets,
            truth=labels,
        )
        for repetition in range(runs)
        for strategy in names
    ]
    run_parts(blocks.runner, replay_once, jobs, "runs", progress)
    remove_halves(folder)
    return tuple(
        _joined(name, [job.read(job.part) for job in jobs if job.strategy == name]) for name in names
    )


def _joined(strategy: str, runs: Sequence[FloatArray]) -> ReplayedRuns:
    """Runs at the numbers of answers that all were measured at: one with nothing left to ask ends before others."""
    answers = runs[0][:, 0]
    for run in runs[1:]:
        answers = np.intersect1d(answers, run[:, 0])
    errors = np.array([run[np.isin(run[:, 0], answers), 1] for run in runs])
    return ReplayedRuns(strategy, answers.astype(np.int64), errors)
