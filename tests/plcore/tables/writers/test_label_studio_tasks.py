"""Tasks written for Label Studio round-trip and meet the requirements of its import."""

from __future__ import annotations

import importlib
import io
import itertools
import json
import warnings
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore.tables.readers.tools.label_studio import LABEL_STUDIO
from plcore.tables.writers.disambiguated import Disambiguated, silent
from plcore.tables.writers.label_studio import label_studio_config, label_studio_tasks, write_label_studio_config
from tests.plcore.tables.writers.tables import (
    LABELS,
    candidates,
    decided,
    disambiguated,
    frame,
    noted,
    small_table,
    sources,
)


@pytest.fixture(scope="module")
def interface() -> Any:
    """Label Studio's own reader of labelling interfaces, which reports what its server would refuse."""
    with warnings.catch_warnings():
        # Its bundled old client still uses the first version of pydantic.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="label_studio_sdk")
        return importlib.import_module("label_studio_sdk.label_interface").LabelInterface


def written(table: Disambiguated) -> list[dict[str, Any]]:
    return json.loads("".join(label_studio_tasks(table)))


@settings(max_examples=settings().max_examples * 2 // 5)
@given(disambiguated(answered=False))
def test_candidates_are_read_from_exports_that_name_predictions_by_id(table: Disambiguated) -> None:
    tasks = written(table)
    wanted = candidates(LABEL_STUDIO.read(tasks))
    number = itertools.count()
    by_id = [{**task, "predictions": [next(number) for _ in task["predictions"]]} for task in tasks]
    reading = LABEL_STUDIO.read(by_id)
    assert candidates(reading) == wanted
    assert not noted(reading, "by id only")


@given(disambiguated())
def test_answers_round_trip(table: Disambiguated) -> None:
    tasks = written(table)
    check_tasks(tasks, table)
    reading = LABEL_STUDIO.read(tasks)
    people = [{} for _ in table.ids]
    for answer in table.answers:
        for label in answer["labels"]:
            people[answer["row"]].setdefault(label, set()).add(answer["person"])
    for row, found in enumerate(sources(reading)):
        assert {label: set(names) for label, names in found.items()} == people[row]


def test_first_label_of_a_person_is_not_read_as_a_voter() -> None:
    table = replace(disambiguated_table(1), label=np.array([0]), source=np.array(["person"], dtype=object))
    text = "".join(label_studio_tasks(table))
    assert '"model_version": "person"' in text
    older = LABEL_STUDIO.read(json.loads(text.replace('"model_version": "person"', '"model_version": "oracle"')))
    assert sources(older) == sources(LABEL_STUDIO.read(json.loads(text)))
    assert not any(sources(older))


def check_tasks(tasks: list[dict[str, Any]], table: Disambiguated) -> None:
    """The checks of Label Studio's import: `tasks/serializers.py` and `LabelInterface.validate_prediction`."""
    for task in tasks:
        for annotation in task["annotations"]:
            assert "completed_by" not in annotation, "it would have to be a member"
            assert annotation["ground_truth"] is False, "True where it is left out"
        for prediction in task["predictions"]:
            assert 0 <= prediction.get("score", 0) <= 1
            for result in prediction["result"]:
                assert result.keys() >= {"from_name", "to_name", "type", "value"}
                assert set(result["value"]["choices"]) <= set(table.classes)


def test_known_label_comes_first_with_its_probability() -> None:
    ones = np.ones((3, 2), dtype=bool)
    answer = {
        "row": 1,
        "person": "ann",
        "kind": "skip",
        "labels": [],
        "at": "2026-01-01",
        "seconds": None,
        "model_version": None,
    }
    table = Disambiguated(
        np.array(["p", "q", "r"], dtype=object), frame(*({"text": text} for text in "xyz")), ("a", "b"), ones, ones,
        np.array([[0.5, 0.25], [1, 1], [1, 4]]), np.array([1, -1, 0]), np.array(["model", "", "ann"], dtype=object),
        np.array([0.75, np.nan, np.nan]), [answer],
    )  # fmt: skip
    first, second, third = written(table)
    scores = [(p["model_version"], p["result"][0]["value"]["choices"], p["score"]) for p in first["predictions"]]
    assert scores == [("model", ["b"], 0.75), ("candidates", ["a"], 0.125)]
    assert [p["score"] for p in third["predictions"]] == [0.25, 1]
    assert second["annotations"][0]["was_cancelled"] is True
    assert second["annotations"][0]["result"] == []
    unweighted = written(replace(table, weights=None))
    assert ["score" in p for p in unweighted[0]["predictions"]] == [True, False]


def test_tasks_are_written_in_pieces() -> None:
    table = disambiguated_table(200)
    pieces = list(label_studio_tasks(table))
    assert len(pieces) == 202
    assert max(map(len, pieces)) < 1000


def disambiguated_table(n_rows: int) -> Disambiguated:
    ones = np.ones((n_rows, 2), dtype=bool)
    names = np.array([str(row) for row in range(n_rows)], dtype=object)
    nothing = np.array([""] * n_rows, dtype=object)
    cells = frame(*({"text": name} for name in names))
    return Disambiguated(
        names, cells, ("a", "b"), ones, ones, None, np.full(n_rows, -1), nothing, np.full(n_rows, np.nan)
    )


def has_form_in_xml(label: str) -> bool:
    return all(character in "\t\n\r" or " " <= character < "\ufffe" for character in label)


@given(LABELS)
def test_interface_names_every_class(label: str) -> None:
    if not has_form_in_xml(label):
        return
    table = replace(disambiguated_table(2), classes=(label, 'a "quoted" <b> & c'))
    root = ElementTree.fromstring(label_studio_config(table.classes, "text", "HyperText"))  # noqa: S314
    assert [choice.get("value") for choice in root.iter("Choice")] == list(table.classes)
    shown, choices = list(root)
    assert (shown.tag, shown.get("value")) == ("HyperText", "$text")
    assert choices.get("toName") == shown.get("name")
    assert {result["from_name"] for task in written(table) for p in task["predictions"] for result in p["result"]} == {
        choices.get("name")
    }


@settings(max_examples=settings().max_examples * 2 // 5)
@given(decided())
def test_label_studio_accepts_tasks_annotations_and_predictions(interface: Any, table: Disambiguated) -> None:
    if not all(has_form_in_xml(label) for label in table.classes):
        return
    config = interface(label_studio_config(table.classes, "text"))
    for task in written(table):
        assert config.validate_task({"data": task["data"]})
        assert [config.validate_annotation(one) for one in task["annotations"]] == [True] * len(task["annotations"])
        for prediction in task["predictions"]:
            assert config.validate_prediction(prediction, return_errors=True) == []


def test_label_studio_refuses_unknown_choices_and_missing_columns(interface: Any) -> None:
    """Otherwise the acceptance test above would prove nothing."""
    table = small_table()
    config = interface(label_studio_config(table.classes, "text"))
    task = written(table)[0]
    assert not interface(label_studio_config(table.classes, "other")).validate_task({"data": task["data"]})
    (annotation,) = task["annotations"]
    annotation["result"][0]["value"]["choices"] = ["owl"]
    assert not config.validate_annotation(annotation)
    assert config.validate_prediction({**task["predictions"][0], "score": 2.0}, return_errors=True)


@given(disambiguated(answered=False), st.floats(0.01, 1))
def test_weights_of_labelled_rows_round_trip(table: Disambiguated, sure: float) -> None:
    """The model's probability of its label is not a weight: next to weights it would favour or oppose the label."""
    label = table.candidates_after.argmax(axis=1)
    known = replace(table, label=label, probability=np.full(len(label), sure))
    scale = 1.0 if table.weights is None else max(1.0, table.weights.max())
    found = candidates(LABEL_STUDIO.read(written(known)))
    for left, read in zip(table.weighted(), found, strict=True):
        weights = {name: 1.0 if weight is None else weight / scale for name, weight in left.items()}
        assert read.keys() == weights.keys()
        assert len(left) == 1 or read == pytest.approx(weights)


def test_annotators_survive_fields_dropped_by_label_studio() -> None:
    answers = [
        {"row": 0, "person": name, "kind": "is", "labels": [label], "at": "2026-01-01T00:00:00+00:00"}
        for name, label in (("ann", "a"), ("bob", "b"))
    ]
    tasks: list[dict[str, Any]] = json.loads("".join(label_studio_tasks(replace(small_table(), answers=answers))))
    known = ("result", "was_cancelled", "ground_truth", "lead_time")
    for task in tasks:
        task["predictions"] = []
        task["annotations"] = [{name: one[name] for name in known} | {"completed_by": 1} for one in task["annotations"]]
    assert sources(LABEL_STUDIO.read(tasks))[0] == {"a": ["ann"], "b": ["bob"]}


def test_labelling_config_shows_text_and_all_classes() -> None:
    file = io.BytesIO()
    table = small_table()
    write_label_studio_config(table, file, silent)
    root = ElementTree.fromstring(file.getvalue().decode())  # noqa: S314
    assert [one.get("value") for one in root.iter("Choice")] == list(table.classes)
    (shown,) = [one for one in root if one.tag != "Choices"]
    assert str(shown.get("value")).removeprefix("$") in table.cells.columns
