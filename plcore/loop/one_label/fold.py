"""Log entries, and what they make of the candidates of a row.

The fold of a row is taken over its unwithdrawn entries in the order of `seq`:
`is` k and `among` S set the candidates, whatever came before (the latest wins); `not` k takes k out of what
is left; `none` says that no label is right of those that were left when it was asked, and sets all others;
`bad` makes the row a bad item, without any candidate, until a later answer sets some; `unsure` and `skip` leave
everything as it is. `withdraw` makes another entry as if it had never been. An answer that would leave nothing is
refused; an earlier `not` or `none` that would leave nothing now, as another entry was withdrawn, is passed over.
`verdict` settles the row whatever else is said of it: one of these labels, or without any a bad item.

Where several people are to answer a row, what each makes of it is folded like this from their own entries alone; a rule
makes one of these views (`.several`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from plcore.common.types import BoolArray
from plcore.loop.entries import PUT_ASIDE, AnswerError, Entry, EntryKind
from plcore.loop.entry_fold import EntryFold
from plcore.loop.moved_columns import class_names

ANSWERS: tuple[str, ...] = (
    EntryKind.IS,
    EntryKind.AMONG,
    EntryKind.NOT,
    EntryKind.NONE,
    EntryKind.BAD,
    EntryKind.VERDICT,
)
KINDS = (*ANSWERS, *PUT_ASIDE, EntryKind.WITHDRAW)


class FoldedCandidates(NamedTuple):
    """What the entries of one row make of it."""

    left: BoolArray  # (m,) what may be the label; never empty, not even of a bad item
    out: bool  # marked as a bad item
    answer: Entry | None  # the latest answer that counts

    @property
    def votes(self) -> BoolArray:
        """(m,) the candidates that models learn from: none of a bad item."""
        return np.zeros_like(self.left) if self.out else self.left


Chain = Callable[[Sequence[Entry]], FoldedCandidates]
"""Folds entries of one row, each after those before it."""


class CandidateFold(EntryFold[FoldedCandidates]):
    """The entries of all rows, and the candidates that follow from them.

    first : bool (n, m), the candidates before any answer
    """

    ANSWERS = ANSWERS

    def fold_with(self, entry: Entry) -> FoldedCandidates:
        """What the entries of its row would make of it with this one, which `check` lets pass; changes nothing."""
        kept = [one for one in self.entries(entry.row) if one.seq != entry.target]
        return self.fold_of(entry.row, kept if entry.kind == EntryKind.WITHDRAW else [*kept, entry])

    def changed_at(self, row: int) -> int:
        """Seq of the unwithdrawn entry since which the row is as it is; 0 where none has changed it. Where people
        answer for themselves, that of the latest answer that counts."""
        entries, before, seq = self.counted(row), self.fold_of(row, ()).votes, 0
        if self._merger is not None:
            return entries[-1].seq if entries else 0
        for count, entry in enumerate(entries, start=1):
            after = self.fold_of(row, entries[:count]).votes
            if not np.array_equal(before, after):
                before, seq = after, entry.seq
        return seq

    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedCandidates:
        """What these entries alone would make of a row, unchecked; changes nothing."""
        counted = self._counted(entries)
        verdicts = [one for one in counted if one.kind == EntryKind.VERDICT]
        if verdicts or self._merger is None:
            return self.chain(row, verdicts[-1:] or counted)
        return self._merger.merge(row, counted, lambda some: self.chain(row, some))

    def chain(self, row: int, entries: Sequence[Entry]) -> FoldedCandidates:
        """What these entries make of a row, each after those before it, whoever gave them."""
        left, out, answer = self.first[row], False, None
        for entry in entries:
            if entry.kind not in ANSWERS:
                continue
            answer = entry
            if entry.kind == EntryKind.BAD or (entry.kind == EntryKind.VERDICT and not entry.labels):
                out = True
            elif entry.kind == EntryKind.NOT:
                narrowed = left & ~self._mask(entry.labels)
                # After a withdrawal a later `not` may meet other candidates; it never takes the last one.
                left = narrowed if narrowed.any() else left
            elif entry.kind == EntryKind.NONE:
                # As above: with a withdrawal every class may be left again, and then there are no others.
                left, out = (left, out) if left.all() else (~left, False)
            else:
                left, out = self._mask(entry.labels), False
        return FoldedCandidates(left, out, answer)

    def _check_labels(self, entry: Entry) -> None:
        where = f"Entry {entry.seq} about row {entry.row}"
        given = entry.labels
        takes: dict[str, str] = {
            EntryKind.IS: "one label",
            EntryKind.NOT: "one label",
            EntryKind.AMONG: "one label or more",
            EntryKind.VERDICT: "labels",
        }
        wanted = takes.get(entry.kind, "no labels")
        fits = {
            "one label": len(given) == 1,
            "one label or more": len(given) >= 1,
            "labels": True,
            "no labels": not given,
        }[wanted]
        if not fits or len(set(given)) != len(given):
            raise AnswerError(f"{where}: {entry.kind!r} takes {wanted}, each once. Got {list(given)}.")
        unknown = [label for label in given if label not in self.column]
        if unknown:
            raise AnswerError(
                f"{where}: {unknown[0]!r} is not a class. The classes: {class_names(tuple(self.column))}."
            )
        if entry.kind == EntryKind.VERDICT:
            return  # it may name any class: it settles what people did not
        left = self.view(entry.row, self.entries(entry.row), entry.annotator, entry.seq).left
        if entry.kind == EntryKind.NONE and left.all():
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
        if entry.kind == EntryKind.NOT and not (left & ~self._mask(given)).any():
            raise AnswerError(
                f"{where}: {given[0]!r} is the last candidate, ruling it out leaves nothing. Use 'none' or 'bad'."
            )

    def _mask(self, labels: Sequence[str]) -> BoolArray:
        mask = np.zeros(self.first.shape[1], dtype=bool)
        mask[[self.column[label] for label in labels]] = True
        return mask

    def _names(self, mask: BoolArray) -> str:
        names = tuple(self.column)
        return class_names([repr(names[number]) for number in np.flatnonzero(mask)])
