"""What every reader of a format gives: cells of text, and what the format itself says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from plcore.tables.frame_text import frame_as_text
from plcore.tables.media import MediaFiles
from plcore.tables.problems import Problem, TableError
from plcore.tables.roles import Roles
from plcore.tables.suggestion import suggest_roles


@dataclass(frozen=True)
class Reading:
    """A file as it was understood.

    Attributes
    ----------
    cells : (n_rows, n_columns) DataFrame of str; its index is named `line` where the rows have lines of a file
    format : what the file is, in words: "Excel workbook, sheet 'Birds'"
    roles : what the format says the columns are for; None where they have to be guessed
    files : images and recordings that came with the table; None for none
    notes : a sentence each about what was left out, or taken in one of several ways
    groups : names of groups of classes (a genus), each with its classes (its species), where the format tells
    """

    cells: pd.DataFrame
    format: str
    roles: Roles | None = None
    files: MediaFiles | None = None
    notes: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def suggest_roles(self) -> Roles:
        """What the format says, or a guess at what each column is for."""
        if self.roles is not None:
            return self.roles
        return suggest_roles(self.cells, files=self.files is not None)


def refusal(message: str, fix: str, *, row: int | None = None, line: int | None = None) -> TableError:
    """The error of a file that is refused as a whole, or for one row of it."""
    return TableError(Problem(row, line, None, message, fix))


def cells_of(columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Cells of text from values by column, written as `plcore.tables.frame_text` says."""
    return frame_as_text(
        pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in columns.items()})
    )


def json_candidates(column: str, **roles: Any) -> Roles:
    """Roles with the candidates in this column, each of whose cells is a JSON list of class names."""
    return Roles(candidates=column, form="json", **roles)
