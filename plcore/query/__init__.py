"""Queries: which row to ask about next, from the label sets of weighted nearest-neighbour votes."""

from __future__ import annotations

from plcore.query.effects import effect_scores
from plcore.query.possible import possible_labels
from plcore.query.ranker import EffectRanker, Explanation
from plcore.query.sets import necessary_labels, winners

__all__ = [
    "EffectRanker",
    "Explanation",
    "effect_scores",
    "necessary_labels",
    "possible_labels",
    "winners",
]
