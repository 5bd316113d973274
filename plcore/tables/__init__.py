"""Tables: CSV text, zips and media in, a LabelTable with its features out, every error with its row and column."""

from __future__ import annotations

from plcore.tables.archive import ZIP_STARTS, Archive
from plcore.tables.csv_text import read_cells
from plcore.tables.csv_writing import to_csv_bytes
from plcore.tables.doubts import Doubt, find_doubts
from plcore.tables.encoders import Encoder, EncoderError
from plcore.tables.features import FeatureTransformer
from plcore.tables.file_tree import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_RECORDING_MB,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    MediaError,
)
from plcore.tables.folder import Folder
from plcore.tables.formats import ENDINGS as VECTOR_ENDINGS
from plcore.tables.formats import (
    NEEDS_ROWS,
    TableReading,
    joined,
    lacks_rows,
    read_table,
    read_vectors,
    shape_name,
    shaped,
    with_vectors,
    write_vectors,
)
from plcore.tables.formats.csv_rows import cell_form
from plcore.tables.formats.disambiguated import Disambiguated, Tell, names_beside
from plcore.tables.formats.nature import NATURE_FORMATS
from plcore.tables.formats.parquet_parts import ParquetParts, find_parts, store_parts
from plcore.tables.formats.stored_reading import read_stored, store_reading
from plcore.tables.formats.streaming import store_plain_csv
from plcore.tables.formats.vector_table import LabelVectorTable
from plcore.tables.formats.vector_writing import VECTOR_FORMATS
from plcore.tables.formats.writing import FILE_FORMATS, FileFormat, format_of
from plcore.tables.growing import Grown, with_embeddings, with_rows
from plcore.tables.image_reading import MAX_PIXELS, thumbnail
from plcore.tables.kept_files import KeptFiles, lay_out
from plcore.tables.label_text import MISSING
from plcore.tables.looking import look_through
from plcore.tables.mapped import mapped_numbers, nameless_file
from plcore.tables.media_files import CONTENT_TYPES, MediaFiles, is_kept_name
from plcore.tables.named_votes import NamedVotes
from plcore.tables.pictures import is_inline, listed_images
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError
from plcore.tables.roles import WAYS_IN, Roles, column_way
from plcore.tables.row_files import RowFiles, find_row_files
from plcore.tables.row_parts import PartedTable, read_in_parts
from plcore.tables.scoring import LEAST_SHARE, Rescored, is_score, why_no_score, with_scores
from plcore.tables.sound import (
    SCALES,
    SOUND_NAMES,
    Picture,
    Sound,
    SoundError,
    SoundFacts,
    describe_sound,
    read_segment,
    sound_facts,
    spectrogram,
    to_png,
)
from plcore.tables.suggestion import suggest_reading, suggest_roles
from plcore.tables.table import LabelTable
from plcore.tables.table_file import read_kept_names
from plcore.tables.text_features import TextFeatures
from plcore.tables.text_marks import Mark, marks_of

__all__ = [
    "CONTENT_TYPES",
    "FILE_FORMATS",
    "LEAST_SHARE",
    "MAX_FILES",
    "MAX_FILE_MB",
    "MAX_PIXELS",
    "MAX_PROBLEMS",
    "MAX_RECORDING_MB",
    "MAX_UNPACKED_MB",
    "MAX_ZIP_MB",
    "MISSING",
    "NATURE_FORMATS",
    "NEEDS_ROWS",
    "SCALES",
    "SOUND_NAMES",
    "VECTOR_ENDINGS",
    "VECTOR_FORMATS",
    "WAYS_IN",
    "ZIP_STARTS",
    "Archive",
    "Disambiguated",
    "Doubt",
    "Encoder",
    "EncoderError",
    "FeatureTransformer",
    "FileFormat",
    "Folder",
    "Grown",
    "KeptFiles",
    "LabelTable",
    "LabelVectorTable",
    "Mark",
    "MediaError",
    "MediaFiles",
    "NamedVotes",
    "ParquetParts",
    "PartedTable",
    "Picture",
    "Problem",
    "Rescored",
    "Roles",
    "RowFiles",
    "Sound",
    "SoundError",
    "SoundFacts",
    "TableError",
    "TableReading",
    "Tell",
    "TextFeatures",
    "cell_form",
    "column_way",
    "describe_sound",
    "find_doubts",
    "find_parts",
    "find_row_files",
    "format_of",
    "is_inline",
    "is_kept_name",
    "is_score",
    "joined",
    "lacks_rows",
    "lay_out",
    "listed_images",
    "look_through",
    "mapped_numbers",
    "marks_of",
    "nameless_file",
    "names_beside",
    "read_cells",
    "read_in_parts",
    "read_kept_names",
    "read_segment",
    "read_stored",
    "read_table",
    "read_vectors",
    "shape_name",
    "shaped",
    "sound_facts",
    "spectrogram",
    "store_parts",
    "store_plain_csv",
    "store_reading",
    "suggest_reading",
    "suggest_roles",
    "thumbnail",
    "to_csv_bytes",
    "to_png",
    "why_no_score",
    "with_embeddings",
    "with_rows",
    "with_scores",
    "with_vectors",
    "write_vectors",
]
