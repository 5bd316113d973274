"""Join a second file to the rows of a table: vectors or candidates. Stack tables that are parts of one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp

from plcore.arrays.types import AnyArray
from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.candidates import parse_candidates, parse_vectors
from plcore.tables.columns import Finder, parse_numbers
from plcore.tables.features.embeddings import EMBEDDING, Dense, parse_embeddings
from plcore.tables.problems import MAX_PROBLEMS, refusal, table_error
from plcore.tables.readers.arrays import load_npz
from plcore.tables.readers.candidate_rows import CANDIDATES, NEEDS_ROWS, SOURCES, Row, rows_reading
from plcore.tables.readers.reading import TableReading
from plcore.tables.roles.facts import never_learnt
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.sample import sample_columns
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.text.types import types_of, with_types

ENDINGS = (".npz", ".parquet")
"""Suffixes of the files that `write_vectors` writes."""

_VECTORS = ("embeddings", "embedding", "vectors", "X", "features", "data", "arr_0")
_NAMES = ("ids", "id", "names", "files", "filenames", "file_names", "paths", "keys")
_LABELS = {"S", "candidates", "partial", "partial_target", "y", "Y", "target", "labels", "classes", "scores"}
_FEWEST = 2  # minimum number of number columns for a vector
_FIX = "Give ids (n,) and embeddings (n, d) in an .npz file, or a table of ids and one column of lists of numbers."


class VectorFile(NamedTuple):
    """The vectors of a file.

    values : (n, d) float32, NaN for missing
    names : row names by the column that holds them, as text; empty if the vectors are in the order of the rows
    """

    values: Dense
    names: Mapping[str, Sequence[str]]


def vectors_of_npz(data: bytes) -> VectorFile | None:
    """Return the vectors of an .npz file, under any of several names; None for the arrays of a whole table with labels.

    Raises TableError: damaged, no matrix of numbers or several, shapes that do not fit.
    """
    arrays = load_npz(data)
    if _LABELS & set(arrays) or "indptr" in arrays:
        return None
    matrices = {name: one for name, one in arrays.items() if one.ndim == 2 and one.dtype.kind in "fiu"}
    name = next((name for name in _VECTORS if name in matrices), None)
    if name is None and len(matrices) == 1:
        name = next(iter(matrices))
    if name is None:
        shown = listed([f"{name} {array.shape}" for name, array in arrays.items()])
        raise refusal(f"There is no matrix of vectors; the file has {shown or 'nothing'}.", _FIX)
    vectors = matrices[name]
    lists = {name: one for name, one in arrays.items() if one.ndim == 1 and one.dtype.kind in "iuU"}
    called = next((name for name in _NAMES if name in lists), None)
    if called is None and len(lists) == 1:
        called = next(iter(lists))
    if called is not None and len(lists[called]) != len(vectors):
        message = f"There are {len(lists[called]):,} {called}, but {counted(len(vectors), 'vector')} in {quoted(name)}."
        raise refusal(message, "Give one for each.")
    names = {} if called is None else {called: [str(one).strip() for one in lists[called].tolist()]}
    return VectorFile(_single(vectors), names)


def vectors_of_table(reading: TableReading, *, alone: bool = False) -> VectorFile | None:
    """Return the vectors of a table: its single column of lists, or all its number columns.

    alone : return None if the table has more than a column of lists and one of names, and so is a table of its own
    Raises TableError: no such columns, or several columns of lists.
    """
    guess = suggest_roles(reading.cells) if len(reading.cells.columns) else None
    lists = [*reading.arrays, *([guess.embedding] if guess is not None and guess.embedding else [])]
    others = [str(name) for name in reading.cells.columns if name not in lists]
    if alone and (len(lists) != 1 or len(others) != 1):
        return None
    if len(lists) > 1:
        raise refusal(f"Several columns hold vectors: {listed(lists)}.", "Leave one of them in the file.")
    finder = Finder.of(reading.cells)
    if lists:
        vectors = parse_embeddings(reading.cells, lists[0], reading.arrays, finder)
    else:
        row_id = None if guess is None else guess.id
        columns = sample_columns(reading.cells)
        numbers = [one.name for one in columns if one.is_numbers and one.name != row_id]
        if len(numbers) < _FEWEST:
            raise refusal(f"No column holds vectors; the columns are {listed(others)}.", _FIX)
        vectors = _single(parse_numbers(reading.cells, numbers, finder))
        others = [name for name in others if name not in numbers]
    finder.refuse()
    assert vectors is not None  # noqa: S101 - there is a column
    if sp.issparse(vectors):
        raise refusal("The vectors are sparse: they belong to a table of their own.", _FIX)
    return VectorFile(np.asarray(vectors), {name: reading.cells[name].str.strip().tolist() for name in others})


def with_vectors(reading: TableReading, file: VectorFile) -> TableReading:
    """Join vectors to the rows as the column `EMBEDDING`, with that role; notes name the key and the unmatched rows.

    The key is the id column; else a column that contains all names; else, if all names are row numbers from 1, the row
    number; else the column, not of numbers, that contains most names. If rows are joined by number and some have no
    vector, `asks` contains the doubt that the numbers may start at 0. Raises TableError if nothing matches, a name is
    duplicate, or vectors without names differ in number from the rows.
    """
    n = len(reading.cells)
    width = file.values.shape[1]
    if not file.names:
        if len(file.values) != n:
            has = counted(len(file.values), "row")
            message = f"The file of vectors has {has} and no names of them; the table has {n:,}."
            raise refusal(message, "Give ids with them, an array 'ids' or a column 'id'.")
        return _with(reading, file.values, (f"Vectors of {width:,} numbers were taken in the order of the rows.",))
    keys, own, names, by = _matched(reading, file)
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if name and first.setdefault(name, place) != place:
            message = f"the name {quoted(name)} was already in row {first[name] + 1} of the file of vectors."
            raise refusal(message, "Keep one vector for each name.", row=place + 1)
    places = np.array([first.get(name, -1) for name in keys])
    found = np.where((places >= 0)[:, None], file.values[places], np.float32(np.nan))
    notes = [f"Vectors of {width:,} numbers were joined by {by}."]
    if without := [name for name, place in zip(own, places, strict=True) if place < 0]:
        have = either(len(without), "has", "have")
        notes.append(f"{len(without):,} of {counted(n, 'row')} {have} no vector: {listed(without, 5)}.")
    known = set(keys)
    if left := [name for name in first if name not in known]:
        notes.append(
            f"{counted(len(left), 'vector')} of rows that are not in the table {either(len(left), 'was', 'were')} left "
            f"out: {listed(left, 5)}."
        )
    joined = _with(reading, found, tuple(notes))
    if by == _ROW_NUMBER and without:
        return replace(joined, asks=(*joined.asks, _row_numbers_doubt(list(first))))
    return joined


def write_vectors(ids: Sequence[str], vectors: Dense, file: BinaryIO, ending: str) -> None:
    """Write ids (n,) and vectors (n, d) in a format of `ENDINGS`; `with_vectors` joins them to the same rows."""
    names = np.array(ids, dtype=np.str_)
    if ending == ".npz":
        np.savez(file, ids=names, embeddings=vectors)  # compression hardly helps
        return
    lists = pa.FixedSizeListArray.from_arrays(
        pa.array(vectors.ravel()), vectors.shape[1], mask=pa.array(np.isnan(vectors[:, 0]))
    )
    pa.parquet.write_table(pa.table({"id": pa.array(names.tolist()), EMBEDDING: lists}), file)


_ROW_NUMBER = "row number"


def _matched(reading: TableReading, file: VectorFile) -> tuple[Sequence[str], Sequence[str], Sequence[str], str]:
    """Return (keys of the table's rows, their names for messages, names of the vectors, description of the key)."""
    cells = reading.cells
    roles = reading.suggest_roles()
    texts = [str(name) for name in cells.columns if name != roles.id and name not in roles.numbers]
    keys = {name: cells[name].str.strip().tolist() for name in ([roles.id] if roles.id else []) + texts}
    rows = [str(place + 1) for place in range(len(cells))]
    if roles.id is None:
        for names in file.names.values():
            known = set(names) - {""}
            is_named = any(known <= set(keys[own]) and _is_unique(cells[own]) for own in texts)
            if known and known <= set(rows) and not is_named:
                return rows, rows, names, _ROW_NUMBER
    best: tuple[int, str, str] = (0, "", "")
    for own, values in keys.items():
        for other, names in file.names.items():
            known = set(names) - {""}
            hits = sum(value in known for value in values)
            if hits > best[0]:
                best = hits, own, other
        if own == roles.id and best[0]:
            break
    if best[0]:
        _, own, other = best
        return keys[own], keys[own], file.names[other], f"column {quoted(own)}"
    shown = listed(next(iter(file.names.values())), 3)
    where = f"column {quoted(roles.id)}, which holds {listed(keys[roles.id], 3)}" if roles.id else "any column"
    raise refusal(
        f"No vector ({len(file.values):,}), of {shown}, is of a row of the table: they are not in {where}.",
        "Name the rows alike in both files.",
    )


def _with(reading: TableReading, vectors: Dense, notes: tuple[str, ...]) -> TableReading:
    arrays = {**reading.arrays, EMBEDDING: vectors}
    found = replace(reading, arrays=arrays, notes=(*reading.notes, *notes))
    roles = replace(found.suggest_roles(), embedding=EMBEDDING, image_features=False, sound_features=False)
    return replace(found, roles=roles)


def _single(values: AnyArray) -> Dense:
    with np.errstate(over="ignore"):  # too large numbers become infinite, and are reported with their row
        return np.asarray(values, dtype=np.float32)


def join_candidates(reading: TableReading, table: pd.DataFrame) -> TableReading:
    """Return the rows of `table`, each with its candidates from the reading.

    reading : of any format, with candidates in any form and row ids
    table : as in `join_rows`
    """
    roles = reading.suggest_roles()
    if roles.id is None or not roles.has_candidates:
        raise refusal(
            f"The candidates name no rows; the columns are {listed(list(map(str, reading.cells.columns)))}.",
            "Have one column of candidates, and a column 'id' that holds the name of a row of the other table.",
        )
    own_form = reading.roles is not None and (roles.candidates, roles.form) == (CANDIDATES, "json")
    sets: list[dict[str, float | None]] = []
    vectors: list[dict[str, int | None] | None] = [None] * len(reading.cells)
    if roles.label_vectors:
        vectors = [*_vectors(reading.cells, roles)]
        sets = [{} for _ in vectors]
    else:
        sets = _own_sets(reading.cells) if own_form else _sets(reading.cells, replace(roles, cut="all", cut_at=0.0))
    own = {column for role, column in roles.used() if role not in _DESCRIBING}
    own |= {SOURCES} if own_form else set()
    rows = {}
    for record, weights, vector in zip(reading.cells.to_dict("records"), sets, vectors, strict=True):
        row = Row({str(name): value for name, value in record.items() if name not in own}, vector=vector)
        row.weights = weights
        row.sources = json.loads(record.get(SOURCES) or "{}") if own_form else {}
        row.truth = record[roles.truth].strip() or None if roles.truth is not None else None
        rows[record[roles.id].strip()] = row
    form = f"{reading.format}, and the table of its rows"
    notes = [note for note in reading.notes if note != NEEDS_ROWS]
    found = join_rows(rows, table, format_name=form, notes=notes, groups=reading.groups)
    joined = found.suggest_roles()
    return replace(found, roles=replace(joined, cut=roles.cut, cut_at=roles.cut_at, ignored=roles.ignored))


_DESCRIBING = ("text", "more_texts", "image", "more_images", "audio", "source", "numbers", "categories", "caption")


def _own_sets(cells: pd.DataFrame) -> list[dict[str, float | None]]:
    """Return the candidates of each row as written by `rows_reading`."""
    named = map(json.loads, cells[CANDIDATES])
    return [dict(one) if isinstance(one, dict) else dict.fromkeys(one) for one in named]


def _vectors(cells: pd.DataFrame, roles: Roles) -> list[dict[str, int | None]]:
    """Return the label vector of each row. Raises TableError."""
    finder = Finder.of(cells)
    vectors, labels = parse_vectors(cells, roles, finder)
    finder.refuse()
    return [
        {label: None if value < 0 else value for label, value in zip(labels, row, strict=True)}
        for row in vectors.tolist()
    ]


def _sets(cells: pd.DataFrame, roles: Roles) -> list[dict[str, float | None]]:
    """Return the candidates of each row with their weights, None for unweighted ones. Raises TableError."""
    finder = Finder.of(cells)
    found = parse_candidates(cells, roles, finder)
    # Problems without a row, such as nothing to decide, concern the joined rows, not this file.
    if problems := [problem for problem in finder.problems if problem.row is not None]:
        raise table_error(problems)
    weights = found.weights
    return [
        {found.classes[k]: None if weights is None else float(weights[row, k]) for k in np.flatnonzero(may_be)}
        for row, may_be in enumerate(found.candidates)
    ]


def join_rows(
    rows: Mapping[str, Row],
    table: pd.DataFrame,
    *,
    format_name: str,
    what: str = "candidates",
    notes: Sequence[str] = (),
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> TableReading:
    """Return the rows of `table` in order, each joined with the row of that name, by the column with most of the names.

    rows : by name
    table : DataFrame of str; all its columns are included, and only they describe a row
    what : content of `rows`, for the notes

    If the names are row numbers, and the table has neither an id nor a column with all of them, rows are joined by
    number. If then some rows have no match, `asks` contains the doubt that the numbers may start at 0. Notes list the
    unmatched rows of either side. Raises TableError if nothing matches, or a name is duplicate.
    """
    key = _key_column(table, set(rows))
    numbers = [str(row) for row in range(1, len(table) + 1)]
    numbered = set(rows) <= set(numbers) and not _has_ids(table, key, set(rows))
    if not numbered and key is None:
        raise refusal(
            f"No column of the other table holds the names of these rows, such as {listed(list(rows), 3)}.",
            "Name the column with the same names in both files.",
        )
    names = numbers if numbered else table[key].str.strip().tolist()
    first = _first_places(names, table, key)
    strangers = [name for name in rows if name not in first]
    said = [*notes, *(["Rows were joined by their numbers."] if numbered else [])]
    without = [name for name in names if name not in rows]
    if without:
        said.append(
            f"{len(without):,} of {counted(len(names), 'row')} {either(len(without), 'has', 'have')} no {what} in the "
            f"other file: {listed(without, 5)}."
        )
    if strangers:
        said.append(
            f"{counted(len(strangers), 'row')} of it that {either(len(strangers), 'is', 'are')} not in the table "
            f"{either(len(strangers), 'was', 'were')} left out: {listed(strangers, 5)}."
        )
    joined = []
    for name, record in zip(names, table.to_dict("records"), strict=True):
        row = rows.get(name, Row({}))
        known = {str(column): value for column, value in record.items()}
        row.cells = {**known, **row.cells, **known}
        joined.append(row)
    own = list(map(str, table.columns))
    row_id = None if numbered else key
    found = rows_reading(joined, format_name, describing=own, row_id=row_id, notes=said, groups=groups)
    with_types(found.cells, types_of(table))
    if numbered and set(rows) != set(numbers):
        found = replace(found, asks=(*found.asks, _row_numbers_doubt(list(rows))))
    return found


def _row_numbers_doubt(names: Sequence[str]) -> tuple[str, str, str]:
    message = (
        f"The names of the rows, such as {listed(names, 3)}, were read as row numbers from 1, but they may count from "
        "0."
    )
    return "row-numbers", message, "If they do, add 1 to each, or give both files a column of ids."


def _first_places(names: Sequence[str], table: pd.DataFrame, key: str | None) -> dict[str, int]:
    """Return the place of each name. Raises TableError with a problem for each duplicate."""
    finder = Finder.of(table)
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if first.setdefault(name, place) != place and len(finder.problems) < MAX_PROBLEMS:
            message = f"the name {quoted(name)} was already in row {first[name] + 1}."
            finder.add(place, key, message, "Keep one row for each name.")
    finder.refuse()
    return first


def _key_column(table: pd.DataFrame, names: set[str]) -> str | None:
    """Return the column with most of the names; among equals, the first with unique cells, or else the first."""
    counts = {str(name): len(names & set(table[name].str.strip())) for name in table.columns}
    most = max(counts.values(), default=0)
    best = [name for name, count in counts.items() if count == most > 0]
    return next((name for name in best if _is_unique(table[name])), next(iter(best), None))


def _has_ids(table: pd.DataFrame, key: str | None, names: set[str]) -> bool:
    """Whether a column names the rows: an id column, or the key if it is unique and contains all names."""
    complete = key is not None and _is_unique(table[key]) and names <= set(table[key].str.strip())
    return complete or suggest_roles(table).id is not None


def _is_unique(column: pd.Series[str]) -> bool:
    return bool(column.str.strip().is_unique)


SHEET, SOURCE_FILE = "sheet", "source_file"
"""Columns that name the part of a table from which a row comes; they do not describe the item and are not features."""


def are_parts(tables: Sequence[TableReading]) -> bool:
    """Whether these are parts of one table: plain tables with the same columns, in any order."""
    heads = {frozenset(one.cells.columns) for one in tables}
    return len(tables) > 1 and len(heads) == 1 and all(one.roles is None and not one.arrays for one in tables)


def rows_again(tables: Mapping[str, TableReading], *, votes: bool = False) -> str:
    """Return the rows that several parts share, in words; "" if they share none.

    tables : parts of one table by name      votes : whether each row is a vote, so that items may repeat
    Rows are the same if their ids are, in a column that is unique in each part, unless these are row numbers that
    restart in each part. Rows without ids are the same if the columns that describe the item are equal. A few rows may
    be equal by chance, so without ids half of a part must be in others.
    """
    first = next(iter(tables.values()))
    about = [] if votes else _describing(tables)
    column = None if votes else _unique_ids(tables)
    if column is not None and not _ids_begin_again(tables, column, about):
        found = Counter(cell for one in tables.values() for cell in set(one.cells[column].str.strip()) - {""})
        again = [name for name, count in found.items() if count > 1]
        return f"{counted(len(again), 'id')}, such as {listed(again, 1)}" if again else ""
    columns = about or list(first.cells.columns)
    rows = [set(map(tuple, one.cells[columns].to_numpy())) for one in tables.values()]
    parts = Counter(row for own in rows for row in own)
    for own in rows:
        same = sum(parts[row] > 1 for row in own)
        if 2 * same >= len(own):
            return counted(same, "row")
    return ""


def _unique_ids(tables: Mapping[str, TableReading]) -> str | None:
    column = next(iter(tables.values())).suggest_roles().id
    unique = column is not None and all(_is_unique(one.cells[column]) for one in tables.values())
    return column if unique else None


def _describing(tables: Mapping[str, TableReading]) -> list[str]:
    """Return the columns that distinguish the items of a part, without labels and ids; [] if there are none."""
    first = next(iter(tables.values()))
    guess = first.suggest_roles()
    shown = (guess.text, guess.image, guess.audio, guess.start, guess.end)
    about = [name for name in shown if name is not None]
    if not about:
        labels = {column for role, column in guess.used() if role not in (*_DESCRIBING, "start", "end")}
        columns = sample_columns(first.cells.drop(columns=[*labels]))
        about = [one.name for one in columns if not never_learnt(one.key)]
    # Columns with few values, such as places and sizes, can be equal in rows of different items.
    distinct = (2 * len(one.cells[about].drop_duplicates()) > len(one.cells) for one in tables.values())
    return about if about and all(distinct) else []


def _ids_begin_again(tables: Mapping[str, TableReading], column: str, about: Sequence[str]) -> bool:
    """Whether most ids that the parts share are whole numbers for rows with different descriptions.

    about : the columns `_describing`
    Names such as `a.jpg` are not row numbers: with another comment, they are the same item.
    """
    first: dict[str, tuple[str, ...]] = {}
    same = other = 0
    for one in tables.values() if about else ():
        descriptions = map(tuple, one.cells[[*about]].to_numpy())
        for name, description in zip(one.cells[column].str.strip(), descriptions, strict=True):
            if name and (known := first.setdefault(name, description)) is not description:
                differs = name.isdecimal() and known != description
                same, other = same + (not differs), other + differs
    return other > same


def stacked(tables: Mapping[str, TableReading], column: str, what: str, *, votes: bool = False) -> TableReading:
    """Concatenate the rows of these parts, each with the name of its part.

    Ids that restart in each part get its name as a prefix.

    tables : `are_parts` without `rows_again`, by name
    column : name of the column of part names, `SHEET` or `SOURCE_FILE`; not added if the name is taken
    what : plural noun for the parts, such as "sheets"      votes : whether each row is a vote
    """
    readings = list(tables.values())
    names = list(map(str, readings[0].cells.columns))
    # No line numbers: the rows come from several files.
    cells = pd.concat([one.cells[names] for one in readings], ignore_index=True).astype("str")
    parts = [name for name, one in tables.items() for _ in range(len(one.cells))]
    notes = dict.fromkeys(note for one in readings for note in one.notes)
    ids = None if votes else _unique_ids(tables)
    if ids is not None and not _is_unique(cells[ids][cells[ids].str.strip() != ""]):
        named = zip(parts, cells[ids].str.strip(), strict=True)
        cells = cells.assign(**{ids: [f"{part}:{name}" if name else "" for part, name in named]})
        part = "sheet" if column == SHEET else "file"
        notes[f"The ids begin again in each {part}: the name of the {part} stands before them."] = None
    if column not in names:
        cells = cells.assign(**{column: parts}).astype("str")
    rows = ", ".join(f"{len(one.cells):,}" for one in readings[:8])
    said = (
        f"The {len(tables):,} {what} with the same columns were read one after the other: {listed(list(tables))}; they "
        f"have {rows}{' and more' if len(readings) > 8 else ''} rows."
    )
    typed = all(one.typed for one in readings)
    return replace(readings[0], cells=cells, notes=(said, *notes), typed=typed)
