"""Votes imported with the names of their voters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from plcore.arrays.types import BoolArray, FloatArray, IntArray
from plcore.arrays.words import quoted
from plcore.tables.columns import Finder, first_rows
from plcore.tables.problems import refusal
from plcore.tables.roles.cells import as_labels, spelt_as
from plcore.tables.text.arrow import stripped

LEAST_BELIEF = 1e-9
"""Minimum weight of a candidate under Dawid-Skene, so that every label that was voted for stays possible."""


@dataclass(frozen=True, eq=False)
class NamedVotes:
    """Votes on n rows. A vote for several labels has several lines with the same row and voter.

    rows, who, labels : (v,) int32 each, read-only: row, index in `voters`, class number; ascending, without duplicates
    voters : the names; some may have no votes
    """

    rows: npt.NDArray[np.int32]
    who: npt.NDArray[np.int32]
    labels: npt.NDArray[np.int32]
    voters: tuple[str, ...]

    @classmethod
    def of(cls, rows: npt.ArrayLike, who: npt.ArrayLike, labels: npt.ArrayLike, voters: Sequence[str]) -> NamedVotes:
        """Build the votes from lines (v,) in any order; duplicates count once."""
        lines = np.column_stack([np.asarray(one, dtype=np.int32) for one in (rows, who, labels)])
        order = np.lexsort(lines.T[::-1])
        lines = lines[order]
        again = np.zeros(len(lines), dtype=bool)
        again[1:] = (lines[1:] == lines[:-1]).all(axis=1)
        columns = [np.ascontiguousarray(column) for column in lines[~again].T]
        for column in columns:
            column.flags.writeable = False
        return cls(columns[0], columns[1], columns[2], tuple(voters))

    def __len__(self) -> int:
        return len(self.rows)

    def relabelled(self, column: IntArray) -> NamedVotes:
        """Return the votes under other class numbers. column : (m,) int, new number of each class; below 0: dropped"""
        labels = np.asarray(column)[self.labels]
        kept = labels >= 0
        return NamedVotes.of(self.rows[kept], self.who[kept], labels[kept], self.voters)

    def first_rows(self, n_rows: int) -> NamedVotes:
        """Return the votes on the first rows."""
        kept = self.rows < n_rows
        return NamedVotes.of(self.rows[kept], self.who[kept], self.labels[kept], self.voters)

    def chosen(self, rows: IntArray | slice) -> NamedVotes:
        """Return the votes on these distinct rows, renumbered in the given order. A slice must have no step."""
        if isinstance(rows, slice):
            begin, end = np.searchsorted(self.rows, [rows.start, rows.stop])
            part = slice(begin, end)
            return NamedVotes(self.rows[part] - rows.start, self.who[part], self.labels[part], self.voters)
        place = np.full(max(int(rows.max(initial=-1)), int(self.rows.max(initial=-1))) + 1, -1)
        place[rows] = np.arange(len(rows))
        found = place[self.rows]
        kept = found >= 0
        return NamedVotes.of(found[kept], self.who[kept], self.labels[kept], self.voters)

    def sets(self, n_classes: int) -> tuple[IntArray, IntArray, BoolArray]:
        """Return rows, who (k,) int64 and masks (k, n_classes) bool, one line per vote, for `DawidSkene.fit_masks`."""
        first = np.ones(len(self), dtype=bool)
        first[1:] = (self.rows[1:] != self.rows[:-1]) | (self.who[1:] != self.who[:-1])
        masks = np.zeros((int(first.sum()), n_classes), dtype=bool)
        masks[np.cumsum(first) - 1, self.labels] = True
        return self.rows[first].astype(np.int64), self.who[first].astype(np.int64), masks

    def labels_in(self, row: int) -> list[int]:
        """Return the classes with a vote in this row, ascending."""
        begin, end = np.searchsorted(self.rows, [row, row + 1])
        return [int(label) for label in np.unique(self.labels[begin:end])]

    def who_said(self, row: int, label: int) -> tuple[str, ...]:
        """Return the names of the voters for this class in this row."""
        begin, end = np.searchsorted(self.rows, [row, row + 1])
        own = self.who[begin:end][self.labels[begin:end] == label]
        return tuple(self.voters[place] for place in own)


def joined_votes(
    own: NamedVotes | None, more: NamedVotes | None, n_own: int, n_more: int, column: IntArray
) -> NamedVotes | None:
    """Concatenate the votes on a table's own rows and those on added rows.

    n_own, n_more : numbers of rows; votes of `more` on later rows are dropped
    column : (m,) new number of each class of `more`
    """
    if more is None:
        return own
    more = more.first_rows(n_more).relabelled(column)
    if own is None:
        own = NamedVotes.of([], [], [], ())
    voters = tuple(dict.fromkeys([*own.voters, *more.voters]))
    place = {name: number for number, name in enumerate(voters)}
    who = np.array([place[name] for name in more.voters] or [0])[more.who]
    rows = np.concatenate([own.rows, more.rows + n_own])
    people, labels = np.concatenate([own.who, who]), np.concatenate([own.labels, more.labels])
    return NamedVotes.of(rows, people, labels, voters)


def read_voters(
    cells: pd.DataFrame,
    column: str,
    ignored: Sequence[str],
    candidates: BoolArray,
    classes: tuple[str, ...],
    finder: Finder,
) -> NamedVotes:
    """Read the votes from the column that names the voters of each label.

    Its cells are JSON objects that map each label to the list of its voters, {"wren": ["Ann", "Bob"]}; an empty cell
    has no votes. Problems: cells of another form, and labels that are not candidates of their row before any cut.
    """
    text = stripped(cells, column)
    encoded = text.dictionary_encode()
    read = [_object(cell) for cell in encoded.dictionary.to_pylist()]
    codes = np.asarray(encoded.indices)
    for row in first_rows(np.array([one is None for one in read] or [False])[codes]):
        message = f"expected who named each label, got {quoted(text[row].as_py())}."
        fix = 'Write it as in {"wren": ["Ann", "Bob"]}, or remove the role “who named each label”.'
        finder.add(row, column, message, fix)
    rows, names, labels = [], [], []
    for row, code in enumerate(codes):
        for label, people in (read[code] or {}).items():
            for name in people:
                rows.append(row)
                names.append(name)
                labels.append(label)
    said = as_labels(pa.array(labels, pa.large_string()), ignored).to_pylist()
    spelling = spelt_as(classes, list(dict.fromkeys(said)))
    number = {name: place for place, name in enumerate(classes)}
    found = np.array([number.get(spelling[one], -1) if one else -2 for one in said], dtype=np.int64)
    at = np.array(rows, dtype=np.int64)
    inside = found >= 0
    inside[inside] = candidates[at[inside], found[inside]]
    told = set()
    for place in first_rows(~inside & (found != -2)):
        if at[place] not in told:
            told.add(at[place])
            message = f"{quoted(labels[place])} has a voter, but is not a candidate of the row."
            fix = "Add it to the candidates, or remove the role “who named each label”."
            finder.add(int(at[place]), column, message, fix)
    voters = tuple(dict.fromkeys(names))
    places = {name: place for place, name in enumerate(voters)}
    who = np.array([places[name] for name in names], dtype=np.int64)
    return NamedVotes.of(at[inside], who[inside], found[inside], voters)


def _object(cell: str) -> dict[str, list[str]] | None:
    """Parse a cell into {label: names}; None if it is something else."""
    if not cell:
        return {}
    try:
        found = json.loads(cell)
        json.dumps(found, ensure_ascii=False).encode()  # half a surrogate pair can be neither stored nor displayed
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    for people in found.values():
        if not (isinstance(people, list) and all(isinstance(name, str) and name for name in people)):
            return None
    return found


def believed_weights(votes: NamedVotes, candidates: BoolArray) -> FloatArray:
    """Return (n, m) the probability of each candidate, with votes weighted by each voter's reliability (`DawidSkene`).

    Above 0 for every candidate, 0 for other classes; all candidates of a row without votes are equal. Raises TableError
    if there are no votes, or too many voters and classes.
    """
    from plcore.crowd import DawidSkene  # scikit-learn and Numba are 55 MB, and few tables have such votes

    if not len(votes):
        message = "Votes are to count by how right each voter is, but nothing says who voted."
        raise refusal(message, "Let all votes count alike.")
    try:
        model = DawidSkene().fit_masks(*votes.sets(candidates.shape[1]), candidates)
    except ValueError as error:
        raise refusal(str(error), "Or let all votes count alike.") from error
    found: FloatArray = np.where(candidates, np.maximum(model.label_distributions_, LEAST_BELIEF), 0.0)
    return found
