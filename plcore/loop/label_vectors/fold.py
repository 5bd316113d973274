"""Log entries of a project of label vectors, and the cells of a row that follow from them: one cell per label.

Cells are 1 (yes), 0 (no) and -1 (not asked, which is not no). The fold of a row applies its unwithdrawn entries in the
order of `seq`. `yes` and `no` set the cells of the labels they name, whatever came before (the latest wins, also over
imported values), and leave all others unchanged. `bad` makes the row a bad item until a later `yes` or `no`. `unsure`
and `skip`, about the row or one label, change nothing. `withdraw` removes the effect of another entry. A question about
a whole row is answered by a `yes` with the right labels and a `no` with the others. A reviewer's `right` and `wrong`
resolve the labels they name, and `verdict` makes the row a bad item, overriding all answers. The latest of the three
wins.

If several people answer a label, each person's view of the row is folded like this from their own entries; a rule
merges the views (`.pool`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, Features, IntArray
from plcore.loop.entries import PUT_ASIDE, VECTOR_ANSWERS, VERDICTS, AnswerError, Entry, EntryKind
from plcore.loop.entry_fold import EntryFold

UNKNOWN = -1
SAID: dict[str, int] = {EntryKind.YES: 1, EntryKind.NO: 0}
"""Entry kinds of annotators about labels."""
SETTLED: dict[str, int] = {EntryKind.RIGHT: 1, EntryKind.WRONG: 0}
"""Entry kinds of reviewers about labels."""
VALUES = {**SAID, **SETTLED}
ANSWERS = VECTOR_ANSWERS
KINDS = (*ANSWERS, *PUT_ASIDE, EntryKind.WITHDRAW)


def labels_of(entry: Entry) -> Iterable[str | None]:
    """Return the labels of its row that an entry is about; None stands for the row as a whole."""
    return (*entry.labels, None) if entry.kind in VALUES else entry.labels or (None,)


class FoldedVector(NamedTuple):
    """Result of the entries of one row."""

    cells: AnyArray  # (L,) int8, also of a bad item
    seqs: IntArray  # (L,) seq of the entry that set the cell; 0: as imported, or not asked
    out: bool  # marked as a bad item
    answer: Entry | None  # the latest answer that counts


class LabelVectorFold(EntryFold[FoldedVector]):
    """The entries of all rows, and the cells that follow from them.

    first : int8 (n, L), the cells before any answer      classes : the L label names
    """

    ANSWERS = ANSWERS

    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedVector:
        """Return the fold of these entries alone for a row, without checks; changes nothing."""
        counted = self._counted(entries)
        verdicts = [one for one in counted if one.kind in VERDICTS]
        said = [one for one in counted if one.kind not in VERDICTS]
        if self._merger is None:
            folded = self.chain(row, said)
        else:
            folded = self._merger.merge(row, said, lambda some: self.chain(row, some))
        return self._settle(folded, verdicts) if verdicts else folded

    def _settle(self, folded: FoldedVector, verdicts: Sequence[Entry]) -> FoldedVector:
        cells, seqs, out = folded.cells.copy(), folded.seqs.copy(), folded.out
        for entry in verdicts:
            out = entry.kind == EntryKind.VERDICT
            if not out:
                columns = self.columns(entry.labels)
                cells[columns], seqs[columns] = VALUES[entry.kind], entry.seq
        return FoldedVector(cells, seqs, out, verdicts[-1])

    def settled(self, row: int) -> BoolArray:
        """Return (L,) the labels that a verdict has resolved; all of them if a verdict made the row a bad item."""
        verdicts = [one for one in self.counted(row) if one.kind in VERDICTS]
        found = np.zeros(self.first.shape[1], dtype=bool)
        for entry in verdicts:
            found[self.columns(entry.labels)] = True
        if verdicts and verdicts[-1].kind == EntryKind.VERDICT:
            found[:] = True
        return found

    def chain(self, row: int, entries: Sequence[Entry]) -> FoldedVector:
        """Return the fold of these entries for a row, each building on the previous ones, from any annotator."""
        cells, seqs = self.first[row].copy(), np.zeros(self.first.shape[1], dtype=np.int64)
        out, answer = False, None
        for entry in entries:
            if entry.kind not in ANSWERS:
                continue
            answer, out = entry, entry.kind in (EntryKind.BAD, EntryKind.VERDICT)
            if not out:
                columns = self.columns(entry.labels)
                cells[columns], seqs[columns] = VALUES[entry.kind], entry.seq
        return FoldedVector(cells, seqs, out, answer)

    def columns(self, labels: Sequence[str]) -> list[int]:
        """Return the column numbers of these labels."""
        return [self.column[label] for label in labels]

    def _check_labels(self, entry: Entry) -> None:
        where, given = f"Entry {entry.seq} about row {entry.row}", entry.labels
        if entry.kind in VALUES:
            wanted, fits = "one label or more", len(given) >= 1
        elif entry.kind in (EntryKind.BAD, EntryKind.VERDICT):
            wanted, fits = "no labels", not given
        else:
            wanted, fits = "one label, or none for the whole row", len(given) <= 1
        if not fits or len(set(given)) != len(given):
            raise AnswerError(f"{where}: {entry.kind!r} takes {wanted}, each once. Got {list(given)}.")
        unknown = [label for label in given if label not in self.column]
        if unknown:
            raise AnswerError(f"{where}: {unknown[0]!r} is not a label. The labels: {', '.join(self.column)}.")


# Interface that the loop needs of a table of label vectors.


class NamedFeatures(Features, Protocol):
    """Features whose columns have names once they are fitted."""

    @property
    def feature_names_(self) -> Sequence[str]: ...


class VectorTable(Protocol):
    """The part of a `plcore.tables.table.LabelTable` of label vectors that the learner needs."""

    @property
    def label_vectors(self) -> AnyArray | None: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def ids(self) -> Sequence[str] | AnyArray: ...
    def features(self) -> NamedFeatures: ...


TableT_co = TypeVar("TableT_co", bound=VectorTable, covariant=True)
