"""Answers about each row of a table of detections or predictions, exported with the same table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from plcore.tables.readers.tools.detections import ORIGINAL_ROWS, OriginalRow, columns_of, read_original
from plcore.tables.writers.disambiguated import PIECE_ROWS, REMAINING, UNDECIDED, Disambiguated


@dataclass(frozen=True)
class PeoplesVerdict:
    """People's answers about one item, without predictions.

    possible : the remaining classes; None if no one has decided
    label : the only remaining class, by its present name; "" if there is none, or neither the file nor a person named
        it: after "none of these" it may merely be the only other class of the project
    person, at : of the deciding answer
    """

    possible: frozenset[str] | None = None
    label: str = ""
    person: str = ""
    at: str = ""

    def of(self, labels: Sequence[str]) -> tuple[str, str, str, str]:
        """Return the cells of `VERIFIED` of a row that names these classes: true if it must be one of them, false if it
        can be none of them, empty if open. A row without classes is neither, but has the label found."""
        if self.possible is None or not self.possible:
            return "", "", "", ""
        if not labels:
            return "", self.label, self.person, self.at
        if self.possible <= set(labels):
            return "true", self.label, self.person, self.at
        if self.possible.isdisjoint(labels):
            return "false", self.label, self.person, self.at
        return "", "", "", ""


def verdicts(table: Disambiguated) -> list[PeoplesVerdict]:
    """Return the verdict about each row of the table. Rows that are excluded, disputed, or wait for another answer have
    none."""
    found = []
    for row, answer in enumerate(table.deciding()):
        left = [table.classes[place] for place in np.flatnonzero(table.candidates_after[row])]
        if answer is None or not left or table.source[row] in ("bad", *UNDECIDED):
            found.append(PeoplesVerdict())
            continue
        label = left[0] if len(left) == 1 and table.source[row] != REMAINING else ""
        found.append(PeoplesVerdict(frozenset(left), label, str(answer["person"]), str(answer["at"])))
    return found


@dataclass(frozen=True)
class VerifiedRow:
    """An imported row of the file, with the verdict about it.

    item : the row of the table that it is part of, from 0
    labels : the classes that it names, by their present names
    verified : the cells of `VERIFIED`
    verdict : about the item
    """

    item: int
    labels: tuple[str, ...]
    scientific: str
    cells: Mapping[str, object]
    verified: tuple[str, str, str, str]
    verdict: PeoplesVerdict


def has_original_rows(cells: pd.DataFrame) -> bool:
    """Whether a table holds rows of a table of detections, by its first row."""
    return bool(first_original(cells))


def first_original(cells: pd.DataFrame) -> Mapping[str, object]:
    """Return the cells of the first stored row; empty if there is none."""
    if ORIGINAL_ROWS not in cells.columns or not len(cells):
        return {}
    kept = read_original(cells[ORIGINAL_ROWS].iloc[0])
    return kept[0]["cells"] if kept else {}


def original_columns(table: Disambiguated) -> tuple[str, ...]:
    """Return the columns of the file, in order."""
    return columns_of(table.cells[ORIGINAL_ROWS]) if ORIGINAL_ROWS in table.cells.columns else ()


def original_rows(table: Disambiguated, size: int | None = None) -> Iterator[list[VerifiedRow]]:
    """Yield all rows of the file in order, `size` at a time (None: `PIECE_ROWS`). Rows that were added later come after
    the others."""
    size = size or PIECE_ROWS
    if ORIGINAL_ROWS not in table.cells.columns:
        return
    column, said = table.cells[ORIGINAL_ROWS], verdicts(table)
    order = _order(column)
    item = -1
    kept: list[OriginalRow] = []
    for start in range(0, len(order), size):
        piece = []
        for row, place in order[start : start + size]:
            if row != item:
                item, kept = row, read_original(column.iloc[row])
            one = kept[place]
            labels = tuple(table.renamed.get(name, name) for name in one["labels"])
            verdict = said[row]
            cells = one["cells"]
            piece.append(VerifiedRow(row, labels, one["scientific"], cells, verdict.of(labels), verdict))
        yield piece


def _order(column: pd.Series[str]) -> list[tuple[int, int]]:
    """Return (row of the table, place in it) of every row of the file.

    Rows of the table are in the order in which each first occurs in its file; if that order starts again, another file
    was added.
    """
    numbers = [[one["row"] for one in read_original(cell)] for cell in column]
    firsts = [min(rows, default=0) for rows in numbers]
    files = np.cumsum([0, *(later < before for before, later in pairwise(firsts))])
    keys = [
        (int(files[row]), number, row, place) for row, rows in enumerate(numbers) for place, number in enumerate(rows)
    ]
    return [(row, place) for _, _, row, place in sorted(keys)]
