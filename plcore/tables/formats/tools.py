"""The tools and models whose files are known by name: which fields or columns they have, and who reads them.

A new tool is a module beside this one with an object that has the three names of `RecordFormat` or `Shape`, and its
place in `RECORD_FORMATS` or `SHAPES`.
"""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from plcore.tables.formats.argilla import Argilla
from plcore.tables.formats.batches import Batches
from plcore.tables.formats.detection_tables import DETECTION_TABLES
from plcore.tables.formats.label_studio import LabelStudioMin, LabelStudioTasks
from plcore.tables.formats.language_models import ModelCandidates
from plcore.tables.formats.prodigy import Prodigy
from plcore.tables.formats.reading import TableReading
from plcore.tables.formats.record_values import Records
from plcore.tables.formats.speciesnet import SpeciesNet
from plcore.tables.formats.votes import LongVotes
from plcore.tables.formats.weak_label_files import LabelMatrixTable, Wrench
from plcore.tables.formats.zero_shot import LongScores, ZeroShot


class RecordFormat(Protocol):
    """What a tool writes as JSON objects.

    name : of the tool and its file, in words: "Label Studio JSON"
    fits : whether these records are of this tool, by the names of their fields; never raises
    read : the table in them. Raises TableError
    """

    @property
    def name(self) -> str: ...

    def fits(self, records: Records, /) -> bool: ...

    def read(self, records: Records, /) -> TableReading: ...


class Shape(Protocol):
    """What is written as a table that is really another one: a vote, a score or a detection in each row.

    name, fits, read : as of a `RecordFormat`, by the names of the columns
    """

    @property
    def name(self) -> str: ...

    def fits(self, cells: pd.DataFrame, /) -> bool: ...

    def read(self, cells: pd.DataFrame, /) -> TableReading: ...


RECORD_FORMATS: tuple[RecordFormat, ...] = (
    SpeciesNet(),
    LabelStudioTasks(),
    LabelStudioMin(),
    Argilla(),
    Prodigy(),
    Batches(),
    ModelCandidates(),
    ZeroShot(),
    Wrench(),
)
"""The first that fits reads the file; where none does, every field is a column."""

SHAPES: tuple[Shape, ...] = (*DETECTION_TABLES, LongVotes(), LongScores(), LabelMatrixTable())
"""The first that fits reads the table; where none does, every row is one."""
