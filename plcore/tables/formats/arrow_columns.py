"""Columns of Arrow, of any type -> columns of text, and files that lie in them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common.words import quoted
from plcore.tables.embeddings import Vectors
from plcore.tables.file_tree import MAX_FILE_MB, MAX_UNPACKED_MB
from plcore.tables.formats.embedded import file_name
from plcore.tables.formats.hugging_face import DatasetFeatures
from plcore.tables.formats.reading import check_size, check_vectors, refusal
from plcore.tables.formats.values import cell_text
from plcore.tables.frame_text import numbers_as_text
from plcore.tables.problems import Problem, TableError, table_error
from plcore.tables.suggested_sources import fewest_numbers

_MB = 1_000_000


class ColumnReader:
    """Takes the columns of a table one after the other.

    Attributes
    ----------
    n_rows : of the table
    names, columns : of the text read so far
    scores : names of the columns that are probabilities of classes
    files : names and bytes of images and recordings
    arrays : by name, columns of vectors (n_rows, d)
    notes : a sentence each about what was left out
    """

    def __init__(self, features: DatasetFeatures, n_rows: int) -> None:
        self.names: list[str] = []
        self.columns: list[pa.LargeStringArray] = []
        self.scores: list[str] = []
        self.files: dict[str, bytes] = {}
        self.arrays: dict[str, Vectors] = {}
        self.notes: list[str] = []
        self.n_rows = n_rows
        self._features = features
        self._size = 0

    def add(self, name: str, column: pa.ChunkedArray) -> None:
        """Take a column in. Raises TableError: labels that have no name, too much text."""
        features, kind = self._features, column.type
        if name in features.labels and pa.types.is_integer(kind):
            self._put(name, _of_labels(name, column, features.labels[name]))
        elif name in features.sets and _is_list(kind) and pa.types.is_integer(kind.value_type):
            self._put(name, _of_sets(name, column, features.sets[name]))
        elif holds_files(kind):
            self._put(name, self._of_files(name, column))
        elif _is_list(kind) and pa.types.is_floating(kind.value_type) and (width := _width(column)):
            self._add_numbers(name, column, width)
        elif _holds_bytes(kind):
            self.notes.append(f"The column {quoted(name)} holds bytes, not text: left out.")
        else:
            self._put(name, self._of_values(column))

    def _put(self, name: str, column: pa.LargeStringArray) -> None:
        self._size += column.nbytes
        if self._size > MAX_UNPACKED_MB * _MB:
            raise refusal(
                f"The text of the table has more than {MAX_UNPACKED_MB:,} MB.", "Import fewer rows."
            )
        self.names.append(name)
        self.columns.append(column)

    def _of_values(self, column: pa.ChunkedArray) -> pa.LargeStringArray:
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = self._decoded(column)
            kind = column.type
        if pa.types.is_floating(kind):
            return numbers_as_text(column.to_numpy())
        simple = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_boolean)
        if any(fits(kind) for fits in (*simple, pa.types.is_null)):
            text = pc.fill_null(column.cast(pa.large_string()), "").combine_chunks()
            return text if isinstance(text, pa.Array) else pa.concat_arrays(text.chunks)
        if _is_list(kind) and _is_text(kind.value_type):
            return _lists_as_json(column)
        if pa.types.is_timestamp(kind) and kind.unit == "ns":  # Python's times end at microseconds
            column = column.cast(pa.timestamp("us", kind.tz), safe=False)
        return pa.array([cell_text(value) for value in column.to_pylist()], pa.large_string())

    def _decoded(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of a dictionary. One long text, named by every row, would fill the memory: measured first."""
        value_type = column.type.value_type
        if pa.types.is_string(value_type) or pa.types.is_large_string(value_type):
            for chunk in column.chunks:
                lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
                self._size += int(pc.sum(lengths, min_count=0).as_py())
            if self._size > MAX_UNPACKED_MB * _MB:
                raise refusal(
                    f"The text of the table has more than {MAX_UNPACKED_MB:,} MB.", "Import fewer rows."
                )
            value_type = pa.large_string()
        return column.cast(value_type)

    def _add_numbers(self, name: str, column: pa.ChunkedArray, width: int) -> None:
        """Vectors, of long lists; of others a column for each place: probabilities of classes, or a few numbers."""
        classes = [names for names in self._features.class_names() if len(names) == width]
        is_score = len(classes) == 1
        if not is_score and width >= fewest_numbers(name):
            self._add_vectors(name, column, width)
            return
        names = (
            [f"p_{each}" for each in classes[0]] if is_score else [f"{name}_{k + 1}" for k in range(width)]
        )
        check_size(self.n_rows, len(self.names) + width)
        values = pc.list_flatten(pc.drop_null(column)).to_numpy().reshape(-1, width)
        table = np.full((self.n_rows, width), np.nan, dtype=values.dtype)
        table[np.asarray(column.is_valid())] = values
        for place, each in enumerate(names):
            self._put(each, numbers_as_text(np.ascontiguousarray(table[:, place])))
        if is_score:
            self.scores += names
            self.notes.append(
                f"{quoted(name)} was taken for the probabilities of the {width} classes, in their order."
            )

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
            if len(data) > MAX_FILE_MB * _MB:
                message = f"the file has more than {MAX_FILE_MB} MB."
                raise TableError(Problem(row + 1, None, name, message, "Make it smaller."))
            called = file_name(data, path, name, row + 1)
            if self.files.get(called, data) != data:  # another file of this name
                called = f"{hashlib.sha256(data).hexdigest()[:12]}_{called}"
            self.files[called] = data
            cells.append(called)
        return pa.array(cells, pa.large_string())


def _lists_as_json(column: pa.ChunkedArray) -> pa.LargeStringArray:
    """Lists of texts as `cell_text` writes them, each different text once; '' for null."""
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


def _is_list(kind: pa.DataType) -> bool:
    return any(fits(kind) for fits in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _holds_bytes(kind: pa.DataType) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_fixed_size_binary,
        pa.types.is_binary_view,
    )
    return any(fits(inner) for fits in kinds) or any(
        _holds_bytes(inner.field(place).type) for place in range(inner.num_fields)
    )


def holds_files(kind: pa.DataType) -> bool:
    """Whether a column of this type holds images or recordings."""
    return bool(pa.types.is_struct(kind)) and {field.name for field in kind} == {"bytes", "path"}


def _width(column: pa.ChunkedArray) -> int:
    """How many numbers every list of the column has, 0 where that differs."""
    lengths = pc.unique(pc.drop_null(pc.list_value_length(column))).to_pylist()
    return int(lengths[0]) if len(lengths) == 1 else 0


def _of_labels(name: str, column: pa.ChunkedArray, names: list[str]) -> pa.LargeStringArray:
    """The name of each number; '' for -1, which says that there is no label, and for null."""
    numbers = pc.fill_null(column, -1).to_numpy()
    _refuse_unnamed(name, [[number] for number in np.where(numbers == -1, 0, numbers)], len(names))
    return pa.array(["" if number == -1 else names[number] for number in numbers], pa.large_string())


def _of_sets(name: str, column: pa.ChunkedArray, names: list[str]) -> pa.LargeStringArray:
    """A JSON list of the names of each row's numbers; '' for null."""
    rows: list[Any] = column.to_pylist()
    _refuse_unnamed(name, [row or [] for row in rows], len(names))
    cells = ["" if row is None else json.dumps([names[k] for k in row], ensure_ascii=False) for row in rows]
    return pa.array(cells, pa.large_string())


def _refuse_unnamed(column: str, rows: list[Any], n_names: int) -> None:
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
