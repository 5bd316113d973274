"""The cells of a multi-label project: what is held out, what the answers make of each, who may be asked what.

Everything here follows from table, settings and log alone, whatever model learns from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from plcore._types import AnyArray, BoolArray, Features, IntArray
from plcore.fold import AnswerError, Entry
from plcore.multilabel.fold import CELL_ANSWERS, UNKNOWN, VALUES, CellFold, check_cell_form
from plcore.multilabel.reports import CellState
from plcore.multilabel.settings import MultiLabelSettings
from plcore.multilabel.standing import CellStandings, Place


class NamedFeatures(Features, Protocol):
    """Features whose columns have names once they are fitted."""

    @property
    def feature_names_(self) -> Sequence[str]: ...


class VectorTable(Protocol):
    """What the learner needs of a `plcore.table.LabelTable` of label vectors."""

    @property
    def label_vectors(self) -> AnyArray | None: ...
    @property
    def classes(self) -> Sequence[str]: ...
    @property
    def ids(self) -> Sequence[str] | AnyArray: ...
    def features(self) -> NamedFeatures: ...


TableT = TypeVar("TableT", bound=VectorTable)


class CellChange(NamedTuple):
    """What an entry did to the cells of its row that models learn from."""

    seq: int
    row: int
    values: AnyArray  # (L,) int8, as they are now


class ControlSample(NamedTuple):
    """Answered control cells that estimates use: a uniform sample of the cells not known at import.

    rows, columns, values (k,)
    """

    rows: IntArray
    columns: IntArray
    values: AnyArray


class CellPool(Generic[TableT]):
    """Table + entries -> cells. Test rows and control cells are held out: no model learns from them.

    test_rows : bool (n,), a seeded share of the rows whose vector is fully known at import; never asked
    control_cells : bool (n, L), a seeded uniform share of the cells of all other rows that are not known at import,
        or, where whole instances are asked, all such cells of a uniform share of these rows. They are asked blindly
        now and then, in the order of their draw, so that their answers measure the model.
    cells : int8 (n, L) as they stand      answered : bool (n, L), set by people      bad : bool (n,), rows taken out
    open : bool (n, L), may be asked. Read all of these only.
    """

    def __init__(self, table: TableT, settings: MultiLabelSettings) -> None:
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
        self.test_rows = self._draw_test_rows(known.all(axis=1))
        self.control_cells = np.zeros((n, L), dtype=bool)
        self._by_row = settings.by_row
        self._control_rows, self._control_columns = self._draw_controls(~known & ~self.test_rows[:, None])
        for shared in (self.original, self.test_rows, self.control_cells):
            shared.flags.writeable = False  # callers see these arrays themselves
        closed = dict.fromkeys(np.flatnonzero(self.test_rows).tolist(), "it is held out to measure the model")
        self.fold = CellFold(self.original, self.classes, closed)
        self.standings = CellStandings(self.fold)
        self.cells = self.original.copy()
        self.open: BoolArray = ~known & ~self.test_rows[:, None]
        self.answered = np.zeros((n, L), dtype=bool)
        self.bad = np.zeros(n, dtype=bool)
        self.seq = 0
        self.counts = dict.fromkeys(("yes", "no", "bad", "unsure", "skip"), 0)
        self.answers = 0  # unwithdrawn entries that are answers

    def _draw_test_rows(self, full: BoolArray) -> BoolArray:
        rows = np.flatnonzero(full)
        # At least one row is left to learn from.
        count = min(int(self.settings.test_share * len(rows) + 0.5), len(full) - 1)
        test = np.zeros(len(full), dtype=bool)
        test[np.random.default_rng(self.settings.seed).permutation(rows)[:count]] = True
        return test

    def _draw_controls(self, eligible: BoolArray) -> tuple[IntArray, IntArray]:
        """Rows and columns of the control cells in the order in which they are asked; fills `control_cells`."""
        share = self.settings.control_share
        random = np.random.default_rng([self.settings.seed, 2])
        if self._by_row:
            rows = np.flatnonzero(eligible.any(axis=1))
            drawn = random.permutation(rows)[: int(share * len(rows) + 0.5)]
            self.control_cells[drawn] = eligible[drawn]
            return drawn, np.full(len(drawn), -1)
        places = np.flatnonzero(eligible)
        drawn = random.permutation(places)[: int(share * len(places) + 0.5)]
        rows, columns = np.divmod(drawn, eligible.shape[1])
        self.control_cells[rows, columns] = True
        return rows, columns

    # Entries

    def check(self, entry: Entry) -> None:
        """Raise AnswerError if `apply` would refuse the entry; changes nothing."""
        check_cell_form(entry)
        if entry.seq <= self.seq:
            raise AnswerError(
                f"Entry {entry.seq} comes too late: entries up to {self.seq} are applied. "
                "Entries must come in the order of seq, each once."
            )
        self.fold.check(entry)

    def apply(self, entry: Entry) -> CellChange | None:
        """Take in one entry; what it changed for models, or None. Raises AnswerError, and changes nothing, if it
        cannot be."""
        self.check(entry)
        touched = entry if entry.target is None else self.fold.entry(entry.target)
        self.fold.add(entry)
        self.standings.record(entry)
        self.seq = entry.seq
        sign = 1 if entry.target is None else -1
        self.counts[touched.kind] += sign * (len(touched.labels) if touched.kind in VALUES else 1)
        if touched.kind not in CELL_ANSWERS:
            return None
        self.answers += sign
        row = int(entry.row)
        before = self.learnt(row)
        folded = self.fold.fold(row)
        self.cells[row], self.bad[row] = folded.cells, folded.out
        self.answered[row] = folded.seqs > 0
        self.open[row] = (folded.cells == UNKNOWN) & (not folded.out)
        after = self.learnt(row)
        return None if np.array_equal(before, after) else CellChange(self.seq, row, after)

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

    def is_open(self, row: int, column: int | None = None) -> bool:
        """Whether the cell, or any cell of the row, is not known and can be asked about."""
        return bool(self.open[row].any() if column is None else self.open[row, column])

    def allowed(self, barred: Collection[Place | int], *, control: bool = False) -> BoolArray:
        """(n, L) the cells that may be asked now without these rows and places; control cells only where wanted."""
        allowed = self.open.copy() if control else self.open & ~self.control_cells
        for one in barred:
            row, label = (one, None) if isinstance(one, Integral) else one  # type: ignore[misc]
            if not 0 <= row < len(allowed):
                continue
            if label is None:
                allowed[row] = False
            elif label in self.fold.column:
                allowed[row, self.fold.column[label]] = False
        return allowed

    def controls_left(self, allowed: BoolArray) -> list[Place]:
        """The first control question inside `allowed` (n, L), in the order of the draw: a list of one or none."""
        left = self._controls_in(allowed)
        if not left.any():
            return []
        first = int(left.argmax())
        label = None if self._by_row else self.classes[self._control_columns[first]]
        return [(int(self._control_rows[first]), label)]

    def _controls_in(self, mask: BoolArray) -> BoolArray:
        """Which control questions, in the order of the draw, have a cell inside the mask (n, L)."""
        rows, columns = self._control_rows, self._control_columns
        return np.asarray(
            (mask[rows] & self.control_cells[rows]).any(axis=1) if self._by_row else mask[rows, columns]
        )

    def control_is_due(self) -> bool:
        """Whether the next question is a blind one: with probability `control_share`, drawn anew for each entry."""
        share = self.settings.control_share
        return bool(share and np.random.default_rng([self.settings.seed, 3, self.seq]).random() < share)

    def control_sample(self) -> ControlSample:
        """The answered controls as far as the draw has been worked through in order.

        A control that was answered out of turn, as part of a row that somebody chose, waits until all before it are
        answered, set aside by somebody as unsure, or out: else the sample would no longer be uniform.
        """
        waiting = self._controls_in(self.allowed(self.standings.unsure_by_anybody(), control=True))
        end = int(waiting.argmax()) if waiting.any() else len(waiting)
        rows, columns = self._control_rows[:end], self._control_columns[:end]
        if self._by_row:
            places, columns = np.nonzero(self.control_cells[rows])
            rows = rows[places]
        kept = (self.cells[rows, columns] != UNKNOWN) & ~self.bad[rows]
        return ControlSample(rows[kept], columns[kept], self.cells[rows[kept], columns[kept]])

    # How things stand

    def state(self, row: int) -> CellState:
        """One row as it stands."""
        row = self.check_row(row)
        folded = self.fold.fold(row)
        return CellState(
            row=row,
            original=tuple(self.original[row].tolist()),
            cells=tuple(self.cells[row].tolist()),
            bad=bool(self.bad[row]),
            test=bool(self.test_rows[row]),
            answer=folded.answer,
            entries=tuple(self.fold.entries(row)),
        )

    def check_row(self, row: int) -> int:
        """The row number as an int. Raises AnswerError where there is no such row."""
        whole = isinstance(row, Integral) and not isinstance(row, bool)
        if not whole or not 0 <= row < len(self.cells):
            raise AnswerError(f"row must be in 0..{len(self.cells) - 1}. Got {row!r}.")
        return int(row)

    def check_label(self, label: str | None) -> int | None:
        """The column of a label, None for None. Raises AnswerError where there is no such label."""
        if label is None:
            return None
        if label not in self.fold.column:
            raise AnswerError(f"{label!r} is not a label. The labels: {', '.join(self.classes)}.")
        return self.fold.column[label]
