"""What each annotator has put aside: rows or single cells skipped for now, and those they are unsure about."""

from __future__ import annotations

from collections.abc import Iterable

from plcore.fold import Entry
from plcore.multilabel.fold import VALUES, CellFold
from plcore.standing import SKIP_LASTS

Place = tuple[int, str | None]
"""A row and a label of it, or the row as a whole."""


class CellStandings:
    """Per annotator the places not to be asked. Their latest unwithdrawn entry about a place decides.

    A `yes` or `no` is about each label it names and about the row as a whole, `bad` about the row; `unsure` and
    `skip` are about the one label they name, or else about the row.
    """

    def __init__(self, fold: CellFold) -> None:
        self._fold = fold
        self._count: dict[str, int] = {}
        self._number: dict[int, int] = {}  # seq -> how many entries that annotator had made by then
        self._unsure: dict[str, set[Place]] = {}
        self._skipped: dict[str, dict[Place, int]] = {}  # annotator -> place -> seq of the skip

    def record(self, entry: Entry) -> None:
        """Take note of an entry that the fold has already taken in."""
        self._count[entry.annotator] = self._number[entry.seq] = self._count.get(entry.annotator, 0) + 1
        touched = entry if entry.target is None else self._fold.entry(entry.target)
        annotator, row = touched.annotator, touched.row
        unsure = self._unsure.setdefault(annotator, set())
        skipped = self._skipped.setdefault(annotator, {})
        own = [other for other in self._fold.entries(row) if other.annotator == annotator]
        latest: dict[str | None, Entry] = {label: other for other in own for label in _about(other)}
        for label in _about(touched):
            place = (row, label)
            unsure.discard(place)
            skipped.pop(place, None)
            standing = latest.get(label)
            if standing is not None and standing.kind == "unsure":
                unsure.add(place)
            elif standing is not None and standing.kind == "skip":
                skipped[place] = standing.seq

    def unsure(self, annotator: str) -> set[Place]:
        """Places this annotator is unsure about; not to be asked again."""
        return self._unsure.get(annotator, set())

    def unsure_by_anybody(self) -> set[Place]:
        """Places that somebody is unsure about."""
        return set().union(*self._unsure.values())

    def resting(self, annotator: str) -> list[Place]:
        """Places this annotator skipped not long ago, the oldest skip first."""
        now = self._count.get(annotator, 0)
        recent = [
            (seq, place)
            for place, seq in self._skipped.get(annotator, {}).items()
            if now - self._number[seq] < SKIP_LASTS
        ]
        return [place for _, place in sorted(recent, key=lambda one: one[0])]


def _about(entry: Entry) -> Iterable[str | None]:
    """The labels an entry is about; None stands for the row as a whole."""
    if entry.kind in VALUES:
        return (*entry.labels, None)
    return entry.labels or (None,)
