"""The stored form of a LabelTable: one self-describing Parquet file, the same bytes for the same table."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import scipy.sparse as sp

from plcore.arrays import IN_MEMORY, let_go
from plcore.arrays.candidate_sets import pairs_of, place_candidates
from plcore.arrays.disk import sync_folder
from plcore.arrays.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.tables.columns import mapped_file, nameless_file
from plcore.tables.features.embeddings import ColumnVectors, Vectors
from plcore.tables.media.cells import Media
from plcore.tables.problems import refusal
from plcore.tables.roles.named_votes import NamedVotes
from plcore.tables.roles.roles import Roles
from plcore.tables.text.arrow import columns_of_text, frame_of
from plcore.tables.text.types import from_text, to_text, types_of, with_types


class TableParts(NamedTuple):
    """The parts of a LabelTable that a file holds, see its attributes; for label vectors only the cells."""

    cells: pd.DataFrame
    roles: Roles
    numbers: FloatArray
    candidates: BoolArray
    classes: tuple[str, ...]
    truth: IntArray | None
    media: Media
    candidate_weights: FloatArray | None
    embeddings: Vectors | None
    votes: NamedVotes | None = None
    encoded: tuple[ColumnVectors, ...] = ()


KEY = b"winnow"
"""Key in the metadata of the schema."""
VECTORS = "embedding"
"""The column of dense embeddings."""
CANDIDATES = "candidates"
_VERSION = 1
_TURNED = 1024
"""Rows of numbers transposed at a time."""
_READ = 1 << 16
"""Rows whose candidates are read at a time."""


def rows_of(table: TableParts, rows: slice) -> TableParts:
    """Return the table of these rows; only the candidates are copied."""
    media, votes = table.media, table.votes
    arrays = ("images", "audio", "looks", "segments", "more_images", "sounds")
    cut = {name: None if (one := getattr(media, name)) is None else one[rows] for name in arrays}
    if votes is not None:
        start, stop = np.searchsorted(votes.rows, [rows.start, rows.stop])
        lines = (votes.rows[start:stop] - np.int32(rows.start), votes.who[start:stop], votes.labels[start:stop])
        votes = NamedVotes(*lines, votes.voters)
    return table._replace(
        cells=table.cells.iloc[rows],
        numbers=table.numbers[rows],
        candidates=table.candidates.take(np.arange(*rows.indices(len(table.candidates))), axis=0),
        truth=None if table.truth is None else table.truth[rows],
        media=replace(media, **cut),
        candidate_weights=None if table.candidate_weights is None else table.candidate_weights[rows],
        embeddings=None if table.embeddings is None else table.embeddings[rows],
        votes=votes,
        encoded=tuple(replace(one, values=one.values[rows]) for one in table.encoded),
    )


def to_arrow(table: TableParts) -> pa.Table:
    """The columns of the file, as the docstring of `plcore.tables.storing` says."""
    columns: dict[str, Any] = {
        f"cell:{name}": column for name, column in zip(table.cells.columns, columns_of_text(table.cells), strict=True)
    }
    for name, numbers in zip(table.roles.numbers, _by_column(table.numbers), strict=True):
        columns[f"number:{name}"] = pa.array(numbers, from_pandas=True)
    classes = pa.array(table.classes, pa.large_string())
    rows, labels = pairs_of(table.candidates)
    offsets = np.searchsorted(rows, np.arange(len(table.candidates) + 1))
    starts = pa.array(offsets, pa.int32())
    columns[CANDIDATES] = pa.ListArray.from_arrays(starts, classes.take(pa.array(labels)))
    if table.candidate_weights is not None:
        weights = pa.array(table.candidate_weights[rows, labels])
        columns["candidate_weights"] = pa.ListArray.from_arrays(starts, weights)
    if table.truth is not None:
        columns["truth"] = classes.take(pa.array(table.truth, mask=table.truth < 0))
    for name, kept in (("media:image", table.media.images), ("media:audio", table.media.audio)):
        if kept is not None:
            columns[name] = pa.array(kept, pa.string())
    if table.media.more_images is not None:
        columns["media:more_images"] = pa.array(map(list, table.media.more_images), pa.list_(pa.string()))
    described = (("look", table.media.looks), ("sound", table.media.sounds), (VECTORS, table.embeddings))
    for name, vectors in (*described, *((f"encoded:{one.column}", one.values) for one in table.encoded)):
        if vectors is not None and not sp.issparse(vectors):
            empty = pa.array(np.isnan(vectors[:, 0]))
            columns[name] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1], mask=empty)
    if (segments := table.media.segments) is not None:
        for place, name in enumerate(("start", "end")):
            columns[name] = pa.array(segments[:, place], from_pandas=True)
    about = {"version": _VERSION, "roles": table.roles.to_json(), "classes": table.classes}
    if table.encoded:
        about["encoded"] = [(one.column, one.encoder, one.sha256) for one in table.encoded]
    if types := to_text(types_of(table.cells)):
        about["types"] = types
    if sp.issparse(table.embeddings):
        sparse = sp.csr_matrix(table.embeddings)
        starts = pa.array(sparse.indptr, pa.int32())
        for name, values in (("places", sparse.indices.astype(np.int32)), ("values", sparse.data)):
            columns[f"embedding:{name}"] = pa.ListArray.from_arrays(starts, pa.array(values))
        about["width"] = sparse.shape[1]
    if (votes := table.votes) is not None:
        starts = pa.array(np.searchsorted(votes.rows, np.arange(len(table.candidates) + 1)), pa.int32())
        for name, values in (("who", votes.who), ("label", votes.labels)):
            columns[f"votes:{name}"] = pa.ListArray.from_arrays(starts, pa.array(values))
        about["voters"] = votes.voters
    text = json.dumps(about, ensure_ascii=True, sort_keys=True)
    data = pa.table(columns).replace_schema_metadata({KEY: text.encode()})
    return data.combine_chunks()  # the file must not depend on how the text is chunked


def _by_column(numbers: FloatArray) -> FloatArray:
    """(p, n) of (n, p), in pieces that stay in the cache: column by column, each row would be fetched p times."""
    turned = np.empty(numbers.shape[::-1])
    for start in range(0, len(numbers), _TURNED):
        some = slice(start, start + _TURNED)
        turned[:, some] = numbers[some].T
    return turned


def from_arrow(
    data: pa.Table,
    text: pa.Table | pd.DataFrame | None = None,
    numbers: FloatArray | None = None,
    vectors: Vectors | None = None,
    lists: Iterable[pa.ChunkedArray] | None = None,
) -> TableParts:
    """text, numbers, vectors (embeddings), lists (of candidates, some rows after the other) : where they are not among
    the columns of the data"""
    about = json.loads((data.schema.metadata or {})[KEY])
    if about["version"] != _VERSION:
        raise ValueError(f"version {about['version']} of the format; this program reads {_VERSION}")
    roles, classes = Roles.from_json(about["roles"]), tuple(about["classes"])
    cells = text if isinstance(text, pd.DataFrame) else _cells(data if text is None else text)
    cells = with_types(cells, from_text(about.get("types", "")))
    if numbers is None:
        numbers = np.empty((data.num_rows, len(roles.numbers)))
        for place, name in enumerate(roles.numbers):
            numbers[:, place] = data[f"number:{name}"].to_numpy()
    index = pa.array(classes, pa.large_string())
    pairs = _pairs([data[CANDIDATES]] if lists is None else lists, index)
    candidates = place_candidates(len(cells), len(classes), *pairs)
    weights = None
    if "candidate_weights" in data.column_names:
        weights = np.zeros(candidates.shape)
        flat, first = pc.list_flatten(data["candidate_weights"].combine_chunks()).to_numpy(), 0
        for rows, labels in pairs:
            weights[rows, labels] = flat[first : first + len(rows)]
            first += len(rows)
    truth = None
    if roles.truth is not None:
        truth = pc.fill_null(pc.index_in(data["truth"], value_set=index), -1).to_numpy().astype(np.int64)
    embeddings = vectors
    if vectors is None:
        embeddings = _sparse(data, about["width"]) if "width" in about else vectors_of(data, VECTORS)
    return TableParts(
        *(cells, roles, numbers, candidates, classes, truth, _media(data), weights, embeddings),
        _votes(data, about["voters"]) if "voters" in about else None,
        tuple(
            ColumnVectors(column, encoder, sha256, vectors_of(data, f"encoded:{column}"))
            for column, encoder, sha256 in about.get("encoded", ())
        ),
    )


def _pairs(lists: Iterable[pa.ChunkedArray], index: pa.Array) -> list[tuple[AnyArray, AnyArray]]:
    """(rows, places among the classes) int32 of the candidates in lists, some rows after the other."""
    found, first = [], 0
    for chunk in (chunk for column in lists for chunk in column.chunks):
        for start in range(0, len(chunk), _READ):
            some = chunk.slice(start, _READ)
            labels = pc.index_in(pc.list_flatten(some), value_set=index)
            rows = pc.list_parent_indices(some).to_numpy(zero_copy_only=False)
            found.append(((rows + first).astype(np.int32), labels.to_numpy(zero_copy_only=False)))
            first += len(some)
    return found


def _cells(data: pa.Table) -> pd.DataFrame:
    names = [name.removeprefix("cell:") for name in data.column_names if name.startswith("cell:")]
    return frame_of([data[f"cell:{name}"] for name in names], names)


def _votes(data: pa.Table, voters: list[str]) -> NamedVotes:
    who, labels = (data[f"votes:{name}"].combine_chunks() for name in ("who", "label"))
    rows = pc.list_parent_indices(who).to_numpy(zero_copy_only=False)
    return NamedVotes.of(rows, who.flatten().to_numpy(), labels.flatten().to_numpy(), voters)


def _media(data: pa.Table) -> Media:
    images, audio = (
        data[name].to_numpy() if name in data.column_names else None for name in ("media:image", "media:audio")
    )
    segments = None
    if "start" in data.column_names:
        segments = np.column_stack([data[name].to_numpy() for name in ("start", "end")]).astype(np.float64)
    more = None
    if "media:more_images" in data.column_names:
        more = np.empty(data.num_rows, dtype=object)
        more[:] = list(map(tuple, data["media:more_images"].to_pylist()))
    return Media(images, audio, vectors_of(data, "look"), segments, more_images=more, sounds=vectors_of(data, "sound"))


def vectors_of(data: pa.Table, name: str) -> Any:
    """(n, d) float32 or float16 of a column of lists, NaN if there is none; None if there is no such column."""
    if name not in data.column_names:
        return None
    lists = data[name].combine_chunks()
    width = lists.type.list_size
    vectors = np.full((data.num_rows, width), np.nan, dtype=lists.type.value_type.to_pandas_dtype())
    vectors[np.asarray(lists.is_valid())] = lists.drop_null().flatten().to_numpy().reshape(-1, width)
    return vectors


def _sparse(data: pa.Table, width: int) -> sp.csr_matrix:
    places, values = (data[f"embedding:{name}"].combine_chunks() for name in ("places", "values"))
    starts = np.concatenate([[0], np.cumsum(pc.list_value_length(places).to_numpy(zero_copy_only=False))])
    pieces = (values.flatten().to_numpy(), places.flatten().to_numpy(), starts)
    return sp.csr_matrix(pieces, shape=(data.num_rows, width))


_ROWS_PER_GROUP = 1 << 16


def write_parts(table: TableParts, folder: Path, name_of: Callable[[str], str]) -> str:
    """Write the file into the folder atomically, and return the SHA-256 of its bytes in hex.

    name_of : makes the file name from that SHA-256. On return the file is durable (it survives a power cut).
    """
    return _named(folder, name_of, lambda file: _write_groups(table, file))


class Written(NamedTuple):
    """A file that holds these parts.

    digest : its SHA-256 in hex      held : object that keeps the file in place while it lives
    """

    path: Path
    digest: str
    parts: TableParts
    held: object

    def holds(self, parts: TableParts) -> bool:
        """Return whether the file holds exactly these parts, no matter where image bytes come from."""
        pairs = [*zip(self.parts, parts, strict=True)]
        media = [
            (getattr(self.parts.media, one.name), getattr(parts.media, one.name))
            for one in fields(Media)
            if one.name != "files"
        ]
        return all(one is other for one, other in (*pairs, *media) if not isinstance(one, Media))


def copy_written(written: Written, folder: Path, name_of: Callable[[str], str]) -> str:
    """`write_parts` of what has been written into a file already: the same bytes, which are not made again, and where
    the folder is on the same disk not copied either."""
    target = folder / name_of(written.digest)
    aside = folder / f".new-{secrets.token_hex(8)}.part"
    try:
        os.link(written.path, aside)
    except OSError:  # another disk, or one without links
        with written.path.open("rb") as source:
            return _named(folder, name_of, lambda file: shutil.copyfileobj(source, file, 1 << 20))
    aside.replace(target)
    aside.unlink(missing_ok=True)  # if the target was this very file, nothing was renamed
    sync_folder(folder)
    return written.digest


class _Hashed(io.RawIOBase):
    """A file written piece by piece, whose SHA-256 is computed on the way."""

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
    sync_folder(folder)
    return digest


def _write_groups(table: TableParts, file: _Hashed) -> None:
    """Write one row group after the other: at most one of them is in memory as Parquet."""
    writer: pa.parquet.ParquetWriter | None = None
    plain = {
        f"cell:{name}" for name in table.roles.numbers
    }  # digits hardly compress, and compression costs more than the rest
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
                write_statistics=False,  # nothing searches for rows in it
                write_page_checksum=True,
            )
            writer.write_table(data, _ROWS_PER_GROUP)
            let_go()
    finally:
        if writer is not None:
            writer.close()


def _paths(schema: pa.Schema) -> list[str]:
    """Return the Parquet paths of the columns; for a list, the path of its elements."""
    return [f"{one.name}.list.element" if pa.types.is_nested(one.type) else one.name for one in schema]


def read_parts(path: Path) -> TableParts:
    """Read the output of `write_parts`. Raises TableError: not our file, or damaged.

    System errors (no such file, no permission, disk failure) say nothing about the table: the OSError is
    passed on.
    """
    try:
        return _read_parts(path)
    finally:
        pa.default_memory_pool().release_unused()  # else Arrow allocates twice the memory


def _read_parts(path: Path) -> TableParts:
    with pa.OSFile(str(path)) as file:
        try:
            stored = pa.parquet.ParquetFile(file, page_checksum_verification=True)
            # read_table takes four times the memory of a wide one, and threads, each with a heap, as much again
            if _size(stored) > IN_MEMORY:  # its text and numbers are in files that are mapped
                return _laid_out(stored, path.parent)
            return from_arrow(stored.read(use_threads=False))
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
            if getattr(error, "errno", None) is not None:  # of the system; Arrow's error about bad bytes has no number
                raise
            message = f"{path.name} is not a Winnow table, or is damaged ({type(error).__name__})."
            fix = "Import the original file again."
            raise refusal(message, fix) from error


def _size(stored: pa.parquet.ParquetFile) -> int:
    """Estimate the bytes of all columns in memory."""
    return sum(stored.metadata.row_group(group).total_byte_size for group in range(stored.metadata.num_row_groups))


def _laid_out(stored: pa.parquet.ParquetFile, folder: Path) -> TableParts:
    """Read the table with its text and numbers in mapped files of the folder; everything else is in memory.

    Every page is read and its checksum verified, one row group after the other.
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
    others = {*known, CANDIDATES}
    rest = [name for name in stored.schema_arrow.names if name not in others]
    lists = (stored.read_row_group(group, [CANDIDATES], use_threads=False)[CANDIDATES] for group in groups)
    return from_arrow(stored.read(rest, use_threads=False), cells, numbers, vectors, lists)


def read_beside(path: Path, cells: pd.DataFrame, numbers: FloatArray, vectors: Vectors | None = None) -> TableParts:
    """`read_parts` of a file that this program has written a moment ago from these cells, numbers and embeddings, which
    are at hand: they are not read again. vectors : None: they are read"""
    beside = ("cell:", "number:") if vectors is None else ("cell:", "number:", VECTORS)
    with pa.parquet.ParquetFile(path) as stored:
        known = {name for name in stored.schema_arrow.names if name.startswith(beside)}
        parts = _beside(stored, known, cells, numbers, vectors)
    pa.default_memory_pool().release_unused()
    return parts


def read_encoded_columns(path: Path) -> tuple[tuple[str, str, str], ...]:
    """Read only (column, encoder, sha256 of the encoder) of the encoded columns of a stored table. Raises
    OSError."""
    with pa.OSFile(str(path)) as file, pa.parquet.ParquetFile(file) as stored:
        about = json.loads((stored.schema_arrow.metadata or {})[KEY])
    return tuple(map(tuple, about.get("encoded", ())))


def read_first_texts(path: Path, column: str, n: int = 1_000) -> tuple[str, ...]:
    """Read only the first n cells of a column of a stored table. Raises OSError."""
    with pa.OSFile(str(path)) as file, pa.parquet.ParquetFile(file) as stored:
        first = next(stored.iter_batches(n, columns=[f"cell:{column}"]), None)
    return () if first is None else tuple(text or "" for text in first.column(0).to_pylist())
