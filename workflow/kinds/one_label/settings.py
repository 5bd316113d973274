"""Settings of projects with one true label among candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from plcore import LearnerSettings
from plcore.loop.one_label import AUTOMATIC
from plcore.tables import Doubt

if TYPE_CHECKING:
    from plcore import LabelTable

__all__ = [
    "AUTOMATIC",
    "DRAWN",
    "NAME",
    "LearnerSettings",
    "default_settings",
    "doubts",
    "first_strategy",
    "first_truth_role",
    "fits",
    "is_stored",
    "read_settings",
    "settle_change",
]

NAME = "one_label"

TELLS_LITTLE = 0.9
"""Share of the false classes that rows have as candidates, on average, from which on coverage comes first. Where all
were, that gave a kernel ridge 17 to 29 points over the first 50 answers; where .4 and less were, nothing
(benchmarks/results/cold_start.md)."""

DRAWN = {"seed", "test_share", "control_share", "truth_role"}
"""Settings that decide which rows are held out; they never change."""


def fits(table: LabelTable) -> bool:
    """Whether the table holds candidates."""
    return table.label_vectors is None


def is_stored(settings: Mapping[str, Any]) -> bool:
    """Whether these are stored settings of this kind; the first ones ever stored name none."""
    return settings.get("kind") in (None, NAME)


def read_settings(stored: Mapping[str, Any]) -> LearnerSettings:
    """The settings as they are stored. Raises ValueError."""
    return LearnerSettings.from_json(stored)


def first_strategy(table: LabelTable) -> str:
    """The strategy that is proposed for a new project: coverage first where the table says next to nothing of its rows,
    so that a model has nothing to go by before there are answers."""
    if table.candidate_weights is not None:
        return AUTOMATIC
    sizes = table.candidates.sum(axis=1)
    if table.truth is not None:
        sizes = np.where(table.truth >= 0, 1, sizes)
    false = max(len(table.classes) - 1, 1)
    return "cover" if float((sizes - 1).mean()) >= TELLS_LITTLE * false else AUTOMATIC


def first_truth_role(table: LabelTable) -> str:
    """What the true labels that are not held out are proposed for: to be learnt from, or, where they would leave
    nothing to ask, to stay hidden, so that people can try how far questions go."""
    return "hidden" if _all_known(table) else "given"


def default_settings(table: LabelTable, control_share: float) -> LearnerSettings:
    """The settings where nobody has chosen any: models are compared, and blind checks asked where the table holds no
    true label. Of those that it holds a third is held out to measure accuracy; the others go by `first_truth_role`,
    questions by `first_strategy`.
    """
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
    message = "The true label of every row with a choice is known and given: there will be nothing to ask."
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
