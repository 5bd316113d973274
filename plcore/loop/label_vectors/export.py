"""Every cell of a project of label vectors: what people left in it, what the model says of it, where it comes from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.loop.label_vectors.fold import UNKNOWN, VectorTable
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.sensing.metrics import EVEN

PROBABILITY, PREDICTED, SOURCE = "winnow_probability:", "winnow_predicted:", "winnow_source:"
SOURCES = ("given", "person", "truth", "model", "bad")
"""Where a cell can come from: the import, an answer, a test row, the model (no one was asked), a row excluded."""
_GIVEN, _PERSON, _TRUTH, _MODEL, _BAD = range(len(SOURCES))
_SOURCE_TEXTS = np.array(SOURCES)
_TEXTS = np.array(["", "0", "1"], dtype=object)  # of -1, 0, 1


@dataclass(frozen=True, eq=False)
class LabelVectorExport:
    """All cells of a project as they are returned.

    cells (n, L) int8 : 1 yes, 0 no, -1 not asked, which is written as an empty cell and never as 0
    probabilities (n, L) : of yes; 1 or 0 if the cell is known; NaN if nothing is said
    predicted (n, L) int8 : what the model says of cells not asked, 1 yes, 0 no; -1 elsewhere, an empty cell
    origins (n, L) int8 : where the cell comes from, a place in SOURCES: a byte a cell, where its word has 24
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    cells: AnyArray
    probabilities: FloatArray
    predicted: AnyArray
    origins: AnyArray

    @property
    def sources(self) -> AnyArray:
        """(n, L) str, the word of SOURCES for each cell, rebuilt: of large tables, to be asked of a part."""
        return np.asarray(_SOURCE_TEXTS[self.origins])

    @property
    def answered(self) -> BoolArray:
        """(n,) whether any cell of the row comes from an answer."""
        return np.asarray((self.origins == _PERSON).any(axis=1))

    def part(self, rows: slice | IntArray) -> LabelVectorExport:
        """The same of these rows alone."""
        return LabelVectorExport(
            self.ids[rows] if isinstance(rows, slice) else tuple(self.ids[row] for row in rows),
            self.labels,
            self.cells[rows],
            self.probabilities[rows],
            self.predicted[rows],
            self.origins[rows],
        )

    def wide(self, taken: Collection[str] = ()) -> pd.DataFrame:
        """One line for each row: a column of 1 / 0 / empty for each label, named like it; then, for each label,
        `winnow_probability:LABEL`, `winnow_predicted:LABEL` and `winnow_source:LABEL`. All text.

        taken : column names these must not have; such a name gets `before_` in front, as often as it takes
        """
        used = set(taken)
        frame = {}
        parts = (
            ("", _words(self.cells)),
            (PROBABILITY, _shares(self.probabilities)),
            (PREDICTED, _words(self.predicted)),
            (SOURCE, self.sources),
        )
        for prefix, values in parts:
            for column, label in enumerate(self.labels):
                name = prefix + label
                while name in used:
                    name = f"before_{name}"
                used.add(name)
                frame[name] = values[:, column]
        return pd.DataFrame(frame, dtype="str")

    def long(self) -> pd.DataFrame:
        """One line for each cell, by row and then label: `id`, `label`, `value` (1, 0 or empty), `probability`,
        `predicted` (1, 0 or empty), `source`. All text."""
        n, L = self.cells.shape
        return pd.DataFrame(
            {
                "id": np.repeat(np.array(self.ids, dtype=object), L),
                "label": np.tile(np.array(self.labels, dtype=object), n),
                "value": _words(self.cells).ravel(),
                "probability": _shares(self.probabilities).ravel(),
                "predicted": _words(self.predicted).ravel(),
                "source": self.sources.ravel(),
            },
            dtype="str",
        )

    def counts(self) -> dict[str, int]:
        """How many cells come from each source that there is."""
        counts = np.bincount(self.origins.ravel(), minlength=len(SOURCES)).tolist()
        return {name: count for name, count in sorted(zip(SOURCES, counts, strict=True)) if count}


def export_of(
    pool: LabelVectorPool[VectorTable],
    proba: FloatArray | None = None,
    threshold: float = EVEN,
    rows: IntArray | None = None,
) -> LabelVectorExport:
    """The cells of these rows of a pool as they are, at the cost of these alone. rows : None for all

    proba : (r, L) of yes by the model, which says yes above the threshold; None: there is no model yet
    """
    which = slice(None) if rows is None else rows
    cells, bad, test = pool.cells[which], pool.bad[which], pool.test_rows[which]
    unknown = cells == UNKNOWN
    origins = np.where(pool.answered[which], np.int8(_PERSON), np.int8(_GIVEN))
    origins[unknown] = _MODEL
    origins[test] = _TRUTH
    origins[bad] = _BAD
    shares = np.where(unknown, np.nan, cells)
    predicted = np.full(cells.shape, UNKNOWN, dtype=np.int8)
    if proba is not None:
        asked = unknown & ~(bad | test)[:, None]
        np.copyto(shares, proba, where=asked)
        np.copyto(predicted, proba > threshold, where=asked)
    cells = cells.copy()
    cells[bad], shares[bad] = UNKNOWN, np.nan
    ids = pool.table.ids if rows is None else [pool.table.ids[row] for row in rows]
    return LabelVectorExport(tuple(map(str, ids)), pool.classes, cells, shares, predicted, origins)


def _words(cells: AnyArray) -> AnyArray:
    return np.asarray(_TEXTS[cells.astype(np.int64) - UNKNOWN])


def _shares(probabilities: FloatArray) -> AnyArray:
    """Four digits; a model's share is never written as sure, so that it cannot be taken for an answer."""
    inside = (probabilities > 0) & (probabilities < 1)
    rounded = np.where(inside, np.clip(probabilities, 1e-4, 1 - 1e-4), probabilities)
    text = np.char.mod("%.4f", rounded).astype(object)
    text[np.isnan(probabilities)] = ""
    return np.asarray(text)
