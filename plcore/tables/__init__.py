"""Tables: read CSV text, zips and media into a LabelTable with features; every error names its row and
column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.extras import missing_for_tables
from plcore.arrays.lazy import lazy_names

if _missing := missing_for_tables():
    raise ModuleNotFoundError(
        f"plcore.tables needs {', '.join(_missing)}, which cannot be imported. Fix: pip install 'plcore[tables]'."
    )

if TYPE_CHECKING:
    from plcore.tables.columns import mapped_numbers, nameless_file
    from plcore.tables.encoders import Encoder, EncoderError, EncoderPlugin, encoder_plugins
    from plcore.tables.features.embeddings import ColumnVectors, directions_of
    from plcore.tables.features.matrix import FeatureTransformer
    from plcore.tables.features.text import TextFeatures, marks_of
    from plcore.tables.growing import (
        LEAST_SHARE,
        Grown,
        Rescored,
        is_score,
        why_no_score,
        with_encoded,
        with_rows,
        with_scores,
        without_vectors,
    )
    from plcore.tables.media.cells import check_media
    from plcore.tables.media.file_tree import (
        MAX_FILE_MB,
        MAX_FILES,
        MAX_RECORDING_MB,
        MAX_UNPACKED_MB,
        MAX_ZIP_MB,
        Folder,
        MediaError,
    )
    from plcore.tables.media.files import CONTENT_TYPES, KeptFiles, MediaFiles, is_kept_name, lay_out
    from plcore.tables.media.images import MAX_PIXELS, is_inline, listed_images, thumbnail
    from plcore.tables.media.kept_names import read_kept_names
    from plcore.tables.media.sound import Sound, spectrogram, to_png
    from plcore.tables.parts import find_row_files, read_in_parts
    from plcore.tables.plugged import ReaderPlugin, reader_plugins
    from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, causes
    from plcore.tables.readers.candidate_rows import NEEDS_ROWS
    from plcore.tables.readers.joining import ENDINGS as VECTOR_ENDINGS
    from plcore.tables.readers.joining import with_vectors, write_vectors
    from plcore.tables.readers.parquet_parts import find_parts, store_parts
    from plcore.tables.readers.reading import TableReading
    from plcore.tables.readers.recognise import read_table, read_vectors, store_plain_csv
    from plcore.tables.readers.registry import (
        CLASSES,
        WAYS,
        Way,
        joined,
        lacks_labels,
        lacks_rows,
        read_in,
        shape_name,
        shaped,
        ways_of,
        with_classes,
    )
    from plcore.tables.readers.stored import read_stored, store_reading
    from plcore.tables.readers.tools.detections import serving_columns
    from plcore.tables.readers.tools.megadetector import Box, boxes_of
    from plcore.tables.roles.cells import MISSING
    from plcore.tables.roles.doubts import Doubt, find_doubts
    from plcore.tables.roles.named_votes import NamedVotes
    from plcore.tables.roles.roles import WAYS_IN, Roles, column_way
    from plcore.tables.roles.sample import whole_texts
    from plcore.tables.roles.sentence import ReadingSummary, describe, read_as_nothing
    from plcore.tables.roles.suggested_labels import suggest_reading
    from plcore.tables.roles.suggestion import suggest_roles
    from plcore.tables.storing import read_encoded_columns, read_first_texts
    from plcore.tables.table import LabelTable
    from plcore.tables.text.arrow import to_csv_bytes
    from plcore.tables.text.csv import read_cells
    from plcore.tables.text.language import ENGLISH, guess_language
    from plcore.tables.text.types import export_types
    from plcore.tables.writers.disambiguated import Disambiguated, LabelVectorTable, Tell
    from plcore.tables.writers.label_vectors import VECTOR_FORMATS
    from plcore.tables.writers.nature import NATURE_FORMATS
    from plcore.tables.writers.writing import FILE_FORMATS, FileFormat, format_of
else:
    __getattr__, __dir__ = lazy_names(__name__)

# Names that the library's documentation lists; the app also imports others.
__all__ = [
    "FILE_FORMATS",
    "Disambiguated",
    "Doubt",
    "Encoder",
    "EncoderError",
    "EncoderPlugin",
    "FeatureTransformer",
    "FileFormat",
    "LabelTable",
    "LabelVectorTable",
    "MediaError",
    "MediaFiles",
    "Problem",
    "ReaderPlugin",
    "Roles",
    "Sound",
    "TableError",
    "TableReading",
    "TextFeatures",
    "find_doubts",
    "format_of",
    "read_cells",
    "read_table",
    "shape_name",
    "shaped",
    "spectrogram",
    "suggest_roles",
    "with_rows",
    "with_vectors",
]
