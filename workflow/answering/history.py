"""Recent answers of one person: the ones that count, the ones they withdrew, and the ones they can redo."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, Protocol

from db import answers, entries, members
from plcore.loop import EntryKind, Place
from workflow.answering.asked import MOST, batch_of
from workflow.projects.figures import SIMULATED

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from plcore.loop import Learner

REACH = 50
"""Number of a person's latest answers that undo, redo and the history cover."""

SAYS_SOMETHING = tuple(
    kind
    for kind in EntryKind
    if kind
    not in (EntryKind.SKIP, EntryKind.WITHDRAW, EntryKind.CLASS, EntryKind.ROWS, EntryKind.MODEL, EntryKind.ASIDE)
)
"""Kinds of entries that say something about a row, in a project of any kind."""

SECOND = ".is"
"""Suffix of the token of an answer's second entry, after the token of its first."""


@dataclass(frozen=True)
class OwnAnswer:
    """Entries that one click of this person stored; `seq` is that of its last entry, `row` that entry's.

    withdrawal : seq of the entry that withdrew it, the last of them; None if any part is not withdrawn
    redoable : they withdrew it themselves, have not redone it, and its rows are as they were when they answered
    rows : number of rows answered; in a batch, without those withdrawn since
    """

    seq: int
    kind: str
    row: int
    row_id: str
    labels: tuple[str, ...]
    note: str | None
    flagged: bool
    withdrawal: int | None
    redoable: bool
    rows: int = 1


Parts = Sequence[entries.LogEntry | answers.PastEntry]
"""The entries that one answer stored, in order."""


def stored_by(session: Session, project_id: int, token: str) -> entries.LogEntry | None:
    """The entry that the answer with this token stored, the second one of two; None if it stored none."""
    second = entries.with_token(session, project_id, f"{token}{SECOND}")
    return second or entries.with_token(session, project_id, token)


def denied_beside(session: Session, last: entries.LogEntry) -> tuple[str, ...]:
    """Return the labels of an answer's first entry, if this is its second; () if the answer has one entry."""
    if not last.token.endswith(SECOND):
        return ()
    first = entries.with_token(session, last.project_id, last.token.removesuffix(SECOND))
    return () if first is None else first.labels


def keyed_token(person_id: int, key: str) -> str:
    """Return the token of an answer with a key given by a program. No key can produce another kind of token."""
    return f"key.{person_id}.{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"


def redo_token(withdrawal: int) -> str:
    """The token of the answer that undoes this withdrawal: there is only one such answer."""
    return f"redo.{withdrawal}"


def history_of(
    past: Iterable[answers.PastEntry], learner: Learner, person_id: int, stands_as_before: Callable[[int, Parts], bool]
) -> tuple[OwnAnswer, ...]:
    """This person's answers, newest first, at most REACH.

    past : their latest 2 REACH entries about rows, newest first; withdrawals are left out
    stands_as_before : tells from a row and the entries of one answer whether the row is as it was before them
    """
    found = list(past)  # one answer may have two entries, or many in a batch
    by_token = {entry.token: entry for entry in found}
    together = _together(found)
    newest: dict[tuple[int, str | None], int] = {}  # row, label -> seq of the newest answer not withdrawn

    def redoable(entry: answers.PastEntry) -> bool:
        first = by_token.get(entry.token.removesuffix(SECOND))
        return (
            entry.withdrawal is not None
            and entry.withdrawn_by == person_id  # only the person who withdrew an answer may redo it
            and first is not None
            and redo_token(entry.withdrawal) not in by_token
            and newest.get((entry.row, entry.label), 0) < entry.withdrawal
            and stands_as_before(entry.row, (first, entry))
        )

    own: list[OwnAnswer] = []
    for entry in found:
        if len(own) == REACH:
            break
        if f"{entry.token}{SECOND}" in by_token:
            continue  # the answer's second entry represents both
        parts = together.get(entry.seq, [entry])
        if parts:
            standing = [one for one in parts if one.withdrawal is None]
            own.append(
                OwnAnswer(
                    seq=entry.seq,
                    kind=entry.kind,
                    row=entry.row,
                    row_id=learner.table.id_of(entry.row),
                    labels=entry.labels,
                    note=entry.note,
                    flagged=entry.flagged,
                    withdrawal=None if standing else max(one.withdrawal or 0 for one in parts),
                    redoable=not standing and all(map(redoable, parts)),
                    rows=len(standing or parts),
                )
            )
        if entry.withdrawal is None:
            newest.setdefault((entry.row, entry.label), entry.seq)
    return tuple(own)


def _together(found: Sequence[answers.PastEntry]) -> dict[int, list[answers.PastEntry]]:
    """{seq: entries of the batch} for the last entry of each batch, which represents all; {seq: []} for its others.

    found : newest first. A batch that may continue beyond the oldest of these gets no entries.
    """
    presses: dict[tuple[str, datetime], list[answers.PastEntry]] = {}
    for entry in found:
        if entry.batch is not None:
            presses.setdefault((entry.batch, entry.at), []).append(entry)
    spoken: dict[int, list[answers.PastEntry]] = {}
    for parts in presses.values():
        spoken |= {one.seq: [] for one in parts}
        if len(found) < 2 * REACH or parts[-1] is not found[-1]:
            spoken[parts[0].seq] = parts
    return spoken


def latest_standing(answers: Sequence[OwnAnswer]) -> int | None:
    """The seq of the latest answer that is not withdrawn, which undo withdraws."""
    return next((one.seq for one in answers if one.withdrawal is None), None)


def latest_withdrawn(answers: Sequence[OwnAnswer]) -> int | None:
    """The seq of the answer withdrawn last, which redo stores again."""
    again = [(one.withdrawal or 0, one.seq) for one in answers if one.redoable]
    return max(again)[1] if again else None


# Recent entries of a project's people, in memory next to its learner, following the log.
#
# Every answer needs it, for the list of own answers, the pace and the day. It is read once and grows with each
# committed entry; it is read again if it and the learner are at different entries of the log.

PACE_OF = 50
"""Number of a person's latest entries that their median time is computed from."""

LONGEST = timedelta(minutes=5).total_seconds()
"""Seconds that one question counts at most in the minutes of a day: beyond that the person was away."""

WORK = (*SAYS_SOMETHING, EntryKind.SKIP)
"""Kinds of entries that are a person's work of the day."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


@dataclass
class Work:
    """A person's entries of kinds WORK from a moment on, in order, without those of the simulated oracle.

    at, spent : microseconds since 1970, and spent on each, LONGEST at most
    counts : 1 for an answer; 0 for a skip, an answer's second entry, and a withdrawn answer
    """

    since: datetime
    seq: array[int] = field(default_factory=lambda: array("q"))
    at: array[int] = field(default_factory=lambda: array("q"))
    spent: array[int] = field(default_factory=lambda: array("q"))
    counts: array[int] = field(default_factory=lambda: array("b"))

    def add(self, one: members.TimedEntry) -> None:
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

    past : their latest 2 REACH entries about rows, oldest first, without withdrawals
    spent : seconds of their latest PACE_OF entries      last : the latest entry about a row, of any kind
    rows : rows of the answer that stored `last`      work : None until the day is requested
    """

    past: deque[answers.PastEntry]
    spent: deque[float]
    last: entries.LogEntry | None
    rows: set[int]
    work: Work | None = None

    def work_since(self, session: Session, project_id: int, person_id: int, since: datetime) -> Work:
        """This person's work at least from this moment on. session : a transaction that sees the log as it is here"""
        if self.work is None or self.work.since > since:
            self.work = Work(since)
            for one in members.entries_since(session, project_id, person_id, since, WORK, SIMULATED):
                self.work.add(one)
        return self.work

    @property
    def pace(self) -> float:
        """Seconds that this person spends on a question; 0 before the first."""
        return median(self.spent) if self.spent else 0.0

    def note(self, entry: entries.LogEntry) -> None:
        """Add an entry of this person."""
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
            self.work.add(members.TimedEntry(entry.seq, entry.kind, entry.token, entry.seconds, entry.at, False))

    def take_back(self, seq: int, by: entries.LogEntry) -> None:
        """Mark this entry as withdrawn, no matter by whom. Harmless if it is not one of these."""
        for place, one in enumerate(self.past):
            if one.seq == seq:
                self.past[place] = replace(one, withdrawal=by.seq, withdrawn_by=by.person_id)
        if self.work is not None:
            self.work.take_back(seq)


class KeptLog:
    """Cached data of a project. Only the thread that has the learner open reads and writes it."""

    def __init__(self) -> None:
        self._people: dict[int, OwnLog] = {}
        self._seq = -1

    def note(self, committed: Iterable[entries.LogEntry]) -> None:
        """Add committed entries, in order, after the learner did."""
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
    """The end of this person's log, as the transaction sees it."""
    here = session, project_id, person_id
    past = answers.history(*here, 2 * REACH)
    spent = answers.latest_seconds(*here[:2], PACE_OF, (EntryKind.SKIP,), person_id=person_id)
    last: Sequence[entries.LogEntry] = entries.latest(*here, 1)
    return OwnLog(
        past=deque(reversed(past), maxlen=2 * REACH),
        spent=deque(reversed(spent), maxlen=PACE_OF),
        last=last[0] if last else None,
        rows=entries.rows_of_answer(session, last[0], MOST) if last else set(),
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


# Places (a row, or one label of a row) of questions and entries, and the tokens of their showings.


class AboutRow(Protocol):
    """A question or an entry. One that has a `label` is about that label of the row."""

    @property
    def row(self) -> int: ...


def place_of(about: AboutRow) -> Place:
    """Return the place of a question or an entry; without a label that is the row as a whole."""
    return Place(about.row, getattr(about, "label", None))


def overlaps(place: Place, others: Collection[Place]) -> bool:
    """Whether one of the others is the same label of the row, or either is the row as a whole."""
    return any(
        other.row == place.row and (place.label is None or other.label in (None, place.label)) for other in others
    )


def question_token(*parts: int | str) -> str:
    """Return the token of one showing. parts : person, row, the place of the label if one is asked about, revision"""
    return ".".join(map(str, parts))


def second_token(token: str, number: int) -> str:
    """Return the token of the first (number 0) or second (1) entry of one click."""
    return token + SECOND * number
