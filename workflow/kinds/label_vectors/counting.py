"""How much of a project is answered and open, by table and log: a page that lists projects builds no learner."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from db import answers
from plcore import LabelTable
from plcore.loop import EntryKind, asides_after
from plcore.loop.label_vectors import ANSWERS, LabelVectorPool, LabelVectorSettings
from workflow.common.log import follow, read_class_changes
from workflow.kinds.label_vectors.settings import vectors_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home


Kept = LabelVectorPool[LabelTable]
"""What the next count goes on from, where people answer for themselves: a pool that has taken in the log so far."""


def count(
    home: Home, session: Session, project: Project, settings: LabelVectorSettings, kept: Kept | None
) -> tuple[int, int, Kept | None]:
    """(answered, open, what to give as `kept` at the next count), rows or labels as the pool of a learner counts
    them."""
    if settings.several:
        if kept is None or not follow(session, project.id, kept, kept.apply):
            table = home.read_table(project.table_hash)
            kept = LabelVectorPool(table, settings, read_class_changes(session, project.id))
            follow(session, project.id, kept, kept.apply)
        return kept.n_answered, kept.n_open, kept
    holes, column = _holes(home.table_path(project.table_hash))
    aside = [int(one) for one in asides_after(read_class_changes(session, project.id))]
    answered, out = np.zeros_like(holes), np.zeros(len(holes), dtype=bool)
    for row, kind, labels in answers.answers_of(session, project.id, ANSWERS, without=aside):
        answered[row, [column[label] for label in labels]] = True
        out[row] = kind == EntryKind.BAD  # an answer brings a row back
    left = holes & ~answered & ~out[:, None]
    if settings.by_row:
        return int((answered.any(axis=1) | out).sum()), int(left.any(axis=1).sum()), None
    return int(answered.sum()), int(left.sum()), None


@functools.lru_cache(maxsize=32)
def _holes(path: Path) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """(n, L) the empty cells of a table of label vectors, and the column of each label. Tables never change."""
    table = LabelTable.read(path)
    return vectors_of(table) < 0, {name: number for number, name in enumerate(table.classes)}
