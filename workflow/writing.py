"""Entries about one row, written one after the other in one transaction.

The learner follows only after the commit, so what the second of them finds is folded here, beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from db import entries
from plcore import AnswerError, Entry

if TYPE_CHECKING:
    from workflow.turns import RowTurn


class RowWriter:
    """Appends entries of this turn's person about one row, each with the candidates before and after it."""

    changed = "The candidates of that row are others now."

    def __init__(self, turn: RowTurn, row: int) -> None:
        self._turn, self._row = turn, row
        self._kept = list(turn.learner.state(row).entries)
        self._seq = turn.learner.seq
        self._revision = entries.count_for(turn.session, turn.project_id, turn.person_id, row)

    @property
    def left(self) -> tuple[str, ...]:
        """The row's candidates after what was written so far, in class order; none while it is out."""
        learner = self._turn.learner
        return learner.pool.names(learner.pool.fold.fold_of(self._row, self._kept).votes)

    def stands_as_before(self, parts: Sequence[entries.Entry]) -> bool:
        """Whether the row's candidates are those that it had before these entries."""
        return self.left == parts[0].before

    def write(
        self,
        kind: str,
        labels: Sequence[str] = (),
        *,
        token: str,
        target: int | None = None,
        revision: int | None = None,
        **more: Any,
    ) -> entries.Entry:
        """Append one entry; `more` is what else `entries.NewEntry` holds.

        Raises AnswerError, before anything is written, where the learner would refuse it.
        """
        turn = self._turn
        entry = Entry(self._seq + 1, kind, self._row, turn.annotator, tuple(labels), target)
        before = self.left
        if self._seq == turn.learner.seq:
            turn.learner.check(entry)
        else:
            self._check_following(entry)
        self._kept = [one for one in self._kept if one.seq != target]
        if kind != "withdraw":
            self._kept.append(entry)
        stored = turn.append(
            entries.NewEntry(
                project_id=turn.project_id,
                kind=kind,
                row=self._row,
                labels=tuple(labels),
                person_id=turn.person_id,
                token=token,
                revision=self._revision if revision is None else revision,
                at=turn.now,
                target_seq=target,
                before=before,
                after=self.left,
                **more,
            ),
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored

    def _check_following(self, entry: Entry) -> None:
        """What the learner cannot check yet: it has not seen the entries before this one."""
        if entry.kind == "is" and not set(entry.labels) <= set(self.left):
            raise AnswerError(
                f"{', '.join(entry.labels)!r} is not among what is left: {', '.join(self.left)}."
            )
        if entry.kind == "withdraw" and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} does not stand any more.")
