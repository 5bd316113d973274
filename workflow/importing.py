"""From an uploaded file to a project: read the cells, guess the columns, find every problem, create.

Bad input never half-enters: nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from plcore import LabelTable, LearnerSettings, Problem, Roles, TableError, read_cells, suggest_roles
from workflow import projects
from workflow.projects import CannotLearn

if TYPE_CHECKING:
    from workflow.home import Home

MAX_UPLOAD_MB = 200

__all__ = [
    "MAX_UPLOAD_MB",
    "CannotLearn",
    "Checked",
    "LabelTable",
    "LearnerSettings",
    "Problem",
    "Roles",
    "TableError",
    "adjusted",
    "check",
    "create",
    "read_cells",
    "suggest_roles",
]


@dataclass(frozen=True)
class Checked:
    """What the chosen columns make of the file: a table, or the problems that keep it from being one."""

    table: LabelTable | None
    problems: tuple[Problem, ...]


def check(cells: pd.DataFrame, roles: Roles) -> Checked:
    """Read the cells under these roles; every problem found, up to the table's own limit."""
    try:
        return Checked(LabelTable.from_cells(cells, roles), ())
    except TableError as error:
        return Checked(None, error.problems)


def create(
    home: Home,
    person_id: int,
    name: str,
    table: LabelTable,
    settings: LearnerSettings,
    description: str = "",
) -> int:
    """Make the project. Raises as ``workflow.projects.create_project``."""
    return projects.create_project(home, person_id, name, table, settings, description)


def adjusted(guess: Roles, chosen: Mapping[str, str | None]) -> Roles:
    """The guessed roles with those a person named; a column named for one role leaves its guessed other one."""
    named = {role: column for role, column in chosen.items() if column is not None}
    columns = {column for role, column in named.items() if role != "separator"}
    if "candidates" in named:
        guess = dataclasses.replace(guess, label_columns=(), annotators=())
    freed = {
        role: tuple(name for name in value if name not in columns)
        if isinstance(value, tuple)
        else (None if value in columns and role != "separator" else value)
        for role, value in ((field.name, getattr(guess, field.name)) for field in dataclasses.fields(guess))
    }
    return Roles(**{**freed, **named})
