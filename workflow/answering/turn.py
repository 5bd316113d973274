"""One person's turn at a project: no one else writes meanwhile, and the learner has applied every entry."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypedDict, TypeVar, Unpack

from db import entries, questions
from db.questions import OpenQuestion
from plcore import Entry
from plcore.loop import VERDICTS, Place
from workflow.answering.asked import Given, Saved, saved_of
from workflow.answering.history import AboutRow, denied_beside, overlaps, place_of, stored_by
from workflow.answering.room_settings import RoomSettings
from workflow.rows.row import RowView, row_view

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from db.people import Person
    from plcore.loop import Learner
    from workflow.answering.asked import AskedAs
    from workflow.answering.history import Parts
    from workflow.opened import Opened


# A clock for durations: it shows the time, but no one sets it while the process runs.
#
# The wall clock may be set back or forward while a person looks at a question. Stored times of this clock can be
# compared by other processes, as far as their wall clocks agreed when they started.

_BEGAN = datetime.now(UTC), time.monotonic()


def steady() -> datetime:
    """Return the wall-clock time at which the process started, plus the time since then by a clock that is never
    set."""
    moment, ticks = _BEGAN
    return moment + timedelta(seconds=time.monotonic() - ticks)


# Stored data of an open question, and whether it still matches the screen.

_WHY = ("strategy", "score", "model_version", "decides", "undecided", "predicted")
"""Fields of a learner's question that give the reason for asking and the model's prediction."""


def to_store(asked: Any, how: AskedAs | None, **where: Any) -> OpenQuestion:
    """Return a learner's question in stored form. how : the form of the question      where : all other fields of an
    `OpenQuestion`"""
    return OpenQuestion(**{part: getattr(asked, part) for part in _WHY}, asked=_stored(how), **where)


def has_same_reason(asked: object, how: AskedAs | None, stored: OpenQuestion) -> bool:
    """Return whether the stored question still has the current reason, form and model."""
    same = all(getattr(asked, part) == getattr(stored, part) for part in _WHY)
    return same and _stored(how) == stored.asked


def _stored(how: AskedAs | None) -> dict[str, object] | None:
    return None if how is None else how.to_json()


# Entries about one place, written one after the other in one transaction.
#
# The learner applies them only after the commit. Until then the writer keeps the row's entries, so that the second one
# is checked against the result of the first.


class FirstFacts(TypedDict):
    """Fields that only the first entry of an answer has, named as in `db.entries.NewEntry`."""

    token: str
    revision: int
    seconds: float | None


class Facts(TypedDict, total=False):
    """Fields of every entry of an answer, as `db.entries.NewEntry` names them."""

    strategy: str | None
    score: float | None
    model_version: int
    predicted: str | None
    asked: dict[str, object] | None
    note: str | None
    flagged: bool


class EntryWriter(ABC):
    """Appends entries of this turn's person about a place, each with the labels before and after it."""

    CHANGED: ClassVar[str]
    """Message if an answer would be repeated after the labels of the place have changed."""

    def __init__(self, turn: AnyTurn, place: Place) -> None:
        """turn : the `workflow.answering.turn.Turn` in which it writes"""
        self._turn, self._place = turn, place
        self._kept: list[Entry] = list(turn.learner.state(place.row).entries)
        self._seq = turn.learner.seq
        self._revision: int | None = None  # of the next entry; who knows it of the first says so

    @abstractmethod
    def labels_now(self, entry: entries.LogEntry) -> tuple[str, ...]:
        """The labels of an earlier entry, by the present names of their classes."""

    @abstractmethod
    def check(self, entry: Entry) -> None:
        """Raise AnswerError if the learner would refuse the entry after those written so far."""

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
        seconds: float | None = None,
        **more: Unpack[Facts],
    ) -> entries.LogEntry:
        """Append one entry.

        target : seq of the entry that this one withdraws      more : further fields of `entries.NewEntry`
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
                seconds=seconds,
                **more,
            )
        )
        self._seq, self._revision = stored.seq, stored.revision + 1
        return stored


RESERVED_FOR, TIMES_THEIR_PACE = timedelta(minutes=2), 3
"""Minimum time for which a row shown to one person is not offered to another; a multiple of the person's median time to
answer if that is longer."""
LEASED_FOR = timedelta(minutes=10)
"""Time for which a row that is leased to a program is not offered to anyone else."""
LearnerT = TypeVar("LearnerT", bound="Learner")
AskedT = TypeVar("AskedT", bound=AboutRow)
ShownT = TypeVar("ShownT")


class StaleQuestion(ValueError):  # noqa: N818 - a state of affairs, which the page words
    """The question answered is not, or no longer, this person's to answer."""


@dataclass(frozen=True)
class Turn(ABC, Generic[LearnerT, AskedT, ShownT]):
    """Data that a use case can read and write during a person's turn. Each kind of project has its own.

    opened : the write transaction with the learner, caught up in it      now : one moment for all that is written
    steady : the same by the clock that the seconds spent on questions are measured by
    AskedT : a question of the learner      ShownT : the same question as a page shows it
    """

    ANSWERS: ClassVar[tuple[str, ...]]
    """Kinds of answers that a person can give here. A withdrawal is `undo`, not an answer."""
    STAYS_AFTER: ClassVar[tuple[str, ...]] = ()
    """Kinds of answers after which a row that is still open stays on the person's screen."""

    opened: Opened[LearnerT]
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    steady: datetime = field(default_factory=steady)
    # The person's open question, once looked up.
    _open: list[questions.OpenQuestion | None] = field(default_factory=list, init=False)

    @property
    def learner(self) -> LearnerT:
        return self.opened.learner

    @property
    def session(self) -> Session:
        return self.opened.session

    @property
    def person(self) -> Person:
        return self.opened.person

    @property
    def person_id(self) -> int:
        return self.opened.person.id

    @property
    def project_id(self) -> int:
        return self.opened.project.id

    @property
    def annotator(self) -> str:
        """The person's name in the learner's entries."""
        return str(self.person_id)

    @cached_property
    def room(self) -> RoomSettings:
        return RoomSettings.from_json(self.opened.project.room)

    # Question texts by kind of project

    @abstractmethod
    def best(self, taken: Collection[Place], after: Place | None = None, ahead: int = 0) -> AskedT | None:
        """Return the best question for this person that is not on other people's screens; None if none is left.

        after : a place they answer before it      ahead : without it, the number of others they answer before it
        """

    @abstractmethod
    def word(self, asked: AskedT, token: str, how: AskedAs | None) -> ShownT:
        """Return the question as a page shows it, in this form."""

    @abstractmethod
    def token(self, place: Place, revision: int) -> str:
        """Return the token of one showing: the same person, place and revision always give the same token."""

    @abstractmethod
    def writer(self, place: Place) -> EntryWriter:
        """Return a writer of entries about the place."""

    @abstractmethod
    def decided_meanwhile(self, place: Place) -> str:
        """Return the message for an answer to a place that is no longer open."""

    @abstractmethod
    def answer(self, question: questions.OpenQuestion, given: Given) -> entries.LogEntry:
        """Write the entries of an answer; return the last one. Raises StaleQuestion, AnswerError."""

    @abstractmethod
    def correct(
        self, row: int, token: str, given: Given, changes: Mapping[str, int], log: Sequence[entries.LogEntry]
    ) -> entries.LogEntry:
        """Write the entries of a correction; return the last one. log : every entry about the row

        Raises StaleQuestion, AnswerError.
        """

    @abstractmethod
    def stands_as_before(self, row: int, parts: Parts) -> bool:
        """Return whether the row's labels, as this person sees them, are the same as before one click. parts : the
        entries of the click"""

    def get_ready(self) -> None:
        """Do now the work that the next question would otherwise wait for."""
        self.learner.get_ready()

    def may_choose(self, place: Place, *, drawn: bool) -> bool:
        """Whether this person may ask about this place now. drawn : as for `workflow.answering.loop.ask_next`"""
        del drawn
        return self.may_ask(place)

    def asked_as(self, asked: AskedT, token: str, put: dict[str, object] | None) -> AskedAs | None:
        """Return the form of the question with this token, as the log will store it; None if there is only one form.
        put : the stored form, if this very question is already on the screen"""
        del asked, token, put
        return None

    def stays_after(self, question: questions.OpenQuestion, stored: entries.LogEntry) -> bool:
        """Return whether the row stays on the person's screen after this answer."""
        del question
        return stored.kind in self.STAYS_AFTER and len(stored.after) > 1

    # Common parts

    def append(self, new: entries.NewEntry) -> entries.LogEntry:
        """Write an entry; the learner follows after the commit. Raises DuplicateEntry as ``entries.append``."""
        stored = entries.append(self.session, new, self.learner.seq + len(self.opened.written))
        self.opened.written.append(stored)
        return stored

    def open_now(self) -> questions.OpenQuestion | None:
        """Return the question on this person's screen, or None."""
        if not self._open:
            here, before = (self.session, self.project_id, self.person_id), self.opened.before
            self._open.append(questions.get(*here) if before is None else before.question)
        return self._open[0]

    def put_question(self, question: questions.OpenQuestion) -> None:
        """Put a question on this person's screen, replacing the current one."""
        questions.put(self.session, question, alone=self.open_now() is None)
        self._open[:] = [question]

    def close_question(self) -> None:
        """Remove the question from this person's screen; harmless when there is none."""
        if self.open_now() is not None:
            questions.delete_question(self.session, self.project_id, self.person_id)
            self._open[:] = [None]

    def keep_question(self, question: questions.OpenQuestion) -> None:
        """Reserve the row of a question answered just now until it is shown to this person again, under its next token:
        no one else may have it in between."""
        revision = self.revision(place_of(question))
        again = replace(
            question,
            token=self.token(place_of(question), revision),
            revision=revision,
            asked=None,
            shown_at=self.steady,
            reserved_at=self.now,
            reserved_until=self.now + self.lease(),
            paused_at=None,
        )
        self.put_question(again)

    @cached_property
    def reserved(self) -> Mapping[tuple[int, str | None], int]:
        """Places on other people's screens, with the number of screens."""
        return questions.reserved_places(self.session, self.project_id, self.person_id, self.now)

    @cached_property
    def taken(self) -> frozenset[Place]:
        """Places on other people's screens that no further person can get."""
        left, found = self.learner.pool.places_left, self.reserved
        return frozenset(Place(*one) for one, people in found.items() if people >= max(1, left(Place(*one))))

    def holds(self, question: questions.OpenQuestion) -> bool:
        """Return whether the place is still reserved for this person, so that no one else can have got it."""
        lasts = question.paused_at is None and question.reserved_until > self.now
        return lasts and not self.learner.settings.several

    def is_taken(self, place: Place) -> bool:
        """Return whether the place, or a part of it, is on someone else's screen."""
        return overlaps(place, self.taken)

    def may_ask(self, place: Place) -> bool:
        """Whether the place is open to this person."""
        return self.learner.may_ask(place.row, self.annotator, place.label)

    def unseen(self, place: Place) -> OpenQuestion:
        """Return the question about a place for an answer to a row that was not asked about; its time is unknown.

        Raises AnswerError if nothing can be asked about it.
        """
        long_ago = self.steady - timedelta(seconds=2 * questions.LONGEST)
        return self._to_store(self._asked(place), None, "", long_ago, timedelta())

    def lease_next(self, count: int) -> list[ShownT]:
        """Lease the best questions to a program of this person; none of them is open for anyone else.

        count : how many at most; fewer if fewer are left
        """
        taken, open_now = set(self.taken), self.open_now()
        if open_now is not None:
            taken.add(place_of(open_now))
        leases: list[OpenQuestion] = []
        shown: list[ShownT] = []
        while len(leases) < count:
            asked = self.best(taken, ahead=len(self.reserved) + len(leases))
            if asked is None:
                break
            place = place_of(asked)
            taken.add(place)
            token = self.token(place, self.revision(place))
            how = self.asked_as(asked, token, None)
            leases.append(self._to_store(asked, how, token, self.steady, LEASED_FOR))
            shown.append(self.word(asked, token, how))
        questions.lease(self.session, leases, self.now)
        return shown

    def take_lease(self, about: str | Place) -> OpenQuestion | None:
        """Return the question leased to a program of this person and end the lease, since it is answered now; None if
        there is none. about : its token, or its place"""
        return questions.take_lease(self.session, self.project_id, self.person_id, about)

    def show(self, place: Place) -> ShownT:
        """Reserve the place for this person and return its question as a page shows it.

        Raises AnswerError if nothing can be asked about it.
        """
        return self._show(self._asked(place), self.open_now())

    def show_next(self) -> ShownT | None:
        """Return this person's current question if they may still answer it, so a refresh, undo or the queue keeps it.
        Otherwise return the best one; None if nothing is left to ask them."""
        open_now, taken = self.open_now(), self.taken
        if open_now is not None:
            place = place_of(open_now)
            if not overlaps(place, taken) and self.may_ask(place):
                asked = self._asked(place)
                lasts = self.now + self.lease() / 2 < open_now.reserved_until
                is_fresh = lasts and open_now.paused_at is None
                how = self.asked_as(asked, open_now.token, open_now.asked)
                if is_fresh and has_same_reason(asked, how, open_now):
                    return self.word(asked, open_now.token, how)  # nothing to write
                return self._show(asked, open_now)
        found = self.best(taken)
        return None if found is None else self._show(found, open_now)

    def coming(self, asked: AskedT) -> RowView | None:
        """Return the row that will probably be asked about next, so that its files can be fetched early; None if rows
        have no files, or none is left."""
        media = self.learner.table.media
        if media.images is None and media.audio is None:
            return None
        likely = self.best(self.taken, after=place_of(asked))
        return None if likely is None else row_view(self.learner.table, place_of(likely).row)

    def given_before(self, token: str) -> Saved:
        """Earlier result of this person with this token, which is not that of their open question.

        Raises StaleQuestion if there was none.
        """
        earlier = stored_by(self.session, self.project_id, token)
        if earlier is None or earlier.person_id != self.person_id or earlier.kind in VERDICTS:
            raise StaleQuestion("That question is no longer open for you.")
        return replace(self.saved(earlier, repeated=True), denied=denied_beside(self.session, earlier))

    def saved(self, entry: entries.LogEntry, *, repeated: bool = False) -> Saved:
        """A stored entry as a page says it."""
        return saved_of(self.learner, entry, repeated=repeated)

    def facts(self, question: questions.OpenQuestion, given: Given) -> tuple[FirstFacts, Facts]:
        """Fields of the entries that one answer stores: (of the first entry alone, of every entry)."""
        seconds = question.seconds(self.steady)
        first: FirstFacts = {"token": question.token, "revision": question.revision, "seconds": seconds}
        every: Facts = {
            "strategy": question.strategy,
            "score": question.score,
            "model_version": question.model_version,
            "predicted": question.predicted,
            "asked": question.asked,
            "note": given.note,
            "flagged": given.flagged,
        }
        return first, every

    def revision(self, place: Place) -> int:
        """Return the number of entries by this person about the place."""
        # Most rows have no entries: the database, whose lock others wait for, need not be asked.
        untouched = not self.opened.written and self.learner.pool.fold.is_untouched(place.row)
        return 0 if untouched else entries.count_for(self.session, self.project_id, self.person_id, *place)

    def _asked(self, place: Place) -> AskedT:
        asked: AskedT = self.learner.question_for(*place, annotator=self.annotator)
        return asked

    def lease(self, rows: int = 1) -> timedelta:
        """Return how long this many rows shown together are reserved for this person."""
        return max(RESERVED_FOR, timedelta(seconds=TIMES_THEIR_PACE * rows * self.opened.own_log.pace))

    def _show(self, asked: AskedT, open_now: questions.OpenQuestion | None) -> ShownT:
        """Reserve the place for this person; its question as a page shows it. open_now : what is before them so far"""
        place = place_of(asked)
        token = self.token(place, self.revision(place))
        shown_at, put = self.steady, None
        if open_now is not None and place_of(open_now) == place:  # the moment it was first shown stays
            shown_at = open_now.shown_by(self.steady)
            put = open_now.asked if open_now.token == token else None
        how = self.asked_as(asked, token, put)
        self.put_question(self._to_store(asked, how, token, shown_at, self.lease()))
        return self.word(asked, token, how)

    def _to_store(
        self, asked: AskedT, how: AskedAs | None, token: str, shown_at: datetime, length: timedelta
    ) -> OpenQuestion:
        """The question before this person. length : of time for which its row is theirs"""
        place = place_of(asked)
        return to_store(
            asked,
            how,
            project_id=self.project_id,
            person_id=self.person_id,
            row=place.row,
            label=place.label,
            token=token,
            revision=self.revision(place),
            shown_at=shown_at,
            reserved_at=self.now,
            reserved_until=self.now + length,
        )


AnyTurn: TypeAlias = Turn[Any, Any, Any]
"""A turn at a project of any kind, whose questions are only passed back to it."""
