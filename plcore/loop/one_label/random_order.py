"""Simulated runs of a project in random order: with its model, rows and classes, but other questions. No database, no
files.

The results are determined by table, settings and entries. The models below are never published: they learn true labels
that the project hides, and answers to blind checks, which the project's models must not see.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from time import thread_time
from typing import Any

import numpy as np

from plcore.arrays.candidate_sets import lowest_of
from plcore.arrays.types import BoolArray, FloatArray, IntArray, RoundProgress, StepProgress, Table
from plcore.evaluation.random_order import FEWEST_ORDERS, RandomOrderLine, RandomRuns, by_carrying_on, by_replays
from plcore.loop.changes import ClassChange
from plcore.loop.entries import Entry, EntryKind
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.training import Trainer
from plcore.neighbors.graph import Graph

# A project's model under other answers than the given ones: restarted, answered, and asked to predict held-out rows.
#
# It is the same model as in the loop (`.learner`, `.training`), so that only the order of the questions is compared.

SOMEBODY = "random"


class Run(ABC):
    """Any number of consecutive runs on one table with one draw of held-out rows."""

    @property
    @abstractmethod
    def pool(self) -> OneLabelPool[Table]:
        """The state of the rows."""

    @abstractmethod
    def begin(self) -> None:
        """Restart without any answers."""

    @abstractmethod
    def apply(self, entry: Entry) -> None:
        """Apply an entry."""

    @abstractmethod
    def said(self, progress: RoundProgress) -> IntArray:
        """Return (n_held,) the current prediction for each held-out row. progress : as for `Trainer.train`"""

    def follow(self, entries: Iterable[Entry]) -> None:
        """Apply the given answers, in order."""
        for entry in entries:
            self.apply(entry)

    def answer(self, row: int, label: int) -> None:
        """Give the row this label, even if it is not a candidate: a verdict allows that, `is` does not."""
        pool = self.pool
        seq = max(pool.seq, pool.changed_until) + 1
        self.apply(Entry(seq, EntryKind.VERDICT, row, SOMEBODY, (pool.classes[label],)))


class RunAtOnce(Run):
    """Runs of a model that follows each answer."""

    def __init__(
        self, table: Table, settings: LearnerSettings, changes: Sequence[ClassChange], controls: IntArray | None
    ) -> None:
        self._made = table, settings, changes, controls
        self._learner = self._make(None)

    def _make(self, graph: Graph | None) -> ActiveLearner[Table]:
        table, settings, changes, controls = self._made
        return ActiveLearner(table, settings, graph, changes, controls)

    @property
    def pool(self) -> OneLabelPool[Table]:
        return self._learner.pool

    def begin(self) -> None:
        self._learner = self._make(self._learner.graph)  # answers do not change the neighbours

    def apply(self, entry: Entry) -> None:
        self._learner.apply(entry)

    def said(self, progress: RoundProgress) -> IntArray:
        progress(0, 0.0)
        said = self._learner.said
        return np.full(len(self.pool.held), -1) if said is None else said.copy()


class RunTrained(Run):
    """Runs of a model that is fitted as a whole. Shared inputs of its fits, such as a kernel, are computed once for all
    runs."""

    def __init__(
        self, table: Table, settings: LearnerSettings, changes: Sequence[ClassChange], controls: IntArray | None
    ) -> None:
        self._pool: OneLabelPool[Table] = OneLabelPool(table, settings, changes, controls)
        self._trainer = Trainer(self._pool)
        self._applied: list[Entry] = []

    @property
    def pool(self) -> OneLabelPool[Table]:
        return self._pool

    def begin(self) -> None:
        withdrawn = {entry.target for entry in self._applied}
        for entry in self._applied:
            if entry.target is not None or entry.seq in withdrawn:
                continue
            seq = max(self._pool.seq, self._pool.changed_until) + 1
            self._pool.apply(Entry(seq, EntryKind.WITHDRAW, entry.row, entry.annotator, target=entry.seq))
        self._applied = []

    def apply(self, entry: Entry) -> None:
        self._pool.apply(entry)
        self._applied.append(entry)

    def said(self, progress: RoundProgress) -> IntArray:
        scores = self._trainer.train(progress).scores
        return np.asarray(scores[self._pool.held].argmax(axis=1), dtype=np.int64)


def make_run(
    table: Table, settings: LearnerSettings, changes: Sequence[ClassChange] = (), controls: IntArray | None = None
) -> Run:
    """Return the runs of a project. controls : rows to hold out instead of its own blind checks, as for the pool"""
    made = RunTrained if settings.is_trained else RunAtOnce
    return made(table, settings, changes, controls)


ORDERS = 5
"""Number of runs in random order if the truth is known."""
ORDERS_OF_CHECKS = 3
FOLDS = 5
FEWEST_CHECKS = 30
"""Minimum number of answered blind checks for their curve to be meaningful."""
FEWEST_MEASURED = 30
"""Minimum number of test rows, for the same reason."""
_UNTIL_NOW = (0.0, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1.0)
_BEYOND = (1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0)
"""Points at which runs are measured, in multiples of the project's number of answers."""
_OF_CHECKS = 8
_AHEAD = 0.03
"""Required lead of a run over the project before it ends: a second measurement may be worse."""

_LONGEST = 4
"""Fits are abandoned after this many time budgets."""

TRUTH, CHECKS = "truth", "checks"
"""Source of the estimate: replays on known truth, or blind checks with an extrapolated curve."""


class CannotEstimateError(ValueError):
    """Reason why random order cannot be estimated, and what is missing, in a sentence for users."""


@dataclass(frozen=True)
class RandomOrderFound:
    """Result of the runs.

    how : TRUTH or CHECKS      line : see `plcore.evaluation.RandomOrderLine`
    model : name of the model in all runs      measured : number of rows measured on      orders : number of random
        orders
    given : number of the project's answers to training rows      now : its accuracy on the same rows
    """

    how: str
    line: RandomOrderLine
    model: str
    measured: int
    orders: int
    given: int
    now: float

    def to_json(self) -> dict[str, object]:
        """Return plain values for `json.dumps`."""
        return {**asdict(self), "line": self.line.to_json()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RandomOrderFound:
        """Restore the result of `to_json`."""
        return cls(**{**stored, "line": RandomOrderLine.from_json(stored["line"])})


class RandomOrderRuns:
    """Replays a project in random order. Call `apply` with the whole log before `measure`.

    table, changes : as for the pool
    """

    def __init__(self, table: Table, settings: LearnerSettings, changes: Iterable[ClassChange] = ()) -> None:
        self._table, self._changes = table, tuple(changes)
        self._settings = replace(settings, strategy="random")
        self.pool: OneLabelPool[Table] = OneLabelPool(table, settings, self._changes)
        self._log: list[Entry] = []

    def apply(self, entry: Entry) -> None:
        """Apply an entry. Raises AnswerError, and changes nothing, if it is impossible."""
        self.pool.apply(entry)
        self._log.append(entry)

    def how(self) -> str:
        """Return the source of the estimate, TRUTH or CHECKS. Raises CannotEstimateError."""
        pool = self.pool
        if pool.settings.several:
            raise CannotEstimateError("Where several people answer each row, random order is not estimated.")
        if len(self._answered()) == 0:
            raise CannotEstimateError("The first answers are still to come.")
        if pool.test_rows.sum() >= FEWEST_MEASURED and len(self._hidden()) >= len(self._answered()):
            return TRUTH
        missing = FEWEST_CHECKS - len(self._checks())
        if missing <= 0:
            return CHECKS
        if not pool.control_rows.any():
            raise CannotEstimateError(
                "There are no blind checks, and the table hides no true labels: one of them is needed. "
                "Fix: draw blind checks when the project is made."
            )
        if int(pool.control_rows.sum()) < FEWEST_CHECKS:
            raise CannotEstimateError(
                f"{FEWEST_CHECKS} answered blind checks are needed, and this project has "
                f"{int(pool.control_rows.sum())} in all."
            )
        raise CannotEstimateError(f"{missing} more blind {'check' if missing == 1 else 'checks'} must be answered.")

    def measure(self, progress: StepProgress | None = None, budget: float | None = None) -> RandomOrderFound:
        """Return the line of random order.

        progress : called between fits with (fits done, total fits, name of the model); an exception it raises ends the
            runs
        budget : CPU seconds, after which no further order begins

        Raises CannotEstimateError, and ValueError if the model cannot be fitted.
        """
        how = self.how()
        clock = _Clock(progress, budget, self._settings.model_in_force)
        runs = self._by_truth(clock) if how == TRUTH else self._by_checks(clock)
        line = by_replays(runs) if how == TRUTH else by_carrying_on(runs)
        if line is None:
            raise CannotEstimateError("The blind checks are too few to carry their curve on.")
        return RandomOrderFound(
            how=how,
            line=line,
            model=self._settings.model_in_force,
            measured=len(runs.weights),
            orders=len(runs.right),
            given=runs.given,
            now=float(runs.right_now @ runs.weights),
        )

    # Training and test data

    def _answered(self) -> IntArray:
        """Return the training rows that have an answer."""
        return self.pool.train[self.pool.answered[self.pool.train]]

    def _hidden(self) -> IntArray:
        """Return the training rows that could be asked about at first and whose truth the table hides."""
        pool = self.pool
        askable = (pool.first.sum(axis=1) >= 2) & (pool.truth >= 0)
        return np.asarray(pool.train[askable[pool.train]])

    def _checks(self) -> IntArray:
        """Return the blind checks that were asked and have one label now."""
        pool = self.pool
        return np.flatnonzero(pool.control_rows & pool.answered & (pool.sizes == 1))

    def _free(self) -> IntArray:
        """Return the blind checks that had one candidate from the start."""
        pool = self.pool
        return np.flatnonzero(pool.control_rows & (pool.first.sum(axis=1) == 1) & (pool.sizes == 1))

    def _entries(self) -> list[Entry]:
        """Return all entries about answered training rows, including withdrawn ones, since later entries may depend on
        them."""
        rows = set(self._answered().tolist())
        return [one for one in self._log if one.row in rows]

    # Runs

    def _by_truth(self, clock: _Clock) -> RandomRuns:
        """Return complete runs on the hidden truth of the table, measured on the test rows."""
        pool, given, rows = self.pool, len(self._answered()), self._hidden()
        test = pool.test_rows[pool.held]
        truth = pool.truth[pool.held][test]
        answers = np.unique([min(round(share * given), len(rows)) for share in (*_UNTIL_NOW, *_BEYOND)])
        clock.begin(1 + ORDERS * len(answers))
        run = self._run()
        run.follow(self._entries())
        right_now = run.said(clock.tell)[test] == truth
        found: list[list[BoolArray]] = []
        while len(found) < ORDERS and not (clock.is_over and len(found) >= FEWEST_ORDERS):
            drawn = np.random.default_rng([self._settings.seed, 5, len(found)]).permutation(rows)
            seen = []
            for said in self._run_through(run, drawn, pool.truth[drawn], answers, clock):
                seen.append(said[test] == truth)
                better = seen[-1].mean() >= right_now.mean() + _AHEAD
                if not found and answers[len(seen) - 1] > given and better:
                    answers = answers[: len(seen)]  # the other runs end there too
                    clock.begin(1 + ORDERS * len(answers))
                    break
            found.append(seen)
        k = len(truth)
        return RandomRuns(answers, np.array(found), np.full(k, 1 / k), right_now, given)

    def _by_checks(self, clock: _Clock) -> RandomRuns:
        """Return short runs on the blind checks, by cross-validation.

        The checks of each fold are measured by models that learn the checks of the other folds, in random order. Each
        learnt check replaces a training row, since more rows would make a better model."""
        pool, seed = self.pool, self._settings.seed
        asked, free = self._checks(), self._free()
        known = np.concatenate([asked, free])
        random = np.random.default_rng([seed, 6])
        part = np.concatenate([random.permutation(len(rows)) % FOLDS for rows in (asked, free)])
        fewest = len(asked) - (len(asked) + FOLDS - 1) // FOLDS
        answers = np.unique(np.linspace(0, fewest, _OF_CHECKS).round().astype(np.int64))
        clock.begin(1 + FOLDS * ORDERS_OF_CHECKS * len(answers))
        run = self._run()
        run.follow(self._entries())
        right_now = run.said(clock.tell)[pool.place[known]] == pool.known()[pool.place[known]]
        right = np.zeros((ORDERS_OF_CHECKS, len(answers), len(known)), dtype=bool)
        for fold in range(FOLDS):
            here, learn = part == fold, known[part != fold]
            dropped = random.choice(pool.train, min(len(learn), len(pool.train) - 1), replace=False)
            run = self._run(np.concatenate([np.setdiff1d(np.flatnonzero(pool.control_rows), learn), dropped]))
            rows = learn[np.isin(learn, asked)]
            for order in range(ORDERS_OF_CHECKS):
                drawn = np.random.default_rng([seed, 7, order]).permutation(rows)
                labels = lowest_of(pool.candidates, drawn)
                for place, said in enumerate(self._run_through(run, drawn, labels, answers, clock)):
                    says = said[run.pool.place[known[here]]]
                    right[order, place, here] = says == lowest_of(pool.candidates, known[here])
        return RandomRuns(answers, right, self._weights(len(asked), len(free)), right_now, len(self._answered()))

    def _weights(self, asked: int, free: int) -> FloatArray:
        """Return the weight of each check. Checks ambiguous at first have the same total weight as such rows have in
        the pool."""
        share = self.pool.share_ambiguous if free else 1.0
        return np.repeat([share / asked, (1 - share) / max(free, 1)], [asked, free])

    def _run(self, controls: IntArray | None = None) -> Run:
        return make_run(self._table, self._settings, self._changes, controls)

    @staticmethod
    def _run_through(
        run: Run, rows: IntArray, labels: IntArray, answers: IntArray, clock: _Clock
    ) -> Iterator[IntArray]:
        """Yield the predictions after each number of answers (j,), for these rows in this order."""
        run.begin()
        before = 0
        for until in answers.tolist():
            for row, label in zip(rows[before:until].tolist(), labels[before:until].tolist(), strict=True):
                run.answer(row, label)
            before = until
            yield run.said(clock.tell)
            clock.done += 1


class _Clock:
    """Progress of the fits, and their time budget."""

    def __init__(self, progress: StepProgress | None, budget: float | None, model: str) -> None:
        self._progress, self._budget, self._model = progress, budget, model
        self._begun, self.done, self._total = thread_time(), 0, 0

    def begin(self, total: int) -> None:
        self._total = total

    @property
    def is_over(self) -> bool:
        return self._budget is not None and thread_time() - self._begun > self._budget

    def tell(self, *_: object) -> None:
        """Report the progress. Raises CannotEstimateError if the fits take far longer than the budget."""
        if self._progress is not None:
            self._progress(self.done, self._total, self._model)
        if self._budget is not None and thread_time() - self._begun > _LONGEST * self._budget:
            raise CannotEstimateError("The project's model takes too long to be fitted again and again.")
