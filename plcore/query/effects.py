"""Effect scores: what an answer about a row could change (Eq. 2-4, 11, 12; Prop. 4, 5, 6).

The three propositions are exact (if and only if) for rows with two candidates or more and positive weight,
with `>=` in D1 and D2, strict `>` in Eq. 10 and strict `<` in C1 and C2. A precise row scores 0: the
conditions misfire there.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from plcore._types import BoolArray, FloatArray, IntArray
from plcore.query.possible import MAX_NODES, answer_changes_possible, masks_of
from plcore.query.sets import NOTHING, LabelSets, block_length, label_sets, largest_other
from plcore.votes import check_graph

RULES = ("mw", "apl", "pl")
DECISIONS = ("set", "incumbent")
# The integer that stands for the whole weight of one target. 2**40 keeps shares to 1e-12 and leaves int64
# room for eight million targets; sums of these integers do not depend on their order.
SHARE_UNIT = 2**40


def check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless `value` is one of the allowed words."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}. Got {value!r}.")


def shares(weights: IntArray) -> IntArray:
    """`rint(w * 2**40 / sum w)` for weights int64 (B, K); 0 for targets without weight."""
    total = weights.sum(axis=1, keepdims=True)
    share: IntArray = np.rint(weights * float(SHARE_UNIT) / np.maximum(total, 1)).astype(np.int64)
    return share


def changing_slots(
    sets: BoolArray, weights: IntArray, known: LabelSets, rule: str, decision: str, max_nodes: int
) -> tuple[BoolArray, int]:
    """Which neighbours could, by one answer, change h, NL or (A)PL of their target.

    sets bool (B, K, m), weights int64 (B, K), known = label_sets(sets, weights); all valid already.
    Returns (bool (B, K), number of exact searches that stayed undecided). rule "mw": every imprecise
    neighbour with weight.
    """
    imprecise = np.asarray((sets.sum(axis=2) >= 2) & (weights > 0))
    if rule == "mw":
        return imprecise, 0
    changing = np.zeros_like(imprecise)
    # |APL| = 1: the target is settled on that label whatever is answered.
    several: BoolArray = known.possible.sum(axis=1, dtype=np.int64) > 1
    target, slot = np.nonzero(imprecise & several[:, None])
    if not len(target):
        return changing, 0
    answers = sets[target, slot]  # (S, m), S voters that can be asked
    weight = weights[target, slot][:, None]
    by_sets = _changes_approximation(answers, weight, known, target)
    changing[target, slot] = by_decision_or_necessity = _changes_winners(
        answers, weight, known, target, decision
    ) | _changes_necessary(answers, weight, known, target)
    if rule == "apl":
        changing[target, slot] |= by_sets
        return changing, 0
    # Exact PL: where NL is not empty APL = PL before and after (Prop. 2), so Prop. 4 decides; else search
    # (Def. 3).
    decided = np.asarray(known.necessary.any(axis=1))[target]
    changing[target, slot] |= by_sets & decided
    undecided = 0
    for number in np.flatnonzero(~decided & ~by_decision_or_necessity):
        voters, heavy = masks_of(sets[target[number]]), weights[target[number]].tolist()
        changes, unknown = answer_changes_possible(voters, heavy, int(slot[number]), max_nodes)
        changing[target[number], slot[number]] = changes
        undecided += unknown
    return changing, undecided


def _changes_approximation(
    answers: BoolArray, weight: IntArray, known: LabelSets, target: IntArray
) -> BoolArray:
    """Prop. 4 fails: some answer takes a label out of APL. answers (S, m), weight (S, 1), target (S,)."""
    smin, smax = known.smin[target], known.smax[target]
    inside = np.where(answers, smin, NOTHING)
    outside_best = np.where(answers, NOTHING, smin).max(axis=1, keepdims=True)
    d1 = smax >= inside.max(axis=1, keepdims=True) + weight
    d2 = smax - weight >= np.maximum(largest_other(inside) + weight, outside_best)
    return np.asarray((known.possible[target] & ~np.where(answers, d2, d1)).any(axis=1))


def _changes_winners(
    answers: BoolArray, weight: IntArray, known: LabelSets, target: IntArray, decision: str
) -> BoolArray:
    """Prop. 5 fails: some answer changes the set h ("set") or takes a label out of it ("incumbent")."""
    remaining, rival = known.smax[target] - weight, known.rival[target]
    keeps = remaining > rival if decision == "set" else remaining >= rival  # Eq. 10
    return np.asarray((known.winners[target] & answers & ~keeps).any(axis=1))


def _changes_necessary(answers: BoolArray, weight: IntArray, known: LabelSets, target: IntArray) -> BoolArray:
    """Prop. 6 fails: some answer brings a label into NL."""
    smin, smax = known.smin[target], known.smax[target]
    inside = np.where(answers, smax, NOTHING)
    outside = np.where(answers, NOTHING, smax)
    # An answer a leaves S^max(a) and takes the weight from the others; the best a for lambda minimises the
    # maximum.
    least_inside = np.where(answers, smax, -NOTHING).min(axis=1, keepdims=True)
    rival_if_not = np.maximum(
        largest_other(outside), np.maximum(inside.max(axis=1, keepdims=True) - weight, least_inside)
    )
    c1 = smin < rival_if_not
    c2 = smin + weight < np.maximum(outside.max(axis=1, keepdims=True), largest_other(inside) - weight)
    joins = known.seen[target] & ~known.necessary[target] & ~np.where(answers, c2, c1)
    return np.asarray(joins.any(axis=1))


def warn_undecided(undecided: int, max_nodes: int) -> None:
    """Say that the exact search gave up somewhere, so that a score is never silently wrong."""
    if undecided:
        warnings.warn(
            f"{undecided} searches for exact possible labels stopped after max_nodes={max_nodes} "
            "and count as possible. Fix: raise max_nodes, or use rule='apl'.",
            RuntimeWarning,
            stacklevel=3,
        )


def effect_scores(
    neighbors: Any,
    weights: Any,
    candidates: Any,
    rule: str = "apl",
    decision: str = "set",
    max_nodes: int = MAX_NODES,
) -> FloatArray:
    """Share of weighted decisions that an answer about each row could change; 0 where one candidate is left.

    neighbors, weights : (n_targets, K) as `plcore.query.winners`      candidates : (n_samples, n_classes)
        bool
    rule : "mw" counts every decision the row takes part in (Eq. 4); "apl" those whose winners, necessary or
        approximate possible labels an answer could change (Eq. 12); "pl" with exact possible labels (Eq. 11)
    decision : "set": the winners change when the set changes; "incumbent": only when an old winner stops
        winning
    max_nodes : for rule "pl", as `possible_labels`; a RuntimeWarning tells how many searches ran out
    Returns (n_samples,) float, higher = ask sooner: sums over targets of w / (weight sum of the target), each
    share rounded to a multiple of 2**-40 so that sums and ties do not depend on the order.
    Raises ValueError for other rules and decisions; ValueError and CandidateError as
    `plcore.votes.check_graph` says.
    """
    check_choice("rule", rule, RULES)
    check_choice("decision", decision, DECISIONS)
    rows, fixed, known = check_graph(neighbors, weights, candidates)
    scores = np.zeros(len(known), dtype=np.int64)
    undecided = 0
    length = block_length(rows.shape[1], known.shape[1])
    for start in range(0, len(rows), length):
        block = slice(start, start + length)
        sets = known[rows[block]]
        changing, unknown = changing_slots(
            sets, fixed[block], label_sets(sets, fixed[block]), rule, decision, max_nodes
        )
        np.add.at(scores, rows[block].ravel(), (shares(fixed[block]) * changing).ravel())
        undecided += unknown
    warn_undecided(undecided, max_nodes)
    return scores / float(SHARE_UNIT)
