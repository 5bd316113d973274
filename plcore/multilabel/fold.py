"""Log entries of a multi-label project, and what they make of the cells of a row.

Cells are 1 (yes), 0 (no) and -1 (not asked, which is not no). The fold of a row is taken over its unwithdrawn entries
in the order of `seq`: `yes` and `no` set the cells of the labels they name, whatever came before (the latest wins,
also over what was given at import), and leave all others alone; `bad` takes the row out until a later `yes` or `no`;
`unsure` and `skip`, about the row or about one label, leave everything as it is. `withdraw` makes another entry as
if it had never been. A whole instance is answered by a `yes` with its labels and a `no` with the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plcore._types import AnyArray, IntArray
from plcore.fold import AnswerError, Entry, EntryFold, check_form

UNKNOWN = -1
VALUES = {"yes": 1, "no": 0}
CELL_ANSWERS = (*VALUES, "bad")
CELL_KINDS = (*CELL_ANSWERS, "unsure", "skip", "withdraw")


class FoldedCells(NamedTuple):
    """What the entries of one row amount to."""

    cells: AnyArray  # (L,) int8, also while the row is out
    seqs: IntArray  # (L,) seq of the entry that set the cell; 0: as given at import, or not asked
    out: bool  # marked as a bad item
    answer: Entry | None  # the latest answer that counts


def check_cell_form(entry: Entry) -> None:
    """Raise AnswerError unless the parts of the entry are what `plcore.fold.Entry` says, with the kinds of here."""
    check_form(replace(entry, kind="skip"))  # all parts but the kind are the same as there
    if entry.kind not in CELL_KINDS:
        raise AnswerError(
            f"Entry {entry.seq}: kind must be one of {', '.join(CELL_KINDS)}. Got {entry.kind!r}."
        )


class CellFold(EntryFold[FoldedCells]):
    """The entries of all rows, and the cells that follow from them. first : int8 (n, L), the cells before any answer;
    classes are the label names."""

    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedCells:
        """What these entries alone would make of a row, unchecked; changes nothing."""
        cells, seqs = self.first[row].copy(), np.zeros(self.first.shape[1], dtype=np.int64)
        out, answer = False, None
        for entry in entries:
            if entry.kind not in CELL_ANSWERS:
                continue
            answer, out = entry, entry.kind == "bad"
            if not out:
                columns = self.columns(entry.labels)
                cells[columns], seqs[columns] = VALUES[entry.kind], entry.seq
        return FoldedCells(cells, seqs, out, answer)

    def columns(self, labels: Sequence[str]) -> list[int]:
        """The numbers of these labels."""
        return [self.column[label] for label in labels]

    def _check_labels(self, entry: Entry) -> None:
        where, given = f"Entry {entry.seq} about row {entry.row}", entry.labels
        if entry.kind in VALUES:
            wanted, fits = "one label or more", len(given) >= 1
        elif entry.kind == "bad":
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
