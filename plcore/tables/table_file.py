"""The stored form of a LabelTable: one self-describing Parquet file, the same bytes for the same table.

Columns: `cell:NAME` the original text; `number:NAME` the parsed number (null where the cell is empty); `candidates` the
row's candidate labels; `candidate_weights` their weights in the same order, only where some differ within a row;
`truth` the true label (null where unknown), only with a truth column; `media:image` and `media:audio` the kept names of
the files that its cells name ('' where a cell names none), only where files came with the table, and
`media:more_images` a list of the others, only where a row has several images; `look` what the row's images look like
(null where it has none) and `sound` what its recording sounds like, only where the roles ask for it; `embedding` its
embedding (null where its cell is empty), only with such a column, or, of sparse ones, `embedding:places` and
`embedding:values`, those numbers of a row that are not 0, the width being in the metadata; `start` and `end` the
seconds of its segment (null where its cell is empty), only with such a column; `votes:who` and `votes:label` lists of
who named which label, places in the metadata's voters and classes, only where the source says who. The metadata of the
schema holds, under `winnow`, a JSON object with the format's version, the roles and the class names. Ids are not
stored: they are a column's text or the row numbers.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from plcore.common import IN_MEMORY, let_go
from plcore.common.types import FloatArray
from plcore.tables.embeddings import Vectors
from plcore.tables.mapped import mapped_file, nameless_file
from plcore.tables.media import Media
from plcore.tables.problems import Problem, TableError
from plcore.tables.table_columns import (
    CANDIDATES,
    VECTORS,
    TableParts,
    from_arrow,
    rows_of,
    to_arrow,
    vectors_of,
)

_ROWS_PER_GROUP = 1 << 16


def write_parts(table: TableParts, folder: Path, name_of: Callable[[str], str]) -> str:
    """Write the file into the folder, whole or not at all, and return the SHA-256 of its bytes in hex.

    name_of : makes the file's name from that SHA-256. When this returns, the file survives a power cut.
    """
    return _named(folder, name_of, lambda file: _write_groups(table, file))


class Written(NamedTuple):
    """A file that holds these parts. digest : its SHA-256 in hex      held : keeps it where it is while it lives"""

    path: Path
    digest: str
    parts: TableParts
    held: object

    def holds(self, parts: TableParts) -> bool:
        """Whether these are the very parts, wherever the bytes of images are to be had."""
        pairs = [*zip(self.parts, parts, strict=True)]
        media = [
            (getattr(self.parts.media, one.name), getattr(parts.media, one.name))
            for one in fields(Media)
            if one.name != "files"
        ]
        return all(one is other for one, other in (*pairs, *media) if not isinstance(one, Media))


def copy_written(written: Written, folder: Path, name_of: Callable[[str], str]) -> str:
    """`write_parts` of what has been written into a file already: the same bytes, which are not made again, and where
    the folder lies on the same disk not copied either."""
    target = folder / name_of(written.digest)
    aside = folder / f".new-{secrets.token_hex(8)}.part"
    try:
        os.link(written.path, aside)
    except OSError:  # another disk, or one without links
        with written.path.open("rb") as source:
            return _named(folder, name_of, lambda file: shutil.copyfileobj(source, file, 1 << 20))
    aside.replace(target)
    aside.unlink(missing_ok=True)  # where the target was this very file, nothing was renamed
    _sync_folder(folder)
    return written.digest


class _Hashed(io.RawIOBase):
    """A file to write one piece after the other; each goes into the file's SHA-256 while it is at hand."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def write(self, data: Any, /) -> int:
        self.digest.update(data)
        return self._file.write(data)


def _named(folder: Path, name_of: Callable[[str], str], fill: Callable[[_Hashed], None]) -> str:
    handle, name = tempfile.mkstemp(dir=folder, prefix=".new-", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as file:
            hashed = _Hashed(file)
            fill(hashed)
            file.flush()
            os.fsync(file.fileno())
            digest = hashed.digest.hexdigest()
        Path(name).replace(folder / name_of(digest))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return digest


def _write_groups(table: TableParts, file: _Hashed) -> None:
    """One group of rows after the other: no more than one of them is in memory as Parquet."""
    writer: pa.parquet.ParquetWriter | None = None
    plain = {
        f"cell:{name}" for name in table.roles.numbers
    }  # digits hardly pack, and packing costs more than the rest
    try:
        for start in range(0, len(table.candidates), _ROWS_PER_GROUP):
            data = to_arrow(rows_of(table, slice(start, start + _ROWS_PER_GROUP)))
            writer = writer or pa.parquet.ParquetWriter(
                file,
                data.schema,
                compression={
                    path: "none" if path in plain or path.startswith("number:") else "lz4"
                    for path in _paths(data.schema)
                },
                use_dictionary=["candidates.list.element", "truth"],
                write_statistics=False,  # nobody looks for rows in it
                write_page_checksum=True,
            )
            writer.write_table(data, _ROWS_PER_GROUP)
            let_go()
    finally:
        if writer is not None:
            writer.close()


def _paths(schema: pa.Schema) -> list[str]:
    """The columns of the file as Parquet calls them: of a list, that of its elements."""
    return [f"{one.name}.list.element" if pa.types.is_nested(one.type) else one.name for one in schema]


def _sync_folder(folder: Path) -> None:
    """Make a name given to a file in this folder last: syncing the file keeps its bytes, not its name."""
    if os.name != "posix":
        return  # other systems cannot open folders
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_parts(path: Path) -> TableParts:
    """What `write_parts` wrote. Raises TableError: not our file, or damaged.

    What the system refuses (no such file, no permission, a disk that fails) says nothing about the table: the
    OSError comes through.
    """
    try:
        return _read_parts(path)
    finally:
        pa.default_memory_pool().release_unused()  # else Arrow keeps twice of what is left of it


def _read_parts(path: Path) -> TableParts:
    with pa.OSFile(str(path)) as file:
        try:
            stored = pa.parquet.ParquetFile(file, page_checksum_verification=True)
            # read_table takes four times the memory of a wide one, and threads, each with a heap, as much again
            if _size(stored) > IN_MEMORY:  # its text and numbers lie in files that are mapped
                return _laid_out(stored, path.parent)
            return from_arrow(stored.read(use_threads=False))
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
            if (
                getattr(error, "errno", None) is not None
            ):  # of the system; Arrow's, of bad bytes, has no number
                raise
            message = f"{path.name} is not a Winnow table, or is damaged ({type(error).__name__})."
            fix = "Import the original file again."
            raise TableError(Problem(None, None, None, message, fix)) from error


def _size(stored: pa.parquet.ParquetFile) -> int:
    """Bytes of all columns in memory, about."""
    return sum(
        stored.metadata.row_group(group).total_byte_size for group in range(stored.metadata.num_row_groups)
    )


def _laid_out(stored: pa.parquet.ParquetFile, folder: Path) -> TableParts:
    """The table with its text and numbers in files of the folder that are mapped; all else is in memory.

    Every page is read, and its checksum looked at, one group of rows after the other.
    """
    schema = stored.schema_arrow
    text = [name for name in schema.names if name.startswith("cell:")]
    numbers = [name for name in schema.names if name.startswith("number:")]
    vectors = [name for name in schema.names if name == VECTORS]
    with nameless_file(folder) as words, nameless_file(folder) as figures, nameless_file(folder) as lists:
        with pa.ipc.new_file(words, pa.schema([schema.field(name) for name in text])) as writer:
            for group in range(stored.metadata.num_row_groups):
                writer.write_table(stored.read_row_group(group, text, use_threads=False))
                if numbers:
                    columns = stored.read_row_group(group, numbers, use_threads=False).columns
                    figures.write(np.column_stack([column.to_numpy() for column in columns]).tobytes())
                if vectors:
                    read = vectors_of(stored.read_row_group(group, vectors, use_threads=False), VECTORS)
                    lists.write(np.asarray(read).tobytes())
        cells = pa.ipc.open_file(mapped_file(words)).read_all()
        flat = np.frombuffer(mapped_file(figures)) if numbers else np.empty(0)
        beside = np.frombuffer(mapped_file(lists), np.float32) if vectors else None
    n_rows = stored.metadata.num_rows
    width = 0 if beside is None else len(beside) // n_rows
    found = _beside(
        stored,
        {*text, *numbers, *vectors},
        cells,
        flat.reshape(n_rows, len(numbers)),
        None if beside is None else beside.reshape(n_rows, width),
    )
    pa.default_memory_pool().release_unused()
    return found


def _beside(
    stored: pa.parquet.ParquetFile,
    known: Collection[str],
    cells: pa.Table | pd.DataFrame,
    numbers: FloatArray,
    vectors: Vectors | None,
) -> TableParts:
    """The table of these cells, numbers and vectors, which are in the columns that are `known`, and the other columns:
    candidates one group of rows after the other, for as text they take ten times what is kept of them."""
    groups = range(stored.metadata.num_row_groups)
    rest = [name for name in stored.schema_arrow.names if name not in {*known, CANDIDATES}]
    lists = (stored.read_row_group(group, [CANDIDATES], use_threads=False)[CANDIDATES] for group in groups)
    return from_arrow(stored.read(rest, use_threads=False), cells, numbers, vectors, lists)


def read_beside(
    path: Path, cells: pd.DataFrame, numbers: FloatArray, vectors: Vectors | None = None
) -> TableParts:
    """`read_parts` of a file that this program has written a moment ago from these cells, numbers and embeddings, which
    are at hand: they are not read again. vectors : None: they are read"""
    beside = ("cell:", "number:") if vectors is None else ("cell:", "number:", VECTORS)
    with pa.parquet.ParquetFile(path) as stored:
        known = {name for name in stored.schema_arrow.names if name.startswith(beside)}
        parts = _beside(stored, known, cells, numbers, vectors)
    pa.default_memory_pool().release_unused()
    return parts


def read_kept_names(path: Path) -> frozenset[str]:
    """The kept names of the files that the rows of a stored table name, and nothing else of it. Raises OSError."""
    with pa.OSFile(str(path)) as file, pa.parquet.ParquetFile(file) as stored:
        names = [name for name in stored.schema_arrow.names if name.startswith("media:")]
        data = stored.read(columns=names) if names else pa.table({})
    flat = (pc.list_flatten(one) if pa.types.is_list(one.type) else one for one in data.columns)
    return frozenset(name for column in flat for name in column.unique().to_pylist() if name)
