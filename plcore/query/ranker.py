"""EffectRanker: effect scores kept up to date while answers come in.

After an answer about a row only the targets that have it among their neighbours are scored again. Scores are
sums of integer shares, so an updated ranker equals a freshly fitted one bit for bit; undo is an update back.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length

from plcore._types import BoolArray, FloatArray, IntArray
from plcore.candidates import CandidateError, check_candidates
from plcore.graph import SCALINGS, WEIGHTS, NeighborGraph
from plcore.query.effects import (
    DECISIONS,
    RULES,
    SHARE_UNIT,
    changing_slots,
    check_choice,
    shares,
    warn_undecided,
)
from plcore.query.possible import MAX_NODES
from plcore.query.sets import block_length, label_sets
from plcore.votes import VoteTable, check_graph


@dataclass(frozen=True)
class Explanation:
    """Why a row has its score."""

    row: int
    score: float  # summed shares of the decisions counted by the rule
    candidates: int  # how many labels the row may still have
    targets: tuple[int, ...]  # targets that count this row among their neighbours
    changes: tuple[int, ...]  # those whose winners, necessary or possible labels one answer could change
    undecided: int  # targets not settled now, over all


class EffectRanker:
    """Ranks rows by effect score for weighted nearest-neighbour votes (Nguyen et al., AAAI 2017).

    rule : "mw" | "apl" | "pl"      decision : "set" | "incumbent", both as `effect_scores`
    n_neighbors : K, clipped to the number of rows. A target that is a training row is its own first neighbour
        and counts.
    targets : "ambiguous": the rows with two candidates or more *now*; "fixed": those at `fit` (the paper);
        array (T, d): any points, scaled like X
    weights : "linear" (w = 1 - d / sum d) | "uniform"      scaling : "minmax" | "standard" | None
    random_state : None: ties go to the lower row number; a seed: ties follow a seeded permutation
    max_nodes : search budget of rule "pl"

    After `fit`: `scores_` (n,), `settled_`, `candidates_` bool (n, m), `n_targets_`. Parameters are checked
    in `fit`.
    """

    def __init__(
        self,
        rule: str = "apl",
        n_neighbors: int = 3,
        targets: Any = "ambiguous",
        decision: str = "set",
        *,
        weights: str = "linear",
        scaling: str | None = "minmax",
        random_state: int | None = None,
        max_nodes: int = MAX_NODES,
    ) -> None:
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.targets = targets
        self.decision = decision
        self.weights = weights
        self.scaling = scaling
        self.random_state = random_state
        self.max_nodes = max_nodes

    def fit(self, X: Any, candidates: Any) -> EffectRanker:
        """Find the neighbours of the targets and score all rows. X (n, d) dense or CSR; candidates as
        `check_candidates`.

        Raises ValueError for wrong parameters or features, CandidateError for wrong candidates.
        """
        self._check_parameters()
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
        known, _ = check_candidates(candidates)
        check_consistent_length(X, known)
        graph = NeighborGraph(X, self.n_neighbors, self.weights, self.scaling)
        if isinstance(self.targets, str):
            # "ambiguous" may come to include any row by an update, so all rows get their neighbours.
            chosen = (
                np.flatnonzero(known.sum(axis=1) >= 2) if self.targets == "fixed" else np.arange(len(known))
            )
            neighbors, weights = graph.own_neighbors(chosen)
            return self._start(neighbors, weights, known, chosen)
        points = check_array(self.targets, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
        if points.shape[1] != X.shape[1]:
            raise ValueError(f"targets must have the {X.shape[1]} features of X. Got {points.shape[1]}.")
        if not points.shape[0]:
            empty = np.zeros((0, graph.n_neighbors), dtype=np.int64)
            return self._start(empty, empty, known, None)
        return self._start(*graph.neighbors_of(points), known, None)

    def fit_graph(
        self, neighbors: Any, weights: Any, candidates: Any, target_rows: Any = None
    ) -> EffectRanker:
        """Score all rows on a neighbour graph made elsewhere.

        neighbors, weights : (T, K), candidates : bool (n, m), all as `effect_scores`
        target_rows : int (T,) distinct, the training row each target stands for, needed for "ambiguous" and
            "fixed" to tell targets apart; None: targets are points of their own, and all of them count.
        Raises ValueError and CandidateError as `plcore.votes.check_graph` says.
        """
        self._check_parameters()
        rows, fixed, known = check_graph(neighbors, weights, candidates)
        if target_rows is None:
            return self._start(rows, fixed, known, None)
        own = np.asarray(target_rows)
        if own.shape != (len(rows),) or own.dtype.kind not in "iu" or len(np.unique(own)) != len(own):
            raise ValueError(f"target_rows must be {len(rows)} distinct row numbers. Got shape {own.shape}.")
        if len(own) and not 0 <= own.min() <= own.max() < len(known):
            raise ValueError(f"target_rows must be rows of candidates, 0..{len(known) - 1}.")
        return self._start(rows, fixed, known, own.astype(np.int64))

    def _check_fitted(self) -> None:
        if not hasattr(self, "candidates_"):
            raise NotFittedError("This EffectRanker is not fitted yet: call fit or fit_graph first.")

    def _check_parameters(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_choice("decision", self.decision, DECISIONS)
        check_choice("weights", self.weights, WEIGHTS)
        if self.scaling not in SCALINGS:
            raise ValueError(
                f"scaling must be one of {', '.join(map(repr, SCALINGS))}. Got {self.scaling!r}."
            )
        if isinstance(self.targets, str):
            check_choice("targets", self.targets, ("ambiguous", "fixed"))
        for name in ("n_neighbors", "max_nodes"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise ValueError(f"{name} must be an int of at least 1. Got {value!r}.")

    def _start(
        self, neighbors: IntArray, weights: IntArray, candidates: BoolArray, target_rows: IntArray | None
    ) -> EffectRanker:
        n_rows, n_targets = len(candidates), len(neighbors)
        self.candidates_ = candidates
        self.n_targets_ = n_targets
        self.votes_ = VoteTable(neighbors, weights, candidates)
        self._target_rows = target_rows
        self._target_of = np.full(n_rows, -1, dtype=np.int64)
        if target_rows is not None:
            self._target_of[target_rows] = np.arange(n_targets)
        self._ambiguous = candidates.sum(axis=1) >= 2
        self._initial = self._ambiguous.copy()
        self._shares = shares(weights)
        self._counted = np.zeros((n_targets, neighbors.shape[1]), dtype=np.int64)
        self._settled = np.zeros(n_targets, dtype=bool)
        self._scores = np.zeros(n_rows, dtype=np.int64)
        # Larger comes first among equal scores; by default the lower row number.
        order = np.arange(n_rows)
        if self.random_state is not None:
            order = np.random.default_rng(self.random_state).permutation(n_rows)
        self._tie_order = order
        length = block_length(neighbors.shape[1], candidates.shape[1])
        for start in range(0, n_targets, length):
            self._score_again(np.arange(start, min(start + length, n_targets)))
        return self

    def _score_again(self, targets: IntArray) -> None:
        """Bring the counted shares and the settled flags of some targets up to date, by integer differences."""
        neighbors, weights = self.votes_.neighbors[targets], self.votes_.weights[targets]
        sets = self.candidates_[neighbors]
        known = label_sets(sets, weights)
        changing, undecided = changing_slots(sets, weights, known, self.rule, self.decision, self.max_nodes)
        counted = self._shares[targets] * (changing & self._active(targets)[:, None])
        np.add.at(self._scores, neighbors.ravel(), (counted - self._counted[targets]).ravel())
        self._counted[targets] = counted
        self._settled[targets] = known.settled()
        warn_undecided(undecided, self.max_nodes)

    def _active(self, targets: IntArray) -> BoolArray:
        """Which targets count now. "ambiguous" drops those whose own row is answered."""
        if self._target_rows is None:
            return np.ones(len(targets), dtype=bool)
        which = (
            self._initial if isinstance(self.targets, str) and self.targets == "fixed" else self._ambiguous
        )
        return np.asarray(which[self._target_rows[targets]])

    @property
    def scores_(self) -> FloatArray:
        """(n,) effect scores, a new array; 0 for rows with one candidate left."""
        self._check_fitted()
        return self._scores / float(SHARE_UNIT)

    @property
    def settled_(self) -> float:
        """Share of settled targets among the initially ambiguous rows; answered = settled, none = 1.0.

        A target is settled when NL is not empty and APL = NL. When the targets are points of their own: the
        share of them. Zero scores alone do not prove that everything is settled.
        """
        self._check_fitted()
        if self._target_rows is None:
            return float(self._settled.mean()) if self.n_targets_ else 1.0
        initial = self._initial[self._target_rows]
        if not initial.any():
            return 1.0
        settled = self._settled | ~self._ambiguous[self._target_rows]
        return float(settled[initial].mean())

    @property
    def n_undecided_(self) -> int:
        """How many targets that count now are not settled."""
        self._check_fitted()
        return int((self._active(np.arange(self.n_targets_)) & ~self._settled).sum())

    def next(self, n: int = 1, among: BoolArray | None = None) -> IntArray:
        """The rows to ask about, best first: at most n of those with two candidates or more.

        By score descending, then row number ascending (or the seeded permutation). among: bool (n,), rows
        that may be returned; None for all.
        """
        self._check_fitted()
        if not isinstance(n, Integral) or n < 0:
            raise ValueError(f"n must be an int of at least 0. Got {n!r}.")
        rows = np.flatnonzero(self._ambiguous if among is None else self._ambiguous & among)
        if n == 1 and len(rows):  # the usual case, without a sort
            rows = rows[self._scores[rows] == self._scores[rows].max()]
            return rows[[self._tie_order[rows].argmin()]]
        order = np.lexsort((self._tie_order[rows], -self._scores[rows]))
        return rows[order[: int(n)]]

    def update(self, row: int, candidates_row: Any) -> IntArray:
        """Replace the candidates of a row (m,), narrower after an answer or wider again after an undo.

        A row without any candidate is an item taken out: it casts no vote and is not asked.
        Returns the targets scored again, ascending. Raises ValueError for a row out of range, CandidateError
        for values that are not m times True/False or 1/0.
        """
        row = self._check_row(row)
        given = np.asarray(candidates_row)
        m = self.candidates_.shape[1]
        if given.shape != (m,) or not np.all((given == 0) | (given == 1)):
            raise CandidateError(
                f"candidates_row must be {m} values True/False or 1/0 for row {row}. Got {given!r}."
            )
        new = given.astype(bool)
        old = self.candidates_[row].copy()
        targets = self.votes_.update(row, old, new)
        own = self._target_of[row]
        if own >= 0 and not np.array_equal(old, new):
            targets = np.union1d(targets, [own])  # its own target may have the row with weight 0 only
        self.candidates_[row] = new
        self._ambiguous[row] = new.sum() >= 2
        if len(targets):
            self._score_again(targets)
        return targets

    def explain(self, row: int) -> Explanation:
        """Why the row has its score: which targets count it, and which of them one answer could change (Prop. 4-6)."""
        row = self._check_row(row)
        targets, slots = self.votes_.index.places(row)
        kept = self._active(targets)
        targets, slots = targets[kept], slots[kept]
        weights = self.votes_.weights[targets]
        sets = self.candidates_[self.votes_.neighbors[targets]]
        rule = (
            "apl" if self.rule == "mw" else self.rule
        )  # "mw" counts decisions, whether they can change or not
        changing, _ = changing_slots(
            sets, weights, label_sets(sets, weights), rule, self.decision, self.max_nodes
        )
        return Explanation(
            row=row,
            score=float(self._scores[row]) / SHARE_UNIT,
            candidates=int(self.candidates_[row].sum()),
            targets=tuple(targets.tolist()),
            changes=tuple(targets[changing[np.arange(len(targets)), slots]].tolist()),
            undecided=self.n_undecided_,
        )

    def _check_row(self, row: int) -> int:
        self._check_fitted()
        if not isinstance(row, Integral) or not 0 <= row < len(self.candidates_):
            raise ValueError(f"row must be a row number in 0..{len(self.candidates_) - 1}. Got {row!r}.")
        return int(row)
