"""Values of records: read correctly, or refused with row and place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from plcore import TableError
from plcore.tables.problems import MAX_PROBLEMS
from plcore.tables.readers.candidate_rows import At, cell_value, json_text, read_each
from tests.plcore.tables.writers.tables import HOSTILE, read_or_refuse


def test_valid_values_are_returned() -> None:
    assert At(" wren ").name() == "wren"
    assert At(3).name() == "3"
    assert At(None).name_or_none("an id") is None
    assert At("").name_or_none("an id") is None
    assert At("a").name_or_none("an id") == "a"
    assert At(0).number() == 0.0
    assert At(2.5).number() == 2.5
    assert At(2.5).number_or(None) == 2.5
    assert At(None).number_or(1.0) == 1.0
    assert At(math.log(0.25)).probability() == pytest.approx(0.25)
    assert At(-math.inf).probability() == 0
    assert At(None).items() == []
    assert [one.value for one in At([1]).items()] == [1]
    assert At({"a": 1}).object() == {"a": 1}
    assert cell_value({"é": [True]}) == '{"é": [true]}'
    assert cell_value(True) == "true"
    assert cell_value(2.5) == 2.5
    assert At({"a": None, "b": 0, "c": 1}).first(("a", "b", "c")).value == 0
    assert At({}).first(("a",)).value is None


def test_every_value_knows_its_place() -> None:
    record = At({"a": {"b": [{"c": 1}, 2]}, "n": None}, 7)
    first, second = record["a"]["b"].items()
    assert [one.where for one in (record, record["a"], first, first["c"], second)] == [
        None, "a", "a.b[0]", "a.b[0].c", "a.b[1]",
    ]  # fmt: skip
    assert {one.row for one in (record, first, second)} == {7}
    assert [one.value for one in record["a"]["b"].objects()] == [{"c": 1}]
    assert record.first(("n", "x")).where == "n"
    assert record.get("n").get("x").value is None
    assert record["n"].or_empty["x"].where == "n.x"
    assert [(name, one.where) for name, one in record["a"].fields()] == [("b", "a.b")]


@pytest.mark.parametrize(
    ("check", "value", "words"),
    [
        (At.name, "", "expected a label as text, got ''"),
        (At.name, " \t", "got ' \\t'"),
        (At.name, "a\0b", "expected a label"),
        (At.name, True, "got True"),
        (At.name, 1.5, "got 1.5"),
        (At.name, None, "got None"),
        (At.name, ["a"], "got ['a']"),
        (At.number, -1, "expected a weight, a number from 0 on, got -1"),
        (At.number, math.nan, "got nan"),
        (At.number, math.inf, "got inf"),
        (At.number, 10**200, "got 1000"),
        (At.number, True, "got True"),
        (At.number, "1", "got '1'"),
        (At.probability, 0.5, "expected a log probability, a number up to 0, got 0.5"),
        (At.probability, math.nan, "got nan"),
        (At.items, "ab", "expected a list, got 'ab'"),
        (At.object, [], "expected an object with named fields, got []"),
        (At.object, {1: 2}, "got {1: 2}"),
        (lambda one: one["x"], 3, "expected an object with named fields, got 3"),
        (lambda one: one.items_for("abc", "a score", "label"), [1], "expected a score for each label (3), got 1"),
    ],
)
def test_wrong_values_are_refused_with_their_place(check: Callable[..., Any], value: Any, words: str) -> None:
    with pytest.raises(TableError) as error:
        check(At(value, 7, "a.b[0]"))
    text = str(error.value)
    assert text.startswith("Row 7, column 'a.b[0]': ")
    assert words in text
    assert " Fix: " in text


@given(HOSTILE)
def test_any_value_is_accepted_or_refused(value: Any) -> None:
    for check in (At.name, At.number, At.probability, At.items, At.object):
        read_or_refuse(check, At(value, 1, "x"))
    assert isinstance(json_text(value), str)


def test_errors_of_several_records_are_raised_together() -> None:
    assert read_each([{"a": 1}, {"a": 2}], lambda one: (one["a"].value, one.row)) == [(1, 1), (2, 2)]
    with pytest.raises(TableError) as error:
        read_each([{"a": 1}, 3, {"a": ""}], lambda one: one["a"].name())
    assert [problem.row for problem in error.value.problems] == [2, 3]
    with pytest.raises(TableError) as many:
        read_each([None] * 1000, lambda one: None)
    assert len(many.value.problems) == MAX_PROBLEMS
