"""The rounds: alternate between a regression on soft labels and soft labels inside the candidates, until
convergence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, RoundProgress
from plcore.kernel.smoother import Ridge, effects
from plcore.kernel.soft_labels import logs_inside, softmax_inside
from plcore.kernels import largest_change, margins, softmax_rows
from plcore.labels.set_masses import SetMasses
from plcore.labels.weights import ClassMasses

TOLERANCE = 0.01  # largest change of a row's soft labels, summed over the classes, for the rounds to end
UPDATE_ROUNDS = 3  # after a few rows got new candidates


@dataclass(frozen=True, eq=False)
class Settled:
    """The result of the rounds. labels : (n, m) soft labels      changes : the largest change of a row in each round"""

    labels: FloatArray
    changes: list[float]

    @property
    def converged(self) -> bool:
        return bool(self.changes) and self.changes[-1] < TOLERANCE


@dataclass(frozen=True, eq=False)
class Doubts:
    """The degree to which the truth of each row is assumed to be outside its set (`plcore.kernel.doubtful`).

    shares : (n,) of each row's label outside      temperature : of the softmax there, at least that of the rounds
    beyond : (n, m) the classes outside of each set
    """

    shares: FloatArray
    temperature: float
    beyond: BoolArray

    @cached_property
    def rows(self) -> IntArray:
        return np.flatnonzero(self.shares > 0)

    def mix(self, labels: FloatArray, scores: FloatArray, temperature: float) -> FloatArray:
        """Return soft labels (n, m) inside the sets; for doubted rows, mixed with the softmax of their scores
        (n, m) outside."""
        rows, mixed = self.rows, labels.copy()
        outside = softmax_rows(scores[rows] / max(temperature, self.temperature), self.beyond[rows])
        part = self.shares[rows][:, None]
        mixed[rows] = (1.0 - part) * labels[rows] + part * outside
        return mixed

    def without(self, rows: IntArray) -> Doubts:
        """Return these doubts without rows (r,) that were answered."""
        shares = self.shares.copy()
        shares[rows] = 0.0
        return replace(self, shares=shares)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return all of it as arrays by name, for a file; `from_arrays` restores it."""
        temperature = np.array(self.temperature)
        return {"doubt_shares": self.shares, "doubt_temperature": temperature, "doubt_beyond": self.beyond}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Doubts:
        """Restore the result of `to_arrays`. Raises KeyError if something is missing."""
        return cls(arrays["doubt_shares"], float(arrays["doubt_temperature"]), arrays["doubt_beyond"])


ANNEALED_FROM, COOLING = 0.5, 0.75
"""With doubts, the temperature of round t, from 0, is 0.5 * 0.75^t, at least that of the rounds."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """The inputs of the rounds, except the current candidates of the rows.

    masses, mass : the class masses, and the power of the pull towards them      temperature : of the softmax
    sources, set_mass : the set masses, and the power of the pull towards them; None and 0 for none
    doubts : of sets that may lack the truth, None for none
    """

    ridge: Ridge
    masses: ClassMasses
    mass: float
    temperature: float
    sources: SetMasses | None = None
    set_mass: float = 0.0
    doubts: Doubts | None = None

    def answered(self, candidates: BoolArray, rows: IntArray | None = None) -> Rounds:
        """Return the rounds for other candidates (n, m): set masses count rows with one candidate as answers;
        the rows (r,) that have changed, if given, are no longer doubted."""
        doubts = self.doubts if self.doubts is None or rows is None else self.doubts.without(rows)
        if doubts is not None:
            candidates = candidates | (doubts.shares > 0)[:, None]
        sources = None if self.sources is None else self.sources.answered(candidates)
        return replace(self, sources=sources, doubts=doubts)

    def settle(
        self, prior: FloatArray, max_iter: int, start: FloatArray | None = None, progress: RoundProgress | None = None
    ) -> Settled:
        """Alternate both steps, from the prior (n, m) or from `start` (n, m), until no row changes by
        TOLERANCE.

        Plain rounds can oscillate between two states forever: once the largest change stops falling, each round moves
        only half of the way. Rows of weight 0 follow; they neither stop the rounds nor keep them going.
        progress : called with (round from 1, largest change) after each; an exception in it ends the rounds
        """
        labels = prior if start is None else start
        logs, inside = logs_inside(prior)
        if self.doubts is not None and start is None:
            labels = self.doubts.mix(prior, np.zeros(prior.shape), self.temperature)
        changes: list[float] = []
        damped = False
        for number in range(max_iter):
            scores = self.ridge.left_out_scores(labels)
            temperature = self.temperature
            if self.doubts is not None and start is None:
                temperature = max(temperature, ANNEALED_FROM * COOLING**number)
            soft = softmax_rows(scores / temperature + logs, inside)
            if self.doubts is not None:
                soft = self.doubts.mix(soft, scores, temperature)
            new = self.masses.pull(soft, self.mass)
            if self.sources is not None:
                new = self.sources.pull(new, self.set_mass)
            changes.append(largest_change(labels, new, self.ridge.weights))
            damped = damped or (len(changes) > 2 and changes[-1] >= changes[-2])
            done = changes[-1] < TOLERANCE
            labels = (labels + new) / 2 if damped and not done else new
            if progress is not None:
                progress(len(changes), changes[-1])
            if done:
                break
        return Settled(labels, changes)

    def update(self, labels: FloatArray, rows: IntArray, prior: FloatArray) -> Settled:
        """Run a few warm rounds from soft labels (n, m) that had converged before some rows (r,) got other
        candidates.

        These rows start from the part of their soft labels on their present candidates, or from their prior if that
        part is zero; prior (n, m) is the current one of all rows.
        """
        start = labels.copy()
        inside = np.where(prior[rows] > 0, labels[rows], 0.0)
        total = inside.sum(axis=1, keepdims=True)
        start[rows] = np.where(total > 0, inside / np.where(total > 0, total, 1.0), prior[rows])
        return self.settle(prior, UPDATE_ROUNDS, start)

    def class_scores(self, labels: FloatArray, prior: FloatArray) -> FloatArray:
        """Return scores (n, m) for every class of each training row, candidate or not, from converged soft
        labels.

        Logarithms of shares, up to a constant per row: their softmax inside the candidates is the result of one more
        round. prior : (n, m) as for `settle`; not used outside the candidates
        """
        largest = prior.max(axis=1, keepdims=True)
        told = np.log(prior / largest, out=np.zeros_like(prior), where=prior > 0)
        return np.asarray(self.pulled_scores(labels, prior) + told)

    def pulled_scores(self, labels: FloatArray, prior: FloatArray) -> FloatArray:
        """Return scores (n, m) as `class_scores` but without the prior, so that classes inside and outside of
        the candidates can be compared."""
        scores = self.ridge.left_out_scores(labels)
        soft = softmax_inside(scores, self.temperature, prior)
        if self.doubts is not None:
            soft = self.doubts.mix(soft, scores, self.temperature)
        after, pulled = self.masses.pull_with_logs(soft, self.mass)
        if self.sources is not None:
            pulled = pulled + self.sources.log_factors(after, self.set_mass)
        return np.asarray(scores / self.temperature + pulled)

    def effects(self, scores: FloatArray, candidates: BoolArray) -> FloatArray:
        """Return (n,) the effect scores of the rows by their `class_scores` inside the candidates (n, m)."""
        return effects(self.ridge, 1.0 - margins(softmax_rows(scores, candidates)))

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return all of it as arrays by name, for a file; `from_arrays` restores it."""
        return {
            "rows": self.ridge.rows,
            "weights": self.ridge.weights,
            "shrink": self.ridge.shrink,
            "mass_weights": self.masses.weights,
            "mass_targets": self.masses.targets,
            "mass": np.array(self.mass),
            "temperature": np.array(self.temperature),
            "set_mass": np.array(self.set_mass),
            **({} if self.sources is None else self.sources.to_arrays()),
            **({} if self.doubts is None else self.doubts.to_arrays()),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Rounds:
        """Restore the result of `to_arrays`. Raises KeyError if something is missing."""
        ridge = Ridge(arrays["rows"], arrays["weights"], arrays["shrink"])
        masses = ClassMasses(arrays["mass_weights"], arrays["mass_targets"])
        set_mass = float(arrays.get("set_mass", 0.0))  # older files have none
        sources = SetMasses.from_arrays(arrays) if set_mass > 0 else None
        doubts = Doubts.from_arrays(arrays) if "doubt_shares" in arrays else None
        mass, temperature = float(arrays["mass"]), float(arrays["temperature"])
        return cls(ridge, masses, mass, temperature, sources, set_mass, doubts)


def left_out_accuracy(ridge: Ridge, labels: FloatArray, candidates: BoolArray) -> float:
    """Return the weighted share of leave-one-out predictions inside their sets: candidate accuracy without held-out
    rows."""
    scores = ridge.left_out_scores(labels)
    scores[:, ~candidates.any(axis=0)] = -np.inf
    inside = candidates[np.arange(len(candidates)), scores.argmax(axis=1)]
    return float(np.average(inside, weights=ridge.weights))


TEMPERATURES = (0.02, 2.0)
"""Least and greatest temperature of probabilities, in units of scores, which are about 1 for a certain class."""


def probability_temperature(ridge: Ridge, labels: FloatArray, candidates: BoolArray, otherwise: float) -> float:
    """Return the temperature T at which leave-one-out scores F make the candidate sets (n, m) most probable.

    It maximises sum_i s_i log sum_{c in S_i} softmax(F_i / T)_c, with the weights s of the rows: no clean label is
    used. The temperature of the rounds is sharper, because it must separate the candidates of one row. otherwise :
    returned if no set rules a class out
    """
    possible = candidates.any(axis=0)
    telling = np.flatnonzero((ridge.weights > 0) & ~candidates[:, possible].all(axis=1))
    if not len(telling):
        return otherwise
    scores = ridge.left_out_scores(labels)[np.ix_(telling, np.flatnonzero(possible))]
    scores -= scores.max(axis=1, keepdims=True)
    inside, weights = candidates[np.ix_(telling, np.flatnonzero(possible))], ridge.weights[telling]

    def loss(log_temperature: float) -> float:
        each = np.exp(scores / np.exp(log_temperature))
        shares = (each * inside).sum(axis=1) / each.sum(axis=1)
        return -float(weights @ np.log(np.maximum(shares, np.finfo(float).tiny)))

    found = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))
