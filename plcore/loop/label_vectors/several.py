"""Several people's answers to the labels of a row: how many are asked, and what rule makes one of what they say.

Each person answers for themselves: what they have before them is what their own answers left (`LabelVectorFold.view`).
All here follows from the entries that count, by `seq`, and from the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plcore.common.types import AnyArray, BoolArray, IntArray
from plcore.loop.entries import VERDICTS, Entry
from plcore.loop.label_vectors.fold import UNKNOWN, FoldedVector, LabelVectorFold
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.overlap import EVERYBODY, by_person
from plcore.loop.packed import packed, unpacked

Chain = Callable[[Sequence[Entry]], FoldedVector]


class VectorView(NamedTuple):
    """What one person makes of a row.

    seq : of their latest answer      said : int8 (L,) 1 yes, 0 no, -1 for labels they have said nothing of
    seqs : (L,) of the entry that said so, 0 for none      out : they say that it is a bad item
    """

    annotator: str
    seq: int
    said: AnyArray
    seqs: IntArray
    out: bool


class VectorRule:
    """The rule of a project.

    wanted, at_first : (n,) how many people the labels of each row are to be answered by; how many before any answer,
        for where enough of them agree nobody else is asked      enough : from how many on a label for all is not open
    for_all : bool (n, L), blind checks that are for everybody
    first : int8 (n, L), the cells before any answer
    """

    def __init__(
        self, settings: LabelVectorSettings, drawn: BoolArray, for_all: BoolArray, first: AnyArray
    ) -> None:
        self.since = settings.own_since or 0
        self.wanted: IntArray = np.where(drawn, settings.overlap, 1)
        self.at_first: IntArray = np.minimum(self.wanted, settings.agree or EVERYBODY)
        self.for_all, self._first = for_all, first
        self.enough, self._agree, self._rule = settings.overlap, settings.agree, settings.fold

    def views(self, entries: Sequence[Entry], chain: Chain) -> list[VectorView]:
        """What each person makes of a row, by the seq of their latest answer. entries : answers, in order, that are no
        verdicts"""
        found = []
        for annotator, own in by_person(entries, self.since).items():
            folded = chain(own)
            said = np.where(folded.seqs > 0, folded.cells, UNKNOWN).astype(np.int8)
            found.append(VectorView(annotator, own[-1].seq, said, folded.seqs, folded.out))
        return sorted(found, key=lambda view: view.seq)

    def merge(self, row: int, entries: Sequence[Entry], chain: Chain) -> FoldedVector:
        """What these answers, which count and are no verdicts, make of a row by the rule.

        A row is out where more than half say so of those who answered one of its labels, the one that fewest did, or
        are to answer it. Until then it is what the others say; where nobody else has, or as many say yes as no, as
        imported.
        """
        views = self.views(entries, chain)
        if not views:
            return chain(())
        heard = [view for view in views if not view.out]
        yes, no = votes(heard, self._first.shape[1])
        open_ = self._first[row] == UNKNOWN
        fewest = int((yes + no)[open_].min()) if open_.any() else 0
        n_out = len(views) - len(heard)
        out = 2 * n_out > max(int(self.wanted[row]), n_out + fewest)
        cells, seqs = self._first[row].copy(), np.zeros(len(yes), dtype=np.int64)
        for view in sorted(heard, key=lambda one: one.seq):
            most = np.where(view.said == 1, yes > no, no > yes)
            takes = most if self._rule == "majority" else view.seqs > seqs
            named = view.said != UNKNOWN
            cells = np.where(named & takes, view.said, cells).astype(np.int8)
            seqs = np.where(named & (takes | (yes == no)), np.maximum(seqs, view.seqs), seqs)
        return FoldedVector(cells, seqs, out, entries[-1])

    def places_left(self, row: int, views: Sequence[VectorView], settled: BoolArray) -> IntArray:
        """(L,) how many more people may be asked about each label of a row now that was not known at first.

        settled (L,) : labels that a verdict has settled, all of a bad item
        """
        yes, no = votes([view for view in views if not view.out], len(settled))
        n_out = sum(view.out for view in views)
        left: IntArray = self.wanted[row] - (yes + no + n_out)
        if self._agree is not None:
            left = np.minimum(left, self._agree - np.maximum(yes, no))
        left = np.where(self.for_all[row], EVERYBODY, left)
        return np.where((self._first[row] != UNKNOWN) | settled, 0, np.maximum(left, 0))

    def answered(self, views: Sequence[VectorView]) -> IntArray:
        """(L,) how many people have answered each label, or put the row out."""
        yes, no = votes([view for view in views if not view.out], self._first.shape[1])
        return yes + no + sum(view.out for view in views)

    def counts_as_open(self, views: Sequence[VectorView], left: IntArray) -> BoolArray:
        """(L,) the labels that wait for somebody, but for those for everybody that enough have answered."""
        return np.asarray((left > 0) & (self.answered(views) < self.enough))


def votes(views: Iterable[VectorView], n_labels: int) -> tuple[IntArray, IntArray]:
    """(L,), (L,) how many say yes and how many no of each label."""
    said = np.array([view.said for view in views], dtype=np.int8).reshape(-1, n_labels)
    return (said == 1).sum(axis=0), (said == 0).sum(axis=0)


class CellsForSeveral:
    """Whom each label of a row is still to be put before, where people answer for themselves.

    waiting : bool (n, L), somebody can be asked about      open : bool (n, L), those of them that count as open
    """

    def __init__(self, rule: VectorRule, waiting: BoolArray) -> None:
        self.rule = rule
        self.waiting, self.open = waiting, waiting.copy()
        self._past: LabelVectorFold | None = None  # has entries of rows that nobody has looked at yet
        self._views: dict[int, list[VectorView]] = {}
        self._finished: dict[
            str, dict[int, BoolArray]
        ] = {}  # of rows that wait for others: what each has answered
        self._begun: dict[int, BoolArray] = {}

    def take(self, row: int, fold: LabelVectorFold, *, out: bool) -> None:
        """Take note of a row whose entries have changed. out : it is a bad item now"""
        views = self._views[row] = self._read(row, fold, aside=False)
        settled = np.ones(len(fold.column), dtype=bool) if out else fold.settled(row)
        left = self.rule.places_left(row, views, settled)
        self.waiting[row], self.open[row] = left > 0, self.rule.counts_as_open(views, left)
        begun = self.waiting[row] & (self.rule.answered(views) > 0)
        if begun.any():
            self._begun[row] = begun
        else:
            self._begun.pop(row, None)
        for rows in self._finished.values():
            rows.pop(row, None)
        if self.waiting[row].any():
            for annotator, labels in self._said(row, fold).items():
                self._finished.setdefault(annotator, {})[row] = labels

    def to_arrays(self, rows: IntArray) -> dict[str, AnyArray]:
        """How all stands, for a checkpoint. rows : those that entries are about"""
        n_labels = self.waiting.shape[1]
        finished = [labels for of_person in self._finished.values() for labels in of_person.values()]
        return {
            "waiting": self.waiting[rows],
            "open": self.open[rows],
            "finished_rows": packed({who: list(of_person) for who, of_person in self._finished.items()}),
            "finished": np.array(finished, dtype=bool).reshape(-1, n_labels),
            "begun_rows": np.array(list(self._begun), dtype=np.int64),
            "begun": np.array(list(self._begun.values()), dtype=bool).reshape(-1, n_labels),
        }

    def put_back(self, rows: IntArray, arrays: Mapping[str, AnyArray], fold: LabelVectorFold) -> None:
        """Take in what `to_arrays` gave for these rows, in place of every entry so far. fold : has these entries"""
        self._past, self._views = fold, {}
        self.waiting[rows], self.open[rows] = arrays["waiting"], arrays["open"]
        labels = iter(arrays["finished"])
        self._finished = {
            who: {row: next(labels) for row in of_person}
            for who, of_person in unpacked(arrays["finished_rows"]).items()
        }
        self._begun = dict(zip(arrays["begun_rows"].tolist(), arrays["begun"], strict=True))

    def _views_of(self, row: int) -> list[VectorView]:
        if row not in self._views and self._past is not None:
            self._views[row] = self._read(row, self._past, aside=False)
        return self._views.get(row, [])

    def _read(self, row: int, fold: LabelVectorFold, *, aside: bool) -> list[VectorView]:
        entries = [one for one in fold.counted(row, aside=aside) if one.kind not in VERDICTS]
        return self.rule.views(entries, lambda some: fold.chain(row, some))

    def _said(self, row: int, fold: LabelVectorFold) -> dict[str, BoolArray]:
        """{annotator: (L,) labels of the row that they have answered}, also what was set aside."""
        found = {
            view.annotator: (view.said != UNKNOWN) | view.out for view in self._read(row, fold, aside=True)
        }
        for one in fold.counted(row, aside=True):
            if one.seq <= self.rule.since and one.labels and one.kind not in VERDICTS:
                early = found.setdefault(one.annotator, np.zeros(len(fold.column), dtype=bool))
                early[fold.columns(one.labels)] = True
        return found

    def views(self, row: int) -> Sequence[VectorView]:
        """What each person who answers for themselves makes of a row, by their latest answers that count."""
        return tuple(self._views_of(row))

    def places_left(self, row: int, column: int | None) -> int:
        """How many people may have this label of a row, or the row, before them now."""
        left = self.rule.places_left(row, self._views_of(row), ~self.waiting[row])
        return int(left.max() if column is None else left[column])

    def answers_left(self, *, by_row: bool) -> int:
        """How many answers everything that counts as open still waits for, as it stands now: to labels, or to rows."""
        rule = self.rule
        of_label = np.where(rule.for_all, rule.enough, rule.at_first[:, None]) * self.open
        for row in self._begun:
            views = self._views_of(row)
            left = np.minimum(
                rule.places_left(row, views, ~self.waiting[row]), rule.enough - rule.answered(views)
            )
            of_label[row] = np.where(self.open[row], left, 0)
        return int((of_label.max(axis=1) if by_row else of_label).sum())

    def unsaid(self, annotator: str) -> BoolArray:
        """(n, L) the labels that wait and that this annotator has not answered; a new array."""
        left = self.waiting.copy()
        for row, labels in self._finished.get(annotator, {}).items():
            left[row] &= ~labels
        return left

    def is_left(self, row: int, column: int | None, annotator: str) -> bool:
        """Whether this annotator can be asked about this label of the row, or any of it."""
        left = self.waiting[row] & ~self._finished.get(annotator, {}).get(row, np.False_)
        return bool(left.any() if column is None else left[column])

    def has_begun(self, row: int, annotator: str | None) -> bool:
        """Whether somebody else has answered something of the row, and this annotator is not to know how."""
        return any(view.annotator != annotator for view in self._views_of(row))

    def begun(self) -> Iterable[tuple[int, BoolArray]]:
        """(row, labels (L,)) that have an answer and wait for another, in the order in which the rows were begun."""
        return tuple(self._begun.items())
