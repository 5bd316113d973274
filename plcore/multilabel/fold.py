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
from plcore.fold import AnswerError, Entry, check_form

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


class CellFold:
    """The entries of all rows, and the cells that follow from them.

    first : int8 (n, L), the cells before any answer      classes : the L label names
    closed : {row: reason} rows about which no entry is allowed
    """

    def __init__(self, first: AnyArray, classes: Sequence[str], closed: dict[int, str]) -> None:
        self.first = first
        self.column = {name: number for number, name in enumerate(classes)}
        self._closed = closed
        self._entries: dict[int, list[Entry]] = {}
        self._by_seq: dict[int, Entry] = {}
        self._withdrawn: set[int] = set()

    def entries(self, row: int) -> list[Entry]:
        """The unwithdrawn entries of a row, in order."""
        return [entry for entry in self._entries.get(row, ()) if entry.seq not in self._withdrawn]

    def entry(self, seq: int) -> Entry:
        """The entry with this seq (withdrawals are not kept)."""
        return self._by_seq[seq]

    def fold(self, row: int) -> FoldedCells:
        """What the unwithdrawn entries of a row amount to."""
        return self.fold_of(row, self.entries(row))

    def fold_with(self, entry: Entry) -> FoldedCells:
        """What they would amount to with this entry, which `check` lets pass; changes nothing."""
        kept = [one for one in self.entries(entry.row) if one.seq != entry.target]
        return self.fold_of(entry.row, kept if entry.kind == "withdraw" else [*kept, entry])

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

    def add(self, entry: Entry) -> None:
        """Take in an entry that `check` has let pass."""
        if entry.kind == "withdraw" and entry.target is not None:
            self._withdrawn.add(entry.target)
        else:
            self._entries.setdefault(entry.row, []).append(entry)
            self._by_seq[entry.seq] = entry

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if the entry, which has passed `check_cell_form`, is impossible after those already taken
        in; changes nothing.
        """
        where = f"Entry {entry.seq}"
        if not 0 <= entry.row < len(self.first):
            raise AnswerError(f"{where}: row must be in 0..{len(self.first) - 1}. Got {entry.row!r}.")
        if (entry.target is not None) != (entry.kind == "withdraw"):
            raise AnswerError(f"{where}: target is the entry a 'withdraw' takes back. Got {entry.target!r}.")
        if entry.kind == "withdraw":
            self._check_withdrawal(entry)
        elif entry.row in self._closed:
            raise AnswerError(f"{where}: row {entry.row} takes no answers: {self._closed[entry.row]}.")
        else:
            self._check_labels(entry)

    def _check_withdrawal(self, entry: Entry) -> None:
        where = f"Entry {entry.seq}"
        earlier = self._by_seq.get(entry.target) if entry.target is not None else None
        if earlier is None:
            raise AnswerError(f"{where}: there is no entry {entry.target} that could be withdrawn.")
        if earlier.seq in self._withdrawn:
            raise AnswerError(f"{where}: entry {earlier.seq} is already withdrawn.")
        if earlier.row != entry.row:
            raise AnswerError(f"{where}: entry {earlier.seq} is about row {earlier.row}, not {entry.row}.")
        if entry.labels:
            raise AnswerError(f"{where}: a 'withdraw' has no labels. Got {list(entry.labels)}.")

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
