"""ARFF of Weka, MULAN and MEKA, and libsvm lines: the sets of WINNOW_DATA, written in these formats, are read back
equal."""

from __future__ import annotations

import html
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from plcore.tables.problems import TableError
from plcore.tables.readers.arff_libsvm import looks_like_arff, looks_like_libsvm, read_arff, read_libsvm
from plcore.tables.readers.reading import TableReading
from plcore.tables.readers.recognise import read_table
from plcore.tables.table import LabelTable
from tests.plcore.tables.readers.cases import refused
from tests.plcore.tables.zips import make_zip

DENSE = """% birds
@relation 'birds: -C 2'

@attribute 'is wren' {0,1}
@attribute robin {0, 1}
@ATTRIBUTE size NUMERIC
@attribute colour {red, 'dark blue'}
@attribute note string

@data
1,?,2.50,'dark blue','it\\'s, well'
0,1,?,red,?
% the end
"""
SPARSE = """@relation birds
@attribute a numeric
@attribute b numeric
@attribute colour {red, blue}
@attribute wren {0,1}
@attribute robin {0,1}
@data
{0 1.5, 3 1}
{}
{1 2, 2 blue, 4 1}
"""
XML = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="wren"></label><label name="robin"/></labels>'


def test_dense_rows_with_meka_labels_are_read() -> None:
    reading = read_table(DENSE.encode())
    assert reading.format == "ARFF of label vectors"
    assert reading.cells.to_dict("list") == {
        "is wren": ["1", "0"],
        "robin": ["", "1"],
        "size": ["2.5", ""],
        "colour": ["dark blue", "red"],
        "note": ["it's, well", ""],
    }
    roles = reading.suggest_roles()
    assert (roles.label_columns, roles.label_vectors) == (("is wren", "robin"), True)
    assert (roles.numbers, roles.categories) == (("size",), ("colour",))
    table = LabelTable.from_cells(reading.cells, roles)
    assert table.label_vectors.tolist() == [[1, -1], [0, 1]]  # an unknown cell is not a no


def test_sparse_rows_with_mulan_labels_are_read() -> None:
    reading = read_table(make_zip({"birds.arff": SPARSE.encode(), "birds.xml": XML.encode()}))
    assert reading.cells.to_dict("list") == {
        "a": ["1.5", "0", "0"],
        "b": ["0", "0", "2"],
        "colour": ["red", "red", "blue"],
        "wren": ["1", "0", "0"],
        "robin": ["0", "0", "1"],
    }
    assert reading.suggest_roles().label_columns == ("wren", "robin")


def test_labels_at_the_end_are_read() -> None:
    reading = read_arff(SPARSE.replace("@relation birds", "@relation 'birds: -C -2'").encode())
    assert reading.suggest_roles().label_columns == ("wren", "robin")


def test_plain_table_declares_no_labels() -> None:
    reading = read_arff(DENSE.replace(": -C 2", "").encode())
    assert (reading.format, reading.roles) == ("ARFF", None)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (DENSE.replace("0,1,?,red,?", "0,1,?,red"), "not valid ARFF"),
        (DENSE.replace("0,1,?,red,?", "0,1,?,green,?"), "not valid ARFF"),
        (DENSE.replace("{0, 1}", "what"), "not valid ARFF"),
        (DENSE.replace("-C 2", "-C 9"), "-C 9 says more labels than there are attributes"),
        (DENSE.split("1,?")[0], "no data rows"),
        ("@relation x\n", "not valid ARFF"),
    ],
)
def test_invalid_arff_is_refused(data: str, words: str) -> None:
    assert words in refused(data.encode())


def test_invalid_row_names_its_line() -> None:
    assert "Line 12" in refused(DENSE.replace("0,1,?,red,?", "0,1,?,red").encode())


@pytest.mark.parametrize(("xml", "words"), [("<labels/>", "names no labels"), (XML.replace("wren", "owl"), "'owl'")])
def test_mismatched_label_lists_are_refused(xml: str, words: str) -> None:
    assert words in refused(make_zip({"birds.arff": SPARSE.encode(), "birds.xml": xml.encode()}))


def as_mulan(numbers: np.ndarray, vectors: np.ndarray, labels: list[str], *, is_sparse: bool) -> bytes:
    """A zip of ARFF and XML like MULAN's."""
    names = [f"f{k}" for k in range(numbers.shape[1])]
    head = ["@relation set", *(f"@attribute {name} numeric" for name in names)]
    head += [f"@attribute '{label}' {{0,1}}" for label in labels]
    if is_sparse:
        rows = np.hstack([numbers, vectors])
        lines = ["{" + ",".join(f"{k} {row[k]:g}" for k in np.flatnonzero(row)) + "}" for row in rows]
    else:
        lines = [",".join([*map(str, row), *map(str, marks)]) for row, marks in zip(numbers, vectors, strict=True)]
    xml = "".join(f'<label name="{html.escape(label)}"></label>' for label in labels)
    return make_zip(
        {"set.arff": "\n".join([*head, "@data", *lines]).encode(), "set.xml": f"<labels>{xml}</labels>".encode()}
    )


def is_equal(reading: TableReading, numbers: np.ndarray, vectors: np.ndarray) -> bool:
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles())
    assert table.label_vectors is not None
    np.testing.assert_array_equal(table.label_vectors, vectors)
    np.testing.assert_array_equal(table.numbers.astype(numbers.dtype), numbers)
    return True


@pytest.mark.public_data
def test_dense_public_set_round_trips(data_folder: Path) -> None:
    with np.load(data_folder / "emotions.npz") as data:
        numbers, vectors, labels = data["X"], data["Y"], [str(name) for name in data["label_names"]]
    assert is_equal(read_table(as_mulan(numbers, vectors, labels, is_sparse=False)), numbers, vectors)


@pytest.mark.public_data
def test_sparse_public_set_round_trips(data_folder: Path) -> None:
    with np.load(data_folder / "corel5k.npz") as data:
        pieces = tuple(data[part] for part in ("data", "indices", "indptr"))
        numbers = sparse.csr_array(pieces, shape=tuple(data["shape"]))[:60].toarray().astype(np.float64)
        vectors, labels = data["Y"][:60], [str(name).replace("'", "") for name in data["label_names"]]
    assert is_equal(read_table(as_mulan(numbers, vectors, labels, is_sparse=True)), numbers, vectors)


@given(st.text(st.sampled_from("@relation attribute data{}%,'\"\n?01 -C"), max_size=60))
def test_any_arff_is_read_or_refused(text: str) -> None:
    try:
        reading = read_arff(b"@relation x\n" + text.encode())
    except TableError:
        return
    assert len(reading.cells)


def test_arff_is_recognised_by_its_beginning() -> None:
    assert looks_like_arff(DENSE.encode())
    assert looks_like_arff(b"\n\n%\n  @RELATION x")
    assert not looks_like_arff(b"id,@relation\n1,2\n")


LINES = b"1,3 5:0.2 7:1 # a comment\n2 1:-1e-3\n# nothing\n0\n"


def test_libsvm_lines_are_candidates_and_numbers() -> None:
    reading = read_table(LINES)
    assert reading.format == "libsvm lines"
    assert list(reading.cells.columns) == ["candidates", *(f"x{k}" for k in range(1, 8))]
    assert [json.loads(cell) for cell in reading.cells["candidates"]] == [["1", "3"], ["2"], ["0"]]
    assert reading.cells["x5"].tolist() == ["0.2", "0", "0"]
    assert reading.cells["x1"].tolist() == ["0", "-0.001", "0"]
    roles = reading.suggest_roles()
    assert (roles.candidates, roles.form, len(roles.numbers)) == ("candidates", "json", 7)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"1 1:2\n2 1:x\n", "Row 2 (line 2): the line is not labels and pairs"),
        (b"1 qid:3 1:2\n2 qid:3 1:2\n", "Line 1: the line has a query id"),
        (b"1 1:2\n2 999999999:2\n", "at most 20,000,000"),
        (b"1 3:2 1:2\n2 1:2\n", "cannot be read"),
    ],
)
def test_invalid_libsvm_lines_are_refused(data: bytes, words: str) -> None:
    assert looks_like_libsvm(data)
    with pytest.raises(TableError) as caught:
        read_libsvm(data)
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [b"id,time\n1,5:30\n", b"1,2\n3,4\n", b"time\n5:30\n", b"", b"a 1:2\n"])
def test_other_texts_are_not_libsvm_lines(data: bytes) -> None:
    assert not looks_like_libsvm(data)


@given(st.data(), st.booleans())
def test_libsvm_files_of_scikit_learn_round_trip(data: st.DataObject, from_zero: bool) -> None:
    n_rows, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    values = st.lists(st.floats(-100, 100), min_size=width, max_size=width)
    numbers = np.array(data.draw(st.lists(values, min_size=n_rows, max_size=n_rows)))
    numbers[0, [0, -1]] = 1  # the lines do not say how many features there are
    labels = data.draw(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True),
                                min_size=n_rows, max_size=n_rows))  # fmt: skip
    out = io.BytesIO()
    marks = np.array([[k in row for k in range(6)] for row in labels], dtype=int)
    dump_svmlight_file(numbers, marks, out, multilabel=True, zero_based=from_zero)
    reading = read_table(out.getvalue())
    names = reading.suggest_roles().numbers
    found = np.array([[float(cell) for cell in reading.cells[name]] for name in names]).T
    np.testing.assert_allclose(found, numbers, rtol=1e-15)
    assert [sorted(json.loads(cell)) for cell in reading.cells["candidates"]] == [
        sorted(map(str, row)) for row in labels
    ]
