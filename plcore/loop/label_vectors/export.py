"""Export of label vectors: the answer in every cell, the model's prediction, and the source."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.loop.label_vectors.fold import UNKNOWN, VectorTable
from plcore.loop.label_vectors.heard import HeardCells
from plcore.loop.label_vectors.pool import LabelVectorPool
from plcore.sensing.metrics import EVEN

PROBABILITY, PREDICTED, SOURCE = "winnow_probability:", "winnow_predicted:", "winnow_source:"
SOURCES = ("given", "person", "truth", "model", "bad", "pending", "combined", "disputed")
"""Possible sources of a cell: the import, an answer, a test row, the model (no one was asked), or an excluded row. If
several people answer: another is to answer (not a known cell), they differ and the rule decides, or it does not (not
known either)."""
_GIVEN, _PERSON, _TRUTH, _MODEL, _BAD, _PENDING, _COMBINED, _DISPUTED = range(len(SOURCES))
_SOURCE_TEXTS = np.array(SOURCES)
_TEXTS = np.array(["", "0", "1"], dtype=object)  # texts of -1, 0 and 1


@dataclass(frozen=True, eq=False)
class LabelVectorExport:
    """All cells of a project for the export.

    cells (n, L) int8 : 1 yes, 0 no, -1 not asked, written as an empty cell and never as 0
    probabilities (n, L) : probability of yes; 1 or 0 if the cell is known, but never if several people answered it; NaN
        without a prediction
    predicted (n, L) int8 : the model's prediction for unasked cells, 1 yes, 0 no; -1 elsewhere, an empty cell
    origins (n, L) int8 : index of the source in SOURCES: one byte per cell instead of 24 for its word
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    cells: AnyArray
    probabilities: FloatArray
    predicted: AnyArray
    origins: AnyArray

    @property
    def sources(self) -> AnyArray:
        """Return (n, L) str, the word of SOURCES for each cell. It is computed at each call: for large tables, use
        parts."""
        return np.asarray(_SOURCE_TEXTS[self.origins])

    @property
    def answered(self) -> BoolArray:
        """Return (n,) whether people decided any cell of the row."""
        return np.asarray(((self.origins == _PERSON) | (self.origins == _COMBINED)).any(axis=1))

    @property
    def undecided(self) -> BoolArray:
        """Return (n,) whether any cell of the row is disputed or waits for another person's answer."""
        return np.asarray(((self.origins == _PENDING) | (self.origins == _DISPUTED)).any(axis=1))

    @property
    def certainty(self) -> FloatArray:
        """Return (n,) how sure the least certain cell of the row is: 1 if known from the import or from people who
        agree, else the model's probability; NaN if a cell has none or is undecided."""
        sure = np.maximum(self.probabilities, 1 - self.probabilities)
        sure[self.origins == _PERSON] = 1.0
        return np.asarray(np.where(self.undecided, np.nan, sure.min(axis=1)))

    def part(self, rows: slice | IntArray) -> LabelVectorExport:
        """Return the export of these rows only."""
        return LabelVectorExport(
            self.ids[rows] if isinstance(rows, slice) else tuple(self.ids[row] for row in rows),
            self.labels,
            self.cells[rows],
            self.probabilities[rows],
            self.predicted[rows],
            self.origins[rows],
        )

    def wide(self, taken: Collection[str] = ()) -> pd.DataFrame:
        """Return one line per row, all text.

        Each label has a column of 1 / 0 / empty with its name, followed by `winnow_probability:LABEL`,
        `winnow_predicted:LABEL` and `winnow_source:LABEL`.

        taken : column names already in use; a name among them gets the prefix `before_`, repeatedly if needed
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
        """Return one line per cell, by row and then label: `id`, `label`, `value` (1, 0 or empty), `probability`,
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
        """Return the number of cells from each source that occurs."""
        counts = np.bincount(self.origins.ravel(), minlength=len(SOURCES)).tolist()
        return {name: count for name, count in sorted(zip(SOURCES, counts, strict=True)) if count}


def export_of(
    pool: LabelVectorPool[VectorTable],
    proba: FloatArray | None = None,
    threshold: float = EVEN,
    rows: IntArray | None = None,
    heard: HeardCells | None = None,
) -> LabelVectorExport:
    """Return the current cells of these rows of a pool, at the cost of these rows only.

    rows : None for all
    proba : (r, L) probability of yes; the model predicts yes above the threshold; None: there is no model yet
    heard : the cells that several people answer, as `heard_cells(pool)`; None: each has one annotator
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
    if heard is not None:
        place = np.full(len(pool.cells), -1)
        place[which] = np.arange(len(cells))
        here = np.flatnonzero(place[heard.rows] >= 0)
        at, undecided = (place[heard.rows[here]], heard.columns[here]), (heard.pending | heard.disputed)[here]
        decided = cells[at] != UNKNOWN
        cells[at] = np.where(undecided, UNKNOWN, cells[at])
        predicted[at] = np.where(undecided, UNKNOWN, predicted[at])
        shares[at] = np.where(undecided | heard.together[here] & decided, heard.share[here], shares[at])
        origins[at] = np.select(
            [heard.pending[here], heard.disputed[here], heard.apart[here] & decided],
            [_PENDING, _DISPUTED, _COMBINED],
            origins[at],
        )
    ids = pool.table.ids if rows is None else [pool.table.ids[row] for row in rows]
    return LabelVectorExport(tuple(map(str, ids)), pool.classes, cells, shares, predicted, origins)


def _words(cells: AnyArray) -> AnyArray:
    return np.asarray(_TEXTS[cells.astype(np.int64) - UNKNOWN])


def _shares(probabilities: FloatArray) -> AnyArray:
    """Format with four digits. A model's share is never written as 0 or 1, so that it cannot be mistaken for an
    answer."""
    inside = (probabilities > 0) & (probabilities < 1)
    rounded = np.where(inside, np.clip(probabilities, 1e-4, 1 - 1e-4), probabilities)
    text = np.char.mod("%.4f", rounded).astype(object)
    text[np.isnan(probabilities)] = ""
    return np.asarray(text)
