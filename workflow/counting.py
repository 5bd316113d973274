"""How far the work of a project is: by its table and log alone, for every page tells it and no learner may be there."""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from db import entries
from plcore import LabelTable, LearnerSettings
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.one_label.pool import OneLabelPool
from plcore.tables.features import FeatureTransformer
from workflow.kinds import VECTORS, kind_of
from workflow.learner_entries import follow, read_class_changes, read_settings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    import numpy.typing as npt
    from sqlalchemy.orm import Session

    from db.engine import Database
    from db.projects import Project
    from workflow.home import Home


def asks_rows(settings: Mapping[str, Any]) -> bool:
    """Whether a question is about a whole row, not about one label of it."""
    read = read_settings(dict(settings))
    return not isinstance(read, LabelVectorSettings) or read.by_row


def counts(home: Home, session: Session, project: Project) -> tuple[int, int]:
    """(answered, left) as `workflow.standing.counts` tells them."""
    # Every page asks: a log is read once for each state of it. A deleted project may leave its id to another.
    places = _places.setdefault(home.database, {})
    place = places.setdefault((project.id, project.created_at, asks_rows(project.settings)), _Place())
    with place.lock:
        if place.seq != (now := entries.last_seq(session, project.id)):
            place.counts = _count(home, session, project, place)
            place.seq = now
        if project.archived_at is not None or project.deleted_at is not None:
            place.pool = None  # its log does not grow: the counts are enough
        return place.counts


def keep_only(home: Home, in_use: Collection[int]) -> None:
    """Forget what was folded of all projects but these, whose numbers are given; what was counted of them stays."""
    for (project_id, *_), place in list(_places.get(home.database, {}).items()):
        if project_id not in in_use:
            place.pool = None


@dataclasses.dataclass
class _Place:
    """What was counted of a project, up to the entry `seq`.

    pool : of one in use whose classes have changed, with what its log says so far: a long log is folded once
    """

    seq: int = -1
    counts: tuple[int, int] = (0, 0)
    pool: OneLabelPool[_Labels] | None = None
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)


_places: WeakKeyDictionary[Database, dict[tuple[int, datetime, bool], _Place]] = WeakKeyDictionary()


def _count(home: Home, session: Session, project: Project, place: _Place) -> tuple[int, int]:
    if kind_of(project.settings) == VECTORS:
        return _count_cells(home, session, project)
    changes = read_class_changes(session, project.id)
    if not changes:
        answered = entries.answered_rows(session, project.id)
        return answered, max(0, project.n_to_ask - answered)
    # What an entry left of a row may be other labels now.
    pool = place.pool
    if pool is None or not follow(session, project.id, pool, pool.apply):
        settings = read_settings(project.settings)
        assert isinstance(settings, LearnerSettings)  # noqa: S101 - it is of this kind
        pool = place.pool = OneLabelPool(_labels(home.table_path(project.table_hash)), settings, changes)
        follow(session, project.id, pool, pool.apply)
    return pool.n_answered, pool.n_open


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


def _labels(path: Path) -> _Labels:
    """Of the stored table."""
    table = LabelTable.read(path)
    return _Labels(table.candidates, table.classes, table.truth)


@functools.lru_cache(maxsize=32)
def _holes(path: Path) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """(n, L) the empty cells of a table of label vectors, and the column of each label. Tables never change."""
    table = LabelTable.read(path)
    assert table.label_vectors is not None  # noqa: S101 - it is of this kind
    return table.label_vectors < 0, {name: number for number, name in enumerate(table.classes)}
