"""A table with what has become of it, as plain arrays: what every writer of a format takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from plcore.common import let_go
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.tables.columns import stripped

VOTES = ("is", "among")
"""Kinds of answers that name labels the row may have."""

VERDICT = "verdict"
"""Kind of an answer by which a reviewer settled a row; labels that it may have, or none: a bad item."""

DECIDING = (*VOTES, "not", "none", "bad", VERDICT)
"""Kinds of answers that change what a row may be; the latest of a row, a verdict before all others, decided it."""

PIECE_ROWS = 2_000
"""Rows that are written at once."""

_FEW = 100
"""Rows by which nearly every column shows that it holds no ids."""

Tell = Callable[[int], None]
"""Called with the number of rows written so far, never fewer than before; what it raises stops the writing."""


def silent(_rows: int) -> None:
    """For writing that nobody follows."""


@dataclass(frozen=True)
class Disambiguated:
    """Rows with their candidates before and after, their labels and every answer about them. In place of the arrays of
    labels there may be what gives them slice by slice (`plcore.loop.one_label.TakenLabels.column`).

    Attributes
    ----------
    ids : (n,) str
    cells : (n, n_columns) DataFrame of str, the columns as they came
    classes : the m class names
    candidates_before, candidates_after : (n, m) bool, or `CandidateSets` where that is large;
        a row that was set aside may have none after
    weights : (n, m) float, how much spoke for each candidate before, above 0, and 0 for what was none; None where
        nothing was weighed
    label : (n,) int, class numbers; -1 where it is open
    source : (n,) str, where the label comes from: given, oracle, verdict, necessary, model, truth, bad or
        open
    probability : (n,) float, of the label; NaN where none is known
    answers : each a dict with `row` (0-based), `person`, `kind` (is, among, not, ...), `labels` (names), `at` (text of
        ISO 8601), `seconds` (float or None) and `model_version` (str or None), in the order they were given; those
        that were taken back are not among them
    model_version : of the model whose labels have the source `model`; None where there is none
    renamed : {name that a class had: what it is called now}, of those called otherwise or merged since
    several : whether several people were to answer a row, each for themselves
    outside : (n,) float, how likely the truth is none of the row's candidates; NaN where nothing tells, None where it
        is not known for any row
    """

    ids: npt.NDArray[np.object_]
    cells: pd.DataFrame
    classes: tuple[str, ...]
    candidates_before: BoolArray
    candidates_after: BoolArray
    weights: FloatArray | None
    label: IntArray
    source: npt.NDArray[np.object_]
    probability: FloatArray
    answers: Sequence[dict[str, Any]] = field(default_factory=list)
    model_version: str | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    several: bool = False
    outside: FloatArray | None = None

    def chosen(self, rows: IntArray) -> Disambiguated:
        """These rows alone, each once, in this order; their answers follow, numbered like the rows then are."""
        if np.array_equal(rows, np.arange(len(self.ids))):
            return self  # and not a second copy of all candidates
        place = {int(row): new for new, row in enumerate(rows)}
        answers = [{**one, "row": place[one["row"]]} for one in self.answers if one["row"] in place]
        return self._part(rows, answers)

    def pieces(self, size: int = PIECE_ROWS) -> Iterator[Disambiguated]:
        """All rows, `size` at a time; no array is copied. The answers of a piece stand row by row."""
        given = self.answers_by_row()
        for start in range(0, len(self.ids), size):
            stop = min(start + size, len(self.ids))
            answers = [
                {**one, "row": row - start} for row in range(start, stop) for one in given.get(row, ())
            ]
            yield self._part(slice(start, stop), answers)
            let_go()

    def _part(self, rows: IntArray | slice, answers: Sequence[dict[str, Any]]) -> Disambiguated:
        return replace(
            self,
            ids=self.ids[rows],
            cells=self.cells.iloc[rows],
            candidates_before=_rows(self.candidates_before, rows),
            candidates_after=_rows(self.candidates_after, rows),
            weights=None if self.weights is None else self.weights[rows],
            label=self.label[rows],
            source=self.source[rows].astype(object, copy=False),
            probability=self.probability[rows],
            outside=None if self.outside is None else self.outside[rows],
            answers=answers,
        )

    def records(self) -> list[dict[str, str]]:
        """The cells of each row, by column."""
        names = [str(name) for name in self.cells.columns]
        columns = [self.cells.iloc[:, place].tolist() for place in range(len(names))]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def weights_after(self, rows: slice = slice(None)) -> FloatArray | None:
        """(r, m) the weights of the candidates left in these rows, 0 elsewhere; None where nothing was weighed.

        A candidate that came by an answer weighs as much as the heaviest that the row came with: so the models take it
        (`plcore.labels.weights.weights_after_answers`).
        """
        if self.weights is None:
            return None
        weights = self.weights[rows]
        heaviest = weights.max(axis=1, keepdims=True, initial=0.0)
        known = np.where(weights > 0, weights, np.where(heaviest > 0, heaviest, 1.0))
        return np.where(self.candidates_after[rows], known, 0.0)

    def weighted(self, *, after: bool = False) -> list[dict[str, float | None]]:
        """The candidates of each row in class order, with their weights, None where nothing was weighed; to be asked of
        a piece."""
        candidates = self.candidates_after if after else self.candidates_before
        weights = self.weights_after() if after else self.weights
        rows, places = np.nonzero(candidates)
        given = [None] * len(places) if weights is None else weights[rows, places].tolist()
        named = [*zip([self.classes[place] for place in places.tolist()], given, strict=True)]
        ends = np.searchsorted(rows, np.arange(len(candidates) + 1)).tolist()
        return [dict(named[start:stop]) for start, stop in pairwise(ends)]

    def listed(self, of: Callable[[Collection[str]], str], *, after: bool = False) -> pa.LargeStringArray:
        """A cell of the candidates of each row, in class order, as `of` writes it; equal ones are written once."""
        candidates = self.candidates_after if after else self.candidates_before
        _, first, which = np.unique(
            np.packbits(candidates, axis=1), axis=0, return_index=True, return_inverse=True
        )
        cells = [of([self.classes[place] for place in np.flatnonzero(candidates[row])]) for row in first]
        return pa.array(cells, pa.large_string()).take(pa.array(which.ravel()))

    def label_name(self, row: int) -> str | None:
        """The label of one row; None where it is open."""
        return None if self.label[row] < 0 else self.classes[self.label[row]]

    def known_probability(self, row: int) -> float | None:
        """The probability of the row's label; None where none is known."""
        return None if np.isnan(self.probability[row]) else float(self.probability[row])

    def version_of(self, row: int) -> str | None:
        """The version of the model that gave the row its label; None where no model did."""
        return self.model_version if self.source[row] == "model" else None

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """The answers about each row that has any."""
        found: dict[int, list[dict[str, Any]]] = {}
        for answer in self.answers:
            found.setdefault(int(answer["row"]), []).append(answer)
        return found

    def deciding(self) -> list[dict[str, Any] | None]:
        """The answer of each row that decided what the row may be: the latest verdict, else the latest that changed it;
        None where there is none."""
        found: list[dict[str, Any] | None] = [None] * len(self.ids)
        for answer in self.answers:
            before = found[answer["row"]]
            settled = before is not None and before["kind"] == VERDICT and answer["kind"] != VERDICT
            if answer["kind"] in DECIDING and not settled:
                found[answer["row"]] = answer
        return found

    def id_column(self) -> str | None:
        """The first column that holds the ids; None where the rows are only numbered."""
        return column_of_ids(self.cells, self.ids)


def column_of_ids(cells: pd.DataFrame, ids: Sequence[str] | npt.NDArray[np.object_]) -> str | None:
    """The first column whose cells are these ids, but for white space around them; None where there is none."""
    wanted, few = pa.array(ids, pa.large_string()), slice(0, _FEW)

    def holds(some: pd.DataFrame, name: str, ids_of: pa.LargeStringArray) -> bool:
        return bool(stripped(some, name).equals(ids_of))

    begun = (str(name) for name in cells.columns if holds(cells.iloc[few], str(name), wanted[few]))
    return next((name for name in begun if holds(cells, name, wanted)), None)


def names_beside(columns: Collection[str], added: Sequence[str]) -> dict[str, str]:
    """New names for the columns that are called like one of those `added`, as when an earlier export came round again:
    `before_` in front, as often as it takes."""
    taken = {*columns, *added}
    names: dict[str, str] = {}
    for name in added:
        if name not in columns:
            continue
        new = name
        while new in taken:
            new = f"before_{new}"
        taken.add(new)
        names[name] = new
    return names


def _rows(candidates: BoolArray, rows: IntArray | slice) -> BoolArray:
    """Those of a piece as a matrix; of chosen rows, which may be nearly all, as they are kept."""
    return candidates[rows] if isinstance(rows, slice) else candidates.take(rows, axis=0)
