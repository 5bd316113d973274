"""EffectRanker: effect scores, updated after each answer.

After an answer about a row, only the targets that have it among their neighbours are scored again. Scores are sums of
integer shares, so an updated ranker equals a freshly fitted one bit for bit. An undo is an update with the previous
candidates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length

from plcore.arrays import AnyArray, BoolArray, FloatArray, IntArray, large_array
from plcore.arrays.checks import check_choice
from plcore.arrays.types import FeatureMatrix, LabelsLike, MatrixLike
from plcore.kernels.scores import SHARE_UNIT, add_scores, count_open, pick_batch
from plcore.labels.candidates import check_candidates
from plcore.neighbors.graph import SCALINGS, WEIGHTS, NeighborGraph
from plcore.neighbors.search import SEARCHES
from plcore.neighbors.votes import SlotIndex, VoteTable, check_graph
from plcore.query import strategies
from plcore.query.cheapest import QuestionOrder
from plcore.query.effects import DECISIONS, RULES, Rule, add_all_scores, in_blocks, lanes_for
from plcore.query.explanation import Explanation, answer_effects
from plcore.query.possible import MAX_NODES, check_count, warn_undecided

# Loss of effect scores when other rows with the same targets are being asked about.


def lost_by_claims(
    claimed: IntArray, index: SlotIndex, rule: Rule, counted: BoolArray, power: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return (rows, lost), int64, rows ascending: the loss of each row by the claims, in shares, damped as by
    `pick_batch`. Other rows lose nothing.

    claimed : (c,) rows that others are being asked about, at least one      counted : bool (T, K), the places that are
        in the scores
    power : a target counted by c claims keeps power[c] of its shares, or the last of power if c is larger; power[0] is
        1

    The time depends on the claims' neighbours, not on the number of rows.
    """
    places = np.concatenate([index.of(row) for row in claimed]).astype(np.int64)
    among, _ = np.divmod(places[counted.reshape(-1)[places]], rule.neighbors.shape[1])
    targets, times = np.unique(among, return_counts=True)
    weights = rule.weights[targets]
    shares = np.rint(weights * float(SHARE_UNIT) / np.maximum(weights.sum(axis=1, keepdims=True), 1))
    left = np.trunc(shares * power[np.minimum(times, len(power) - 1), None])
    lose = counted[targets]
    rows, place = np.unique(rule.neighbors[targets][lose], return_inverse=True)
    lost = np.zeros(len(rows), dtype=np.int64)
    np.add.at(lost, place, (shares - left)[lose].astype(np.int64))
    return rows.astype(np.int64), lost


# Targets of a ranking: those that count now, and those that are settled.

NO_ROWS: IntArray = np.zeros(0, dtype=np.int64)


class Targets:
    """T targets over n rows, kept up to date while candidates change.

    rows : int (T,) the row that each target stands for; None: points of their own, all of which count
    candidates, now : bool (n, m) at the start, and as they are
    fixed : whether the rows ambiguous at the start count for good, else those that are ambiguous now

    Attributes
    ----------
    ambiguous : bool (n,), rows with at least two candidates now.
    settled : bool (T,), targets that no answer can change any more; None until they are needed.
    """

    def __init__(
        self, n_targets: int, rows: IntArray | None, candidates: BoolArray, fixed: bool, now: BoolArray
    ) -> None:
        self.n_targets = n_targets
        self._with_rows = rows is not None
        self._rows = NO_ROWS if rows is None else rows
        self._of_row = np.full(len(candidates) if self._with_rows else 0, -1, dtype=np.int32)
        self._of_row[self._rows] = np.arange(len(self._rows))
        self._initial: BoolArray = candidates.sum(axis=1) >= 2
        self.ambiguous: BoolArray = now.sum(axis=1) >= 2
        self._counts = self._initial if fixed else self.ambiguous  # rows whose own targets count
        self.settled: BoolArray | None = None
        self._open: tuple[int, int] | None = None
        self._n_initial = int(self._initial[self._rows].sum()) if self._with_rows else n_targets

    def active(self, targets: IntArray) -> BoolArray:
        """Return which of these targets count now: unless targets are fixed, those whose own row is answered do not."""
        if not self._with_rows:
            return np.ones(len(targets), dtype=bool)
        return np.asarray(self._counts[self._rows[targets]])

    def counting(self) -> IntArray:
        """Return all targets that count now."""
        everyone = np.arange(self.n_targets)
        return everyone[self.active(everyone)]

    def with_own(self, row: int, targets: IntArray) -> IntArray:
        """Return these targets, and the row's own target, in which the row may have weight 0."""
        own = self._of_row[row] if self._with_rows else -1
        return targets if own < 0 or (targets == own).any() else np.union1d(targets, [own])

    def openness(self, rule: Rule, n_jobs: int) -> tuple[int, int]:
        """Return (initially ambiguous targets still open, targets that count and are not settled)."""
        if self._open is None:
            if self.settled is None:
                self.settled = settled = np.zeros(self.n_targets, dtype=bool)
                in_blocks(self.counting(), n_jobs, lambda block, _: rule.settle(block, settled))
            self._open = self._count_open(np.arange(self.n_targets), self.settled)
        return self._open

    def share_settled(self, rule: Rule, n_jobs: int) -> float:
        """Return the share of settled targets among the initially ambiguous ones; 1 if there were none."""
        still_open, _ = self.openness(rule, n_jobs)
        return (self._n_initial - still_open) / self._n_initial if self._n_initial else 1.0

    def open_among(self, targets: IntArray) -> tuple[int, int] | None:
        """Return `openness` of these targets only; None while it is unknown for all targets."""
        if self._open is None or self.settled is None:
            return None
        return self._count_open(targets, self.settled)

    def recount(self, targets: IntArray, before: tuple[int, int] | None) -> None:
        """Update `openness` after these targets have changed. before : their `open_among` before"""
        if before is not None and self._open is not None and self.settled is not None:
            now = self._count_open(targets, self.settled)
            self._open = self._open[0] + now[0] - before[0], self._open[1] + now[1] - before[1]

    def _count_open(self, targets: IntArray, settled: BoolArray) -> tuple[int, int]:
        return count_open(targets, self._rows, self._counts, self._initial, self.ambiguous, settled)


@dataclass(eq=False, repr=False)
class EffectRanker:
    """Ranks rows by effect score for weighted nearest-neighbour votes (Nguyen et al., AAAI 2017).

    rule : "mw" | "apl" | "pl"      decision : "set" | "incumbent", both as `effect_scores`
    n_neighbors : K, clipped to the number of rows. A target that is a training row is its own first neighbour
        and counts.
    targets : "ambiguous": the rows with at least two candidates *now*; "fixed": those at `fit` (as in the paper); array
        (T, d): any points, scaled like X
    weights : "linear" (w = 1 - d / sum d) | "uniform"      scaling : "minmax" | "standard" | None
    search : "auto" | "exact" | "approximate", as `PLKNeighborsClassifier`
    random_state : None: ties go to the lower row number; a seed: ties follow a seeded permutation
    max_nodes : search budget of rule "pl"
    n_jobs : threads of `fit`; the scores are the same with any number
    damping : in a batch, the shares of a target that c rows of the batch already count are multiplied by damping**c;
        between 0 (no two rows of a batch with the same targets, if possible) and 1 (the top n)

    After `fit`: `scores_` (n,), `settled_`, `candidates_` bool (n, m), `n_targets_`. Parameters are checked
    in `fit`.
    """

    rule: str = "apl"
    n_neighbors: int = 3
    targets: MatrixLike = "ambiguous"
    decision: str = "set"
    _: KW_ONLY
    weights: str = "linear"
    scaling: str | None = "minmax"
    random_state: int | None = None
    max_nodes: int = MAX_NODES
    n_jobs: int = 1
    damping: float = 0.5
    search: str = "auto"

    def fit(self, X: MatrixLike, candidates: LabelsLike) -> EffectRanker:
        """Find the neighbours of the targets and score all rows. X (n, d) dense or CSR; candidates as for
        `check_candidates`.

        Raises ValueError for wrong parameters or features, CandidateError for wrong candidates.
        """
        self._check_parameters()
        features: FeatureMatrix = check_array(X, accept_sparse="csr", dtype=np.float64)
        known, _ = check_candidates(candidates)
        check_consistent_length(features, known)
        graph = NeighborGraph(features, self.n_neighbors, self.weights, self.scaling, self.search)
        if isinstance(self.targets, str):
            # With "ambiguous", an update may make any row a target, so all rows get their neighbours.
            chosen = np.flatnonzero(known.sum(axis=1) >= 2) if self.targets == "fixed" else np.arange(len(known))
            neighbors, weights = graph.own_neighbors(chosen)
            return self._start(neighbors, weights, known, chosen)
        points = check_array(self.targets, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
        if points.shape[1] != features.shape[1]:
            raise ValueError(f"targets must have the {features.shape[1]} features of X. Got {points.shape[1]}.")
        if not points.shape[0]:
            empty = np.zeros((0, graph.n_neighbors), dtype=np.int64)
            return self._start(empty, empty, known, None)
        return self._start(*graph.neighbors_of(points), known, None)

    def fit_graph(
        self,
        neighbors: ArrayLike,
        weights: ArrayLike,
        candidates: LabelsLike,
        target_rows: ArrayLike | None = None,
        now: BoolArray | None = None,
    ) -> EffectRanker:
        """Score all rows on a neighbour graph made elsewhere.

        neighbors, weights : (T, K), candidates : bool (n, m), all as for `effect_scores`; int32 neighbors and int64
            weights are not copied: do not change them
        target_rows : int (T,) distinct, the training row of each target, needed for "ambiguous" and "fixed" to tell
            targets apart; None: targets are points of their own, and all of them count
        now : bool (n, m), not copied: the current candidates, for a ranker as if it had seen all updates; None: no
            updates
        Raises ValueError and CandidateError as `plcore.neighbors.votes.check_graph`.
        """
        self._check_parameters()
        rows, fixed, known = check_graph(neighbors, weights, candidates, copied=now is None)
        own = None if target_rows is None else strategies.check_target_rows(target_rows, len(rows), len(known))
        return self._start(rows, fixed, known, own, now)

    def _check_parameters(self) -> None:
        """Raise ValueError naming the parameter if one is invalid."""
        check_choice("rule", self.rule, RULES)
        check_choice("decision", self.decision, DECISIONS)
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("search", self.search, SEARCHES)
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}. Got {self.scaling!r}.")
        if isinstance(self.targets, str):
            check_choice("targets", self.targets, ("ambiguous", "fixed"))
        for name in ("n_neighbors", "max_nodes", "n_jobs"):
            check_count(name, getattr(self, name))
        seed = self.random_state
        if seed is not None and (not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0):
            raise ValueError(f"random_state must be None or an int of at least 0. Got {seed!r}.")
        if not isinstance(self.damping, Real) or not 0 <= float(self.damping) <= 1:
            raise ValueError(f"damping must be a number in [0, 1]. Got {self.damping!r}.")

    def _check_fitted(self) -> None:
        if not hasattr(self, "candidates_"):
            raise NotFittedError("This EffectRanker is not fitted yet: call fit or fit_graph first.")

    def _start(
        self,
        neighbors: AnyArray,
        weights: IntArray,
        known: BoolArray,
        rows: IntArray | None,
        now: BoolArray | None = None,
    ) -> EffectRanker:
        self.candidates_ = candidates = known if now is None else now
        self.n_targets_ = len(neighbors)
        self.votes_ = votes = VoteTable(neighbors, weights, candidates)
        fixed = isinstance(self.targets, str) and self.targets == "fixed"
        self._targets = Targets(len(neighbors), rows, known, fixed, candidates)
        self._rule = Rule(
            votes.neighbors, votes.weights, votes.masks, votes.n_classes, self.rule, self.decision,
            self.max_nodes, lanes_for(votes.weights),
        )  # fmt: skip
        self._counted = large_array(votes.neighbors.shape, bool)
        # "mw" does not use settled targets: find them only when requested.
        settled = None if self.rule == "mw" else np.zeros(len(neighbors), dtype=bool)
        self._targets.settled = settled
        self._scores, undecided = add_all_scores(
            self._rule, self._targets.counting(), self._counted, int(self.n_jobs), settled
        )
        warn_undecided(undecided, self.max_nodes)
        # Among equal scores, the lower value comes first; by default the row number.
        self._tie_order: IntArray = np.arange(len(candidates))
        if self.random_state is not None:
            self._tie_order = np.random.default_rng(self.random_state).permutation(len(candidates))
        self._order: QuestionOrder | None = None
        return self

    @property
    def scores_(self) -> FloatArray:
        """Effect scores (n,), a new array; 0 for rows with one candidate left."""
        self._check_fitted()
        return self._scores / float(SHARE_UNIT)

    def score_of(self, row: int) -> float:
        """Return the score of one row."""
        return float(self._scores[self._check_row(row)] / SHARE_UNIT)

    @property
    def settled_(self) -> float:
        """Share of settled targets among the initially ambiguous rows. Answered rows are settled; 1.0 if there were no
        such rows.

        A target is settled if NL is not empty and APL = NL. For targets that are points of their own, it is the share
        of all. Zero scores alone do not prove that everything is settled.
        """
        self._check_fitted()
        return self._targets.share_settled(self._rule, int(self.n_jobs))

    @property
    def n_undecided_(self) -> int:
        """Number of counting targets that are not settled."""
        self._check_fitted()
        return self._targets.openness(self._rule, int(self.n_jobs))[1]

    def next(self, n: int = 1, among: BoolArray | None = None, claimed: Iterable[int] = ()) -> IntArray:
        """Return the rows to ask about now, best first: up to n of those with two candidates or more.

        A single row is the one with the highest score, ties by row number (or the seeded permutation). In a batch rows
        are chosen one after the other, with the shares of targets that earlier rows count damped, so that its questions
        do not decide the same targets twice; ties in damped scores use the score, then as above.

        among : bool (n,), rows that may be returned; None: all
        claimed : rows that others are being asked about now; their targets are damped too, and they are not returned
        """
        self._check_fitted()
        n = strategies.check_number(n)
        held = np.asarray(sorted({self._check_row(row) for row in claimed}), dtype=np.int64)
        allowed = strategies.allowed_rows(self._targets.ambiguous, among)
        allowed[held] = False
        power = np.power(float(self.damping), np.arange(min(n + len(held), 100) + 1))
        index, rule = self.votes_.index, self._rule
        if n == 1:
            row = self._best_beside(held, allowed, power)
            return np.array([row] if row >= 0 else [], dtype=np.int64)
        return pick_batch(
            min(n, int(allowed.sum())), held, allowed, self._tie_order, index.start, index.slots,
            rule.neighbors, rule.weights, self._counted, self._scores, power,
        )  # fmt: skip

    def _best_beside(self, claimed: IntArray, allowed: BoolArray, power: FloatArray) -> int:
        """Return the first row of a batch given these claims, or -1: the best of the rows that lose nothing by them, or
        a better one of those that do."""
        if self._order is None:
            keys = np.where(self._targets.ambiguous, self._scores, -1)
            self._order = QuestionOrder(keys, self._tie_order)
        if not len(claimed):
            return self._order.best(allowed)
        damped, lost = lost_by_claims(claimed, self.votes_.index, self._rule, self._counted, power)
        rows, lost = damped[allowed[damped]], lost[allowed[damped]]
        allowed[damped] = False
        if (best := self._order.best(allowed)) >= 0:
            rows, lost = np.append(rows, best), np.append(lost, 0)
        scores = self._scores[rows]
        first = np.lexsort((self._tie_order[rows], -scores, lost - scores))[:1]
        return int(rows[first[0]]) if len(first) else -1

    def top(self, n: int | None = None, among: BoolArray | None = None) -> IntArray:
        """Return up to n rows (None: all) with at least two candidates, by score alone, best first, as `next` would one
        by one.

        Use it for lists that people read; to ask several people at once, use `next(n)`.
        """
        self._check_fitted()
        rows = np.flatnonzero(strategies.allowed_rows(self._targets.ambiguous, among))
        most = len(rows) if n is None else strategies.check_number(n)
        return rows[np.lexsort((self._tie_order[rows], -self._scores[rows]))[:most]]

    def update(self, row: int, candidates_row: ArrayLike) -> IntArray:
        """Replace the candidates of a row (m,), narrower after an answer or wider again after an undo.

        A row without any candidate is an excluded item: it casts no vote and is not asked about. Returns the targets
        scored again, ascending. Raises ValueError for a row out of range, CandidateError for values that are not m
        times True/False or 1/0.
        """
        row = self._check_row(row)
        new = strategies.check_candidates_row(candidates_row, row, self.votes_.n_classes)
        old = self.candidates_[row].copy()
        targets = self.votes_.update(row, old, new)
        if np.array_equal(old, new):
            return targets
        rule, state = self._rule, self._targets
        targets = state.with_own(row, targets)
        was = state.open_among(targets)
        self.candidates_[row] = new
        state.ambiguous[row] = np.count_nonzero(new) >= 2
        active = state.active(targets)
        counting = targets if active.all() else targets[active]
        changing, undecided = rule.changing(counting, state.settled)
        touched = np.empty(len(targets) * rule.neighbors.shape[1] + 1, dtype=np.int64)
        found = add_scores(counting, rule.neighbors, rule.weights, changing, self._counted, self._scores, touched)
        if len(counting) < len(targets):
            rest = targets[~active]
            none = np.zeros((len(rest), rule.neighbors.shape[1]), dtype=bool)
            found += add_scores(rest, rule.neighbors, rule.weights, none, self._counted, self._scores, touched[found:])
        if self._order is not None:
            touched[found] = row
            rows = touched[: found + 1]
            self._order.change(rows, np.where(state.ambiguous[rows], self._scores[rows], -1))
        state.recount(targets, was)
        warn_undecided(undecided, self.max_nodes)
        return targets

    def explain(self, row: int, answers: bool = True) -> Explanation:
        """Explain the row's score: the targets that count it, those that one answer could change, and how.

        answers : also list the changes by each answer (winners, necessary, possible labels); leave it out if only the
            counts are needed

        Targets are row numbers with "ambiguous". With "fixed" they are places among the rows ambiguous at `fit`, with
        an array its row numbers. Under rule "mw", `changes` are those of rule "apl".
        """
        row = self._check_row(row)
        targets, slots = self.votes_.index.places(row)
        kept = self._targets.active(targets)
        targets, slots = targets[kept], slots[kept]
        rule = self._rule
        if rule.rule == "mw":  # this rule counts decisions even if they cannot change
            rule = rule._replace(rule="apl")
        changing, _ = rule.changing(targets)
        decided = changing[np.arange(len(targets)), slots]
        return Explanation(
            row=row,
            score=self.score_of(row),
            candidates=int(self.candidates_[row].sum()),
            targets=tuple(targets.tolist()),
            changes=tuple(targets[decided].tolist()),
            undecided=self.n_undecided_,
            answers=answer_effects(rule, targets[decided], slots[decided]) if answers else (),
        )

    def _check_row(self, row: int) -> int:
        self._check_fitted()
        if not isinstance(row, Integral) or not 0 <= row < len(self.candidates_):
            raise ValueError(f"row must be a row number in 0..{len(self.candidates_) - 1}. Got {row!r}.")
        return int(row)
