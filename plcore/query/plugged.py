"""Strategies of plug-ins: functions that other distributions declare, which score the rows of a version."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from plcore.arrays.plugins import Plugin, PluginError, check_declared, find_plugins, import_part
from plcore.arrays.types import BoolArray, FeatureMatrix, FloatArray

STRATEGY_GROUP = "winnow.strategies"
"""Group of the entry points."""


@dataclass(frozen=True)
class StrategyPlugin:
    """Declaration of a strategy: a function that says which rows to ask about first.

    words : what people read: the name, a colon, what it asks first
    score : "package.module:name" of a function that takes `RowsKnown` and returns (n,) finite numbers, larger = ask
        sooner. The same rows must give the same numbers: versions are made again from table and log
    why : the reason for asking about a row, as a sentence without its full stop
    Raises ValueError for a wrong one.
    """

    words: str
    score: str
    why: str = "The plug-in that orders the rows puts this one first"

    def __post_init__(self) -> None:
        check_declared(self.words, "what it asks first", score=self.score)


@dataclass(frozen=True, eq=False)
class RowsKnown:
    """Knowledge of a version of the model about the n training rows, in the order of the table; new arrays.

    shares : (n, m) label distribution of each row inside its candidates; 0 for bad items
    candidates : bool (n, m) its candidates after the answers      answered : bool (n,) whether it has an answer
    features : (n, d) its features as the model gets them, dense or CSR      seed : of the project, for draws
    """

    shares: FloatArray
    candidates: BoolArray
    answered: BoolArray
    features: FeatureMatrix
    seed: int


@dataclass(frozen=True, eq=False)
class Order:
    """Scores of the rows of a version by the strategy of a plug-in.

    scores : (n_train,) larger = ask sooner; None: it failed      fault : why it did, with the fix; "": it did not
    """

    scores: FloatArray | None
    fault: str = ""


@cache
def strategy_plugins() -> tuple[Plugin[StrategyPlugin], ...]:
    """Return every plug-in of a strategy, as installed at the first call; broken ones too."""
    return find_plugins(STRATEGY_GROUP, StrategyPlugin)


def order_rows(score: str, known: RowsKnown) -> Order:
    """Import the function of a plug-in and call it; any error of it is the `fault`. score : its reference"""
    try:
        function = import_part(score)
        found = np.asarray(function(known), dtype=np.float64) if callable(function) else np.zeros(0)
    except PluginError as error:
        return Order(None, str(error))
    except Exception as error:  # code of others: rows are asked in another order then
        return Order(None, f"{score} failed ({type(error).__name__}: {error}). Fix: ask the plug-in's author.")
    n = len(known.answered)
    if found.shape != (n,) or not np.isfinite(found).all():
        return Order(None, f"{score} must return {n} finite numbers. Got {_got(found)}. Fix: ask the plug-in's author.")
    return Order(found)


def _got(found: FloatArray) -> str:
    bad = np.count_nonzero(~np.isfinite(found))
    return f"shape {found.shape}" + (f", {bad} of them not finite" if bad else "")
