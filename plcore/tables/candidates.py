"""Parse label cells into the candidates of each row and their weights, or into label vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays.candidate_sets import pairs_of, place_candidates
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.arrays.words import counted, forbidden_in_name, listed, quoted
from plcore.tables.columns import Finder, first_rows, parse_numbers
from plcore.tables.problems import MAX_PROBLEMS, refusal
from plcore.tables.roles.cells import (
    Named,
    as_labels,
    as_names,
    checked_weights,
    labels_in,
    named_labels,
    no_truth,
    one_spelling,
    sorted_classes,
    spelt_as,
)
from plcore.tables.roles.named_votes import NamedVotes, believed_weights, read_voters
from plcore.tables.roles.roles import Roles, label_in_name
from plcore.tables.roles.sample import NO_WORDS, NOT_ASKED_WORDS, YES_WORDS
from plcore.tables.text.arrow import stripped


def cut_weights(weights: FloatArray, cut: str, at: float) -> FloatArray:
    """Return the weights (n, m), at least 0, of the labels that remain after the cut; 0 for the others.

    cut : "all": all above 0; "threshold": those of at least `at`, or, in rows without any, all above 0;
        "top": the `at` heaviest, including ties; "mass": the heaviest that together hold the share `at` of
        the row's weight, including ties
    """
    if cut == "all" or not weights.size:
        return weights
    if cut == "threshold":
        kept = weights >= at
        kept |= ~kept.any(axis=1, keepdims=True)
    else:
        least = _at_least(weights, int(at)) if cut == "top" else _least_of_mass(weights, at)
        kept = weights >= least[:, None]
    return np.where(kept, weights, 0.0)


def _at_least(weights: FloatArray, count: int) -> FloatArray:
    """Return (n,) the weight of the last of the `count` heaviest labels of each row."""
    m = weights.shape[1]
    if count >= m:
        return np.zeros(len(weights))
    found: FloatArray = np.partition(weights, m - count, axis=1)[:, m - count]
    return found


def _least_of_mass(weights: FloatArray, share: float) -> FloatArray:
    """Return (n,) the weight of the last label needed to reach this share of the row's weight."""
    falling = -np.sort(-weights, axis=1)
    held = np.cumsum(falling, axis=1)
    # A sum of parts may differ from the whole in its last digits.
    needed = held >= share * held[:, -1:] * (1 - 1e-12)
    return np.take_along_axis(falling, needed.argmax(axis=1)[:, None], axis=1)[:, 0]


MAX_CLASSES = 100_000  # more classes mean that a wrong column or separator was chosen
MAX_COLUMNS = 4096  # for labels with a column each, and label vectors: these are a dense matrix
MAX_WEIGHTS = 100_000_000  # weights of all rows and classes: 0.8 GB, and as much again during the cut
YES = pa.array(["1", "1.0", "x", "✓", "✔", *YES_WORDS], pa.large_string())
NO = pa.array(["0", "0.0", *NO_WORDS], pa.large_string())
_NOTHING = ("", "nan", "na", "n/a", "#n/a", "<na>", "none", "null", "?", "-", "-1", "-1.0")
NOT_ASKED = pa.array([*_NOTHING, *NOT_ASKED_WORDS], pa.large_string())
"""Cell values of 0/1 columns, in lower case, for yes, no and not asked."""
ROUNDED = 0.02
"""How far the sum of the rounded shares of a row may be from 1."""


class Candidates(NamedTuple):
    """candidates (n, m) bool, classes (m,), and weights (n, m), 0 for non-candidates; None if in every row
    all candidates weigh the same. votes : which annotator named which label, None if unknown."""

    candidates: BoolArray
    classes: tuple[str, ...]
    weights: FloatArray | None
    votes: NamedVotes | None = None


def parse_candidates(cells: pd.DataFrame, roles: Roles, finder: Finder) -> Candidates:
    """Parse the candidates of every row. Problems: unreadable cells, rows without candidates, fewer than two
    classes.

    Classes are in column order where each has a column, else sorted: as numbers if all are integers, as text if not.
    """
    weights: FloatArray | None = None
    votes: NamedVotes | None = None
    told: IntArray | None = None  # rows already reported in a problem
    weightless = np.zeros(len(cells), dtype=bool)  # rows that name a label; if none remains, all weigh 0
    if roles.label_columns:
        candidates, classes = _from_label_columns(cells, roles.label_columns, finder)
    elif roles.score_columns:
        weights, classes = _from_score_columns(cells, roles, finder)
    else:
        named = named_labels(cells, roles, finder)
        candidates, weights, classes, votes = _from_labels(len(cells), named, roles)
        if roles.voters is not None:
            votes = read_voters(cells, roles.voters, roles.ignored, candidates, classes, finder)
        weightless[named.rows[np.asarray(pc.not_equal(named.labels, ""))]] = True
        told = named.unknown
    if roles.vote_weights == "dawid-skene" and votes is not None:
        _check_weights(len(cells), classes, roles)
        weights = believed_weights(votes, np.asarray(candidates))
    if weights is not None:
        weights = cut_weights(weights, roles.cut, roles.cut_at)
        candidates = weights > 0
    empty = ~np.asarray(candidates.any(axis=1))
    if roles.unlabelled == "all":
        candidates, weights = _all_possible(candidates, weights, np.flatnonzero(empty & ~weightless))
    if empty.any():
        _add_empty(empty, weightless, told, roles, finder)
    candidates, weights, classes = _with_truth(cells, roles, candidates, weights, classes)
    if len(classes) < 2 and candidates.any():
        message = f"only one label occurs, {quoted(classes[0])}, so there is nothing to decide."
        fix = "Choose a column with at least two different labels and check the separator."
        finder.add(None, _nothing_named(roles)[0], message, fix)
    if weights is not None and not (candidates & (weights < weights.max(axis=1, keepdims=True, initial=0))).any():
        weights = None
    return Candidates(candidates, classes, weights, votes)


_UNLABELLED = " Or choose for rows without a candidate (--unlabelled) that every class is possible, or leave them out."
_ALL_ZERO = (
    "all weights of the row are 0.",
    "Write a weight above 0 for every label that may be right, or remove the row.",
)


def _add_empty(empty: BoolArray, weightless: BoolArray, told: IntArray | None, roles: Roles, finder: Finder) -> None:
    """Add a problem for each row without a candidate, except those in `told`."""
    place, message, fix = _nothing_named(roles)
    for row in first_rows(empty & weightless):
        finder.add(row, place, *_ALL_ZERO)
    bare = empty & ~weightless
    if told is not None:
        bare[told] = False
    if roles.unlabelled == "refuse" and bare.any():
        if (several := int(bare.sum())) > 1:
            message += f" The same holds for {several - 1:,} other row{'s' if several > 2 else ''}."
        finder.add(first_rows(bare)[0], place, message, fix + _UNLABELLED)


def _all_possible(
    candidates: BoolArray, weights: FloatArray | None, rows: IntArray
) -> tuple[BoolArray, FloatArray | None]:
    """Return candidates and weights with every class possible in these rows."""
    n, m = candidates.shape
    if not len(rows):
        return candidates, weights
    if weights is not None:
        weights[rows] = 1.0
    every = np.repeat(rows, m), np.tile(np.arange(m), len(rows))
    return place_candidates(n, m, pairs_of(candidates), every), weights


def _with_truth(
    cells: pd.DataFrame, roles: Roles, candidates: BoolArray, weights: FloatArray | None, classes: tuple[str, ...]
) -> tuple[BoolArray, FloatArray | None, tuple[str, ...]]:
    """Return candidates, weights and classes with true labels added to the candidates of their rows, if
    `roles` asks for it; each gets the weight of the lightest candidate of its row."""
    if roles.truth is None or roles.truth_outside != "add":
        return candidates, weights, classes
    labels = as_labels(stripped(cells, roles.truth), (*roles.ignored, *no_truth(classes)))
    names, places = as_names(labels)
    spelt = spelt_as(classes, names)
    every = (*classes, *sorted({spelt[name] for name in names if name} - set(classes)))
    at = {name: index for index, name in enumerate(every)}
    truth = np.array([at[spelt[name]] if name else -1 for name in names] or [-1])[places]
    rows = np.flatnonzero((truth >= 0) & np.asarray(candidates.any(axis=1)))
    added = place_candidates(len(cells), len(every), pairs_of(candidates), (rows, truth[rows]))
    if weights is not None:
        lightest = np.where(weights > 0, weights, np.inf).min(axis=1)
        weights = np.pad(weights, ((0, 0), (0, len(every) - len(classes))))
        new = rows[weights[rows, truth[rows]] == 0]
        weights[new, truth[new]] = lightest[new]
    return added, weights, every


def _nothing_named(roles: Roles) -> tuple[str, str, str]:
    """Return column, message and fix for a row without candidates."""
    if roles.label_columns:
        fix = "Write 1 in the column of every label that may be right, or remove the row."
        return roles.label_columns[0], "none of the label columns holds a 1 for this row.", fix
    if roles.annotators:
        return (roles.annotators[0], "no annotator has voted on this row.", "Add at least one vote, or remove the row.")
    if roles.score_columns:
        fix = "Write a number above 0 for every label that may be right, or remove the row."
        return roles.score_columns[0], "no label has a score above 0 in this row.", fix
    if roles.choices:
        return (roles.choices[0], "the row has no candidate label.", "Write at least one label, or remove the row.")
    several = {"list": f"a{roles.separator}b", "weighted": f"a:0.6{roles.separator}b:0.3", "json": '["a", "b"]'}
    fix = f"Write at least one label, several as in {several[roles.form]}, or remove the row."
    return str(roles.candidates), "the row has no candidate label.", fix


def _from_labels(
    n_rows: int, named: Named, roles: Roles
) -> tuple[BoolArray, FloatArray | None, tuple[str, ...], NamedVotes | None]:
    """Return the pairs of row and label; their weights, or None without weights; and the annotators'
    votes. Empty labels are ignored."""
    names, places = as_names(named.labels)
    quoted_names = roles.candidates is not None and roles.form == "json"  # a quoted 1.0 is text, not a number
    spelling = {name: name for name in names if name} if quoted_names else one_spelling(names)
    classes = sorted_classes(sorted(set(spelling.values())))
    if len(classes) > MAX_CLASSES:
        column = next(column for _, column in roles.used())
        message = f"{len(classes)} different labels were found; at most {MAX_CLASSES} can be handled."
        fix = "Check that this column holds candidate labels and that the separator is right."
        raise refusal(message, fix, column=column)
    place = {name: index for index, name in enumerate(classes)}
    numbers = np.array([place[spelling[name]] if name else -1 for name in names] or [-1], dtype=np.int32)
    class_of, rows = numbers[places], named.rows
    given = class_of >= 0
    if named.weights is None and not roles.annotators:  # a label listed twice gets no extra weight
        if not given.all():
            class_of, rows = class_of[given], rows[given]
        return place_candidates(n_rows, len(classes), (rows, class_of)), None, classes, None
    _check_weights(n_rows, classes, roles)
    weights = np.zeros((n_rows, len(classes)))
    each = np.ones(len(places)) if named.weights is None else named.weights
    # A row that names a label twice: counts add up, and of scores the highest counts.
    joins = np.add if bool((each == np.floor(each)).all()) else np.maximum
    joins.at(weights, (named.rows[given], class_of[given]), each[given])
    votes = None
    if roles.annotators:
        who = np.repeat(np.arange(len(roles.annotators)), n_rows)  # one column after the other
        votes = NamedVotes.of(named.rows[given], who[given], class_of[given], roles.annotators)
    return weights > 0, weights, classes, votes


def _check_weights(n_rows: int, classes: tuple[str, ...], roles: Roles) -> None:
    """Refuse more weights than fit in memory: they are a dense float64 matrix."""
    if n_rows * len(classes) > MAX_WEIGHTS:
        column = next(column for _, column in roles.used())
        message = (
            f"{n_rows:,} rows and {len(classes):,} classes make {n_rows * len(classes):,} weights; at most "
            f"{MAX_WEIGHTS:,} are allowed."
        )
        fix = "Import fewer rows, join seldom classes, or write the candidates without weights."
        raise refusal(message, fix, column=column)


def _from_label_columns(
    cells: pd.DataFrame, columns: tuple[str, ...], finder: Finder
) -> tuple[BoolArray, tuple[str, ...]]:
    candidates = np.zeros((len(cells), len(columns)), dtype=bool)
    for place, column in enumerate(columns):
        text = pc.utf8_lower(stripped(cells, column))
        yes, no = pc.is_in(text, value_set=YES), pc.is_in(text, value_set=NO)
        for row in first_rows(pc.invert(pc.or_(yes, no))):
            message = f"expected 0 or 1, got {quoted(str(cells[column].iloc[row]))}."
            fix = "Write 1 if the label may be right for this row and 0 if not."
            finder.add(row, column, message, fix)
        candidates[:, place] = yes.to_numpy(zero_copy_only=False)
    return candidates, classes_of_columns(columns, "", finder)


def _from_score_columns(cells: pd.DataFrame, roles: Roles, finder: Finder) -> tuple[FloatArray, tuple[str, ...]]:
    """Read score columns: a number for each label and row; an empty cell is 0. Log-probabilities become
    probabilities."""
    columns = roles.score_columns
    if len(columns) > MAX_COLUMNS:
        message = f"{len(columns)} columns of scores were chosen; at most {MAX_COLUMNS} can be handled."
        raise refusal(message, "Choose fewer of them.", column=columns[0])
    _check_weights(len(cells), columns, roles)
    scores = parse_numbers(cells, columns, finder)
    if (scores < 0).any():
        scores = np.where(rows_of_logarithms(scores)[:, None], np.exp(np.minimum(scores, 0.0)), scores)
    scores = np.nan_to_num(scores)
    for place, column in enumerate(columns):
        checked_weights(np.arange(len(cells)), scores[:, place], column, finder)
    return np.maximum(scores, 0.0), classes_of_columns(columns, roles.score_prefix, finder)


def rows_of_logarithms(scores: FloatArray) -> BoolArray:
    """Return (n,) the rows of scores (n, m) that are log-probabilities: none is above 0, one is below, and their
    exponentials sum to 1. NaN is a missing score."""
    sums = np.nansum(np.exp(np.minimum(scores, 0.0)), axis=1)
    found: BoolArray = ~(scores > 0).any(axis=1) & (scores < 0).any(axis=1) & (np.abs(sums - 1) < ROUNDED)
    return found


def classes_of_columns(columns: tuple[str, ...], prefix: str, finder: Finder) -> tuple[str, ...]:
    """Return the labels that the columns are named after. Problem: two columns of one label."""
    names = pa.array([label_in_name(column, prefix) for column in columns], pa.large_string())
    classes = tuple(as_labels(names).to_pylist())
    for place, name in enumerate(classes):
        if name in classes[:place]:
            other = columns[classes.index(name)]
            message = f"its label {quoted(name)} is also that of column {quoted(other)}."
            finder.add(None, columns[place], message, "Give every label a column with a name of its own.")
    return classes


def class_numbers(text: pa.Array, classes: tuple[str, ...], ignored: tuple[str, ...] = ()) -> IntArray:
    """Return (n,) the class number of the label in each cell, -1 for an empty cell and -2 for an unknown
    label."""
    labels = as_labels(text, ignored)
    names, places = as_names(labels)
    spelling = spelt_as(classes, names)
    place = {name: index for index, name in enumerate(classes)}
    numbers = [place.get(spelling[name], -2) if name else -1 for name in names]
    return np.array(numbers or [-1], dtype=np.int64)[places]


def parse_truth(
    cells: pd.DataFrame, roles: Roles, candidates: BoolArray, classes: tuple[str, ...], finder: Finder
) -> IntArray | None:
    """Parse true labels: int64 (n,) class numbers, -1 if unknown; None without a column. Problem: truth
    outside the candidates."""
    column = roles.truth
    if column is None:
        return None
    text = stripped(cells, column)
    found = class_numbers(text, classes, (*roles.ignored, *no_truth(classes)))
    truth, filled = np.maximum(found, -1), found != -1
    inside = np.zeros(len(cells), dtype=bool)
    inside[truth >= 0] = candidates[np.flatnonzero(truth >= 0), truth[truth >= 0]]
    outside = filled & ~inside & np.asarray(candidates.any(axis=1))
    if roles.truth_outside == "unknown":
        return np.where(outside, -1, truth)
    if rows := first_rows(outside):
        own = [classes[index] for index in np.flatnonzero(candidates[rows[0]])]
        message = f"the true label {quoted(text[rows[0]].as_py())} is not among the row's candidates {listed(own, 5)}."
        if (several := int(outside.sum())) > 1:
            others = counted(several - 1, "other row")
            message += f" The same holds in {others}, of {int(filled.sum()):,} with a true label."
        fix = (
            "Correct it (capitals count). Or choose for true labels outside the candidates (--truth-outside) to add "
            "them, or to treat them as unknown."
        )
        finder.add(rows[0], column, message, fix)
    return truth


def parse_vectors(cells: pd.DataFrame, roles: Roles, finder: Finder) -> tuple[AnyArray, tuple[str, ...]]:
    """Parse label vectors: int8 (n, L) and the L label names.

    The input is one column of 1, 0 or empty cells for each label, in column order; or lists of the labels
    that are right and of those that are not (`roles.candidates`, `roles.not_labels`), labels sorted.
    Problems: other cells, two labels of one name, a label that is listed as right and as not right, fewer
    than two labels.
    """
    if roles.label_columns:
        vectors, labels = _from_columns(cells, roles.label_columns, finder)
    else:
        vectors, labels = _from_lists(cells, roles, finder)
    if len(labels) < 2:
        place = roles.label_columns[0] if roles.label_columns else roles.candidates
        message = f"label vectors need two labels or more; found {len(labels)}."
        finder.add(None, place, message, "Choose more label columns, or check the separator of the lists.")
    return vectors, labels


def _from_columns(cells: pd.DataFrame, columns: tuple[str, ...], finder: Finder) -> tuple[AnyArray, tuple[str, ...]]:
    if len(columns) > MAX_COLUMNS:
        message = f"{len(columns)} label columns were chosen; at most {MAX_COLUMNS} can be handled."
        raise refusal(message, "Choose fewer of them, or join rare labels.", column=columns[0])
    vectors = np.full((len(cells), len(columns)), -1, dtype=np.int8)
    texts = [pc.utf8_lower(stripped(cells, column)) for column in columns]
    # Without any 0, -1 means no: no annotator would mark all unasked labels but none of the wrong ones.
    zero = any(pc.any(pc.is_in(text, value_set=NO)).as_py() for text in texts)
    absent = NO if zero else pa.array([*NO.to_pylist(), "-1", "-1.0"], pa.large_string())
    for place, (column, text) in enumerate(zip(columns, texts, strict=True)):
        yes, no = pc.is_in(text, value_set=YES), pc.is_in(text, value_set=absent)
        fits = pc.or_(pc.or_(yes, no), pc.is_in(text, value_set=NOT_ASKED))
        for row in first_rows(pc.invert(fits)):
            message = f"expected 1, 0 or an empty cell, got {quoted(str(cells[column].iloc[row]))}."
            fix = "Write 1 if the label is right, 0 if it is not, and leave the cell empty if no one was asked."
            finder.add(row, column, message, fix)
        vectors[np.asarray(no), place] = 0
        vectors[np.asarray(yes), place] = 1
    return vectors, classes_of_columns(columns, "", finder)


def _from_lists(cells: pd.DataFrame, roles: Roles, finder: Finder) -> tuple[AnyArray, tuple[str, ...]]:
    lists = [(str(roles.candidates), 1)]
    if roles.not_labels is not None:
        lists.append((roles.not_labels, 0))
    pairs = [_listed(cells, column, roles, finder) for column, _ in lists]
    names = {name for _, labels in pairs for name in labels if name}
    labels = sorted_classes(sorted(names))
    if len(labels) > MAX_COLUMNS:
        message = f"{len(labels)} different labels were found; at most {MAX_COLUMNS} can be handled."
        fix = "Check that this column lists labels and that the separator is right."
        raise refusal(message, fix, column=lists[0][0])
    place = {name: number for number, name in enumerate(labels)}
    vectors = np.full((len(cells), len(labels)), -1, dtype=np.int8)
    for (column, value), (rows, found) in zip(lists, pairs, strict=True):
        given = np.array([bool(name) for name in found], dtype=bool)
        columns = np.array([place[name] for name in found if name], dtype=np.int64)
        if value == 0:
            both = vectors[rows[given], columns] == 1
            for at in np.flatnonzero(both)[:50]:
                row, name = int(rows[given][at]), labels[int(columns[at])]
                message = f"{quoted(name)} is also in column {quoted(lists[0][0])} of this row."
                finder.add(row, column, message, "A label is right or it is not: remove it from one of the two.")
        vectors[rows[given], columns] = value
    return vectors, labels


def _listed(cells: pd.DataFrame, column: str, roles: Roles, finder: Finder) -> tuple[IntArray, list[str]]:
    """Return the row and the name of every label listed in the cells of a column, including empty names."""
    named = labels_in(cells, column, roles, finder)
    return named.rows, named.labels.to_pylist()


_LABEL_ROLES = ("candidates", "choices", "annotators", "not_labels", "truth")
_NAMED_BY = ("label_columns", "score_columns")
_NAME_FIX = "Remove it from the label."


def check_class_names(classes: Sequence[str], cells: pd.DataFrame, roles: Roles, finder: Finder) -> None:
    """Report classes whose names contain control characters, terminal escapes or direction marks, each with
    the first cell or the column that names it."""
    bad = [(name, found) for name in classes if (found := forbidden_in_name(name)) is not None]
    for name, found in bad[:MAX_PROBLEMS]:
        row, column = _place(name, cells, roles)
        finder.add(row, column, f"the label {quoted(name)} holds {found}, which no label may.", _NAME_FIX)


def _place(name: str, cells: pd.DataFrame, roles: Roles) -> tuple[int | None, str | None]:
    columns = [column for role, column in roles.used() if role in _LABEL_ROLES]
    for column in columns:
        text = pa.array(cells[column], pa.large_string())
        for written in (name, json.dumps(name)[1:-1]):  # in JSON it may be escaped
            row = pc.index(pc.match_substring(text, written), True).as_py()
            if row >= 0:
                return row, column
    named = [column for role, column in roles.used() if role in _NAMED_BY and name.strip() in column]
    return None, next(iter([*named, *columns]), None)
