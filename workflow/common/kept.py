"""What the people of a project wrote lately, kept in memory beside its learner and following the log as it does.

Every press needs it: the list of one's own answers, the pace, the day. Read once, it grows with each entry that is
committed; it is read anew wherever it does not stand where the learner does.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from db import answers, entries, goals
from plcore.loop import EntryKind
from workflow.common.answers import MOST
from workflow.common.asked import batch_of
from workflow.common.figures import SIMULATED
from workflow.common.found import SAYS_SOMETHING
from workflow.common.history import REACH, SECOND

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

PACE_OF = 50
"""Latest entries of a person that their median time is of."""

LONGEST = timedelta(minutes=5).total_seconds()
"""Seconds that one question counts at most in the minutes of a day: with more, nobody looked at it."""

WORK = (*SAYS_SOMETHING, EntryKind.SKIP)
"""Kinds of entries that are a person's work of the day."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


@dataclass
class Work:
    """A person's entries of kinds WORK from a moment on, in order; those of the simulated oracle are none.

    at, spent : microseconds since 1970, and spent on each, LONGEST at most
    counts : 1 of what is an answer: no skip, not the second entry of a press, not taken back
    """

    since: datetime
    seq: array[int] = field(default_factory=lambda: array("q"))
    at: array[int] = field(default_factory=lambda: array("q"))
    spent: array[int] = field(default_factory=lambda: array("q"))
    counts: array[int] = field(default_factory=lambda: array("b"))

    def add(self, one: goals.TimedEntry) -> None:
        self.seq.append(one.seq)
        self.at.append(microseconds(one.at))
        self.spent.append(round(min(one.seconds or 0, LONGEST) * 1e6))
        is_answer = one.kind != EntryKind.SKIP and not one.withdrawn and not one.token.endswith(SECOND)
        self.counts.append(is_answer)

    def take_back(self, seq: int) -> None:
        place = bisect_left(self.seq, seq)
        if place < len(self.seq) and self.seq[place] == seq:
            self.counts[place] = 0


@dataclass
class OwnLog:
    """The end of one person's entries.

    past : their latest 2 REACH about rows, the oldest first; withdrawals are left out
    spent : seconds of their latest PACE_OF      last : the latest entry about a row, of any kind
    rows : that the press was about which stored it      work : None until somebody asks for the day
    """

    past: deque[answers.PastEntry]
    spent: deque[float]
    last: entries.LogEntry | None
    rows: set[int]
    work: Work | None = None

    def work_since(self, session: Session, project_id: int, person_id: int, since: datetime) -> Work:
        """This person's work from this moment on at least, in a transaction that has the log as it is here."""
        if self.work is None or self.work.since > since:
            self.work = Work(since)
            for one in goals.entries_since(session, project_id, person_id, since, WORK, SIMULATED):
                self.work.add(one)
        return self.work

    @property
    def pace(self) -> float:
        """Seconds that this person spends on a question; 0 before the first."""
        return median(self.spent) if self.spent else 0.0

    def note(self, entry: entries.LogEntry) -> None:
        """Take in an entry of this person."""
        if entry.row == entries.NO_ROW:
            return
        if self.last is None or self.last.at != entry.at:
            self.rows = set()
        self.rows.add(entry.row)
        self.last = entry
        if entry.target_seq is not None:
            return
        batch = batch_of(entry.asked)
        self.past.append(_past(entry, batch))
        if entry.seconds is not None and batch is None and entry.kind != EntryKind.SKIP:
            self.spent.append(entry.seconds)
        if self.work is not None and entry.kind in WORK and entry.note != SIMULATED:
            self.work.add(
                goals.TimedEntry(entry.seq, entry.kind, entry.token, entry.seconds, entry.at, False)
            )

    def take_back(self, seq: int, by: entries.LogEntry) -> None:
        """Whoever took back this entry: it is taken back. Harmless where it is not one of these."""
        for place, one in enumerate(self.past):
            if one.seq == seq:
                self.past[place] = replace(one, withdrawal=by.seq, withdrawn_by=by.person_id)
        if self.work is not None:
            self.work.take_back(seq)


class KeptLog:
    """What is kept of a project. Read and written only by who has the learner, that is by one thread at a time."""

    def __init__(self) -> None:
        self._people: dict[int, OwnLog] = {}
        self._seq = -1

    def note(self, committed: Iterable[entries.LogEntry]) -> None:
        """Take in entries that are in the database, in order, once the learner has."""
        for entry in committed:
            if entry.seq != self._seq + 1:
                self._people.clear()
            self._seq = entry.seq
            if not self._people:
                continue
            if entry.target_seq is not None:
                for own in self._people.values():
                    own.take_back(entry.target_seq, entry)
            if (own_log := self._people.get(entry.person_id)) is not None:
                own_log.note(entry)

    def of(self, session: Session, project_id: int, person_id: int, seq: int) -> OwnLog:
        """The end of this person's log. session : a transaction in which the log ends with the entry `seq`"""
        if self._seq != seq:
            self._people.clear()
            self._seq = seq
        if person_id not in self._people:
            self._people[person_id] = read(session, project_id, person_id)
        return self._people[person_id]


def read(session: Session, project_id: int, person_id: int) -> OwnLog:
    """The end of this person's log, as the transaction has it."""
    here = session, project_id, person_id
    past = answers.history(*here, 2 * REACH)
    spent = answers.seconds_of_latest(*here[:2], PACE_OF, (EntryKind.SKIP,), person_id=person_id)
    last: Sequence[entries.LogEntry] = entries.latest(*here, 1)
    return OwnLog(
        past=deque(reversed(past), maxlen=2 * REACH),
        spent=deque(reversed(spent), maxlen=PACE_OF),
        last=last[0] if last else None,
        rows=entries.rows_of_press(session, last[0], MOST) if last else set(),
    )


def _past(entry: entries.LogEntry, batch: str | None) -> answers.PastEntry:
    return answers.PastEntry(
        seq=entry.seq,
        kind=entry.kind,
        row=entry.row,
        label=entry.label,
        labels=entry.labels,
        token=entry.token,
        before=entry.before,
        note=entry.note,
        flagged=entry.flagged,
        at=entry.at,
        batch=batch,
        withdrawal=None,
        withdrawn_by=None,
    )
