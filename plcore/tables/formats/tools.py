"""The formats of other labelling tools and of models, in the order in which they are tried."""

from __future__ import annotations

from typing import Any, Protocol

import pandas as pd

from plcore.tables.formats.argilla import Argilla
from plcore.tables.formats.batches import Batches
from plcore.tables.formats.label_studio import LabelStudioMin, LabelStudioTasks
from plcore.tables.formats.language_models import ModelCandidates
from plcore.tables.formats.prodigy import Prodigy
from plcore.tables.formats.reading import Reading
from plcore.tables.formats.votes import LongVotes
from plcore.tables.formats.weak_label_files import LabelMatrixTable, Wrench
from plcore.tables.formats.zero_shot import LongScores, ZeroShot


class RecordFormat(Protocol):
    """A format of JSON records. `fits` never raises; `read` raises TableError alone."""

    name: str

    def fits(self, records: list[dict[str, Any]]) -> bool: ...

    def read(self, records: list[dict[str, Any]]) -> Reading: ...


class Shape(Protocol):
    """A table that is really another one: a vote a row. `fits` never raises; `read` raises TableError alone."""

    name: str

    def fits(self, cells: pd.DataFrame) -> bool: ...

    def read(self, cells: pd.DataFrame) -> Reading: ...


RECORD_FORMATS: tuple[RecordFormat, ...] = (
    LabelStudioTasks(),
    LabelStudioMin(),
    Argilla(),
    Prodigy(),
    Batches(),
    ModelCandidates(),
    ZeroShot(),
    Wrench(),
)

SHAPES: tuple[Shape, ...] = (LongVotes(), LongScores(), LabelMatrixTable())
