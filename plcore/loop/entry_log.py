"""The entries that a fold has taken in, found by row and by seq.

Those that came with a checkpoint stay in columns, and become entries where somebody asks for their row: most of a long
log is never looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plcore.common.types import AnyArray, IntArray
from plcore.loop.entries import Entry
from plcore.loop.packed import packed, unpacked


class EntryLog:
    """arrays : what `to_arrays` gave, to begin with; None: no entry

    withdrawn : seqs of the entries that were taken back. A withdrawal is no entry here.
    """

    def __init__(self, arrays: Mapping[str, AnyArray] | None = None) -> None:
        self._past = None if arrays is None else _PastEntries(arrays)
        self._rows: dict[int, list[Entry]] = {}
        self._new: dict[int, Entry] = {}  # by seq, in order
        self.withdrawn: set[int] = set() if arrays is None else set(arrays["withdrawn"].tolist())

    def add(self, entry: Entry) -> None:
        """Take in an entry that comes after all so far."""
        if entry.row not in self._rows:
            self._rows[entry.row] = [] if self._past is None else self._past.of_row(entry.row)
        self._rows[entry.row].append(entry)
        self._new[entry.seq] = entry

    def of_row(self, row: int) -> Sequence[Entry]:
        """The entries of a row in order, those taken back among them."""
        found = self._rows.get(row)
        if found is None and self._past is not None and (past := self._past.of_row(row)):
            found = self._rows[row] = past
        return found or ()

    def get(self, seq: int) -> Entry | None:
        """The entry with this seq; None where there is none."""
        found = self._new.get(seq)
        return self._past.get(seq) if found is None and self._past is not None else found

    def to_arrays(self) -> dict[str, AnyArray]:
        """`columns` int64 (e, 5): the entries in order, of each seq, row, and the numbers of its kind, annotator and
        labels in `words`, the lists of those there are. `withdrawn` int64 (w,), ascending."""
        past = self._past
        lists: list[list[Any]] = [[], [], []] if past is None else [list(one) for one in past.words]
        numbers = [{word: number for number, word in enumerate(one)} for one in lists]
        columns = np.array(
            [
                (
                    one.seq,
                    one.row,
                    *(
                        known.setdefault(word, len(known))
                        for known, word in zip(
                            numbers, (str(one.kind), one.annotator, one.labels), strict=True
                        )
                    ),
                )
                for one in self._new.values()
            ],
            dtype=np.int64,
        ).reshape(-1, 5)
        if past is not None:
            columns = np.concatenate([past.columns, columns])
        return {
            "columns": columns,
            "words": packed([list(known) for known in numbers]),
            "withdrawn": np.array(sorted(self.withdrawn), dtype=np.int64),
        }


class _PastEntries:
    """Entries in columns, as `EntryLog.to_arrays` gives them."""

    def __init__(self, arrays: Mapping[str, AnyArray]) -> None:
        kinds, annotators, labels = unpacked(arrays["words"])
        self.words: tuple[list[str], list[str], list[tuple[str, ...]]] = (
            kinds,
            annotators,
            [tuple(one) for one in labels],
        )
        self.columns: IntArray = arrays["columns"]
        self._seq = self.columns[:, 0]
        rows = self.columns[:, 1]
        self._order = np.argsort(rows, kind="stable")
        self._rows = rows[self._order]

    def of_row(self, row: int) -> list[Entry]:
        """A new list."""
        begin, end = np.searchsorted(self._rows, (row, row + 1))
        return [self._entry(place) for place in self._order[begin:end].tolist()]

    def get(self, seq: int) -> Entry | None:
        place = int(np.searchsorted(self._seq, seq))
        return self._entry(place) if place < len(self._seq) and self._seq[place] == seq else None

    def _entry(self, place: int) -> Entry:
        seq, row, kind, annotator, labels = self.columns[place].tolist()
        kinds, annotators, sets = self.words
        return Entry(seq, kinds[kind], row, annotators[annotator], sets[labels])
