"""Compiled loops of the vote table: packed candidates, the inverted index, votes. See `plcore.kernels.compiled`."""

from __future__ import annotations

from math import lgamma

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.kernels.compiled import kernel


@kernel
def fill_masks(candidates: BoolArray, masks: IntArray) -> None:
    """Set bit l % 64 of word l // 64 where candidates bool (n, m) are True; masks int64 (n, words), zeros before."""
    n_classes = candidates.shape[1]
    for row in range(candidates.shape[0]):
        for label in range(n_classes):
            masks[row, label >> 6] |= np.int64(candidates[row, label]) << (label & 63)


@kernel
def has_repeated(neighbors: AnyArray) -> bool:
    """Whether some target of neighbors int32 (T, K) lists a row twice."""
    found = False
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            for other in range(slot):
                found |= neighbors[target, slot] == neighbors[target, other]
    return found


@kernel
def count_places(neighbors: AnyArray, weights: IntArray, start: IntArray) -> None:
    """Find where the places of each row begin in the inverted index: start int64 (n + 1,), zeros before.

    neighbors int32 (T, K), weights int64 (T, K). A row's places are those where it is a neighbour with weight.
    """
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            if weights[target, slot] > 0:
                start[neighbors[target, slot] + 1] += 1
    for row in range(len(start) - 1):
        start[row + 1] += start[row]


@kernel
def fill_places(neighbors: AnyArray, weights: IntArray, start: IntArray, places: AnyArray) -> None:
    """Write the places t * K + slot of each row, uint32, row by row, ascending; start as `count_places` left it."""
    n_voters = neighbors.shape[1]
    free = start[:-1].copy()
    for target in range(neighbors.shape[0]):
        for slot in range(n_voters):
            if weights[target, slot] > 0:
                row = neighbors[target, slot]
                places[free[row]] = target * n_voters + slot
                free[row] += 1


@kernel
def add_votes(targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: IntArray, votes: IntArray) -> None:
    """Add the votes of Eq. 1 about some targets int64 (B,) to votes int64 (B, m)."""
    n_classes = votes.shape[1]
    for place in range(len(targets)):
        target = targets[place]
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(n_classes):
                votes[place, label] += weight & -((masks[row, label >> 6] >> (label & 63)) & 1)


@kernel
def find_most_votes(
    targets: IntArray, neighbors: AnyArray, weights: IntArray, masks: IntArray, n_classes: int, best: IntArray
) -> None:
    """Find the label with the most votes of Eq. 1 of each target int64 (B,), the lowest on ties; -1 without a vote."""
    votes = np.empty(n_classes, dtype=np.int64)
    for place in range(len(targets)):
        target = targets[place]
        votes[:] = 0
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(n_classes):
                votes[label] += weight & -((masks[row, label >> 6] >> (label & 63)) & 1)
        most, first = 0, -1
        for label in range(n_classes):
            if votes[label] > most:
                most, first = votes[label], label
        best[place] = first


@kernel
def add_scaled_votes(neighbors: AnyArray, weights: IntArray, scales: IntArray, votes: IntArray) -> None:
    """Add to votes int64 (T, m) the neighbours' weights times their rows' counts, scales int64 (n, m)."""
    for target in range(neighbors.shape[0]):
        for slot in range(neighbors.shape[1]):
            row, weight = neighbors[target, slot], weights[target, slot]
            for label in range(votes.shape[1]):
                votes[target, label] += weight * scales[row, label]


@kernel
def change_scaled_votes(places: AnyArray, weights: IntArray, change: IntArray, votes: IntArray) -> None:
    """Update the votes after the row at these places counts `change` more for each label, int64 (m,)."""
    n_voters = weights.shape[1]
    for number in range(len(places)):
        place = np.int64(places[number])
        target, slot = place // n_voters, place % n_voters
        for label in range(votes.shape[1]):
            votes[target, label] += weights[target, slot] * change[label]


# Compiled loops of the model of annotators: rows from votes, and annotators from rows. See `.compiled`.
#
# Votes come sorted by row. A vote's classes are `members[begin[vote]:begin[vote + 1]]`: one for a plain vote, several
# for a set. Confusions are float (people, answer, true label): a vote reads one line of memory. Sums are made in the
# order of the votes, in one thread, so the same votes give the same numbers.

SMALLEST = 1e-10
"""Lower bound of a probability: without a prior, what was never seen would be impossible forever."""

LEAST = 2.0
"""Weight, in answers on a class, that a person's own coin has at least."""
OF_ALL = 5.0
"""Weight, in answers on a class, of the matrix of all people, if people share their mistakes."""
MOST_RIGHT = 0.999
"""Upper bound for how often a coin is right."""


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
    confusions[who, said, c] over the vote's classes, for candidates c alone. It is rescaled after every vote, so that
    many votes do not underflow.
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
def find_coin(counts: FloatArray, prior: float) -> float:
    """Return how often one person is right, from counts (said, true): (hits + 4 prior) / (votes + 5 prior) of all
    cases, between 1 / m and MOST_RIGHT."""
    n_classes = counts.shape[0]
    hits, votes = 0.0, 0.0
    for said in range(n_classes):
        hits += counts[said, said]
        for c in range(n_classes):
            votes += counts[said, c]
    right: float = 0.0
    if votes + prior > 0.0:
        right = (hits + 4.0 * prior) / (votes + 5.0 * prior)
    right = max(min(right, MOST_RIGHT), 1.0 / n_classes)
    return right


@kernel
def find_shrinkage(counts: FloatArray, c: int, prior: float, most: float) -> tuple[float, float]:
    """Return (answers of one person on class c, the coin's weight in answers), from counts (said, true): the weight is
    `prior` times the answers, between LEAST and `most`."""
    total: float = counts[:, c].sum()
    return total, prior * max(LEAST, min(most, total))


@kernel
def find_confusions(counts: FloatArray, prior: float, most: float, shared: bool, confusions: FloatArray) -> None:
    """Fill confusions (people, said, true) from counts, the last of which are those of all people together.

    Each matrix is shrunk to its person's own coin (`find_coin`), which makes each wrong class equally likely and has
    the weight from `find_shrinkage`. shared : shrink to the last matrix instead, which counts for `prior` times OF_ALL
    answers; that one is shrunk to its own coin, with weight LEAST.
    """
    people, n_classes = counts.shape[0], counts.shape[1]
    for person in range(people - 1, -1, -1):
        right = find_coin(counts[person], prior)
        wrong = (1.0 - right) / max(n_classes - 1, 1)
        of_all = shared and person < people - 1
        for c in range(n_classes):
            total, weight = find_shrinkage(counts[person], c, prior, LEAST if shared else most)
            if of_all:
                weight = prior * OF_ALL
            for said in range(n_classes):
                expected = right if said == c else wrong
                if of_all:
                    expected = confusions[people - 1, said, c]
                value = expected if prior > 0.0 else 1.0 / n_classes
                if total + weight > 0.0:
                    value = (counts[person, said, c] + weight * expected) / (total + weight)
                confusions[person, said, c] = max(value, SMALLEST)


@kernel
def find_evidence(counts: FloatArray, prior: float, most: float, shared: bool, of_all: FloatArray) -> float:
    """Return the log evidence of these counts (people, said, true), integrated over the confusions: each row of these
    is Dirichlet around the coin, or around that of all people, of_all (said, true), with the weight from
    `find_confusions`. prior > 0.
    """
    people, n_classes = counts.shape[0], counts.shape[1]
    evidence = 0.0
    for person in range(people):
        right = find_coin(counts[person], prior)
        wrong = (1.0 - right) / max(n_classes - 1, 1)
        for c in range(n_classes):
            total, weight = find_shrinkage(counts[person], c, prior, most)
            if shared:
                weight = prior * OF_ALL
            evidence += lgamma(weight) - lgamma(weight + total)
            for said in range(n_classes):
                expected = right if said == c else wrong
                if shared:
                    expected = of_all[said, c]
                expected *= weight
                if expected > 0.0:
                    evidence += lgamma(expected + counts[person, said, c]) - lgamma(expected)
    return evidence
