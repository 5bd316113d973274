"""Dawid-Skene inside candidates in plain loops over Python numbers: the twin of `plcore.kernels.crowd`."""

from __future__ import annotations

import math

import numpy as np


def plain_rounds(votes, candidates, shape, strength, mass, rounds):
    """votes: {(row, who): set of classes}; candidates: list of sets; shape[c][l]. After so many rounds:
    {row: {c: q}}, masses, {who: [c][l]}, the objective's history."""
    m = len(shape)
    rows = sorted({row for row, _ in votes})
    people = sorted({who for _, who in votes})
    q = {}
    for row in rows:
        share = {
            c: sum(1 / len(a) for (i, _), a in votes.items() if i == row and c in a) for c in candidates[row]
        }
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
        theta = {
            who: [
                [(n[c][k] + strength * shape[c][k]) / (sum(n[c]) + strength) for k in range(m)]
                for c in range(m)
            ]
            for who, n in counts.items()
        }
        masses = [(sum(q[row].get(c, 0) for row in rows) + mass / m) / (len(rows) + mass) for c in range(m)]
        value = sum(mass / m * math.log(one) for one in masses)
        value += sum(
            strength * shape[c][k] * math.log(theta[who][c][k])
            for who in people
            for c in range(m)
            for k in range(m)
        )
        for row in rows:
            joint = {
                c: masses[c]
                * math.prod(
                    sum(theta[who][c][k] for k in said) for (i, who), said in votes.items() if i == row
                )
                for c in candidates[row]
            }
            total = sum(joint.values())
            value += math.log(total)
            q[row] = {c: one / total for c, one in joint.items()}
        history.append(value)
    return q, masses, theta, history


def plain_fit(votes, candidates, m, strength, rounds):
    """The pooled fit, then that of each person: distributions (n, m), masses, {who: (m, m)}, pooled, history."""
    shape = [[0.8 if c == k else 0.2 / (m - 1) for k in range(m)] for c in range(m)]
    alone = {(row, 0, who): said for (row, who), said in votes.items()}
    pooled = _pooled(alone, candidates, shape, 5 * strength, strength, rounds)
    q, masses, theta, history = plain_rounds(votes, candidates, pooled, 5 * strength, strength, rounds)
    found = np.array(
        [
            [q[row].get(c, 0.0) if row in q else (c in inside) / len(inside) for c in range(m)]
            for row, inside in enumerate(candidates)
        ]
    )
    return (
        found,
        np.array(masses),
        {who: np.array(one) for who, one in theta.items()},
        np.array(pooled),
        history,
    )


def _pooled(votes, candidates, shape, strength, mass, rounds):
    """One matrix for all: `plain_rounds` reads a person off every vote's key, so two votes on a row need two keys."""
    m = len(shape)
    rows = sorted({row for row, _, _ in votes})
    q = {}
    for row in rows:
        share = {
            c: sum(1 / len(a) for (i, _, _), a in votes.items() if i == row and c in a)
            for c in candidates[row]
        }
        total = sum(share.values())
        q[row] = {c: (share[c] / total if total else 1 / len(share)) for c in share}
    theta = [[1 / m] * m for _ in range(m)]
    for _ in range(rounds):
        counts = [[0.0] * m for _ in range(m)]
        for (row, _, _), said in votes.items():
            for c, p in q[row].items():
                total = sum(theta[c][k] for k in said)
                for k in said:
                    counts[c][k] += p * theta[c][k] / total
        theta = [
            [(counts[c][k] + strength * shape[c][k]) / (sum(counts[c]) + strength) for k in range(m)]
            for c in range(m)
        ]
        masses = [(sum(q[row].get(c, 0) for row in rows) + mass / m) / (len(rows) + mass) for c in range(m)]
        for row in rows:
            joint = {
                c: masses[c]
                * math.prod(sum(theta[c][k] for k in said) for (i, _, _), said in votes.items() if i == row)
                for c in candidates[row]
            }
            total = sum(joint.values())
            q[row] = {c: one / total for c, one in joint.items()}
    return theta
