"""Dawid-Skene inside candidates in plain loops over Python numbers: the twin of `plcore.kernels.votes`."""

from __future__ import annotations

import math

import numpy as np


def plain_matrix(counts, m, prior, most=20):
    """[c][k] from the counts [c][k] of a person, shrunk to their own coin."""
    votes, hits = sum(map(sum, counts)), sum(counts[c][c] for c in range(m))
    right = max(min((hits + 4 * prior) / (votes + 5 * prior), 0.999), 1 / m)
    found = []
    for c in range(m):
        n = sum(counts[c])
        weight = prior * max(2, min(most, n))
        coin = [right if c == k else (1 - right) / (m - 1) for k in range(m)]
        found.append(
            [(counts[c][k] + weight * coin[k]) / (n + weight) if n + weight > 0 else coin[k] for k in range(m)]
        )
    return [[max(one, 1e-10) for one in line] for line in found]


def plain_fit(votes, candidates, m, prior, rounds):
    """votes: {(row, who): set of classes}; candidates: list of sets. After this many rounds: distributions (n, m),
    masses, {who: (m, m)}, the matrix of someone who has not answered, the history of the log-likelihood."""
    rows, people = sorted({row for row, _ in votes}), sorted({who for _, who in votes})
    q = {}
    for row in rows:
        share = {c: sum(1 / len(a) for (i, _), a in votes.items() if i == row and c in a) for c in candidates[row]}
        total = sum(share.values())
        q[row] = {c: (share[c] / total if total else 1 / len(share)) for c in share}
    theta = {who: [[1 / m] * m for _ in range(m)] for who in people}
    history = []
    for _ in range(rounds):
        counts = {who: [[0.0] * m for _ in range(m)] for who in people}
        for (row, who), said in votes.items():
            for c, p in q[row].items():
                total = sum(theta[who][c][k] for k in said)
                for k in said:
                    counts[who][c][k] += p * theta[who][c][k] / total
        theta = {who: plain_matrix(n, m, prior) for who, n in counts.items()}
        every = [[sum(n[c][k] for n in counts.values()) for k in range(m)] for c in range(m)]
        masses = [(sum(q[row].get(c, 0) for row in rows) + prior / m) / (len(rows) + prior) for c in range(m)]
        value = 0.0
        for row in rows:
            joint = {
                c: masses[c]
                * math.prod(sum(theta[who][c][k] for k in said) for (i, who), said in votes.items() if i == row)
                for c in candidates[row]
            }
            total = sum(joint.values())
            value += math.log(total)
            q[row] = {c: one / total for c, one in joint.items()}
        history.append(value)
    found = np.array(
        [
            [q[row].get(c, 0.0) if row in q else (c in inside) / len(inside) for c in range(m)]
            for row, inside in enumerate(candidates)
        ]
    )
    matrices = {who: np.array(one) for who, one in theta.items()}
    return found, np.array(masses), matrices, np.array(plain_matrix(every, m, prior)), history


def plain_evidence(votes, q, m, prior, most, shared):
    """The bound of `plcore.crowd.dawid_skene` for votes {(row, who): class} at distributions q (n, m): evidence of what
    each person said, evidence of the rows' classes, and the entropy of q. shared: the matrix of all is the prior."""

    def of_counts(counts, weights):
        total = math.lgamma(sum(weights)) - math.lgamma(sum(weights) + sum(counts))
        return total + sum(math.lgamma(one + n) - math.lgamma(one) for one, n in zip(weights, counts, strict=True))

    found = of_counts(q.sum(axis=0), [prior / m] * m) - sum(p * math.log(p) for p in q.ravel() if p > 0)
    of = {person: np.zeros((m, m)) for _, person in votes}
    for (row, who), said in votes.items():
        of[who][:, said] += q[row]
    of_all = plain_matrix(sum(of.values()).tolist(), m, prior, 2)
    for counts in of.values():
        right = max(min((np.trace(counts) + 4 * prior) / (counts.sum() + 5 * prior), 0.999), 1 / m)
        for c in range(m):
            coin = np.array([right if c == k else (1 - right) / (m - 1) for k in range(m)])
            weights = prior * max(2, min(most, counts[c].sum())) * coin
            found += of_counts(counts[c], 5 * prior * np.array(of_all[c]) if shared else weights)
    return found
