"""A file with candidates alone, joined to the table of the rows that they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from plcore.common.words import listed, quoted
from plcore.tables.candidates import parse_candidates
from plcore.tables.columns import Finder
from plcore.tables.csv_text import LINE_INDEX
from plcore.tables.formats.candidate_rows import CANDIDATES, NEEDS_ROWS, SOURCES, Row, rows_reading
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.problems import MAX_PROBLEMS, table_error
from plcore.tables.roles import Roles


def join_candidates(reading: TableReading, table: pd.DataFrame, on: str | None = None) -> TableReading:
    """The rows of `table`, each with the candidates that the reading has of it.

    reading : of any format with candidates, however they are written, and ids of rows
    table, on : as in `join_rows`
    """
    roles = reading.suggest_roles()
    if roles.id is None or not roles.has_candidates or roles.label_vectors:
        raise refusal(
            f"The candidates name no rows; the columns are {listed(list(map(str, reading.cells.columns)))}.",
            "Have one column of candidates, and a column 'id' that holds the name of a row of the other table.",
        )
    own_form = reading.roles is not None and (roles.candidates, roles.form) == (CANDIDATES, "json")
    sets = (
        _own_sets(reading.cells) if own_form else _sets(reading.cells, replace(roles, cut="all", cut_at=0.0))
    )
    own = {column for role, column in roles.used() if role not in _DESCRIBING}
    own |= {SOURCES} if own_form else set()
    rows = {}
    for record, weights in zip(reading.cells.to_dict("records"), sets, strict=True):
        row = Row({str(name): value for name, value in record.items() if name not in own})
        row.weights = weights
        row.sources = json.loads(record.get(SOURCES) or "{}") if own_form else {}
        row.truth = record[roles.truth].strip() or None if roles.truth is not None else None
        rows[record[roles.id].strip()] = row
    form = f"{reading.format}, and the table of its rows"
    notes = [note for note in reading.notes if note != NEEDS_ROWS]
    found = join_rows(rows, table, on, format_name=form, notes=notes, groups=reading.groups)
    joined = found.suggest_roles()
    return replace(found, roles=replace(joined, cut=roles.cut, cut_at=roles.cut_at, ignored=roles.ignored))


_DESCRIBING = ("text", "image", "more_images", "audio", "numbers", "categories", "caption")


def _own_sets(cells: pd.DataFrame) -> list[dict[str, float | None]]:
    """The candidates of each row as `rows_reading` wrote them."""
    named = map(json.loads, cells[CANDIDATES])
    return [dict(one) if isinstance(one, dict) else dict.fromkeys(one) for one in named]


def _sets(cells: pd.DataFrame, roles: Roles) -> list[dict[str, float | None]]:
    """The candidates of each row with their weights, all None where they weigh nothing. Raises TableError."""
    finder = Finder(cells.index.tolist() if cells.index.name == LINE_INDEX else None)
    found = parse_candidates(cells, roles, finder)
    # Whether there is something to decide is asked of the rows joined, not of this file alone.
    if problems := [problem for problem in finder.problems if problem.row is not None]:
        raise table_error(problems)
    weights = found.weights
    return [
        {
            found.classes[k]: None if weights is None else float(weights[row, k])
            for k in np.flatnonzero(may_be)
        }
        for row, may_be in enumerate(found.candidates)
    ]


def join_rows(
    rows: Mapping[str, Row],
    table: pd.DataFrame,
    on: str | None,
    *,
    format_name: str,
    what: str = "candidates",
    notes: Sequence[str] = (),
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> TableReading:
    """The rows of `table` in their order, with what is known of each by its name.

    rows : by the name of the row
    table : DataFrame of str; every column of it is kept, and these alone describe a row
    on : the column of `table` with the names; None: the one with most of them
    what : what is known of the rows, for the notes
    Notes list the rows of either side that the other has not. Raises TableError where nothing matches, or where a name
    occurs twice.
    """
    key = _key_column(table, set(rows)) if on is None else on
    if key is None or key not in table.columns:
        raise refusal(
            f"No column of the other table holds the names of these rows, such as {listed(list(rows), 3)}.",
            "Name the column with the same names in both files.",
        )
    names = table[key].str.strip().tolist()
    first = _first_places(names, table, key)
    strangers = [name for name in rows if name not in first]
    if len(strangers) == len(rows):
        raise refusal(
            f"None of these {len(rows)} rows, such as {listed(strangers, 3)}, is in column {key!r} of the other table, "
            f"which holds {listed(names, 3)}.",
            "Name the column with the same names in both files.",
        )
    said = list(notes)
    without = [name for name in names if name not in rows]
    if without:
        said.append(
            f"{len(without)} of {len(names)} rows have no {what} in the other file: {listed(without, 5)}."
        )
    if strangers:
        said.append(
            f"{len(strangers)} rows of it that the table has not were left out: {listed(strangers, 5)}."
        )
    joined = []
    for name, record in zip(names, table.to_dict("records"), strict=True):
        row = rows.get(name, Row({}))
        known = {str(column): value for column, value in record.items()}
        row.cells = {**known, **row.cells, **known}
        joined.append(row)
    own = list(map(str, table.columns))
    return rows_reading(joined, format_name, describing=own, row_id=key, notes=said, groups=groups)


def _first_places(names: Sequence[str], table: pd.DataFrame, key: str) -> dict[str, int]:
    """Where each name stands; a problem for each that stands twice."""
    finder = Finder(table.index.tolist() if table.index.name == LINE_INDEX else None)
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        if first.setdefault(name, place) != place and len(finder.problems) < MAX_PROBLEMS:
            message = f"the name {quoted(name)} was already in row {first[name] + 1}."
            finder.add(place, key, message, "Keep one row for each name.")
    if finder.problems:
        raise table_error(finder.problems)
    return first


def _key_column(table: pd.DataFrame, names: set[str]) -> str | None:
    """The column with most of the names; of those with as many the first."""
    shares = {str(name): int(table[name].str.strip().isin(names).sum()) for name in table.columns}
    best = max(shares, key=lambda name: shares[name], default=None)
    return best if best is not None and shares[best] > 0 else None
