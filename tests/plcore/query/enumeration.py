"""The definitions of the paper by enumeration of every selection and every answer, for many targets at once.

Plainly right like `brute_force.py`, and compiled, so that tens of thousands of cases take seconds. Every
target has neighbours of its own: row t * K + k is the k-th neighbour of target t.
"""

from __future__ import annotations

import numpy as np

from plcore.kernels.compiled import kernel


@kernel
def sets_of(candidates, weights, result):
    """h, NL, APL, PL into result bool (4, m); candidates bool (K, m), weights int64 (K,)."""
    n_voters, m = candidates.shape
    votes, least = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    seen = np.zeros(m, dtype=np.bool_)
    for voter in range(n_voters):
        size = candidates[voter].sum()
        for label in range(m):
            if candidates[voter, label]:
                seen[label] = True
                votes[label] += weights[voter]
                if size == 1:
                    least[label] += weights[voter]
    for label in range(m):
        result[0, label] = seen[label]
        result[1, label] = seen[label]
        result[2, label] = seen[label]
        result[3, label] = False
        for other in range(m):
            if seen[other]:
                result[0, label] &= votes[label] >= votes[other]
                result[2, label] &= votes[label] >= least[other]
    # Every selection, counted like an odometer.
    choice = np.zeros(n_voters, dtype=np.int64)
    for voter in range(n_voters):
        while not candidates[voter, choice[voter]]:
            choice[voter] += 1
    load = np.empty(m, dtype=np.int64)
    while True:
        load[:] = 0
        for voter in range(n_voters):
            load[choice[voter]] += weights[voter]
        most = load.max()
        for label in range(m):
            wins = seen[label] and load[label] == most
            result[3, label] |= wins
            result[1, label] &= wins
        voter = 0
        while voter < n_voters:
            choice[voter] += 1
            while choice[voter] < m and not candidates[voter, choice[voter]]:
                choice[voter] += 1
            if choice[voter] < m:
                break
            choice[voter] = 0
            while not candidates[voter, choice[voter]]:
                choice[voter] += 1
            voter += 1
        if voter == n_voters:
            return


@kernel
def enumerate_all(candidates, weights, sets, changes):
    """For T targets with K neighbours each: candidates bool (T, K, m), weights int64 (T, K).

    Fills sets bool (T, 4, m): h, NL, APL, PL; and changes bool (T, K, 5): whether some answer changes h, takes
    a label out of h, changes NL, APL, PL.
    """
    n_targets, n_voters, m = candidates.shape
    after = np.empty((4, m), dtype=np.bool_)
    for target in range(n_targets):
        before = sets[target]
        sets_of(candidates[target], weights[target], before)
        changed = candidates[target].copy()
        for voter in range(n_voters):
            if candidates[target, voter].sum() < 2:
                continue
            for answer in range(m):
                if not candidates[target, voter, answer]:
                    continue
                changed[voter] = False
                changed[voter, answer] = True
                sets_of(changed, weights[target], after)
                for label in range(m):
                    changes[target, voter, 0] |= before[0, label] != after[0, label]
                    changes[target, voter, 1] |= before[0, label] and not after[0, label]
                    changes[target, voter, 2] |= before[1, label] != after[1, label]
                    changes[target, voter, 3] |= before[2, label] != after[2, label]
                    changes[target, voter, 4] |= before[3, label] != after[3, label]
            changed[voter] = candidates[target, voter]


def cases(rng, n_targets, n_voters, m):
    """(candidates (T, K, m), weights (T, K)) with many ties, zero weights, precise rows and equal weights."""
    share = rng.choice([0.2, 0.5, 0.8], size=(n_targets, 1, 1))
    candidates = rng.random((n_targets, n_voters, m)) < share
    sure = rng.integers(m, size=(n_targets, n_voters))
    np.put_along_axis(candidates, sure[:, :, None], True, axis=2)
    low = rng.integers(0, 2, size=(n_targets, 1))
    high = rng.choice([2, 3, 5, 9, 30], size=(n_targets, 1))
    weights = rng.integers(low, np.maximum(high, low + 1), size=(n_targets, n_voters))
    return candidates, weights


def as_graph(candidates, weights):
    """(neighbors (T, K), weights, candidates (T * K, m)) in which no two targets share a row."""
    n_targets, n_voters, m = candidates.shape
    neighbors = np.arange(n_targets * n_voters).reshape(n_targets, n_voters)
    return neighbors, weights, candidates.reshape(-1, m)
