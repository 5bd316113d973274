"""A table with the result for each row or cell, as plain arrays: the input of every writer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from plcore.arrays import let_go
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.tables.candidates import NO, YES
from plcore.tables.roles.named_votes import NamedVotes
from plcore.tables.text.arrow import stripped

VOTES = ("is", "among")
"""Kinds of answers that name labels the row may have."""

VERDICT = "verdict"
"""Kind of an answer by which a reviewer settled a row; it names the possible labels, or none for a bad item."""

DECIDING = (*VOTES, "not", "none", "bad", VERDICT)
"""Kinds of answers that change a row's candidates; the latest of a row decides, and a verdict before all others."""

SOURCES_OF_LABELS = (
    "given", "person", "verdict", "necessary", "model", "file", "truth", "bad", "remaining", "open", "pending",
    "combined", "disputed",
)  # fmt: skip
"""Possible sources of a row's label."""

REMAINING = "remaining"
"""Source of rows whose only class left is one that neither the file nor a person named: it is not a label."""

UNDECIDED = ("pending", "disputed")
"""Sources of rows that wait for another answer, or are disputed."""

SAYS = {"yes": 1, "no": 0, "right": 1, "wrong": 0}
"""Kinds of answers about labels of a vector, with the value of the cells that they name; the last two are a
reviewer's."""

OWN_ID = "winnow_id"
"""Column of the row's name in files, if no column of the table has it."""

BEFORE, CANDIDATES, WEIGHTS = "winnow_candidates_before", "winnow_candidates", "winnow_weights"
LABEL, SOURCE, CONFIDENCE = "winnow_label", "winnow_source", "winnow_confidence"
VERSION, OUTSIDE, PEOPLE, ANSWERS = ("winnow_model_version", "winnow_outside", "winnow_people", "winnow_answers")
"""Column names in files for the result of a row."""

OWN_TRUTH, OWN_VOTERS = "winnow_truth", "winnow_voters"
"""Columns of the imported true label in files, and, as JSON, of the people who named each label before the import:
`{label: voters}`."""

PIECE_ROWS = 2_000
"""Rows that are written at once."""

_FEW = 100
"""Rows that are enough to show that most columns hold no ids."""

Tell = Callable[[int], None]
"""Called with the number of rows written so far, never decreasing; an exception in it stops the writing."""


def silent(_rows: int) -> None:
    """Ignore the progress."""


def names_labels(answer: Mapping[str, Any]) -> bool:
    """Whether an answer names labels that the row may have."""
    return answer["kind"] in VOTES or (answer["kind"] == VERDICT and bool(answer["labels"]))


class RowShares(Protocol):
    """(n, m) numbers, computed when accessed; an array also qualifies."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, rows: Any, /) -> FloatArray: ...


@dataclass(frozen=True)
class Disambiguated:
    """Rows with their candidates before and after, their labels and every answer about them. Arrays of labels may be
    replaced by objects that return them slice by slice (`plcore.loop.one_label.TakenLabels.column`).

    Attributes
    ----------
    ids : (n,) str
    cells : (n, n_columns) DataFrame of str, the imported columns
    classes : the m class names
    candidates_before, candidates_after : (n, m) bool, or `CandidateSets` if that is large;
        an excluded row may have none after
    weights : (n, m) float, the imported weight of each candidate, above 0, and 0 for all other classes; None if
        there were no weights
    label : (n,) int, class numbers; -1 if it is open
    source : (n,) str, where the label comes from, one of `SOURCES_OF_LABELS`; `file` are its scores; the last three
        occur if several people answer a row
    probability : (n,) float, of the label; NaN if none is known
    answers : each a dict with `row` (0-based), `person`, `kind` (is, among, not, ...), `labels` (names), `at` (text of
        ISO 8601), `seconds` (float or None) and `model_version` (str or None), in the order they were given; withdrawn
        answers are left out
    model_version : version of the model that gave the labels with source `model`; None if there is none
    renamed : {former name of a class: its present name}, of renamed or merged classes
    several : whether rows have several independent annotators
    outside : (n,) float, how likely the truth is not a candidate of the row; NaN if unknown, None if unknown for all
        rows
    likeliest, likelihood : (n,) as label and probability, but disputed rows have their most likely class; None if no
        row can be disputed
    probabilities : (n, m) probability of each class of each row, or an object that returns them slice by slice; rows
        sum to 1; None if unknown
    types : of columns of `cells` that are not text in their source; each cell of them is one of that type
    truth : (n,) int, class numbers of the imported true labels; -1 if unknown; None if there are none
    votes : who named which label before the import; None if unknown
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
    likeliest: IntArray | None = None
    likelihood: FloatArray | None = None
    probabilities: RowShares | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    truth: IntArray | None = None
    votes: NamedVotes | None = None

    def with_disputed(self) -> Disambiguated:
        """Return the same with the most likely class as the label of disputed rows. Their source stays `disputed`."""
        if self.likeliest is None or self.likelihood is None:
            return self
        return replace(self, label=self.likeliest, probability=self.likelihood)

    def chosen(self, rows: IntArray) -> Disambiguated:
        """Return only these rows, each once, in this order; their answers follow, renumbered."""
        if np.array_equal(rows, np.arange(len(self.ids))):
            return self  # without a second copy of all candidates
        return self._part(rows, _chosen(self.answers, rows))

    def pieces(self, size: int | None = None, *, tell: Tell = silent) -> Iterator[Disambiguated]:
        """Yield all rows, `size` at a time (None: `PIECE_ROWS`); no array is copied. The answers of a piece are in the
        order of its rows.

        tell : gets the number of rows that the caller is done with, when it asks for the next piece
        """
        size = size or PIECE_ROWS
        given = self.answers_by_row()
        for start in range(0, len(self.ids), size):
            stop = min(start + size, len(self.ids))
            yield self._part(slice(start, stop), _of_piece(given, start, stop))
            let_go()
            tell(stop)

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
            likeliest=None if self.likeliest is None else self.likeliest[rows],
            likelihood=None if self.likelihood is None else self.likelihood[rows],
            probabilities=None if self.probabilities is None else _SomeShares(self.probabilities, rows),
            answers=answers,
            truth=None if self.truth is None else self.truth[rows],
            votes=None if self.votes is None else self.votes.chosen(rows),
        )

    def kept(self) -> pd.DataFrame:
        """The columns to export: all of them."""
        return self.cells

    def records(self) -> list[dict[str, str]]:
        """Return the cells of each row, by column."""
        return _records(self.cells)

    def left(self, rows: slice = slice(None)) -> BoolArray:
        """Return (r, m) the candidates to export for these rows: the remaining ones, but all imported ones if a row
        waits for another answer or is disputed, and all classes if no one named the only one left: a single candidate
        would be read as certain."""
        after = np.asarray(self.candidates_after[rows])
        source = np.asarray(self.source[rows]).astype(str)
        undecided, unnamed = np.isin(source, UNDECIDED), source == REMAINING
        if undecided.any():
            after = np.where(undecided[:, None], np.asarray(self.candidates_before[rows]), after)
        return after | unnamed[:, None] if unnamed.any() else after

    def weights_left(self, rows: slice = slice(None)) -> FloatArray | None:
        """Return (r, m) the weights of the candidates `left` in these rows, 0 elsewhere; None if there were no weights.

        A candidate added by an answer weighs as much as the heaviest imported one of the row, as in the models
        (`plcore.labels.weights.weights_after_answers`).
        """
        if self.weights is None:
            return None
        weights = self.weights[rows]
        heaviest = weights.max(axis=1, keepdims=True, initial=0.0)
        known = np.where(weights > 0, weights, np.where(heaviest > 0, heaviest, 1.0))
        return np.where(self.left(rows), known, 0.0)

    def scale(self) -> float:
        """Divisor of weights for tools whose scores are in [0, 1]: the largest, if that is above 1."""
        return 1.0 if self.weights is None else float(self.weights.max(initial=1.0))

    def weighted(self, *, before: bool = False) -> list[dict[str, float | None]]:
        """Return, for each row of a piece, the candidates `left`, or the imported ones, in class order, with their
        weights, None if there were no weights."""
        candidates = self.candidates_before if before else self.left()
        weights = self.weights if before else self.weights_left()
        rows, places = np.nonzero(candidates)
        given = [None] * len(places) if weights is None else weights[rows, places].tolist()
        named = [*zip([self.classes[place] for place in places.tolist()], given, strict=True)]
        ends = np.searchsorted(rows, np.arange(len(candidates) + 1)).tolist()
        return [dict(named[start:stop]) for start, stop in pairwise(ends)]

    def voters(self, *, all_labels: bool = False) -> list[dict[str, list[str]]]:
        """Return the labels that each person named before the import, {voter: labels} for each row of a piece.

        all_labels : include labels that are no longer among the candidates `left`
        """
        found: list[dict[str, list[str]]] = [{} for _ in self.ids]
        if self.votes is not None:
            left = None if all_labels else self.left()
            lines = (self.votes.rows, self.votes.who, self.votes.labels)
            for row, who, label in zip(*(line.tolist() for line in lines), strict=True):
                if left is None or left[row, label]:
                    found[row].setdefault(self.votes.voters[who], []).append(self.classes[label])
        return found

    def carried(self) -> list[dict[str, str]]:
        """Return extra fields for formats without a place for them (`add_own`), for each row of a piece: the imported
        true label, and who named which label before the import."""
        found: list[dict[str, str]] = [{} for _ in self.ids]
        for own, truth, voters in zip(found, self.truths(), self.voters(), strict=True):
            own |= {} if truth is None else {OWN_TRUTH: truth}
            named: dict[str, list[str]] = {}
            for voter, labels in voters.items():
                for label in labels:
                    named.setdefault(label, []).append(voter)
            own |= {OWN_VOTERS: json.dumps(named, ensure_ascii=False)} if named else {}
        return found

    def truths(self) -> list[str | None]:
        """Return the true label of each row of a piece, None if unknown."""
        numbers = [-1] * len(self.ids) if self.truth is None else self.truth.tolist()
        return [None if number < 0 else self.classes[number] for number in numbers]

    def listed(self, of: Callable[[Collection[str]], str], *, before: bool = False) -> pa.LargeStringArray:
        """Return a cell with the candidates `left` of each row, or the imported ones, in class order, formatted by
        `of`; equal cells are formatted once."""
        candidates = self.candidates_before if before else self.left()
        _, first, which = np.unique(np.packbits(candidates, axis=1), axis=0, return_index=True, return_inverse=True)
        cells = [of([self.classes[place] for place in np.flatnonzero(candidates[row])]) for row in first]
        return pa.array(cells, pa.large_string()).take(pa.array(which.ravel()))

    def label_name(self, row: int) -> str | None:
        """Return the label of one row; None if it is open."""
        return None if self.label[row] < 0 else self.classes[self.label[row]]

    def known_probability(self, row: int) -> float | None:
        """Return the probability of the row's label; None if unknown."""
        return None if np.isnan(self.probability[row]) else float(self.probability[row])

    def version_of(self, row: int) -> str | None:
        """Return the version of the model that gave the row its label; None if no model did."""
        return self.model_version if self.source[row] == "model" else None

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """Return the answers about each row that has any."""
        return _by_row(self.answers)

    def deciding(self) -> list[dict[str, Any] | None]:
        """Return the deciding answer of each row: the latest verdict, else the latest that changed the candidates; None
        if there is none."""
        found: list[dict[str, Any] | None] = [None] * len(self.ids)
        for answer in self.answers:
            before = found[answer["row"]]
            settled = before is not None and before["kind"] == VERDICT and answer["kind"] != VERDICT
            if answer["kind"] in DECIDING and not settled:
                found[answer["row"]] = answer
        return found

    def id_column(self) -> str | None:
        """Return the first column that holds the ids; None if the rows are only numbered."""
        return column_of_ids(self.cells, self.ids)


def absent_columns(table: Disambiguated, *, without_id: bool) -> set[str]:
    """Return the columns that files add only if there are values for them, and that this table does not need.

    without_id : whether a column of the table names its rows
    """
    has = {
        OWN_ID: not without_id,
        WEIGHTS: table.weights is not None,
        OUTSIDE: table.outside is not None,
        OWN_TRUTH: table.truth is not None,
        OWN_VOTERS: table.votes is not None,
        PEOPLE: table.several,
    }
    return {name for name, is_there in has.items() if not is_there}


class _SomeShares:
    """Some rows of shares, computed only on request: few formats need them."""

    def __init__(self, whole: RowShares, rows: IntArray | slice) -> None:
        n, m = whole.shape
        self._whole, self._rows = whole, np.arange(n)[rows]
        self.shape = len(self._rows), m

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        return self._whole[self._rows[rows]]


def column_of_ids(cells: pd.DataFrame, ids: Sequence[str] | npt.NDArray[np.object_]) -> str | None:
    """Return the first column whose cells are these ids, except for surrounding white space; None if there is none."""
    wanted, few = pa.array(ids, pa.large_string()), slice(0, _FEW)

    def holds(some: pd.DataFrame, name: str, ids_of: pa.LargeStringArray) -> bool:
        return bool(stripped(some, name).equals(ids_of))

    begun = (str(name) for name in cells.columns if holds(cells.iloc[few], str(name), wanted[few]))
    return next((name for name in begun if holds(cells, name, wanted)), None)


def names_beside(columns: Collection[str], added: Sequence[str]) -> dict[str, str]:
    """Return new names for columns with the name of one of those `added`, as in a reimported export: `before_` in
    front, as often as needed."""
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


def _records(cells: pd.DataFrame) -> list[dict[str, str]]:
    names = [str(name) for name in cells.columns]
    columns = [cells.iloc[:, place].tolist() for place in range(len(names))]
    return [{name: column[row] for name, column in zip(names, columns, strict=True)} for row in range(len(cells))]


def _by_row(answers: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for answer in answers:
        found.setdefault(int(answer["row"]), []).append(answer)
    return found


def _chosen(answers: Sequence[dict[str, Any]], rows: IntArray) -> list[dict[str, Any]]:
    """Return the answers about these rows, renumbered."""
    place = {int(row): new for new, row in enumerate(rows)}
    return [{**one, "row": place[one["row"]]} for one in answers if one["row"] in place]


def _of_piece(given: Mapping[int, Sequence[dict[str, Any]]], start: int, stop: int) -> list[dict[str, Any]]:
    """Return the answers about the rows from `start` on, in the order of rows."""
    return [{**one, "row": row - start} for row in range(start, stop) for one in given.get(row, ())]


def _rows(candidates: BoolArray, rows: IntArray | slice) -> BoolArray:
    """Return the candidates of a piece as a matrix; of a selection, which may be nearly all rows, as they are
    stored."""
    return candidates[rows] if isinstance(rows, slice) else candidates.take(rows, axis=0)


CELLS_AT_ONCE = 400_000
"""Limit of the cells of label vectors that are written at once."""


class VectorCells(Protocol):
    """All cells for export (`plcore.loop.label_vectors.LabelVectorExport`): n rows, L labels.

    cells (n, L) int8 : 1 yes, 0 no, -1 not asked      probabilities (n, L) : of yes, NaN if unknown
    predicted (n, L) int8 : predictions for cells not asked, -1 elsewhere      sources (n, L) str
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
        """Return the same for only these rows."""

    def wide(self, taken: Collection[str] = ()) -> pd.DataFrame:
        """Return one line per row: columns for each label, without the names in `taken`."""

    def long(self) -> pd.DataFrame:
        """Return one line per cell."""


_WORDS = {"1": frozenset(YES.to_pylist()), "0": frozenset(NO.to_pylist())}
"""The words of cells for yes and for no, in lower case."""
_VALUES = {word: value for value, words in _WORDS.items() for word in words}


@dataclass(frozen=True)
class LabelVectorTable:
    """Label vectors, and the table they were imported from.

    Attributes
    ----------
    found : the current cells
    original : (n, n_columns) DataFrame of str, the imported columns
    replaced : those of these columns that `found` replaces, in the order of the labels; none if the
        labels were imported as lists
    types : of the columns of `original` that are not text in their source
    answers : as in `Disambiguated`, of the kinds in `SAYS` and those that name no labels
    words : for a part of a table, the words for 1 and 0 in the whole table
    """

    found: VectorCells
    original: pd.DataFrame
    replaced: Sequence[str] = ()
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    answers: Sequence[dict[str, Any]] = field(default_factory=list)
    words: Mapping[str, str] | None = None

    @property
    def ids(self) -> Sequence[str]:
        """(n,) the names of the rows."""
        return self.found.ids

    @cached_property
    def _words(self) -> Mapping[str, str]:
        """Return how most cells of labels write 1 and 0: yes and no, or 1.0 and 0.0."""
        if self.words is not None or not self.replaced:
            return self.words or {}
        counts: Counter[str] = Counter()
        for name in self.replaced:
            cells = self.original[name].str.strip().value_counts()
            counts.update({str(cell): int(count) for cell, count in cells.items()})
        meant = {value: [cell for cell in counts if cell.lower() in words] for value, words in _WORDS.items()}
        return {value: min(own, key=lambda cell: (-counts[cell], cell)) for value, own in meant.items() if own}

    def chosen(self, rows: IntArray) -> LabelVectorTable:
        """Return only these rows, in this order."""
        if np.array_equal(rows, np.arange(len(self.original))):
            return self
        return self._part(rows, _chosen(self.answers, rows))

    def pieces(self, size: int | None = None, *, tell: Tell = silent) -> Iterator[LabelVectorTable]:
        """Yield all rows, `size` at a time, or one empty piece if there are none; None: as many rows as have some
        hundred thousand cells. tell : as in `Disambiguated.pieces`"""
        if size is None:
            size = max(1, min(PIECE_ROWS, CELLS_AT_ONCE // max(1, len(self.found.labels))))
        given = _by_row(self.answers)
        for start in range(0, max(1, len(self.original)), size):
            yield self._part(slice(start, start + size), _of_piece(given, start, start + size))
            tell(min(start + size, len(self.original)))

    def _part(self, rows: slice | IntArray, answers: Sequence[dict[str, Any]]) -> LabelVectorTable:
        return LabelVectorTable(
            self.found.part(rows), self.original.iloc[rows], self.replaced, self.types, answers, self._words
        )

    def id_column(self) -> str | None:
        """Return the first column that holds the ids; None if the rows are only numbered."""
        return column_of_ids(self.kept(), self.found.ids)

    def kept(self) -> pd.DataFrame:
        """The original columns without those that are replaced."""
        return self.original[[name for name in self.original.columns if name not in self.replaced]]

    def wide(self) -> pd.DataFrame:
        """Return one line per row, all text: the original columns, with the resulting cells in place of those they
        replace, else after them; then further facts about each label.

        An unchanged cell stays as it was written, and others use the same words for yes and no.
        """
        kept = self.kept()
        added = self.found.wide(kept.columns).set_axis(self.original.index)
        n_labels = len(self.found.labels)
        values, more = added.columns[:n_labels], added.columns[n_labels:]
        if not self.replaced:
            return pd.concat([self.original, added], axis=1)
        words, place = {"1": "1", "0": "0", "": ""} | dict(self._words), {}
        for column, value in zip(self.replaced, values, strict=False):
            written = self.original[column]
            meant = written.str.strip().str.lower().map(_VALUES).fillna("")
            place[column] = written.where(meant == added[value], added[value].map(words))
        front = {name: place.get(name, self.original[name]) for name in self.original.columns}
        return pd.concat([pd.DataFrame(front, dtype="str"), added[list(more)]], axis=1)

    def records(self) -> list[dict[str, str]]:
        """Return the cells of each row without those that are replaced, by column; the id if there would be none."""
        kept = self.kept()
        return _records(kept) if len(kept.columns) else [{OWN_ID: name} for name in self.ids]

    def known(self) -> list[dict[str, int | None]]:
        """Return the value of each label, for each row of a piece: 1, 0, or None."""
        names = list(self.found.labels)
        return [dict(zip(names, map(_known, row), strict=True)) for row in self.found.cells.tolist()]

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """Return the answers about each row that has any."""
        return _by_row(self.answers)

    def said(self) -> list[dict[str, dict[str, int]]]:
        """Return the latest labels by person, for each row of a piece: {person: {label: 1 or 0}}."""
        found: list[dict[str, dict[str, int]]] = [{} for _ in self.ids]
        for answer in self.answers:
            if (value := SAYS.get(answer["kind"])) is not None:
                of_person = found[answer["row"]].setdefault(answer["person"], {})
                of_person.update(dict.fromkeys(answer["labels"], value))
        return found

    def lists(self) -> list[dict[str, Any]]:
        """Return, for each row of a piece, `labels`, those that are right, `not_labels`, those that are not, and
        `cells`: for each label its value, probability, prediction and source, None if unknown."""
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
                    for name, value, share, said, source in zip(names, values, shares, predicted, sources, strict=True)
                ],
            }
            lists.append(row)
        return lists


def _known(value: int) -> int | None:
    return None if value < 0 else value
