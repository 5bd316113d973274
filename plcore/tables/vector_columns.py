"""Columns of text -> label vectors: for every label of every row 1 (yes), 0 (no) or -1 (not asked, which is not no).

Every cell that does not fit becomes a problem, as in `plcore.tables.columns`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from plcore.common.types import AnyArray, IntArray
from plcore.common.words import quoted
from plcore.tables.candidate_cells import labels_in
from plcore.tables.candidates import MAX_COLUMNS, NO, YES, classes_of_columns
from plcore.tables.columns import Finder, first_rows, sorted_classes, stripped
from plcore.tables.problems import Problem, TableError
from plcore.tables.roles import Roles


def parse_vectors(cells: pd.DataFrame, roles: Roles, finder: Finder) -> tuple[AnyArray, tuple[str, ...]]:
    """Label vectors (n, L) int8 and the L label names.

    They come as one column of 1, 0 or nothing for each label, labels in column order; or as lists of the labels that
    are right and of those that are not (`roles.candidates`, `roles.not_labels`), labels sorted. Problems: other cells,
    two labels of one name, a label that is listed as right and as not right, fewer than two labels.
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


def _from_columns(
    cells: pd.DataFrame, columns: tuple[str, ...], finder: Finder
) -> tuple[AnyArray, tuple[str, ...]]:
    if len(columns) > MAX_COLUMNS:
        message = f"{len(columns)} label columns were chosen; at most {MAX_COLUMNS} can be handled."
        raise TableError(
            Problem(None, None, columns[0], message, "Choose fewer of them, or join rare labels.")
        )
    vectors = np.full((len(cells), len(columns)), -1, dtype=np.int8)
    for place, column in enumerate(columns):
        text = pc.utf8_lower(stripped(cells, column))
        yes, no = pc.is_in(text, value_set=YES), pc.is_in(text, value_set=NO)
        fits = pc.or_(pc.or_(yes, no), pc.equal(text, ""))
        for row in first_rows(pc.invert(fits)):
            message = f"expected 1, 0 or an empty cell, got {quoted(str(cells[column].iloc[row]))}."
            fix = (
                "Write 1 if the label is right, 0 if it is not, and leave the cell empty if nobody was asked."
            )
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
        raise TableError(Problem(None, None, lists[0][0], message, fix))
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
                finder.add(
                    row, column, message, "A label is right or it is not: take it out of one of the two."
                )
        vectors[rows[given], columns] = value
    return vectors, labels


def _listed(cells: pd.DataFrame, column: str, roles: Roles, finder: Finder) -> tuple[IntArray, list[str]]:
    """The row and the name of every label that the cells of a column list, empty ones included."""
    named = labels_in(cells, column, roles, finder)
    return named.rows, named.labels.to_pylist()
