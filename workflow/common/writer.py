"""Entries about one place, written one after the other in one transaction.

The learner follows only after the commit, so what the second of them finds is folded here, beside it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from db import entries
from plcore import Entry

if TYPE_CHECKING:
    from plcore.loop import Place


class EntryWriter(ABC):
    """Appends entries of this turn's person about a place, each with how that stood before and after it."""

    CHANGED: ClassVar[str]
    """What is said where the place stands otherwise than an earlier answer to it found it."""

    def __init__(self, turn: Any, place: Place) -> None:
        """turn : the `workflow.common.turn.Turn` in which it writes"""
        self._turn, self._place = turn, place
        self._kept: list[Entry] = list(turn.learner.state(place.row).entries)
        self._seq = turn.learner.seq
        self._revision = turn.revision(place)

    @abstractmethod
    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        """The labels of an earlier entry by the names their classes have now."""

    @abstractmethod
    def check(self, entry: Entry) -> None:
        """Raise AnswerError where the learner would refuse the entry after what was written so far."""

    @abstractmethod
    def state(self, entry: Entry) -> tuple[str, ...]:
        """What the labels are that the entry can change, as the log stores it, after what was written so far."""

    def write(
        self,
        kind: str,
        labels: Sequence[str] = (),
        *,
        token: str,
        target: int | None = None,
        revision: int | None = None,
        **more: Any,
    ) -> entries.LogEntry:
        """Append one entry; `more` is what else `entries.NewEntry` holds.

        Raises AnswerError, before anything is written, where the learner would refuse it.
        """
        turn, place = self._turn, self._place
        entry = Entry(self._seq + 1, kind, place.row, turn.annotator, tuple(labels), target)
        self.check(entry)
        before = self.state(entry)
        self._kept = [one for one in self._kept if one.seq != target]
        if target is None:
            self._kept.append(entry)
        stored: entries.LogEntry = turn.append(
            entries.NewEntry(
                project_id=turn.project_id,
                kind=str(kind),
                row=place.row,
                label=place.label,
                labels=tuple(labels),
                person_id=turn.person_id,
                token=token,
                revision=self._revision if revision is None else revision,
                at=turn.now,
                target_seq=target,
                before=before,
                after=self.state(entry),
                **more,
            ),
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored
