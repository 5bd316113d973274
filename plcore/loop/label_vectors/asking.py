"""Which row, or which label of a row, is the best to ask about: the one that the criterion scores highest."""

from __future__ import annotations

import numpy as np

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.loop.entries import Place
from plcore.loop.label_vectors.fold import VectorTable
from plcore.loop.label_vectors.model import LabelVectorModel
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.loop.label_vectors.registry import CRITERION_ENTRIES, RANDOM


class PlaceChooser:
    """Chooses what to ask about a pool. Without a model, or by the criterion "random", the order is drawn once.

    by_row : whether questions are about whole rows
    """

    def __init__(self, pool: LabelVectorPool[VectorTable]) -> None:
        self._pool, self.settings = pool, pool.settings
        self.by_row = self.settings.by_row
        self._random: FloatArray | None = None

    def strategy(self, model: LabelVectorModel | None) -> str:
        """The criterion in use."""
        return RANDOM if model is None else self.settings.asked_by

    def scores(self, model: LabelVectorModel | None) -> FloatArray:
        """(n,) of whole rows, else (n, L) of their labels; higher = ask sooner."""
        if model is not None and CRITERION_ENTRIES[self.settings.asked_by].needs_model:
            return model.scores
        if self._random is None:
            shape = self._pool.cells.shape[:1] if self.by_row else self._pool.cells.shape
            self._random = np.random.default_rng([self.settings.seed, 4]).random(shape)
        return self._random

    def best(self, model: LabelVectorModel | None, allowed: BoolArray) -> Place | None:
        """The best question about labels inside `allowed` (n, L), None where there is none; ties by row, then label."""
        rows = allowed.any(axis=1)
        if not rows.any():
            return None
        if self.by_row:
            return Place(int(np.where(rows, self.scores(model), -np.inf).argmax()))
        if self.settings.question_entry.in_turn:  # one label of each row, before any row gets another
            given = self._pool.answered.sum(axis=1)
            allowed = allowed & (given == given[rows].min())[:, None]
        best = int(np.where(allowed, self.scores(model), -np.inf).argmax())
        row, column = divmod(best, allowed.shape[1])
        return Place(row, self._pool.classes[column])

    def score_of(self, model: LabelVectorModel | None, row: int, column: int | None) -> float:
        """The score of a row, or of one label of it. Of a row whose labels are asked about one by one it is that of the
        best of them; 0 if nothing is open."""
        scores = self.scores(model)[row]
        if scores.ndim:
            open_ = self._pool.open[row] if column is None else self._pool.open[row, [column]]
            asked = scores if column is None else scores[[column]]
            return float(asked[open_].max()) if open_.any() else 0.0
        return float(scores) if self._pool.open[row].any() else 0.0

    def ranking(self, model: LabelVectorModel | None) -> tuple[IntArray, IntArray, FloatArray]:
        """(rows, columns, scores): every row that can be asked about, by the score of its best label (its column; -1
        where whole rows are asked about), highest first, then by row."""
        free = self._pool.fresh() & ~self._pool.control_cells
        rows = np.flatnonzero(free.any(axis=1))
        scores, columns = self.scores(model)[rows], np.full(len(rows), -1)
        if scores.ndim == 2:
            scores = np.where(free[rows], scores, -np.inf)
            columns, scores = scores.argmax(axis=1), scores.max(axis=1)
        turn = np.zeros(len(rows))
        if self.settings.question_entry.in_turn:  # each row in turn, as in `best`
            turn = self._pool.answered[rows].sum(axis=1)
        order = np.lexsort((rows, -scores, turn))
        return rows[order], columns[order], scores[order]
