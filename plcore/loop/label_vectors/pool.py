"""The cells of a project of label vectors: held-out cells, values after all answers, and the questions each annotator
can get.

Everything here is determined by table, settings and log, independent of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from plcore.arrays.types import AnyArray, BoolArray, IntArray
from plcore.loop.base import Pool, row_batches
from plcore.loop.changes import ClassChange, aside_after, batches_of
from plcore.loop.entries import PUT_ASIDE, VERDICTS, AnswerError, Entry, Place
from plcore.loop.label_vectors.controls import CellCounts, Controls, ControlSample, count_row
from plcore.loop.label_vectors.fold import (
    ANSWERS,
    KINDS,
    UNKNOWN,
    VALUES,
    FoldedVector,
    LabelVectorFold,
    TableT_co,
    labels_of,
)
from plcore.loop.label_vectors.reports import LabelVectorState
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.packed import packed, unpacked
from plcore.loop.standings import EVERYBODY, Standings, by_person

# Several people's answers to the labels of a row: how many people are asked, and the rule that merges their answers.
#
# Each person sees only the result of their own answers (`LabelVectorFold.view`). Everything here follows from the
# entries that count, by `seq`, and from the settings.

Chain = Callable[[Sequence[Entry]], FoldedVector]


class VectorView(NamedTuple):
    """One person's view of a row.

    seq : seq of their latest answer      said : int8 (L,) 1 yes, 0 no, -1 for labels they have not answered
    seqs : (L,) seq of the entry that answered the label, 0 for none      out : they marked it as a bad item
    """

    annotator: str
    seq: int
    said: AnyArray
    seqs: IntArray
    out: bool


class VectorRule:
    """The rule of a project.

    wanted, at_first : (n,) number of people who answer the labels of each row; the number before any answer, which is
        lower if a question stops once enough people agree
    enough : number of answers from which a label for everyone no longer counts as open
    for_all : bool (n, L), blind checks for everyone
    first : int8 (n, L), the cells before any answer
    """

    def __init__(self, settings: LabelVectorSettings, drawn: BoolArray, for_all: BoolArray, first: AnyArray) -> None:
        self.since = settings.own_since or 0
        self.wanted: IntArray = np.where(drawn, settings.overlap, 1)
        self.at_first: IntArray = np.minimum(self.wanted, settings.agree or EVERYBODY)
        self.for_all, self._first = for_all, first
        self.enough, self._agree, self._rule = settings.overlap, settings.agree, settings.fold

    def views(self, entries: Sequence[Entry], chain: Chain) -> list[VectorView]:
        """Return each person's view of a row, by the seq of their latest answer. entries : answers without verdicts, in
        order"""
        found = []
        for annotator, own in by_person(entries, self.since).items():
            folded = chain(own)
            said = np.where(folded.seqs > 0, folded.cells, UNKNOWN).astype(np.int8)
            found.append(VectorView(annotator, own[-1].seq, said, folded.seqs, folded.out))
        return sorted(found, key=lambda view: view.seq)

    def merge(self, row: int, entries: Sequence[Entry], chain: Chain) -> FoldedVector:
        """Return the merged fold of a row by the rule, from answers that count, without verdicts.

        A row is a bad item if more than half of its annotators say so: of those who answered its label with the fewest
        answers, or are still to answer it. Otherwise the other people's answers decide. A cell without answers stays as
        imported, as does a tie under "majority".
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
        """Return (L,) the number of further people to ask now about each label of a row that was unknown at import.

        settled (L,) : labels resolved by a verdict; all labels of a bad item
        """
        yes, no = votes([view for view in views if not view.out], len(settled))
        n_out = sum(view.out for view in views)
        left: IntArray = self.wanted[row] - (yes + no + n_out)
        if self._agree is not None:
            left = np.minimum(left, self._agree - np.maximum(yes, no))
        left = np.where(self.for_all[row], EVERYBODY, left)
        return np.where((self._first[row] != UNKNOWN) | settled, 0, np.maximum(left, 0))

    def tied(self, row: int, views: Sequence[VectorView], settled: BoolArray) -> BoolArray:
        """Return (L,) whether as many say yes as no about a label, or as many that the row is a bad item. The arguments
        are those of `places_left`."""
        yes, no = votes([view for view in views if not view.out], len(settled))
        found = np.stack([yes, no, np.full(len(settled), sum(view.out for view in views))])
        most = (found == found.max(axis=0)).sum(axis=0) > 1
        return np.asarray(most & (yes + no > 0) & (self._first[row] == UNKNOWN) & ~settled)

    def answered(self, views: Sequence[VectorView]) -> IntArray:
        """Return (L,) the number of people who answered each label or marked the row as a bad item."""
        yes, no = votes([view for view in views if not view.out], self._first.shape[1])
        return yes + no + sum(view.out for view in views)


def votes(views: Iterable[VectorView], n_labels: int) -> tuple[IntArray, IntArray]:
    """Return (L,) and (L,): the number of yes and of no votes for each label."""
    said = np.array([view.said for view in views], dtype=np.int8).reshape(-1, n_labels)
    return (said == 1).sum(axis=0), (said == 0).sum(axis=0)


class CellsForSeveral:
    """The labels of each row that still wait for annotators who answer independently.

    waiting : bool (n, L), someone can be asked about      open : bool (n, L), those of them that count as open
    disputed : {row: number of its labels that are not open and that people differ on, with no majority}
    """

    def __init__(self, rule: VectorRule, waiting: BoolArray) -> None:
        self.rule = rule
        self.waiting, self.open = waiting, waiting.copy()
        self._past: LabelVectorFold | None = None  # entries of a checkpoint, whose rows are not yet loaded
        self._views: dict[int, list[VectorView]] = {}
        self._finished: dict[
            str, dict[int, BoolArray]
        ] = {}  # labels each annotator has answered, in rows that wait for others
        self._begun: dict[int, BoolArray] = {}
        self.disputed: dict[int, int] = {}

    def take(self, row: int, fold: LabelVectorFold, *, out: bool) -> None:
        """Record a row whose entries have changed. out : it is a bad item now"""
        views = self._views[row] = self._read(row, fold, aside=False)
        settled = np.ones(len(fold.column), dtype=bool) if out else fold.settled(row)
        left = self.rule.places_left(row, views, settled)
        answered = self.rule.answered(views)
        self.waiting[row] = left > 0
        self.open[row] = self.waiting[row] & (answered < self.rule.enough)
        begun = self.waiting[row] & (answered > 0)
        if begun.any():
            self._begun[row] = begun
        else:
            self._begun.pop(row, None)
        if disputed := int(np.count_nonzero(self.rule.tied(row, views, settled) & ~self.open[row])):
            self.disputed[row] = disputed
        else:
            self.disputed.pop(row, None)
        for rows in self._finished.values():
            rows.pop(row, None)
        if self.waiting[row].any():
            for annotator, labels in self._said(row, fold).items():
                self._finished.setdefault(annotator, {})[row] = labels

    def to_arrays(self, rows: IntArray) -> dict[str, AnyArray]:
        """Return the state as arrays, for a checkpoint. rows : rows with entries"""
        n_labels = self.waiting.shape[1]
        finished = [labels for of_person in self._finished.values() for labels in of_person.values()]
        return {
            "waiting": self.waiting[rows],
            "open": self.open[rows],
            "finished_rows": packed({who: list(of_person) for who, of_person in self._finished.items()}),
            "finished": np.array(finished, dtype=bool).reshape(-1, n_labels),
            "begun_rows": np.array(list(self._begun), dtype=np.int64),
            "begun": np.array(list(self._begun.values()), dtype=bool).reshape(-1, n_labels),
            "disputed": np.array(list(self.disputed.items()), dtype=np.int64).reshape(-1, 2),
        }

    def put_back(self, rows: IntArray, arrays: Mapping[str, AnyArray], fold: LabelVectorFold) -> None:
        """Restore the output of `to_arrays` for these rows. fold : has the entries already"""
        self._past, self._views = fold, {}
        self.waiting[rows], self.open[rows] = arrays["waiting"], arrays["open"]
        labels = iter(arrays["finished"])
        self._finished = {
            who: {row: next(labels) for row in of_person}
            for who, of_person in unpacked(arrays["finished_rows"]).items()
        }
        self._begun = dict(zip(arrays["begun_rows"].tolist(), arrays["begun"], strict=True))
        self.disputed = dict(arrays["disputed"].tolist())

    def _views_of(self, row: int) -> list[VectorView]:
        if row not in self._views and self._past is not None:
            self._views[row] = self._read(row, self._past, aside=False)
        return self._views.get(row, [])

    def _read(self, row: int, fold: LabelVectorFold, *, aside: bool) -> list[VectorView]:
        entries = [one for one in fold.counted(row, aside=aside) if one.kind not in VERDICTS]
        return self.rule.views(entries, lambda some: fold.chain(row, some))

    def _said(self, row: int, fold: LabelVectorFold) -> dict[str, BoolArray]:
        """Return {annotator: (L,) labels of the row that they have answered}, including excluded answers."""
        found = {view.annotator: (view.said != UNKNOWN) | view.out for view in self._read(row, fold, aside=True)}
        for one in fold.counted(row, aside=True):
            if one.seq <= self.rule.since and one.labels and one.kind not in VERDICTS:
                early = found.setdefault(one.annotator, np.zeros(len(fold.column), dtype=bool))
                early[fold.columns(one.labels)] = True
        return found

    def views(self, row: int) -> Sequence[VectorView]:
        """Return each person's view of a row, by their latest answers that count."""
        return tuple(self._views_of(row))

    def places_left(self, row: int, column: int | None) -> int:
        """Return how many people may be asked about this label of a row, or about the row, at the same time."""
        left = self.rule.places_left(row, self._views_of(row), ~self.waiting[row])
        return int(left.max() if column is None else left[column])

    def answers_left(self, *, by_row: bool) -> int:
        """Return the number of answers, to labels or to rows, that all open places still need."""
        rule = self.rule
        of_label = np.where(rule.for_all, rule.enough, rule.at_first[:, None]) * self.open
        for row in self._begun:
            views = self._views_of(row)
            left = np.minimum(rule.places_left(row, views, ~self.waiting[row]), rule.enough - rule.answered(views))
            of_label[row] = np.where(self.open[row], left, 0)
        return int((of_label.max(axis=1) if by_row else of_label).sum())

    def unsaid(self, annotator: str) -> BoolArray:
        """Return (n, L) the waiting labels that this annotator has not answered, as a new array."""
        left = self.waiting.copy()
        for row, labels in self._finished.get(annotator, {}).items():
            left[row] &= ~labels
        return left

    def is_left(self, row: int, column: int | None, annotator: str) -> bool:
        """Return whether this annotator can be asked about this label of the row, or any label of it."""
        left = self.waiting[row] & ~self._finished.get(annotator, {}).get(row, np.False_)
        return bool(left.any() if column is None else left[column])

    def has_begun(self, row: int, annotator: str | None) -> bool:
        """Return whether someone else has answered something of the row and this annotator must not see the answer."""
        return any(view.annotator != annotator for view in self._views_of(row))

    def begun(self) -> Iterable[tuple[int, BoolArray]]:
        """Return (row, labels (L,)) that have an answer and wait for another, ordered by the first answer of the
        row."""
        return tuple(self._begun.items())


class VectorChange(NamedTuple):
    """Change of a row's training cells by an entry."""

    seq: int
    row: int
    values: AnyArray  # (L,) int8, the current values


class LabelVectorPool(Pool[TableT_co, LabelVectorSettings, LabelVectorFold]):
    """The cells of every row after the entries so far. Models never learn from test rows and control cells, which are
    held out.

    test_rows : bool (n,), a seeded share of the rows whose vector is fully known at import; never asked about
    changes : all changes of rows and of excluded annotators in the log; the labels never change
    control_cells : bool (n, L), a seeded uniform share of the cells of other rows that are not known at import or, if
        questions are about whole rows, all such cells of a uniform share of these rows. They are sometimes asked as
        blind checks, in drawn order, so that their answers measure the model.
    cells : int8 (n, L) current values      answered : bool (n, L), set by people      bad : bool (n,), bad items
    open : bool (n, L), can be asked about. Do not write to any of these.
    several : the labels that wait for each annotator if people answer independently, else None. `open` are then the
        labels that wait for more people, even if known already; labels for everyone only until enough people have
        answered
    counted : numbers of answered, open, unknown and begun labels or rows
    n_holes : number of cells not known at import, without test rows
    learnt_yes, learnt_known : (L,) number of yes cells, and of known cells, that models learn from
    """

    KINDS = KINDS

    def __init__(self, table: TableT_co, settings: LabelVectorSettings, changes: Iterable[ClassChange] = ()) -> None:
        self.table, self.settings = table, settings
        self.classes = tuple(table.classes)
        vectors = table.label_vectors
        if vectors is None:
            raise ValueError("The table holds candidate labels, not label vectors. Fix: choose other roles.")
        self.original: AnyArray = np.asarray(vectors, dtype=np.int8)
        n, L = self.original.shape
        if L < 2:
            raise ValueError(f"Label vectors need two labels or more. Got {L}. Fix: use candidate labels.")
        known = self.original != UNKNOWN
        changes = tuple(changes)
        self.batches = row_batches(n, batches_of(changes))
        self.changed_until = changes[-1].seq if changes else 0
        self.test_rows = self._draw_test_rows(known.all(axis=1))
        eligible = ~known & ~self.test_rows[:, None]
        places: BoolArray = np.asarray(eligible.any(axis=1)) if settings.by_row else eligible
        drawn = [self._drawn(places, batch, settings.control_share, 2) for batch in self.batches]
        self._controls = Controls(eligible, np.concatenate(drawn), by_row=settings.by_row)
        self.control_cells = self._controls.cells
        for shared in (self.original, self.test_rows, self.control_cells):
            shared.flags.writeable = False  # callers get these arrays themselves
        closed = dict.fromkeys(np.flatnonzero(self.test_rows).tolist(), "it is held out to measure the model")
        self.open: BoolArray = ~known & ~self.test_rows[:, None]
        self.several: CellsForSeveral | None = None
        if settings.several:
            for_all = self.control_cells & settings.checks_by_all
            rule = VectorRule(settings, self._drawn_for_several(), for_all, self.original)
            self.several = CellsForSeveral(rule, self.open)
            self.open = self.several.open
        merger = None if self.several is None else self.several.rule
        self.fold = LabelVectorFold(self.original, self.classes, closed, merger, aside_after(changes))
        self.standings = Standings(self.fold, labels_of, aside=aside_after(changes))
        self.cells = self.original.copy()
        self.answered = np.zeros((n, L), dtype=bool)
        self.bad = np.zeros(n, dtype=bool)
        self.seq = 0
        self.counts = {str(kind): 0 for kind in (*ANSWERS, *PUT_ASIDE)}
        self.answers = 0  # unwithdrawn entries that are answers
        self.n_holes = int(np.count_nonzero(eligible))
        n_open = int(self.open.any(axis=1).sum() if settings.by_row else np.count_nonzero(self.open))
        self.counted = CellCounts(0, n_open, self.n_holes, 0)
        learnt = self.learnt_cells()
        self.learnt_yes, self.learnt_known = (learnt == 1).sum(axis=0), (learnt != UNKNOWN).sum(axis=0)

    # Entries

    def apply(self, entry: Entry) -> VectorChange | None:
        """Apply one entry and return the change that models must learn, None for none. Raises AnswerError,
        and changes nothing, if the entry is impossible."""
        self.check(entry)
        touched = entry if entry.target is None else self.fold.entry(entry.target)
        self.fold.add(entry)
        self.standings.record(entry)
        self.seq = entry.seq
        sign = 1 if entry.target is None else -1
        self.counts[touched.kind] += sign * (len(touched.labels) if touched.kind in VALUES else 1)
        if touched.kind not in ANSWERS:
            return None
        self.answers += sign
        row = int(entry.row)
        before, counted = self.learnt(row), self._counts_of(row)
        folded = self.fold.fold(row)
        self.cells[row], self.bad[row] = folded.cells, folded.out
        self.answered[row] = folded.seqs > 0
        if self.several is None:
            self.open[row] = (folded.cells == UNKNOWN) & (not folded.out)
        else:
            self.several.take(row, self.fold, out=folded.out)
        self.counted = self.counted.moved(counted, self._counts_of(row))
        after = self.learnt(row)
        self.learnt_yes += (after == 1).astype(np.int64) - (before == 1)
        self.learnt_known += (after != UNKNOWN).astype(np.int64) - (before != UNKNOWN)
        return None if np.array_equal(before, after) else VectorChange(self.seq, row, after)

    def _counts_of(self, row: int) -> CellCounts:
        bad, out = bool(self.bad[row]), bool(self.bad[row] | self.test_rows[row])
        left = (self.cells[row] == UNKNOWN) & (self.original[row] == UNKNOWN)
        unknown = 0 if out else int(np.count_nonzero(left))
        return count_row(self.answered[row], self.open[row], unknown, bad=bad, by_row=self.settings.by_row)

    def learnt(self, row: int) -> AnyArray:
        """Return (L,) the cells of a row that models learn from; -1 for the others."""
        if self.bad[row] or self.test_rows[row]:
            return np.full(len(self.classes), UNKNOWN, dtype=np.int8)
        return np.where(self.control_cells[row], UNKNOWN, self.cells[row]).astype(np.int8)

    def learnt_cells(self) -> AnyArray:
        """Return (n, L) the cells that models learn from, as `learnt`, in a new array."""
        out = (self.bad | self.test_rows)[:, None] | self.control_cells
        return np.where(out, UNKNOWN, self.cells).astype(np.int8)

    # Which questions may be asked

    @property
    def unknown(self) -> BoolArray:
        """Return (n, L) the unknown cells, without test rows and bad items."""
        return np.asarray((self.cells == UNKNOWN) & ~(self.bad | self.test_rows)[:, None])

    def is_open(self, row: int, label: str | None = None) -> bool:
        """Return whether the label, or any label of the row, can be asked about: it is unknown or waits for more
        people."""
        open_ = (self.open if self.several is None else self.several.waiting)[row]
        return bool(open_.any() if label is None else open_[self.fold.column[label]])

    def places_left(self, place: Place) -> int:
        """Return how many people may be asked about the label, or the row, at the same time: one, or those still to
        answer."""
        if self.several is None:
            return super().places_left(place)
        return self.several.places_left(place.row, self.check_label(place.label))

    def may_ask(self, place: Place, annotator: str) -> bool:
        """Return whether this annotator can be asked about the place. With independent answers, no one is asked
        twice."""
        if not super().may_ask(place, annotator):
            return False
        column = self.check_label(place.label)
        return self.several is None or self.several.is_left(place.row, column, annotator)

    def view(self, row: int, entries: Sequence[Entry], annotator: str, seq: int | None = None) -> FoldedVector:
        """Return the row state that this annotator saw after these entries: after their own answers if answers are
        independent, else after all. seq : of the entry being written; None: the next one"""
        if self.several is None:
            return self.fold.fold_of(row, entries)
        return self.fold.view(row, entries, annotator, seq)

    def cells_for(self, row: int, annotator: str | None) -> AnyArray:
        """Return (L,) the cells that this annotator sees; None: the cells after all answers."""
        if annotator is None or self.several is None:
            return np.asarray(self.cells[row])
        return self.view(row, self.fold.entries(row), annotator).cells

    def views(self, row: int) -> Sequence[VectorView]:
        """Return each person's view of a row if people answer independently, without verdicts."""
        return () if self.several is None else self.several.views(self.check_row(row))

    def has_begun(self, row: int, annotator: str | None) -> bool:
        """Return whether someone else has answered something of the row and this annotator must not see the answer."""
        return self.several is not None and self.several.has_begun(row, annotator)

    def begun(self, allowed: BoolArray) -> Iterator[Place]:
        """Yield questions inside `allowed` (n, L), no blind checks, that have answers and wait for another; those begun
        first come first."""
        for row, labels in () if self.several is None else self.several.begun():
            left = allowed[row] & ~self.control_cells[row]
            if self.settings.by_row and left.any():
                yield Place(row)
            elif not self.settings.by_row:
                yield from (Place(row, self.classes[column]) for column in np.flatnonzero(labels & left))

    def fresh(self) -> BoolArray:
        """Return (n, L) the labels without an answer that wait for one.

        If questions are about whole rows: all open labels of the rows in which no answered label waits for another
        answer. Some of these labels may be answered already."""
        if self.several is None or not self.settings.by_row:
            return self.open if self.several is None else np.asarray(self.open & ~self.answered)
        fresh = self.open.copy()
        fresh[[row for row, _ in self.several.begun()]] = False
        return fresh

    def allowed(self, barred: Collection[Place], annotator: str | None = None, *, control: bool = False) -> BoolArray:
        """Return (n, L) the cells that can be asked about now, without the barred rows and places.

        annotator : the annotator to ask; None: anyone who has not answered yet      control : include control cells
        """
        allowed = self.open.copy()
        if self.several is not None and annotator is not None:
            allowed = self.several.unsaid(annotator)
        if not control:
            allowed &= ~self.control_cells
        for row, label in barred:
            if not 0 <= row < len(allowed):
                continue
            if label is None:
                allowed[row] = False
            elif label in self.fold.column:
                allowed[row, self.fold.column[label]] = False
        return allowed

    def controls_left(self, allowed: BoolArray) -> list[Place]:
        """Return the first control question inside `allowed` (n, L), in drawn order: a list of at most one place."""
        return self._controls.first(allowed, self.classes)

    def control_sample(self) -> ControlSample:
        """Return the answered controls that come before the first unanswered one in drawn order."""
        waiting = self.allowed(self.standings.unsure_by_anybody(), control=True)
        return self._controls.sample(waiting, self.cells, self.bad)

    # State

    @property
    def n_answered(self) -> int:
        """Return the number of answered labels or, if questions are about whole rows, of answered rows, including bad
        items."""
        return self.counted.answered

    @property
    def n_open(self) -> int:
        """Return the number of labels that can still be asked about or, if questions are about whole rows, of rows."""
        return self.counted.open

    @property
    def n_begun(self) -> int:
        return 0 if self.several is None else self.counted.begun

    @property
    def n_disputed(self) -> int:
        """Return the number of labels (or rows that wait for no one) on which people differ and no rule decides."""
        found = {} if self.several is None else self.several.disputed
        if not self.settings.by_row:
            return sum(found.values())
        return sum(not (self.answered[row] & self.open[row]).any() for row in found)

    @property
    def share_known(self) -> float:
        """Return the share of `n_holes` that is known now or belongs to a bad item; 1 if there were none."""
        return 1 - self.counted.unknown / self.n_holes if self.n_holes else 1.0

    @property
    def n_to_ask(self) -> int:
        """Return the number of open labels, also if questions are about whole rows."""
        return int(self.open.sum())

    @property
    def answered_rows(self) -> BoolArray:
        return np.asarray(self.answered.any(axis=1))

    @property
    def open_rows(self) -> BoolArray:
        return np.asarray(self.open.any(axis=1))

    @property
    def blind_rows(self) -> BoolArray:
        return np.asarray(self.control_cells.any(axis=1))

    def shown_to_all(self) -> BoolArray:
        """Return a new array bool (n,): rows with a label that people said is right, as for every pool."""
        return np.asarray(self._said_yes().any(axis=1) & ~self.bad & ~self.test_rows)

    def answered_labels(self, row: int) -> tuple[str, ...]:
        """Return the labels that people said are right, without blind checks, as for every pool."""
        return tuple(self.classes[column] for column in np.flatnonzero(self._said_yes()[row]))

    def _said_yes(self) -> BoolArray:
        """Return (n, L) the labels that people said are right, without those that more people are to answer."""
        said = self.answered & (self.cells == 1) & ~self.control_cells
        return np.asarray(said if self.several is None else said & ~self.several.waiting)

    def labels_shown(self, rows: Sequence[int]) -> tuple[tuple[str, ...], ...]:
        """Return the labels known to be right, without those that wait for more people, as for every pool."""
        right = (self.cells[rows] == 1) & ~self.bad[rows, None]
        if self.several is not None:
            right &= ~self.several.waiting[rows]
        return tuple(tuple(self.classes[column] for column in np.flatnonzero(line)) for line in right)

    def labels_at(self, entry: Entry) -> tuple[str, ...]:
        """Return the labels that the entry, or the entry it withdraws, names, as its annotator sees them; as for every
        pool."""
        about = entry.labels if entry.target is None else self.fold.entry(entry.target).labels
        folded = self.view(entry.row, self.fold.entries(entry.row), entry.annotator, entry.seq)
        return self.words(folded, about)

    def state(self, row: int) -> LabelVectorState:
        """Return the current state of one row."""
        row = self.check_row(row)
        folded = self.fold.fold(row)
        return LabelVectorState(
            row=row,
            original=tuple(self.original[row].tolist()),
            cells=tuple(self.cells[row].tolist()),
            bad=bool(self.bad[row]),
            test=bool(self.test_rows[row]),
            answer=folded.answer,
            entries=tuple(self.fold.entries(row)),
        )

    def words(self, folded: FoldedVector, labels: Sequence[str]) -> tuple[str, ...]:
        """Return the cells of these labels as "1", "0" or "" (not asked). Without labels: ("bad",) for a bad item, else
        ()."""
        if not labels:
            return ("bad",) if folded.out else ()
        cells = folded.cells[self.fold.columns(labels)]
        return tuple(str(cell) if cell != UNKNOWN else "" for cell in cells)

    def check_label(self, label: str | None) -> int | None:
        """Return the column of a label, None for None. Raises AnswerError if there is no such label."""
        if label is None:
            return None
        if label not in self.fold.column:
            raise AnswerError(f"{label!r} is not a label. The labels: {', '.join(self.classes)}.")
        return self.fold.column[label]
