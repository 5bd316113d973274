"""Values of records, looked at one by one: each is given back as it has to be, or refused with its row and place.

`where` is the field in the words of the file, as in `annotations[0].result`; rows are counted from 1.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from plcore.common.words import quoted, shortened
from plcore.tables.columns import LARGEST
from plcore.tables.problems import MAX_PROBLEMS, Problem, TableError, table_error

T = TypeVar("T")

Records = Sequence[Mapping[str, Any]]
"""The objects of a JSON or JSONL file, in their order; a file that is one object is a sequence of one."""


def refuse(row: int | None, where: str | None, message: str, fix: str) -> TableError:
    """The error of one value."""
    return TableError(Problem(row, None, where, message, fix))


def shown(value: Any) -> str:
    """A value as it is shown in a message, never too long."""
    return quoted(value) if isinstance(value, str) else shortened(reprlib.repr(value))


def read_each(records: Sequence[Any], read: Callable[[dict[str, Any], int], T]) -> list[T]:
    """`read(record, row)` of every record. What is wrong with several of them is raised together."""
    found: list[T] = []
    problems: list[Problem] = []
    for row, record in enumerate(records, start=1):
        try:
            found.append(read(an_object(record, row, None), row))
        except TableError as error:
            problems += error.problems
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise table_error(problems)
    return found


def an_object(value: Any, row: int | None, where: str | None) -> dict[str, Any]:
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return value
    message = f"expected an object with named fields, got {shown(value)}."
    raise refuse(row, where, message, "Write {...} here, or leave the record out.")


def a_list(value: Any, row: int | None, where: str) -> list[Any]:
    """A list; nothing (null) is an empty one."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise refuse(
        row, where, f"expected a list, got {shown(value)}.", "Write [...] here, or leave the field out."
    )


def a_name(value: Any, row: int | None, where: str, what: str = "a label") -> str:
    """A label, or the name of a row or a person: text or a whole number, without the white space around it."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return value.strip()
    raise refuse(
        row, where, f"expected {what} as text, got {shown(value)}.", "Write a name that is not empty."
    )


def a_name_or_none(value: Any, row: int | None, where: str, what: str) -> str | None:
    return None if value is None or value == "" else a_name(value, row, where, what)


def a_number(value: Any, row: int | None, where: str, what: str = "a weight") -> float:
    """A weight, a score or a time: finite and not below 0."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return float(value)
    message = f"expected {what}, a number from 0 on, got {shown(value)}."
    raise refuse(row, where, message, "Write such a number, or leave the field out.")


def a_probability(value: Any, row: int | None, where: str) -> float:
    """exp(value) of a log probability."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= 0:
        return math.exp(value)
    message = f"expected a log probability, a number up to 0, got {shown(value)}."
    raise refuse(row, where, message, "Write the logprob as the model gave it.")


def json_text(value: Any) -> str:
    """JSON as people can read it."""
    return json.dumps(value, ensure_ascii=False)


def cell_value(value: Any) -> Any:
    """A value as it is kept in a cell: objects and lists as JSON, true and false as JSON says them."""
    return json_text(value) if isinstance(value, (dict, list, bool)) else value


def first_of(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these fields that is there and not null."""
    return next((record[name] for name in names if record.get(name) is not None), None)
