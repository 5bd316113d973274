"""Fold of all entries of a table: the state of each row after its entries, for all kinds of project."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from plcore.arrays.types import AnyArray, IntArray
from plcore.loop.entries import AnswerError, Entry, EntryKind
from plcore.loop.packed import packed, unpacked

# Applied entries, indexed by row and by seq. Entries from a checkpoint stay in columns until their row is needed: most
# of a long log is never read again.


class EntryLog:
    """Applied entries, indexed by row and by seq.

    arrays : output of `to_arrays` to start from; None: no entries
    withdrawn : seqs of the withdrawn entries. A withdrawal itself is not an entry here.
    """

    def __init__(self, arrays: Mapping[str, AnyArray] | None = None) -> None:
        self._past = None if arrays is None else _PastEntries(arrays)
        self._rows: dict[int, list[Entry]] = {}
        self._new: dict[int, Entry] = {}  # by seq, ascending
        self.withdrawn: set[int] = set() if arrays is None else set(arrays["withdrawn"].tolist())

    def add(self, entry: Entry) -> None:
        """Add an entry that comes after all others."""
        if entry.row not in self._rows:
            self._rows[entry.row] = [] if self._past is None else self._past.of_row(entry.row)
        self._rows[entry.row].append(entry)
        self._new[entry.seq] = entry

    def of_row(self, row: int) -> Sequence[Entry]:
        """Return the entries of a row in order, including withdrawn ones."""
        found = self._rows.get(row)
        if found is None and self._past is not None and (past := self._past.of_row(row)):
            found = self._rows[row] = past
        return found or ()

    def get(self, seq: int) -> Entry | None:
        """Return the entry with this seq; None if there is none."""
        found = self._new.get(seq)
        return self._past.get(seq) if found is None and self._past is not None else found

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return the entries as arrays.

        `columns` int64 (e, 5): for each entry, in order, its seq, its row, and the indices of its kind, annotator and
        labels in the lists of `words`. `withdrawn` int64 (w,): seqs of withdrawn entries, ascending."""
        past = self._past
        lists: list[list[object]] = [[], [], []] if past is None else [list(one) for one in past.words]
        numbers = [{word: number for number, word in enumerate(one)} for one in lists]
        columns = np.array(
            [
                (
                    one.seq,
                    one.row,
                    *(
                        known.setdefault(word, len(known))
                        for known, word in zip(numbers, (str(one.kind), one.annotator, one.labels), strict=True)
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
    """Entries in columns, as returned by `EntryLog.to_arrays`."""

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
        """Return the entries of a row as a new list."""
        begin, end = np.searchsorted(self._rows, (row, row + 1))
        return [self._entry(place) for place in self._order[begin:end].tolist()]

    def get(self, seq: int) -> Entry | None:
        place = int(np.searchsorted(self._seq, seq))
        return self._entry(place) if place < len(self._seq) and self._seq[place] == seq else None

    def _entry(self, place: int) -> Entry:
        seq, row, kind, annotator, labels = self.columns[place].tolist()
        kinds, annotators, sets = self.words
        return Entry(seq, kinds[kind], row, annotators[annotator], sets[labels])


FoldedT = TypeVar("FoldedT")


class Merger(Protocol[FoldedT]):
    """Merges the answers of several people about a row into one fold (`several.Several` of each kind)."""

    @property
    def since(self) -> int:
        """Seq of the last entry before people answered independently."""

    def merge(self, row: int, entries: Sequence[Entry], chain: Callable[[Sequence[Entry]], FoldedT]) -> FoldedT:
        """Return the merged fold of a row. entries : answers that count, in order"""


class EntryFold(ABC, Generic[FoldedT]):
    """The entries of all rows. Each kind of project defines how the entries of a row determine its state.

    first : (n, m), the row states before any answer      classes : the m names
    closed : {row: reason} rows about which no entry is allowed (test rows, rows with an exact label at import)
    merger : merges the answers of several people; None: each answer builds on the previous ones, from any annotator
    aside : annotators whose answers are excluded
    """

    ANSWERS: ClassVar[tuple[str, ...]]
    """Kinds of entries that carry information about the labels of a row."""

    def __init__(
        self,
        first: AnyArray,
        classes: Sequence[str],
        closed: dict[int, str],
        merger: Merger[FoldedT] | None = None,
        aside: Collection[str] = frozenset(),
    ) -> None:
        self._merger, self._aside = merger, frozenset(aside)
        self.first = first
        self.column = {name: number for number, name in enumerate(classes)}
        self._closed = closed
        self._log = EntryLog()

    def entries(self, row: int) -> list[Entry]:
        """Return the entries of a row that were not withdrawn, in order."""
        withdrawn = self._log.withdrawn
        return [entry for entry in self._log.of_row(row) if entry.seq not in withdrawn]

    def is_untouched(self, row: int) -> bool:
        """Return whether the row has no entries, not even withdrawn ones."""
        return not self._log.of_row(row)

    def entry(self, seq: int) -> Entry:
        """Return the entry with this seq (withdrawals are not stored)."""
        entry = self._log.get(seq)
        if entry is None:
            raise KeyError(seq)
        return entry

    def fold(self, row: int) -> FoldedT:
        """Return the fold of the entries of a row that were not withdrawn."""
        return self.fold_of(row, self.entries(row))

    def counted(self, row: int, *, aside: bool = False) -> list[Entry]:
        """Return the answers about a row that count (not withdrawn, not excluded), in order. aside : also
        exclude these"""
        entries = self.entries(row)
        return [one for one in entries if one.kind in self.ANSWERS] if aside else self._counted(entries)

    def _counted(self, entries: Sequence[Entry]) -> list[Entry]:
        return [one for one in entries if one.kind in self.ANSWERS and one.annotator not in self._aside]

    def view(self, row: int, entries: Sequence[Entry], annotator: str, seq: int | None = None) -> FoldedT:
        """Return the row state that this annotator saw after these entries: after their own answers if answers are
        independent, else after all.

        seq : of the entry being written; None: the next one
        """
        since = None if self._merger is None else self._merger.since
        if since is not None and (seq is None or seq > since):
            return self.chain(row, [one for one in entries if one.annotator == annotator and one.seq > since])
        return self.chain(
            row, [one for one in entries if one.annotator not in self._aside or one.annotator == annotator]
        )

    @abstractmethod
    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedT:
        """Return the fold of these entries alone for a row, without checks; changes nothing."""

    @abstractmethod
    def chain(self, row: int, entries: Sequence[Entry]) -> FoldedT:
        """Return the fold of these entries for a row, each building on the previous ones, from any annotator."""

    @abstractmethod
    def _check_labels(self, entry: Entry) -> None:
        """Raise AnswerError if the labels of an entry (not a withdrawal) do not fit."""

    def add(self, entry: Entry) -> None:
        """Add an entry that has passed `check`."""
        if entry.kind == EntryKind.WITHDRAW and entry.target is not None:
            self._log.withdrawn.add(entry.target)
        else:
            self._log.add(entry)

    def to_arrays(self) -> dict[str, AnyArray]:
        """Return all applied entries as arrays, for a checkpoint."""
        return self._log.to_arrays()

    def put_back(self, arrays: Mapping[str, AnyArray]) -> None:
        """Replace all entries with the output of `to_arrays`, without checks."""
        self._log = EntryLog(arrays)

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if the entry, which has passed `check_form`, is impossible after those already applied;
        changes nothing."""
        where = f"Entry {entry.seq}"
        if not 0 <= entry.row < len(self.first):
            raise AnswerError(f"{where}: row must be in 0..{len(self.first) - 1}. Got {entry.row!r}.")
        if (entry.target is not None) != (entry.kind == EntryKind.WITHDRAW):
            raise AnswerError(f"{where}: target is the entry a 'withdraw' withdraws. Got {entry.target!r}.")
        if entry.kind == EntryKind.WITHDRAW:
            self._check_withdrawal(entry)
            return
        if entry.row in self._closed:
            raise AnswerError(f"{where}: row {entry.row} takes no answers: {self._closed[entry.row]}.")
        self._check_labels(entry)

    def _check_withdrawal(self, entry: Entry) -> None:
        where = f"Entry {entry.seq}"
        earlier = self._log.get(entry.target) if entry.target is not None else None
        if earlier is None:
            raise AnswerError(f"{where}: there is no entry {entry.target} that could be withdrawn.")
        if earlier.seq in self._log.withdrawn:
            raise AnswerError(f"{where}: entry {earlier.seq} is already withdrawn.")
        if earlier.row != entry.row:
            raise AnswerError(f"{where}: entry {earlier.seq} is about row {earlier.row}, not {entry.row}.")
        if entry.labels:
            raise AnswerError(f"{where}: a 'withdraw' has no labels. Got {list(entry.labels)}.")
