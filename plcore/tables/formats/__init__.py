"""Formats: what people have (workbooks, JSON, Parquet, arrays, exports of other tools) as cells of text with roles.

`read_table` finds out by a file's bytes what it is; its name only breaks ties. Each format is a module with one
function that gives a `TableReading`. Records of JSON whose fields belong to a tool are listed in `RECORD_FORMATS`,
tables that are really another shape (a vote a row) in `SHAPES`.
"""

from __future__ import annotations

from plcore.tables.formats.candidate_rows import NEEDS_ROWS
from plcore.tables.formats.reading import TableReading
from plcore.tables.formats.recognise import read_table, read_vectors
from plcore.tables.formats.shaping import joined, lacks_rows, shape_name, shaped
from plcore.tables.formats.vector_files import ENDINGS, VectorFile, with_vectors, write_vectors

__all__ = [
    "ENDINGS",
    "NEEDS_ROWS",
    "TableReading",
    "VectorFile",
    "joined",
    "lacks_rows",
    "read_table",
    "read_vectors",
    "shape_name",
    "shaped",
    "with_vectors",
    "write_vectors",
]
