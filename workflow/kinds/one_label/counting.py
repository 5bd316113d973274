"""How much of a project is answered and open, by table and log: a page that lists projects builds no learner."""

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
    """The part of a table that a pool needs, without its features, which may be large.

    candidates : (n, m)      truth : (n,) class numbers, -1 where unknown; None without a column of them
    candidate_weights : None, for they change no count
    """

    candidates: npt.NDArray[np.bool_]
    classes: tuple[str, ...]
    truth: npt.NDArray[np.int64] | None
    candidate_weights: npt.NDArray[np.float64] | None = None
    features: Callable[[], FeatureTransformer] = FeatureTransformer


Kept = OneLabelPool[Labels]
"""What the next count goes on from: a pool that has taken in the log so far."""


def count(
    home: Home, session: Session, project: Project, settings: LearnerSettings, kept: Kept | None
) -> tuple[int, int, Kept | None]:
    """(answered, open, what to give as `kept` at the next count), rows as the pool of a learner counts them."""
    changes = read_class_changes(session, project.id)
    if not changes and not settings.several:
        answered = answers.answered_rows(session, project.id, ANSWERS)
        return answered, max(0, project.n_to_ask - answered), None
    # After a change of the classes the stored `after` of an entry may mean other labels, and where people answer for
    # themselves it is theirs alone, so the log is folded anew; a long one only once.
    if kept is None or not follow(session, project.id, kept, kept.apply):
        kept = OneLabelPool(_labels(home.table_path(project.table_hash)), settings, changes)
        follow(session, project.id, kept, kept.apply)
    return kept.n_answered, kept.n_open, kept


def _labels(path: Path) -> Labels:
    table = LabelTable.read(path)
    return Labels(table.candidates, table.classes, table.truth)
