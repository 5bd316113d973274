"""Kinds and form of log entries, for all kinds of project."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from plcore.arrays.checks import is_whole


class EntryKind(StrEnum):
    """Kinds of log entries, for all kinds of project. The log stores the values, which never change."""

    IS = "is"
    """It is this label."""
    AMONG = "among"
    """It is one of these labels."""
    NOT = "not"
    """It is not this label."""
    NONE = "none"
    """It is none of the remaining candidates."""
    YES = "yes"
    """These labels of the row are right."""
    NO = "no"
    """These labels of the row are not right."""
    BAD = "bad"
    """The item is bad; models do not learn from the row."""
    UNSURE = "unsure"
    """This person cannot tell."""
    SKIP = "skip"
    """Not now."""
    WITHDRAW = "withdraw"
    """An earlier entry is withdrawn."""
    CLASS = "class"
    """The classes of the project change; the entry concerns no row."""
    ROWS = "rows"
    """Rows are added; the entry concerns no existing row."""
    VERDICT = "verdict"
    """A reviewer resolves the row, overriding all answers: it is one of these labels or, without labels, a bad item."""
    RIGHT = "right"
    """A reviewer decides that these labels of the row are right."""
    WRONG = "wrong"
    """A reviewer decides that these labels of the row are wrong."""
    ASIDE = "aside"
    """A person's answers are excluded; the entry concerns no row."""
    MODEL = "model"
    """The model or the way it is chosen changes; the entry concerns no row, and models do not learn from it."""


PUT_ASIDE = (EntryKind.UNSURE, EntryKind.SKIP)
"""Kinds of entries that give no information about the labels of a row."""

VERDICTS: tuple[str, ...] = (EntryKind.VERDICT, EntryKind.RIGHT, EntryKind.WRONG)
"""Kinds of reviewers' entries, which override all answers."""

ONE_LABEL_ANSWERS: tuple[str, ...] = (
    EntryKind.IS,
    EntryKind.AMONG,
    EntryKind.NOT,
    EntryKind.NONE,
    EntryKind.BAD,
    EntryKind.VERDICT,
)
"""Kinds of entries that answer for a row which has one label."""

VECTOR_ANSWERS: tuple[str, ...] = (
    EntryKind.YES,
    EntryKind.NO,
    EntryKind.RIGHT,
    EntryKind.WRONG,
    EntryKind.BAD,
    EntryKind.VERDICT,
)
"""Kinds of entries that answer for a row of a label vector."""


class AnswerError(ValueError):
    """An entry that is impossible after the previous entries; nothing was changed."""


@dataclass(frozen=True)
class Entry:
    """A log entry. `labels` are class names; `target` is the seq of the entry that a `withdraw` entry withdraws."""

    seq: int
    kind: str
    row: int
    annotator: str
    labels: tuple[str, ...] = ()
    target: int | None = None


def check_form(entry: Entry, kinds: Collection[str]) -> None:
    """Raise AnswerError unless the entry is of one of these kinds and its fields are valid (see `Entry`)."""
    if not is_whole(entry.seq):
        raise AnswerError(f"The seq of an entry must be an int. Got {entry.seq!r}.")
    where = f"Entry {entry.seq}"
    if entry.kind not in kinds:
        raise AnswerError(f"{where}: kind must be one of {', '.join(kinds)}. Got {entry.kind!r}.")
    if not is_whole(entry.row):
        raise AnswerError(f"{where}: row must be an int. Got {entry.row!r}.")
    if not isinstance(entry.annotator, str):
        raise AnswerError(f"{where}: annotator must be a str. Got {entry.annotator!r}.")
    if not isinstance(entry.labels, tuple) or not all(isinstance(label, str) for label in entry.labels):
        raise AnswerError(f"{where}: labels must be a tuple of str. Got {entry.labels!r}.")
    if entry.target is not None and not is_whole(entry.target):
        raise AnswerError(f"{where}: target must be the seq of an entry, an int, or None. Got {entry.target!r}.")


# Places: the possible subjects of a question, in all kinds of project.


class Place(NamedTuple):
    """A row, or one label of it."""

    row: int
    label: str | None = None
    """None for the row as a whole."""


def as_places(places: Iterable[int | tuple[int, str | None]]) -> set[Place]:
    """Convert row numbers and (row, label) pairs to places."""
    return {Place(*one) if isinstance(one, tuple) else Place(int(one)) for one in places}
