"""From an uploaded file to a project: read the cells, guess the columns, find every problem, create.

Bad input never half-enters: nothing is stored until the whole table has been read without a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from plcore import LabelTable, LearnerSettings, Problem, Roles, TableError, read_cells, suggest_roles
from plcore.problems import MAX_PROBLEMS
from workflow import projects
from workflow.projects import NAME_LENGTH, CannotLearn

if TYPE_CHECKING:
    from workflow.home import Home

MAX_UPLOAD_MB = 200

__all__ = [
    "MAX_PROBLEMS",
    "MAX_UPLOAD_MB",
    "NAME_LENGTH",
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
    """The guessed roles with those a person named; a column named for one role leaves the one guessed for it."""
    named: dict[str, Any] = {role: column for role, column in chosen.items() if column is not None}
    columns = {column for role, column in named.items() if role != "separator"}
    roles = guess.to_json()
    if "candidates" in named:
        roles |= {"label_columns": [], "annotators": []}
    for role, value in roles.items():
        if isinstance(value, list):
            roles[role] = [name for name in value if name not in columns]
        elif value in columns and role != "separator":
            roles[role] = None
    return Roles.from_json(roles | named)
