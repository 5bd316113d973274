"""Query strategies: which row to ask about next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.query.alike import FEWEST, KNOWN, RIGHT, SURE, cosine_similarities, nearest_rows, sure_from, sure_rows
    from plcore.query.cheapest import CRITERIA, RowQuestion, cheapest_question, memory_order, row_questions
    from plcore.query.effects import effect_scores
    from plcore.query.explanation import (
        AnswerEffect,
        Explanation,
        LabelMoments,
        label_moments,
        most_telling,
        speaks_for,
    )
    from plcore.query.herding import MaxHerding
    from plcore.query.plugged import Order, RowsKnown, StrategyPlugin, strategy_plugins
    from plcore.query.possible import necessary_labels, possible_labels, winners
    from plcore.query.ranker import EffectRanker
    from plcore.query.registry import STRATEGIES, STRATEGY_ENTRIES, Need, StrategyEntry, StrategyKind, make_strategy
    from plcore.query.score_parts import first_ranking
    from plcore.query.seconds import FORMS, SecondsModel, SecondsPrior
    from plcore.query.strategies import FarthestFirst, LargestSet, LearnerStrategy, RandomOrder, Strategy
    from plcore.query.uncertainty import LargestEffect, LearnerScores, SmallestMargin, learner_shares
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "CRITERIA",
    "FEWEST",
    "FORMS",
    "KNOWN",
    "RIGHT",
    "STRATEGIES",
    "STRATEGY_ENTRIES",
    "SURE",
    "AnswerEffect",
    "EffectRanker",
    "Explanation",
    "FarthestFirst",
    "LabelMoments",
    "LargestEffect",
    "LargestSet",
    "LearnerScores",
    "LearnerStrategy",
    "MaxHerding",
    "Need",
    "Order",
    "RandomOrder",
    "RowQuestion",
    "RowsKnown",
    "SecondsModel",
    "SecondsPrior",
    "SmallestMargin",
    "Strategy",
    "StrategyEntry",
    "StrategyKind",
    "StrategyPlugin",
    "cheapest_question",
    "cosine_similarities",
    "effect_scores",
    "first_ranking",
    "label_moments",
    "learner_shares",
    "make_strategy",
    "memory_order",
    "most_telling",
    "nearest_rows",
    "necessary_labels",
    "possible_labels",
    "row_questions",
    "speaks_for",
    "strategy_plugins",
    "sure_from",
    "sure_rows",
    "winners",
]
