"""What each person says of each row, for figures of people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from plcore import ActiveLearner, LabelTable
from plcore.loop import EntryKind
from plcore.loop.one_label import ANSWERS
from workflow.common.votes import Vote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from db.answers import SaidEntry


def votes_of(learner: ActiveLearner[LabelTable], log: Sequence[SaidEntry]) -> list[Vote]:
    """The votes of these entries, none of them withdrawn, in order. Who says that an item is bad has no vote about it.

    Where one answer follows another, a person who rules something out leaves what others had left before.
    """
    pool = learner.pool
    known = pool.class_map.known_names
    called = {name: pool.class_map.now(name) for name in known}
    last: dict[tuple[int, int], SaidEntry] = {}
    verdicts: dict[int, frozenset[str]] = {}
    for one in log:
        if one.kind == EntryKind.VERDICT:
            verdicts[one.row] = _now(one.labels, called)
        elif one.kind in ANSWERS:
            last.pop((one.row, one.person_id), None)
            last[one.row, one.person_id] = one
    found = []
    for (row, person_id), one in last.items():
        whole = one.kind in (EntryKind.IS, EntryKind.AMONG)
        names = _now(one.labels if whole else one.after, called)
        if one.kind == EntryKind.BAD or not names:
            continue
        right = verdicts.get(row)  # never the truth of the table: of rows that are asked it is hidden
        found.append(
            Vote(
                row=row,
                label=None,
                person_id=person_id,
                names=names,
                choices=frozenset(pool.names(pool.first[row])) | names,
                predicted=called.get(one.predicted or ""),
                check=bool(pool.control_rows[row]),
                known=right or None,
            )
        )
    return found


def _now(names: Iterable[str], called: dict[str, str]) -> frozenset[str]:
    """Classes by their present names; one that was taken back is left out."""
    return frozenset(called[name] for name in names if name in called)
