"""The definitions of the paper, by enumerating every selection and every answer; slow but obviously correct."""

from __future__ import annotations

from itertools import product

import numpy as np


def label_sets(weights, sets):
    """(winners, NL, APL, PL) of one target as Python sets. sets: list of sets of labels; weights: ints."""
    seen = set().union(*sets)
    total = {label: sum(w for w, s in zip(weights, sets, strict=True) if label in s) for label in seen}
    least = {label: sum(w for w, s in zip(weights, sets, strict=True) if s == {label}) for label in seen}
    winning = {label for label in seen if total[label] == max(total.values())}
    approximate = {label for label in seen if all(total[label] >= least[other] for other in seen)}
    possible, necessary = set(), set(seen)
    for selection in product(*sets):
        load = dict.fromkeys(seen, 0)
        for label, weight in zip(selection, weights, strict=True):
            load[label] += weight
        best = {label for label in seen if load[label] == max(load.values())}
        possible |= best
        necessary &= best
    return winning, necessary, approximate, possible


def changes(weights, sets, voter, rule, decision):
    """Return whether some answer of `voter` changes the decision, NL, or the (approximate) possible labels."""
    if len(sets[voter]) < 2:
        return False
    if rule == "mw":
        return weights[voter] > 0
    if weights[voter] == 0:
        return False
    before = label_sets(weights, sets)
    known = 2 if rule == "apl" else 3
    for answer in sets[voter]:
        after = label_sets(weights, [*sets[:voter], {answer}, *sets[voter + 1 :]])
        decided = before[0] != after[0] if decision == "set" else not before[0] <= after[0]
        if decided or before[1] != after[1] or before[known] != after[known]:
            return True
    return False


def scores(neighbors, weights, candidates, rule, decision):
    """Effect scores (n,) of integer weights, as Eq. 3 sums them."""
    result = np.zeros(len(candidates))
    for rows, heavy in zip(neighbors, weights, strict=True):
        sets = [set(np.flatnonzero(candidates[row]).tolist()) for row in rows]
        for slot, row in enumerate(rows):
            if changes(heavy.tolist(), sets, slot, rule, decision):
                result[row] += heavy[slot] / heavy.sum()
    return result


def random_graph(rng, max_neighbors=4, max_classes=4):
    """A small random problem with many ties: (neighbors, integer weights, candidates)."""
    n_neighbors = int(rng.integers(1, max_neighbors + 1))
    n, m = int(rng.integers(n_neighbors, n_neighbors + 3)), int(rng.integers(1, max_classes + 1))
    candidates = rng.random((n, m)) < rng.choice([0.2, 0.5, 0.8])
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    targets = int(rng.integers(1, 4))
    neighbors = np.array([rng.permutation(n)[:n_neighbors] for _ in range(targets)])
    weights = rng.integers(rng.integers(0, 2), rng.choice([2, 4, 9]), size=neighbors.shape)
    return neighbors, weights, candidates
