"""Candidates of models in Winnow's own lines: read, written, and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.tools.plain_records import MODEL_CANDIDATES
from plcore.tables.writers.disambiguated import Disambiguated
from plcore.tables.writers.writing import own_lines
from tests.plcore.tables.writers.tables import (
    HOSTILE,
    broken_at,
    candidates,
    disambiguated,
    opens,
    read_or_refuse,
    sources,
)


def line(number: Any, *pairs: tuple[str, float | None], model: str | None = "m", **others: Any) -> dict[str, Any]:
    found = [{"label": name} if p is None else {"label": name, "p": p} for name, p in pairs]
    return {"id": number, "candidates": found, "model": model, **others}


def read(*records: dict[str, Any]) -> Any:
    assert MODEL_CANDIDATES.fits(list(records))
    return MODEL_CANDIDATES.read(list(records))


def test_labels_with_probabilities() -> None:
    reading = read(
        line("a", ("wren", 0.5), ("robin", 0.25), text="a small brown bird", truth="wren"),
        line("b", ("wren", 0.0), ("robin", 1), text="a red breast is seen"),
    )
    assert candidates(reading) == [{"wren": 0.5, "robin": 0.25}, {"robin": 1}]
    assert sources(reading) == [{"wren": ["m"], "robin": ["m"]}, {"robin": ["m"]}]
    table = opens(reading)
    assert table.ids.tolist() == ["a", "b"]
    assert reading.cells["truth"].tolist() == ["wren", ""]
    assert reading.roles.text == "text"


def test_labels_without_probabilities_are_list() -> None:
    reading = read(line(1, ("wren", None), ("robin", None), model=None), line(2, ("robin", None), model=None))
    assert candidates(reading) == [["wren", "robin"], ["robin"]]
    assert "sources" not in reading.cells


def test_other_names_of_weight() -> None:
    records = [{"id": 1, "candidates": [{"label": "a", name: 0.5}]} for name in ("score", "probability", "confidence")]
    assert candidates(read(*({**one, "id": n} for n, one in enumerate(records)))) == [{"a": 0.5}] * 3


def test_several_models_about_one_row() -> None:
    reading = read(line(1, ("a", 0.5), model="m"), line(1, ("a", 0.25), ("b", 0.5), model="n", note="x"))
    assert candidates(reading) == [{"a": 0.75, "b": 0.5}]
    assert sources(reading) == [{"a": ["m", "n"], "b": ["n"]}]
    assert reading.cells["note"].tolist() == ["x"]
    assert len(read(line(None, ("a", 1)), line(None, ("a", 1))).cells) == 2


def test_columns_of_foreign_lines_are_kept() -> None:
    reading = read(line(1, ("a", 1), label="x", source="y"), line(2, ("b", 1), label="z", source="y", data={"id": 3}))
    assert reading.cells["label"].tolist() == ["x", "z"]
    assert reading.cells["source"].tolist() == ["y", "y"]
    assert reading.cells["id 2"].tolist() == ["", "3"]


@pytest.mark.parametrize("record", [{}, {"candidates": ["a"]}, {"candidates": [{"p": 1}]}, {"candidates": "a|b"}, 3])
def test_other_records_do_not_fit(record: Any) -> None:
    assert not MODEL_CANDIDATES.fits([record])
    assert not MODEL_CANDIDATES.fits([])


def test_wrong_values_are_refused_with_their_rows() -> None:
    with pytest.raises(TableError) as error:
        MODEL_CANDIDATES.read([line(1, ("a", -1)), line(2, ("", 1)), line([], ("a", 1)), line(4, ("a", "sure"))])  # type: ignore[arg-type]
    assert [str(problem).split(" Fix")[0] for problem in error.value.problems] == [
        "Row 1, column 'candidates[0].p': expected a probability, a number from 0 on, got -1.",
        "Row 2, column 'candidates[0].label': expected a label as text, got ''.",
        "Row 3, column 'id': expected an id as text, got [].",
        "Row 4, column 'candidates[0].p': expected a probability, a number from 0 on, got 'sure'.",
    ]


FULL = line(1, ("a", 0.5), data={"text": "x"}, truth="a", note="n")
PLACES = [(name,) for name in FULL] + [
    ("candidates", 0),
    ("candidates", 0, "label"),
    ("candidates", 0, "p"),
    ("data", "text"),
]


@given(st.sampled_from(PLACES), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(path: tuple[Any, ...], value: Any) -> None:
    broken = broken_at(FULL, path, value)
    MODEL_CANDIDATES.fits([broken])
    read_or_refuse(MODEL_CANDIDATES.read, [broken, FULL])


@given(disambiguated())
@settings(max_examples=20)
def test_lines_have_current_state_of_row(table: Disambiguated) -> None:
    label = np.array([np.flatnonzero(row)[0] for row in table.candidates_after])
    probability = np.linspace(0, 1, len(label))
    probability[0] = np.nan
    source = np.array(["model"] * len(label), dtype=object)
    known = replace(table, label=label, probability=probability, source=source)
    found = [json.loads(line) for line in own_lines(known)]
    assert [one["winnow_label"] for one in found] == [table.classes[place] for place in label]
    assert [one["winnow_confidence"] for one in found] == [None, *probability[1:]]
    assert {one["winnow_source"] for one in found} == {"model"}
    for name, after in (("winnow_candidates_before", False), ("winnow_candidates", True)):
        expected = table.weighted(before=not after)
        assert [{each["label"]: each.get("p") for each in one[name]} for one in found] == expected
    assert [answer for one in found for answer in one["winnow_answers"]] == sorted_answers(table)


def sorted_answers(table: Disambiguated) -> list[dict[str, Any]]:
    ordered = sorted(table.answers, key=lambda answer: answer["row"])
    return [{name: value for name, value in answer.items() if name != "row"} for answer in ordered]
