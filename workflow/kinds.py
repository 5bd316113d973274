"""The two kinds of project, one true label among candidates and label vectors: where making and listing them differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.loop.label_vectors.learner import LabelVectorLearner
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.one_label.training import Trainer
from workflow.graphs import keep_graph
from workflow.learner_entries import read_settings
from workflow.machine import machine_memory

if TYPE_CHECKING:
    from workflow.home import Home
    from workflow.learners import Learner

FEWEST_HELD_OUT = 30
"""Held-out rows below which precision and F1 would say little, so that blind controls are drawn as well."""

CANDIDATES, VECTORS = "candidates", "vectors"

AnySettings = LearnerSettings | LabelVectorSettings

DRAWN = {
    CANDIDATES: {"seed", "test_share", "control_share", "truth_role"},
    VECTORS: {"kind", "seed", "test_share", "control_share"},
}
"""Settings that decide which rows are held out; they never change."""


def kind_of(settings: Mapping[str, Any]) -> str:
    """The kind of the project with these stored settings."""
    return VECTORS if isinstance(read_settings(dict(settings)), LabelVectorSettings) else CANDIDATES


def settings_for(table: LabelTable, control_share: float) -> AnySettings:
    """Those of a project of this table where nothing was chosen: blind controls where too little truth is held out."""
    if (vectors := table.label_vectors) is not None:
        held_out = LabelVectorSettings.test_share * int((vectors >= 0).all(axis=1).sum())
        return LabelVectorSettings(control_share=0.0 if held_out >= FEWEST_HELD_OUT else control_share)
    known = table.truth is not None and bool((table.truth >= 0).any())
    return LearnerSettings(control_share=0.0 if known else control_share)


def first_learner(table: LabelTable, settings: AnySettings) -> Learner:
    """The learner of a new project. Raises ValueError where none can be built, or only one that cannot be trained."""
    if isinstance(settings, LabelVectorSettings):
        vectors = LabelVectorLearner(table, settings)
        memory = machine_memory()
        vectors.check_fit(None if memory is None else memory // 2)
        return vectors
    if table.label_vectors is not None:
        raise ValueError("the table holds label vectors, these settings are for candidates.")
    learner = ActiveLearner(table, settings)
    if settings.is_trained:
        Trainer(learner.pool)
    return learner


def keep_beside(home: Home, table_hash: str, learner: Learner) -> None:
    """Keep what makes the next start fast."""
    if isinstance(learner, ActiveLearner):
        keep_graph(home, table_hash, learner)


def open_at_first(learner: Learner) -> int:
    """What a person could be asked about in a new project: ambiguous rows, or empty cells."""
    if isinstance(learner, LabelVectorLearner):
        return int(learner.pool.open.sum())
    return learner.progress().ambiguous_left


def changed(stored: Mapping[str, Any], changes: Mapping[str, Any]) -> AnySettings:
    """The stored settings with some changed. Raises ValueError where one may not be, or not be changed."""
    if fixed := sorted(set(changes) & DRAWN[kind_of(stored)]):
        raise ValueError(
            f"{fixed[0]} is fixed when a project is made: the rows drawn by it have been asked about, or kept from "
            "the model. Fix: import the table as a new project."
        )
    if "question" in changes and stored.get("control_share") and asks_otherwise(stored, changes):
        raise ValueError(
            "question cannot change between whole rows and labels where there are blind checks: these were drawn "
            "as rows, or as labels, when the project was made. Fix: import the table as a new project."
        )
    if unknown := sorted(set(changes) - set(stored)):
        raise ValueError(f"A project has no setting {unknown[0]!r}. It has {', '.join(sorted(stored))}.")
    return read_settings({**stored, **changes})


def asks_otherwise(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether one of these settings asks about whole rows, and the other about labels."""
    return (before.get("question") == "instance") != (after.get("question") == "instance")


def as_json(settings: AnySettings) -> dict[str, Any]:
    """As `read_settings` reads them."""
    return settings.to_json()
