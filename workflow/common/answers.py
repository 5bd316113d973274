"""Answers on their way in, and what was stored of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db import entries
    from plcore.loop import Learner

MOST = 24
"""Rows that one press confirms at most: no more can be looked at with care at once."""


@dataclass(frozen=True)
class Saved:
    """What was stored for one press: its last entry. ``repeated``: it had been stored before, nothing was added now.

    rows : how many rows the press was about      together : they were taken back, and are before the person together
    """

    seq: int
    kind: str
    row: int
    row_id: str
    labels: tuple[str, ...]
    repeated: bool = False
    rows: int = 1
    together: bool = False


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
