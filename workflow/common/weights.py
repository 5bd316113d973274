"""How much a table lets each candidate of a row count, in words, and who named it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from plcore.tables import LEAST_SHARE

if TYPE_CHECKING:
    from plcore import LabelTable

_votes: WeakKeyDictionary[LabelTable, bool] = WeakKeyDictionary()


def weights_in(table: LabelTable, row: int) -> dict[str, float]:
    """How much each label of a row counts that counts at all. Empty where all candidates count alike."""
    if table.candidate_weights is None:
        return {}
    own = table.candidate_weights[row]
    return {table.classes[k]: float(own[k]) for k in np.flatnonzero(own > 0)}


def votes_in(table: LabelTable, row: int) -> int:
    """Of how many votes on a row these weights are; 0 where they are no votes, or it is not known."""
    # What was cut away has been named, too, but nobody knows any more how often.
    known = table.candidate_weights is not None and _are_votes(table) and table.roles.cut == "all"
    return round(sum(weights_in(table, row).values())) if known else 0


def weight_words(table: LabelTable, row: int) -> dict[str, str]:
    """What speaks for each label of a row, in words: of so many votes, where all weights of the table are whole
    numbers, else the weight itself. Empty where all candidates count alike."""
    named = weights_in(table, row)
    if not named:
        return {}
    if not _are_votes(table):
        nothing = LEAST_SHARE * max(named.values())  # a candidate to which another model gave nothing
        return {label: _number(weight) if weight > nothing else "0" for label, weight in named.items()}
    votes = votes_in(table, row)
    total = f" of {votes:,}" if votes else ""
    return {
        label: f"{weight:,.0f}{total} {'vote' if weight == 1 and not total else 'votes'}"
        for label, weight in named.items()
    }


def voters_of(table: LabelTable, row: int) -> dict[str, tuple[str, ...]]:
    """Who named each label of a row, by label; labels that nobody named are left out."""
    if table.votes is None:
        return {}
    return {table.classes[place]: table.votes.who_said(row, place) for place in table.votes.labels_in(row)}


def _number(weight: float) -> str:
    return f"{weight:.2g}" if weight < 1 else f"{weight:.4g}"


def _are_votes(table: LabelTable) -> bool:
    """Whether all weights are whole numbers, and no model's; asked once, for a table may have millions."""
    if table not in _votes:
        weights = None if table.roles.scored_by is not None else table.candidate_weights
        _votes[table] = weights is not None and bool((weights == np.floor(weights)).all())
    return _votes[table]
