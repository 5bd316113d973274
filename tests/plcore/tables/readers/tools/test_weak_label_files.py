"""WRENCH's files and tables with a column for each labelling function."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plcore import TableError, read_cells
from plcore.tables.readers.tools.weak_labels import LABEL_MATRIX, WRENCH, read_wrench
from tests.plcore.tables.writers.tables import HOSTILE, candidates, noted, opens, read_or_refuse

FILE: dict[str, Any] = {
    "0": {"label": 1, "weak_labels": [1, -1, 1], "data": {"text": "subscribe to my channel"}},
    "1": {"label": 0, "weak_labels": [-1, -1, -1], "data": {"text": "a fine song it is"}},
    "2": {"label": 0, "weak_labels": [1, 0, -1], "data": {"text": "who else is here today"}},
}


def test_a_file_of_wrench() -> None:
    assert WRENCH.fits([FILE])
    reading = read_wrench([FILE], "WRENCH JSON", classes=["ham", "spam"])
    assert candidates(reading) == [{"spam": 2}, ["ham", "spam"], {"spam": 1, "ham": 1}]
    assert reading.cells["truth"].tolist() == ["spam", "ham", "ham"]
    table = opens(reading)
    assert (table.roles.id, table.roles.text) == ("id", "text")
    assert table.ids.tolist() == ["0", "1", "2"]
    assert noted(WRENCH.read([FILE]), "no names in it")


def test_records_and_rows_of_the_hub() -> None:
    records = list(FILE.values())
    flat = [
        {"text": one["data"]["text"], "label": one["label"], "weak_labels": one["weak_labels"]}
        for one in records
    ]
    for form in (records, flat):
        assert WRENCH.fits(form)
        assert candidates(WRENCH.read(form)) == candidates(WRENCH.read([FILE]))
        assert WRENCH.read(form).cells["text"].tolist() == [one["data"]["text"] for one in records]


def test_features_are_columns_of_numbers() -> None:
    records = [
        {"label": n, "weak_labels": [n, -1], "data": {"feature": [n, 0.5], "tags": ["x"]}} for n in (0, 1)
    ]
    reading = WRENCH.read(records)
    assert reading.roles is not None
    assert reading.roles.numbers == ("feature 1", "feature 2")
    assert reading.cells["tags"].tolist() == ['["x"]', '["x"]']


@pytest.mark.parametrize(
    "records", [[], [{}], [{"a": {"weak_labels": [1]}, "b": 3}], [{"weak_labels": 1}], [3], [{"a": 1}]]
)
def test_other_records_do_not_fit(records: list[Any]) -> None:
    assert not WRENCH.fits(records)


def test_wrong_records_are_refused() -> None:
    with pytest.raises(TableError) as error:
        WRENCH.read([{"weak_labels": [1, "a"]}, {"weak_labels": [0, 1], "label": -2}])
    assert [str(problem).split(" Fix")[0] for problem in error.value.problems] == [
        "Row 1, column 'weak_labels[1]': expected a class number, -1 where there is none, got 'a'.",
        "Row 2, column 'label': expected a class number, -1 where there is none, got -2.",
    ]
    with pytest.raises(
        TableError, match="Row 2, column 'weak_labels': expected 2 votes as in the first row, got 1"
    ):
        WRENCH.read([{"weak_labels": [1, 0]}, {"weak_labels": [1]}])
    with pytest.raises(TableError, match="There are no rows"):
        WRENCH.read([])


@given(st.sampled_from(["label", "weak_labels", "data", "id"]), HOSTILE)
@settings(max_examples=150, deadline=None)
def test_wrong_types_in_every_place_are_refused_in_words(name: str, value: Any) -> None:
    for broken in ([FILE["0"], {**FILE["2"], name: value}], [{**FILE, "1": {**FILE["1"], name: value}}]):
        WRENCH.fits(broken)
        read_or_refuse(WRENCH.read, broken)


TABLE = b"text,lf_link,LF_short,lf-x,note\nsubscribe to me,1,-1,1,a\nfine,-1,-1,-1,b\nno,0,1,-1,c\n"


def test_a_table_with_a_column_for_each_function() -> None:
    cells = read_cells(TABLE)
    assert LABEL_MATRIX.fits(cells)
    reading = LABEL_MATRIX.read(cells)
    assert candidates(reading) == [{"1": 2}, ["0", "1"], {"0": 1, "1": 1}]
    assert list(reading.cells.columns) == ["text", "note", "candidates", "sources"]


@pytest.mark.parametrize(
    "text",
    [
        "lf_a,b\n-1,1\n",
        "lf_a,lf_b\n1,0\n",
        "lf_a,lf_b\n-1,x\n",
        "a,b\n-1,-1\n",
        "life,lfx\n-1,1\n",
        "lf_a,lf_b\n-1,0.5\n",
    ],
)
def test_other_tables_do_not_fit(text: str) -> None:
    assert not LABEL_MATRIX.fits(read_cells(text.encode()))


def test_wrong_cells_are_refused() -> None:
    with pytest.raises(
        TableError, match="Row 2, column 'lf_a': expected a class number, -1 for none, got 'x'"
    ):
        LABEL_MATRIX.read(read_cells(b"lf_a,lf_b\n-1,1\nx,1\n"))
    with pytest.raises(TableError, match="No column is called lf_"):
        LABEL_MATRIX.read(read_cells(b"a,b\n-1,1\n"))
