"""Exports of doccano: CSV whose labels are joined, and lines with the list of their labels."""

from __future__ import annotations

import json

import pytest

from plcore import TableError
from plcore.tables import read_table, shape_name, shaped
from tests.plcore.tables.readers.cases import says, weights
from tests.plcore.tables.zips import make_zip

LINES = (
    "id,text,label,source\n1,late again with the parcel,delay#urgent,mail\n2,thanks a lot for this,,mail\n"
    '3,"it came late, once more",delay,web\n4,very urgent matter here,urgent,web\n'
)


def test_csv_labels_joined_by_sign_are_candidates() -> None:
    reading = shaped(read_table(LINES.encode(), "all.csv"))
    assert reading.format == "doccano CSV"
    assert weights(reading) == [
        {"delay": None, "urgent": None}, {"delay": None, "urgent": None}, {"delay": None}, {"urgent": None}
    ]  # fmt: skip
    assert says(reading, "1 row has no label named")
    roles = reading.suggest_roles()
    assert (roles.id, roles.text) == ("id", "text")
    assert reading.cells["source"].tolist() == ["mail", "mail", "web", "web"]


@pytest.mark.parametrize(
    "labels",
    [
        ("C#", "Java", "C", "F#"),
        ("#1", "#2", "#1", "#2"),
        ("issue #12", "issue #13", "issue #12", "issue #14"),
        ("delay", "urgent", "delay", ""),
        ("FOOD#QUALITY", "FOOD#PRICES", "SERVICE#GENERAL", "RESTAURANT#GENERAL", "DRINKS#PRICES"),
        ("ward#1", "ward#2", "ward#1", "ward#2"),
    ],
)
def test_signs_in_names_of_labels_join_nothing(labels: tuple[str, ...]) -> None:
    rows = "".join(f"{place},some words here {place},{label}\n" for place, label in enumerate(labels))
    assert shape_name(read_table(f"id,text,label\n{rows}".encode(), "all.csv")) is None


def csv_with_labels(lines: str, *names: str) -> bytes:
    labels = [{"id": k, "text": name, "suffix_key": "a", "background_color": "#f"} for k, name in enumerate(names)]
    return make_zip({"all.csv": lines.encode(), "label_config.json": json.dumps(labels).encode()})


def test_list_of_labels_next_to_csv_names_all_classes() -> None:
    reading = read_table(csv_with_labels(LINES, "delay", "urgent", "thanks"))
    assert reading.format == "zip of two tables (doccano CSV with the names of its labels)"
    every = {"delay": None, "thanks": None, "urgent": None}
    assert weights(reading) == [{"delay": None, "urgent": None}, every, {"delay": None}, {"urgent": None}]
    assert reading.suggest_roles().text == "text"
    assert reading.asks == ()


def test_label_list_distinguishes_separators_from_characters_in_names() -> None:
    lines = "id,text,label\n1,some words,C#\n2,more words,C##Java\n3,other words,C#C#\n4,last words,C\n"
    reading = read_table(csv_with_labels(lines, "C#", "C", "Java", "F#"))
    assert weights(reading) == [{"C#": None}, {"C#": None, "Java": None}, {"C": None, "C#": None}, {"C": None}]
    lines = "id,text,label\n1,some words,a#b\n2,more words,a\n"
    with pytest.raises(TableError, match=r"Row 1 \(line 2\): The labels 'a#b' may be joined of them in several"):
        read_table(csv_with_labels(lines, "a", "b", "a#b"))
    with pytest.raises(TableError, match=r"Row 1 \(line 2\): The labels 'delay#urgent' are not in the list"):
        read_table(csv_with_labels(LINES, "delay", "thanks"))


OLD = {"id": 1, "text": "a", "meta": {}, "annotations": [{"id": 9, "label": 3, "user": 1}, {"label": 4, "user": 2}]}
CONFIG = [
    {"id": 3, "text": "pos", "suffix_key": "p", "background_color": "#fff"},
    {"id": 4, "text": "neg", "suffix_key": "n", "background_color": "#000"},
    {"id": 5, "text": "other", "suffix_key": "o", "background_color": "#eee"},
]


def packed(lines: object, config: object = CONFIG) -> bytes:
    return make_zip({"all.jsonl": json.dumps(lines).encode(), "label_config.json": json.dumps(config).encode()})


def test_list_of_labels_names_numbers_of_old_lines() -> None:
    reading = read_table(packed(OLD))
    assert reading.format == "zip of 2 files (doccano JSONL with the names of its labels)"
    assert weights(reading) == [{"pos": 1, "neg": 1}]
    with pytest.raises(TableError, match="Row 1: The label 4 has no name in the list of labels"):
        read_table(packed(OLD, CONFIG[:1]))


def test_list_of_labels_gives_classes_that_no_line_names() -> None:
    reading = read_table(packed({"id": 1, "text": "a", "label": [], "Comments": []}))
    assert weights(reading) == [{"neg": None, "other": None, "pos": None}]
