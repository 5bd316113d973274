"""What every reader of a format gives: cells of text, and what the format itself says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import pyarrow as pa

from plcore.tables.csv_text import LINE_INDEX, name_problems, storable
from plcore.tables.embeddings import Vectors
from plcore.tables.frame_text import frame_as_text
from plcore.tables.media_files import MediaFiles
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, table_error
from plcore.tables.roles import Roles
from plcore.tables.suggested_sources import is_embedding_name
from plcore.tables.suggestion import suggest_roles
from plcore.tables.table_size import check_size as check_size
from plcore.tables.table_size import fits_as_cells as fits_as_cells
from plcore.tables.text_columns import frame_of

MAX_NUMBERS = 200_000_000
"""Of a column of vectors: 800 MB."""


@dataclass(frozen=True)
class TableReading:
    """A file as it was understood.

    Attributes
    ----------
    cells : (n_rows, n_columns) DataFrame of str; its index is named `line` where the rows have lines of a file
    format : what the file is, in words: "Excel workbook, sheet 'Birds'"
    roles : what the format says the columns are for; None where they have to be guessed
    files : images and recordings that came with the table; None for none
    notes : a sentence each about what was left out, or taken in one of several ways
    arrays : by name, columns of vectors (n_rows, d) beside those of text
    groups : names of groups of classes (a genus), each with its classes (its species), where the format tells
    """

    cells: pd.DataFrame
    format: str
    roles: Roles | None = None
    files: MediaFiles | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arrays: Mapping[str, Vectors] = field(default_factory=dict)

    def suggest_roles(self) -> Roles:
        """What the format says, or a guess at what each column is for. A column of vectors is the embedding."""
        roles = self.roles
        if roles is None:
            roles = suggest_roles(self.cells, files=self.files is not None)
        if roles.embedding is not None or not self.arrays:
            return roles
        name = next(filter(is_embedding_name, self.arrays), next(iter(self.arrays)))
        return replace(roles, embedding=name, image_features=False, sound_features=False)


def refusal(message: str, fix: str, *, row: int | None = None, line: int | None = None) -> TableError:
    """The error of a file that is refused as a whole, or for one row of it."""
    return TableError(Problem(row, line, None, message, fix))


def check_vectors(name: str, n_rows: int, width: int) -> None:
    """Raise TableError for a column of more numbers than are taken; to be asked before it is made."""
    if n_rows * width > MAX_NUMBERS:
        message = (
            f"the vectors in {name!r} have {n_rows * width:,} numbers; at most {MAX_NUMBERS:,} are taken."
        )
        raise refusal(message, "Make them shorter, by principal components, say, or import fewer rows.")


def text_table(
    names: Sequence[str],
    columns: Sequence[Sequence[str] | pa.LargeStringArray],
    lines: Sequence[int] | None = None,
) -> pd.DataFrame:
    """The cells of columns of text, each under its name.

    lines : of the file that the rows begin in, or the rows of a sheet; None where there are none
    Raises TableError: no rows, names empty or used twice, text that no file can hold.
    """
    problems = name_problems(list(names))
    if problems:
        raise table_error(problems)
    n_rows = len(columns[0]) if columns else 0
    if not n_rows:
        raise refusal("The file has no data rows.", "Add at least one data row.")
    arrays = []
    for place, column in enumerate(columns):
        try:
            arrays.append(column if isinstance(column, pa.Array) else pa.array(column, pa.large_string()))
        except UnicodeEncodeError:
            message, fix = "the text holds half of a character (a lone surrogate).", "Correct the text."
            bad = [row for row, text in enumerate(column) if not storable(str(text))][:MAX_PROBLEMS]
            at = [None if lines is None else lines[row] for row in bad]
            raise table_error(
                Problem(row + 1, line, names[place], message, fix) for row, line in zip(bad, at, strict=True)
            ) from None
    frame = frame_of(arrays, names)
    if lines is not None:
        frame.index = pd.Index(lines, name=LINE_INDEX)
    return frame


def cells_of(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Cells of text from values by column, written as `plcore.tables.frame_text` says."""
    return frame_as_text(
        pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in columns.items()})
    )


def json_candidates(column: str, **roles: Any) -> Roles:
    """Roles with the candidates in this column, each of whose cells is a JSON list of class names."""
    return Roles(candidates=column, form="json", **roles)
