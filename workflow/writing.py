"""Entries about one row, written one after the other in one transaction.

The learner follows only after the commit, so what the second of them finds is folded here, beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from db import entries
from plcore import AnswerError, Entry
from workflow.history import stand_as_before

if TYPE_CHECKING:
    from workflow.turns import CellTurn, RowTurn


class EntryWriter(ABC):
    """Appends entries of this turn's person about one row, each with how what it is about stood before and after it.

    label : the one label asked about, None where the row is
    """

    def __init__(self, turn: RowTurn | CellTurn, row: int, label: str | None = None) -> None:
        self._turn = turn
        self._row, self._label = row, label
        self._kept = list(turn.learner.state(row).entries)
        self._seq = turn.learner.seq
        self._revision = entries.count_for(turn.session, turn.project_id, turn.person_id, row, label)

    def stands_as_before(self, parts: Sequence[entries.Entry]) -> bool:
        """Whether that which these entries of one press are about stands as before, and their labels mean the same."""
        return stand_as_before(self._turn.learner, self._row, parts)

    @abstractmethod
    def said_now(self, entry: entries.Entry) -> tuple[str, ...]:
        """The labels of an earlier entry as they are called now."""

    @abstractmethod
    def check(self, entry: Entry) -> None:
        """Raise AnswerError where the learner would refuse the entry after what was written so far."""

    @abstractmethod
    def stood(self, entry: Entry) -> tuple[str, ...]:
        """How that which the entry is about stands after what was written so far, in words."""

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
        self.check(entry)
        before = self.stood(entry)
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
                after=self.stood(entry),
                **more,
            ),
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored


class RowWriter(EntryWriter):
    """Before and after are the row's candidates."""

    _turn: RowTurn

    changed = "The candidates of that row are others now."

    @property
    def left(self) -> tuple[str, ...]:
        """The row's candidates after what was written so far, in class order; none while it is out."""
        learner = self._turn.learner
        return learner.pool.names(learner.pool.fold.fold_of(self._row, self._kept).votes)

    def stood(self, entry: Entry) -> tuple[str, ...]:  # noqa: ARG002
        return self.left

    def said_now(self, entry: entries.Entry) -> tuple[str, ...]:
        called = self._turn.learner.pool.class_map.called_now(entry.labels, entry.seq)
        assert called is not None  # noqa: S101 - asked where it stands as before
        return called

    def check(self, entry: Entry) -> None:
        if self._seq == self._turn.learner.seq:
            self._turn.learner.check(entry)
            return
        # The learner has not seen the entries before this one.
        if entry.kind == "is" and not set(entry.labels) <= set(self.left):
            raise AnswerError(
                f"{', '.join(entry.labels)!r} is not among what is left: {', '.join(self.left)}."
            )
        if entry.kind == "withdraw" and entry.target not in [one.seq for one in self._kept]:
            raise AnswerError(f"Entry {entry.target} does not stand any more.")
