"""Plain twins of the compiled loops: the same sets, effects and exact search in NumPy and Python.

Slow and easy to check against the paper; `test_twins.py` demands the same bits from both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

NOTHING = np.int64(-(2**60))  # minus infinity that still can be added to
SHARE_UNIT = 2**40
MAX_NODES = 100_000


class LabelSets(NamedTuple):
    """Scores and label sets of B targets; scores of labels outside Omega_t are NOTHING."""

    smin: np.ndarray  # (B, m) S^min: weight of the neighbours that have this one candidate
    smax: np.ndarray  # (B, m) S^max: weight of the neighbours that have this candidate
    seen: np.ndarray  # (B, m) Omega_t
    winners: np.ndarray  # (B, m) h(t), Eq. 1, as a set
    necessary: np.ndarray  # (B, m) NL_t, Prop. 1
    possible: np.ndarray  # (B, m) APL_t, Def. 2
    rival: np.ndarray  # (B, m) largest S^max of the other labels

    def settled(self):
        """(B,) NL is not empty and APL = NL: no answer can change anything any more (Prop. 3, B3)."""
        return np.asarray(self.necessary.any(axis=1) & (self.necessary == self.possible).all(axis=1))


def largest_other(scores):
    """For each cell of (B, m) the largest of the *other* cells in its row; NOTHING if there is no other."""
    if scores.shape[1] == 1:
        return np.full_like(scores, NOTHING)
    ordered = np.partition(scores, scores.shape[1] - 2, axis=1)
    first, second = ordered[:, -1:], ordered[:, -2:-1]
    return np.where(scores == first, second, first)  # of two equal maxima each has the other as its competitor


def label_sets(sets, weights):
    """Scores and sets of B targets, from their neighbours' candidates bool (B, K, m) and weights int64 (B, K)."""
    precise = sets.sum(axis=2) == 1
    seen = np.asarray(sets.any(axis=1))
    # One-byte sets times int64 weights: einsum sums exactly and makes no (B, K, m) copy in int64.
    smax = np.where(seen, np.einsum("bk,bkm->bm", weights, sets), NOTHING)
    smin = np.where(seen, np.einsum("bk,bkm->bm", weights * precise, sets), NOTHING)
    rival = largest_other(smax)
    return LabelSets(
        smin=smin,
        smax=smax,
        seen=seen,
        winners=seen & (smax >= rival),
        necessary=seen & (smin >= rival),
        possible=seen & (smax >= smin.max(axis=1, keepdims=True)),
        rival=rival,
    )


def shares(weights):
    """`rint(w * 2**40 / sum w)` for weights int64 (B, K); 0 for targets without weight."""
    total = weights.sum(axis=1, keepdims=True)
    share = np.rint(weights * float(SHARE_UNIT) / np.maximum(total, 1)).astype(np.int64)
    return share


def changing_slots(sets, weights, known, rule, decision, max_nodes):
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
    several = known.possible.sum(axis=1, dtype=np.int64) > 1
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


def _changes_approximation(answers, weight, known, target):
    """Prop. 4 fails: some answer takes a label out of APL. answers (S, m), weight (S, 1), target (S,)."""
    smin, smax = known.smin[target], known.smax[target]
    inside = np.where(answers, smin, NOTHING)
    outside_best = np.where(answers, NOTHING, smin).max(axis=1, keepdims=True)
    d1 = smax >= inside.max(axis=1, keepdims=True) + weight
    d2 = smax - weight >= np.maximum(largest_other(inside) + weight, outside_best)
    return np.asarray((known.possible[target] & ~np.where(answers, d2, d1)).any(axis=1))


def _changes_winners(answers, weight, known, target, decision):
    """Prop. 5 fails: some answer changes the set h ("set") or takes a label out of it ("incumbent")."""
    remaining, rival = known.smax[target] - weight, known.rival[target]
    keeps = remaining > rival if decision == "set" else remaining >= rival  # Eq. 10
    return np.asarray((known.winners[target] & answers & ~keeps).any(axis=1))


def _changes_necessary(answers, weight, known, target):
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


class Undecided(Exception):  # noqa: N818  (not an error: a search that ran out of nodes)
    """The node budget ran out before the question was settled."""


def labels_of(mask):
    """The labels of a bit mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def masks_of(sets):
    """Bit masks of bool (K, m) rows, of any width."""
    packed = np.packbits(sets, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def find_selection(masks, weights, label, max_nodes=MAX_NODES):
    """A selection, one label for each voter, in which `label` wins (perhaps with others); None if there is
    none.

    Voters without candidates or without weight get whatever fits. Raises Undecided after `max_nodes`
    placements.
    """
    limit = sum(weight for mask, weight in zip(masks, weights, strict=True) if mask >> label & 1)
    selection = [label if mask >> label & 1 else -1 for mask in masks]
    loads = {}
    free = []
    for voter, mask in enumerate(masks):
        if selection[voter] == label or not mask:
            continue
        if mask & (mask - 1) and weights[voter]:
            free.append(voter)
        else:
            first = (mask & -mask).bit_length() - 1
            selection[voter] = first
            loads[first] = loads.get(first, 0) + weights[voter]
    if max(loads.values(), default=0) > limit:  # S < max S^min
        return None
    free.sort(key=lambda voter: (-weights[voter], voter))
    budget = [max_nodes]
    return selection if _place(masks, weights, free, loads, limit, selection, budget) else None


def _place(masks, weights, free, loads, limit, selection, budget):
    """Place the free voters (heaviest first) so that no load exceeds the limit; fills `selection` when it can."""
    # 1) Labels that could carry all their voters at once take them: no one loses by that. Repeat while it
    # helps.
    demand = {}
    helped = True
    while helped:
        helped = False
        demand = {}
        for voter in free:
            for label in labels_of(masks[voter]):
                demand[label] = demand.get(label, 0) + weights[voter]
        for label, wanted in demand.items():
            if loads.get(label, 0) + wanted <= limit:
                for voter in free:
                    if masks[voter] >> label & 1:
                        selection[voter] = label
                free = [voter for voter in free if not masks[voter] >> label & 1]
                helped = True
                break  # the demands have changed
    if not free:
        return True
    # 2) Capacity: the room left on all labels still wanted must hold all the voters left.
    if sum(limit - loads.get(label, 0) for label in demand) < sum(weights[voter] for voter in free):
        return False
    # 3) Depth first: the heaviest voter, on the least demanded label first.
    voter, rest = free[0], free[1:]
    tried = set()
    for label in sorted(labels_of(masks[voter]), key=lambda label: (loads.get(label, 0) + demand[label], label)):
        load = loads.get(label, 0)
        kind = (load, tuple(other for other in rest if masks[other] >> label & 1))
        if load + weights[voter] > limit or kind in tried:  # the same load and the same voters: the same outcome
            continue
        tried.add(kind)
        budget[0] -= 1
        if budget[0] < 0:
            raise Undecided
        selection[voter] = label
        if _place(masks, weights, rest, {**loads, label: load + weights[voter]}, limit, selection, budget):
            return True
    return False


def exact_possible(sets, weights, known, max_nodes):
    """(PL, undecided) bool (B, m) of one block; undecided labels are in PL too. Inputs are already valid."""
    possible = known.possible.copy()
    undecided = np.zeros_like(possible)
    # h is within PL, and APL = PL where NL is not empty (Prop. 2, A2): only the others need a search.
    open_cells = possible & ~known.winners & ~known.necessary.any(axis=1, keepdims=True)
    for target in np.flatnonzero(open_cells.any(axis=1)):
        masks, heavy = masks_of(sets[target]), weights[target].tolist()
        for label in np.flatnonzero(open_cells[target]).tolist():
            try:
                possible[target, label] = find_selection(masks, heavy, label, max_nodes) is not None
            except Undecided:
                undecided[target, label] = True
    return possible, undecided


def answer_changes_possible(masks, weights, voter, max_nodes):
    """Whether some answer of `voter` changes PL of this target (Def. 3), and how many searches stayed
    undecided.

    Undecided searches count as possible. An answer only shrinks PL, so every label of PL is tried with every
    answer.
    """
    undecided = 0
    seen = 0
    for mask in masks:
        seen |= mask
    for label in labels_of(seen):
        try:
            selection = find_selection(masks, weights, label, max_nodes)
        except Undecided:
            undecided += 1
            continue
        if selection is None:
            continue
        loads: dict[int, int] = {}
        for other, choice in enumerate(selection):
            if choice >= 0:
                loads[choice] = loads.get(choice, 0) + weights[other]
        for answer in labels_of(masks[voter]):
            if answer == selection[voter] or _still_wins(selection, loads, weights, voter, label, answer):
                continue
            try:
                pinned = [*masks[:voter], 1 << answer, *masks[voter + 1 :]]
                if find_selection(pinned, weights, label, max_nodes) is None:
                    return True, undecided
            except Undecided:
                undecided += 1
    return False, undecided


def _still_wins(selection, loads, weights, voter, label, answer):
    """Whether `label` still wins this selection when `voter` changes to `answer`: a proof without a new search."""
    moved = {**loads, answer: loads.get(answer, 0) + weights[voter]}
    moved[selection[voter]] -= weights[voter]
    return max(moved.values()) <= moved.get(label, 0)


def possible_labels(neighbors, weights, candidates, max_nodes=MAX_NODES):
    """(PL, undecided) bool (T, m)."""
    sets = candidates[neighbors]
    return exact_possible(sets, weights, label_sets(sets, weights), max_nodes)


def effect_scores(neighbors, weights, candidates, rule="apl", decision="set", max_nodes=MAX_NODES):
    """Scores int64 (n,) in units of 1 / SHARE_UNIT."""
    scores = np.zeros(len(candidates), dtype=np.int64)
    sets = candidates[neighbors]
    changing, _ = changing_slots(sets, weights, label_sets(sets, weights), rule, decision, max_nodes)
    np.add.at(scores, neighbors.ravel(), (shares(weights) * changing).ravel())
    return scores
