"""What each annotator has put aside: rows skipped or narrowed for now, and rows they are unsure about."""

from __future__ import annotations

from plcore.fold import AnswerFold, Entry

SKIP_LASTS = 20  # a row put aside comes back after this many further entries of the same annotator


class Standings:
    """Per annotator the rows not to be asked. An annotator's latest unwithdrawn entry about a row decides."""

    def __init__(self, fold: AnswerFold) -> None:
        self._fold = fold
        self._count: dict[str, int] = {}
        self._number: dict[int, int] = {}  # seq -> how many entries that annotator had made by then
        self._unsure: dict[str, set[int]] = {}
        self._skipped: dict[str, dict[int, int]] = {}  # annotator -> row -> seq of the skip

    def record(self, entry: Entry) -> None:
        """Take note of an entry that the fold has already taken in."""
        self._count[entry.annotator] = self._number[entry.seq] = self._count.get(entry.annotator, 0) + 1
        touched = entry if entry.target is None else self._fold.entry(entry.target)
        annotator, row = touched.annotator, touched.row
        own = [other for other in self._fold.entries(row) if other.annotator == annotator]
        kind = own[-1].kind if own else None
        unsure = self._unsure.setdefault(annotator, set())
        skipped = self._skipped.setdefault(annotator, {})
        unsure.discard(row)
        skipped.pop(row, None)
        if kind == "unsure":
            unsure.add(row)
        elif kind in ("skip", "among", "none"):  # said all they can for now: others first
            skipped[row] = own[-1].seq

    def unsure(self, annotator: str) -> set[int]:
        """Rows this annotator is unsure about; not to be asked again."""
        return self._unsure.get(annotator, set())

    def resting(self, annotator: str) -> list[int]:
        """Rows this annotator skipped, or narrowed to several, not long ago; the oldest of them first."""
        now = self._count.get(annotator, 0)
        recent = [
            (seq, row)
            for row, seq in self._skipped.get(annotator, {}).items()
            if now - self._number[seq] < SKIP_LASTS
        ]
        return [row for _, row in sorted(recent)]
