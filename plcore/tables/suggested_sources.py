"""Which columns name recordings and their segments, or hold embeddings: a guess from names and cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plcore.tables.column_sample import ColumnSample
from plcore.tables.embeddings import numbers_of
from plcore.tables.file_tree import RECORDINGS

_STARTS = re.compile(r"(segment_|clip_)?(start|begin|onset|offset)(_time|_sec|_seconds|_s)*")
_ENDS = re.compile(r"(segment_|clip_)?(end|stop)(_time|_sec|_seconds|_s)*")
_EMBEDDING = re.compile(r"(\w+_)?(embeddings?|emb|vectors?|encodings?)(_\w+)?")
_FEWEST = 16
"""Numbers that a list has which is taken for an embedding by its cells alone: shorter ones may be labels, or a box."""


def guess_audio(columns: Sequence[ColumnSample]) -> ColumnSample | None:
    """The first column whose cells name recordings."""
    return next((column for column in columns if column.cells_like(_names_recording)), None)


def guess_segment(columns: Sequence[ColumnSample]) -> tuple[ColumnSample | None, ColumnSample | None]:
    """The columns of the seconds at which a segment begins and ends; neither unless it begins somewhere."""
    start, end = (
        next((column for column in columns if pattern.fullmatch(column.key) and column.is_numbers), None)
        for pattern in (_STARTS, _ENDS)
    )
    return (start, end) if start is not None else (None, None)


def guess_embedding(columns: Sequence[ColumnSample]) -> ColumnSample | None:
    """The first column of lists of numbers: by its name, or by their length."""
    return next((column for column in columns if column.cells and _is_embedding(column)), None)


def fewest_numbers(name: str) -> int:
    """How many numbers the lists of a column of this name have at least, where it is taken for an embedding."""
    return 2 if is_embedding_name(name) else _FEWEST


def is_embedding_name(name: str) -> bool:
    """Whether a column is called as embeddings are."""
    return _EMBEDDING.fullmatch(name.strip().lower()) is not None


def _names_recording(cell: str) -> bool:
    return cell.lower().endswith(RECORDINGS)


def _is_embedding(column: ColumnSample) -> bool:
    lists = [numbers_of(cell) for cell in column.cells[:20]]
    fewest = fewest_numbers(column.key)
    return all(numbers is not None and len(numbers) >= fewest for numbers in lists)
