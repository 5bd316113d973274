"""JSON and JSON Lines: every form that programs write, and each fault with its place."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plcore.tables.problems import TableError
from plcore.tables.readers import registry
from plcore.tables.readers.candidate_rows import objects_in
from plcore.tables.readers.mapping import RecordTool
from plcore.tables.readers.reading import TableReading, cells_of
from plcore.tables.readers.recognise import read_table
from plcore.tables.readers.records import flat_cells, looks_like_json, read_json
from tests.plcore.tables.readers.cases import candidates, read_case, refused, says, voters, weights

ROWS = [{"id": 1, "text": "a wren"}, {"id": 2, "text": "a robin"}]
CELLS = {"id": ["1", "2"], "text": ["a wren", "a robin"]}


def table_of(value: Any) -> dict[str, list[str]]:
    return read_table(json.dumps(value).encode()).cells.to_dict("list")


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"data": ROWS},
        {"version": 1, "rows": ROWS, "author": None},
        {"id": [1, 2], "text": ["a wren", "a robin"]},
        {"columns": ["id", "text"], "index": [0, 1], "data": [[1, "a wren"], [2, "a robin"]]},
        {"id": {"0": 1, "1": 2}, "text": {"0": "a wren", "1": "a robin"}},
        {"0": ROWS[0], "1": ROWS[1]},
        {"first": ROWS[0], "second": ROWS[1]},
    ],
)
def test_every_json_form_of_a_table_is_read(value: Any) -> None:
    assert table_of(value) == CELLS
    assert looks_like_json(json.dumps(value, indent=4).encode())
    assert read_json(json.dumps(value, indent=4).encode()).cells.to_dict("list") == CELLS


@pytest.mark.parametrize("orient", ["records", "columns", "split", "table"])
def test_json_written_by_pandas_is_read(orient: Any) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "n": [1.5, None], "s": ["é", "x|y"]})
    cells = read_table(frame.to_json(orient=orient).encode()).cells
    assert cells[["id", "n", "s"]].to_dict("list") == {"id": ["a", "b"], "n": ["1.5", ""], "s": ["é", "x|y"]}
    lines = read_table(frame.to_json(orient="records", lines=True).encode())
    assert lines.format == "JSON Lines"
    assert lines.cells.index.tolist() == [1, 2]
    assert lines.cells.to_dict("list") == {"id": ["a", "b"], "n": ["1.5", ""], "s": ["é", "x|y"]}


def test_long_numbers_are_written_out() -> None:
    assert table_of([{"id": 1e15, "n": 1.5}, {"id": 2.0, "n": None}]) == {
        "id": ["1000000000000000", "2"],
        "n": ["1.5", ""],
    }


def test_row_names_become_ids() -> None:
    assert table_of({"r1": {"n": 1}, "r2": {"n": 2}}) == {"id": ["r1", "r2"], "n": ["1", "2"]}


def test_values_become_text_and_missing_ones_empty() -> None:
    rows = [
        {"a": 1, "b": True, "c": None, "d": [1, "é", None], "e": 0.1, "f": 3.0},
        {"a": "x", "b": False, "d": [], "g": {"h": {"i": 1}, "j": "k"}},
    ]
    assert table_of(rows) == {
        "a": ["1", "x"],
        "b": ["true", "false"],
        "c": ["", ""],
        "d": ['[1, "é", null]', "[]"],
        "e": ["0.1", ""],
        "f": ["3", ""],
        "g.h.i": ["", "1"],
        "g.j": ["", "k"],
    }


def test_deeply_nested_values_stay_json() -> None:
    value: Any = {"end": 1}
    for _ in range(12):
        value = {"a": value}
    (name, cells), = table_of([value]).items()  # fmt: skip
    assert name.count(".") == 8
    assert json.loads(cells[0]) == {"a": {"a": {"a": {"end": 1}}}}


def test_objects_with_different_keys_are_reported() -> None:
    reading = read_table(json.dumps({"meta": 1, "rows": ROWS}).encode())
    assert reading.notes == ("Only the list 'rows' was read, not 'meta'.",)


def test_nan_becomes_empty_and_is_reported() -> None:
    reading = read_table(b'[{"a": NaN, "b": 1}, {"a": 2, "b": NaN}]')
    assert reading.cells.to_dict("list") == {"a": ["", "2"], "b": ["1", ""]}
    assert reading.notes == ("NaN stands 2 times in the file, which JSON does not know: read as empty.",)


def test_blank_lines_between_lines_are_left_out() -> None:
    cells = read_table(b'\n{"a": 1}\r\n\r\n{"a": 2}\n').cells
    assert cells["a"].tolist() == ["1", "2"]
    assert cells.index.tolist() == [2, 4]


BAD = {
    "open": (b'[{"a": 1},\n {"a": }]', "Line 2: this is not JSON at line 2, character 8: expecting value"),
    "a bad line": (b'{"a": 1}\n{"a": 1,}\n', "Row 2 (line 2): this is not JSON at character"),
    "a line of another kind": (b'{"a": 1}\n[1, 2]\n', "Row 2 (line 2): this line holds a list, not an object"),
    "a key twice": (b'[{"a": 1, "a": 2}]', "the key 'a' twice"),
    "a key twice in a line": (b'{"a": 1}\n{"b": 1, "b": 2}', "Row 2 (line 2): an object has the key 'b' twice"),
    "two of one name": (b'[{"a.b": 1, "a": {"b": 2}}]', "Row 1: two fields would both be column 'a.b'"),
    "an empty list": (b"[]", "empty list"),
    "an empty object": (b"{}", "an empty object, not a table"),
    "no objects": (b'[{"a": 1}, 2]', "Row 2: the list holds 2, not an object"),
    "lists in a list": (b"[[1, 2], [3, 4]]", "Row 1: the list holds a list"),
    "two tables": (b'{"a": [{"x": 1}], "b": [{"x": 2}]}', "several tables: 'a', 'b'"),
    "columns of two lengths": (b'{"a": [1, 2], "b": [1]}', "'a' has 2, 'b' 1"),
    "columns twice": (b'{"columns": ["a", "a"], "data": [[1, 2]]}', "same name"),
    "no fields": (b"[{}, {}]", "no fields"),
    "no name": (b'[{"": 1}]', "has no name"),
    "too deep": (b"[" * 100_000, "nested too deep"),
    "a number without end": (b'[{"a": ' + b"1" * 5000 + b"}]", "a number cannot be read"),
    "half a character": (b'[{"a": "x"}, {"a": "\\ud800"}]', "Row 2, column 'a': the text holds half of a character"),
    "too many cells": (
        b"[" + b",".join(b'{"%d": 1}' % k for k in range(5000)) + b"]",
        "at most 20,000,000 are allowed",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_file_is_refused_with_its_place(name: str) -> None:
    data, words = BAD[name]
    assert words in refused(data)


VALUE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.lists(st.text(max_size=3), max_size=3),
)
FLAT = st.lists(
    st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
                    .filter(str.strip), VALUE, min_size=1, max_size=4),
    min_size=1, max_size=5,
)  # fmt: skip


@given(FLAT, st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_any_values_round_trip(rows: list[dict[str, Any]], as_lines: bool, encoding: str) -> None:
    lists_alone = len(rows) == 1 and all(isinstance(value, list) for value in rows[0].values())
    assume(not (as_lines and lists_alone))  # one object of lists is a table with a list for each column
    written = "\n".join(map(json.dumps, rows)) if as_lines else json.dumps(rows, ensure_ascii=False)
    cells = read_table(written.encode(encoding, errors="surrogatepass")).cells
    assert list(cells.columns) == list(dict.fromkeys(name for row in rows for name in row))
    for row, found in zip(rows, cells.to_dict("records"), strict=True):
        for name, cell in found.items():
            value = row.get(name)
            if isinstance(value, str):
                assert cell == value
            elif value is None:
                assert cell == ""
            elif isinstance(value, float) and abs(value) == float("inf"):
                assert cell in ("inf", "-inf")
            else:
                assert json.loads(cell) == value


@given(st.text(st.sampled_from('[]{}",:\n 1aN\\'), max_size=30))
def test_any_json_like_text_is_read_or_refused(text: str) -> None:
    try:
        reading = read_json(text.encode())
    except TableError:
        return
    assert len(reading.cells)


TOOL = RecordTool(
    "Tool",
    lambda records: all(isinstance(record, dict) and "mine" in record for record in records),
    lambda records, name: TableReading(cells_of({"mine": [one["mine"] for one in objects_in(list(records))]}), name),
)
"""A tool whose records have a field of their own."""


@pytest.mark.parametrize("value", [[{"mine": 1, "x": [{}]}], {"mine": 1}, {"all": [{"mine": 1}]}, {"0": {"mine": 1}}])
def test_records_of_a_tool_are_read_by_its_reader(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "READERS", (TOOL, *registry.READERS))
    reading = read_table(json.dumps(value).encode())
    assert (reading.format, reading.cells.to_dict("list")) == ("Tool", {"mine": ["1"]})
    assert read_table(b'[{"other": 1}]').format == "JSON"


def test_tool_readers_accept_flattened_cells() -> None:
    cells = flat_cells([{"a": {"b": 1}}, {"c": [1]}], lines=[3, 9])
    assert cells.to_dict("list") == {"a.b": ["1", ""], "c": ["", "[1]"]}
    assert cells.index.tolist() == [3, 9]


def test_labels_with_numbers_are_candidates_not_columns() -> None:
    lines = [
        {"id": "a", "labels": {"wren": 0.6, "robin": 0.4}, "size": {"w": 1, "h": 2}},
        {"id": "b", "labels": {"owl": 1}, "size": {"w": 3, "h": 4}},
        {"id": "c", "labels": {}, "size": {"w": 3, "h": 4}},
    ]
    reading = read_json("\n".join(map(json.dumps, lines)).encode())
    assert list(reading.cells.columns) == ["id", "labels", "size.w", "size.h"]
    assert [json.loads(cell) for cell in reading.cells["labels"] if cell] == [one["labels"] for one in lines[:2]]
    roles = reading.suggest_roles()
    assert (roles.candidates, roles.form) == ("labels", "json")
    mixed = [{"labels": {"wren": 0.6}}, {"labels": {"text": "robin"}}]
    assert list(read_json(json.dumps(mixed).encode()).cells.columns) == ["labels.wren", "labels.text"]


def test_argilla_responses_are_votes_and_suggestions_weigh() -> None:
    reading = read_case("argilla_nested.json")
    assert weights(reading) == [{"neg": 1, "pos": 1.8}, {"a": 0.6, "b": 0.3}]
    assert voters(reading)[0] == {"neg": ["u1"], "pos": ["u2", "m"]}
    assert reading.cells["text"].tolist() == ["a", "b"]
    assert says(reading, "loses the status of responses")


def test_anthropic_text_and_tool_answers_are_labels() -> None:
    reading = read_case("anthropic_batch.jsonl")
    assert weights(reading)[:2] == [{"cat": 1}, {"cat": 1, "lynx": 1}]
    assert [set(one) for one in weights(reading)[2:]] == [{"cat", "lynx"}, {"cat", "lynx"}]
    assert says(reading, "2 requests failed")


def test_openai_expired_and_refused_requests_are_open() -> None:
    reading = read_case("openai_batch.jsonl")
    assert [set(one) for one in weights(reading)] == [{"cat", "lynx"}, {"cat"}, {"cat", "lynx"}, {"cat", "lynx"}]
    assert says(reading, "2 requests failed")


def test_doccano_labels_are_candidates() -> None:
    reading = read_case("doccano_all.jsonl")
    assert candidates(reading) == [{"pos", "urgent"}, {"pos", "urgent"}]
    assert says(reading, "1 row has no label named")
    assert reading.suggest_roles().text == "text"


def test_doccano_old_annotations_are_votes_of_users() -> None:
    reading = read_case("doccano_old.jsonl")
    assert voters(reading) == [{"3": ["1"], "4": ["2"]}]
    assert reading.cells["text"].tolist() == ["a"]
    assert says(reading, "ids of doccano")


def test_doccano_old_annotations_need_no_meta() -> None:
    marks = [{"label": 1, "user": 1, "id": 5}, {"label": 2, "user": 2, "id": 6}]
    rows = [{"id": 1, "text": "late again", "annotations": marks}, {"id": 2, "text": "thanks", "annotations": []}]
    reading = read_table(json.dumps(rows).encode(), "a.json")
    assert weights(reading) == [{"1": 1, "2": 1}, {"1": None, "2": None}]
    assert voters(reading)[0] == {"1": ["1"], "2": ["2"]}
