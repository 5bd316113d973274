"""The rounds of expectation and maximisation behind `DawidSkene`, on arrays.

With class masses pi, a confusion matrix theta of every person (what they say, given the truth), candidates S_i and
votes A (sets of classes, mostly of one), the log-likelihood is

    sum_i log sum_{c in S_i} pi_c prod_{votes (w, A) on i} sum_{l in A} theta^w_cl

and what rises from round to round is that plus the log density of the Dirichlet priors (Dawid and Skene, 1979, with
priors as in Paun et al., TACL 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels.crowd import SMALLEST, add_counts, find_confusions, find_distributions

TOLERANCE = 1e-6
"""The rounds end where the objective rises by less than this for each vote."""


@dataclass(frozen=True)
class SortedVotes:
    """Votes as the kernels take them. first (n + 1,), who (v,), begin (v + 1,), members: all int64."""

    first: IntArray
    who: IntArray
    begin: IntArray
    members: IntArray

    @property
    def voted(self) -> BoolArray:
        """(n,) the rows that have votes."""
        return np.diff(self.first) > 0


@dataclass(frozen=True)
class CrowdRounds:
    """What rounds gave: distributions (n, m), masses (m,), confusions (people, said, true), the objective's history."""

    distributions: FloatArray
    masses: FloatArray
    confusions: FloatArray
    objective: list[float]
    converged: bool


def sort_votes(rows: IntArray, who: IntArray, masks: BoolArray, n_rows: int) -> SortedVotes:
    """Votes by row, then by person: the same votes in another order are the same sums."""
    order = np.lexsort((who, rows))
    masks = masks[order]
    first = np.concatenate([[0], np.bincount(rows, minlength=n_rows).cumsum()]).astype(np.int64)
    begin = np.concatenate([[0], masks.sum(axis=1).cumsum()]).astype(np.int64)
    members = np.ascontiguousarray(np.nonzero(masks)[1], dtype=np.int64)
    return SortedVotes(first, np.ascontiguousarray(who[order], dtype=np.int64), begin, members)


def even(candidates: BoolArray) -> FloatArray:
    """(n, m) every candidate alike."""
    return np.asarray(candidates / candidates.sum(axis=1, keepdims=True), dtype=np.float64)


def shares_of_votes(votes: SortedVotes, candidates: BoolArray) -> FloatArray:
    """(n, m) a vote shared by its classes, inside the candidates; where no vote is inside, all candidates alike."""
    size = np.diff(votes.begin)
    row = np.repeat(np.arange(len(candidates)), np.diff(votes.first))
    shares = np.zeros(candidates.shape)
    np.add.at(shares, (np.repeat(row, size), votes.members), np.repeat(1.0 / np.maximum(size, 1), size))
    shares *= candidates
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), even(candidates))


def run_rounds(
    votes: SortedVotes,
    candidates: BoolArray,
    people: int,
    shape: FloatArray,
    strength: float,
    mass: float,
    max_iter: int,
) -> CrowdRounds:
    """Expectation and maximisation from the shares of the votes on.

    shape (said, true), strength : prior of every confusion matrix: `strength` answers on every class, in these shares
    mass : prior of the class masses: as many rows, spread evenly
    Rows without votes take no part; they have all candidates alike at the end.
    """
    n_classes, voted = candidates.shape[1], votes.voted.astype(np.float64)
    parts = votes.first, votes.who, votes.begin, votes.members
    distributions = shares_of_votes(votes, candidates)
    confusions = np.full((people, n_classes, n_classes), 1.0 / n_classes)
    counts = np.empty_like(confusions)
    objective: list[float] = []
    converged = False
    for _ in range(max_iter):
        # 1) what rows say of people
        counts[:] = 0.0
        add_counts(*parts, distributions, confusions, counts)
        density = find_confusions(counts, shape, strength, confusions)
        masses = voted @ distributions + mass / n_classes
        masses = np.maximum(masses / max(masses.sum(), SMALLEST), SMALLEST)
        # 2) what people say of rows
        value = find_distributions(*parts, masses, confusions, candidates, distributions)
        objective.append(float(value + density + mass / n_classes * np.log(masses).sum()))
        if len(objective) > 1 and objective[-1] - objective[-2] < TOLERANCE * max(len(votes.who), 1):
            converged = True
            break
    return CrowdRounds(distributions, masses, confusions, objective, converged)
