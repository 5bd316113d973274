"""Answers under classes that change: every entry counts under the classes of its time.

The fold of a row runs over roots (see `plcore.loop.classes`), and only its result is mapped to the effective classes.
So a merge turns a row's candidates into their image, whatever was answered: a class ruled out before it was merged into
one that is still possible takes nothing away. `none` makes the classes that were added after it candidates too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from plcore.common.types import BoolArray
from plcore.loop.changes import ClassError
from plcore.loop.classes import ClassMap, Era
from plcore.loop.entries import AnswerError, Entry, EntryKind
from plcore.loop.entry_fold import Merger
from plcore.loop.one_label.fold import ANSWERS, CandidateFold, FoldedCandidates


def fold_under(
    class_map: ClassMap,
    roots: BoolArray,
    first: BoolArray,
    closed: dict[int, str],
    merger: Merger[FoldedCandidates] | None = None,
) -> CandidateFold:
    """The fold of the rows of `with_classes(table, class_map)`, before any entry.

    roots : bool (n, n_roots), the candidates of the table at the roots of its classes
    first, closed, merger : as for `CandidateFold`
    The fold takes entries with the labels they were written with; these are not to be mapped to later classes.
    """
    if not class_map.changes:
        return CandidateFold(first, class_map.classes, closed, merger)
    return ClassFold(first, class_map.classes, closed, merger, class_map.aside, class_map, roots)


class ClassFold(CandidateFold):
    """A CandidateFold that runs over roots. What it is given as first and classes, and all that it returns, is in terms
    of the effective classes.

    Entries up to the latest change are taken as the log has them, for they were checked under their own classes;
    later ones are checked as ever.
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
                # As in CandidateFold, judged by the classes there were: never the last one, never an empty set.
                left = narrowed if (narrowed & known).any() else left
            elif entry.kind == EntryKind.NONE:
                others = self._map.alive & ~self._shown(left, era)
                left, out = (others, False) if (others & known).any() else (left, out)
            else:
                left, out = self._map.roots(entry.labels, era), False
        return FoldedCandidates(self._map.onto(left), out, answer)

    def _shown(self, left: BoolArray, era: Era) -> BoolArray:
        """The roots of all classes that a person was shown when these roots were left."""
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
                f"Entry {entry.seq} about row {entry.row}: the class it names, {entry.labels[0]!r}, was taken back."
            )
