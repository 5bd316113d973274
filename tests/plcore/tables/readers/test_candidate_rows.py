"""Rows whose candidates were added one by one: the resulting table, and messages about unusual rows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError
from plcore.tables.readers.candidate_rows import NEEDS_ROWS, Row, rows_reading
from tests.plcore.tables.writers.tables import LABELS, WEIGHTS, candidates, noted, opens, sources


def named(*labels: str, **cells: Any) -> Row:
    row = Row(cells)
    for label in labels:
        row.name(label)
    return row


def weighed(cells: dict[str, Any] | None = None, **weights: float) -> Row:
    row = Row(cells or {})
    for label, weight in weights.items():
        row.name(label, weight)
    return row


def test_weights_of_a_repeated_label_are_summed_and_sources_merged() -> None:
    row = Row({})
    for weight, source in ((1.0, "ann"), (0.5, "model"), (1.0, "ann"), (None, None)):
        row.name("wren", weight, source)
    reading = rows_reading([row, named("robin")], "f")
    assert candidates(reading) == [{"wren": 2.5}, ["robin"]]
    assert sources(reading) == [{"wren": ["ann", "model"]}, {}]


def test_labels_without_a_weight_count_as_one_vote() -> None:
    row = named("a")
    row.name("b", 3.0)
    assert candidates(rows_reading([row], "f")) == [{"a": 1, "b": 3}]


def test_rows_without_labels_get_all_classes_not_ruled_out() -> None:
    none, some, every = Row({}), Row({}, ruled_out={"a"}), Row({}, ruled_out={"a", "b", "c"})
    reading = rows_reading([named("a", "b"), none, some, every], "f", classes=["c"])
    assert candidates(reading) == [["a", "b"], ["a", "b", "c"], ["b", "c"], ["a", "b", "c"]]
    assert noted(reading, "3 rows have no label named", "The first is row 2")


def test_labels_of_weight_zero_are_not_candidates() -> None:
    reading = rows_reading([weighed(a=0.0, b=0.5), weighed(a=0.0)], "f")
    assert candidates(reading) == [{"b": 0.5}, ["b"]]
    assert noted(reading, "2 labels with the weight 0 are not candidates")


def test_classes_are_in_table_order() -> None:
    reading = rows_reading([named("10", "9"), Row({})], "f")
    assert candidates(reading)[1] == ["9", "10"]


def test_true_labels_outside_the_candidates_raise_a_question() -> None:
    rows = [named("a", "b"), named("b"), Row({"w": 1}), Row({"w": 2}, ruled_out={"a"})]
    for row in rows:
        row.truth = "a"
    reading = rows_reading(rows, "f")
    assert reading.cells["truth"].tolist() == ["a", "a", "a", ""]
    assert noted(reading, "In 1 row the true label is one that was ruled out", "row 4, 'a'")
    with pytest.raises(TableError, match="the true label 'a' is not among the row's candidates 'b'"):
        LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert reading.roles.truth == "truth"


def test_source_columns_never_replace_candidates() -> None:
    own = {"candidates": "x", "candidates 2": "y", "sources": "z", "truth": "t"}
    reading = rows_reading([Row({**own}, {"a": 1.0}, {"a": ["s"]}), named("b")], "f")
    names = ["candidates 3", "candidates 2", "sources 2", "truth 2", "candidates", "sources"]
    assert list(reading.cells.columns) == names
    assert reading.cells.iloc[0].tolist() == ["x", "y", "z", "t", '{"a": 1}', '{"a": ["s"]}']


def test_id_column_is_used_if_its_values_are_valid_ids() -> None:
    good = rows_reading([named("a", n=1), named("b", n=2)], "f", row_id="n")
    again = rows_reading([named("a", n=1), named("b", n=1)], "f", row_id="n")
    gone = rows_reading([named("a", n=1), named("b")], "f", row_id="n")
    assert [one.roles.id for one in (good, again, gone) if one.roles] == ["n", None, None]
    assert not noted(good, "repeats")
    assert noted(again, "Column 'n' is empty or repeats itself")
    assert noted(gone, "Column 'n' is empty or repeats itself")


def test_columns_that_describe_a_row_get_roles() -> None:
    rows = [
        named("ab"[n % 2], "c", size=n / 2, bit=n % 2, text=f"the words of row {n}", place=("sea", "land")[n % 2],
              picture="data:image/png;base64,AAAA", when=f"2026-01-0{n + 1}")
        for n in range(6)
    ]  # fmt: skip
    reading = rows_reading(rows, "f", describing=["size", "bit", "text", "place", "picture"])
    assert reading.roles == Roles(
        candidates="candidates",
        form="json",
        text="text",
        image="picture",
        numbers=("size", "bit"),
        categories=("place",),
    )
    assert opens(rows_reading(rows, "f", describing=["size", "text"])).n_rows == 6


def test_images_alone_can_be_features() -> None:
    rows = [named(label, picture="data:image/png;base64,AAAA") for label in "ab"]
    roles = rows_reading(rows, "f").roles
    assert roles.image_features
    assert not rows_reading([named(label, picture=f"http://x/{label}.png") for label in "ab"], "f").roles.image  # type: ignore[union-attr]


def test_label_column_is_reported_and_not_a_feature() -> None:
    rows = [named("a", "b", answer="ab"[n % 2], other="xy"[n % 2]) for n in range(6)]
    reading = rows_reading(rows, "f")
    assert reading.roles.categories == ("other",)
    assert noted(reading, "Column 'answer' holds labels", "true label")


def test_candidates_alone_require_a_table_of_rows() -> None:
    assert NEEDS_ROWS in rows_reading([named("a", id=1), named("b", id=2)], "f", row_id="id").notes
    assert NEEDS_ROWS not in rows_reading([named("a", x=1), named("b", x=2)], "f").notes


@pytest.mark.parametrize("rows", [[], [Row({"a": 1})]])
def test_input_without_rows_or_no_labels_is_refused(rows: list[Row]) -> None:
    with pytest.raises(TableError, match=r"There are no rows|No label is named anywhere"):
        rows_reading(rows, "f")


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(TableError, match="half of a character"):
        rows_reading([named("a\ud800")], "f")


@given(st.lists(st.dictionaries(LABELS, WEIGHTS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_any_weights_round_trip(sets: list[dict[str, float]]) -> None:
    rows = [Row({"n": n}, dict(one)) for n, one in enumerate(sets)]
    reading = rows_reading(rows, "f")
    assert candidates(reading) == sets
    assert [json.loads(cell) for cell in reading.cells["candidates"]] == sets


@given(st.lists(st.lists(LABELS, min_size=1, max_size=4, unique=True), min_size=1, max_size=4))
def test_any_sets_round_trip(sets: list[list[str]]) -> None:
    assert candidates(rows_reading([named(*one) for one in sets], "f")) == sets
