"""Settings of projects with one true label among candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plcore import ActiveLearner, LabelTable
from plcore import LearnerSettings as LearnerSettings
from plcore.arrays import PREFIX, either
from plcore.arrays import in_a_row as in_a_row
from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.one_label import AUTOMATIC as AUTOMATIC
from plcore.query import STRATEGY_ENTRIES, Need, StrategyKind
from plcore.tables import Doubt

TELLS_LITTLE = 0.9
"""Mean share of the false classes among a row's candidates, at least which coverage comes first. With all of them,
coverage gained a kernel ridge 17 to 29 points over the first 50 answers; with 0.4 or less, nothing
(benchmarks/results/cold_start.md)."""

DRAWN = {"seed", "test_share", "control_share", "truth_role"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds candidates."""
    return table.label_vectors is None


read_settings = LearnerSettings.from_json


def first_strategy(table: LabelTable) -> str:
    """Return the default strategy of a new project: coverage first if the table says next to nothing about its rows, so
    that a model has nothing to use before there are answers."""
    if table.candidate_weights is not None:
        return AUTOMATIC
    sizes = table.candidates.sum(axis=1)
    if table.truth is not None:
        sizes = np.where(table.truth >= 0, 1, sizes)
    false = max(len(table.classes) - 1, 1)
    return "cover" if float((sizes - 1).mean()) >= TELLS_LITTLE * false else AUTOMATIC


def first_truth_role(table: LabelTable) -> str:
    """Return the default use of the true labels that are not held out: for training, or, if that would leave nothing to
    ask, hidden, so that people can try the questions."""
    return "hidden" if _all_known(table) else "given"


def default_settings(table: LabelTable, control_share: float) -> LearnerSettings:
    """Return the default settings: models are compared, and blind checks asked if the table has no true labels. A third
    of its true labels are held out to measure accuracy; the others are used as `first_truth_role` says, and
    `first_strategy` chooses the questions."""
    known = table.truth is not None and bool((table.truth >= 0).any())
    return LearnerSettings(
        model=AUTOMATIC,
        strategy=first_strategy(table),
        truth_role=first_truth_role(table),
        control_share=0.0 if known else control_share,
    )


def doubts(table: LabelTable, settings: LearnerSettings) -> list[Doubt]:
    """Report a doubt if the given true labels leave nothing to ask."""
    if settings.truth_role != "given" or not _all_known(table):
        return []
    message = "The true label of every row with a choice is known and given: there is nothing to ask."
    fix = "For a dry run, in which people answer as if it were unknown, hide the true labels (truth_role=hidden)."
    return [Doubt("nothing-to-ask", message, fix)]


def _all_known(table: LabelTable) -> bool:
    """Whether there are rows with a choice, and all of their true labels are known."""
    asked = table.candidates.sum(axis=1) > 1
    return table.truth is not None and bool(asked.any() and (table.truth[asked] >= 0).all())


def settle_change(before: LearnerSettings, after: LearnerSettings) -> LearnerSettings:
    """Return the settings after a change: if models are compared from now on, the current one stays until then."""
    if after.is_automatic and not before.is_automatic:
        return after.adopting(before.model_in_force, before.C)
    return after


# The words for projects with one true label among candidates: strategies, models, and why a row is asked.

TAKES_GROUPS = True
CAN_QUALIFY = True

COVER_HELP = (
    "Cover: rows that represent many others come first, until twice as many are answered as there are classes, or next "
    "to nothing is left to cover. After that, the strategy that suits the model chooses the questions."
)
"""Explanation of when questions stop using coverage."""

NAMES = {entry.name: entry.words for entry in STRATEGY_ENTRIES.values()}
"""Every strategy that can choose the questions."""

MODELS: Mapping[str, str] = {entry.name: entry.words for entry in MODEL_ENTRIES.values()}
"""Every model a project can learn with, the immediate one first."""

CHOICES = {AUTOMATIC: "Automatic: compares the models and takes the best", **MODELS}
"""Models of a project, the default first."""

TRAINED = (AUTOMATIC, *(entry.name for entry in MODEL_ENTRIES.values() if entry.upkeep is Upkeep.TRAINED))
"""Model choices that may train in the background."""

WITH_C = tuple(entry.name for entry in MODEL_ENTRIES.values() if entry.c_option is not None)
"""Models that use the setting C."""

WEIGHING = tuple(entry.words.partition(":")[0] for entry in MODEL_ENTRIES.values() if entry.weighs_candidates)
"""Short names of the models that use how often each candidate of a row was named."""


USING_SOURCES = tuple(entry.words.partition(":")[0] for entry in MODEL_ENTRIES.values() if entry.uses_sources)
"""Short names of the models that learn that rows of one source inform each other."""


def needs_neighbors(model: str, strategy: str) -> bool:
    """Whether this model and strategy use the number of neighbours."""
    if model == AUTOMATIC:
        return True
    entry = MODEL_ENTRIES[model]
    asked = STRATEGY_ENTRIES[entry.strategy if strategy == AUTOMATIC else strategy]
    return entry.upkeep is Upkeep.VOTES or asked.needs is Need.GRAPH


LOST = "it is of a plug-in that is not installed or was left out. Fix: run `winnow plugins`, which says why."
"""Why a plug-in does not order the questions."""


def order_note(learner: ActiveLearner[LabelTable]) -> str | None:
    """Return why the questions are in another order than that of the plug-in that is the strategy, and in which; None
    if they are in its order, or none is."""
    settings, asks = learner.settings, learner.strategy
    if not settings.strategy.startswith(PREFIX) or asks == settings.strategy:
        return None
    if settings.strategy not in STRATEGY_ENTRIES:
        why = LOST
    elif not settings.is_trained:
        model = settings.model_entry.words.partition(":")[0]
        why = f"it needs a model that is trained in the background, and {model} is not. Fix: choose another model."
    else:
        why = learner.order_fault or "the next version of the model brings it."
    return f"The question order is {NAMES[asks]}, not {settings.strategy}: {why}"


def strategies_for(model: str, stored: str = AUTOMATIC) -> dict[str, str]:
    """Return the strategies for a model, in words, the default first; `stored` is always among them.

    Effect rules use the votes of the nearest rows; with other models they are worse than random and left out. A
    strategy is also left out if the model does not provide what it needs. One of a plug-in needs versions.
    """
    entry = MODEL_ENTRIES.get(model)
    by_votes = entry is not None and entry.upkeep is Upkeep.VOTES
    tells = entry is not None and entry.relabels
    suits = f" ({NAMES[entry.strategy]})" if entry else ": what suits the model"
    fits = {
        one.name: one.words
        for one in STRATEGY_ENTRIES.values()
        if one.name == stored
        or (
            (by_votes or one.kind is not StrategyKind.RULE)
            and (tells or one.needs is not Need.EFFECTS)
            and (model in TRAINED or one.needs is not Need.ORDER)
        )
    }
    lost = {stored: f"{stored}: a plug-in that is not there"} if stored.startswith(PREFIX) else {}
    return {AUTOMATIC: f"Automatic{suits}", **lost, **fits}


def reason(strategy: str, decides: int, undecided: int, *, counted: bool = True, waits: bool = False) -> str:
    """Return one or two sentences: why this row is asked, and what the answer could change.

    strategy : the project's      counted : False if no votes are stored to compute the two numbers from
    waits : whether neighbours are still being found
    """
    entry = STRATEGY_ENTRIES[strategy]
    if waits:
        return f"{entry.why} while neighbours are being found."
    if not counted:
        return f"{entry.why}. The model learns from your answer in its next version."
    first = "" if entry.counts_say_why else f"{entry.why}. "
    if undecided == 0:
        return f"{first}No answer can change a prediction any more; only the row's own label is still open."
    if decides == 0:
        return (
            f"{first}No single answer here can change an unsettled prediction ({undecided:,} in all). Only the row's "
            "own label is still open."
        )
    predictions = f"unsettled {either(undecided, 'prediction', 'predictions')}"
    return f"{first}Your answer could change {decides:,} of {undecided:,} {predictions}."
