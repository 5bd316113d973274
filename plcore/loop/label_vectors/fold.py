"""Log entries of a project of label vectors, and what they make of the cells of a row: one cell for each label.

Cells are 1 (yes), 0 (no) and -1 (not asked, which is not no). The fold of a row is taken over its unwithdrawn entries
in the order of `seq`: `yes` and `no` set the cells of the labels they name, whatever came before (the latest wins,
also over what was given at import), and leave all others alone; `bad` makes the row a bad item until a later `yes`
or `no`; `unsure` and `skip`, about the row or about one label, leave everything as it is. `withdraw` makes another
entry as if it had never been. A question about a whole row is answered by a `yes` with the labels that are right and
a `no` with the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from plcore.common.types import AnyArray, IntArray
from plcore.loop.entries import PUT_ASIDE, AnswerError, Entry, EntryFold, EntryKind

UNKNOWN = -1
VALUES: dict[str, int] = {EntryKind.YES: 1, EntryKind.NO: 0}
ANSWERS: tuple[str, ...] = (*VALUES, EntryKind.BAD)
KINDS = (*ANSWERS, *PUT_ASIDE, EntryKind.WITHDRAW)


def labels_of(entry: Entry) -> Iterable[str | None]:
    """The labels of its row that an entry is about; None stands for the row as a whole."""
    return (*entry.labels, None) if entry.kind in VALUES else entry.labels or (None,)


class FoldedVector(NamedTuple):
    """What the entries of one row make of it."""

    cells: AnyArray  # (L,) int8, also of a bad item
    seqs: IntArray  # (L,) seq of the entry that set the cell; 0: as given at import, or not asked
    out: bool  # marked as a bad item
    answer: Entry | None  # the latest answer that counts


class LabelVectorFold(EntryFold[FoldedVector]):
    """The entries of all rows, and the cells that follow from them.

    first : int8 (n, L), the cells before any answer      classes : the L label names
    aside : annotators whose answers do not count
    """

    def __init__(
        self,
        first: AnyArray,
        classes: Sequence[str],
        closed: dict[int, str],
        aside: Collection[str] = frozenset(),
    ) -> None:
        super().__init__(first, classes, closed)
        self._aside = frozenset(aside)

    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedVector:
        """What these entries alone would make of a row, unchecked; changes nothing."""
        cells, seqs = self.first[row].copy(), np.zeros(self.first.shape[1], dtype=np.int64)
        out, answer = False, None
        for entry in entries:
            if entry.kind not in ANSWERS or entry.annotator in self._aside:
                continue
            answer, out = entry, entry.kind == EntryKind.BAD
            if not out:
                columns = self.columns(entry.labels)
                cells[columns], seqs[columns] = VALUES[entry.kind], entry.seq
        return FoldedVector(cells, seqs, out, answer)

    def columns(self, labels: Sequence[str]) -> list[int]:
        """The numbers of these labels."""
        return [self.column[label] for label in labels]

    def _check_labels(self, entry: Entry) -> None:
        where, given = f"Entry {entry.seq} about row {entry.row}", entry.labels
        if entry.kind in VALUES:
            wanted, fits = "one label or more", len(given) >= 1
        elif entry.kind == EntryKind.BAD:
            wanted, fits = "no labels", not given
        else:
            wanted, fits = "one label, or none for the whole row", len(given) <= 1
        if not fits or len(set(given)) != len(given):
            raise AnswerError(f"{where}: {entry.kind!r} takes {wanted}, each once. Got {list(given)}.")
        unknown = [label for label in given if label not in self.column]
        if unknown:
            raise AnswerError(
                f"{where}: {unknown[0]!r} is not a label. The labels: {', '.join(self.column)}."
            )
