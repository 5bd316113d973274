"""Answers on their way in, and what was stored of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plcore.loop import EntryKind

if TYPE_CHECKING:
    from db import entries
    from plcore.loop import Learner

MOST = 24
"""Rows that one press confirms at most: no more can be looked at with care at once."""


@dataclass(frozen=True)
class Saved:
    """What was stored for one press: its last entry. ``repeated``: it had been stored before, nothing was added now.

    rows : how many rows the press was about      together : they were taken back, and are before the person together
    denied : labels that the press ruled out by an entry before this one; told of a repeated one alone
    other : of a repeated one, whether what was said now is something else
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
        """Whether an answer of this kind with these labels may have stored this, rather than another one.

        Some are stored as others: `labels` as the `no` and the `yes` of what they change, `none` with labels as `is` or
        `among` those that can be. An answer without labels is about what was asked.
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
    """An answer as it came from a screen. shown : names what the screen showed, None where that is not known"""

    kind: str
    labels: tuple[str, ...] = ()
    note: str | None = None
    flagged: bool = False
    shown: str | None = None


def saved_of(learner: Learner, entry: entries.LogEntry, *, repeated: bool = False) -> Saved:
    """A stored entry as a page says it."""
    row_id = learner.table.id_of(entry.row)
    return Saved(entry.seq, entry.kind, entry.row, row_id, tuple(entry.labels), repeated)
