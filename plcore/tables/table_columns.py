"""What a LabelTable is made of, as columns of Arrow and back; `plcore.tables.table_file` says what they are called."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from plcore.common.candidate_sets import pairs_of, place_candidates
from plcore.common.types import AnyArray, BoolArray, FloatArray, IntArray
from plcore.tables.embeddings import Vectors
from plcore.tables.media import Media
from plcore.tables.named_votes import NamedVotes
from plcore.tables.roles import Roles
from plcore.tables.text_columns import columns_of_text, frame_of


class TableParts(NamedTuple):
    """What a LabelTable is made of and a file holds, as its attributes say; of label vectors the cells alone."""

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


KEY = b"winnow"
"""Of the metadata of the schema."""
VECTORS = "embedding"
"""The column of embeddings that are not sparse."""
CANDIDATES = "candidates"
_VERSION = 1
_TURNED = 1024
"""Rows of numbers that are turned into columns at a time."""
_READ = 1 << 16
"""Rows whose candidates are read at a time."""


def rows_of(table: TableParts, rows: slice) -> TableParts:
    """The table of these rows alone; but for the candidates no array is copied."""
    media, votes = table.media, table.votes
    arrays = ("images", "audio", "looks", "segments", "more_images", "sounds")
    cut = {name: None if (one := getattr(media, name)) is None else one[rows] for name in arrays}
    if votes is not None:
        start, stop = np.searchsorted(votes.rows, [rows.start, rows.stop])
        lines = (
            votes.rows[start:stop] - np.int32(rows.start),
            votes.who[start:stop],
            votes.labels[start:stop],
        )
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
    )


def to_arrow(table: TableParts) -> pa.Table:
    """The columns of the file, as the docstring of `plcore.tables.table_file` says."""
    columns: dict[str, Any] = {
        f"cell:{name}": column
        for name, column in zip(table.cells.columns, columns_of_text(table.cells), strict=True)
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
    described = (
        ("look", table.media.looks),
        ("sound", table.media.sounds),
        (VECTORS, table.embeddings),
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
        starts = pa.array(np.searchsorted(votes.rows, np.arange(len(table.candidates) + 1)), pa.int32())
        for name, values in (("who", votes.who), ("label", votes.labels)):
            columns[f"votes:{name}"] = pa.ListArray.from_arrays(starts, pa.array(values))
        about["voters"] = votes.voters
    text = json.dumps(about, ensure_ascii=True, sort_keys=True)
    data = pa.table(columns).replace_schema_metadata({KEY: text.encode()})
    return data.combine_chunks()  # how the text happened to be chunked must not show in the file


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
        images, audio, vectors_of(data, "look"), segments, more_images=more, sounds=vectors_of(data, "sound")
    )


def vectors_of(data: pa.Table, name: str) -> npt.NDArray[np.float32] | None:
    """(n, d) of a column of lists, NaN where there is none; None where there is no such column."""
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
