"""The true labels that a table hides, for a dry run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from plcore import ActiveLearner, LabelTable
from plcore.loop import EntryKind, Place
from workflow.common.answers import Given
from workflow.kinds.one_label.showing import ShownQuestion

Learner = ActiveLearner[LabelTable]


def hides_truth(learner: Learner) -> bool:
    """Whether the table holds true labels that neither model nor people know."""
    known = (_truth(learner) >= 0) & ~learner.test_rows
    return learner.settings.truth_role == "hidden" and bool(known.any())


def true_answer(learner: Learner, shown: ShownQuestion) -> Given | None:
    """What somebody who knows the truth would answer; None where the truth of the row is not known."""
    label = int(_truth(learner)[shown.view.row])
    if label < 0:
        return None
    name = learner.classes[label]
    kind = EntryKind.IS if name in shown.choices else EntryKind.NONE
    return Given(kind, (name,), shown=shown.shown)


def known_places(learner: Learner) -> list[Place]:
    """The open places whose truth is known, blind checks in the order of their draw first, then as they are asked."""
    truth = _truth(learner)
    order = [*learner.pool.control_left().tolist(), *learner.ranking()[0].tolist()]
    return [Place(row) for row in order if truth[row] >= 0]


def _truth(learner: Learner) -> npt.NDArray[np.int64]:
    """(n,) the class number of each row's true label, -1 where unknown."""
    truth = learner.table.truth
    return np.full(learner.table.n_rows, -1, dtype=np.int64) if truth is None else truth
