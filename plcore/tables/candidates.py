"""Label cells -> which labels each row may have, how much speaks for each, and the names of the classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common.candidate_sets import place_candidates
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.common.words import listed, quoted
from plcore.tables.candidate_cells import Named, as_names, checked_weights, named_labels
from plcore.tables.columns import Finder, first_rows, parse_numbers, sorted_classes, stripped
from plcore.tables.cut import cut_weights
from plcore.tables.label_text import as_labels, one_spelling, spelt_as
from plcore.tables.named_votes import NamedVotes, believed_weights, read_voters
from plcore.tables.problems import Problem, TableError
from plcore.tables.roles import Roles

MAX_CLASSES = 100_000  # beyond it, a wrong column or separator was chosen
MAX_COLUMNS = 4096  # of labels, a column each: these are a dense matrix, as label vectors are
MAX_WEIGHTS = 100_000_000  # of all rows and classes together: 0.8 GB, and as much again while they are cut
YES = pa.array(["1", "1.0", "true"], pa.large_string())
NO = pa.array(["0", "0.0", "false"], pa.large_string())


class Candidates(NamedTuple):
    """candidates (n, m) bool, classes (m,), and weights (n, m), 0 for what is no candidate; None where all candidates
    of a row weigh the same in every row. votes : who named which, None where the cells do not say."""

    candidates: BoolArray
    classes: tuple[str, ...]
    weights: FloatArray | None
    votes: NamedVotes | None = None


def parse_candidates(cells: pd.DataFrame, roles: Roles, finder: Finder) -> Candidates:
    """The candidates of every row. Problems: cells that cannot be read, rows without any, fewer than two classes.

    Classes stand in column order where each has a column, else sorted: as numbers if all are integers, as text if not.
    """
    weights: FloatArray | None = None
    votes: NamedVotes | None = None
    weightless = np.zeros(len(cells), dtype=bool)  # rows that name a label; where none stays, all weigh 0
    if roles.label_columns:
        candidates, classes = _from_label_columns(cells, roles.label_columns, finder)
    elif roles.score_columns:
        weights, classes = _from_score_columns(cells, roles, finder)
    else:
        named = named_labels(cells, roles, finder)
        candidates, weights, classes, votes = _from_labels(len(cells), named, roles)
        votes = votes or read_voters(cells, roles, candidates, classes, finder)
        weightless[named.rows[np.asarray(pc.not_equal(named.labels, ""))]] = True
    if roles.vote_weights == "dawid-skene" and votes is not None:
        _check_weights(len(cells), classes, roles)
        weights = believed_weights(votes, np.asarray(candidates))
    if weights is not None:
        weights = cut_weights(weights, roles.cut, roles.cut_at)
        candidates = weights > 0
    place, message, fix = _nothing_named(roles)
    for row in first_rows(~candidates.any(axis=1)):
        finder.add(row, place, *(_ALL_ZERO if weightless[row] else (message, fix)))
    if len(classes) < 2 and candidates.any():
        message = f"only one label occurs, {quoted(classes[0])}, so there is nothing to decide."
        fix = "Choose a column with at least two different labels and check the separator."
        finder.add(None, place, message, fix)
    if (
        weights is not None
        and not (candidates & (weights < weights.max(axis=1, keepdims=True, initial=0))).any()
    ):
        weights = None
    return Candidates(candidates, classes, weights, votes)


_ALL_ZERO = (
    "all weights of the row are 0.",
    "Write a weight above 0 for every label that may be right, or remove the row.",
)


def _nothing_named(roles: Roles) -> tuple[str, str, str]:
    """Column, message and fix where a row has no candidate."""
    if roles.label_columns:
        fix = "Write 1 in the column of every label that may be right, or remove the row."
        return roles.label_columns[0], "none of the label columns holds a 1 for this row.", fix
    if roles.annotators:
        return (
            roles.annotators[0],
            "no annotator has voted on this row.",
            "Add at least one vote, or remove the row.",
        )
    if roles.score_columns:
        fix = "Write a number above 0 for every label that may be right, or remove the row."
        return roles.score_columns[0], "no label has a score above 0 in this row.", fix
    if roles.choices:
        return (
            roles.choices[0],
            "the row has no candidate label.",
            "Write at least one label, or remove the row.",
        )
    several = {
        "list": f"a{roles.separator}b",
        "weighted": f"a:0.6{roles.separator}b:0.3",
        "json": '["a", "b"]',
    }
    fix = f"Write at least one label, several as in {several[roles.form]}, or remove the row."
    return str(roles.candidates), "the row has no candidate label.", fix


def _from_labels(
    n_rows: int, named: Named, roles: Roles
) -> tuple[BoolArray, FloatArray | None, tuple[str, ...], NamedVotes | None]:
    """The pairs of row and label, and their weights, those of equal pairs added; None where nobody weighs them; and
    the annotators' votes. Empty labels are no labels."""
    names, places = as_names(named.labels)
    spelling = one_spelling(names)
    classes = sorted_classes(sorted(set(spelling.values())))
    if len(classes) > MAX_CLASSES:
        column = next(column for _, column in roles.used())
        message = f"{len(classes)} different labels were found; at most {MAX_CLASSES} can be handled."
        fix = "Check that this column holds candidate labels and that the separator is right."
        raise TableError(Problem(None, None, column, message, fix))
    place = {name: index for index, name in enumerate(classes)}
    numbers = np.array([place[spelling[name]] if name else -1 for name in names] or [-1], dtype=np.int32)
    class_of, rows = numbers[places], named.rows
    given = class_of >= 0
    if named.weights is None and not roles.annotators:  # a label that is listed twice weighs no more
        if not given.all():
            class_of, rows = class_of[given], rows[given]
        return place_candidates(n_rows, len(classes), (rows, class_of)), None, classes, None
    _check_weights(n_rows, classes, roles)
    weights = np.zeros((n_rows, len(classes)))
    each = np.ones(len(places)) if named.weights is None else named.weights
    np.add.at(weights, (named.rows[given], class_of[given]), each[given])
    votes = None
    if roles.annotators:
        who = np.repeat(np.arange(len(roles.annotators)), n_rows)  # a column after the other
        votes = NamedVotes.of(named.rows[given], who[given], class_of[given], roles.annotators)
    return weights > 0, weights, classes, votes


def _check_weights(n_rows: int, classes: tuple[str, ...], roles: Roles) -> None:
    """Refuse more weights than fit the memory: they are a dense matrix of double precision, eight bytes each."""
    if n_rows * len(classes) > MAX_WEIGHTS:
        column = next(column for _, column in roles.used())
        message = (
            f"{n_rows:,} rows and {len(classes):,} classes make {n_rows * len(classes):,} weights; at most "
            f"{MAX_WEIGHTS:,} are taken."
        )
        fix = "Import fewer rows, join seldom classes, or write the candidates without weights."
        raise TableError(Problem(None, None, column, message, fix))


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


def _from_score_columns(
    cells: pd.DataFrame, roles: Roles, finder: Finder
) -> tuple[FloatArray, tuple[str, ...]]:
    """A number for each label and row; an empty cell is 0."""
    columns = roles.score_columns
    if len(columns) > MAX_COLUMNS:
        message = f"{len(columns)} columns of scores were chosen; at most {MAX_COLUMNS} can be handled."
        raise TableError(Problem(None, None, columns[0], message, "Choose fewer of them."))
    _check_weights(len(cells), columns, roles)
    scores = np.nan_to_num(parse_numbers(cells, columns, finder))
    for place, column in enumerate(columns):
        checked_weights(np.arange(len(cells)), scores[:, place], column, finder)
    return np.maximum(scores, 0.0), classes_of_columns(columns, roles.score_prefix, finder)


def classes_of_columns(columns: tuple[str, ...], prefix: str, finder: Finder) -> tuple[str, ...]:
    """The labels that columns are named like. Problem: two columns of one label."""
    names = pa.array([column.removeprefix(prefix) or column for column in columns], pa.large_string())
    classes = tuple(as_labels(names).to_pylist())
    for place, name in enumerate(classes):
        if name in classes[:place]:
            other = columns[classes.index(name)]
            message = f"its label {quoted(name)} is also that of column {quoted(other)}."
            finder.add(None, columns[place], message, "Give every label a column with a name of its own.")
    return classes


def class_numbers(text: pa.Array, classes: tuple[str, ...], ignored: tuple[str, ...] = ()) -> IntArray:
    """(n,) the class of each label as it stands in a cell, -1 for none and -2 for a label that is no class."""
    labels = as_labels(text, ignored)
    names, places = as_names(labels)
    spelling = spelt_as(classes, names)
    place = {name: index for index, name in enumerate(classes)}
    numbers = [place.get(spelling[name], -2) if name else -1 for name in names]
    return np.array(numbers or [-1], dtype=np.int64)[places]


def parse_truth(
    cells: pd.DataFrame, roles: Roles, candidates: BoolArray, classes: tuple[str, ...], finder: Finder
) -> IntArray | None:
    """(n,) int64 class numbers, -1 where unknown; None without a column. Problem: outside the candidates."""
    column = roles.truth
    if column is None:
        return None
    text = stripped(cells, column)
    found = class_numbers(text, classes, roles.ignored)
    truth, filled = np.maximum(found, -1), found != -1
    inside = np.zeros(len(cells), dtype=bool)
    inside[truth >= 0] = candidates[np.flatnonzero(truth >= 0), truth[truth >= 0]]
    for row in first_rows(filled & ~inside & candidates.any(axis=1)):
        own = [classes[index] for index in np.flatnonzero(candidates[row])]
        message = (
            f"the true label {quoted(text[row].as_py())} is not among the row's candidates {listed(own)}."
        )
        fix = "Add it to the candidates, correct it (capitals count), or leave it empty if unknown."
        finder.add(row, column, message, fix)
    return truth
