"""Files with candidates alone, joined to the table of their rows."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables import joined
from plcore.tables.readers.candidate_rows import NEEDS_ROWS, Row
from plcore.tables.readers.joining import join_candidates, join_rows
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.tools.language_models import BATCHES
from plcore.tables.readers.tools.plain_records import MODEL_CANDIDATES
from tests.plcore.tables.writers.tables import LABELS, WEIGHTS, candidates, frame, noted, opens, sources

ROWS = frame(
    {"key": "a", "text": "one two three", "size": 1.5},
    {"key": " b ", "text": "four five six", "size": 2.5},
    {"key": "c", "text": "seven eight nine", "size": 3.5},
)


def line(number: str, **pairs: float) -> dict[str, Any]:
    return {
        "id": number,
        "candidates": [{"label": name, "p": p} for name, p in pairs.items()],
        "model": "m",
        "run": "7",
    }


def test_model_candidates_are_joined_to_their_rows() -> None:
    reading = MODEL_CANDIDATES.read([line("b", x=0.5, y=0.25), line("z", x=1), line("a", y=1)])
    joined = join_candidates(reading, ROWS)
    assert candidates(joined) == [{"y": 1}, {"x": 0.5, "y": 0.25}, ["x", "y"]]
    assert sources(joined) == [{"y": ["m"]}, {"x": ["m"], "y": ["m"]}, {}]
    assert list(joined.cells.columns) == ["key", "text", "size", "run", "candidates", "sources"]
    assert noted(joined, "1 of 3 rows has no candidates in the other file", "'c'")
    assert noted(joined, "1 row of it that is not in the table", "'z'")
    table = opens(joined)
    assert table.ids.tolist() == ["a", "b", "c"]
    assert (table.roles.text, table.roles.numbers) == ("text", ("size",))
    assert joined.format == "candidates of a model, and the table of its rows"


def test_doubt_about_missing_rows_ends_after_the_join() -> None:
    body = {"model": "m", "choices": [{"message": {"content": "x"}}]}
    reading = BATCHES.read([{"custom_id": name, "response": {"status_code": 200, "body": body}} for name in "ab"])
    assert NEEDS_ROWS in reading.notes
    assert NEEDS_ROWS not in join_candidates(reading, ROWS).notes


def test_truths_and_unweighted_sets_are_kept() -> None:
    lines = [
        {"id": "a", "candidates": [{"label": "x"}, {"label": "y"}], "truth": "y"},
        {"id": "b", "candidates": [{"label": "x"}]},
    ]
    joined = join_candidates(MODEL_CANDIDATES.read(lines), ROWS)
    assert candidates(joined)[:2] == [["x", "y"], ["x"]]
    assert joined.cells["truth"].tolist() == ["y", "", ""]


def test_table_columns_come_before_candidate_columns() -> None:
    joined = join_rows({"a": Row({"text": "other", "more": "m"}, {"x": 1.0})}, ROWS, format_name="f", what="votes")
    assert joined.cells["text"].tolist() == ROWS["text"].tolist()
    assert joined.cells["more"].tolist() == ["m", "", ""]
    assert noted(joined, "2 of 3 rows have no votes", "'b', 'c'")


BARE = frame(*({"text": f"row {word}", "size": f"{word}.5"} for word in "123456"))
"""Rows without ids."""


@pytest.mark.parametrize(("numbers", "asked"), [("123456", []), ("1245", ["row-numbers"]), ("12345", ["row-numbers"])])
def test_row_numbers_that_may_count_from_0_stop_the_import(numbers: str, asked: list[str]) -> None:
    reading = TableReading(frame(*({"id": one, "labels": "x|y"} for one in numbers)), "CSV")
    found = joined(reading, TableReading(BARE, "CSV"))
    assert noted(found, "Rows were joined by their numbers.")
    assert [name for name, _, _ in found.asks] == asked
    if asked:
        ((_, message, fix),) = found.asks
        assert "such as '1', '2', '" in message
        assert "read as row numbers from 1, but they may count from 0" in message
        assert fix == "If they do, add 1 to each, or give both files a column of ids."


def test_row_numbers_from_0_are_not_joined() -> None:
    reading = TableReading(frame(*({"id": one, "labels": "x|y"} for one in "012345")), "CSV")
    with pytest.raises(TableError, match="No column of the other table holds the names of these rows"):
        joined(reading, TableReading(BARE, "CSV"))


def test_unrelated_files_are_refused() -> None:
    reading = MODEL_CANDIDATES.read([line("q", x=1)])
    with pytest.raises(TableError, match="No column of the other table holds the names of these rows, such as 'q'"):
        join_candidates(reading, ROWS)
    with pytest.raises(TableError, match="Row 2, column 'key': the name 'q' was already in row 1"):
        join_candidates(reading, frame({"key": "q"}, {"key": "q"}))
    nameless = MODEL_CANDIDATES.read([{"candidates": [{"label": "x"}]}])
    nothing_said = TableReading(frame({"id": "a", "size": "1"}), "CSV file")
    for one in (nameless, TableReading(ROWS, "CSV file"), nothing_said):
        with pytest.raises(TableError, match="The candidates name no rows"):
            join_candidates(one, ROWS)


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({"labels": ["x|y", "y"]}, [["x", "y"], ["y"]]),
        ({"labels": ["x:0.5|y:0.25", "y:1"]}, [{"x": 0.5, "y": 0.25}, {"y": 1}]),
        ({"labels": ['{"x": 3, "y": 1}', '{"y": 2}']}, [{"x": 3, "y": 1}, {"y": 2}]),
        (
            {"label1": ["x", "y"], "score1": ["0.5", "1"], "label2": ["y", "x"], "score2": ["0.25", "0.5"]},
            [{"x": 0.5, "y": 0.25}, {"x": 0.5, "y": 1}],
        ),
        ({"p_x": ["0.9", "0.5"], "p_y": ["0.1", "0.5"]}, [{"x": 0.9, "y": 0.1}, {"x": 0.5, "y": 0.5}]),
        ({"rater_1": ["x", "y"], "rater_2": ["y", "y"]}, [["x", "y"], ["y"]]),
    ],
)
def test_candidates_in_any_form_are_joined_to_their_rows(columns: dict[str, list[str]], wanted: list[Any]) -> None:
    cells = pd.DataFrame({"id": ["a", "b"], **columns, "run": ["7", "8"], "gold": ["x", ""]}, dtype="str")
    joined = join_candidates(TableReading(cells, "CSV"), ROWS.iloc[:2])
    assert candidates(joined) == wanted
    assert joined.cells["run"].tolist() == ["7", "8"]
    assert joined.cells["truth"].tolist() == (["x", ""])
    roles = joined.suggest_roles()
    assert (roles.id, roles.numbers) == ("key", ("size",))
    assert (roles.cut, roles.cut_at) == (("mass", 0.95) if "p_x" in columns else ("all", 0.0))


def test_error_in_candidates_names_its_row() -> None:
    cells = pd.DataFrame({"id": ["a", "b"], "labels": ["x|y", ""]}, dtype="str")
    with pytest.raises(TableError, match="Row 2, column 'labels': the row has no candidate label"):
        join_candidates(TableReading(cells, "CSV"), ROWS)
    one = pd.DataFrame({"id": ["a"], "labels": ["x"]}, dtype="str")
    assert candidates(join_candidates(TableReading(one, "CSV"), ROWS.iloc[:1])) == [["x"]]


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.dictionaries(LABELS, WEIGHTS, min_size=1, max_size=3),
        min_size=1,
        max_size=4,
    )
)
def test_any_candidates_are_joined_to_their_rows(sets: dict[str, dict[str, float]]) -> None:
    lines = [{"id": name, "candidates": [{"label": k, "p": p} for k, p in one.items()]} for name, one in sets.items()]
    names = sorted(sets)
    joined = join_candidates(MODEL_CANDIDATES.read(lines), frame(*({"n": name} for name in names)))
    assert [json.loads(cell) for cell in joined.cells["candidates"]] == [sets[name] for name in names]
