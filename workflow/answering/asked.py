"""The form of a question, and the contents of its screen: stored with the open question and with its entry."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from plcore import AnswerError
from plcore.arrays import forbidden_in_text
from plcore.loop import EntryKind

if TYPE_CHECKING:
    from db import entries
    from plcore.loop import Learner
    from workflow.answering.room_settings import RoomSettings


class QuestionForm(StrEnum):
    """Form of a question about a row. The log stores the values, which never change."""

    WHICH = "which"
    """Which of these is it?"""
    IS = "is"
    """Is it this one?"""
    GROUP = "group"
    """Is it one of this group?"""
    BATCH = "batch"
    """Are all of these rows this one?"""


@dataclass(frozen=True)
class FormsNow:
    """State of the choice between forms of questions in a project.

    answers : number of answers so far      chosen_from : number of answers after which forms are chosen by their cost
    timed : number of answers from which the seconds were estimated; 0: they are assumed
    which, yes_no : seconds of "which of these four?" and of "is it this one?", for an average person
    """

    answers: int
    chosen_from: int
    timed: int
    which: float
    yes_no: float


@dataclass(frozen=True)
class AskedAs:
    """The form of a question, as it was asked.

    about : the label that "is" and "batch" ask about, the candidates of the group for "group"; () for "which"
    drawn : the form was drawn at random, so that its cost can be measured without selection bias
    choices : number of labels shown at first
    first : the shortlist in screen order; None: there was none. The other labels were shown on request, unless
        `choices` is larger: some questions show all labels in spite of a shortlist. A yes-or-no question does not show
        it
    batch : names the rows that were answered with one click; None: the row was answered alone
    """

    form: str
    about: tuple[str, ...] = ()
    drawn: bool = False
    choices: int = 0
    first: tuple[str, ...] | None = None
    batch: str | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> AskedAs:
        """Read the output of `to_json`; missing values get their defaults."""
        lists = {name: tuple(stored[name]) for name in ("about", "first") if stored.get(name) is not None}
        return cls(**{**stored, **lists})

    def to_json(self) -> dict[str, object]:
        """Return plain values, without those that equal the defaults."""
        values = asdict(self)
        kept = {name: value for name, value in values.items() if value != getattr(AskedAs, name, "")}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def batch_of(asked: Mapping[str, Any] | None) -> str | None:
    """Return the batch of an entry with this `asked`; None if its row was answered alone."""
    return (asked or {}).get("batch")


# The order of the labels on a screen, and a stamp by which the server later knows what the screen showed.

# {person: (token, order)} for each learner in memory; if it is lost, only the order on a screen changes. Read and
# written only while the learner is open, that is by one thread at a time.
_orders: WeakKeyDictionary[Learner, dict[int, tuple[str, tuple[str, ...]]]] = WeakKeyDictionary()


def stamp(parts: Sequence[str]) -> str:
    """Return a short hash of these choices. A screen returns it with an answer, which shows the labels on the
    screen."""
    return hashlib.blake2s("\0".join(parts).encode(), digest_size=8).hexdigest()


def screen_order(
    learner: Learner, room: RoomSettings, person_id: int, token: str, shares: Mapping[str, float]
) -> tuple[str, ...]:
    """Return the labels in screen order, by the settings of the question page.

    token : of the shown question. While it is open, its order stays, whatever the model learns
    shares : {label: the model's share}, in class order
    """
    orders = _orders.setdefault(learner, {})
    if room.order == "fixed":
        orders.pop(person_id, None)
        return tuple(shares)
    earlier, order = orders.get(person_id, ("", ()))
    kept = [label for label in order if label in shares] if earlier == token else []
    added = sorted((label for label in shares if label not in kept), key=lambda label: -shares[label])
    orders[person_id] = token, (*kept, *added)
    return (*kept, *added)


# Incoming answers, and their stored results.

MOST = 24
"""Maximum number of rows that one click confirms: a person cannot check more with care at once."""


@dataclass(frozen=True)
class Saved:
    """The last entry that one answer stored. ``repeated``: it had been stored before, and nothing was added now.

    rows : number of rows answered      together : the rows were withdrawn, and are open as a batch again
    denied : labels that the answer ruled out by an entry before this one; set only if ``repeated``
    other : if ``repeated``, whether the answer sent now differs from the stored one
    """

    seq: int
    kind: str
    row: int
    row_id: str
    labels: tuple[str, ...]
    repeated: bool = False
    rows: int = 1
    together: bool = False
    denied: tuple[str, ...] = ()
    other: bool = False

    def may_be(self, kind: str, labels: Sequence[str]) -> bool:
        """Return whether an answer of this kind with these labels may have stored this entry.

        Some kinds are stored as others: `labels` as a `no` and a `yes` for the labels that change, `none` with labels
        as `is` or `among`. An answer without labels is about the label asked about.
        """
        given, stored = set(labels), set(self.labels)
        if kind == "labels":
            right, wrong = (stored, set(self.denied)) if self.kind == EntryKind.YES else (set(), stored)
            return self.kind in (EntryKind.YES, EntryKind.NO) and right <= given and not wrong & given
        if kind == EntryKind.NONE and given:
            return self.kind in (EntryKind.IS, EntryKind.AMONG) and stored <= given
        return self.kind == kind and (not given or stored == given)


@dataclass(frozen=True)
class Given:
    """An answer from a screen. shown : stamp of the screen's contents, None if unknown"""

    kind: str
    labels: tuple[str, ...] = ()
    note: str | None = None
    flagged: bool = False
    shown: str | None = None


def saved_of(learner: Learner, entry: entries.LogEntry, *, repeated: bool = False) -> Saved:
    """Return a stored entry in the form for a page."""
    row_id = learner.table.id_of(entry.row)
    return Saved(entry.seq, entry.kind, entry.row, row_id, tuple(entry.labels), repeated)


# Notes that people leave with an answer or next to a row.

NOTE_LENGTH = 2_000


def checked_note(note: str | None, longest: int = NOTE_LENGTH) -> str | None:
    """Return the note in stored form, None if it is empty. longest : in characters. Raises AnswerError."""
    note = (note or "").strip()
    if len(note) > longest:
        raise AnswerError(f"A note has at most {longest:,} characters; this one has {len(note):,}. Fix: shorten it.")
    if (found := forbidden_in_text(note)) is not None:
        raise AnswerError(f"A note cannot be stored with {found}. Fix: remove it.")
    return note or None
