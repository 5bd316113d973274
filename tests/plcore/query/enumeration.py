"""The definitions of the paper by enumeration of every selection and every answer: plainly right, and compiled, so that
tens of thousands of cases take seconds."""

from __future__ import annotations

import numpy as np

from plcore.kernels.compiled import kernel
from plcore.kernels.scores import SHARE_UNIT
from plcore.query import effect_scores, necessary_labels, possible_labels, winners


@kernel
def sets_of(candidates, weights, exact, result):
    """h, NL, APL, PL into result bool (4, m); candidates bool (K, m), weights int64 (K,).

    NL is that of all selections if exact, else by Prop. 1, and PL is empty.
    """
    n_voters, m = candidates.shape
    votes, least = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    seen = np.zeros(m, dtype=np.bool_)
    options, sizes = np.zeros((n_voters, m), dtype=np.int64), np.zeros(n_voters, dtype=np.int64)
    for voter in range(n_voters):
        for label in range(m):
            if candidates[voter, label]:
                seen[label] = True
                votes[label] += weights[voter]
                options[voter, sizes[voter]] = label
                sizes[voter] += 1
        if sizes[voter] == 1:
            least[options[voter, 0]] += weights[voter]
    first, second = np.int64(-1), np.int64(-1)  # the most votes of a label, and of another label
    for label in range(m):
        if seen[label] and votes[label] > first:
            first, second = votes[label], first
        elif seen[label] and votes[label] > second:
            second = votes[label]
    for label in range(m):
        rival = second if votes[label] == first else first
        result[0, label] = seen[label] and votes[label] == first
        result[1, label] = seen[label] and (exact or least[label] >= rival)
        result[2, label] = seen[label] and votes[label] >= least.max()
        result[3, label] = False
    if not exact:
        return
    # Every selection, counted like an odometer.
    choice, load = np.zeros(n_voters, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for voter in range(n_voters):
        load[options[voter, 0]] += weights[voter]
    voter = 0
    while voter < n_voters:
        most = load.max()
        for label in range(m):
            wins = seen[label] and load[label] == most
            result[3, label] |= wins
            result[1, label] &= wins
        voter = 0
        while voter < n_voters:
            load[options[voter, choice[voter]]] -= weights[voter]
            choice[voter] = (choice[voter] + 1) % sizes[voter]
            load[options[voter, choice[voter]]] += weights[voter]
            if choice[voter]:
                break
            voter += 1


@kernel
def enumerate_answers(candidates, weights, exact, sets, changes):
    """`enumerated`, into sets and changes of zeros."""
    n_targets, n_voters, m = candidates.shape
    after = np.empty((4, m), dtype=np.bool_)
    for target in range(n_targets):
        before = sets[target]
        sets_of(candidates[target], weights[target], exact, before)
        changed = candidates[target].copy()
        for voter in range(n_voters):
            if candidates[target, voter].sum() < 2:
                continue
            for answer in range(m):
                if not candidates[target, voter, answer]:
                    continue
                changed[voter] = False
                changed[voter, answer] = True
                sets_of(changed, weights[target], exact, after)
                for label in range(m):
                    changes[target, voter, 0] |= before[0, label] != after[0, label]
                    changes[target, voter, 1] |= before[0, label] and not after[0, label]
                    changes[target, voter, 2] |= before[1, label] != after[1, label]
                    changes[target, voter, 3] |= before[2, label] != after[2, label]
                    changes[target, voter, 4] |= before[3, label] != after[3, label]
            changed[voter] = candidates[target, voter]


def enumerated(neighbors, weights, candidates, *, exact=True):
    """sets bool (T, 4, m): h, NL, APL, PL; and changes bool (T, K, 5): whether some answer changes h, takes a label out
    of h, changes NL, APL, PL. No target may list a row twice."""
    n_targets, n_voters = neighbors.shape
    sets = np.zeros((n_targets, 4, candidates.shape[1]), dtype=bool)
    changes = np.zeros((n_targets, n_voters, 5), dtype=bool)
    enumerate_answers(candidates[neighbors], weights.astype(np.int64), exact, sets, changes)
    return sets, changes


def scores(neighbors, weights, candidates, changes, rule, decision):
    """Effect scores (n,), as Eq. 3 sums them, of what answers change."""
    counted = candidates.sum(axis=1)[neighbors] >= 2
    if rule != "mw":
        counted = changes[:, :, [int(decision == "incumbent"), 2, 3 if rule == "apl" else 4]].any(axis=2)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1)
    found = np.zeros(len(candidates), dtype=np.int64)
    np.add.at(found, neighbors, np.rint(weights * float(SHARE_UNIT) / total).astype(np.int64) * counted)
    return found / SHARE_UNIT


def check(neighbors, weights, candidates, *, exact=True):
    """Assert that sets and scores are those by enumeration, to the last bit; and return h, NL, APL, PL (T, m) each.

    exact : possible labels too, which take as many steps as there are selections
    """
    graph = neighbors, weights, candidates
    sets, changes = enumerated(*graph, exact=exact)
    h, necessary, approximate, possible = sets.transpose(1, 0, 2)
    np.testing.assert_array_equal(winners(*graph), h)
    np.testing.assert_array_equal(necessary_labels(*graph), necessary)
    np.testing.assert_array_equal(possible_labels(*graph, exact=False), approximate)
    if exact:
        found, undecided = possible_labels(*graph, return_undecided=True)
        np.testing.assert_array_equal(found, possible)
        assert not undecided.any()
    for rule in ("mw", "apl", "pl") if exact else ("mw", "apl"):
        for decision in ("set", "incumbent"):
            expected = scores(*graph, changes, rule, decision)
            np.testing.assert_array_equal(effect_scores(*graph, rule, decision), expected)
    return h, necessary, approximate, possible


def apart(rng, n_targets, n_voters, m):
    """A graph of targets with neighbours of their own: many ties, zero weights, precise rows and equal weights."""
    share = rng.choice([0.2, 0.5, 0.8], size=(n_targets, 1, 1))
    candidates = rng.random((n_targets, n_voters, m)) < share
    sure = rng.integers(m, size=(n_targets, n_voters))
    np.put_along_axis(candidates, sure[:, :, None], True, axis=2)
    low = rng.integers(0, 2, size=(n_targets, 1))
    high = rng.choice([2, 3, 5, 9, 30], size=(n_targets, 1))
    weights = rng.integers(low, np.maximum(high, low + 1), size=(n_targets, n_voters))
    neighbors = np.arange(n_targets * n_voters).reshape(n_targets, n_voters)
    return neighbors, weights, candidates.reshape(-1, m)


def random_graph(rng, max_neighbors=4, max_classes=4):
    """A small random problem with many ties, whose targets share rows: (neighbors, integer weights, candidates)."""
    n_neighbors = int(rng.integers(1, max_neighbors + 1))
    n, m = int(rng.integers(n_neighbors, n_neighbors + 3)), int(rng.integers(1, max_classes + 1))
    candidates = rng.random((n, m)) < rng.choice([0.2, 0.5, 0.8])
    candidates[np.arange(n), rng.integers(m, size=n)] = True
    targets = int(rng.integers(1, 4))
    neighbors = np.array([rng.permutation(n)[:n_neighbors] for _ in range(targets)])
    weights = rng.integers(rng.integers(0, 2), rng.choice([2, 4, 9]), size=neighbors.shape)
    return neighbors, weights, candidates
