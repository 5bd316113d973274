"""Values of records: read correctly, or refused with row and place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from plcore import TableError
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.readers.candidate_rows import (
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    a_probability,
    an_object,
    cell_value,
    first_of,
    json_text,
    read_each,
)
from tests.plcore.tables.writers.tables import HOSTILE, read_or_refuse


def test_valid_values_are_returned() -> None:
    assert a_name(" wren ", 1, "x") == "wren"
    assert a_name(3, 1, "x") == "3"
    assert a_name_or_none(None, 1, "x", "an id") is None
    assert a_name_or_none("", 1, "x", "an id") is None
    assert a_name_or_none("a", 1, "x", "an id") == "a"
    assert a_number(0, 1, "x") == 0.0
    assert a_number(2.5, 1, "x") == 2.5
    assert a_probability(math.log(0.25), 1, "x") == pytest.approx(0.25)
    assert a_probability(-math.inf, 1, "x") == 0
    assert a_list(None, 1, "x") == []
    assert a_list([1], 1, "x") == [1]
    assert an_object({"a": 1}, 1, "x") == {"a": 1}
    assert cell_value({"é": [True]}) == '{"é": [true]}'
    assert cell_value(True) == "true"
    assert cell_value(2.5) == 2.5
    assert first_of({"a": None, "b": 0, "c": 1}, ("a", "b", "c")) == 0
    assert first_of({}, ("a",)) is None


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        (a_name, "", "expected a label as text, got ''"),
        (a_name, " \t", "got ' \\t'"),
        (a_name, "a\0b", "expected a label"),
        (a_name, True, "got True"),
        (a_name, 1.5, "got 1.5"),
        (a_name, None, "got None"),
        (a_name, ["a"], "got ['a']"),
        (a_number, -1, "expected a weight, a number from 0 on, got -1"),
        (a_number, math.nan, "got nan"),
        (a_number, math.inf, "got inf"),
        (a_number, 10**200, "got 1000"),
        (a_number, True, "got True"),
        (a_number, "1", "got '1'"),
        (a_probability, 0.5, "expected a log probability, a number up to 0, got 0.5"),
        (a_probability, math.nan, "got nan"),
        (a_list, "ab", "expected a list, got 'ab'"),
        (an_object, [], "expected an object with named fields, got []"),
        (an_object, {1: 2}, "got {1: 2}"),
    ],
)
def test_wrong_values_are_refused_with_their_place(check: Callable[..., Any], value: Any, words: str) -> None:
    with pytest.raises(TableError) as error:
        check(value, 7, "a.b[0]")
    text = str(error.value)
    assert text.startswith("Row 7, column 'a.b[0]': ")
    assert words in text
    assert " Fix: " in text


@given(HOSTILE)
def test_any_value_is_accepted_or_refused(value: Any) -> None:
    for check in (a_name, a_number, a_probability, a_list, an_object):
        read_or_refuse(check, value, 1, "x")
    assert isinstance(json_text(value), str)


def test_errors_of_several_records_are_raised_together() -> None:
    assert read_each([{"a": 1}, {"a": 2}], lambda record, row: (record["a"], row)) == [(1, 1), (2, 2)]
    with pytest.raises(TableError) as error:
        read_each([{"a": 1}, 3, {"a": ""}], lambda record, row: a_name(record["a"], row, "a"))
    assert [problem.row for problem in error.value.problems] == [2, 3]
    with pytest.raises(TableError) as many:
        read_each([None] * 1000, lambda record, row: None)
    assert len(many.value.problems) == MAX_PROBLEMS
