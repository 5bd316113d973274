"""A project's model under other answers than were given: begun anew, answered, and asked what it says of held-out rows.

It is the model of the project as the loop has it (`.learner`, `.training`), so that what is compared is the order of
the questions alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from plcore.common.types import IntArray, RoundProgress
from plcore.loop.changes import ClassChange
from plcore.loop.entries import Entry, EntryKind
from plcore.loop.one_label.learner import ActiveLearner
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.one_label.training import Trainer

SOMEBODY = "random"


class Run(ABC):
    """One table under one draw of held-out rows; any number of runs, one after the other."""

    @property
    @abstractmethod
    def pool(self) -> OneLabelPool[Any]:
        """How the rows stand."""

    @abstractmethod
    def begin(self) -> None:
        """Back to where nothing is answered."""

    @abstractmethod
    def apply(self, entry: Entry) -> None:
        """Take in an entry."""

    @abstractmethod
    def said(self, progress: RoundProgress) -> IntArray:
        """(n_held,) what the model says of each held-out row now. progress : as for `Trainer.train`"""

    def follow(self, entries: Iterable[Entry]) -> None:
        """Take in the answers that were given, in order."""
        for entry in entries:
            self.apply(entry)

    def answer(self, row: int, label: int) -> None:
        """Somebody gives the row this label, were it a candidate or not: that is how a verdict differs from `is`."""
        pool = self.pool
        seq = max(pool.seq, pool.changed_until) + 1
        self.apply(Entry(seq, EntryKind.VERDICT, row, SOMEBODY, (pool.classes[label],)))


class RunAtOnce(Run):
    """Of a model that follows each answer."""

    def __init__(
        self, table: Any, settings: LearnerSettings, changes: Sequence[ClassChange], controls: IntArray | None
    ) -> None:
        self._made = table, settings, changes, controls
        self._learner = self._make(None)

    def _make(self, graph: Any) -> ActiveLearner[Any]:
        table, settings, changes, controls = self._made
        return ActiveLearner(table, settings, graph, changes, controls)

    @property
    def pool(self) -> OneLabelPool[Any]:
        return self._learner.pool

    def begin(self) -> None:
        self._learner = self._make(self._learner.graph)  # answers change no neighbours

    def apply(self, entry: Entry) -> None:
        self._learner.apply(entry)

    def said(self, progress: RoundProgress) -> IntArray:
        progress(0, 0.0)
        said = self._learner.said
        return np.full(len(self.pool.held), -1) if said is None else said.copy()


class RunTrained(Run):
    """Of a model that is fitted as a whole. What it is fitted by, a kernel perhaps, is made once for all runs."""

    def __init__(
        self, table: Any, settings: LearnerSettings, changes: Sequence[ClassChange], controls: IntArray | None
    ) -> None:
        self._pool: OneLabelPool[Any] = OneLabelPool(table, settings, changes, controls)
        self._trainer = Trainer(self._pool)
        self._applied: list[Entry] = []

    @property
    def pool(self) -> OneLabelPool[Any]:
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
    table: Any,
    settings: LearnerSettings,
    changes: Sequence[ClassChange] = (),
    controls: IntArray | None = None,
) -> Run:
    """The run of a project. controls : rows to hold out in place of its own blind checks, as for the pool"""
    made = RunTrained if settings.is_trained else RunAtOnce
    return made(table, settings, changes, controls)
