"""The models of a learner behind one interface, with predictions for training rows and held-out rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy, deepcopy
from typing import Self

import numpy as np

from plcore.arrays.candidate_sets import CandidateSets
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, Table
from plcore.kernels.scores import margins, softmax_margins, softmax_rows
from plcore.loop.one_label.pool import CandidateChange, OneLabelPool
from plcore.loop.one_label.training import class_scores, standardized_features
from plcore.neighbors.classifier import votes_to_distributions
from plcore.neighbors.graph import Graph
from plcore.query.plugged import Order
from plcore.query.ranker import EffectRanker


class Model(ABC):
    """Interface of a learner's model. Rows are those of the table; no model learns from held-out rows.

    score : score of its predictions for the held-out rows
    order : of the training rows by a plug-in, if the current version brings it
    """

    order: Order | None = None

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        self._pool = pool
        self.score = pool.held_score()

    @property
    def progressive_error(self) -> float | None:
        """Share of answers it predicted wrongly before learning them (`OnlineModel`); None if it does not learn that
        way."""
        return None

    @property
    def said(self) -> IntArray | None:
        """Predicted class of each held-out row, (n_held,), -1 for none; None if there is no model yet."""
        return self.score.said

    @property
    def order_scores(self) -> FloatArray | None:
        """Scores of the training rows in `order`, (n_train,); None if a plug-in did not order them."""
        return None if self.order is None else self.order.scores

    def standing(self, pool: OneLabelPool[Table]) -> Self:
        """Return a frozen copy of this model for `pool`, a snapshot of its own pool."""
        found = copy(self)
        found._pool, found.score = pool, deepcopy(self.score)  # which says whether there is a model
        return found

    @abstractmethod
    def learn(self, change: CandidateChange) -> None:
        """Learn new candidates of a training row, if the model follows each answer."""

    @abstractmethod
    def shares(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        """Return (r, m) label distributions of rows inside their current candidates; 0 if a row has none.

        inside : bool (r, m), other candidates instead
        """

    def scores(self, rows: IntArray) -> FloatArray:  # noqa: ARG002 - those that have scores look at them
        """Return (r, m) the scores of rows in the current version. Raises ValueError if the model has none."""
        raise ValueError(f"{type(self).__name__} gives shares, no scores of classes.")

    def unseen_shares(self, rows: IntArray, inside: BoolArray) -> FloatArray:
        """Return shares as `shares`, without each row's own vote if the model can leave it out."""
        return self.shares(rows, inside)

    def margins(self, rows: IntArray) -> FloatArray:
        """Return (r,) the largest share of each row minus the second largest."""
        return margins(self.shares(rows))

    def effects(self, rows: IntArray) -> FloatArray:
        """Return (r,) how much an answer about each of these training rows would change the others; if the model cannot
        estimate it, the uncertainty of each row itself."""
        return np.asarray(1.0 - self.margins(rows))

    def ordered(self, rows: IntArray) -> FloatArray:
        """Return (r,) the scores of these training rows in `order`; without them, the uncertainty of each row."""
        scores = self.order_scores
        return np.asarray(1.0 - self.margins(rows) if scores is None else scores[self._pool.place[rows]])

    def shares_of_others(self, row: int, own: BoolArray, *, learnt: bool) -> FloatArray | None:
        """Return (m,) the shares of one row inside the candidates `own` (m,), without the row's own vote.

        learnt : the model may have learnt from answers to the row that its shares must not reveal. Returns None if the
            model cannot leave them out
        """
        return None if learnt else np.asarray(self.shares(np.array([row]), own[None])[0])


class NeighborModel(Model):
    """PL-KNN over the neighbours of a graph. Votes are exact integers and follow each answer.

    The ranker holds the votes for the training rows; it must apply a change before `learn` does.
    """

    def __init__(self, pool: OneLabelPool[Table], ranker: EffectRanker, graph: Graph) -> None:
        super().__init__(pool)
        self._own_votes = ranker.votes_
        self.held_votes = ranker.votes_.beside(graph.test_neighbors, graph.test_weights)
        self.score.say_all(self.held_votes.most(np.arange(len(pool.held))))

    def standing(self, pool: OneLabelPool[Table]) -> Self:
        found = super().standing(pool)
        found._own_votes, found.held_votes = self._own_votes.copy(), self.held_votes.copy()
        return found

    def learn(self, change: CandidateChange) -> None:
        places = self.held_votes.update(int(self._pool.place[change.row]), change.old, change.new)
        self.score.say(places, self.held_votes.most(places))

    def shares(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        inside = self._pool.candidates[rows] if inside is None else inside
        return votes_to_distributions(self._votes(rows), inside)

    def unseen_shares(self, rows: IntArray, inside: BoolArray) -> FloatArray:
        pool, votes = self._pool, self._votes(rows)
        train = ~(pool.test_rows[rows] | pool.control_rows[rows])  # each is its own first neighbour
        own = self._own_votes.weights[pool.place[rows[train]], :1]
        votes[train] -= own * pool.candidates[rows[train]]
        return votes_to_distributions(votes, inside)

    def shares_of_others(self, row: int, own: BoolArray, *, learnt: bool) -> FloatArray:  # noqa: ARG002 - left out
        return np.asarray(self.unseen_shares(np.array([row]), own[None])[0])

    def _votes(self, rows: IntArray) -> IntArray:
        pool = self._pool
        held = pool.test_rows[rows] | pool.control_rows[rows]
        votes = np.zeros((len(rows), len(pool.classes)), dtype=np.int64)
        votes[~held] = self._own_votes.of(pool.place[rows[~held]])
        votes[held] = self.held_votes.of(pool.place[rows[held]])
        return votes


class ScoredModel(Model):
    """A model that is trained elsewhere; each version provides its scores of all rows."""

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        super().__init__(pool)
        self._scores: AnyArray | None = None
        self._effects: FloatArray | None = None

    def publish(self, scores: AnyArray, effects: FloatArray | None, order: Order | None) -> None:
        """Use these scores (n, m) from now on, without a copy; -inf for classes that are never predicted.

        effects : (n_train,) effect scores of the training rows, None if the model gives none      order : as
            `Version.order`

        Raises ValueError for another shape.
        """
        wanted = (len(self._pool.original), len(self._pool.classes))
        n_train = len(self._pool.train)
        if scores.shape != wanted:
            raise ValueError(f"scores must have the shape {wanted}: rows and classes of the table. Got {scores.shape}.")
        ordered = None if order is None else order.scores
        for name, one in (("effects", effects), ("order", ordered)):
            if one is not None and one.shape != (n_train,):
                raise ValueError(f"{name} must be of the {n_train} training rows. Got {one.shape}.")
        self.follow(scores, effects)
        self.order = order
        self.score.say_all(np.asarray(scores[self._pool.held].argmax(axis=1), dtype=np.int64))

    def follow(self, scores: AnyArray, effects: FloatArray | None) -> None:
        """Use these scores for training rows only. Predictions for held-out rows, and the order, stay as published."""
        self._scores, self._effects = scores, effects

    def scores(self, rows: IntArray) -> FloatArray:
        if self._scores is None:
            return super().scores(rows)
        return np.asarray(self._scores[rows], dtype=np.float64)

    def learn(self, change: CandidateChange) -> None:
        """Do nothing: a first update, or the next version, will include the change."""

    def effects(self, rows: IntArray) -> FloatArray:
        if self._effects is None:
            return super().effects(rows)
        return np.asarray(self._effects[self._pool.place[rows]])

    def shares(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        candidates = self._pool.candidates[rows] if inside is None else inside
        if self._scores is None:
            return even_shares(candidates)
        return softmax_inside(np.asarray(self._scores[rows]), candidates)

    def margins(self, rows: IntArray) -> FloatArray:
        if self._scores is None or isinstance(self._pool.candidates, CandidateSets):
            return super().margins(rows)
        # This covers all open rows after every version: computing the shares would take four times as long.
        return softmax_margins(np.asarray(self._scores), self._pool.candidates, rows)


def even_shares(candidates: BoolArray) -> FloatArray:
    """Return (r, m) even shares of each row's candidates."""
    return np.asarray(candidates / np.maximum(candidates.sum(axis=1, keepdims=True), 1))


def softmax_inside(scores: AnyArray, candidates: BoolArray) -> FloatArray:
    """Return (r, m) the softmax of the scores over each row's candidates: even shares if all their scores are -inf, or
    one is inf or NaN."""
    return softmax_rows(scores, candidates)


class OnlineModel(Model):
    """An online learner: first a few passes over all training rows as imported, then one round for each answered row.

    Rounds come in the order of the answers that decided the current state of each row, without withdrawn and overruled
    ones, and use the row's current candidates. A new answer adds a round. A correction or an undo restarts from the
    weights after the passes and replays the rounds. So the state depends only on the table and the fold. A row marked
    as bad also leaves the passes, which are then repeated.
    """

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        super().__init__(pool)
        self._X = standardized_features(pool)
        self._X_held = self._X[pool.held]
        # Answered training rows, in the order of their rounds.
        self._rows = self._rounds()
        # For each round, whether the prediction before it is outside the candidates after it.
        self._wrong: list[bool] = []
        self._out = self._bad()
        self._begin()
        self._learn(self._rows)
        self.score.say_all(self._predict_held())

    @property
    def progressive_error(self) -> float | None:
        """Share of the rounds before which the model predicted a label that the answer ruled out; None before the
        first.

        The strategy chose these rows, so it is not an estimate for other rows.
        """
        return float(np.mean(self._wrong)) if self._wrong else None

    def _begin(self) -> None:
        """Make the passes over the training rows that are not bad items."""
        pool = self._pool
        rows = pool.train[~pool.bad[pool.train]]
        settings = pool.settings
        self._model = settings.model_entry.make(settings.C, settings.seed)
        # If every row is bad there is nothing to learn: fit empty features and the first candidates, so that the
        # classes are known.
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
        """Learn one round for each of these rows."""
        if rows:
            sets = self._pool.candidates[rows]
            said = self._model.predict_then_learn(self._X[rows], sets)
            self._wrong += (~sets[np.arange(len(rows)), said]).tolist()

    def _bad(self) -> frozenset[int]:
        train = self._pool.train
        return frozenset(train[self._pool.bad[train]].tolist())

    def _rounds(self) -> list[int]:
        """Return the answered training rows by the entry that changed them last."""
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
