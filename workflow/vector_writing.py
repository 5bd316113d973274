"""Entries about the cells of one row, written one after the other in one transaction.

The counterpart of `workflow.writing` for label vectors: before and after of an entry are the cells it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from db import entries
from plcore import AnswerError, Entry
from workflow.history import stand_as_before

if TYPE_CHECKING:
    from workflow.turns import CellTurn


class CellWriter:
    """Appends entries of this turn's person about one row, or one label of it: what was asked about."""

    changed = "That label, or row, stands differently now."

    def __init__(self, turn: CellTurn, row: int, label: str | None) -> None:
        self._turn, self._row, self._label = turn, row, label
        self._kept = list(turn.learner.state(row).entries)
        self._seq = turn.learner.seq
        self._revision = entries.count_for(turn.session, turn.project_id, turn.person_id, row, label)

    def stands_as_before(self, parts: Sequence[entries.Entry]) -> bool:
        """Whether every cell that these entries are about is what it was before them, and the row still in or out."""
        return stand_as_before(self._turn.learner, self._row, parts)

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
        turn, learner = self._turn, self._turn.learner
        entry = Entry(self._seq + 1, kind, self._row, turn.annotator, tuple(labels), target)
        learner.check(entry)
        if target is not None and target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {target} does not stand any more.")
        about = tuple(labels) if target is None else learner.pool.fold.entry(target).labels
        before = self._words(about)
        self._kept = [one for one in self._kept if one.seq != target]
        if kind != "withdraw":
            self._kept.append(entry)
        stored = turn.append(
            entries.NewEntry(
                project_id=turn.project_id,
                kind=kind,
                row=self._row,
                label=self._label,
                labels=tuple(labels),
                person_id=turn.person_id,
                token=token,
                revision=self._revision if revision is None else revision,
                at=turn.now,
                target_seq=target,
                before=before,
                after=self._words(about),
                **more,
            ),
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored

    def _words(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        learner = self._turn.learner
        return learner.words(learner.pool.fold.fold_of(self._row, self._kept), labels)
