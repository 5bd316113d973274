"""Simulated labelling runs against known truth: the accuracy that a strategy reaches with a budget of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from plcore.arrays.checks import check_choice, check_int, check_names
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, LabelsLike, Matrix
from plcore.blocks import BlockJob, BlockProgress, Blocks, WrittenPart, remove_halves, run_parts
from plcore.evaluation.comparison import KeptFeatures, keep_array, keep_features, kept_features
from plcore.evaluation.learners import LEARNER_ENTRIES
from plcore.evaluation.metrics import check_ties, error_rate
from plcore.labels.candidates import CandidateError, check_candidates
from plcore.labels.weights import score_columns
from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.query.registry import STRATEGIES, STRATEGY_ENTRIES, make_strategy
from plcore.query.strategies import Strategy
from plcore.query.uncertainty import LearnerScore, LearnerScores

REPLAYED = tuple(
    name for name, entry in STRATEGY_ENTRIES.items() if name in STRATEGIES or hasattr(entry.strategy, "learner_changed")
)
"""Strategies that can be replayed by name: all that need no model, and those that take a fitted learner."""


@dataclass(frozen=True)
class Replay:
    """Record of a replayed run with the learner's accuracy along the way."""

    rows: IntArray  # (b,) the rows asked about, in order; fewer than the budget if nothing was left to ask
    answers: IntArray  # (p,) ascending, the number of answers at each measurement
    errors: FloatArray  # (p,) error rates on the test rows
    candidates: BoolArray  # (n, m) at the end of the run


def ask_oracle(strategy: Strategy, truth: IntArray, budget: int) -> Iterator[int]:
    """Answer the questions of a fitted strategy with the true label, one by one; yield the rows as they are
    answered.

    truth : int (n,) true column of each row      budget : maximum number of questions; it ends earlier if nothing is
        left to ask
    """
    labels = np.eye(strategy.candidates_.shape[1], dtype=bool)
    for _ in range(budget):
        best = strategy.next(1)
        if not len(best):
            return
        row = int(best[0])
        strategy.update(row, labels[truth[row]])
        yield row


def replay(
    X: Matrix,
    candidates: LabelsLike,
    y: LabelsLike,
    X_test: Matrix,
    y_test: ArrayLike,
    *,
    strategy: str | Strategy | LearnerScore = "apl",
    learner: BaseEstimator | None = None,
    budget: float = 0.1,
    every: int | None = None,
    learn_every: int = 1,
    ties: str = "error",
    random_state: int | None = None,
) -> Replay:
    """Simulate a labelling run: ask by the strategy, answer with the truth, measure the learner's error.

    X (n, d), candidates : training rows, as the learner's `fit`
    y : (n,) their true labels, known only to the oracle; an answer leaves the true label as the only candidate, even if
        it was none before
    X_test (k, d), y_test (k,) : rows with known labels to measure the error on. Labels in y and y_test are classes: the
        columns of a DataFrame of candidates, else 0..m-1; a y_test outside them counts as an error
    strategy : a name of `plcore.query.STRATEGIES`, "margin", "moves" for learners with `effect_scores`, or "cover",
        coverage to the end; or an unfitted `plcore.query.Strategy`. Those of `STRATEGIES` have the n_neighbors, weights
        and scaling of a PLKNeighborsClassifier, else those of `make_strategy`. Or a function of the fitted learner,
        score(learner, X, candidates) -> (n,), higher = ask sooner (`LearnerScores`):

            def entropy(learner, X, candidates):
                return scipy.stats.entropy(plcore.query.learner_shares(learner, X, candidates), axis=1)

    learner : unfitted classifier that learns from candidates and has decision_function, predict_proba or predict; None:
        PLKNeighborsClassifier(). Learners with `update(rows, candidates)` are updated, others are fitted again
    budget : answers, as an int or as a share in [0, 1] of the training rows (rounded)
    every : measure after every n-th answer, and always at the start and at the end
    learn_every : number of answers after which the learner learns, if the strategy uses it (has `learner_changed`); for
        other strategies it learns only when it is measured
    ties : "error" | "uniform", as `error_rate`      random_state : seed of the strategy made from a name
    The same arguments always give the same run. Raises ValueError for wrong arguments, CandidateError for wrong
    candidates or a y outside the classes.
    """
    candidates, classes = check_candidates(candidates)
    truth = _columns(y, classes, len(candidates))
    n_answers = _check_budget(budget, len(candidates))
    check_ties(ties)
    if every is not None:
        check_int("every", every, 1)
    check_int("learn_every", learn_every, 1)
    model = PLKNeighborsClassifier() if learner is None else clone(learner)
    chosen = _made(strategy, model, random_state)
    chosen.fit(X, candidates)
    model.fit(X, _named(candidates, classes))
    told: Callable[[BaseEstimator, Matrix], None] | None = getattr(chosen, "learner_changed", None)
    if told is not None:
        told(model, X)

    def error() -> float:
        return error_rate(_winners(model, X_test), y_test, ties, classes=model.classes_)

    def learn(rows: list[int]) -> None:
        _learn(model, X, chosen.candidates_, classes, rows)
        if told is not None:
            told(model, X)

    rows: list[int] = []
    answers, errors, fresh = [0], [error()], 0
    for row in ask_oracle(chosen, truth, n_answers):
        rows.append(row)
        measured = every is not None and len(rows) % every == 0
        if measured or (told is not None and len(rows) % learn_every == 0):
            learn(rows[fresh:])
            fresh = len(rows)
        if measured:
            answers, errors = [*answers, len(rows)], [*errors, error()]
    if len(rows) > answers[-1]:
        if fresh < len(rows):
            learn(rows[fresh:])
        answers, errors = [*answers, len(rows)], [*errors, error()]
    return Replay(np.array(rows, dtype=np.int64), np.array(answers), np.array(errors), chosen.candidates_.copy())


def _made(strategy: str | Strategy | LearnerScore, model: BaseEstimator, random_state: int | None) -> Strategy:
    """Return the unfitted strategy for a name or a function of the learner."""
    if isinstance(strategy, str):
        check_choice("strategy", strategy, REPLAYED)
        entry = STRATEGY_ENTRIES[strategy]
        if strategy not in STRATEGIES:
            made: Strategy = entry.strategy(random_state=random_state)
            return made
        shared = ("n_neighbors", "weights", "scaling", "search")
        own = {name: getattr(model, name) for name in shared} if isinstance(model, PLKNeighborsClassifier) else {}
        return make_strategy(strategy, **own, random_state=random_state)
    if hasattr(strategy, "next"):
        return cast(Strategy, strategy)
    return LearnerScores(strategy, random_state=random_state)


def _learn(model: BaseEstimator, X: Matrix, candidates: BoolArray, classes: AnyArray, rows: list[int]) -> None:
    """Bring the model up to date after answers about these rows."""
    if hasattr(model, "update"):
        model.update(rows, candidates[rows])
    else:
        model.fit(X, _named(candidates, classes))


def _named(candidates: BoolArray, classes: AnyArray) -> pd.DataFrame:
    return pd.DataFrame(candidates, columns=pd.Index(classes))


def _winners(model: BaseEstimator, X: Matrix) -> BoolArray:
    """Return bool (k, m) the best labels of each row under a fitted classifier; all labels with the best score win."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            scores = score_columns(getattr(model, name)(X))
            return np.asarray(scores == scores.max(axis=1, keepdims=True))
    return np.asarray(np.asarray(model.predict(X))[:, None] == np.asarray(model.classes_)[None])


def _columns(y: LabelsLike, classes: AnyArray, n: int) -> IntArray:
    """Return the column of each true label. Raises CandidateError for a label that is not a class."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must be {n} labels, one for each row. Got shape {labels.shape}.")
    columns: IntArray = pd.Index(classes).get_indexer(pd.Index(labels))
    if (columns < 0).any():
        row = int(np.argmax(columns < 0))
        raise CandidateError(f"y must hold classes. Got {labels.tolist()[row]!r} in row {row}.")
    return columns


def _check_budget(budget: object, n: int) -> int:
    if isinstance(budget, Integral):
        if not isinstance(budget, bool) and int(budget) >= 0:
            return int(budget)
    elif isinstance(budget, Real) and 0 <= float(budget) <= 1:
        return int(float(budget) * n + 0.5)
    raise ValueError(
        f"budget must be an int of at least 0, or a share in [0, 1] of the rows as a float. Got {budget!r}."
    )


# Repeated replays of labelling runs, in blocks: one job for each repetition of a strategy.

TEST_SHARE = 0.3
"""Share of the rows, redrawn for each repetition, on which the error is measured."""
FEWEST_ROWS = 20
POINTS = 10
"""Points of a curve, in addition to its start."""


@dataclass(frozen=True)
class ReplayedRuns:
    """The runs of one strategy. answers : (p,) ascending      errors : (runs, p) each run's error after these
    answers"""

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
    keep_scales: bool

    def __str__(self) -> str:
        return f"Run {self.repetition + 1} by {self.strategy}"


def replay_once(job: ReplayJob) -> WrittenPart:
    """Make one run: draw the rows to measure on, and ask about the others."""
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
        learner=entry.make({}, X, keep_scales=job.keep_scales),
        budget=job.budget,
        every=max(1, job.budget // POINTS),
        random_state=int(np.random.default_rng([job.seed, job.repetition, 1]).integers(2**31)),
    )
    return job.write(np.column_stack([found.answers, found.errors]))


def replay_in_blocks(
    blocks: Blocks,
    X: Matrix,
    candidates: BoolArray,
    truth: IntArray,
    strategies: Sequence[str] = ("apl", "random"),
    *,
    runs: int = 5,
    budget: float = 0.1,
    learner: str = next(iter(LEARNER_ENTRIES)),
    seed: int = 0,
    progress: BlockProgress | None = None,
    keep_scales: bool = False,
) -> tuple[ReplayedRuns, ...]:
    """Replay each strategy in runs of `replay`, by any process; runs whose parts exist are not repeated. Each
    repetition holds out other rows to measure the error on, the same for all strategies.

    X (n, d), dense or CSR; candidates (n, m); truth (n,) the column of each row's true label
    strategies : names in `REPLAYED`      runs : number of runs of each
    budget : answers, or a share below 1 of the rows that are not held out      learner : its name, by default PL-KNN
    keep_scales : whether the columns of X already have the right scales, as in `compare_learners`
    Raises ValueError for wrong arguments, and BlockError, RunnerError.
    """
    check_names("strategy", strategies, REPLAYED)
    check_names("learner", [learner], LEARNER_ENTRIES)
    check_int("runs", runs, 1)
    n_asked = len(truth) - round(TEST_SHARE * len(truth))
    if not 0 < budget <= n_asked or not (budget < 1 or float(budget).is_integer()) or len(truth) < FEWEST_ROWS:
        raise ValueError(
            f"budget must be a whole number of answers from 1 to the {n_asked:,} rows that can be asked about, or a "
            f"share of them below 1, and rows at least {FEWEST_ROWS}. Got {budget!r} and {len(truth):,} rows."
        )
    folder = blocks.folder
    folder.mkdir(parents=True, exist_ok=True)
    features, sets, labels = (keep_features(folder, X), keep_array(folder, candidates), keep_array(folder, truth))
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
            keep_scales=keep_scales,
        )
        for repetition in range(runs)
        for strategy in names
    ]
    run_parts(blocks.runner, replay_once, jobs, "runs", progress)
    remove_halves(folder)
    return tuple(_joined(name, [job.read(job.part) for job in jobs if job.strategy == name]) for name in names)


def _joined(strategy: str, runs: Sequence[FloatArray]) -> ReplayedRuns:
    """Return the runs at the numbers of answers that all runs were measured at: a run with nothing left to ask ends
    earlier."""
    answers = runs[0][:, 0]
    for run in runs[1:]:
        answers = np.intersect1d(answers, run[:, 0])
    errors = np.array([run[np.isin(run[:, 0], answers), 1] for run in runs])
    return ReplayedRuns(strategy, answers.astype(np.int64), errors)
