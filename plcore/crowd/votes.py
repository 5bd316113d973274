"""Votes of several annotators: the input convention and its validation.

A vote is (row, annotator, labels): the row number from 0, the annotator, and the name of a class, or a set of names if
the annotator only narrowed down the choice. If an annotator has several votes on a row, the last counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from plcore.arrays.checks import is_whole
from plcore.arrays.types import AnyArray, BoolArray, IntArray, LabelsLike, is_sparse
from plcore.arrays.words import listed, shortened
from plcore.labels.candidates import as_array, check_candidates, holds_sets, infer_labels

COLUMNS = ("row", "annotator", "labels")
SETS = (set, frozenset, list, tuple, np.ndarray)
VotesLike: TypeAlias = pd.DataFrame | Iterable[Sequence[object]]
"""Votes (row, annotator, labels), or cells (row, annotator, label, value); a DataFrame has them as columns."""
FORM = "Every vote must be (row, annotator, labels)"


@dataclass(frozen=True)
class CrowdVotes:
    """Validated votes, in the order given.

    rows, who : int64 (v,): row number and index in `annotators`      masks : bool (v, m)
    classes (m,)      annotators : sorted      candidates : bool (n, m), all True if none were given
    """

    rows: IntArray
    who: IntArray
    masks: BoolArray
    classes: AnyArray
    annotators: tuple[Hashable, ...]
    candidates: BoolArray

    @property
    def shared(self) -> IntArray:
        """Return the rows, ascending, that at least two people have answered."""
        return np.flatnonzero(np.bincount(self.rows, minlength=len(self.candidates)) >= 2)


def read_votes(
    votes: VotesLike, candidates: LabelsLike | None = None, classes: Iterable[Hashable] | None = None
) -> CrowdVotes:
    """Validate votes and convert them to one form.

    votes : DataFrame with the columns row, annotator, labels; or a sequence of (row, annotator, labels)
    candidates : None, or the candidates of the n rows in any form that `fit` of a classifier takes. If the columns have
        no names (an array), the classes are the numbers 0..m-1 or, if the votes are text, the m sorted names in the
        votes. With sets of names the classes are all names in the sets and in the votes
    classes : None, or the class names, if the candidates have none; default: the names in the votes, sorted
    Raises ValueError naming the first invalid vote, counted from 0, and CandidateError for invalid candidates.
    """
    triples = _triples(votes)
    rows = np.array([_row(number, row) for number, (row, _, _) in enumerate(triples)], dtype=np.int64)
    people = [_annotator(number, name) for number, (_, name, _) in enumerate(triples)]
    sets = [_labels(number, labels) for number, (_, _, labels) in enumerate(triples)]
    _refuse_mixed(sets)
    matrix, names = _candidates(candidates, classes, sets)
    at = {name: place for place, name in enumerate(names.tolist())}
    masks = np.zeros((len(sets), len(names)), dtype=bool)
    for number, labels in enumerate(sets):
        for name in labels:
            if name not in at:
                raise ValueError(
                    f"Vote {number}: there is no class {shortened(repr(name))}; there are "
                    f"{listed([str(one) for one in names.tolist()])}. "
                    "Fix: correct the vote, or give the candidates a column for this class."
                )
            masks[number, at[name]] = True
    if matrix is None:
        matrix = np.ones((int(rows.max(initial=-1)) + 1, len(names)), dtype=bool)
    if (beyond := np.flatnonzero(rows >= len(matrix))).size:
        raise ValueError(
            f"Vote {beyond[0]}: there is no row {rows[beyond[0]]}; the candidates have {len(matrix)} rows, counted "
            "from 0. Fix: give candidates for all rows, or leave the vote out."
        )
    annotators = tuple(sorted(set(people), key=lambda name: (type(name).__name__, name)))
    place = {name: number for number, name in enumerate(annotators)}
    who = np.array([place[name] for name in people], dtype=np.int64)
    kept = last_votes(rows, who)
    return CrowdVotes(rows[kept], who[kept], masks[kept], names, annotators, matrix)


def last_votes(rows: IntArray, who: IntArray) -> IntArray:
    """Return the places, ascending, of the last vote of each annotator on each row. rows, who (v,)"""
    people, numbers = np.unique(who, return_inverse=True)
    pairs = rows * max(len(people), 1) + numbers
    _, from_behind = np.unique(pairs[::-1], return_index=True)
    return np.sort(len(pairs) - 1 - from_behind)


def _triples(votes: VotesLike) -> list[tuple[object, object, object]]:
    if isinstance(votes, pd.DataFrame):
        if missing := [name for name in COLUMNS if name not in votes.columns]:
            raise ValueError(
                f"votes must have the columns {', '.join(map(repr, COLUMNS))}; {missing[0]!r} is missing. "
                f"Got {listed([str(name) for name in votes.columns])}. Fix: votes.rename(columns=...)."
            )
        return list(zip(*(votes[name].tolist() for name in COLUMNS), strict=True))
    if isinstance(votes, str) or not isinstance(votes, Iterable):
        raise ValueError(
            f"votes must be a DataFrame or a sequence of (row, annotator, labels). Got {shortened(repr(votes))}."
        )
    found = []
    for number, vote in enumerate(votes):
        if not isinstance(vote, Sequence) or isinstance(vote, str) or len(vote) != 3:
            raise ValueError(f"{FORM}; vote {number} is {shortened(repr(vote))}.")
        found.append((vote[0], vote[1], vote[2]))
    return found


def _row(number: int, row: object) -> int:
    if not is_whole(row) or row < 0:
        raise ValueError(
            f"Vote {number}: a row is named by its number, a whole number from 0. Got {shortened(repr(row))}. "
            "Fix: for names of rows, pandas.factorize(names) gives numbers."
        )
    return int(row)


def _missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _annotator(number: int, name: object) -> Hashable:
    if _missing(name) or not isinstance(name, (str, int, np.integer)) or isinstance(name, bool):
        raise ValueError(
            f"Vote {number}: an annotator is named by text or a whole number. Got {shortened(repr(name))}."
        )
    return name if isinstance(name, str) else int(name)


def _labels(number: int, labels: object) -> list[Any]:
    """Return the labels that a vote names, each once."""
    named = list(labels) if isinstance(labels, SETS) else [labels]
    named = [name.item() if isinstance(name, np.generic) else name for name in named]
    if not named:
        raise ValueError(f"Vote {number}: it names no class. Fix: leave it out; 'cannot tell' is not a vote.")
    for name in named:
        if _missing(name) or not isinstance(name, (str, int, bool)):
            raise ValueError(
                f"Vote {number}: labels are the name of a class (text, a whole number or a bool) or a set of names. "
                f"Got {shortened(repr(name))}."
            )
    return named


def _refuse_mixed(sets: list[list[Any]]) -> None:
    """Raise ValueError if some names are text and others are numbers: 3 and "3" would be two classes."""
    kinds = Counter(type(name).__name__ for labels in sets for name in labels)
    if len(kinds) > 1:
        rare = min(kinds, key=lambda kind: kinds[kind])
        number = next(i for i, labels in enumerate(sets) if any(type(one).__name__ == rare for one in labels))
        raise ValueError(
            f"Vote {number}: the classes must all be text, or all whole numbers, or all bools. "
            f"Got {shortened(repr(sets[number]))}, of which others are {' and '.join(sorted(set(kinds) - {rare}))}. "
            "Fix: write all classes in one way, for example as text."
        )


def _candidates(
    candidates: LabelsLike | None, classes: Iterable[Hashable] | None, sets: list[list[Any]]
) -> tuple[BoolArray | None, AnyArray]:
    """Return candidates bool (n, m), None if there are none, and the classes of their columns."""
    voted = sorted({name for labels in sets for name in labels})
    known = voted if classes is None else list(classes)
    if candidates is None:
        if not known:
            raise ValueError("There are no votes, so no classes. Fix: give candidates, or at least one vote.")
        return None, np.asarray(infer_labels(np.array(known, dtype=object)))
    matrix, columns = check_candidates(candidates)
    if holds_sets(candidates):
        return _with_columns(matrix, columns, known, in_order=classes is not None)
    unnamed = not isinstance(candidates, pd.DataFrame) and (is_sparse(candidates) or np.ndim(as_array(candidates)) == 2)
    if unnamed and any(isinstance(name, str) for name in known):
        if len(known) != matrix.shape[1]:
            raise ValueError(
                f"The candidates have {matrix.shape[1]} columns without names, and there are {len(known)} classes: "
                f"{listed([str(name) for name in known])}. "
                "Fix: give the candidates as a DataFrame whose columns are the classes."
            )
        return matrix, np.asarray(known, dtype=object)
    return matrix, columns


def _with_columns(matrix: BoolArray, columns: AnyArray, known: list[Any], in_order: bool) -> tuple[BoolArray, AnyArray]:
    """Return the same candidates with a column for every known class: sets do not name the other classes."""
    names = columns.tolist()
    if len({type(name) for name in (*names, *known)}) > 1:
        return matrix, columns
    every = [*known, *(name for name in names if name not in known)]
    every = every if in_order else sorted(every)
    wider = np.zeros((len(matrix), len(every)), dtype=bool)
    wider[:, [every.index(name) for name in names]] = matrix
    return wider, np.asarray(infer_labels(np.array(every, dtype=object)))


# Majority vote.

SAME = 1e-9
"""Difference below which sums of shares are equal, so that three thirds make one."""


def majority(votes: VotesLike, candidates: LabelsLike | None = None) -> AnyArray:
    """Return (n,) the class with the most votes of each row; None for ties and for rows without votes.

    A vote for several classes counts for each in equal shares. With candidates, only the classes inside them share a
    vote; a vote with no class inside does not count. Forms and errors as in `read_votes`.
    """
    read = read_votes(votes, candidates)
    inside = read.masks & read.candidates[read.rows]
    counts = np.zeros(read.candidates.shape)
    np.add.at(counts, read.rows, inside / np.maximum(inside.sum(axis=1, keepdims=True), 1))
    most = counts.max(axis=1, keepdims=True)
    alone = ((counts > most - SAME).sum(axis=1) == 1) & (most[:, 0] > 0)
    found = np.empty(len(counts), dtype=object)
    names = read.classes.tolist()
    for row in np.flatnonzero(alone):
        found[row] = names[int(counts[row].argmax())]
    return found


# Answers about label vectors as votes: each label is a separate question with the classes yes and no.

YES, NO = "yes", "no"
VECTOR_COLUMNS = ("row", "annotator", "label", "value")
VALUES = {1: YES, 0: NO}
"""Python treats True and False as 1 and 0 here."""


def votes_by_label(cells: VotesLike) -> dict[Hashable, list[tuple[int, Hashable, str]]]:
    """Convert answers about single labels to {label: votes}, labels in order of first appearance.

    cells : DataFrame with the columns row, annotator, label, value; or a sequence of such tuples. value: 1 or True for
        yes, 0 or False for no; -1, None or NaN for not asked, which is not a vote
    The votes of a label are (row, annotator, "yes" or "no"), for `DawidSkene`, `krippendorff_alpha` and others. Raises
    ValueError naming the first other cell, counted from 0.
    """
    if isinstance(cells, pd.DataFrame):
        if missing := [name for name in VECTOR_COLUMNS if name not in cells.columns]:
            raise ValueError(
                f"cells must have the columns {', '.join(map(repr, VECTOR_COLUMNS))}; {missing[0]!r} is missing."
            )
        cells = zip(*(cells[name].tolist() for name in VECTOR_COLUMNS), strict=True)
    if not isinstance(cells, Iterable) or isinstance(cells, str):
        raise ValueError(f"cells must be a DataFrame or a sequence of fours. Got {shortened(repr(cells))}.")
    found: dict[Hashable, list[tuple[int, Hashable, str]]] = {}
    for number, cell in enumerate(cells):
        if not isinstance(cell, tuple | list) or len(cell) != 4:
            raise ValueError(
                f"Every cell must be (row, annotator, label, value); cell {number} is {shortened(repr(cell))}."
            )
        row, annotator, label, value = cell
        votes = found.setdefault(label, [])
        if value is None or value is pd.NA or value != value or value == -1:
            continue
        if value not in VALUES:
            raise ValueError(
                f"Cell {number}: value must be 1 (yes), 0 (no) or -1 (not asked). Got {shortened(repr(value))}."
            )
        votes.append((row, annotator, VALUES[int(value)]))
    return found
