"""How much a table lets each candidate of a row count, in words, and who named it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from plcore import LabelTable

_votes: WeakKeyDictionary[LabelTable, bool] = WeakKeyDictionary()


def weight_words(table: LabelTable, row: int) -> dict[str, str]:
    """What speaks for each label of a row, in words: of so many votes, where all weights of the table are whole
    numbers, else the weight itself. Empty where all candidates count alike."""
    if table.candidate_weights is None:
        return {}
    own = table.candidate_weights[row]
    named = {table.classes[k]: float(own[k]) for k in np.flatnonzero(own > 0)}
    if not _are_votes(table):
        return {label: f"{weight:.2g}" if weight < 1 else f"{weight:.4g}" for label, weight in named.items()}
    # What was cut away has been named, too, but nobody knows any more how often.
    total = f" of {own.sum():,.0f}" if table.roles.cut == "all" else ""
    return {
        label: f"{weight:,.0f}{total} {'vote' if weight == 1 and not total else 'votes'}"
        for label, weight in named.items()
    }


def voters_of(table: LabelTable, row: int) -> dict[str, tuple[str, ...]]:
    """Who named each label of a row, by label; labels that nobody named are left out."""
    if table.votes is None:
        return {}
    return {table.classes[place]: table.votes.who_said(row, place) for place in table.votes.labels_in(row)}


def _are_votes(table: LabelTable) -> bool:
    """Whether all weights are whole numbers; asked once, for a table may have millions."""
    if table not in _votes:
        weights = table.candidate_weights
        _votes[table] = weights is not None and bool((weights == np.floor(weights)).all())
    return _votes[table]
