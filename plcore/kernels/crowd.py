"""Compiled loops of the model of annotators: what votes say of rows, and rows of annotators. See `.compiled`.

Votes come sorted by row. A vote's classes are `members[begin[vote]:begin[vote + 1]]`: one of a plain vote, several of a
set. Confusions are float (people, said, true): a vote reads one line of memory. Sums are made in the order of the
votes, in one thread, so the same votes give the same numbers.
"""

from __future__ import annotations

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel

SMALLEST = 1e-10
"""No chance is called smaller: without a prior what was never seen would be impossible for ever."""


@kernel
def find_distributions(
    first: IntArray,
    who: IntArray,
    begin: IntArray,
    members: IntArray,
    masses: FloatArray,
    confusions: FloatArray,
    candidates: BoolArray,
    distributions: FloatArray,
) -> float:
    """Fill distributions (n, m) of the rows that have votes; returns the log-likelihood of all votes.

    first int64 (n + 1,): where each row's votes begin. q_c is masses_c times, vote after vote, the sum of
    confusions[who, said, c] over the vote's classes, for candidates c alone. It is scaled after every vote, so
    that many votes are no smaller numbers than few.
    """
    n_classes = len(masses)
    likelihood = 0.0
    chance = np.zeros(n_classes)
    for row in range(len(first) - 1):
        if first[row] == first[row + 1]:
            continue
        total = 0.0
        for c in range(n_classes):
            distributions[row, c] = masses[c] if candidates[row, c] else 0.0
            total += distributions[row, c]
        for vote in range(first[row], first[row + 1]):
            person = who[vote]
            chance[:] = 0.0
            for place in range(begin[vote], begin[vote + 1]):
                said = members[place]
                for c in range(n_classes):
                    chance[c] += confusions[person, said, c]
            scale = 1.0 / total
            likelihood += np.log(total)
            total = 0.0
            for c in range(n_classes):
                distributions[row, c] *= scale * chance[c]
                total += distributions[row, c]
        likelihood += np.log(total)
        for c in range(n_classes):
            distributions[row, c] /= total
    return likelihood


@kernel
def add_counts(
    first: IntArray,
    who: IntArray,
    begin: IntArray,
    members: IntArray,
    distributions: FloatArray,
    confusions: FloatArray,
    counts: FloatArray,
) -> None:
    """Add to counts (people, said, true) what each person said on rows of these distributions (n, m).

    A vote for several classes counts for each in the share that the confusions so far give it.
    """
    n_classes = distributions.shape[1]
    chance = np.zeros(n_classes)
    for row in range(len(first) - 1):
        for vote in range(first[row], first[row + 1]):
            person, one = who[vote], begin[vote + 1] - begin[vote] == 1
            if one:
                said = members[begin[vote]]
                for c in range(n_classes):
                    counts[person, said, c] += distributions[row, c]
                continue
            chance[:] = 0.0
            for place in range(begin[vote], begin[vote + 1]):
                for c in range(n_classes):
                    chance[c] += confusions[person, members[place], c]
            for place in range(begin[vote], begin[vote + 1]):
                said = members[place]
                for c in range(n_classes):
                    part = confusions[person, said, c] / chance[c]
                    counts[person, said, c] += distributions[row, c] * part


@kernel
def find_confusions(counts: FloatArray, shape: FloatArray, strength: float, confusions: FloatArray) -> float:
    """Fill confusions (people, said, true) from counts and `strength` further answers in the shares shape (said, true).

    Returns the log density of the prior at what was filled, up to a constant: strength times the sum of
    shape x log confusions.
    """
    people, n_classes = counts.shape[0], counts.shape[1]
    density = 0.0
    total = np.zeros(n_classes)
    for person in range(people):
        total[:] = strength
        for said in range(n_classes):
            for c in range(n_classes):
                total[c] += counts[person, said, c]
        for said in range(n_classes):
            for c in range(n_classes):
                value = 1.0 / n_classes
                if total[c] > 0.0:
                    value = (counts[person, said, c] + strength * shape[said, c]) / total[c]
                value = max(value, SMALLEST)
                confusions[person, said, c] = value
                if strength > 0.0:
                    density += strength * shape[said, c] * np.log(value)
    return density
