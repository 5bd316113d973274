"""A table with what has become of each row or cell, as plain arrays: what every writer of a format takes."""

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
"""Kind of an answer by which a reviewer settled a row; labels that it may have, or none: a bad item."""

DECIDING = (*VOTES, "not", "none", "bad", VERDICT)
"""Kinds of answers that change what a row may be; the latest of a row, a verdict before all others, decided it."""

SOURCES_OF_LABELS = (
    "given", "person", "verdict", "necessary", "model", "file", "truth", "bad", "open", "pending", "combined",
    "disputed",
)  # fmt: skip
"""Where the label of a row can come from."""

UNDECIDED = ("pending", "disputed")
"""Sources of rows that wait for another answer, or on which people differ."""

SAYS = {"yes": 1, "no": 0, "right": 1, "wrong": 0}
"""Kinds of answers about labels of a vector, with the value of the cells that they name; the last two a reviewer's."""

OWN_ID = "winnow_id"
"""Where files carry the name of a row, if no column of the table does."""

BEFORE, CANDIDATES, WEIGHTS = "winnow_candidates_before", "winnow_candidates", "winnow_weights"
LABEL, SOURCE, CONFIDENCE = "winnow_label", "winnow_source", "winnow_confidence"
VERSION, OUTSIDE, PEOPLE, ANSWERS = (
    "winnow_model_version",
    "winnow_outside",
    "winnow_people",
    "winnow_answers",
)
"""Names in files for the result of a row."""

OWN_TRUTH, OWN_VOTERS = "winnow_truth", "winnow_voters"
"""Where files carry the true label that came with the table, and, as JSON, who named which label before the import:
`{label: voters}`."""

PIECE_ROWS = 2_000
"""Rows that are written at once."""

_FEW = 100
"""Rows by which nearly every column shows that it holds no ids."""

Tell = Callable[[int], None]
"""Called with the number of rows written so far, never fewer than before; what it raises stops the writing."""


def silent(_rows: int) -> None:
    """For writing that no one follows."""


def names_labels(answer: Mapping[str, Any]) -> bool:
    """Whether an answer names labels that the row may have."""
    return answer["kind"] in VOTES or (answer["kind"] == VERDICT and bool(answer["labels"]))


class RowShares(Protocol):
    """(n, m) numbers, found as far as they are looked at; an array is one."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, rows: Any, /) -> FloatArray: ...


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
        a row that was excluded may have none after
    weights : (n, m) float, how much spoke for each candidate before, above 0, and 0 for what was none; None if
        nothing was weighed
    label : (n,) int, class numbers; -1 if it is open
    source : (n,) str, where the label comes from, one of `SOURCES_OF_LABELS`; `file` are its scores; the last three
        occur if several people answer a row
    probability : (n,) float, of the label; NaN if none is known
    answers : each a dict with `row` (0-based), `person`, `kind` (is, among, not, ...), `labels` (names), `at` (text of
        ISO 8601), `seconds` (float or None) and `model_version` (str or None), in the order they were given; those
        that were withdrawn are not among them
    model_version : of the model whose labels have the source `model`; None if there is none
    renamed : {name that a class had: what it is called now}, of those called otherwise or merged since
    several : whether several people were to answer a row, each for themselves
    outside : (n,) float, how likely the truth is none of the row's candidates; NaN if nothing tells, None if it
        is not known for any row
    likeliest, likelihood : (n,) as label and probability, but disputed rows have their most likely class; None if no
        row can be disputed
    probabilities : (n, m) how likely each class of each row is, or what gives it slice by slice; rows sum to 1; None if
        it is not known
    types : of columns of `cells` that are not text in their source; each cell of them is one of that type
    truth : (n,) int, class numbers of the true labels that came with the table; -1 if unknown; None without any
    votes : who named which label before the import; None if nothing says so
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
        """The same, in which disputed rows have their most likely class as label. Their source stays `disputed`."""
        if self.likeliest is None or self.likelihood is None:
            return self
        return replace(self, label=self.likeliest, probability=self.likelihood)

    def chosen(self, rows: IntArray) -> Disambiguated:
        """These rows alone, each once, in this order; their answers follow, numbered like the rows then are."""
        if np.array_equal(rows, np.arange(len(self.ids))):
            return self  # and not a second copy of all candidates
        return self._part(rows, _chosen(self.answers, rows))

    def pieces(self, size: int = PIECE_ROWS) -> Iterator[Disambiguated]:
        """All rows, `size` at a time; no array is copied. The answers of a piece stand row by row."""
        given = self.answers_by_row()
        for start in range(0, len(self.ids), size):
            stop = min(start + size, len(self.ids))
            yield self._part(slice(start, stop), _of_piece(given, start, stop))
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
            likeliest=None if self.likeliest is None else self.likeliest[rows],
            likelihood=None if self.likelihood is None else self.likelihood[rows],
            probabilities=None if self.probabilities is None else _SomeShares(self.probabilities, rows),
            answers=answers,
            truth=None if self.truth is None else self.truth[rows],
            votes=None if self.votes is None else self.votes.chosen(rows),
        )

    def kept(self) -> pd.DataFrame:
        """The columns that go along, which are all."""
        return self.cells

    def records(self) -> list[dict[str, str]]:
        """The cells of each row, by column."""
        return _records(self.cells)

    def left(self, rows: slice = slice(None)) -> BoolArray:
        """(r, m) the candidates that are exported for these rows: those left, but all that came if a row waits for
        another answer or is disputed, for one candidate would be read as certain."""
        after = np.asarray(self.candidates_after[rows])
        undecided = np.isin(np.asarray(self.source[rows]).astype(str), UNDECIDED)
        if not undecided.any():
            return after
        return np.where(undecided[:, None], np.asarray(self.candidates_before[rows]), after)

    def weights_left(self, rows: slice = slice(None)) -> FloatArray | None:
        """(r, m) the weights of the candidates `left` in these rows, 0 elsewhere; None if nothing was weighed.

        A candidate that came by an answer weighs as much as the heaviest that the row came with: so the models take it
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
        """The candidates `left` of each row, or those that came, in class order, with their weights, None if nothing
        was weighed; to be asked of a piece."""
        candidates = self.candidates_before if before else self.left()
        weights = self.weights if before else self.weights_left()
        rows, places = np.nonzero(candidates)
        given = [None] * len(places) if weights is None else weights[rows, places].tolist()
        named = [*zip([self.classes[place] for place in places.tolist()], given, strict=True)]
        ends = np.searchsorted(rows, np.arange(len(candidates) + 1)).tolist()
        return [dict(named[start:stop]) for start, stop in pairwise(ends)]

    def voters(self, *, all_labels: bool = False) -> list[dict[str, list[str]]]:
        """Return the labels that each person named before the import, {voter: labels} for each row of a piece.

        all_labels : also those that are no longer among the candidates `left`
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
        """Extra fields for formats without a place for them (`add_own`): the true label that came with each
        row, and who named which label before the import; to be asked of a piece."""
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
        """The true label of each row, None if it is unknown; to be asked of a piece."""
        numbers = [-1] * len(self.ids) if self.truth is None else self.truth.tolist()
        return [None if number < 0 else self.classes[number] for number in numbers]

    def listed(self, of: Callable[[Collection[str]], str], *, before: bool = False) -> pa.LargeStringArray:
        """A cell of the candidates `left` of each row, or of those that came, in class order, as `of` writes it; equal
        ones are written once."""
        candidates = self.candidates_before if before else self.left()
        _, first, which = np.unique(
            np.packbits(candidates, axis=1), axis=0, return_index=True, return_inverse=True
        )
        cells = [of([self.classes[place] for place in np.flatnonzero(candidates[row])]) for row in first]
        return pa.array(cells, pa.large_string()).take(pa.array(which.ravel()))

    def label_name(self, row: int) -> str | None:
        """The label of one row; None if it is open."""
        return None if self.label[row] < 0 else self.classes[self.label[row]]

    def known_probability(self, row: int) -> float | None:
        """The probability of the row's label; None if none is known."""
        return None if np.isnan(self.probability[row]) else float(self.probability[row])

    def version_of(self, row: int) -> str | None:
        """The version of the model that gave the row its label; None if no model did."""
        return self.model_version if self.source[row] == "model" else None

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """The answers about each row that has any."""
        return _by_row(self.answers)

    def deciding(self) -> list[dict[str, Any] | None]:
        """The answer of each row that decided what the row may be: the latest verdict, else the latest that changed it;
        None if there is none."""
        found: list[dict[str, Any] | None] = [None] * len(self.ids)
        for answer in self.answers:
            before = found[answer["row"]]
            settled = before is not None and before["kind"] == VERDICT and answer["kind"] != VERDICT
            if answer["kind"] in DECIDING and not settled:
                found[answer["row"]] = answer
        return found

    def id_column(self) -> str | None:
        """The first column that holds the ids; None if the rows are only numbered."""
        return column_of_ids(self.cells, self.ids)


def absent_columns(table: Disambiguated, *, without_id: bool) -> set[str]:
    """The columns that files add to the table only if it has something for them and now has not.

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
    """Some rows of shares, not looked at before they are requested: few formats do."""

    def __init__(self, whole: RowShares, rows: IntArray | slice) -> None:
        n, m = whole.shape
        self._whole, self._rows = whole, np.arange(n)[rows]
        self.shape = len(self._rows), m

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        return self._whole[self._rows[rows]]


def column_of_ids(cells: pd.DataFrame, ids: Sequence[str] | npt.NDArray[np.object_]) -> str | None:
    """The first column whose cells are these ids, but for white space around them; None if there is none."""
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


def _records(cells: pd.DataFrame) -> list[dict[str, str]]:
    names = [str(name) for name in cells.columns]
    columns = [cells.iloc[:, place].tolist() for place in range(len(names))]
    return [
        {name: column[row] for name, column in zip(names, columns, strict=True)} for row in range(len(cells))
    ]


def _by_row(answers: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for answer in answers:
        found.setdefault(int(answer["row"]), []).append(answer)
    return found


def _chosen(answers: Sequence[dict[str, Any]], rows: IntArray) -> list[dict[str, Any]]:
    """The answers about these rows, numbered as the rows then are."""
    place = {int(row): new for new, row in enumerate(rows)}
    return [{**one, "row": place[one["row"]]} for one in answers if one["row"] in place]


def _of_piece(given: Mapping[int, Sequence[dict[str, Any]]], start: int, stop: int) -> list[dict[str, Any]]:
    """The answers about the rows from `start` on, row by row."""
    return [{**one, "row": row - start} for row in range(start, stop) for one in given.get(row, ())]


def _rows(candidates: BoolArray, rows: IntArray | slice) -> BoolArray:
    """The ones of a piece as a matrix; of chosen rows, which may be nearly all, as they are kept."""
    return candidates[rows] if isinstance(rows, slice) else candidates.take(rows, axis=0)


CELLS_AT_ONCE = 400_000
"""Cells of label vectors that are written at once, at most."""


class VectorCells(Protocol):
    """All cells as they are returned (`plcore.loop.label_vectors.LabelVectorExport`): n rows, L labels.

    cells (n, L) int8 : 1 yes, 0 no, -1 not asked      probabilities (n, L) : of yes, NaN if nothing is said
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


_WORDS = {"1": frozenset(YES.to_pylist()), "0": frozenset(NO.to_pylist())}
"""In lower case, the words of cells for yes and for no."""
_VALUES = {word: value for value, words in _WORDS.items() for word in words}


@dataclass(frozen=True)
class LabelVectorTable:
    """Label vectors, and the table they came in.

    Attributes
    ----------
    found : the cells as they are now
    original : (n, n_columns) DataFrame of str, the columns as they came
    replaced : those of these columns in whose place the cells found stand, in the order of the labels; none where the
        labels came as lists
    types : of the columns of `original` that are not text in their source
    answers : as of `Disambiguated`, of the kinds in `SAYS` and those that name no labels
    words : how the cells of the whole table say 1 and 0, of a part of one
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
        """How most cells of labels say 1 and 0: yes and no, or 1.0 and 0.0."""
        if self.words is not None or not self.replaced:
            return self.words or {}
        counts: Counter[str] = Counter()
        for name in self.replaced:
            cells = self.original[name].str.strip().value_counts()
            counts.update({str(cell): int(count) for cell, count in cells.items()})
        meant = {value: [cell for cell in counts if cell.lower() in words] for value, words in _WORDS.items()}
        return {
            value: min(own, key=lambda cell: (-counts[cell], cell)) for value, own in meant.items() if own
        }

    def chosen(self, rows: IntArray) -> LabelVectorTable:
        """These rows alone, in this order."""
        if np.array_equal(rows, np.arange(len(self.original))):
            return self
        return self._part(rows, _chosen(self.answers, rows))

    def pieces(self, size: int | None = None) -> Iterator[LabelVectorTable]:
        """All rows, `size` at a time, of a table without rows one empty piece; None: as many as have some hundred
        thousand cells."""
        if size is None:
            size = max(1, min(PIECE_ROWS, CELLS_AT_ONCE // max(1, len(self.found.labels))))
        given = _by_row(self.answers)
        for start in range(0, max(1, len(self.original)), size):
            yield self._part(slice(start, start + size), _of_piece(given, start, start + size))

    def _part(self, rows: slice | IntArray, answers: Sequence[dict[str, Any]]) -> LabelVectorTable:
        return LabelVectorTable(
            self.found.part(rows), self.original.iloc[rows], self.replaced, self.types, answers, self._words
        )

    def id_column(self) -> str | None:
        """The first column that holds the ids; None if the rows are only numbered."""
        return column_of_ids(self.kept(), self.found.ids)

    def kept(self) -> pd.DataFrame:
        """The original columns without those that are replaced."""
        return self.original[[name for name in self.original.columns if name not in self.replaced]]

    def wide(self) -> pd.DataFrame:
        """A row for each row, all text: the original columns, the cells found instead of those that are replaced,
        else behind them; then what else is known of each label.

        A cell of which nothing new is known stays as it was written, and others say yes and no in the words of these.
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
        """The cells of each row without those that are replaced, by column; its id if that leaves none."""
        kept = self.kept()
        return _records(kept) if len(kept.columns) else [{OWN_ID: name} for name in self.ids]

    def known(self) -> list[dict[str, int | None]]:
        """Known facts about each label of each row: 1, 0, or None; to be asked of a piece."""
        names = list(self.found.labels)
        return [dict(zip(names, map(_known, row), strict=True)) for row in self.found.cells.tolist()]

    def answers_by_row(self) -> dict[int, list[dict[str, Any]]]:
        """The answers about each row that has any."""
        return _by_row(self.answers)

    def said(self) -> list[dict[str, dict[str, int]]]:
        """Latest labels of each row by person, {person: {label: 1 or 0}}; to be asked of a piece."""
        found: list[dict[str, dict[str, int]]] = [{} for _ in self.ids]
        for answer in self.answers:
            if (value := SAYS.get(answer["kind"])) is not None:
                of_person = found[answer["row"]].setdefault(answer["person"], {})
                of_person.update(dict.fromkeys(answer["labels"], value))
        return found

    def lists(self) -> list[dict[str, Any]]:
        """For each row `labels`, those that are right, `not_labels`, those that are not, and `cells`, for each label
        its value, probability, prediction and source, None if nothing is said; to be asked of a piece."""
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
