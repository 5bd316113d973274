"""How far the work of a project is by table and log alone: pages count it, and no learner may be there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from db import answers
from plcore import FeatureTransformer, LabelTable, LearnerSettings
from plcore.loop.one_label import ANSWERS, OneLabelPool
from workflow.common.log import follow, read_class_changes

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.projects import Project
    from workflow.home import Home


@dataclass(frozen=True)
class Labels:
    """What a pool needs of a table: its features, of which there may be many, are not kept for a count."""

    candidates: npt.NDArray[np.bool_]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None
    features: Callable[[], FeatureTransformer] = FeatureTransformer


Kept = OneLabelPool[Labels]
"""What is worth keeping for the next count."""


def count(
    home: Home, session: Session, project: Project, settings: LearnerSettings, kept: Kept | None
) -> tuple[int, int, Kept | None]:
    """(answered, open, what is worth keeping) by the whole log, as the pool of a learner counts them."""
    changes = read_class_changes(session, project.id)
    if not changes:
        answered = answers.answered_rows(session, project.id, ANSWERS)
        return answered, max(0, project.n_to_ask - answered), None
    # What an entry left of a row may be other labels now. A long log is folded once.
    if kept is None or not follow(session, project.id, kept, kept.apply):
        kept = OneLabelPool(_labels(home.table_path(project.table_hash)), settings, changes)
        follow(session, project.id, kept, kept.apply)
    return kept.n_answered, kept.n_open, kept


def _labels(path: Path) -> Labels:
    table = LabelTable.read(path)
    return Labels(table.candidates, table.classes, table.truth)
