"""A plain CSV file is read and stored in one go: neither it nor its cells are ever in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from plcore.tables.archive import ZIP_STARTS
from plcore.tables.csv_stream import Batch, PlainCsv, batches, find_plain
from plcore.tables.csv_text import LINE_INDEX, is_other_file
from plcore.tables.formats.arff import looks_like_arff
from plcore.tables.formats.audacity import looks_like_labels
from plcore.tables.formats.detection_tables import lacks_recording
from plcore.tables.formats.libsvm import looks_like_libsvm
from plcore.tables.formats.packed import GZIP_START
from plcore.tables.formats.recognise import OTHER_STARTS
from plcore.tables.formats.records import looks_like_json
from plcore.tables.formats.stored_reading import CELLS, SAID, read_stored, store_said
from plcore.tables.formats.unquoted_commas import may_lack_quotes
from plcore.tables.text_columns import GatheredText

_TOGETHER = 32
"""Blocks of the file that are stored as one: of fewer, a look at a column has the system read its neighbours, too."""


def store_plain_csv(path: Path, folder: Path) -> bool:
    """What `read_table` and `store_reading` make of this file, left in the folder; False, and nothing is left, where it
    is not plain CSV (`plcore.tables.csv_stream`), so that they have to. So it is of a pipe, which can be read once."""
    csv = find_plain(path, _is_for_others) if path.is_file() else None
    if csv is None or not _store(csv, path, folder / CELLS):
        (folder / CELLS).unlink(missing_ok=True)
        return False
    store_said(folder, csv.names, "CSV")
    if lacks_recording(read_stored(folder).cells):  # whose name it is to have
        for name in (CELLS, SAID):
            (folder / name).unlink()
        return False
    return True


def _is_for_others(text: bytes) -> bool:
    """Whether a text that begins so is read as another format, or put right first."""
    looks = (
        looks_like_json,
        looks_like_arff,
        looks_like_libsvm,
        looks_like_labels,
        may_lack_quotes,
        is_other_file,
    )
    return text.startswith((GZIP_START, *ZIP_STARTS, *OTHER_STARTS)) or any(look(text) for look in looks)


def _store(csv: PlainCsv, path: Path, target: Path) -> bool:
    """Write the cells, and the line that each row begins in; whether the file was plain to its end."""
    columns = [pa.field(str(place), pa.large_string()) for place in range(len(csv.names))]
    schema = pa.schema([*columns, pa.field(LINE_INDEX, pa.int64())])
    n_rows = 0
    gathered = [GatheredText() for _ in columns]
    with pa.OSFile(str(target), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        blocks = batches(path, csv)
        try:
            while some := list(_gather(islice(blocks, _TOGETHER), gathered)):
                rows = sum(some)
                lines = pa.array(np.arange(n_rows, n_rows + rows) + csv.line + 1)
                writer.write_batch(pa.record_batch([*(one.take() for one in gathered), lines], schema=schema))
                n_rows += rows
        except pa.ArrowInvalid:
            return False
    return n_rows > 0 and csv.has_lines_of_their_own(n_rows)


def _gather(blocks: Iterator[Batch], gathered: Sequence[GatheredText]) -> Iterator[int]:
    """Put each block behind those before it, column by column; how many rows it has."""
    for block in blocks:
        for column, text in zip(block, gathered, strict=True):
            text.add(column)
        yield len(block[0])
