"""Projects with one true label among candidates in words: the strategies and models, and why a row is asked."""

from __future__ import annotations

from collections.abc import Mapping

from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.one_label import AUTOMATIC
from plcore.query import STRATEGY_ENTRIES, Need, StrategyKind
from workflow.kinds.kind_words import KindWords

WORDS = KindWords(
    title="one true label among candidates",
    classes="classes",
    finished="No row is open any more.",
)
CAN_CHANGE_CLASSES = True
TAKES_GROUPS = True
CAN_QUALIFY = True
HAS_DISPUTES = True
REPLAYS_RANDOM_ORDER = True

COVER_HELP = (
    "Cover: rows come first that stand for many others, until twice as many are answered as there are classes, or next "
    "to nothing is left to cover. From then on questions go by what suits the model."
)
"""When questions cease to go by coverage."""

NAMES = {entry.name: entry.words for entry in STRATEGY_ENTRIES.values()}
"""Every strategy by which questions can be asked."""

MODELS: Mapping[str, str] = {entry.name: entry.words for entry in MODEL_ENTRIES.values()}
"""Every model a project can learn with, the one that answers at once first."""

COMPARED = MODELS
"""Models that a worker compares."""

CHOICES = {AUTOMATIC: "Automatic: compares the models and takes the best", **MODELS}
"""What can be said of the model of a project, the default first."""

TRAINED = (
    AUTOMATIC,
    *(entry.name for entry in MODEL_ENTRIES.values() if entry.upkeep is Upkeep.TRAINED),
)
"""Choices of a model under which one may be trained in the background."""

WITH_C = tuple(entry.name for entry in MODEL_ENTRIES.values() if entry.c_option is not None)
"""Models that the setting C means something for."""

WEIGHING = tuple(entry.words.partition(":")[0] for entry in MODEL_ENTRIES.values() if entry.weighs_candidates)
"""Models, by their short names, for which it counts how often each candidate of a row was named."""


def needs_neighbors(model: str, strategy: str) -> bool:
    """Whether the number of neighbours means something under this choice of a model and this strategy."""
    if model == AUTOMATIC:
        return True
    entry = MODEL_ENTRIES[model]
    asked = STRATEGY_ENTRIES[entry.strategy if strategy == AUTOMATIC else strategy]
    return entry.upkeep is Upkeep.VOTES or asked.needs is Need.GRAPH


def strategies_for(model: str, stored: str = AUTOMATIC) -> dict[str, str]:
    """What can be chosen to ask by under a model, in words, the default first; `stored` is always among it.

    Effect rules go by the votes of the nearest rows and are left out for other models: there they are worse than
    random. What a model must tell is left out where it does not.
    """
    entry = MODEL_ENTRIES.get(model)
    by_votes = entry is not None and entry.upkeep is Upkeep.VOTES
    tells = entry is not None and entry.relabels
    suits = f" ({NAMES[entry.strategy]})" if entry else ": what suits the model"
    fits = {
        one.name: one.words
        for one in STRATEGY_ENTRIES.values()
        if one.name == stored
        or ((by_votes or one.kind is not StrategyKind.RULE) and (tells or one.needs is not Need.EFFECTS))
    }
    return {AUTOMATIC: f"Automatic{suits}", **fits}


def reason(strategy: str, decides: int, undecided: int, *, counted: bool = True) -> str:
    """One or two sentences: why this row, and what the answer could do.

    strategy : the project's      counted : False where no votes are kept from which the two numbers could come
    """
    entry = STRATEGY_ENTRIES[strategy]
    if not counted:
        return f"{entry.why}. The model learns from your answer in its next version."
    first = "" if entry.counts_say_why else f"{entry.why}. "
    if undecided == 0:
        return f"{first}No answer can change a prediction any more; only the row's own label is still open."
    if decides == 0:
        return (
            f"{first}No single answer here can change the model's label of one of the {undecided:,} rows that are not "
            "settled; the row's own is still open."
        )
    others = f"{decides:,} of {undecided:,} rows that are not settled"
    return f"{first}Your answer could change the model's label of {others}."
