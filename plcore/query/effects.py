"""Effect scores: what an answer about a row could change (Eq. 2-4, 11, 12; Prop. 4, 5, 6).

The three propositions are exact (if and only if) for rows with two candidates or more and positive weight, with `>=` in
D1 and D2, strict `>` in Eq. 10 and strict `<` in C1 and C2. A precise row scores 0: the conditions do not apply there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from plcore.arrays.candidate_sets import CandidateSets
from plcore.arrays.checks import check_choice
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray, LabelsLike
from plcore.kernels.effects import NARROW, SETTLED, find_effects, find_imprecise
from plcore.kernels.possible import search_effects
from plcore.kernels.scores import SHARE_UNIT, add_scores, add_shares
from plcore.neighbors.near import Kept, NearGraph, kept_form, near_graphs
from plcore.neighbors.votes import check_graph
from plcore.query.possible import MAX_NODES, check_count, warn_undecided

RULES = ("mw", "apl", "pl")
DECISIONS = ("set", "incumbent")
BLOCK = 2**14  # targets per call of the compiled loops: bounds memory and spreads work evenly over threads
NO_SETS: BoolArray = np.zeros((0, 0), dtype=bool)
NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)


class Rule(NamedTuple):
    """Definition of an effect and its graph: checked arguments of the compiled loops."""

    neighbors: AnyArray  # int32 (T, K)
    weights: IntArray  # int64 (T, K)
    masks: Kept  # current candidates
    n_classes: int
    rule: str
    decision: str
    max_nodes: int
    like: AnyArray  # empty, with the data type of the computation

    def changing(self, targets: IntArray, settled: BoolArray | None = None) -> tuple[BoolArray, int]:
        """Return which neighbours of these targets count, bool (B, K), and the number of undecided searches.

        settled : bool (T,), filled with the settled targets: those that no answer can change any more (NL is not empty
            and APL = NL, Prop. 3, B3). None: not filled

        For "mw", every imprecise neighbour with weight counts. For "apl" and "pl", those that could change h, NL or
        (A)PL of the target by one answer count.
        """
        if self.rule == "mw":
            if settled is not None:
                self.settle(targets, settled)
            return self._imprecise(targets), 0
        sure = np.empty((len(targets), self.neighbors.shape[1]), dtype=bool)
        undecided = 0
        for places, near in self._near(targets):
            part = np.empty((len(near.targets), sure.shape[1]), dtype=bool)
            approximate, state = np.empty_like(part), np.empty(len(part), dtype=np.int64)
            self._find(near, part, approximate, state)
            if settled is not None:
                settled[targets[places]] = state & SETTLED
            if self.rule == "apl":
                np.logical_or(part, approximate, out=part)
            else:
                undecided += search_effects(
                    near.targets, near.neighbors, near.weights, near.masks, near.n_classes, int(self.max_nodes),
                    False, state, part, approximate, NO_SETS, NO_SETS,
                )  # fmt: skip
            sure[places] = part
        return sure, undecided

    def settle(self, targets: IntArray, settled: BoolArray) -> None:
        """Fill settled, bool (T,), for these targets, without evaluating answers."""
        for places, near in self._near(targets):
            state = np.empty(len(near.targets), dtype=np.int64)
            self._find(near, NO_SETS, NO_SETS, state)
            settled[targets[places]] = state & SETTLED

    def _near(self, targets: IntArray) -> Iterator[tuple[IntArray | slice, NearGraph]]:
        return near_graphs(targets, self.neighbors, self.weights, self.masks, self.n_classes)

    def _imprecise(self, targets: IntArray) -> BoolArray:
        """Return (B, K) the neighbours with weight that have at least two candidates."""
        if isinstance(self.masks, CandidateSets):
            return (self.masks.sizes[self.neighbors[targets]] >= 2) & (self.weights[targets] > 0)
        sure = np.empty((len(targets), self.neighbors.shape[1]), dtype=bool)
        find_imprecise(targets, self.neighbors, self.weights, self.masks, sure)
        return sure

    def _find(self, near: NearGraph, sure: BoolArray, approximate: BoolArray, state: IntArray) -> None:
        find_effects(
            near.targets, near.neighbors, near.weights, near.masks, near.n_classes, self.decision == "incumbent",
            self.like, sure, approximate, state,
        )  # fmt: skip


def lanes_for(weights: IntArray) -> AnyArray:
    """Return an empty array of the smallest type that holds sums of these weights (T, K): int32 or int64."""
    narrow = not weights.size or int(weights.max()) * weights.shape[1] < NARROW
    return np.empty(0, dtype=np.int32 if narrow else np.int64)


def in_blocks(targets: IntArray, n_jobs: int, work: Callable[[IntArray, int], None]) -> None:
    """Call work(block of targets, thread number) for all blocks; each thread has consecutive targets."""

    def run(job: int) -> None:
        mine = targets[len(targets) * job // n_jobs : len(targets) * (job + 1) // n_jobs]
        for start in range(0, len(mine), BLOCK):
            work(mine[start : start + BLOCK], job)

    if n_jobs == 1:
        run(0)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(run, range(n_jobs)))


def add_all_scores(
    rule: Rule, targets: IntArray, counted: BoolArray, n_jobs: int, settled: BoolArray | None = None
) -> tuple[IntArray, int]:
    """Return the scores int64 (n,) in units of 1 / SHARE_UNIT over these targets, and the number of undecided searches.

    counted : bool (T, K), initially False, filled with the places that count      settled : as for `Rule.changing`
    """
    # One array per thread; integer sums do not depend on the order.
    scores = np.zeros((n_jobs, len(rule.masks)), dtype=np.int64)
    undecided = [0] * n_jobs

    def work(block: IntArray, job: int) -> None:
        changing, unknown = rule.changing(block, settled)
        add_scores(block, rule.neighbors, rule.weights, changing, counted, scores[job], NO_ROWS)
        undecided[job] += unknown

    in_blocks(targets, n_jobs, work)
    total = scores[0]
    for other in scores[1:]:
        total += other
    return total, sum(undecided)


def many_candidates(masks: Kept) -> BoolArray:
    """Return bool (n,) rows with two candidates or more."""
    if isinstance(masks, CandidateSets):
        return masks.sizes >= 2
    return np.asarray(((masks & (masks - 1)) != 0).any(axis=1))


def mw_scores(rule: Rule, targets: IntArray, ambiguous: BoolArray, n_jobs: int) -> IntArray:
    """Return the result of `add_all_scores` for rule "mw" if the places that count are not needed: without a look at
    the neighbours' candidates."""
    scores = np.zeros((n_jobs, len(rule.masks)), dtype=np.int64)
    in_blocks(targets, n_jobs, lambda block, job: add_shares(block, rule.neighbors, rule.weights, scores[job]))
    return np.where(ambiguous, scores.sum(axis=0), 0)


def effect_scores(
    neighbors: ArrayLike,
    weights: ArrayLike,
    candidates: LabelsLike,
    rule: str = "apl",
    decision: str = "set",
    max_nodes: int = MAX_NODES,
    n_jobs: int = 1,
) -> FloatArray:
    """Compute the share of weighted decisions that an answer about each row could change; 0 if one candidate
    is left.

    neighbors, weights : (n_targets, K) as for `plcore.query.winners`      candidates : (n_samples, n_classes) bool
    rule : "mw" counts every decision the row takes part in (Eq. 4); "apl" counts those whose winners, necessary or
        approximate possible labels an answer could change (Eq. 12); "pl" does the same with exact possible labels (Eq.
        11)
    decision : "set": the winners change when the set changes; "incumbent": only when an old winner stops
        winning
    max_nodes : for rule "pl", as for `possible_labels`; a RuntimeWarning reports how many searches reached it
    n_jobs : threads; the scores are the same with any number
    Returns (n_samples,) float, higher = ask sooner: sums over targets of w / (weight sum of the target), each share
    rounded to a multiple of 2**-40 so that sums and ties do not depend on the order. Raises ValueError for other rules
    and decisions; ValueError and CandidateError as `plcore.neighbors.votes.check_graph`.
    """
    check_choice("rule", rule, RULES)
    check_choice("decision", decision, DECISIONS)
    check_count("max_nodes", max_nodes)
    check_count("n_jobs", n_jobs)
    rows, fixed, known = check_graph(neighbors, weights, candidates)
    asked = Rule(rows, fixed, kept_form(known), known.shape[1], rule, decision, max_nodes, lanes_for(fixed))
    targets = np.arange(len(rows))
    if rule == "mw":
        return mw_scores(asked, targets, many_candidates(asked.masks), n_jobs) / float(SHARE_UNIT)
    scores, undecided = add_all_scores(asked, targets, np.zeros(rows.shape, dtype=bool), n_jobs)
    warn_undecided(undecided, max_nodes)
    return scores / float(SHARE_UNIT)
