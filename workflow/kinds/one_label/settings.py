"""Settings of projects with one true label among candidates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plcore import LabelTable
from plcore import LearnerSettings as LearnerSettings
from plcore.arrays import either
from plcore.arrays import in_a_row as in_a_row
from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.one_label import AUTOMATIC as AUTOMATIC
from plcore.query import STRATEGY_ENTRIES, Need, StrategyKind
from plcore.tables import Doubt

TELLS_LITTLE = 0.9
"""Share of the false classes that rows have as candidates, on average, from which on coverage comes first. If all
were, that gave a kernel ridge 17 to 29 points over the first 50 answers; where 0.4 and less were, nothing
(benchmarks/results/cold_start.md)."""

DRAWN = {"seed", "test_share", "control_share", "truth_role"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds candidates."""
    return table.label_vectors is None


read_settings = LearnerSettings.from_json


def first_strategy(table: LabelTable) -> str:
    """The strategy that is proposed for a new project: coverage first where the table says next to nothing of its rows,
    so that a model has nothing to use before there are answers."""
    if table.candidate_weights is not None:
        return AUTOMATIC
    sizes = table.candidates.sum(axis=1)
    if table.truth is not None:
        sizes = np.where(table.truth >= 0, 1, sizes)
    false = max(len(table.classes) - 1, 1)
    return "cover" if float((sizes - 1).mean()) >= TELLS_LITTLE * false else AUTOMATIC


def first_truth_role(table: LabelTable) -> str:
    """Default use of the true labels that are not held out: to be learnt from, or, where they would leave
    nothing to ask, to stay hidden, so that people can try how far questions go."""
    return "hidden" if _all_known(table) else "given"


def default_settings(table: LabelTable, control_share: float) -> LearnerSettings:
    """The settings if no one has chosen any: models are compared, and blind checks asked where the table holds no
    true label. Of those that it holds a third is held out to measure accuracy; the others use `first_truth_role`,
    questions by `first_strategy`."""
    known = table.truth is not None and bool((table.truth >= 0).any())
    return LearnerSettings(
        model=AUTOMATIC,
        strategy=first_strategy(table),
        truth_role=first_truth_role(table),
        control_share=0.0 if known else control_share,
    )


def doubts(table: LabelTable, settings: LearnerSettings) -> list[Doubt]:
    """Whether the true labels that are given leave nothing to ask."""
    if settings.truth_role != "given" or not _all_known(table):
        return []
    message = "The true label of every row with a choice is known and given: there is nothing to ask."
    fix = "If people shall answer as if it were unknown, for a dry run, hide the true labels (truth_role=hidden)."
    return [Doubt("nothing-to-ask", message, fix)]


def _all_known(table: LabelTable) -> bool:
    """Whether there are rows with a choice, and the true label of all of them is known."""
    asked = table.candidates.sum(axis=1) > 1
    return table.truth is not None and bool(asked.any() and (table.truth[asked] >= 0).all())


def settle_change(before: LearnerSettings, after: LearnerSettings) -> LearnerSettings:
    """The settings after a change: where models are compared from now on, the one in force stays until then."""
    if after.is_automatic and not before.is_automatic:
        return after.adopting(before.model_in_force, before.C)
    return after


# Projects with one true label among candidates in words: the strategies and models, and why a row is asked.

TAKES_GROUPS = True
CAN_QUALIFY = True

COVER_HELP = (
    "Cover: rows come first that stand for many others, until twice as many are answered as there are classes, or next "
    "to nothing is left to cover. After that, the strategy that suits the model chooses the questions."
)
"""When questions cease to use coverage."""

NAMES = {entry.name: entry.words for entry in STRATEGY_ENTRIES.values()}
"""Every strategy by which questions can be asked."""

MODELS: Mapping[str, str] = {entry.name: entry.words for entry in MODEL_ENTRIES.values()}
"""Every model a project can learn with, the one that answers at once first."""

CHOICES = {AUTOMATIC: "Automatic: compares the models and takes the best", **MODELS}
"""Models of a project, the default first."""

TRAINED = (AUTOMATIC, *(entry.name for entry in MODEL_ENTRIES.values() if entry.upkeep is Upkeep.TRAINED))
"""Choices of a model under which one may be trained in the background."""

WITH_C = tuple(entry.name for entry in MODEL_ENTRIES.values() if entry.c_option is not None)
"""Models that the setting C means something for."""

WEIGHING = tuple(entry.words.partition(":")[0] for entry in MODEL_ENTRIES.values() if entry.weighs_candidates)
"""Models, by their short names, for which it counts how often each candidate of a row was named."""


USING_SOURCES = tuple(entry.words.partition(":")[0] for entry in MODEL_ENTRIES.values() if entry.uses_sources)
"""Models, by their short names, that learn that rows of one source explain each other."""


def needs_neighbors(model: str, strategy: str) -> bool:
    """Whether the number of neighbours means something under this choice of a model and this strategy."""
    if model == AUTOMATIC:
        return True
    entry = MODEL_ENTRIES[model]
    asked = STRATEGY_ENTRIES[entry.strategy if strategy == AUTOMATIC else strategy]
    return entry.upkeep is Upkeep.VOTES or asked.needs is Need.GRAPH


def strategies_for(model: str, stored: str = AUTOMATIC) -> dict[str, str]:
    """Strategies by model, in words, the default first; `stored` is always among it.

    Effect rules use the votes of the nearest rows and are left out for other models: there they are worse than
    random. What a model must tell is left out if it does not.
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


def reason(strategy: str, decides: int, undecided: int, *, counted: bool = True, waits: bool = False) -> str:
    """One or two sentences: why this row, and what the answer could do.

    strategy : the project's      counted : False if no votes are kept from which the two numbers could come
    waits : whether neighbours are still to be found
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
            f"{first}No single answer here can change the model's label of any row that is not settled "
            f"({undecided:,}); the row's own is still open."
        )
    others = f"{decides:,} of {undecided:,} {either(undecided, 'row that is', 'rows that are')} not settled"
    return f"{first}Your answer could change the model's label of {others}."
