"""A label for every row of a table, where it comes from, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plcore.common.types import FloatArray, IntArray
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import Disambiguation
from plcore.neighbors.votes import VoteTable
from plcore.query.sets import necessary_of

BLOCK_CELLS = 4_000_000
"""Rows times classes that are looked at at a time."""


def disambiguate(
    pool: OneLabelPool[Any],
    shares: Callable[[IntArray], FloatArray],
    votes: VoteTable | None,
    has_model: bool,
    outside: FloatArray | None = None,
) -> Disambiguation:
    """Labels of all rows, each inside its candidates.

    shares : the model's label distributions (r, m) of rows, inside their candidates
    has_model : whether there is a model yet; else rows with several candidates have no label
    votes : votes of the training rows' neighbours, which prove some labels; None: nothing is proven
    outside : (n,) as `Disambiguation` has it
    """
    n, m = pool.candidates.shape
    proven, label, share = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64), np.zeros(n)
    held = pool.test_rows | pool.control_rows
    block = max(1, BLOCK_CELLS // m)
    for begin in range(0, n, block):  # n times m numbers are never there at once
        rows = np.arange(begin, min(begin + block, n))
        found = shares(rows)
        label[rows] = found.argmax(axis=1)
        train = rows[~held[rows]]
        if votes is not None and len(train):
            sure = pool.candidates[train] & necessary_of(votes, pool.place[train])
            one = sure.sum(axis=1) == 1
            proven[train[one]], label[train[one]] = True, sure[one].argmax(axis=1)
        share[rows] = found[np.arange(len(rows)), label[rows]]
    size = pool.sizes
    source = np.where(proven, "necessary", "model" if has_model else "open")
    said = np.where(pool.by_verdict, "verdict", np.where(pool.answered, "oracle", "given"))
    source = np.where(size == 1, said, source)
    exact = pool.test_rows | pool.exact
    told = (size > 0) & (source != "open")
    label = np.where(exact, pool.truth, np.where(told, label, -1))
    confidence = np.where(told, share, np.nan)
    return Disambiguation(
        labels=label,
        sources=np.where(exact, "truth", np.where(size > 0, source, "bad")),
        confidence=np.where(exact, 1.0, confidence),
        outside=outside,
    )
