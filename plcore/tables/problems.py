"""Problems of a table, worded so that its owner can fix them: where, what, and the fix.

A table is imported as a whole or not at all. All problems found are collected as `Problem`s and raised as one
`TableError`, so that the owner can fix the file in one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from plcore.arrays.words import quoted

MAX_PROBLEMS = 50  # people fix a file from its first errors; ten thousand lines do not help


@dataclass(frozen=True)
class Problem:
    """One problem of a table.

    Attributes
    ----------
    row : 1-based number of the data row (the header is not counted); None for the whole table.
    line : 1-based line of the file where that row begins; None if no file is known.
    column : name of the column; None for no single column.
    message : what is wrong, in words for the person who made the table.
    fix : what to do about it.
    """

    row: int | None
    line: int | None
    column: str | None
    message: str
    fix: str

    @property
    def place(self) -> str:
        """Return row, line and column in words; '' for the whole table."""
        place = ""
        if self.row is not None:
            place = f"Row {self.row}" + ("" if self.line is None else f" (line {self.line})")
        elif self.line is not None:
            place = f"Line {self.line}"
        if self.column is not None:
            place += (", column " if place else "Column ") + quoted(self.column)
        return place

    def __str__(self) -> str:
        return (f"{self.place}: " if self.place else "") + f"{self.message} Fix: {self.fix}"


class TableError(ValueError):
    """The table is refused as a whole. `args` are its `Problem`s, at most `MAX_PROBLEMS`, in table order."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.args if isinstance(problem, Problem))

    def __str__(self) -> str:
        lines = list(map(str, causes(self.problems))) or list(map(str, self.args))
        if len(self.args) >= MAX_PROBLEMS:
            lines.append(f"(These are the first {MAX_PROBLEMS} problems; there may be more.)")
        return "\n".join(lines)


_EXAMPLES = 2
"""Number of further rows named for one cause."""
_VALUE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|“[^”]*”|\d[\d.,]*")


def causes(problems: Sequence[Problem]) -> list[Problem]:
    """Group problems by cause: of problems that differ only in rows, lines and values, keep the first, which
    counts the others and names two."""
    alike: dict[tuple[object, ...], list[Problem]] = {}
    for one in problems:
        kind = _VALUE.sub("", one.message), _VALUE.sub("", one.fix), one.column
        alike.setdefault(kind if one.row is not None else (one,), []).append(one)
    return [_one_cause(found, len(problems) >= MAX_PROBLEMS) for found in alike.values()]


def _one_cause(found: Sequence[Problem], may_be_more: bool) -> Problem:
    first, others = found[0], found[1:]
    if not others:
        return first
    seen = _VALUE.findall(first.message)
    named = []
    for one in others[:_EXAMPLES]:
        values = _VALUE.findall(one.message)
        differ = [value for value, same in zip(values, seen, strict=True) if value != same]
        named.append(f"{one.place.partition(', column')[0].lower()}{f', {differ[0]}' if differ else ''}")
    count = f"{'at least ' if may_be_more else ''}{len(others):,} other row{'s' if len(others) > 1 else ''}"
    return replace(first, message=f"{first.message} The same holds in {count}: {'; '.join(named)}.")


def refusal(
    message: str, fix: str, *, row: int | None = None, line: int | None = None, column: str | None = None
) -> TableError:
    """Return the error with one problem: of the whole table, or at a place as in `Problem`."""
    return TableError(Problem(row, line, column, message, fix))


def table_error(problems: Iterable[Problem]) -> TableError:
    """Return the error for these problems: whole-table ones first, then by row; within a row in the order
    found."""
    found = sorted(problems, key=lambda problem: problem.row or 0)
    return TableError(*found[:MAX_PROBLEMS])


MAX_CELLS = 20_000_000
"""Rows times columns. A small file can declare far more, and a table of more would not fit the memory."""
MAX_COLUMNS = 20_000
"""A libsvm file of ten bytes may declare any number of them (`1 99999:1`), and each takes half a millisecond."""


def fits_as_cells(n_rows: int, n_columns: int) -> bool:
    """Return whether a table may have this many columns, including a few label columns."""
    return n_rows * n_columns <= MAX_CELLS and n_columns <= MAX_COLUMNS


def check_size(n_rows: int, n_columns: int) -> None:
    """Raise TableError for a table with too many cells or columns; call it before they are allocated."""
    if n_rows * n_columns > MAX_CELLS:
        message = (
            f"The table has {n_rows:,} rows and {n_columns:,} columns, {n_rows * n_columns:,} cells; "
            f"at most {MAX_CELLS:,} are allowed."
        )
        fix = "Import fewer rows, or join columns, by principal components, say."
        raise TableError(Problem(None, None, None, message, fix))
    if n_columns > MAX_COLUMNS:
        message = f"The table has {n_columns:,} columns; at most {MAX_COLUMNS:,} are allowed."
        fix = "Leave seldom ones out, or join columns, by principal components, say."
        raise TableError(Problem(None, None, None, message, fix))
