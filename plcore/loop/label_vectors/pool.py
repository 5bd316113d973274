"""The cells of a project of label vectors: what is held out, what the answers make of each, who may be asked what.

Everything here follows from table, settings and log alone, whatever model learns from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plcore.common.types import AnyArray, BoolArray
from plcore.loop.base import Pool, row_batches
from plcore.loop.changes import ClassChange, aside_after, batches_of
from plcore.loop.entries import PUT_ASIDE, AnswerError, Entry
from plcore.loop.label_vectors.cell_counts import CellCounts, count_row
from plcore.loop.label_vectors.controls import Controls, ControlSample
from plcore.loop.label_vectors.fold import (
    ANSWERS,
    KINDS,
    UNKNOWN,
    VALUES,
    FoldedVector,
    LabelVectorFold,
    labels_of,
)
from plcore.loop.label_vectors.reports import LabelVectorState
from plcore.loop.label_vectors.settings import LabelVectorSettings
from plcore.loop.label_vectors.several import CellsForSeveral, VectorRule, VectorView
from plcore.loop.label_vectors.vector_table import TableT
from plcore.loop.places import Place
from plcore.loop.standings import Standings


class VectorChange(NamedTuple):
    """What an entry did to the cells of its row that models learn from."""

    seq: int
    row: int
    values: AnyArray  # (L,) int8, as they are now


class LabelVectorPool(Pool[TableT, LabelVectorSettings, LabelVectorFold]):
    """The cells of every row after the entries so far. Test rows and control cells are held out: no model learns from
    them.

    test_rows : bool (n,), a seeded share of the rows whose vector is fully known at import; never asked
    changes : of the rows and of whose answers count, all of them in the log; the labels never change
    control_cells : bool (n, L), a seeded uniform share of the cells of all other rows that are not known at import,
        or, where whole rows are asked about, all such cells of a uniform share of these rows. They are asked blindly
        now and then, in the order of their draw, so that their answers measure the model.
    cells : int8 (n, L) as they stand      answered : bool (n, L), set by people      bad : bool (n,), bad items
    open : bool (n, L), may be asked. Do not write to any of these.
    several : whom each label is still to be put before, where people answer for themselves; else None. `open` are
        then the labels that wait for more people, whatever is known of them already; those for everybody only until
        enough have answered
    counted : labels, or rows, that are answered, open and unknown
    n_holes : cells that were not known at import, those of test rows not counted
    learnt_yes, learnt_known : (L,) how many cells that models learn from are yes; are known
    """

    KINDS = KINDS

    def __init__(
        self, table: TableT, settings: LabelVectorSettings, changes: Iterable[ClassChange] = ()
    ) -> None:
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
            shared.flags.writeable = False  # callers see these arrays themselves
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
        self.counted = CellCounts(0, n_open, self.n_holes)
        learnt = self.learnt_cells()
        self.learnt_yes, self.learnt_known = (learnt == 1).sum(axis=0), (learnt != UNKNOWN).sum(axis=0)

    # Entries

    def apply(self, entry: Entry) -> VectorChange | None:
        """Take in one entry and return what it changed for models, None where nothing. Raises AnswerError, and changes
        nothing, if the entry is impossible."""
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
        """(L,) the cells of a row that models learn from; -1 for the others."""
        if self.bad[row] or self.test_rows[row]:
            return np.full(len(self.classes), UNKNOWN, dtype=np.int8)
        return np.where(self.control_cells[row], UNKNOWN, self.cells[row]).astype(np.int8)

    def learnt_cells(self) -> AnyArray:
        """(n, L) as `learnt`, a new array."""
        out = (self.bad | self.test_rows)[:, None] | self.control_cells
        return np.where(out, UNKNOWN, self.cells).astype(np.int8)

    # Who may be asked what

    @property
    def unknown(self) -> BoolArray:
        """(n, L) the cells that are not known, test rows and bad items left out."""
        return np.asarray((self.cells == UNKNOWN) & ~(self.bad | self.test_rows)[:, None])

    def is_open(self, row: int, label: str | None = None) -> bool:
        """Whether the label, or any label of the row, can be asked about: it is not known, or waits for more people."""
        open_ = (self.open if self.several is None else self.several.waiting)[row]
        return bool(open_.any() if label is None else open_[self.fold.column[label]])

    def places_left(self, place: Place) -> int:
        """How many people may have the label, or the row, before them now: one, or as many as are still to answer."""
        if self.several is None:
            return super().places_left(place)
        return self.several.places_left(place.row, self.check_label(place.label))

    def may_ask(self, place: Place, annotator: str) -> bool:
        """As for any pool; where people answer for themselves nobody is asked twice."""
        if not super().may_ask(place, annotator):
            return False
        column = self.check_label(place.label)
        return self.several is None or self.several.is_left(place.row, column, annotator)

    def view(
        self, row: int, entries: Sequence[Entry], annotator: str, seq: int | None = None
    ) -> FoldedVector:
        """What this annotator has before them after these entries of a row: what they said of it themselves, where
        people answer for themselves; else what all did. seq : of the entry that they write; None: the next one"""
        if self.several is None:
            return self.fold.fold_of(row, entries)
        return self.fold.view(row, entries, annotator, seq)

    def cells_for(self, row: int, annotator: str | None) -> AnyArray:
        """(L,) the cells that this annotator has before them; None: as all answers leave them."""
        if annotator is None or self.several is None:
            return np.asarray(self.cells[row])
        return self.view(row, self.fold.entries(row), annotator).cells

    def views(self, row: int) -> Sequence[VectorView]:
        """What each person makes of a row, where people answer for themselves; verdicts are not among them."""
        return () if self.several is None else self.several.views(self.check_row(row))

    def has_begun(self, row: int, annotator: str | None) -> bool:
        """Whether somebody else has answered something of the row, and this annotator is not to know how."""
        return self.several is not None and self.several.has_begun(row, annotator)

    def begun(self, allowed: BoolArray) -> Iterator[Place]:
        """Questions inside `allowed` (n, L) that train, have answers and wait for another, those begun first first."""
        for row, labels in () if self.several is None else self.several.begun():
            left = allowed[row] & ~self.control_cells[row]
            if self.settings.by_row and left.any():
                yield Place(row)
            elif not self.settings.by_row:
                yield from (Place(row, self.classes[column]) for column in np.flatnonzero(labels & left))

    def fresh(self) -> BoolArray:
        """(n, L) what waits for its first answer: labels that have none; of whole rows, those in which no label with an
        answer waits for another. Some of their labels may be settled already."""
        if self.several is None or not self.settings.by_row:
            return self.open if self.several is None else np.asarray(self.open & ~self.answered)
        fresh = self.open.copy()
        fresh[[row for row, _ in self.several.begun()]] = False
        return fresh

    def allowed(
        self, barred: Collection[Place], annotator: str | None = None, *, control: bool = False
    ) -> BoolArray:
        """(n, L) the cells that may be asked now without these rows and places; control cells only where wanted.

        annotator : who is asked; None: whoever has not answered yet
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
        """The first control question inside `allowed` (n, L), in the order of the draw: a list of one or none."""
        return self._controls.first(allowed, self.classes)

    def control_sample(self) -> ControlSample:
        """The answered controls as far as the draw has been worked through in order."""
        waiting = self.allowed(self.standings.unsure_by_anybody(), control=True)
        return self._controls.sample(waiting, self.cells, self.bad)

    # How things stand

    @property
    def n_answered(self) -> int:
        """How many labels have an answer; where whole rows are asked about, how many rows, bad items too."""
        return self.counted.answered

    @property
    def n_open(self) -> int:
        """How many labels can still be asked about; where whole rows are asked about, how many rows."""
        return self.counted.open

    @property
    def share_known(self) -> float:
        """Share of `n_holes` that are known now, or belong to a bad item; 1 where there were none."""
        return 1 - self.counted.unknown / self.n_holes if self.n_holes else 1.0

    def state(self, row: int) -> LabelVectorState:
        """One row as it stands."""
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
        """The cells of these labels as "1", "0" or "" (not asked). Of no labels: ("bad",) for a bad item, else ()."""
        if not labels:
            return ("bad",) if folded.out else ()
        cells = folded.cells[self.fold.columns(labels)]
        return tuple(str(cell) if cell != UNKNOWN else "" for cell in cells)

    def check_label(self, label: str | None) -> int | None:
        """The column of a label, None for None. Raises AnswerError where there is no such label."""
        if label is None:
            return None
        if label not in self.fold.column:
            raise AnswerError(f"{label!r} is not a label. The labels: {', '.join(self.classes)}.")
        return self.fold.column[label]
