"""Label vectors with what has become of every cell, beside the columns of their table: what their writers take."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from plcore.common.types import AnyArray, FloatArray, IntArray
from plcore.tables.formats.disambiguated import PIECE_ROWS, column_of_ids

CELLS_AT_ONCE = 400_000
"""Cells of label vectors that are written at once, at most."""


class VectorCells(Protocol):
    """All cells as they are given back (`plcore.loop.label_vectors.LabelVectorExport`): n rows, L labels.

    cells (n, L) int8 : 1 yes, 0 no, -1 not asked      probabilities (n, L) : of yes, NaN where nothing is said
    predicted (n, L) int8 : what the model says of cells not asked, -1 elsewhere      sources (n, L) str
    """

    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def cells(self) -> AnyArray: ...
    @property
    def probabilities(self) -> FloatArray: ...
    @property
    def predicted(self) -> AnyArray: ...
    @property
    def sources(self) -> AnyArray: ...

    def part(self, rows: slice | IntArray) -> VectorCells:
        """The same of these rows alone."""

    def wide(self, taken: Collection[str] = ()) -> pd.DataFrame:
        """A row for each row: columns for each label, none of them named like those that are taken."""

    def long(self) -> pd.DataFrame:
        """A row for each cell."""


@dataclass(frozen=True)
class LabelVectorTable:
    """Label vectors, and the table they came in.

    Attributes
    ----------
    found : the cells as they are now
    original : (n, n_columns) DataFrame of str, the columns as they came
    replaced : those of these columns in whose place the cells found stand, in the order of the labels; none where the
        labels came as lists
    """

    found: VectorCells
    original: pd.DataFrame
    replaced: Sequence[str] = ()

    def chosen(self, rows: IntArray) -> LabelVectorTable:
        """These rows alone, in this order."""
        if np.array_equal(rows, np.arange(len(self.original))):
            return self
        return self._part(rows)

    def pieces(self, size: int | None = None) -> Iterator[LabelVectorTable]:
        """All rows, `size` at a time, of a table without rows one empty piece; None: as many as have some hundred
        thousand cells."""
        if size is None:
            size = max(1, min(PIECE_ROWS, CELLS_AT_ONCE // max(1, len(self.found.labels))))
        for start in range(0, max(1, len(self.original)), size):
            yield self._part(slice(start, start + size))

    def _part(self, rows: slice | IntArray) -> LabelVectorTable:
        return LabelVectorTable(self.found.part(rows), self.original.iloc[rows], self.replaced)

    def id_column(self) -> str | None:
        """The first column that holds the ids; None where the rows are only numbered."""
        return column_of_ids(self.kept(), self.found.ids)

    def kept(self) -> pd.DataFrame:
        """The original columns without those that are replaced."""
        return self.original[[name for name in self.original.columns if name not in self.replaced]]

    def wide(self) -> pd.DataFrame:
        """A row for each row, all text: the original columns, the cells found in the place of those that are replaced,
        else behind them; then what else is known of each label."""
        kept = self.kept()
        added = self.found.wide(kept.columns).set_axis(self.original.index)
        n_labels = len(self.found.labels)
        values, more = added.columns[:n_labels], added.columns[n_labels:]
        place = {column: added[value] for column, value in zip(self.replaced, values, strict=False)}
        if not place:
            return pd.concat([self.original, added], axis=1)
        front = {name: place.get(name, self.original[name]) for name in self.original.columns}
        return pd.concat([pd.DataFrame(front, dtype="str"), added[list(more)]], axis=1)

    def lists(self) -> list[dict[str, Any]]:
        """For each row `labels`, those that are right, `not_labels`, those that are not, and `cells`, for each label
        its value, probability, prediction and source, None where nothing is said; to be asked of a piece."""
        found, names = self.found, list(self.found.labels)
        lists = []
        for values, shares, predicted, sources in zip(
            found.cells.tolist(),
            found.probabilities.tolist(),
            found.predicted.tolist(),
            found.sources.tolist(),
            strict=True,
        ):
            row = {
                "labels": [name for name, value in zip(names, values, strict=True) if value == 1],
                "not_labels": [name for name, value in zip(names, values, strict=True) if value == 0],
                "cells": [
                    {
                        "label": name,
                        "value": _known(value),
                        "probability": None if share != share else share,  # NaN
                        "predicted": _known(said),
                        "source": source,
                    }
                    for name, value, share, said, source in zip(
                        names, values, shares, predicted, sources, strict=True
                    )
                ],
            }
            lists.append(row)
        return lists


def _known(value: int) -> int | None:
    return None if value < 0 else value
