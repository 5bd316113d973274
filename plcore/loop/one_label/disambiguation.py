"""A label for every row of a table, where it comes from, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.reports import Disambiguation
from plcore.neighbors.votes import VoteTable
from plcore.query.sets import sets_in_blocks


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
    candidates = pool.candidates
    share = shares(np.arange(len(candidates)))
    sure: BoolArray = np.zeros_like(candidates)
    if votes is not None:
        own = candidates[pool.train]
        sure[pool.train] = own & sets_in_blocks(votes.neighbors, votes.weights, own, "necessary")
    proven = sure.sum(axis=1) == 1
    label = np.where(proven, sure.argmax(axis=1), share.argmax(axis=1))
    size = candidates.sum(axis=1)
    source = np.where(proven, "necessary", "model" if has_model else "open")
    said = np.where(pool.by_verdict, "verdict", np.where(pool.answered, "oracle", "given"))
    source = np.where(size == 1, said, source)
    exact = pool.test_rows | pool.exact
    told = (size > 0) & (source != "open")
    label = np.where(exact, pool.truth, np.where(told, label, -1))
    confidence = np.where(told, share[np.arange(len(label)), label], np.nan)
    return Disambiguation(
        labels=label,
        sources=np.where(exact, "truth", np.where(size > 0, source, "bad")),
        confidence=np.where(exact, 1.0, confidence),
        outside=outside,
    )
