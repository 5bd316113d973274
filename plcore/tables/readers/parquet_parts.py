"""Read a folder of Parquet files with the same columns as one table, in the order of file names.

Programs write large tables like this. Row groups are read and stored one at a time: neither the files nor their cells
are in memory as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from plcore.arrays.words import quoted
from plcore.tables.media.file_tree import is_litter
from plcore.tables.problems import Problem, TableError, refusal, table_error
from plcore.tables.readers.hugging_face import DatasetFeatures, read_features
from plcore.tables.readers.parquet import INDEX, ColumnReader, damaged, holds_files, roles_of
from plcore.tables.readers.stored import CELLS, array_file, read_stored, store_said
from plcore.tables.text.types import to_text

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class ParquetParts:
    """Files that form one table. schema : of the first file, and, except for metadata, of all"""

    files: tuple[Path, ...]
    schema: pa.Schema
    n_rows: int

    def digest(self) -> bytes:
        """Return the SHA-256 of the files' SHA-256 digests."""
        return sha256(b"".join(map(_digest, self.files))).digest()


def find_parts(path: Path) -> ParquetParts | None:
    """Find the files of a folder that is one table in parts; None if it is not.

    It is not if it has a single file, files of other kinds, different columns, images or recordings. Files such as
    `_SUCCESS`, which Spark and others write next to parts, are skipped.
    Raises TableError if a file is damaged, or a column is only in folder names; OSError.
    """
    if not path.is_dir():
        return None
    files = tuple(sorted(_files_under(path)))
    if len(files) < 2 or any(not file.name.lower().endswith(".parquet") for file in files):
        return None
    schema, n_rows = None, 0
    for file in files:
        with _told_of(file), pa.parquet.ParquetFile(file) as part:
            found, names = part.schema_arrow, part.schema_arrow.names
            n_rows += part.metadata.num_rows
        schema = found if schema is None else schema
        if INDEX in names or any(map(holds_files, found.types)) or not schema.equals(found):
            return None
    assert schema is not None  # noqa: S101 - there are files
    _refuse_named_values(path, files, schema)
    return ParquetParts(files, schema, n_rows)


def _refuse_named_values(folder: Path, files: tuple[Path, ...], schema: pa.Schema) -> None:
    """Raise TableError for a column that is only in folder names, as in partitioned tables: it would be missing."""
    for file in files:
        for name in file.relative_to(folder).parent.parts:
            column, sign, _ = name.partition("=")
            if sign and column not in schema.names:
                message = f"The column {quoted(column)} is only in names of folders, as in {quoted(name)}."
                raise refusal(message, "Write it into the files, too, or write them without partitions.")


def _files_under(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            told = name.startswith("_") and not name.lower().endswith(".parquet")
            if not told and not is_litter(path.relative_to(folder).as_posix()):
                yield path


def store_parts(parts: ParquetParts, folder: Path) -> None:
    """Store the same files as `store_reading` would for one file with all these rows.

    Raises TableError as `read_parquet` does, and if a column's content differs between parts.
    """
    if not parts.n_rows:
        raise refusal("The table has no rows.", "Add at least one data row.")
    table = _Stored(folder, parts.n_rows)
    features = read_features(parts.schema)
    try:
        for file in parts.files:
            for columns in _groups(file, features, table.n_done):
                table.add(columns, file.name)
    finally:
        table.close()
    if table.n_done != parts.n_rows:  # missing rows would be zeros
        said_rows = ValueError(f"{table.n_done:,} rows, not {parts.n_rows:,} as they say")
        raise damaged("Parquet files", said_rows)
    known, n_files = "Parquet of Hugging Face" if features.known else "Parquet", len(parts.files)
    together = f"The {n_files} files were read one after the other, in the order of their names."
    store = partial(
        store_said,
        folder,
        table.names,
        f"{known} in {n_files} files",
        notes=[together, *table.notes],
        arrays=table.arrays,
        types=to_text(table.types),
    )
    store()
    roles = roles_of(read_stored(folder).cells, parts.schema, features, table.scores, None)
    if roles is not None:
        store(roles=roles)


def _groups(file: Path, features: DatasetFeatures, before: int) -> Iterator[ColumnReader]:
    """Yield the columns of one block of rows at a time. before : rows of the previous files, for messages"""
    with pa.parquet.ParquetFile(file) as part:
        batches = part.iter_batches(_ROWS_AT_ONCE, use_threads=False)
        while True:
            with _told_of(file):
                if (batch := next(batches, None)) is None:
                    return
                batch.validate(full=True)  # finds invalid UTF-8
            reader = ColumnReader(features, batch.num_rows)
            try:
                for name, column in zip(batch.schema.names, batch.columns, strict=True):
                    reader.add(name, pa.chunked_array([column]))
            except TableError as error:
                raise table_error([_further(one, before) for one in error.problems]) from None
            yield reader
            before += batch.num_rows


def _further(problem: Problem, rows: int) -> Problem:
    return problem if problem.row is None else replace(problem, row=problem.row + rows)


class _Stored:
    """The table written so far: cells, and vector columns, whose width the first rows determine."""

    def __init__(self, folder: Path, n_rows: int) -> None:
        self.names: list[str] = []
        self.notes: list[str] = []
        self.scores: list[str] = []
        self.arrays: list[dict[str, object]] = []
        self.types: dict[str, pa.DataType] = {}
        self._folder, self._n_rows, self.n_done = folder, n_rows, 0
        self._writer: pa.RecordBatchFileWriter | None = None
        self._sink: pa.NativeFile | None = None
        self._vectors: dict[str, tuple[BinaryIO, int]] = {}  # file and width

    def add(self, some: ColumnReader, file: str) -> None:
        """Append these rows."""
        if self._writer is None:
            self._begin(some)
        widths = {name: array.shape[1] for name, array in some.arrays.items()}
        if some.names != self.names or widths != {name: width for name, (_, width) in self._vectors.items()}:
            others = sorted({*some.names, *widths} ^ {*self.names, *self._vectors}) or sorted(widths)
            message = f"{quoted(others[0])} has other lists from row {self.n_done + 1:,} on, in {quoted(file)}."
            raise refusal(message, "Write lists of equally many numbers into all rows.")
        assert self._writer is not None  # noqa: S101
        self._writer.write_batch(pa.record_batch(some.columns, schema=self._schema))
        for name, array in some.arrays.items():
            self._vectors[name][0].write(array.tobytes())
        self.n_done += some.n_rows

    def _begin(self, first: ColumnReader) -> None:
        self.names, self.notes, self.scores = first.names, first.notes, first.scores
        self.types = first.types
        self._schema = pa.schema([pa.field(str(place), pa.large_string()) for place in range(len(self.names))])
        self._sink = pa.OSFile(str(self._folder / CELLS), "wb")
        self._writer = pa.ipc.new_file(self._sink, self._schema)
        for place, (name, array) in enumerate(first.arrays.items()):
            file = f"array-{place}"
            self.arrays.append({"name": name, "file": file})
            # Written, not memory-mapped: on a full disk, writing to a mapped file ends the process.
            opened = array_file(self._folder, file).open("wb")
            self._vectors[name] = opened, array.shape[1]
            head = np.lib.format.header_data_from_array_1_0(array) | {"shape": (self._n_rows, array.shape[1])}
            np.lib.format.write_array_header_1_0(opened, head)

    def close(self) -> None:
        with ExitStack() as open_files:  # close each, even if the disk is too full to close another
            for one in (*(file for file, _ in self._vectors.values()), self._sink, self._writer):
                if one is not None:
                    open_files.callback(one.close)


@contextmanager
def _told_of(file: Path) -> Iterator[None]:
    """Turn Arrow's errors about a file into messages; errors of the operating system are raised unchanged."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise damaged(f"Parquet file {quoted(file.name)}", error) from error


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()
