"""Matrices of votes: Snorkel's and cleanlab's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from plcore import TableError, read_cells
from plcore.tables import TableReading
from plcore.tables.readers.tools.weak_labels import LABEL_MATRIX, WRENCH, annotator_matrix, label_matrix, read_wrench
from tests.plcore.tables.writers.tables import HOSTILE, candidates, noted, opens, read_or_refuse, sources

L = np.array([[1, -1, 1, 0], [-1, -1, -1, -1], [0, 0, -1, -1], [2, 1, 0, -1]])
NAMES = ("ham", "spam", "eggs")


def test_snorkel_label_matrix_is_read() -> None:
    reading = label_matrix(
        L, classes=NAMES, functions=("a", "b", "c", "d"), columns={"text": ["one two three", "x", "y", "z"]}
    )
    assert candidates(reading) == [
        {"spam": 2, "ham": 1},
        ["eggs", "ham", "spam"],
        {"ham": 2},
        {"eggs": 1, "spam": 1, "ham": 1},
    ]
    assert sources(reading)[0] == {"spam": ["a", "c"], "ham": ["d"]}
    assert noted(reading, "1 row has no label named", "row 2")
    assert reading.cells["text"].tolist() == ["one two three", "x", "y", "z"]
    assert not noted(reading, "Snorkel")


def test_unnamed_classes_get_numbers() -> None:
    reading = label_matrix(L)
    assert candidates(reading)[0] == {"1": 2, "0": 1}
    assert sources(reading)[0] == {"1": ["0", "2"], "0": ["3"]}
    assert noted(reading, "numbers are used")


def test_true_labels() -> None:
    reading = label_matrix(L, classes=NAMES, truth=np.array([1, -1, 2, 0]))
    assert reading.cells["truth"].tolist() == ["spam", "", "eggs", "ham"]


def test_zero_can_mean_no_vote() -> None:
    old = L + 1
    asked = label_matrix(old[:, :2])
    assert noted(asked, "No vote is -1, so 0 is read as the first class", "0.9", "MeTaL")
    told = label_matrix(old, abstain=0, classes=NAMES)
    assert candidates(told) == candidates(label_matrix(L, classes=NAMES))
    assert candidates(label_matrix(old, abstain=0))[0] == {"2": 2, "1": 1}
    found = label_matrix(old, classes=NAMES)
    assert candidates(found) == candidates(told)
    assert noted(found, "0 is read as no vote", "largest vote is the number of classes")
    assert candidates(label_matrix(np.array([[1, 2], [2, 2]]), classes=NAMES)) == [{"spam": 1, "eggs": 1}, {"eggs": 2}]
    with pytest.raises(TableError, match="7 cannot mean"):
        label_matrix(L, abstain=7)


@pytest.mark.parametrize(
    ("votes", "given", "words"),
    [
        (np.zeros(3), {}, r"votes have the shape \(3,\)"),
        (np.array([["a", "b"]]), {}, "votes are of type <U1 and no class numbers"),
        (np.array([["a", 1]], dtype=object), {}, "no class numbers"),
        (np.array([[1j]]), {}, "no class numbers"),
        (np.array([[0.5, 1]]), {}, "Row 1, column 'votes': 0.5 in column 1 is not a class number"),
        (np.array([[0, 1], [0, -2]]), {}, "Row 2, column 'votes': -2.0 in column 2"),
        (np.array([[0, np.inf]]), {}, "inf in column 2"),
        (np.array([[0, 3]]), {"classes": NAMES, "abstain": -1}, "class number 3 in column 2 is beyond the 3 classes"),
        (L, {"classes": ("a", "b", "a")}, "Two of the names"),
        (L, {"classes": ("a", "b", "")}, "expected a label as text"),
        (L, {"functions": ("a", "b")}, "2 names for 4 columns"),
        (L, {"columns": {"text": ["a"]}}, "'text': it has 1 value for 4 rows"),
        (L, {"truth": np.array([1])}, "4 rows of votes and 1 true label"),
        (L, {"truth": np.array([1, 1, 1, 9]), "classes": NAMES}, "Row 4, column 'truth'"),
        (np.full((2, 2), -1), {}, "No label is named anywhere"),
        (np.zeros((0, 2)), {}, "There are no rows"),
    ],
)  # fmt: skip
def test_wrong_matrices_are_refused(votes: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TableError, match=words):
        label_matrix(votes, **given)


@given(arrays.arrays(np.int64, arrays.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(-1, 3)))
def test_any_matrix_against_counting(votes: np.ndarray) -> None:
    names = ("n0", "n1", "n2", "n3")
    found = candidates(label_matrix(votes, classes=names, abstain=-1))
    for row, cast in zip(found, votes.tolist(), strict=True):
        assert row == ({names[v]: cast.count(v) for v in cast if v >= 0} or list(names))


ANY = st.one_of(
    arrays.arrays(
        np.float64, st.sampled_from([(2, 2), (2,), (0, 1), (1, 0), ()]), elements=st.floats(-2, 3) | st.just(np.nan)
    ),
    arrays.arrays(np.dtype("U2"), (2, 2)),
    arrays.arrays(np.bool_, (2, 2)),
    arrays.arrays(np.dtype("M8[s]"), (1, 2)),
    arrays.arrays(np.uint8, (2, 3)),
)


@given(ANY, ANY)
def test_any_arrays_are_read_or_raise_table_error(votes: Any, more: Any) -> None:
    read_or_refuse(label_matrix, votes)
    read_or_refuse(lambda: label_matrix(votes, truth=more))
    read_or_refuse(annotator_matrix, votes, more)


GIVEN = np.array([[0, np.nan, 1], [np.nan, 2, 2], [0, 0, np.nan]])
PROBS = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [1 / 3, 1 / 3, 1 / 3]])


def test_cleanlab_matrices_are_read() -> None:
    reading = annotator_matrix(GIVEN, PROBS, classes=NAMES, annotators=("ann", "bob", "cid"))
    assert candidates(reading) == [{"ham": 1, "spam": 1}, {"eggs": 2}, {"ham": 2}]
    assert sources(reading)[1] == {"eggs": ["bob", "cid"]}
    assert reading.roles.numbers == ("p_ham", "p_spam", "p_eggs")
    assert reading.cells["p_ham"].astype(float).tolist() == PROBS[:, 0].tolist()
    described = annotator_matrix(GIVEN, PROBS, classes=NAMES, columns={"text": ["one mail", "two mails", "the third"]})
    assert (described.roles.text, described.roles.numbers) == ("text", ())
    assert noted(described, "'p_ham', 'p_spam', 'p_eggs' hold labels or their scores")
    assert "0" in candidates(annotator_matrix(GIVEN))[0]
    assert list(annotator_matrix(GIVEN, PROBS).cells.columns)[:3] == ["p_0", "p_1", "p_2"]


@pytest.mark.parametrize(
    ("given", "probabilities", "more", "words"),
    [
        (np.array([[0, -1]]), None, {}, "'labels_multiannotator': -1.0 in column 2 is not a class number"),
        (GIVEN, PROBS[:2], {}, r"pred_probs have the shape \(2, 3\)"),
        (GIVEN, PROBS * 2, {}, "Row 1, column 'pred_probs': the numbers of the row are not probabilities"),
        (GIVEN, np.where(PROBS == 1, np.nan, PROBS), {}, "Row 2, column 'pred_probs'"),
        (GIVEN, PROBS.astype(str), {}, "the type <U"),
        (GIVEN, PROBS, {"classes": NAMES[:2]}, "2 classes and 3 columns of probabilities"),
        (GIVEN, PROBS[:, :2] / PROBS[:, :2].sum(axis=1, keepdims=True).clip(0.1), {}, "Row 2, column 'pred_probs'"),
    ],
)  # fmt: skip
def test_wrong_cleanlab_matrices_are_refused(given: Any, probabilities: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(TableError, match=words):
        annotator_matrix(given, probabilities, **more)


FILE: dict[str, Any] = {
    "0": {"label": 1, "weak_labels": [1, -1, 1], "data": {"text": "subscribe to my channel"}},
    "1": {"label": 0, "weak_labels": [-1, -1, -1], "data": {"text": "a fine song it is"}},
    "2": {"label": 0, "weak_labels": [1, 0, -1], "data": {"text": "who else is here today"}},
}


def test_file_of_wrench() -> None:
    assert WRENCH.fits([FILE])
    reading = read_wrench([FILE], "WRENCH JSON", classes=["ham", "spam"])
    assert candidates(reading) == [{"spam": 2}, ["ham", "spam"], {"spam": 1, "ham": 1}]
    assert reading.cells["truth"].tolist() == ["spam", "ham", "ham"]
    table = opens(reading)
    assert (table.roles.id, table.roles.text) == ("id", "text")
    assert table.ids.tolist() == ["0", "1", "2"]
    assert noted(WRENCH.read([FILE]), "no names in it")


def test_records_and_rows_of_hub() -> None:
    records = list(FILE.values())
    flat = [{"text": one["data"]["text"], "label": one["label"], "weak_labels": one["weak_labels"]} for one in records]
    for form in (records, flat):
        assert WRENCH.fits(form)
        assert candidates(WRENCH.read(form)) == candidates(WRENCH.read([FILE]))
        assert WRENCH.read(form).cells["text"].tolist() == [one["data"]["text"] for one in records]


def test_features_are_columns_of_numbers() -> None:
    records = [{"label": n, "weak_labels": [n, -1], "data": {"feature": [n, 0.5], "tags": ["x"]}} for n in (0, 1)]
    reading = WRENCH.read(records)
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
    with pytest.raises(TableError, match="Row 2, column 'weak_labels': expected 2 votes as in the first row, got 1"):
        WRENCH.read([{"weak_labels": [1, 0]}, {"weak_labels": [1]}])
    with pytest.raises(TableError, match="There are no rows"):
        WRENCH.read([])


@given(st.sampled_from(["label", "weak_labels", "data", "id"]), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(name: str, value: Any) -> None:
    for broken in ([FILE["0"], {**FILE["2"], name: value}], [{**FILE, "1": {**FILE["1"], name: value}}]):
        WRENCH.fits(broken)
        read_or_refuse(WRENCH.read, broken)


TABLE = b"text,lf_link,LF_short,lf-x,note\nsubscribe to me,1,-1,1,a\nfine,-1,-1,-1,b\nno,0,1,-1,c\n"


def test_table_with_column_for_each_function() -> None:
    cells = read_cells(TABLE)
    assert LABEL_MATRIX.fits(cells)
    reading = LABEL_MATRIX.read(cells)
    assert candidates(reading) == [{"1": 2}, ["0", "1"], {"0": 1, "1": 1}]
    assert list(reading.cells.columns) == ["text", "note", "candidates", "sources"]


@pytest.mark.parametrize(
    "text",
    [
        "lf_a,b\n-1,1\n", "lf_a,lf_b\n1,0\n", "lf_a,lf_b\n-1,x\n", "a,b\n-1,-1\n", "life,lfx\n-1,1\n",
        "lf_a,lf_b\n-1,0.5\n",
    ],
)  # fmt: skip
def test_other_tables_do_not_fit(text: str) -> None:
    assert not LABEL_MATRIX.fits(read_cells(text.encode()))


def test_wrong_cells_are_refused() -> None:
    with pytest.raises(TableError, match="Row 2, column 'lf_a': expected a class number, -1 for none, got 'x'"):
        LABEL_MATRIX.read(read_cells(b"lf_a,lf_b\n-1,1\nx,1\n"))
    with pytest.raises(TableError, match="No column is called lf_"):
        LABEL_MATRIX.read(read_cells(b"a,b\n-1,1\n"))


@pytest.mark.parametrize("axis", [0, 1])
def test_predictions_of_several_models_count_by_their_mean(axis: int) -> None:
    models = np.stack([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.7, 0.3], [0.4, 0.6], [0.5, 0.5]]], axis=axis)
    asked = np.array([[0, 1], [1, np.nan], [0, 0]])
    reading = annotator_matrix(asked, models)
    assert reading.cells["p_0"].astype(float).tolist() == pytest.approx([0.8, 0.3, 0.5])
    assert any("pred_probs are the mean of 2 models." in note for note in reading.notes)
    with pytest.raises(TableError, match="cannot tell which axis is the rows and which the models"):
        annotator_matrix(asked[:2], models[:2, :2])
    with pytest.raises(TableError, match="pred_probs have the shape"):
        annotator_matrix(asked[:1], models)


NOT_ASKED = np.nan
VECTORS = np.array(
    [[[1, 0, NOT_ASKED], [1, 1, NOT_ASKED]], [[0, 0, 1], [NOT_ASKED, NOT_ASKED, NOT_ASKED]], [[0, 1, 0], [0, 1, 0]]],
)  # fmt: skip
BY_LABEL = np.array([[0.9, 0.6, 0.1], [0.2, 0.1, 0.9], [0.1, 0.8, 0.3]])


def vectors_of(reading: TableReading) -> list[str]:
    table = opens(reading)
    return ["".join("01?"[cell] for cell in row) for row in table.label_vectors.tolist()]


def test_label_vectors_of_several_annotators_keep_unanimous_labels() -> None:
    reading = annotator_matrix(VECTORS, BY_LABEL, classes=NAMES, annotators=("ann", "bob"))
    assert reading.format == "cleanlab matrices of label vectors"
    assert vectors_of(reading) == ["1??", "001", "010"]
    assert noted(reading, "Label vectors by 2 annotators.")
    assert noted(reading, "Labels about which people differ, which are read as not asked: 1.")
    assert reading.roles.label_columns == NAMES
    assert reading.roles.numbers == ("p_ham", "p_spam", "p_eggs")
    models = np.stack([BY_LABEL - 0.1, BY_LABEL + 0.1])
    ensemble = annotator_matrix(VECTORS.astype(np.float32), models)
    assert ensemble.cells["p_0"].astype(float).tolist() == pytest.approx(BY_LABEL[:, 0].tolist())
    assert noted(ensemble, "pred_probs are the mean of 2 models.")
    assert noted(ensemble, "numbers are used")


def test_label_vectors_of_one_annotator_are_not_votes_of_several() -> None:
    one = np.array([[1, 0, 1], [0, 1, NOT_ASKED], [0, 0, 1]])
    assert vectors_of(annotator_matrix(one[:, None], BY_LABEL)) == ["101", "01?", "001"]
    with pytest.raises(TableError, match=r"give labels_multiannotator as \(rows, annotators, labels\)"):
        annotator_matrix(one, BY_LABEL)


@pytest.mark.parametrize(
    ("labels", "given", "words"),
    [
        (VECTORS * 2, {}, r"Row 1, column 'labels_multiannotator': expected 1, 0 or NaN .* got 2.0 at \[0, 0, 0\]"),
        (VECTORS.astype(str), {}, "expected 1, 0 or NaN for each label, got '1.0'"),
        (VECTORS, {"classes": NAMES[:2]}, r"2 classes, and labels_multiannotator have the shape \(3, 2, 3\)"),
        (VECTORS, {"annotators": ("ann",)}, "1 name for 2 columns"),
        (VECTORS, {"pred_probs": BY_LABEL[:, :2]}, r"a column for each label \(3\)"),
        (VECTORS, {"pred_probs": BY_LABEL * 2}, "Row 1, column 'pred_probs': .* which are from 0 to 1"),
        (VECTORS[:2], {"columns": {"text": ["a"] * 3}}, r"the shape \(2, 2, 3\), and there are 3 rows"),
    ],
)  # fmt: skip
def test_wrong_label_vectors_are_refused(labels: Any, given: dict[str, Any], words: str) -> None:
    with pytest.raises(TableError, match=words):
        annotator_matrix(labels, **given)
