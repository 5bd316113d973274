"""What each person says of each label of each row, for figures of people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plcore import LabelTable
from plcore.loop import EntryKind
from plcore.loop.label_vectors import SAID, SETTLED, LabelVectorLearner
from workflow.common.votes import Vote

if TYPE_CHECKING:
    from db.answers import SaidEntry

CHOICES = frozenset(map(str, SAID))
WORDS = {1: str(EntryKind.YES), 0: str(EntryKind.NO)}


def votes_of(learner: LabelVectorLearner[LabelTable], log: Sequence[SaidEntry]) -> list[Vote]:
    """The votes, "yes" or "no", of these entries, none of them withdrawn, in order."""
    pool = learner.pool
    column = {name: number for number, name in enumerate(pool.classes)}
    last: dict[tuple[int, str, int], tuple[SaidEntry, str | None]] = {}
    verdicts: dict[tuple[int, str], frozenset[str]] = {}
    for one in log:
        if one.kind in SETTLED:
            verdicts |= {(one.row, label): frozenset([WORDS[SETTLED[one.kind]]]) for label in one.labels}
        elif one.kind in SAID:
            said = _predicted(one)
            for label in one.labels:
                last.pop((one.row, label, one.person_id), None)
                last[one.row, label, one.person_id] = one, said.get(label)
    return [
        Vote(
            row=row,
            label=label,
            person_id=person_id,
            names=frozenset([str(one.kind)]),
            choices=CHOICES,
            predicted=predicted,
            check=bool(pool.control_cells[row, column[label]]),
            known=verdicts.get((row, label)),
        )
        for (row, label, person_id), (one, predicted) in last.items()
    ]


def _predicted(one: SaidEntry) -> dict[str, str]:
    """{label: "yes" or "no"} as the model had said before the answer; of old entries of whole rows only what was right
    is stored."""
    if one.predicted is None:
        return {}
    if one.label:
        return {one.label: one.predicted}
    said = json.loads(one.predicted)
    return said if isinstance(said, dict) else dict.fromkeys(said, "yes")
