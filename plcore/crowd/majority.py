"""What most people say."""

from __future__ import annotations

from typing import Any

import numpy as np

from plcore.common.types import AnyArray
from plcore.crowd.votes import read_votes

SAME = 1e-9
"""Sums of shares that differ by less are the same: three thirds are one."""


def majority(votes: Any, candidates: Any = None) -> AnyArray:
    """(n,) the class with most votes of each row; None where classes are tied, and where nobody has voted.

    A vote for several classes counts for each in equal shares. With candidates only classes inside them count, and a
    set is shared by those of its classes; a vote with none inside counts nothing. Forms and errors as in `read_votes`.
    """
    read = read_votes(votes, candidates)
    inside = read.masks & read.candidates[read.rows]
    counts = np.zeros(read.candidates.shape)
    np.add.at(counts, read.rows, inside / np.maximum(inside.sum(axis=1, keepdims=True), 1))
    most = counts.max(axis=1, keepdims=True)
    alone = ((counts > most - SAME).sum(axis=1) == 1) & (most[:, 0] > 0)
    found = np.empty(len(counts), dtype=object)
    names = read.classes.tolist()
    for row in np.flatnonzero(alone):
        found[row] = names[int(counts[row].argmax())]
    return found
