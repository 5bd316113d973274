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
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import scipy.sparse as sp

from plcore.common.candidate_sets import pairs_of, place_candidates
from plcore.common.types import BoolArray, FloatArray, IntArray
from plcore.tables.columns import Finder, parse_ids
from plcore.tables.embeddings import Vectors
from plcore.tables.media import Media
from plcore.tables.named_votes import NamedVotes
from plcore.tables.problems import Problem, TableError
from plcore.tables.roles import Roles
from plcore.tables.text_columns import columns_of_text, frame_of


class TableParts(NamedTuple):
    """What a LabelTable is made of and a file holds, as its attributes say; of label vectors the cells alone."""

    cells: pd.DataFrame
    roles: Roles
    ids: npt.NDArray[np.object_]
    numbers: FloatArray
    candidates: BoolArray
    classes: tuple[str, ...]
    truth: IntArray | None
    media: Media
    candidate_weights: FloatArray | None
    embeddings: Vectors | None
    votes: NamedVotes | None = None


_KEY = b"winnow"
_VERSION = 1
_ROWS_PER_GROUP = 1 << 16


def write_parts(table: TableParts, folder: Path, name_of: Callable[[str], str]) -> str:
    """Write the file into the folder, whole or not at all, and return the SHA-256 of its bytes in hex.

    name_of : makes the file's name from that SHA-256. When this returns, the file survives a power cut.
    """
    data = _to_arrow(table)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".new-", suffix=".part")
    try:
        with os.fdopen(handle, "w+b") as file:
            pa.parquet.write_table(
                data,
                file,
                row_group_size=_ROWS_PER_GROUP,
                compression="zstd",
                compression_level=1,
                use_dictionary=["candidates.list.element", "truth"],
                write_page_checksum=True,
            )
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        Path(name).replace(folder / name_of(digest))
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return digest


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
    with pa.OSFile(str(path)) as file:
        try:
            stored = pa.parquet.ParquetFile(file, page_checksum_verification=True)
            # read_table takes four times the memory of a wide one, and threads, each with a heap, as much again
            parts = _from_arrow(stored.read(use_threads=False))
            pa.default_memory_pool().release_unused()  # else Arrow keeps twice of what is left of it
            return parts
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, IndexError) as error:
            if (
                getattr(error, "errno", None) is not None
            ):  # of the system; Arrow's, of bad bytes, has no number
                raise
            message = f"{path.name} is not a Winnow table, or is damaged ({type(error).__name__})."
            fix = "Import the original file again."
            raise TableError(Problem(None, None, None, message, fix)) from error


def _to_arrow(table: TableParts) -> pa.Table:
    columns: dict[str, Any] = {
        f"cell:{name}": column
        for name, column in zip(table.cells.columns, columns_of_text(table.cells), strict=True)
    }
    for place, name in enumerate(table.roles.numbers):
        columns[f"number:{name}"] = pa.array(table.numbers[:, place], from_pandas=True)
    classes = pa.array(table.classes, pa.large_string())
    rows, labels = pairs_of(table.candidates)
    offsets = np.searchsorted(rows, np.arange(len(table.ids) + 1))
    starts = pa.array(offsets, pa.int32())
    columns["candidates"] = pa.ListArray.from_arrays(starts, classes.take(pa.array(labels)))
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
    described = (
        ("look", table.media.looks),
        ("sound", table.media.sounds),
        ("embedding", table.embeddings),
    )
    for name, vectors in described:
        if vectors is not None and not sp.issparse(vectors):
            flat = pa.array(vectors.ravel(), pa.float32())
            empty = pa.array(np.isnan(vectors[:, 0]))
            columns[name] = pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1], mask=empty)
    if (segments := table.media.segments) is not None:
        for place, name in enumerate(("start", "end")):
            columns[name] = pa.array(segments[:, place], from_pandas=True)
    about = {"version": _VERSION, "roles": table.roles.to_json(), "classes": table.classes}
    if sp.issparse(table.embeddings):
        sparse = sp.csr_matrix(table.embeddings)
        starts = pa.array(sparse.indptr, pa.int32())
        for name, values in (("places", sparse.indices.astype(np.int32)), ("values", sparse.data)):
            columns[f"embedding:{name}"] = pa.ListArray.from_arrays(starts, pa.array(values))
        about["width"] = sparse.shape[1]
    if (votes := table.votes) is not None:
        starts = pa.array(np.searchsorted(votes.rows, np.arange(len(table.ids) + 1)), pa.int32())
        for name, values in (("who", votes.who), ("label", votes.labels)):
            columns[f"votes:{name}"] = pa.ListArray.from_arrays(starts, pa.array(values))
        about["voters"] = votes.voters
    text = json.dumps(about, ensure_ascii=True, sort_keys=True)
    data = pa.table(columns).replace_schema_metadata({_KEY: text.encode()})
    return data.combine_chunks()  # how the text happened to be chunked must not show in the file


def _from_arrow(data: pa.Table) -> TableParts:
    about = json.loads((data.schema.metadata or {})[_KEY])
    if about["version"] != _VERSION:
        raise ValueError(f"version {about['version']} of the format; this program reads {_VERSION}")
    roles, classes = Roles.from_json(about["roles"]), tuple(about["classes"])
    names = [name.removeprefix("cell:") for name in data.column_names if name.startswith("cell:")]
    cells = frame_of([data[f"cell:{name}"] for name in names], names)
    numbers = np.empty((data.num_rows, len(roles.numbers)))
    for place, name in enumerate(roles.numbers):
        numbers[:, place] = data[f"number:{name}"].to_numpy()
    index = pa.array(classes, pa.large_string())
    lists = data["candidates"].combine_chunks()
    labels = pc.index_in(pc.list_flatten(lists), value_set=index).to_numpy(zero_copy_only=False)
    rows = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    candidates = place_candidates(data.num_rows, len(classes), rows, labels)
    weights = None
    if "candidate_weights" in data.column_names:
        weights = np.zeros(candidates.shape)
        weights[rows, labels] = pc.list_flatten(data["candidate_weights"].combine_chunks()).to_numpy()
    truth = None
    if roles.truth is not None:
        truth = pc.fill_null(pc.index_in(data["truth"], value_set=index), -1).to_numpy().astype(np.int64)
    ids = parse_ids(cells, roles.id, Finder(None))
    embeddings = _sparse(data, about["width"]) if "width" in about else _vectors(data, "embedding")
    return TableParts(
        *(cells, roles, ids, numbers, candidates, classes, truth, _media(data), weights, embeddings),
        _votes(data, about["voters"]) if "voters" in about else None,
    )


def _votes(data: pa.Table, voters: list[str]) -> NamedVotes:
    who, labels = (data[f"votes:{name}"].combine_chunks() for name in ("who", "label"))
    rows = pc.list_parent_indices(who).to_numpy(zero_copy_only=False)
    return NamedVotes.of(rows, who.flatten().to_numpy(), labels.flatten().to_numpy(), voters)


def _media(data: pa.Table) -> Media:
    images, audio = (
        data[name].to_numpy() if name in data.column_names else None
        for name in ("media:image", "media:audio")
    )
    segments = None
    if "start" in data.column_names:
        segments = np.column_stack([data[name].to_numpy() for name in ("start", "end")]).astype(np.float64)
    more = None
    if "media:more_images" in data.column_names:
        more = np.empty(data.num_rows, dtype=object)
        more[:] = list(map(tuple, data["media:more_images"].to_pylist()))
    return Media(
        images, audio, _vectors(data, "look"), segments, more_images=more, sounds=_vectors(data, "sound")
    )


def _vectors(data: pa.Table, name: str) -> npt.NDArray[np.float32] | None:
    """(n, d), NaN where there is none; None where there is no such column."""
    if name not in data.column_names:
        return None
    lists = data[name].combine_chunks()
    width = lists.type.list_size
    vectors = np.full((data.num_rows, width), np.nan, dtype=np.float32)
    vectors[np.asarray(lists.is_valid())] = lists.drop_null().flatten().to_numpy().reshape(-1, width)
    return vectors


def _sparse(data: pa.Table, width: int) -> sp.csr_matrix:
    places, values = (data[f"embedding:{name}"].combine_chunks() for name in ("places", "values"))
    starts = np.concatenate([[0], np.cumsum(pc.list_value_length(places).to_numpy(zero_copy_only=False))])
    pieces = (values.flatten().to_numpy(), places.flatten().to_numpy(), starts)
    return sp.csr_matrix(pieces, shape=(data.num_rows, width))


def read_kept_names(path: Path) -> frozenset[str]:
    """The kept names of the files that the rows of a stored table name, and nothing else of it. Raises OSError."""
    with pa.OSFile(str(path)) as file, pa.parquet.ParquetFile(file) as stored:
        names = [name for name in stored.schema_arrow.names if name.startswith("media:")]
        data = stored.read(columns=names) if names else pa.table({})
    flat = (pc.list_flatten(one) if pa.types.is_list(one.type) else one for one in data.columns)
    return frozenset(name for column in flat for name in column.unique().to_pylist() if name)
