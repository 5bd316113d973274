"""The two kinds of project, one true label among candidates and label vectors: where making and listing them differ."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from db import entries
from plcore import ActiveLearner, LabelTable, LearnerSettings
from plcore.features import FeatureTransformer
from plcore.multilabel import MultiLabelLearner, MultiLabelSettings
from plcore.pool import Pool
from plcore.training import Trainer
from workflow.graphs import keep_graph
from workflow.learner_entries import follow, read_class_changes, read_settings
from workflow.machine import machine_memory

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    import numpy.typing as npt
    from sqlalchemy.orm import Session

    from db.engine import Database
    from db.projects import Project
    from plcore.classes import ClassChange
    from workflow.home import Home
    from workflow.learners import Learner

FEWEST_HELD_OUT = 30
"""Held-out rows below which precision and F1 would say little, so that blind controls are drawn as well."""

CANDIDATES, VECTORS = "candidates", "vectors"

AnySettings = LearnerSettings | MultiLabelSettings

DRAWN = {
    CANDIDATES: {"seed", "test_share", "control_share", "truth_role"},
    VECTORS: {"kind", "seed", "test_share", "control_share"},
}
"""Settings that decide which rows are held out; they never change."""


def kind_of(settings: Mapping[str, Any]) -> str:
    """The kind of the project with these stored settings."""
    return VECTORS if isinstance(read_settings(dict(settings)), MultiLabelSettings) else CANDIDATES


def settings_for(table: LabelTable, control_share: float) -> AnySettings:
    """Those of a project of this table where nothing was chosen: blind controls where too little truth is held out."""
    if (vectors := table.label_vectors) is not None:
        held_out = MultiLabelSettings.test_share * int((vectors >= 0).all(axis=1).sum())
        return MultiLabelSettings(control_share=0.0 if held_out >= FEWEST_HELD_OUT else control_share)
    known = table.truth is not None and bool((table.truth >= 0).any())
    return LearnerSettings(control_share=0.0 if known else control_share)


def first_learner(table: LabelTable, settings: AnySettings) -> Learner:
    """The learner of a new project. Raises ValueError where none can be built, or only one that cannot be trained."""
    if isinstance(settings, MultiLabelSettings):
        vectors = MultiLabelLearner(table, settings)
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
    if isinstance(learner, MultiLabelLearner):
        return int(learner.pool.open.sum())
    return learner.progress().ambiguous_left


def asks_rows(settings: Mapping[str, Any]) -> bool:
    """Whether a question is about a whole row, not about one label of it."""
    return kind_of(settings) == CANDIDATES or settings.get("question") == "instance"


def counts(home: Home, session: Session, project: Project) -> tuple[int, int]:
    """(answered, left) as `workflow.standing.counts` tells them; by table and log alone: no learner is built."""
    # Every page asks: a log is read once for each state of it. A deleted project may leave its id to another.
    counted = _counted.setdefault(home.database, {})
    place = project.id, project.created_at, asks_rows(project.settings)
    seq, known = counted.get(place, (-1, (0, 0)))
    if seq != (now := entries.last_seq(session, project.id)):
        if kind_of(project.settings) == VECTORS:
            known = _count_cells(home, session, project)
        elif changes := read_class_changes(session, project.id):
            known = _count_rows(home, session, project, changes)
        else:
            answered = entries.answered_rows(session, project.id)
            known = answered, max(0, project.n_to_ask - answered)
        counted[place] = now, known
    return known


_counted: WeakKeyDictionary[Database, dict[tuple[int, datetime, bool], tuple[int, tuple[int, int]]]]
_counted = WeakKeyDictionary()


def _count_rows(
    home: Home, session: Session, project: Project, changes: Sequence[ClassChange]
) -> tuple[int, int]:
    """As `counts`, of candidates whose classes have changed: what an entry left of a row may be other labels now."""
    settings = read_settings(project.settings)
    assert isinstance(settings, LearnerSettings)  # noqa: S101 - it is of this kind
    pool = Pool(_labels(home.table_path(project.table_hash)), settings, changes)
    follow(session, project.id, pool, pool.apply)
    answered = int((pool.answered & (pool.sizes < 2)).sum())
    return answered, int((pool.sizes[~pool.test_rows] >= 2).sum())


def _count_cells(home: Home, session: Session, project: Project) -> tuple[int, int]:
    """As `counts`, of label vectors."""
    holes, column = _holes(home.table_path(project.table_hash))
    answered, out = np.zeros_like(holes), np.zeros(len(holes), dtype=bool)
    for row, kind, labels in entries.cell_answers(session, project.id):
        answered[row, [column[label] for label in labels]] = True
        out[row] = kind == "bad"  # an answer brings a row back
    left = holes & ~answered & ~out[:, None]
    if asks_rows(project.settings):
        return int((answered.any(axis=1) | out).sum()), int(left.any(axis=1).sum())
    return int(answered.sum()), int(left.sum())


@dataclasses.dataclass(frozen=True)
class _Labels:
    """What a pool needs of a table: its features, of which there may be many, are not kept for a count."""

    candidates: npt.NDArray[np.bool_]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None
    features: Callable[[], FeatureTransformer] = FeatureTransformer


@functools.lru_cache(maxsize=32)
def _labels(path: Path) -> _Labels:
    """Of the stored table. Tables never change."""
    table = LabelTable.read(path)
    return _Labels(table.candidates, table.classes, table.truth)


@functools.lru_cache(maxsize=32)
def _holes(path: Path) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """(n, L) the empty cells of a table of label vectors, and the column of each label. Tables never change."""
    table = LabelTable.read(path)
    assert table.label_vectors is not None  # noqa: S101 - it is of this kind
    return table.label_vectors < 0, {name: number for number, name in enumerate(table.classes)}


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
    return dataclasses.asdict(settings)
