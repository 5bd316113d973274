"""Changes in a project's log other than answers: changed classes, added rows, and annotators excluded or restored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plcore.loop.entries import Entry, EntryKind

ROWS = "rows"
"""Kind of the change that adds rows; entries that add the new classes of these rows come right before it."""
ASIDE = "aside"
"""Kind of the change that excludes all answers of a person, earlier and later ones."""
NAMES_TAKEN = {
    "add": ("name",),
    "rename": ("old", "new"),
    "merge": ("from", "into"),
    ROWS: ("how many before",),
    ASIDE: ("annotator",),
    "back": (),
}
NO_ROW = -1
"""Row number of entries that concern no row, such as changes of classes."""


class ClassError(ValueError):
    """A change of classes that is impossible after the previous changes; nothing was changed."""


@dataclass(frozen=True)
class ClassChange:
    """One change of classes, rows or excluded annotators.

    names : ("add") name | ("rename") old, new | ("merge") from, into | ("rows") the number of rows before | ("aside")
        the annotator | ("back") none
    target : the seq of the change a "back" withdraws
    """

    seq: int
    kind: str
    names: tuple[str, ...] = ()
    target: int | None = None

    def __post_init__(self) -> None:
        taken = NAMES_TAKEN.get(self.kind)
        if taken is None:
            raise ClassError(f"A change of classes is one of {', '.join(NAMES_TAKEN)}. Got {self.kind!r}.")
        if len(self.names) != len(taken) or not all(isinstance(name, str) for name in self.names):
            raise ClassError(f"{self.kind!r} takes ({', '.join(taken)}). Got {self.names!r}.")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels stored in the log: the kind, then the names."""
        return (self.kind, *self.names)


def class_changes(entries: Iterable[Entry]) -> tuple[ClassChange, ...]:
    """Return the changes among log entries, in order.

    Entries of kind "class" have the labels (kind, *names), those of kind "rows" the number of rows before and others,
    those of kind "aside" the annotator. Withdrawals of such entries are included."""
    found = []
    for entry in entries:
        if entry.kind == EntryKind.CLASS:
            found.append(ClassChange(entry.seq, entry.labels[0], tuple(entry.labels[1:])))
        elif entry.kind == EntryKind.ROWS:
            found.append(ClassChange(entry.seq, ROWS, tuple(entry.labels[:1])))
        elif entry.kind == EntryKind.ASIDE:
            found.append(ClassChange(entry.seq, ASIDE, entry.labels))
        elif entry.row == NO_ROW and entry.kind == EntryKind.WITHDRAW:
            found.append(ClassChange(entry.seq, "back", target=entry.target))
    return tuple(found)


def changed_at(changes: Iterable[ClassChange]) -> int:
    """Return the seq of the latest change of classes or rows, 0 without any. Excluding or restoring a
    person's answers changes neither."""
    asides: set[int | None] = set()
    latest = 0
    for change in changes:
        if change.kind == ASIDE:
            asides.add(change.seq)
        elif change.target not in asides:
            latest = change.seq
    return latest


def batches_of(changes: Iterable[ClassChange]) -> tuple[int, ...]:
    """Return the number of rows before each addition."""
    return tuple(int(change.names[0]) for change in changes if change.kind == ROWS)


def asides_after(changes: Iterable[ClassChange]) -> dict[str, int]:
    """Return the excluded annotators after these changes: {annotator: seq of the change that excludes
    them}."""
    standing: dict[int | None, str] = {}
    for change in changes:
        if change.kind == ASIDE:
            standing[change.seq] = change.names[0]
        elif change.kind == "back":
            standing.pop(change.target, None)
    return {annotator: seq for seq, annotator in standing.items() if seq is not None}


def aside_after(changes: Iterable[ClassChange]) -> frozenset[str]:
    """Return the annotators whose answers are excluded after these changes."""
    return frozenset(asides_after(changes))
