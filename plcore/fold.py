"""Log entries, and what they make of the candidates of a row.

The fold of a row is taken over its unwithdrawn entries in the order of `seq`:
`is` k and `among` S set the candidates, whatever came before (the latest wins); `not` k takes k out of what
is left; `none` says that no label is right of those that were left when it was asked, and sets all others;
`bad` takes the row out until a later answer sets candidates; `unsure` and `skip` leave everything as it is.
`withdraw` makes another entry as if it had never been. An answer that would leave nothing is refused; where a
withdrawal brings a `not` or `none` that was taken in before to that, it is passed over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from plcore._types import AnyArray, BoolArray

ANSWERS = ("is", "among", "not", "none", "bad")
KINDS = (*ANSWERS, "unsure", "skip", "withdraw")


class AnswerError(ValueError):
    """An entry that cannot be; nothing was changed by it."""


@dataclass(frozen=True)
class Entry:
    """A line of the log. `labels` are class names; `target` is the seq of the entry that a `withdraw` takes back."""

    seq: int
    kind: str
    row: int
    annotator: str
    labels: tuple[str, ...] = ()
    target: int | None = None


def check_form(entry: Entry) -> None:
    """Raise AnswerError unless the parts of the entry are what `Entry` says they are."""
    if not _is_number(entry.seq):
        raise AnswerError(f"The seq of an entry must be an int. Got {entry.seq!r}.")
    where = f"Entry {entry.seq}"
    if entry.kind not in KINDS:
        raise AnswerError(f"{where}: kind must be one of {', '.join(KINDS)}. Got {entry.kind!r}.")
    if not _is_number(entry.row):
        raise AnswerError(f"{where}: row must be an int. Got {entry.row!r}.")
    if not isinstance(entry.annotator, str):
        raise AnswerError(f"{where}: annotator must be a str. Got {entry.annotator!r}.")
    if not isinstance(entry.labels, tuple) or not all(isinstance(label, str) for label in entry.labels):
        raise AnswerError(f"{where}: labels must be a tuple of str. Got {entry.labels!r}.")
    if entry.target is not None and not _is_number(entry.target):
        raise AnswerError(
            f"{where}: target must be the seq of an entry, an int, or None. Got {entry.target!r}."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


class Folded(NamedTuple):
    """What the entries of one row amount to."""

    left: BoolArray  # (m,) what may be the label, never empty, also while the row is out
    out: bool  # marked as a bad item
    answer: Entry | None  # the latest answer that counts

    @property
    def votes(self) -> BoolArray:
        """(m,) the candidates the row votes for: none while it is out."""
        return np.zeros_like(self.left) if self.out else self.left


FoldedT = TypeVar("FoldedT")


class EntryFold(ABC, Generic[FoldedT]):
    """The entries of all rows; what those of a row amount to is for the classes that derive from it.

    first : (n, m), the rows before any answer      classes : the m names
    closed : {row: reason} rows about which no entry is allowed (test rows, rows with a given exact label)
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

    def fold(self, row: int) -> FoldedT:
        """What the unwithdrawn entries of a row amount to."""
        return self.fold_of(row, self.entries(row))

    @abstractmethod
    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedT:
        """What these entries alone would make of a row, unchecked; changes nothing."""

    @abstractmethod
    def _check_labels(self, entry: Entry) -> None:
        """Raise AnswerError where the labels of an entry, which is no withdrawal, do not fit."""

    def add(self, entry: Entry) -> None:
        """Take in an entry that `check` has let pass."""
        if entry.kind == "withdraw" and entry.target is not None:
            self._withdrawn.add(entry.target)
        else:
            self._entries.setdefault(entry.row, []).append(entry)
            self._by_seq[entry.seq] = entry

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if the entry, which has passed `check_form`, is impossible after those already taken in;
        changes nothing.
        """
        where = f"Entry {entry.seq}"
        if not 0 <= entry.row < len(self.first):
            raise AnswerError(f"{where}: row must be in 0..{len(self.first) - 1}. Got {entry.row!r}.")
        if (entry.target is not None) != (entry.kind == "withdraw"):
            raise AnswerError(f"{where}: target is the entry a 'withdraw' takes back. Got {entry.target!r}.")
        if entry.kind == "withdraw":
            self._check_withdrawal(entry)
            return
        if entry.row in self._closed:
            raise AnswerError(f"{where}: row {entry.row} takes no answers: {self._closed[entry.row]}.")
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


class AnswerFold(EntryFold[Folded]):
    """The entries of all rows, and the candidates that follow from them. first : bool (n, m), the candidates before
    any answer."""

    def fold_with(self, entry: Entry) -> Folded:
        """What they would amount to with this entry, which `check` lets pass; changes nothing."""
        kept = [one for one in self.entries(entry.row) if one.seq != entry.target]
        return self._over(entry.row, kept if entry.kind == "withdraw" else [*kept, entry])

    def changed_at(self, row: int) -> int:
        """Seq of the unwithdrawn entry since which the row is as it is; 0 where none has changed it."""
        entries, before, seq = self.entries(row), self._over(row, ()).votes, 0
        for count, entry in enumerate(entries, start=1):
            after = self._over(row, entries[:count]).votes
            if not np.array_equal(before, after):
                before, seq = after, entry.seq
        return seq

    def fold_of(self, row: int, entries: Sequence[Entry]) -> Folded:
        """What these entries alone would make of a row, unchecked; changes nothing."""
        return self._over(row, entries)

    def _over(self, row: int, entries: Sequence[Entry]) -> Folded:
        left, out, answer = self.first[row], False, None
        for entry in entries:
            if entry.kind not in ANSWERS:
                continue
            answer = entry
            if entry.kind == "bad":
                out = True
            elif entry.kind == "not":
                narrowed = left & ~self._mask(entry.labels)
                # After a withdrawal a later `not` may meet other candidates; it never takes the last one.
                left = narrowed if narrowed.any() else left
            elif entry.kind == "none":
                # As above: with a withdrawal every class may be left again, and then there are no others.
                left, out = (left, out) if left.all() else (~left, False)
            else:
                left, out = self._mask(entry.labels), False
        return Folded(left, out, answer)

    def _check_labels(self, entry: Entry) -> None:
        where = f"Entry {entry.seq} about row {entry.row}"
        given = entry.labels
        wanted = {"is": "one label", "not": "one label", "among": "one label or more"}.get(
            entry.kind, "no labels"
        )
        fits = {"one label": len(given) == 1, "one label or more": len(given) >= 1, "no labels": not given}[
            wanted
        ]
        if not fits or len(set(given)) != len(given):
            raise AnswerError(f"{where}: {entry.kind!r} takes {wanted}, each once. Got {list(given)}.")
        unknown = [label for label in given if label not in self.column]
        if unknown:
            raise AnswerError(
                f"{where}: {unknown[0]!r} is not a class. The classes: {', '.join(self.column)}."
            )
        left = self.fold(entry.row).left
        if entry.kind == "none" and left.all():
            raise AnswerError(f"{where}: every class is a candidate, so 'none' leaves nothing. Use 'bad'.")
        if not given:
            return
        outside = self._mask(given) & ~(self.first[entry.row] | left)
        if outside.any():
            name = list(self.column)[int(outside.argmax())]
            raise AnswerError(
                f"{where}: {name!r} is not among its candidates {self._names(self.first[entry.row] | left)}. "
                "If none of them is right, answer 'none' first."
            )
        if entry.kind == "not" and not (left & ~self._mask(given)).any():
            raise AnswerError(
                f"{where}: {given[0]!r} is the last candidate, ruling it out leaves nothing. Use 'none' or 'bad'."
            )

    def _mask(self, labels: Sequence[str]) -> BoolArray:
        mask = np.zeros(self.first.shape[1], dtype=bool)
        mask[[self.column[label] for label in labels]] = True
        return mask

    def _names(self, mask: BoolArray) -> str:
        return ", ".join(repr(name) for name, number in self.column.items() if mask[number])
