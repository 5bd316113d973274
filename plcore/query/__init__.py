"""Queries: which row to ask about next, from the label sets of weighted nearest-neighbour votes."""

from __future__ import annotations

from plcore.query.effects import effect_scores
from plcore.query.explanation import AnswerEffect, Explanation
from plcore.query.order import memory_order
from plcore.query.possible import possible_labels
from plcore.query.ranker import EffectRanker
from plcore.query.sets import necessary_labels, winners
from plcore.query.strategies import (
    STRATEGIES,
    FarthestFirst,
    LargestSet,
    RandomOrder,
    Strategy,
    make_strategy,
)

__all__ = [
    "STRATEGIES",
    "AnswerEffect",
    "EffectRanker",
    "Explanation",
    "FarthestFirst",
    "LargestSet",
    "RandomOrder",
    "Strategy",
    "effect_scores",
    "make_strategy",
    "memory_order",
    "necessary_labels",
    "possible_labels",
    "winners",
]
