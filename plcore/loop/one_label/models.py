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
from plcore.query.ranker import EffectRanker


class Model(ABC):
    """Interface that the learner needs of its model. Rows are those of the table; nothing here learns from a
    held-out row.

    score : of what it says of the held-out rows
    """

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        self._pool = pool
        self.score = pool.held_score()

    @property
    def progressive_error(self) -> float | None:
        """How often it was wrong before it learnt an answer (`OnlineModel`); None if it does not learn so."""
        return None

    @property
    def said(self) -> IntArray | None:
        """(n_held,) the class it gives each held-out row, -1 for none; None while there is no model yet."""
        return self.score.said

    def standing(self, pool: OneLabelPool[Table]) -> Self:
        """This model as it is now, of a pool that stays as its own is now: it learns no more."""
        found = copy(self)
        found._pool, found.score = pool, deepcopy(self.score)  # which says whether there is a model at all
        return found

    @abstractmethod
    def learn(self, change: CandidateChange) -> None:
        """Take in new candidates of a training row, where the model follows each answer."""

    @abstractmethod
    def shares(self, rows: IntArray, inside: BoolArray | None = None) -> FloatArray:
        """(r, m) label distributions of rows inside their candidates now; 0 if a row has none.

        inside : bool (r, m), other candidates instead
        """

    def scores(self, rows: IntArray) -> FloatArray:  # noqa: ARG002 - those that have scores look at them
        """(r, m) the scores of rows, of a version. Raises ValueError if the model has none."""
        raise ValueError(f"{type(self).__name__} gives shares, no scores of classes.")

    def unseen_shares(self, rows: IntArray, inside: BoolArray) -> FloatArray:
        """As `shares`, without each row's own vote if it has one and the model can leave it out."""
        return self.shares(rows, inside)

    def margins(self, rows: IntArray) -> FloatArray:
        """(r,) the largest share of each row less the second largest."""
        return margins(self.shares(rows))

    def effects(self, rows: IntArray) -> FloatArray:
        """(r,) how far an answer about each of these training rows would move the others; where the model cannot tell,
        how unsure each is itself."""
        return np.asarray(1.0 - self.margins(rows))

    def shares_of_others(self, row: int, own: BoolArray, *, learnt: bool) -> FloatArray | None:
        """(m,) as `shares` of one row inside the candidates `own` (m,), without the row's own vote if it has one.

        learnt : the model may have learnt from answers to the row which no one is to tell from its shares; None then,
            if it cannot leave the row out
        """
        return None if learnt else np.asarray(self.shares(np.array([row]), own[None])[0])


class NeighborModel(Model):
    """PL-KNN over the neighbours of a graph. Votes are exact integers and follow each answer.

    The ranker keeps the votes about the training rows; it must apply a change before `learn` does.
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
        train = ~(pool.test_rows[rows] | pool.control_rows[rows])  # each its own first neighbour
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

    def publish(self, scores: AnyArray, effects: FloatArray | None) -> None:
        """Use these scores (n, m) from now on; -inf for classes that are never predicted. They are not copied.

        effects : (n_train,) effect scores of the training rows, None if the model gives none
        Raises ValueError for another shape.
        """
        wanted = (len(self._pool.original), len(self._pool.classes))
        if scores.shape != wanted:
            raise ValueError(
                f"scores must have the shape {wanted}: rows and classes of the table. Got {scores.shape}."
            )
        if effects is not None and effects.shape != (len(self._pool.train),):
            raise ValueError(
                f"effects must be of the {len(self._pool.train)} training rows. Got {effects.shape}."
            )
        self.follow(scores, effects)
        self.score.say_all(np.asarray(scores[self._pool.held].argmax(axis=1), dtype=np.int64))

    def follow(self, scores: AnyArray, effects: FloatArray | None) -> None:
        """As `publish`, but what it says of held-out rows stays: these scores differ for training rows alone."""
        self._scores, self._effects = scores, effects

    def scores(self, rows: IntArray) -> FloatArray:
        if self._scores is None:
            return super().scores(rows)
        return np.asarray(self._scores[rows], dtype=np.float64)

    def learn(self, change: CandidateChange) -> None:
        """Nothing: a first update, or the next version, will have learnt it."""

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
        # All open rows after every version: the shares themselves would take four times as long.
        return softmax_margins(np.asarray(self._scores), self._pool.candidates, rows)


def even_shares(candidates: BoolArray) -> FloatArray:
    """(r, m) the same share for each candidate of a row."""
    return np.asarray(candidates / np.maximum(candidates.sum(axis=1, keepdims=True), 1))


def softmax_inside(scores: AnyArray, candidates: BoolArray) -> FloatArray:
    """(r, m) exp(s) / sum exp(s) over the candidates of each row; even shares where all their scores are -inf, or one
    is inf or NaN."""
    return softmax_rows(scores, candidates)


class OnlineModel(Model):
    """An online learner: first a few passes over all training rows as imported, then one round for each
    answered row.

    The rounds come in the order of the answers that made the rows what they are, those withdrawn or overruled left out,
    each with the row's candidates as they are. A new answer adds a round; a correction or an undo starts again from
    the weights after the passes and replays the rounds. So the state follows from table and fold alone. A row marked
    bad leaves the passes too: they are rebuilt.
    """

    def __init__(self, pool: OneLabelPool[Table]) -> None:
        super().__init__(pool)
        self._X = standardized_features(pool)
        self._X_held = self._X[pool.held]
        # Answered training rows, in the order of their rounds.
        self._rows = self._rounds()
        # For each round: whether the prediction before it is not among the candidates after it.
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
