"""Parquet, and Feather (Arrow IPC), by pyarrow; what Hugging Face's `datasets` says of the columns is honoured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from plcore.tables.file_tree import MAX_UNPACKED_MB
from plcore.tables.formats.arrow_columns import ColumnReader
from plcore.tables.formats.embedded import EmbeddedFiles
from plcore.tables.formats.hugging_face import DatasetFeatures, read_features, read_told
from plcore.tables.formats.reading import TableReading, check_size, refusal, text_table
from plcore.tables.media_files import MediaFiles
from plcore.tables.problems import TableError
from plcore.tables.roles import WAYS_IN, Roles
from plcore.tables.suggestion import suggest_roles

PARQUET_START = b"PAR1"
FEATHER_START = b"ARROW1"
_MB = 1_000_000
INDEX = "__index_level_0__"
"""The column in which pandas writes the index of a frame."""


def read_parquet(data: bytes) -> TableReading:
    """The table of a Parquet file. Raises TableError: damaged, too large, of no rows.

    A ClassLabel is its names, and the true label; a list of them is the candidates, as JSON. Images and recordings
    (`{bytes, path}`) come as files, which the cells name. A list of as many numbers as there are class names is a
    column `p_NAME` for each; another list of equally many numbers in each row a column of vectors, where it is called
    one or is long, else a column `NAME_1`, `NAME_2` ... Other nested values are JSON.
    """
    try:
        metadata = pa.parquet.read_metadata(pa.BufferReader(data))
        check_size(metadata.num_rows, metadata.num_columns)
        # Not by its columns: over damaged ones pyarrow ends the process.
        size = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
        if size > MAX_UNPACKED_MB * _MB:
            raise refusal(f"Unpacked, the file has more than {MAX_UNPACKED_MB:,} MB.", "Import fewer rows.")
        texts = [
            column.path
            for column in metadata.schema
            if column.physical_type == "BYTE_ARRAY" and column.path == column.name
        ]
        # As dictionaries, texts take no more room than in the file, until their length is known.
        table = pa.parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read(use_threads=False)
        table.validate(full=True)  # texts that are no UTF-8
    except (TableError, MemoryError):
        raise
    except Exception as error:
        raise damaged("Parquet file", error) from error
    return _read(table, "Parquet")


def read_feather(data: bytes) -> TableReading:
    """The table of a Feather file, version 2, that is Arrow IPC. Raises TableError as `read_parquet`."""
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
    """The error of a file that cannot be read. what : "Parquet file", and which of several"""
    return refusal(f"The {what} cannot be read ({str(error)[:200]}).", "Write it anew.")


def _read(table: pa.Table, name: str) -> TableReading:
    try:
        return _of_table(table, name)
    except UnicodeDecodeError as error:  # names and texts are only decoded where they are used
        raise damaged(f"{name} file", error) from error


def _of_table(table: pa.Table, name: str) -> TableReading:
    features = read_features(table.schema)
    reader = ColumnReader(features, table.num_rows)
    for place, column in enumerate(table.column_names):
        if column == INDEX:
            if table.column(place).to_pylist() != list(range(table.num_rows)):
                reader.add("index", table.column(place))
        else:
            reader.add(column, table.column(place))
    cells = text_table(reader.names, reader.columns)
    files = MediaFiles(EmbeddedFiles(reader.files)) if reader.files else None
    words = f"{name} of Hugging Face" if features.known else name
    roles = roles_of(cells, table.schema, features, reader.scores, files)
    return TableReading(cells, words, roles, files, tuple(reader.notes), arrays=reader.arrays)


def roles_of(
    cells: pd.DataFrame,
    schema: pa.Schema,
    features: DatasetFeatures,
    scores: Sequence[str],
    files: MediaFiles | None,
) -> Roles | None:
    """What the schema of a file says that its columns are for; None where that has to be guessed. scores : columns of
    probabilities of classes"""
    return _told_roles(cells, schema, files) or _roles(cells, features, scores, files)


def _told_roles(cells: pd.DataFrame, schema: pa.Schema, files: MediaFiles | None) -> Roles | None:
    """The roles of a file that was written here: its candidates are known, what was added to it is no feature and no
    truth, and the rest is guessed. None for other files."""
    told = read_told(schema)
    if told is None:
        return None
    not_labels = [] if told.not_labels is None else [told.not_labels]
    if not {told.candidates, told.id, *not_labels, *told.original} <= set(cells.columns):
        return None
    others = [name for name in told.original if name != told.id]
    guess = suggest_roles(cells[others], files=files is not None) if others else Roles()
    none: dict[str, Any] = {way: () for way in WAYS_IN if way != "candidates"} | {"choice_scores": ()}
    if not_labels:
        none["truth"] = None  # label vectors have no one true label
    kept = replace(
        guess, label_vectors=bool(not_labels), not_labels=told.not_labels, cut="all", cut_at=0.0, **none
    )
    return replace(kept, candidates=told.candidates, form="json", id=told.id)


def _roles(
    cells: pd.DataFrame, features: DatasetFeatures, scores: Sequence[str], files: MediaFiles | None
) -> Roles | None:
    """A guess, put right where the features say what a column is; None where they say nothing of labels."""
    sets = [name for name in features.sets if name in cells]
    labels = [name for name in features.labels if name in cells]
    if not sets and not labels:
        return None
    told = {*sets, *labels, *scores}
    guess = suggest_roles(
        cells[[name for name in cells.columns if name not in told]], files=files is not None
    )
    truth: dict[str, Any] = {"truth": labels[0] if labels else guess.truth}
    if not sets:
        return replace(guess, **truth)
    none: dict[str, Any] = {"label_columns": (), "annotators": (), "label_vectors": False, "not_labels": None}
    return replace(guess, candidates=sets[0], form="json", **truth, **none)
