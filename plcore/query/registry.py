"""All query strategies, in the order users see them, and a factory that makes one by name.

A new strategy is one class with the interface `Strategy` and one entry in `STRATEGY_ENTRIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plcore.arrays.checks import check_choice
from plcore.arrays.plugins import PREFIX, Plugin
from plcore.arrays.types import MatrixLike
from plcore.query.herding import MaxHerding
from plcore.query.plugged import StrategyPlugin, strategy_plugins
from plcore.query.possible import MAX_NODES
from plcore.query.ranker import EffectRanker
from plcore.query.strategies import FarthestFirst, LargestSet, RandomOrder, Strategy
from plcore.query.uncertainty import ByModel, LargestEffect, SmallestMargin


class StrategyKind(StrEnum):
    """The inputs of a strategy."""

    RULE = "effect rule"
    """A rule of `effect_scores`: created with its own name as `rule`."""
    BASELINE = "baseline"
    """A strategy without neighbours or model: created with `random_state`, and with `scaling` if it needs features."""
    MODEL = "model"
    """A strategy that uses the model: created with a function that returns the model's margins or scores."""
    OPENING = "opening"
    """A strategy for the first questions only; the one that suits the model follows. It is created with a function that
    returns the model's uncertainty about rows, and fitted on their neighbours."""


class Need(StrEnum):
    """Inputs of a strategy in addition to the candidates."""

    GRAPH = "graph"
    """The neighbours of every row."""
    FEATURES = "features"
    """The features of every row."""
    MODEL = "model"
    """A model that predicts shares of each row's candidates."""
    EFFECTS = "effects"
    """A model with effect scores: how much an answer about each row would change the others."""
    ORDER = "order"
    """A model trained in the background, whose versions bring the scores of a plug-in."""


@dataclass(frozen=True)
class StrategyEntry:
    """A strategy: its name in stored settings, its description for users, and its needs.

    words : what it asks first      why : the reason for asking about a row, as a sentence without its full stop. It is
        not shown if counts say the same (`counts_say_why`)
    strategy : its class      draws : whether its order is drawn with a seed; ties of the others use the row number
    source : distribution and version of the plug-in that declares it; "": it is one of ours
    score : "package.module:name" of the plug-in's function
    """

    name: str
    words: str
    why: str
    kind: StrategyKind
    strategy: Callable[..., Any]
    needs: Need | None = None
    draws: bool = False
    counts_say_why: bool = False
    source: str = ""
    score: str = ""

    @property
    def logged(self) -> str:
        """Return its name in the log: for that of a plug-in with distribution and version."""
        return f"{self.name} ({self.source})" if self.source else self.name


def plugged_strategy(plugin: Plugin[StrategyPlugin], declared: StrategyPlugin) -> StrategyEntry:
    """Return the entry of a plug-in, in whose description its distribution and version are named."""
    return StrategyEntry(
        name=PREFIX + plugin.name,
        words=f"{declared.words} ({plugin.source})",
        why=declared.why,
        kind=StrategyKind.MODEL,
        strategy=ByModel,
        needs=Need.ORDER,
        source=plugin.source,
        score=declared.score,
    )


STRATEGY_ENTRIES: dict[str, StrategyEntry] = {
    entry.name: entry
    for entry in (
        StrategyEntry(
            name="apl",
            words="APL: could change most predictions",
            why="Of all rows this one could change the labels of most rows like it",
            kind=StrategyKind.RULE,
            strategy=EffectRanker,
            needs=Need.GRAPH,
            counts_say_why=True,
        ),
        StrategyEntry(
            name="pl",
            words="PL: as APL, computed exactly (slower)",
            why="Of all rows this one could change the labels of most rows like it",
            kind=StrategyKind.RULE,
            strategy=EffectRanker,
            needs=Need.GRAPH,
            counts_say_why=True,
        ),
        StrategyEntry(
            name="mw",
            words="MW: most predictions rest on it",
            why="Most predictions rest on this row",
            kind=StrategyKind.RULE,
            strategy=EffectRanker,
            needs=Need.GRAPH,
        ),
        StrategyEntry(
            name="mp",
            words="MP: has the most candidates",
            why="This row has the most candidates",
            kind=StrategyKind.BASELINE,
            strategy=LargestSet,
        ),
        StrategyEntry(
            name="act",
            words="ACT: lies farthest from the exact rows",
            why="This row is farthest from the exact ones",
            kind=StrategyKind.BASELINE,
            strategy=FarthestFirst,
            needs=Need.FEATURES,
        ),
        StrategyEntry(
            name="random",
            words="RD: drawn at random",
            why="This row was drawn at random",
            kind=StrategyKind.BASELINE,
            strategy=RandomOrder,
            draws=True,
        ),
        StrategyEntry(
            name="margin",
            words="Margin: the model hesitates most",
            why="The model hesitates most between two candidates here",
            kind=StrategyKind.MODEL,
            strategy=SmallestMargin,
            needs=Need.MODEL,
        ),
        StrategyEntry(
            name="moves",
            words="Moves: an answer would move most uncertain rows, by the kernel ridge",
            why="According to the model, this answer would affect the most uncertain rows",
            kind=StrategyKind.MODEL,
            strategy=LargestEffect,
            needs=Need.EFFECTS,
        ),
        StrategyEntry(
            name="cover",
            words="Cover: the first rows stand for many others, then what suits the model",
            why="This row stands for many rows like it that no answer covers yet",
            kind=StrategyKind.OPENING,
            strategy=MaxHerding,
            needs=Need.GRAPH,
        ),
        *(plugged_strategy(one, one.declared) for one in strategy_plugins() if one.declared is not None),
    )
}
"""Every strategy by its name in stored settings: ours, then those of plug-ins."""


def check_strategy(setting: str, name: str, *others: str) -> None:
    """Raise ValueError naming the setting if this is neither a strategy, nor one that a plug-in had, nor one of the
    others."""
    if not (isinstance(name, str) and name.startswith(PREFIX)):
        check_choice(setting, name, (*others, *STRATEGY_ENTRIES))


BASELINES = tuple(e.name for e in STRATEGY_ENTRIES.values() if e.kind is StrategyKind.BASELINE)
STRATEGIES = tuple(e.name for e in STRATEGY_ENTRIES.values() if e.kind in (StrategyKind.RULE, StrategyKind.BASELINE))
"""Strategies that need no model, made by `make_strategy`."""


def make_strategy(
    name: str,
    *,
    n_neighbors: int = 3,
    targets: MatrixLike = "ambiguous",
    decision: str = "set",
    weights: str = "linear",
    scaling: str | None = "minmax",
    random_state: int | None = None,
    max_nodes: int = MAX_NODES,
    search: str = "auto",
) -> Strategy:
    """Return an unfitted strategy by name: "random", "mp", "act", or an effect rule "mw", "apl", "pl".

    The other arguments are those of `EffectRanker`; all baselines use `random_state`, "act" also uses `scaling`. Raises
    ValueError for an unknown name.
    """
    check_choice("strategy", name, STRATEGIES)
    entry = STRATEGY_ENTRIES[name]
    made: Strategy
    if entry.kind is StrategyKind.BASELINE:
        scaled = {"scaling": scaling} if entry.needs is Need.FEATURES else {}
        made = entry.strategy(random_state=random_state, **scaled)
    else:
        made = entry.strategy(
            name,
            n_neighbors,
            targets,
            decision,
            weights=weights,
            scaling=scaling,
            random_state=random_state,
            max_nodes=max_nodes,
            search=search,
        )
    return made
