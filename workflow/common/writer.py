"""Entries about one place, written one after the other in one transaction.

The learner takes them in only after the commit. Until then the writer keeps the row's entries itself, so that the
second of them is checked against what the first makes of the row.
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
    """Appends entries of this turn's person about a place, each with the labels before and after it."""

    CHANGED: ClassVar[str]
    """The sentence for a person who would repeat an answer after the labels of the place have changed."""

    def __init__(self, turn: Any, place: Place) -> None:
        """turn : the `workflow.common.turn.Turn` in which it writes"""
        self._turn, self._place = turn, place
        self._kept: list[Entry] = list(turn.learner.state(place.row).entries)
        self._seq = turn.learner.seq
        self._revision: int | None = None  # of the next entry; who knows it of the first says so

    @abstractmethod
    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        """The labels of an earlier entry, by the present names of their classes."""

    @abstractmethod
    def check(self, entry: Entry) -> None:
        """Raise AnswerError where the learner, once it has taken in what was written so far, would refuse the entry."""

    @abstractmethod
    def state(self, entry: Entry) -> tuple[str, ...]:
        """The labels that this entry can change, with the entries written so far, in the form that the log stores as
        `before` and `after`: each kind of project has its own."""

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
        """Append one entry.

        target : seq of the entry that this one takes back      more : further fields of `entries.NewEntry`
        revision : None: the next one of this person at this place

        Raises AnswerError, before anything is written, where the learner would refuse the entry.
        """
        turn, place = self._turn, self._place
        if revision is None:
            revision = turn.revision(place) if self._revision is None else self._revision
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
                revision=revision,
                at=turn.now,
                target_seq=target,
                before=before,
                after=self.state(entry),
                **more,
            ),
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored
