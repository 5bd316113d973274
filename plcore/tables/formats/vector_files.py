"""A file of vectors beside a table: embeddings by the names of rows, joined to them; and such a file written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp

from plcore.common.types import AnyArray
from plcore.common.words import listed, quoted
from plcore.tables.column_sample import sample_columns
from plcore.tables.columns import Finder, parse_numbers
from plcore.tables.csv_text import LINE_INDEX
from plcore.tables.embeddings import EMBEDDING, Dense, parse_embeddings
from plcore.tables.formats.npz_arrays import load_npz
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.problems import table_error
from plcore.tables.suggestion import suggest_roles

ENDINGS = (".npz", ".parquet")
"""Of the files that `write_vectors` writes."""

_VECTORS = ("embeddings", "embedding", "vectors", "X", "features", "data", "arr_0")
_NAMES = ("ids", "id", "names", "files", "filenames", "file_names", "paths", "keys")
_LABELS = {"S", "candidates", "partial", "partial_target", "y", "Y", "target", "labels", "classes", "scores"}
_FEWEST = 2  # columns of numbers that are taken for a vector together
_FIX = "Give ids (n,) and embeddings (n, d) in an .npz file, or a table of ids and one column of lists of numbers."


class VectorFile(NamedTuple):
    """values : (n, d) float32, NaN for none      names : of their rows, by the column that holds them, as text; none:
    the vectors are those of all rows, in their order"""

    values: Dense
    names: Mapping[str, Sequence[str]]


def vectors_of_npz(data: bytes) -> VectorFile | None:
    """The vectors of an .npz file, by tolerant names; None for the arrays of a whole table, with labels.

    Raises TableError: damaged, no matrix of numbers or several, other sides.
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
        message = (
            f"There are {len(lists[called]):,} {called}, but {len(vectors):,} vectors in {quoted(name)}."
        )
        raise refusal(message, "Give one for each.")
    names = {} if called is None else {called: [str(one).strip() for one in lists[called].tolist()]}
    return VectorFile(_single(vectors), names)


def vectors_of_table(reading: TableReading, *, alone: bool = False) -> VectorFile | None:
    """The vectors of a table: its one column of lists, else its columns of numbers together.

    alone : None where the table has anything but one column of lists and one of names: it is a table of its own then
    Raises TableError: no such columns, or several of lists.
    """
    guess = suggest_roles(reading.cells) if len(reading.cells.columns) else None
    lists = [*reading.arrays, *([guess.embedding] if guess is not None and guess.embedding else [])]
    others = [str(name) for name in reading.cells.columns if name not in lists]
    if alone and (len(lists) != 1 or len(others) != 1):
        return None
    if len(lists) > 1:
        raise refusal(f"Several columns hold vectors: {listed(lists)}.", "Leave one of them in the file.")
    finder = Finder(reading.cells.index.tolist() if reading.cells.index.name == LINE_INDEX else None)
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
    if finder.problems:
        raise table_error(finder.problems)
    assert vectors is not None  # noqa: S101 - there is a column
    if sp.issparse(vectors):
        raise refusal("The vectors are sparse: they belong to a table of their own.", _FIX)
    return VectorFile(
        np.asarray(vectors), {name: reading.cells[name].str.strip().tolist() for name in others}
    )


def with_vectors(reading: TableReading, file: VectorFile) -> TableReading:
    """The reading with the vectors of its rows as the column `EMBEDDING`, which has that role; notes say by what they
    were joined and which rows of either side the other has not.

    Rows are known by their id column, else by that with most of the names which holds no numbers, else by their
    number from 1. Raises TableError where nothing matches, a name occurs twice, or there is no name and another number
    of rows.
    """
    n = len(reading.cells)
    width = file.values.shape[1]
    if not file.names:
        if len(file.values) != n:
            message = f"The file of vectors has {len(file.values):,} rows and no names of them; the table has {n:,}."
            raise refusal(message, "Give ids beside them, an array 'ids' or a column 'id'.")
        return _with(
            reading, file.values, (f"Vectors of {width:,} numbers were taken in the order of the rows.",)
        )
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
        notes.append(f"{len(without):,} of {n:,} rows have no vector: {listed(without, 5)}.")
    known = set(keys)
    if left := [name for name in first if name not in known]:
        notes.append(
            f"{len(left):,} vectors of rows that the table has not were left out: {listed(left, 5)}."
        )
    return _with(reading, found, tuple(notes))


def write_vectors(ids: Sequence[str], vectors: Dense, file: BinaryIO, ending: str) -> None:
    """Write ids and vectors, (n,) and (n, d), as one of `ENDINGS`; `with_vectors` joins them to the same rows."""
    names = np.array(ids, dtype=np.str_)
    if ending == ".npz":
        np.savez(file, ids=names, embeddings=vectors)  # such numbers hardly get smaller by packing
        return
    lists = pa.FixedSizeListArray.from_arrays(
        pa.array(vectors.ravel()), vectors.shape[1], mask=pa.array(np.isnan(vectors[:, 0]))
    )
    pa.parquet.write_table(pa.table({"id": pa.array(names.tolist()), EMBEDDING: lists}), file)


def _matched(
    reading: TableReading, file: VectorFile
) -> tuple[Sequence[str], Sequence[str], Sequence[str], str]:
    """(names of the table's rows as the file has them, as people see them, names of the vectors, by what in words)."""
    cells = reading.cells
    roles = reading.suggest_roles()
    texts = [str(name) for name in cells.columns if name != roles.id and name not in roles.numbers]
    keys = {name: cells[name].str.strip().tolist() for name in ([roles.id] if roles.id else []) + texts}
    rows = [str(place + 1) for place in range(len(cells))]
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
    for names in file.names.values():
        if roles.id is None and set(names) <= set(rows):
            return rows, rows, names, "row number"
    shown = listed(next(iter(file.names.values())), 3)
    where = (
        f"column {quoted(roles.id)}, which holds {listed(keys[roles.id], 3)}" if roles.id else "any column"
    )
    raise refusal(
        f"None of the {len(file.values):,} vectors, of {shown}, is of a row of the table: they are not in {where}.",
        "Name the rows alike in both files.",
    )


def _with(reading: TableReading, vectors: Dense, notes: tuple[str, ...]) -> TableReading:
    arrays = {**reading.arrays, EMBEDDING: vectors}
    found = replace(reading, arrays=arrays, notes=(*reading.notes, *notes))
    roles = replace(found.suggest_roles(), embedding=EMBEDDING, image_features=False, sound_features=False)
    return replace(found, roles=roles)


def _single(values: AnyArray) -> Dense:
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is told with its row
        return np.asarray(values, dtype=np.float32)
