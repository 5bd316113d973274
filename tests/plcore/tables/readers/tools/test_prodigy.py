"""Prodigy's records as its documentation shows them; tasks written and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables import read_table
from plcore.tables.readers.tools.argilla_prodigy import PRODIGY, prodigy_tasks
from plcore.tables.writers.disambiguated import Disambiguated
from tests.plcore.tables.writers.tables import (
    HOSTILE,
    broken_at,
    candidates,
    disambiguated,
    noted,
    read_or_refuse,
    small_table,
    sources,
)


def task(text: str, *accept: Any, answer: str | None = "accept", **others: Any) -> dict[str, Any]:
    """A task of the interface `choice` with three options."""
    options = [{"id": name, "text": f"the {name}"} for name in ("BANANA", "APPLE", "PEAR")]
    return {"text": text, "options": options, "accept": list(accept), "answer": answer, "_view_id": "choice", **others}


def binary(text: str, label: str, answer: str, **others: Any) -> dict[str, Any]:
    return {"text": text, "label": label, "answer": answer, **others}


def read(*records: dict[str, Any]) -> Any:
    assert PRODIGY.fits(list(records))
    return PRODIGY.read(list(records))


def test_options_are_candidates_until_people_accept_some() -> None:
    reading = read(
        task("one", answer=None),
        task("two", "APPLE", "PEAR", _annotator_id="ann"),
        task("three", "PEAR", answer="ignore"),
        task("four", "PEAR", answer="reject"),
        task("five"),
    )
    everything = ["BANANA", "APPLE", "PEAR"]
    assert candidates(reading) == [everything, {"APPLE": 1, "PEAR": 1}, everything, everything, everything]
    assert sources(reading)[1] == {"APPLE": ["ann"], "PEAR": ["ann"]}
    assert noted(reading, "In 1 row the options that people accepted")
    assert noted(reading, "Tasks that people ignored, which are not votes: 1.")
    assert noted(reading, "Tasks with options that people rejected as a whole, which are not votes: 1.")
    assert list(reading.cells.columns) == ["text", "candidates", "sources"]


def test_answers_of_several_people_about_one_input_are_one_row() -> None:
    first = {"_input_hash": 5, "_task_hash": 1}
    reading = read(
        task("one", "APPLE", _session_id="db-ann", **first),
        task("one", "APPLE", _session_id="db-bob", **first),
        task("one", "PEAR", _session_id="db-cid", **first),
        task("one", "PEAR", _input_hash=6),
        task("two", "BANANA"),
        task("two", "BANANA"),
    )
    assert candidates(reading) == [{"APPLE": 2, "PEAR": 1}, {"PEAR": 1}, {"BANANA": 2}]
    assert sources(reading)[0] == {"APPLE": ["db-ann", "db-bob"], "PEAR": ["db-cid"]}


def test_rejected_label_is_ruled_out() -> None:
    reading = read(
        binary("one", "SPORT", "reject"),
        binary("two", "SPORT", "accept"),
        binary("two", "NEWS", "reject"),
        binary("three", "NEWS", "ignore"),
        binary("four", "MUSIC", "accept"),
        binary("four", "MUSIC", "reject"),
        binary("five", "MUSIC", "reject"),
        binary("five", "NEWS", "reject"),
        binary("five", "SPORT", "reject"),
    )
    every = ["MUSIC", "NEWS", "SPORT"]
    assert candidates(reading) == [["MUSIC", "NEWS"], {"SPORT": 1}, every, every, every]
    assert noted(reading, "Rows whose only label some people accepted and others rejected: 1")
    assert noted(reading, "4 rows have no label named", "row 1")


def test_numbered_options_are_named_by_their_texts() -> None:
    options = [{"id": 0, "text": "yes"}, {"id": 1, "text": "no"}]
    assert candidates(read({"text": "a", "options": options, "accept": [1], "answer": "accept"})) == [{"no": 1}]
    alike = [{"id": 0, "text": "same"}, {"id": 1, "text": "same"}, {"id": 2, "image": "x.png"}]
    assert candidates(read({"image": "a", "options": alike})) == [["0", "1", "2"]]


def test_meta_becomes_columns_and_ids() -> None:
    reading = read(*(task(f"some text {n}", "PEAR", meta={"id": n, "text": "not this", "page": [n]}) for n in (1, 2)))
    assert reading.roles.id == "id"
    assert reading.cells["text"].tolist() == ["some text 1", "some text 2"]
    assert reading.cells["page"].tolist() == ["[1]", "[2]"]


def test_row_that_was_excluded_has_no_options_and_hides_none_of_the_others() -> None:
    table = small_table()
    none_left = table.candidates_after.copy()
    none_left[1] = False
    given = replace(table, candidates_after=none_left, answers=[])
    tasks = [json.loads(line) for line in prodigy_tasks(given)]
    assert tasks[1]["options"] == []
    anything = ["film", "robin", "wren"]  # as of every row about which nothing is stored
    assert candidates(read(*tasks)) == [{"wren": 0.5}, anything, {"robin": 0.25, "film": 0.25}]


@pytest.mark.parametrize(
    "record",
    [
        {"text": "a"},
        {"text": "a", "label": "b"},  # any record
        {"text": "a", "options": ["b"]},
        {"text": "a", "options": []},
        {"options": [{"id": 1}]},
        {"text": "a", "label": "b", "answer": "yes"},
        3,
    ],
)
def test_other_records_do_not_fit(record: Any) -> None:
    assert not PRODIGY.fits([record])
    assert not PRODIGY.fits([])


def test_wrong_records_are_refused_with_their_rows() -> None:
    with pytest.raises(TableError) as error:
        PRODIGY.read([task("a", "KIWI"), task("b", answer="maybe"), {"text": "c"}])
    assert [str(problem) for problem in error.value.problems] == [
        "Row 1, column 'accept[0]': 'KIWI' was accepted, but the options are 'BANANA', 'APPLE', 'PEAR'. "
        "Fix: Add it to the options, or remove it.",
        "Row 2, column 'answer': expected one of accept, reject, ignore, got 'maybe'. "
        "Fix: Correct it, or leave the field out where no one has answered.",
        "Row 3, column 'label': expected a label as text, got None. Fix: Write a name that is not empty.",
    ]


@pytest.mark.parametrize("name", ["winnow_voters", "winnow_vector"])
def test_wrong_fields_in_meta_are_refused_with_row_of_their_record(name: str) -> None:
    records = [task("a", "PEAR"), task("a", "PEAR"), task("b", "PEAR", meta={name: "x"})]
    with pytest.raises(TableError, match=rf"^Row 3, column 'meta\.{name}'"):
        PRODIGY.read(records)
    with pytest.raises(TableError, match=rf"^Row 1, column 'meta\.{name}'"):
        PRODIGY.read(records[2:])


FULL = task("a", "PEAR", meta={"id": 1}, _input_hash=3, _annotator_id="ann", label="x")
PLACES = [(name,) for name in FULL] + [
    ("options", 0),
    ("options", 0, "id"),
    ("options", 0, "text"),
    ("accept", 0),
    ("meta", "id"),
]


@given(st.sampled_from(PLACES), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(path: tuple[Any, ...], value: Any) -> None:
    broken = broken_at(FULL, path, value)
    PRODIGY.fits([broken])
    reading = read_or_refuse(PRODIGY.read, [broken, FULL])
    assert reading is None or len(reading.cells) in (1, 2)


@given(disambiguated())
@settings(max_examples=20)
def test_columns_that_mean_something_to_prodigy_go_into_meta(table: Disambiguated) -> None:
    table = replace(table, weights=None)
    cells = table.cells.assign(label="l", options="o", _task_hash="h", place="p")
    for line in prodigy_tasks(replace(table, cells=cells)):
        record = json.loads(line)
        assert record["meta"] == {"label": "l", "options": "o", "_task_hash": "h", "id": record["meta"]["id"]}
        assert record["place"] == "p"
        assert {option["id"] for option in record["options"]} <= set(table.classes)


@given(disambiguated())
@settings(max_examples=20)
def test_column_id_that_names_no_rows_stays_next_to_their_ids(table: Disambiguated) -> None:
    cells = table.cells.assign(id="the recording ")
    reading = read(*map(json.loads, prodigy_tasks(replace(table, cells=cells))))
    assert reading.cells["id"].tolist() == table.ids.tolist()
    assert reading.cells["before_id"].tolist() == cells["id"].tolist()


@given(disambiguated())
@settings(max_examples=20)
def test_ids_are_written_letter_for_letter(table: Disambiguated) -> None:
    cells = table.cells.assign(text="a sound", id=[f" {name} " for name in table.ids])
    reading = read(*map(json.loads, prodigy_tasks(replace(table, cells=cells))))
    assert reading.cells["id"].tolist() == cells["id"].tolist()


@given(disambiguated())
@settings(max_examples=20)
def test_tasks_of_table_without_column_that_prodigy_shows_are_read_again(table: Disambiguated) -> None:
    cells = table.cells.rename(columns={"text": "length"})
    reading = read(*map(json.loads, prodigy_tasks(replace(table, cells=cells))))
    assert reading.cells["length"].tolist() == cells["length"].tolist()
    assert reading.cells["id"].tolist() == table.ids.tolist()


def test_label_on_which_people_differ_stays_open_and_is_counted() -> None:
    def line(accepted: str) -> bytes:
        task = {"text": "a song", "options": [{"id": "x"}, {"id": "y"}], "accept": [accepted], "answer": "accept"}
        return json.dumps({**task, "meta": {"id": "r1", "winnow_vector": '{"x": 1, "y": null}'}}).encode()

    for first, second in ("xy", "yx"):
        reading = read_table(line(first) + b"\n" + line(second) + b"\n", "a.jsonl")
        assert reading.cells[["x", "y"]].to_numpy().tolist() == [["", "1"]]
        assert "Labels about which people differ, which are read as not asked: 1." in reading.notes
