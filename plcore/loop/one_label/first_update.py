"""What a kernel ridge makes of new answers at once, before a worker's next version: a few rounds from the version.

It follows from the version and the candidates as they stand: how often it was done in between changes nothing, and a
withdrawn answer leaves nothing behind. Only what is said of training rows changes; held-out rows are judged by versions
alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plcore.arrays.threads import one_thread
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernel.rounds import Rounds
from plcore.labels.weights import prior_labels, weights_after_answers


@dataclass(frozen=True, eq=False)
class FirstUpdate:
    """scores : float32 (n, m) of all rows, as those of a `Version`
    effects : (n_train,) how far an answer about each row would move the others; None where nobody asked for them
    """

    scores: AnyArray
    effects: FloatArray | None


@dataclass(frozen=True, eq=False)
class Footing:
    """What first updates start from: the state of a version, for the training rows.

    rounds : all that the rounds go by      labels : (n_train, m) its soft labels
    candidates : bool (n_train, m) those it was trained on, bad items as they were imported
    effects : (n_train,) how far an answer about each row would move the others, then
    """

    rounds: Rounds
    labels: FloatArray
    candidates: BoolArray
    effects: FloatArray

    def update(
        self,
        candidates: BoolArray,
        scores: AnyArray,
        train: IntArray,
        with_effects: bool,
        weights: FloatArray | None,
    ) -> FirstUpdate:
        """Take in candidates (n_train, m) as they stand now, those of the rows `train` of the table.

        scores : (n, m) of the version      weights : (n_train, m) `candidate_weights` of the table's training rows, or
        None. A row without candidates, which has become a bad item, stays as it was until the next version leaves it
        out.
        """
        now = np.where(candidates.any(axis=1, keepdims=True), candidates, self.candidates)
        changed = np.flatnonzero((now != self.candidates).any(axis=1))
        prior = prior_labels(now, None if weights is None else weights_after_answers(weights, now))
        with one_thread():
            rounds = self.rounds.answered(now)
            labels = rounds.update(self.labels, changed, prior).labels
            own = rounds.class_scores(labels, prior)
            effects = rounds.effects(own, now) if with_effects else None
        updated = np.array(scores, dtype=np.float32)
        updated[train] = own
        return FirstUpdate(updated, effects)

    def state(self) -> dict[str, AnyArray]:
        """What is another in each version, as arrays by name, for a file."""
        packed = np.packbits(self.candidates, axis=1)
        return {"labels": self.labels, "candidates": packed, "effects": self.effects}

    def shared(self) -> dict[str, AnyArray]:
        """What all versions have between two changes of the bad items, as arrays by name; it is most of it."""
        return self.rounds.to_arrays()

    @classmethod
    def from_arrays(cls, shared: Mapping[str, AnyArray] | Footing, state: Mapping[str, AnyArray]) -> Footing:
        """What `shared`, or another that shares it, and `state` gave. Raises KeyError where something is missing."""
        rounds = shared.rounds if isinstance(shared, Footing) else Rounds.from_arrays(shared)
        labels = state["labels"]
        candidates = np.unpackbits(state["candidates"], axis=1, count=labels.shape[1]).astype(bool)
        return cls(rounds, labels, candidates, state["effects"])
