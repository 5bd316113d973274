"""An online learner, such as a Perceptron, as the model of a project: it takes each answer at once, in their order."""

from __future__ import annotations

from copy import deepcopy
from typing import Self

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray, Table
from plcore.loop.one_label.models import Model, softmax_inside
from plcore.loop.one_label.pool import CandidateChange, OneLabelPool
from plcore.loop.one_label.training import class_scores, standardized_features


class OnlineModel(Model):
    """First a few passes over all training rows as the table has them, then one round for each answered row.

    The rounds come in the order of the answers that made the rows what they are, those withdrawn or overruled left out,
    each with the row's candidates as they stand. A new answer adds a round; a correction or an undo starts again from
    the weights after the passes and replays the rounds. So the state follows from table and fold alone. A row marked
    bad leaves the passes too: they are made anew.
    """

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        super().__init__(pool)
        self._X = standardized_features(pool)
        self._X_held = self._X[pool.held]
        # Answered training rows, in the order of their rounds.
        self._rows = self._rounds()
        # Of each round: whether the prediction before it is not among the candidates after it.
        self._wrong: list[bool] = []
        self._out = self._bad()
        self._begin()
        self._learn(self._rows)
        self.score.say_all(self._predict_held())

    @property
    def progressive_error(self) -> float | None:
        """Share of the rounds before which the model predicted a label the answer ruled out; None before the first.

        The rows are those that the strategy chose: it is no estimate for other rows.
        """
        return float(np.mean(self._wrong)) if self._wrong else None

    def _begin(self) -> None:
        """The passes over the training rows that are no bad items."""
        pool = self._pool
        rows = pool.train[~pool.bad[pool.train]]
        settings = pool.settings
        self._model = settings.model_entry.make(settings.C, settings.seed)
        # With every row bad nothing is learnt: the first candidates, without features, say which classes there are.
        nothing = self._X[:1] * 0
        X, sets = (self._X[rows], pool.first[rows]) if len(rows) else (nothing, pool.first[:1])
        self._model.fit(X, sets)
        self._start = self._model.get_state()

    def standing(self, pool: OneLabelPool[Table]) -> Self:
        found = super().standing(pool)
        found._model = deepcopy(self._model)
        return found

    def learn(self, change: CandidateChange) -> None:
        row = change.row
        out, rounds = self._bad(), self._rounds()
        if out == self._out and rounds == [*self._rows, row]:
            self._rows, new = rounds, rounds[-1:]
        else:
            if out == self._out:
                self._model.set_state(self._start)
            else:
                self._out = out
                self._begin()
            self._rows, self._wrong, new = rounds, [], rounds
        self._learn(new)
        self.score.say_all(self._predict_held())

    def _learn(self, rows: list[int]) -> None:
        """A round for each of these rows."""
        if rows:
            sets = self._pool.candidates[rows]
            said = self._model.predict_then_learn(self._X[rows], sets)
            self._wrong += (~sets[np.arange(len(rows)), said]).tolist()

    def _bad(self) -> frozenset[int]:
        train = self._pool.train
        return frozenset(train[self._pool.bad[train]].tolist())

    def _rounds(self) -> list[int]:
        """The answered training rows by the entry that changed them last."""
        pool = self._pool
        counted = np.flatnonzero(pool.answered & ~pool.bad & ~pool.control_rows)
        changed = counted[(pool.candidates[counted] != pool.first[counted]).any(axis=1)]
        return sorted(changed.tolist(), key=pool.changed_at.__getitem__)

    def _predict_held(self) -> IntArray:
        if not len(self._pool.held):
            return np.zeros(0, dtype=np.int64)
        return np.asarray(class_scores(self._model, self._X_held).argmax(axis=1), dtype=np.int64)

    def shares(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        inside = self._pool.candidates[rows] if inside is None else inside
        return softmax_inside(class_scores(self._model, self._X[rows]), inside)
