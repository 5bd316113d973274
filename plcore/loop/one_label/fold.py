"""Log entries, and the candidates of a row that follow from them.

The fold of a row applies its unwithdrawn entries in the order of `seq`. `is` k and `among` S set the candidates,
whatever came before (the latest wins). `not` k removes k from the remaining candidates. `none` says that no candidate
left at that time is right, and sets all other classes. `bad` makes the row a bad item, without any candidate, until a
later answer sets some. `unsure` and `skip` change nothing. `withdraw` removes the effect of another entry. An answer
that would leave nothing is refused. An earlier `not` or `none` that leaves nothing after another entry was withdrawn is
skipped. `verdict` resolves the row, overriding all answers: it is one of these labels or, without labels, a bad item.

If several people answer a row, each person's view is folded like this from their own entries; a rule merges these views
(`.several`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import BoolArray, IntArray
from plcore.loop.changes import ClassError
from plcore.loop.classes import ClassMap, Era, class_names
from plcore.loop.entries import ONE_LABEL_ANSWERS, PUT_ASIDE, AnswerError, Entry, EntryKind
from plcore.loop.entry_fold import EntryFold, Merger

ANSWERS = ONE_LABEL_ANSWERS
KINDS = (*ANSWERS, *PUT_ASIDE, EntryKind.WITHDRAW)


class FoldedCandidates(NamedTuple):
    """Result of the entries of one row."""

    left: BoolArray  # (m,) the possible labels; never empty, not even for a bad item
    out: bool  # whether it is marked as a bad item
    answer: Entry | None  # the latest answer that counts

    @property
    def votes(self) -> BoolArray:
        """Return (m,) the candidates that models learn from; none for a bad item."""
        return np.zeros_like(self.left) if self.out else self.left


Chain = Callable[[Sequence[Entry]], FoldedCandidates]
"""Folds the entries of one row, each building on the previous ones."""


class CandidateFold(EntryFold[FoldedCandidates]):
    """The entries of all rows, and the candidates that follow from them.

    first : bool (n, m), the candidates before any answer
    """

    ANSWERS = ANSWERS

    def fold_with(self, entry: Entry) -> FoldedCandidates:
        """Return the fold of the entry's row including this entry, which must pass `check`; changes
        nothing."""
        kept = [one for one in self.entries(entry.row) if one.seq != entry.target]
        return self.fold_of(entry.row, kept if entry.kind == EntryKind.WITHDRAW else [*kept, entry])

    def changed_at(self, row: int) -> int:
        """Return the seq of the unwithdrawn entry that last changed the row; 0 if none did. If people answer
        independently, it is that of the latest answer that counts."""
        entries, before, seq = self.counted(row), self.fold_of(row, ()).votes, 0
        if self._merger is not None:
            return entries[-1].seq if entries else 0
        for count, entry in enumerate(entries, start=1):
            after = self.fold_of(row, entries[:count]).votes
            if not np.array_equal(before, after):
                before, seq = after, entry.seq
        return seq

    def fold_of(self, row: int, entries: Sequence[Entry]) -> FoldedCandidates:
        """Return the fold of these entries alone for a row, without checks; changes nothing."""
        counted = self._counted(entries)
        verdicts = [one for one in counted if one.kind == EntryKind.VERDICT]
        if verdicts or self._merger is None:
            return self.chain(row, verdicts[-1:] or counted)
        return self._merger.merge(row, counted, lambda some: self.chain(row, some))

    def chain(self, row: int, entries: Sequence[Entry]) -> FoldedCandidates:
        """Return the fold of these entries for a row, each building on the previous ones, from any annotator."""
        left, out, answer = self.first[row], False, None
        for entry in entries:
            if entry.kind not in ANSWERS:
                continue
            answer = entry
            if entry.kind == EntryKind.BAD or (entry.kind == EntryKind.VERDICT and not entry.labels):
                out = True
            elif entry.kind == EntryKind.NOT:
                narrowed = left & ~self._mask(entry.labels)
                # After a withdrawal, the candidates at a later `not` may differ; it never removes the last one.
                left = narrowed if narrowed.any() else left
            elif entry.kind == EntryKind.NONE:
                # As above: after a withdrawal every class may be a candidate again, and then there are no other
                # classes.
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
            return  # it may name any class, to resolve what annotators could not
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


# Answers under changing classes: every entry counts under the classes of its time.
#
# The fold of a row runs over roots (see `plcore.loop.classes`), and only its result is mapped to the effective classes.
# So a merge maps a row's candidates, whatever was answered: a class ruled out before it was merged into a possible
# class removes nothing. `none` also makes the classes that were added after it candidates.


def fold_under(
    class_map: ClassMap,
    roots: BoolArray,
    first: BoolArray,
    closed: dict[int, str],
    merger: Merger[FoldedCandidates] | None = None,
) -> CandidateFold:
    """Return the fold of the rows of `with_classes(table, class_map)`, before any entry.

    roots : bool (n, n_roots), the candidates of the table, by root
    first, closed, merger : as for `CandidateFold`
    The fold takes entries with their original labels. Do not map them to later classes.
    """
    if not class_map.changes:
        return CandidateFold(first, class_map.classes, closed, merger)
    return ClassFold(first, class_map.classes, closed, merger, class_map.aside, class_map, roots)


class ClassFold(CandidateFold):
    """A CandidateFold that runs over roots. `first`, `classes` and all results are in terms of the effective
    classes.

    Entries up to the latest change are not checked again, since they were checked under the classes of their
    time; later ones are checked as usual.
    """

    def __init__(
        self,
        first: BoolArray,
        classes: Sequence[str],
        closed: dict[int, str],
        merger: Merger[FoldedCandidates] | None,
        aside: Collection[str],
        class_map: ClassMap,
        roots: BoolArray,
    ) -> None:
        super().__init__(first, classes, closed, merger, aside)
        self._map = class_map
        self._roots = roots

    def chain(self, row: int, entries: Sequence[Entry]) -> FoldedCandidates:
        if row in self._closed or not entries:
            return super().chain(row, ())
        left = self._roots[row] & self._map.alive
        out, answer = False, None
        for entry in entries:
            if entry.kind not in ANSWERS:
                continue
            answer = entry
            era = self._map.era(entry.seq)
            known = self._map.alive & (np.arange(len(left)) < era.n_known)
            if entry.kind == EntryKind.BAD or (entry.kind == EntryKind.VERDICT and not entry.labels):
                out = True
            elif entry.kind == EntryKind.NOT:
                narrowed = left & ~self._map.roots(entry.labels, era)
                # As in CandidateFold, but judged by the classes of its time: never remove the last one, never leave an
                # empty set.
                left = narrowed if (narrowed & known).any() else left
            elif entry.kind == EntryKind.NONE:
                others = self._map.alive & ~self._shown(left, era)
                left, out = (others, False) if (others & known).any() else (left, out)
            else:
                left, out = self._map.roots(entry.labels, era), False
        return FoldedCandidates(self._map.onto(left), out, answer)

    def _shown(self, left: BoolArray, era: Era) -> BoolArray:
        """Return the roots of all classes that an annotator saw when these roots were left."""
        shown = np.zeros_like(left)
        for roots in era.roots:
            within = list(roots)
            shown[within] = left[within].any()
        return shown

    def _check_labels(self, entry: Entry) -> None:
        if entry.seq > self._map.seq:
            super()._check_labels(entry)
            return
        try:
            roots = self._map.roots(entry.labels, self._map.era(entry.seq))
        except ClassError as error:
            raise AnswerError(f"Entry {entry.seq} about row {entry.row}: {error}") from error
        if entry.labels and not roots.any():
            raise AnswerError(
                f"Entry {entry.seq} about row {entry.row}: the class it names, {entry.labels[0]!r}, was withdrawn."
            )


# How far the candidates of the training rows are narrowed; updated incrementally, as it is needed after every answer.


class Narrowing:
    """Counts over the training rows.

    sizes : (n,) number of candidates at first      held : bool (n,) held-out rows
    now : (n,) current number of candidates; None: as at first
    left : number of candidates beyond one per row      decided : number of rows ambiguous at first but not now
    """

    def __init__(self, sizes: IntArray, held: BoolArray, now: IntArray | None = None) -> None:
        now = sizes if now is None else now
        self._trains = ~held
        self._ambiguous = (sizes >= 2) & self._trains
        self._n_ambiguous = int(self._ambiguous.sum())
        self.left = int(np.maximum(now[self._trains] - 1, 0).sum())
        self.decided = int(np.count_nonzero(self._ambiguous & (now < 2)))

    def note(self, row: int, before: int, after: int) -> None:
        """Record that the number of candidates of a row changed from `before` to `after`."""
        if self._trains[row]:
            self.left += max(after - 1, 0) - max(before - 1, 0)
        if self._ambiguous[row]:
            self.decided += int(after < 2) - int(before < 2)

    @property
    def settled(self) -> float:
        """Return the share of initially ambiguous rows that now have one candidate or are bad items; 1 if there were
        none."""
        return self.decided / self._n_ambiguous if self._n_ambiguous else 1.0
