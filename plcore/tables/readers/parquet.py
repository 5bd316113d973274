"""Read Parquet and Feather (Arrow IPC) with pyarrow: columns of any type, and files inside cells."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet

from plcore.arrays.words import quoted
from plcore.tables.features.embeddings import Vectors
from plcore.tables.media.file_tree import MAX_FILE_MB, MAX_UNPACKED_MB, MB, MediaError
from plcore.tables.media.files import MediaFiles
from plcore.tables.problems import Problem, TableError, check_size, refusal, table_error
from plcore.tables.readers.hugging_face import DatasetFeatures, read_features, read_told
from plcore.tables.readers.reading import TableReading, cell_text, check_vectors, own_roles, text_table
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.sample import fewest_numbers
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.text.frames import numbers_as_text
from plcore.tables.text.types import is_categorical, is_list, with_types

_ENDINGS = (
    (b"\x89PNG", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF8", ".gif"),
    (b"fLaC", ".flac"),
    (b"OggS", ".ogg"),
    (b"ID3", ".mp3"),
    (b"\xff\xfb", ".mp3"),
)


class EmbeddedFiles:
    """Files in memory by name; a `plcore.tables.media.files.FileSource`."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    def find(self, cell: str) -> str:
        """Return the name if there is such a file. Raises MediaError if not."""
        name = cell.strip()
        if name not in self.files:
            fix = "Leave the cell empty, or put the file into the table."
            raise MediaError(f"the table contains no file {quoted(cell)}.", fix)
        return name

    def open(self, name: str) -> BinaryIO:
        """Open a file by its name from `find`."""
        return io.BytesIO(self.files[name])

    def close(self) -> None:
        """Release the bytes."""
        self.files.clear()


def file_name(data: bytes, path: str | None, column: str, row: int) -> str:
    """Name a file: the last part of its path, or its column and 1-based row with the ending of its format."""
    name = PurePosixPath((path or "").replace("\\", "/")).name.strip()
    if name and name.isprintable():
        return name
    ending = next((ending for start, ending in _ENDINGS if data.startswith(start)), "")
    if data[:4] == b"RIFF":
        ending = {b"WEBP": ".webp", b"WAVE": ".wav"}.get(data[8:12], "")
    return f"{column}_{row}{ending}"


class ColumnReader:
    """Reader of table columns, one by one.

    Attributes
    ----------
    n_rows : of the table
    names, columns : of the text read so far
    scores : names of the columns of class probabilities
    files : names and bytes of images and recordings
    arrays : by name, vector columns (n_rows, d)
    notes : a sentence for each column that was left out or interpreted
    types : by name, original types of text columns
    """

    def __init__(self, features: DatasetFeatures, n_rows: int) -> None:
        self.names: list[str] = []
        self.columns: list[pa.LargeStringArray] = []
        self.scores: list[str] = []
        self.files: dict[str, bytes] = {}
        self.arrays: dict[str, Vectors] = {}
        self.notes: list[str] = []
        self.types: dict[str, pa.DataType] = {}
        self.n_rows = n_rows
        self._features = features

    def add(self, name: str, column: pa.ChunkedArray, own: pa.DataType | None = None) -> None:
        """Read one column. own : its type in the file, if texts were read as categories

        Raises TableError: labels without a name, too much text.
        """
        features, kind = self._features, column.type
        if name in features.labels and pa.types.is_integer(kind):
            self._put(name, _of_labels(name, column, features.labels[name]))
        elif name in features.sets and is_list(kind) and pa.types.is_integer(kind.value_type):
            self._put(name, _of_sets(name, column, features.sets[name]))
        elif holds_files(kind):
            self._put(name, self._of_files(name, column))
        elif is_list(kind) and pa.types.is_floating(kind.value_type) and (width := _width(column)):
            self._add_numbers(name, column, width)
        elif _holds_bytes(kind):
            self.notes.append(f"The column {quoted(name)} holds bytes, not text: left out.")
        else:
            self._put(name, _of_values(column))
            own = own or kind
            self.types[name] = own.value_type if pa.types.is_dictionary(own) and not is_categorical(own) else own

    def _put(self, name: str, column: pa.LargeStringArray) -> None:
        self.names.append(name)
        self.columns.append(column)

    def _add_numbers(self, name: str, column: pa.ChunkedArray, width: int) -> None:
        """Add long lists as vectors, others as a column per position: class probabilities, or a few numbers."""
        classes = [names for names in self._features.class_names() if len(names) == width]
        is_score = len(classes) == 1
        if not is_score and width >= fewest_numbers(name):
            self._add_vectors(name, column, width)
            return
        names = [f"p_{each}" for each in classes[0]] if is_score else [f"{name}_{k + 1}" for k in range(width)]
        check_size(self.n_rows, len(self.names) + width)
        values = pc.list_flatten(pc.drop_null(column)).to_numpy().reshape(-1, width)
        table = np.full((self.n_rows, width), np.nan, dtype=values.dtype)
        table[np.asarray(column.is_valid())] = values
        for place, each in enumerate(names):
            self._put(each, numbers_as_text(np.ascontiguousarray(table[:, place])))
            self.types[each] = column.type.value_type
        if is_score:
            self.scores += names
            self.notes.append(f"{quoted(name)} was taken for the probabilities of the {width} classes, in their order.")

    def _add_vectors(self, name: str, column: pa.ChunkedArray, width: int) -> None:
        check_vectors(name, self.n_rows, width)
        values = pc.list_flatten(pc.drop_null(column)).cast(pa.float32(), safe=False).to_numpy()
        vectors = np.full((self.n_rows, width), np.nan, dtype=np.float32)
        vectors[np.asarray(column.is_valid())] = values.reshape(-1, width)
        self.arrays[name] = vectors
        self.notes.append(f"{quoted(name)} holds vectors of {width:,} numbers, which exports leave out.")

    def _of_files(self, name: str, column: pa.ChunkedArray) -> pa.LargeStringArray:
        cells = []
        for row, value in enumerate(column.to_pylist()):
            data, path = (None, None) if value is None else (value["bytes"], value["path"])
            if not data:
                cells.append(path or "")
                continue
            if len(data) > MAX_FILE_MB * MB:
                message = f"the file has more than {MAX_FILE_MB} MB."
                raise refusal(message, "Make it smaller.", row=row + 1, column=name)
            called = file_name(data, path, name, row + 1)
            if self.files.get(called, data) != data:  # another file with the same name
                called = f"{hashlib.sha256(data).hexdigest()[:12]}_{called}"
            self.files[called] = data
            cells.append(called)
        return pa.array(cells, pa.large_string())


def _of_values(column: pa.ChunkedArray) -> pa.LargeStringArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = pa.large_string() if _is_text(kind.value_type) else kind.value_type
        column = column.cast(kind)
    if pa.types.is_floating(kind):
        return numbers_as_text(column.to_numpy())
    simple = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
    if any(fits(kind) for fits in (*simple, pa.types.is_null)):
        text = pc.fill_null(column.cast(pa.large_string()), "").combine_chunks()
        return text if isinstance(text, pa.Array) else pa.concat_arrays(text.chunks)
    if is_list(kind) and _is_text(kind.value_type):
        return _lists_as_json(column)
    if pa.types.is_timestamp(kind) and kind.unit == "ns":  # Python's times have microseconds
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    return pa.array([cell_text(value) for value in column.to_pylist()], pa.large_string())


def _lists_as_json(column: pa.ChunkedArray) -> pa.LargeStringArray:
    """Write lists of texts as `cell_text` does, encoding each distinct text once; '' for null."""
    encoded = pc.list_flatten(column).combine_chunks().dictionary_encode()
    words = [json.dumps(word, ensure_ascii=False) for word in encoded.dictionary.to_pylist()]
    each = pc.fill_null(pa.array(words, pa.large_string()).take(encoded.indices), "null")
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    opened, between, closed, nothing = (pa.scalar(sign, pa.large_string()) for sign in ("[", ", ", "]", ""))
    lists = pc.binary_join(pa.LargeListArray.from_arrays(ends, each), between)
    whole = pc.binary_join_element_wise(opened, lists, closed, nothing)
    return pc.if_else(column.is_valid().combine_chunks(), whole, nothing)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _holds_bytes(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(fits(inner) for fits in kinds) or any(
        _holds_bytes(inner.field(place).type) for place in range(inner.num_fields)
    )


def holds_files(kind: pa.DataType) -> bool:
    """Whether a column of this type holds images or recordings."""
    return bool(pa.types.is_struct(kind)) and {field.name for field in kind} == {"bytes", "path"}


def _width(column: pa.ChunkedArray) -> int:
    """Return the length of every list in the column; 0 if lengths differ."""
    lengths = pc.unique(pc.drop_null(pc.list_value_length(column))).to_pylist()
    return int(lengths[0]) if len(lengths) == 1 else 0


def _of_labels(name: str, column: pa.ChunkedArray, names: list[str]) -> pa.LargeStringArray:
    """Return the name of each class number; '' for null and for -1, which means no label."""
    numbers = pc.fill_null(column, -1).to_numpy()
    _refuse_unnamed(name, [[number] for number in np.where(numbers == -1, 0, numbers)], len(names))
    return pa.array(["" if number == -1 else names[number] for number in numbers], pa.large_string())


def _of_sets(name: str, column: pa.ChunkedArray, names: list[str]) -> pa.LargeStringArray:
    """Return a JSON list of the names of each row's class numbers; '' for null, and for a single -1."""
    rows: list[list[int] | None] = [None if row == [-1] else row for row in column.to_pylist()]
    _refuse_unnamed(name, [row or [] for row in rows], len(names))
    cells = ["" if row is None else json.dumps([names[k] for k in row], ensure_ascii=False) for row in rows]
    return pa.array(cells, pa.large_string())


def _refuse_unnamed(column: str, rows: Sequence[Sequence[int | None]], n_names: int) -> None:
    problems = [
        Problem(
            row + 1,
            None,
            column,
            f"the label {number} has no name: there are {n_names}, from 0 to {n_names - 1}.",
            "Correct the number, or the names of the feature.",
        )
        for row, numbers in enumerate(rows)
        for number in numbers
        if number is None or not 0 <= number < n_names
    ]
    if problems:
        raise table_error(problems)


PARQUET_START = b"PAR1"
FEATHER_START = b"ARROW1"
INDEX = "__index_level_0__"
"""Column name that pandas uses for the index of a DataFrame."""


def read_parquet(data: bytes) -> TableReading:
    """Read the table of a Parquet file. Raises TableError: damaged, too large, without rows.

    A ClassLabel column becomes names, and the true label; a list of class labels becomes the candidates, as JSON.
    Images and recordings (`{bytes, path}`) become files, which the cells name. A list with one number per class becomes
    a column `p_NAME` for each class. Other lists with equally many numbers in each row become a column of vectors, if
    the name is usual for embeddings or the lists are long, or else columns `NAME_1`, `NAME_2` ... Other nested values
    become JSON.
    """
    try:
        metadata = pa.parquet.read_metadata(pa.BufferReader(data))
        check_size(metadata.num_rows, metadata.num_columns)
        # Not by column: pyarrow crashes the process on damaged ones.
        size = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
        if size > MAX_UNPACKED_MB * MB:
            raise refusal(f"Unpacked, the file has more than {MAX_UNPACKED_MB:,} MB.", "Import fewer rows.")
        texts = [
            column.path
            for column in metadata.schema
            if column.physical_type == "BYTE_ARRAY" and column.path == column.name
        ]
        # As dictionaries, texts take no more memory than in the file, until their length is known.
        table = pa.parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read(use_threads=False)
        table.validate(full=True)  # finds invalid UTF-8
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise damaged("Parquet file", error) from error
    return _read(table, "Parquet", metadata.schema.to_arrow_schema())


def read_feather(data: bytes) -> TableReading:
    """Read the table of a Feather file, version 2 (Arrow IPC). Raises TableError as `read_parquet`."""
    try:
        with pa.ipc.open_file(pa.BufferReader(data)) as file:
            table = file.read_all()
        table.validate(full=True)
    except MemoryError:
        raise
    except Exception as error:
        raise damaged("Feather file", error) from error
    check_size(table.num_rows, table.num_columns)
    return _read(table, "Feather")


def damaged(what: str, error: Exception) -> TableError:
    """Return the error for an unreadable file. what : "Parquet file", with its name if there are several"""
    return refusal(f"The {what} cannot be read ({str(error)[:200]}).", "Write it again.")


def _read(table: pa.Table, name: str, own: pa.Schema | None = None) -> TableReading:
    try:
        return _of_table(table, name, own or table.schema)
    except UnicodeDecodeError as error:  # names and texts are decoded only when used
        raise damaged(f"{name} file", error) from error


def _of_table(table: pa.Table, name: str, own: pa.Schema) -> TableReading:
    features = read_features(table.schema)
    reader = ColumnReader(features, table.num_rows)
    for place, column in enumerate(table.column_names):
        if column == INDEX:
            if table.column(place).to_pylist() != list(range(table.num_rows)):
                reader.add("index", table.column(place))
        else:
            reader.add(column, table.column(place), own.field(place).type)
    cells = with_types(text_table(reader.names, reader.columns), reader.types)
    files = MediaFiles(EmbeddedFiles(reader.files)) if reader.files else None
    words = f"{name} of Hugging Face" if features.known else name
    roles = roles_of(cells, table.schema, features, reader.scores, files)
    return TableReading(cells, words, roles, files, tuple(reader.notes), arrays=reader.arrays, typed=True)


def roles_of(
    cells: pd.DataFrame, schema: pa.Schema, features: DatasetFeatures, scores: Sequence[str], files: MediaFiles | None
) -> Roles | None:
    """Return the roles given by a file's schema; None if they must be guessed. scores : class probability columns"""
    return _told_roles(cells, schema, files) or _roles(cells, features, scores, files)


def _told_roles(cells: pd.DataFrame, schema: pa.Schema, files: MediaFiles | None) -> Roles | None:
    """Return the roles of a file that Winnow wrote; None for other files.

    Its candidates are known, columns that Winnow added are neither features nor truth, and the rest is guessed.
    """
    told = read_told(schema)
    if told is None:
        return None
    own = [name for name in (told.not_labels, told.truth, told.voters) if name]
    if not {told.candidates, told.id, *own, *told.original} <= set(cells.columns):
        return None
    roles = Roles(
        candidates=told.candidates,
        form="json",
        id=told.id,
        label_vectors=told.not_labels is not None,
        not_labels=told.not_labels,
        truth=told.truth or None,
        voters=told.voters or None,
    )
    has_files = files is not None
    found = own_roles(cells, told.original, roles, files=has_files, typed=True)
    if told.truth is not None or roles.label_vectors:
        return found
    originals = cells[[name for name in told.original if name != told.id]]
    guess = suggest_roles(originals, files=has_files, typed=True) if len(originals.columns) else roles
    return replace(found, truth=guess.truth)


def _roles(
    cells: pd.DataFrame, features: DatasetFeatures, scores: Sequence[str], files: MediaFiles | None
) -> Roles | None:
    """Guess the roles, corrected by the features; None if these have no labels."""
    sets = [name for name in features.sets if name in cells]
    labels = [name for name in features.labels if name in cells]
    if not sets and not labels:
        return None
    told = {*sets, *labels, *scores}
    guess = suggest_roles(
        cells[[name for name in cells.columns if name not in told]], files=files is not None, typed=True
    )
    truth: dict[str, Any] = {"truth": labels[0] if labels else guess.truth}
    if not sets:
        return replace(guess, **truth)
    none: dict[str, Any] = {"label_columns": (), "annotators": (), "label_vectors": False, "not_labels": None}
    return replace(guess, candidates=sets[0], form="json", **truth, **none)
