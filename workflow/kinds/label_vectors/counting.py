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
from plcore.loop.label_vectors import ANSWERS, LabelVectorSettings
from workflow.common.log import read_class_changes
from workflow.kinds.label_vectors.settings import vectors_of

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home


def count(
    home: Home, session: Session, project: Project, settings: LabelVectorSettings, kept: None
) -> tuple[int, int, None]:
    """(answered, open, None: nothing is kept), rows or labels as the pool of a learner counts them."""
    holes, column = _holes(home.table_path(project.table_hash))
    aside = [int(one) for one in asides_after(read_class_changes(session, project.id))]
    answered, out = np.zeros_like(holes), np.zeros(len(holes), dtype=bool)
    for row, kind, labels in answers.answers_of(session, project.id, ANSWERS, without=aside):
        answered[row, [column[label] for label in labels]] = True
        out[row] = kind == EntryKind.BAD  # an answer brings a row back
    left = holes & ~answered & ~out[:, None]
    if settings.by_row:
        return int((answered.any(axis=1) | out).sum()), int(left.any(axis=1).sum()), kept
    return int(answered.sum()), int(left.sum()), kept


@functools.lru_cache(maxsize=32)
def _holes(path: Path) -> tuple[npt.NDArray[np.bool_], dict[str, int]]:
    """(n, L) the empty cells of a table of label vectors, and the column of each label. Tables never change."""
    table = LabelTable.read(path)
    return vectors_of(table) < 0, {name: number for number, name in enumerate(table.classes)}
