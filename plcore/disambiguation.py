"""A label for every row of a table, where it comes from, and how sure it is."""

from __future__ import annotations

import numpy as np

from plcore._types import BoolArray
from plcore.neighbors import votes_to_distributions
from plcore.query.sets import sets_in_blocks
from plcore.reports import Disambiguation
from plcore.votes import VoteTable


def disambiguate(votes: VoteTable, candidates: BoolArray, answered: BoolArray) -> Disambiguation:
    """Labels of training rows from their own neighbourhoods, each inside its candidates.

    votes : votes of the n rows' neighbours      candidates : bool (n, m), none while a row is out
    answered : bool (n,), rows with an answer that counts. Inputs are already valid.
    """
    share = votes_to_distributions(votes.votes, candidates)
    sure = candidates & sets_in_blocks(votes.neighbors, votes.weights, candidates, "necessary")
    label = np.where(sure.sum(axis=1) == 1, sure.argmax(axis=1), share.argmax(axis=1))
    size = candidates.sum(axis=1)
    source = np.where(sure.sum(axis=1) == 1, "necessary", "model")
    source = np.where(size == 1, np.where(answered, "oracle", "given"), source)
    return Disambiguation(
        labels=np.where(size > 0, label, -1),
        sources=np.where(size > 0, source, "bad"),
        confidence=np.where(size > 0, share[np.arange(len(label)), label], np.nan),
    )
