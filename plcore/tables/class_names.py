"""Names of classes as a file gives them: of one line, without characters that make them look other than they are."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common.characters import forbidden_in_name
from plcore.common.words import quoted
from plcore.tables.columns import Finder
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.roles import Roles

_LABELS = ("candidates", "choices", "annotators", "not_labels", "truth")
_NAMED_BY = ("label_columns", "score_columns")
_FIX = "Take it out of the label."


def check_class_names(classes: Sequence[str], cells: pd.DataFrame, roles: Roles, finder: Finder) -> None:
    """Problems: classes whose names hold control characters, terminal escapes or marks of the writing direction, each
    with the first cell or the column that names it."""
    bad = [(name, found) for name in classes if (found := forbidden_in_name(name)) is not None]
    for name, found in bad[:MAX_PROBLEMS]:
        row, column = _place(name, cells, roles)
        finder.add(row, column, f"the label {quoted(name)} holds {found}, which no label may.", _FIX)


def _place(name: str, cells: pd.DataFrame, roles: Roles) -> tuple[int | None, str | None]:
    columns = [column for role, column in roles.used() if role in _LABELS]
    for column in columns:
        text = pa.array(cells[column], pa.large_string())
        for written in (name, json.dumps(name)[1:-1]):  # in JSON it may stand with escapes
            row = pc.index(pc.match_substring(text, written), True).as_py()
            if row >= 0:
                return row, column
    named = [column for role, column in roles.used() if role in _NAMED_BY and name.strip() in column]
    return None, next(iter([*named, *columns]), None)
