"""Add rows to a table in use, whose own rows stay first and unchanged, or weight its candidates by a model's scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from plcore.arrays.candidate_sets import pairs_of, place_candidates
from plcore.arrays.types import AnyArray
from plcore.arrays.words import listed, quoted
from plcore.tables.candidates import MAX_WEIGHTS, check_class_names, parse_candidates, parse_truth, parse_vectors
from plcore.tables.columns import LARGEST, Finder, parse_ids, parse_numbers
from plcore.tables.features.embeddings import ColumnVectors, Vectors, as_stored, parse_embeddings
from plcore.tables.media.cells import Media, parse_media
from plcore.tables.media.files import MediaFiles
from plcore.tables.media.sound import SOUND_NAMES
from plcore.tables.problems import Problem, refusal, table_error
from plcore.tables.readers.tools.detections import named_beside
from plcore.tables.roles.cells import spelt_as
from plcore.tables.roles.named_votes import joined_votes
from plcore.tables.roles.roles import Roles, column_way
from plcore.tables.table import LabelTable
from plcore.tables.text.csv import LINE_INDEX


class Grown(NamedTuple):
    """A table with new rows after its own.

    n_new : number of new rows
    known : rows of the file that the table already has: their ids, or row numbers if there is no id column
    new_classes : labels that no row had before
    dropped : columns of the file that the table does not have
    empty : columns of the table that the file does not have
    """

    table: LabelTable
    n_new: int
    known: tuple[str, ...]
    new_classes: tuple[str, ...]
    dropped: tuple[str, ...]
    empty: tuple[str, ...]


def with_rows(
    table: LabelTable,
    cells: pd.DataFrame,
    files: MediaFiles | None = None,
    classes: Mapping[str, str] | None = None,
    label_columns: Sequence[str] = (),
    arrays: Mapping[str, Vectors] | None = None,
) -> Grown:
    """Return the table with those rows of the cells (DataFrame of str, as from `read_cells`) that are new.

    files : media files that came with the cells
    classes : other class names -> names in the table. A value that is not yet a class becomes one, in this order
    label_columns : label columns of the file that the table does not have, of the same kind as its own label, annotator
        or score columns; they name no labels in its own rows
    arrays : vector columns that came with the cells, by name

    The new rows have no vectors of encoders.
    A row is known by its id. Without an id column, it is known if all columns that both have are equal, including an
    embedding that came with the cells. New candidate labels become classes, after the others; label vectors cannot have
    new labels.
    Raises TableError: a column with a role is missing, a cell cannot be read, label vectors have a new label, or no row
    is new.
    """
    if label_columns:
        table = _with_label_columns(table, label_columns)
    roles = table.roles
    arrays = arrays or {}
    cells = named_beside(cells, table.cells)
    if roles.embedding is not None and roles.embedding not in cells and len(arrays) == 1:
        arrays = {roles.embedding: next(iter(arrays.values()))}  # no matter what the file calls them
    wanted = [column for role, column in roles.used() if role != "voters"]  # new rows may have no votes
    needed = [column for column in wanted if column not in cells.columns and column not in arrays]
    if needed:
        message = f"The file has no column {listed(list(dict.fromkeys(needed)))}, which the project uses."
        fix = "Name its columns as those of the first file."
        if needed == [roles.embedding] and roles.embedding not in table.cells:  # embeddings from a separate file
            fix = "Add a file of their vectors, made by the same model, or go back to words first."
        raise refusal(message, fix, column=needed[0])
    own = [str(name) for name in table.cells.columns]
    dropped = tuple(str(name) for name in cells.columns if name not in own and name != roles.embedding)
    empty = tuple(name for name in own if name not in cells.columns)
    known = _known(table, cells, [name for name in own if name not in (*empty, *label_columns)], arrays)
    cells = cells.assign(**dict.fromkeys(empty, "")) if empty else cells
    written = cells[~known]  # may include the embedding, even if it is not a column of the table
    cells = cells[own]
    names = tuple(parse_ids(cells, roles.id, Finder(None))[known].tolist())
    fresh = cells[~known]
    if fresh.empty:
        message = f"Every row of the file is in the project already ({len(known):,} of them)."
        raise refusal(message, "Choose a file with rows that are new.")
    finder = Finder(None)
    parse_ids(fresh, roles.id, finder)
    numbers = parse_numbers(fresh, roles.numbers, finder)
    _check_percentages(table, fresh, finder)
    media = parse_media(fresh, roles, files, finder)
    fresh_arrays = {name: array[np.flatnonzero(~known)] for name, array in arrays.items()}
    embeddings = parse_embeddings(written, roles.embedding, fresh_arrays, finder)
    labels, new = (
        (_vectors(table, fresh, finder), ())
        if roles.label_vectors
        else _candidates(table, fresh, classes or {}, finder)
    )
    if problems := _placed(finder.problems, cells, np.flatnonzero(~known)):
        raise table_error(problems)
    both = pd.concat([table.cells, fresh], ignore_index=True)
    media = _joined(table.media, media, table.n_rows, len(fresh))
    numbers = np.concatenate([table.numbers, numbers])
    embeddings = _longer(table.embeddings, embeddings, str(roles.embedding))
    encoded = tuple(
        dataclasses.replace(one, values=np.pad(one.values, ((0, len(fresh)), (0, 0)), constant_values=np.nan))
        for one in table.encoded
    )
    grown = dataclasses.replace(
        table, _cells=both, numbers=numbers, media=media, embeddings=embeddings, encoded=encoded, **labels
    )
    return Grown(grown, len(fresh), names, new, dropped, empty)


def with_encoded(table: LabelTable, vectors: ColumnVectors, classes: Mapping[str, str] | None = None) -> Grown:
    """Return the table with an encoder's vectors of a column, replacing another encoder's. No rows are added.

    classes : as in `with_rows`. Raises TableError if no row has a vector.
    """
    if vectors.missing.all():
        message = f"{vectors.encoder} gave no row a vector."
        raise refusal(message, "Choose another encoder.", column=vectors.column)
    others = [one for one in table.encoded if one.column != vectors.column]
    return _changed(table, classes, encoded=(*others, vectors))


def without_vectors(table: LabelTable, classes: Mapping[str, str] | None = None) -> Grown:
    """Return the table without encoders' vectors or, if it has none, without an embedding that is not in its cells.

    No rows are added. classes : as in `with_rows`
    Raises TableError if there are no such vectors, or nothing else to learn from.
    """
    roles, embeddings = table.roles, table.embeddings
    if not table.encoded and roles.embedding is not None and roles.embedding not in table.cells:
        roles, embeddings = dataclasses.replace(roles, embedding=None), None
    elif not table.encoded:
        message = "The rows have no vectors that could be removed."
        raise refusal(message, "Nothing has to be done.")
    described = roles.numbers or roles.categories or roles.text or roles.embedding
    if not described and table.media.looks is None and table.media.sounds is None:
        message = "Without vectors there is nothing to learn from: no other column describes the rows."
        raise refusal(message, "Keep the vectors.")
    return _changed(table, classes, roles=roles, embeddings=embeddings, encoded=())


def _changed(table: LabelTable, classes: Mapping[str, str] | None, **fields: Any) -> Grown:
    """Return the table with these fields changed, without new rows."""
    labels = {} if table.roles.label_vectors else labels_without_rows(table, classes)
    return Grown(dataclasses.replace(table, **labels, **fields), 0, (), (), (), ())


def labels_without_rows(table: LabelTable, classes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the label fields of a table of candidates, with all current classes and without new rows.

    classes : as in `with_rows`
    """
    return _candidates(table, table.cells[:0], classes or {}, Finder(None))[0]


def _with_label_columns(table: LabelTable, columns: Sequence[str]) -> LabelTable:
    """Return the table with more label columns, which name no labels in its own rows."""
    way = column_way(table.roles)
    if way is None:
        message = "New columns of labels are possible only if each label has a column of its own."
        raise refusal(message, "Write the labels into the column of the others.", column=columns[0])
    if there := [name for name in columns if name in table.cells.columns]:
        raise refusal("The project has this column already.", "Name columns that are new.", column=there[0])
    cells = table.cells.assign(**dict.fromkeys(columns, "0" if way == "label_columns" else ""))
    roles = Roles.from_json(table.roles.to_json() | {way: (*getattr(table.roles, way), *columns)})
    return dataclasses.replace(table, _cells=cells, roles=roles)


def _check_percentages(table: LabelTable, fresh: pd.DataFrame, finder: Finder) -> None:
    """Note columns of numbers that are percentages in the new rows only, or in the project only: 62% is 0.62."""
    for column in table.roles.numbers:
        own, new = (next((cell for cell in map(str.strip, one[column]) if cell), "") for one in (table.cells, fresh))
        if own and new and own.endswith("%") != new.endswith("%"):
            message = f"the project's cells are like {quoted(own)}, and this one is {quoted(new)}."
            finder.add(fresh[column].str.strip().tolist().index(new), column, message, "Write all in the same way.")


def _known(
    table: LabelTable, cells: pd.DataFrame, columns: Sequence[str], arrays: Mapping[str, Vectors]
) -> npt.NDArray[np.bool_]:
    """Return which of these rows the table already has, bool (r,). columns : columns of both"""
    if table.roles.id is not None:
        return np.asarray(pd.Series(parse_ids(cells, table.roles.id, Finder(None))).isin(table.ids))
    have, given = (pd.util.hash_pandas_object(one[list(columns)], index=False) for one in (table.cells, cells))
    known = np.asarray(given.isin(have))
    came = arrays.get(str(table.roles.embedding))
    if came is None or table.embeddings is None:
        return known
    rows = set(zip(have, _bytes_of(table.embeddings), strict=True))
    return known & [row in rows for row in zip(given, _bytes_of(as_stored(came)), strict=True)]


def _bytes_of(vectors: Vectors) -> Iterator[bytes]:
    """Yield the bytes of each row's numbers; for sparse rows, those of the non-zero values and their columns."""
    if not sp.issparse(vectors):
        yield from (row.tobytes() for row in np.asarray(vectors))
        return
    rows = sp.csr_matrix(vectors)
    for first, last in pairwise(rows.indptr.tolist()):
        yield rows.indices[first:last].astype(np.int64).tobytes() + rows.data[first:last].tobytes()


def _candidates(
    table: LabelTable, fresh: pd.DataFrame, called: Mapping[str, str], finder: Finder
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the label fields of the table with all rows, and the new classes. called : other name -> table's name"""
    n, r = table.n_rows, len(fresh)
    # Parsed together with the table's cells, as label names can depend on them. Problems in the table's cells, which
    # come last, are ignored.
    roles = table.roles
    if roles.unlabelled == "leave-out":
        roles = dataclasses.replace(roles, unlabelled="refuse")
    found = parse_candidates(pd.concat([fresh, table.cells], ignore_index=True), roles, finder)
    fresh_sets = found.candidates.take(np.arange(r), axis=0)
    truth = parse_truth(fresh, table.roles, fresh_sets, found.classes, finder)
    used = np.flatnonzero(fresh_sets.any(axis=0))
    before = dict.fromkeys([*table.classes, *called.values()])
    spelt = spelt_as(table.classes, found.classes)
    names = [called.get(name, spelt[name] if spelt[name] in before else name) for name in found.classes]
    new = tuple(dict.fromkeys(names[place] for place in used if names[place] not in before))
    check_class_names(new, fresh, table.roles, finder)
    classes = (*before, *new)
    column = np.asarray(pd.Index(classes).get_indexer(pd.Index(names)))

    def of_classes(first: AnyArray, more: AnyArray) -> AnyArray:
        matrix = np.zeros((n + r, len(classes)), dtype=first.dtype)
        matrix[:n, : first.shape[1]] = first
        for place in used:  # two names may mean the same class
            matrix[n:, column[place]] += more[:r, place]
        return matrix

    weights = None
    if table.candidate_weights is not None or found.weights is not None:
        both = (table.candidate_weights, table.candidates), (found.weights, found.candidates)
        weights = of_classes(*(np.asarray(sets if one is None else one, dtype=float) for one, sets in both))
    if truth is not None:
        truth = np.concatenate([np.asarray(table.truth), np.where(truth < 0, -1, column[truth])])
    own, more = pairs_of(table.candidates), pairs_of(fresh_sets)
    labels = {
        "candidates": place_candidates(n + r, len(classes), own, (n + more[0], column[more[1]])),
        "classes": classes,
        "truth": truth,
        "candidate_weights": weights,
        "votes": joined_votes(table.votes, found.votes, n, r, column),
    }
    return labels, new


def _vectors(table: LabelTable, fresh: pd.DataFrame, finder: Finder) -> dict[str, Any]:
    r = len(fresh)
    found, classes = parse_vectors(
        pd.concat([fresh, table.cells], ignore_index=True), table.roles, finder
    )  # together, as in `_candidates`
    if new := [name for name in classes if name not in table.classes]:
        column = table.roles.candidates or table.roles.label_columns[0]
        message = f"{listed(new)} {'is not a label' if len(new) == 1 else 'are not labels'} of the project."
        fix = "Correct it, or import all rows as a new project: the labels of label vectors stay as they are."
        raise refusal(message, fix, column=column)
    vectors = np.concatenate([np.asarray(table.label_vectors), found[:r]])
    return {"candidates": vectors != 0, "label_vectors": vectors}


def _placed(problems: Sequence[Problem], cells: pd.DataFrame, places: AnyArray) -> list[Problem]:
    """Return the problems of the new rows, with row and line in the file. places : file position of each new row"""
    found = []
    for one in problems:
        if one.row is not None:
            if one.row > len(places):
                continue
            place = int(places[one.row - 1])
            line = int(cells.index[place]) if cells.index.name == LINE_INDEX else None
            one = dataclasses.replace(one, row=place + 1, line=line)
        found.append(one)
    return found


def _longer(own: Vectors | None, more: Vectors | None, column: str) -> Vectors | None:
    """Return the embeddings of all rows. Raises TableError if their widths differ, as from another model."""
    if own is None or more is None:
        return own
    if own.shape[1] != more.shape[1]:
        message = f"the embeddings have {more.shape[1]:,} numbers; those of the project have {own.shape[1]:,}."
        raise refusal(message, "Take them from the model of the first file.", column=column)
    if sp.issparse(own) or sp.issparse(more):
        return sp.csr_matrix(sp.vstack([sp.csr_matrix(own), sp.csr_matrix(more)]))
    return np.concatenate([own, more])


def _joined(own: Media, more: Media, n_own: int, n_more: int) -> Media:
    """Return the media of all rows; if one table has no files of a kind, its rows have none."""

    def both(name: str, shape: tuple[int, ...], fill: Any) -> AnyArray | None:
        parts = getattr(own, name), getattr(more, name)
        if all(part is None for part in parts):
            return None
        dtype = next(part.dtype for part in parts if part is not None)
        sizes = (n_own, n_more)
        filled = []
        for part, n in zip(parts, sizes, strict=True):
            if part is None:
                part = np.empty((n, *shape), dtype=dtype)
                part[:] = [fill] * n if isinstance(fill, tuple) else fill  # a tuple is one value here, not a shape
            filled.append(part)
        return np.concatenate(filled)

    looks = next((part.shape[1:] for part in (own.looks, more.looks) if part is not None), ())
    return Media(
        both("images", (), ""),
        both("audio", (), ""),
        both("looks", looks, np.nan),
        both("segments", (2,), np.nan),
        more.files,
        both("more_images", (), ()),
        both("sounds", (len(SOUND_NAMES),), np.nan),
    )


LEAST_SHARE = 1e-9
"""Minimum weight of a candidate relative to the heaviest of its row, so that a score of 0 removes no candidate."""
SMALLEST = 1 / LARGEST
"""Minimum weight of a row's heaviest candidate; shares of a smaller weight would round to 0."""


class Rescored(NamedTuple):
    """The result of new scores.

    grown : the table with these weights, without new rows      n_weighed : rows whose weights changed
    n_silent : rows without a candidate's score of at least SMALLEST, which keep their weights
    n_outside : rows whose highest score belongs to no candidate
    """

    grown: Grown
    n_weighed: int
    n_silent: int
    n_outside: int


def with_scores(
    table: LabelTable,
    scores: Mapping[int, Mapping[str, float]],
    columns: Mapping[str, Sequence[int]],
    scored_by: str,
    classes: Mapping[str, str] | None = None,
) -> Rescored:
    """Return the table with the candidates of these rows weighted by a model's scores; other rows are unchanged.

    scores : {row: {class name: score}}, finite and at least 0; the default is 0
    columns : {class name: indices in `table.classes`}. A merged class has several, which share its score evenly if they
        are candidates; a class added later has none
    scored_by : name of the model, stored in the roles      classes : as in `with_rows`

    Raises TableError: the table holds label vectors, or its weights would take too much memory.
    """
    n, m = table.n_rows, len(table.classes)
    if table.roles.label_vectors:
        message = "scores weigh the candidates of one true label; this table holds label vectors."
        raise refusal(message, "Send them to a project of one true label among candidates.")
    if n * m > MAX_WEIGHTS:
        message = f"{n:,} rows and {m:,} classes make {n * m:,} weights; at most {MAX_WEIGHTS:,} are kept."
        raise refusal(message, "Make a project of fewer rows or classes.")
    labels = labels_without_rows(table, classes)
    had = labels["candidate_weights"]
    weights = np.array(labels["candidates"] if had is None else had, dtype=float)
    silent = outside = 0
    for row, of_row in scores.items():
        inside = table.candidates[row]
        own = np.zeros(m)
        for name, score in of_row.items():
            among = [place for place in columns[name] if inside[place]]
            own[among] += score / max(len(among), 1)
        best = max(of_row, key=of_row.__getitem__, default=None)
        outside += best is not None and of_row[best] > 0 and not inside[list(columns[best])].any()
        heaviest = own.max()
        if heaviest < SMALLEST:
            silent += 1
        else:
            weights[row, :m] = np.where(inside, np.maximum(own, heaviest * LEAST_SHARE), 0.0)
    n_weighed = len(scores) - silent
    if n_weighed:
        labels |= {"candidate_weights": weights, "roles": dataclasses.replace(table.roles, scored_by=scored_by)}
    grown = dataclasses.replace(table, **labels)
    return Rescored(Grown(grown, 0, (), (), (), ()), n_weighed, silent, int(outside))


def is_score(value: object) -> bool:
    """Whether this is a valid score: a finite number, at least 0, and not too large to calculate with."""
    return type(value) in (int, float) and 0 <= value <= LARGEST  # type: ignore[operator]


def why_no_score(value: object) -> tuple[str, str]:
    """Return the problem with an invalid score, and the fix."""
    if type(value) in (int, float) and value > LARGEST:  # type: ignore[operator]
        return f"is more than {LARGEST:g}", "Divide all scores of the row by the largest of them."
    return (
        "is not a number of 0 or more",
        "Send probabilities or counts; of log-probabilities and scores below 0 take the exponential first.",
    )
