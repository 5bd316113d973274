"""Scores of labels: the records of Hugging Face's pipelines and long tables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError, read_cells
from plcore.tables.readers.tools.language_models import LONG_SCORES
from plcore.tables.readers.tools.plain_records import ZERO_SHOT
from tests.plcore.tables.writers.tables import HOSTILE, LABELS, TEXTS, WEIGHTS, candidates, frame, noted, read_or_refuse

PIPELINE = [
    {"sequence": "I have a problem with my phone", "labels": ["urgent", "phone", "tablet"], "scores": [0.5, 0.25, 0.0]},
    {"sequence": "The tablet is all right today", "labels": ["tablet", "phone", "urgent"], "scores": [0.9, 0.07, 0.03]},
]


def test_pipeline_records_are_read() -> None:
    assert ZERO_SHOT.fits(PIPELINE)
    reading = ZERO_SHOT.read(PIPELINE)
    assert candidates(reading) == [{"urgent": 0.5, "phone": 0.25}, {"tablet": 0.9, "phone": 0.07, "urgent": 0.03}]
    assert noted(reading, "1 label with the weight 0")
    assert reading.roles.text == "sequence"
    assert reading.roles.id is None


@pytest.mark.parametrize(
    "records", [[], [{"labels": ["a"]}], [{"labels": "a", "scores": [1]}], [3], [{"sequence": "a"}]]
)
def test_other_records_do_not_fit(records: list[Any]) -> None:
    assert not ZERO_SHOT.fits(records)


def test_wrong_records_are_refused_with_their_rows() -> None:
    with pytest.raises(TableError) as error:
        ZERO_SHOT.read([PIPELINE[0], {"labels": ["a"], "scores": []}, {"labels": ["a"], "scores": [float("nan")]}])
    assert [str(problem).split(" Fix")[0] for problem in error.value.problems] == [
        "Row 2, column 'scores': expected a score for each label (1), got 0.",
        "Row 3, column 'scores[0]': expected a score, a number from 0 on, got nan.",
    ]


SETS = st.lists(st.dictionaries(LABELS, WEIGHTS, min_size=1, max_size=4), min_size=1, max_size=4)


@given(SETS)
def test_any_labels_and_scores(sets: list[dict[str, float]]) -> None:
    records = [{"sequence": "a", "labels": list(one), "scores": list(one.values())} for one in sets]
    assert candidates(ZERO_SHOT.read(records)) == sets


@given(st.sampled_from(["sequence", "labels", "scores"]), HOSTILE)
def test_wrong_types_are_refused_with_message(name: str, value: Any) -> None:
    read_or_refuse(ZERO_SHOT.read, [{**PIPELINE[0], name: value}, PIPELINE[1]])


LONG = b"id,label,score,rank,text\n1,wren,0.5,1,a b c d\n1,robin,.25,2,a b c d\n2,robin,1e-3,1,e f g h\n"


def test_long_table_of_scores_is_read() -> None:
    cells = read_cells(LONG)
    assert LONG_SCORES.fits(cells)
    reading = LONG_SCORES.read(cells)
    assert candidates(reading) == [{"wren": 0.5, "robin": 0.25}, {"robin": 0.001}]
    assert reading.cells["text"].tolist() == ["a b c d", "e f g h"]
    assert (reading.roles.id, reading.roles.text) == ("id", "text")
    assert list(reading.cells.columns) == ["id", "text", "candidates"]
    assert reading.notes == ()


def test_long_scores_without_items_name_missing_file() -> None:
    reading = LONG_SCORES.read(read_cells(b"file,class,confidence,seconds\na,x,1,2\na,y,2,3\n"))
    assert noted(reading, "table of the rows is needed")
    assert noted(reading, "'seconds'", "differ between labels")


@pytest.mark.parametrize("header", ["id,label,text", "id,score,text", "name,label,score", "id,label,score"])
def test_other_tables_are_not_read_as_scores(header: str) -> None:
    cells = read_cells(f"{header}\n1,2,3\n4,5,6\n".encode())
    assert not LONG_SCORES.fits(cells)
    if header != "id,label,score":
        with pytest.raises(TableError, match="Name the columns id, label and score"):
            LONG_SCORES.read(cells)


def test_wrong_cells_are_refused_with_their_rows() -> None:
    data = b"id,label,score\n1,a,0.5\n1,a,0.5\n1,b,high\n1,,1\n,c,1\n1,d,-1\n1,e,inf\n"
    with pytest.raises(TableError) as error:
        LONG_SCORES.read(read_cells(data))
    assert [str(problem).split(" Fix")[0] for problem in error.value.problems] == [
        "Row 2 (line 3), column 'label': '1' has the label 'a' twice.",
        "Row 3 (line 4), column 'score': expected a score, a number from 0 on, got 'high'.",
        "Row 4 (line 5), column 'label': the label is empty.",
        "Row 5 (line 6), column 'id': the row names no item.",
        "Row 6 (line 7), column 'score': expected a score, a number from 0 on, got '-1'.",
        "Row 7 (line 8), column 'score': expected a score, a number from 0 on, got 'inf'.",
    ]


@given(SETS)
def test_any_labels_and_scores_in_long_form(sets: list[dict[str, float]]) -> None:
    rows = [{"id": n, "label": name, "score": repr(score)} for n, one in enumerate(sets) for name, score in one.items()]
    assert candidates(LONG_SCORES.read(double(rows))) == [*sets, {"x": 1, "y": 2}]


def double(rows: list[dict[str, Any]]) -> Any:
    """With an item that has two labels, so that the shape is plain."""
    return frame(*rows, {"id": "z", "label": "x", "score": 1}, {"id": "z", "label": "y", "score": 2})


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_cells_are_read_or_raise_table_error(rows: list[tuple[str, ...]]) -> None:
    read_or_refuse(LONG_SCORES.read, double([dict(zip(("id", "label", "score"), row, strict=True)) for row in rows]))


def test_score_without_a_label_is_refused() -> None:
    rows = [{"id": "a", "label": "wren", "score": 0.6}, {"id": "a", "label": "nan", "score": 0.4}]
    with pytest.raises(TableError, match="'nan' is not a label"):
        LONG_SCORES.read(frame(*rows))
