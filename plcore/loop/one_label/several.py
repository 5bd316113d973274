"""Several people's answers to one row: how many are asked, and what rule makes one of what they say.

Each person answers for themselves: what they have before them is what their own answers left (`CandidateFold.view`).
All here follows from the entries that count, by `seq`, and from the settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plcore.common.types import BoolArray, IntArray
from plcore.crowd import set_distances
from plcore.loop.entries import Entry, EntryKind
from plcore.loop.one_label.annotators import AnnotatorModel
from plcore.loop.one_label.fold import Chain, FoldedCandidates
from plcore.loop.one_label.settings import LearnerSettings
from plcore.loop.overlap import EVERYBODY, by_person


class View(NamedTuple):
    """What one person makes of a row. seq : of their latest answer      over : they have said all they can of it"""

    annotator: str
    seq: int
    folded: FoldedCandidates
    over: bool

    @property
    def label(self) -> int | None:
        """The one class that they say it is; None where they left several, or say that the item is bad."""
        left = np.flatnonzero(self.folded.votes)
        return int(left[0]) if len(left) == 1 else None


def disagreement(views: Sequence[View]) -> float:
    """How far the people who have said all they can are apart, 0 to 1: the mean distance of two of them, by
    `plcore.crowd.set_distances` of what they leave; a bad item is a set of its own. 0 where fewer than two have.
    """
    said = [(*view.folded.votes.tolist(), view.folded.out) for view in views if view.over]
    if len(set(said)) < 2:
        return 0.0
    return float(set_distances(np.array(said)).sum() / (len(said) * (len(said) - 1)))


class Several:
    """The rule of a project.

    wanted : (n,) how many people each row is to be answered by; EVERYBODY for rows that are for all
    first : bool (n, m), the candidates before any answer
    model : of the annotators, where the rule goes by one
    """

    def __init__(self, settings: LearnerSettings, wanted: IntArray, first: BoolArray) -> None:
        self.since = settings.own_since or 0
        self.wanted = wanted
        self._rule, self._agree, self._overlap = settings.fold, settings.agree, settings.overlap
        self.model = AnnotatorModel(first) if settings.fold == "dawid-skene" else None

    def views(self, entries: Sequence[Entry], chain: Chain) -> list[View]:
        """What each person makes of a row, by the seq of their latest answer.

        entries : answers that count, in order
        """
        found = []
        for annotator, own in by_person(entries, self.since).items():
            folded = chain(own)
            over = own[-1].kind != EntryKind.NOT or folded.votes.sum() < 2
            found.append(View(annotator, own[-1].seq, folded, over))
        return sorted(found, key=lambda view: view.seq)

    def merge(self, row: int, entries: Sequence[Entry], chain: Chain) -> FoldedCandidates:
        """What these answers, which count, make of a row by the rule.

        A row is out where more than half say so of those who answered, or are to answer. Until then it is what the
        others say; where nobody else has, as imported.
        """
        views = self.views(entries, chain)
        if not views:
            return chain(())
        first = chain(()).left
        heard = [view for view in views if not view.folded.out]
        asked = max(len(views), self._overlap if self.wanted[row] == EVERYBODY else int(self.wanted[row]))
        out = 2 * (len(views) - len(heard)) > asked
        left = self._left(row, heard) if heard else first
        return FoldedCandidates(left, out, entries[-1])

    def _left(self, row: int, heard: list[View]) -> BoolArray:
        sets = np.array([view.folded.left for view in heard])
        if self._rule == "majority":
            votes = sets.sum(axis=0)
            return np.asarray(votes == votes.max())
        if self._rule == "intersection":
            common = sets.all(axis=0)
            return np.asarray(common if common.any() else sets.any(axis=0))
        if self.model is not None:
            return self.model.left(row, [view.annotator for view in heard], sets)
        return np.asarray(sets[-1])

    def places_left(self, row: int, views: Sequence[View], folded: FoldedCandidates) -> int:
        """How many more people may be asked about a row now that had two candidates or more at first; none where a
        verdict or enough answers settle it, nor where those who are asked could not make more agree than is asked for.
        """
        if folded.out or (folded.answer is not None and folded.answer.kind == EntryKind.VERDICT):
            return 0
        left = int(self.wanted[row]) - sum(view.over for view in views)
        if self._agree is not None and self.wanted[row] != EVERYBODY:
            said = Counter(view.label for view in views if view.over and view.label is not None)
            left = min(left, self._agree - max(said.values(), default=0))
        return max(0, left)
