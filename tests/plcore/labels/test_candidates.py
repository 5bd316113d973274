"""The candidate convention: every accepted way to give candidates, and errors that name the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from plcore import CandidateError
from plcore.labels.candidates import check_candidates, is_candidate_matrix, kept_candidates
from plcore.labels.weights import check_candidate_weights, prior_labels, weights_after_answers
from plcore.neighbors import PLKNeighborsClassifier

SETS = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)


@pytest.mark.parametrize(
    "y",
    [
        SETS,
        SETS.astype(int),
        SETS.astype(np.uint8),
        SETS.astype(float),
        SETS.astype(object),
        SETS.tolist(),
        SETS.astype(int).tolist(),
        sparse.csr_matrix(SETS),
        sparse.csr_array(SETS),
        sparse.csr_matrix(SETS.astype(int)),
        sparse.coo_array(SETS.astype(float)),
    ],
)
def test_matrices_have_numbered_classes(y):
    candidates, classes = check_candidates(y)
    assert is_candidate_matrix(y)
    assert candidates.dtype == bool
    np.testing.assert_array_equal(candidates, SETS)
    assert classes.tolist() == [0, 1, 2]  # column 2 is all False and stays


@pytest.mark.parametrize("dtype", [bool, int, float, object, "boolean", "Int8"])
def test_frame_columns_are_classes_in_their_order(dtype):
    candidates, classes = check_candidates(pd.DataFrame(SETS, columns=["wren", "robin", "emu"]).astype(dtype))
    np.testing.assert_array_equal(candidates, SETS)
    assert classes.tolist() == ["wren", "robin", "emu"]


def test_exact_labels_have_one_candidate_each():
    for y in (["b", "a", "b"], np.array(["b", "a", "b"]), pd.Series(["b", "a", "b"]), pd.Categorical(["b", "a", "b"])):
        assert not is_candidate_matrix(y)
        candidates, classes = check_candidates(y)
        assert classes.tolist() == ["a", "b"]
        assert candidates.tolist() == [[False, True], [True, False], [False, True]]
    assert check_candidates([-1, 1, -1])[1].tolist() == [-1, 1]
    assert check_candidates(np.array([True, False]))[1].tolist() == [False, True]


def test_column_of_labels_is_label_vector_with_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        candidates, classes = check_candidates(np.array([[5], [7], [5]]))
    assert classes.tolist() == [5, 7]
    assert candidates.argmax(axis=1).tolist() == [0, 1, 0]


def test_single_class_needs_bools_or_a_frame():
    for y in (np.ones((3, 1), dtype=bool), sparse.csr_matrix(np.ones((3, 1)))):
        candidates, classes = check_candidates(y)
        assert candidates.all()
        assert classes.tolist() == [0]
    candidates, classes = check_candidates(pd.DataFrame({"only": [1, 1, 1]}))
    assert candidates.shape == (3, 1)
    assert classes.tolist() == ["only"]


@pytest.mark.parametrize("wrong", [np.nan, -1, 2, 0.5, np.inf])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_matrix, lambda y: y.astype(object)])
def test_invalid_values_name_their_rows(wrong, form):
    y = SETS.astype(float)
    y[1, 1] = y[2, 0] = wrong
    with pytest.raises(CandidateError, match=r"rows 1, 2 \(counted from 0\).*Fix:"):
        check_candidates(form(y))


@pytest.mark.parametrize("value", [None, pd.NA, "yes", np.nan])
def test_invalid_objects_name_their_rows(value):
    y = SETS.astype(object)
    y[2, 2] = value
    with pytest.raises(CandidateError, match=r"in row 2, column 2"):
        check_candidates(y)
    frame = pd.DataFrame(SETS, columns=list("abc")).astype(object)
    frame.iloc[2, 2] = value
    with pytest.raises(CandidateError, match=r"in row 2, column 'c'"):
        check_candidates(frame)


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_matrix, sparse.coo_array])
def test_rows_without_candidates_are_named(form):
    y = np.zeros((30, 2), dtype=bool)
    y[:12, 0] = True
    with pytest.raises(CandidateError, match=r"rows 12, 13, 14, .*, 21 and 8 more"):
        check_candidates(form(y))
    with pytest.raises(CandidateError, match=r"none in row 1 "):
        check_candidates(form(np.array([[1, 0], [0, 0]])))


def test_cell_stored_twice_counts_as_its_sum():
    twice = sparse.coo_array((np.array([1, 1, 1]), (np.array([0, 1, 1]), np.array([0, 1, 1]))), shape=(2, 2))
    with pytest.raises(CandidateError, match="row 1"):
        check_candidates(twice)


@pytest.mark.parametrize("y", [[0.0, np.nan, 1.0], ["a", None, "b"], [0.0, np.inf, 1.0]])
def test_missing_labels_name_their_rows(y):
    with pytest.raises(CandidateError, match=r"row 1 "):
        check_candidates(np.array(y, dtype=object if "a" in y else float))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.array(3), "0 dimensions"),
        ([[1, 0], [1]], "different lengths.*write every row as a set"),
        (np.zeros((3, 0), dtype=bool), "no columns"),
        (pd.DataFrame([[1, 1]], columns=["a", "a"]), "'a'"),
    ],
)
def test_invalid_shapes_are_refused(y, message):
    with pytest.raises(CandidateError, match=message):
        check_candidates(y)


@pytest.mark.parametrize(
    ("index", "classes", "kind"),
    [
        (pd.DataFrame(SETS).assign(x="a").columns[:3], [0, 1, 2], "i"),  # numbers, in an index of objects
        (pd.Index([0, "a", 2.5]), [0, "a", 2.5], "O"),
        (pd.to_datetime(["2020", "2021", "2022"]), list(pd.to_datetime(["2020", "2021", "2022"]).to_numpy()), "M"),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("a", 2)]), [("a", 1), ("b", 2), ("a", 2)], "O"),
    ],
)
def test_any_column_names_can_be_classes(index, classes, kind):
    frame = pd.DataFrame(SETS, columns=index)
    _, found = check_candidates(frame)
    assert found.shape == (3,)
    assert list(found) == classes
    assert found.dtype.kind == kind


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([2, 1, 2], [1, 2]),
        ([True, False, True], [False, True]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        (["b", "a", "b"], ["a", "b"]),
    ],
)
def test_labels_can_be_objects(labels, classes):
    for y in (np.array(labels, dtype=object), pd.Series(labels, dtype=object)):
        candidates, found = check_candidates(y)
        assert found.tolist() == classes
        assert candidates.tolist() == [[False, True], [True, False], [False, True]]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", 1, "b", 2], "all be text.*Got 1 in row 1.*rows 1, 3"),
        ([True, 2, 2], "all be text.*rows 0, 1, 2"),
        ([b"a", b"b"], "Got b'a' in row 0"),
        (["b", {1, 2}, {2}], r"Got \{1, 2\} in row 1.*rows 1, 2 .*every row as a set of class names, or pass a bool"),
        ([{"a": 0.9}, {"b": 1.0}], "every row as a set of class names, or pass a bool matrix or DataFrame"),
    ],
)  # fmt: skip
def test_invalid_labels_name_their_rows(labels, message):
    y = np.empty(len(labels), dtype=object)
    y[:] = labels
    with pytest.raises(CandidateError, match=message):
        check_candidates(y)


@pytest.mark.parametrize("form", [list, tuple])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", np.nan, "b"], "NaN, None or infinity in row 1 "),
        (["a", 1, "b"], "all be text.*Got 1 in row 1;"),
        ([True, "a", "b"], "all be text.*Got True in row 0;"),
    ],
)
def test_non_text_next_to_text_is_refused(labels, message, form):
    """NumPy would convert it: a missing label would become the class "nan"."""
    with pytest.raises(CandidateError, match=message):
        check_candidates(form(labels))


def test_continuous_labels_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        check_candidates([0.1, 0.5, 0.9])


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_unsorted_or_read_only_input_is_left_unchanged(form):
    y = form((np.array([True] * 3), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    before = y.data.copy(), y.indices.copy(), y.indptr.copy()
    assert check_candidates(y)[0].tolist() == [[True, False, True], [False, True, False]]
    zeros = form((np.array([1, 0, 0, 1]), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    check_candidates(zeros)
    assert zeros.nnz == 4
    for now, then in zip((y.data, y.indices, y.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)
        now.flags.writeable = False
    y.has_sorted_indices = y.has_canonical_format = False
    assert check_candidates(y)[0].tolist() == [[True, False, True], [False, True, False]]


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_result_is_a_copy(form):
    y = form(SETS.copy())
    candidates, _ = check_candidates(y)
    candidates[:] = True
    again, _ = check_candidates(y)
    np.testing.assert_array_equal(again, SETS)


def test_input_without_cells_or_names_is_refused():
    records = np.array([(True, False), (False, True)], dtype=[("a", bool), ("b", bool)])
    with pytest.raises(CandidateError, match=r"records with the fields \('a', 'b'\). Fix: pass pandas.DataFrame"):
        check_candidates(records)
    assert check_candidates(pd.DataFrame(records))[1].tolist() == ["a", "b"]
    for missing in (None, np.nan):
        with pytest.raises(CandidateError, match=r"column 1 \(counted from 0\) has none"):
            check_candidates(pd.DataFrame(SETS, columns=["a", missing, "c"]))
    with pytest.raises(CandidateError, match="in row 0, column 0"):
        check_candidates(np.full((2, 2), "NaT", dtype="M8[D]"))


def test_only_read_only_candidates_are_shared():
    sets = np.eye(3, dtype=bool)
    for copied in (True, False):
        found = kept_candidates(sets, copied=copied)
        assert not np.shares_memory(found, sets)
        np.testing.assert_array_equal(found, sets)
    sets.flags.writeable = False
    assert kept_candidates(sets, copied=False) is sets
    assert kept_candidates(sets).flags.writeable
    sets = np.array([[True, False], [False, False]])
    sets.flags.writeable = False
    with pytest.raises(CandidateError, match="at least one candidate"):
        kept_candidates(sets, copied=False)
    with pytest.raises(CandidateError, match="no columns"):
        kept_candidates(np.zeros((2, 0), dtype=bool), copied=False)
    labels = np.array([True, False])
    labels.flags.writeable = False
    assert kept_candidates(labels, copied=False).tolist() == [[False, True], [True, False]]


# Prior weights of candidates: scaled inside their sets, and refused if invalid.


CLASSES = np.array(["emu", "owl"])


def test_weights_are_scaled_to_one_inside_their_sets():
    candidates = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)
    np.testing.assert_allclose(prior_labels(candidates), [[0.5, 0.5, 0], [1 / 3] * 3, [0, 0, 1]])
    weights = np.array([[3, 1, 9], [0, 0, 0], [0, 5, 0.2]])
    np.testing.assert_allclose(prior_labels(candidates, weights), [[0.75, 0.25, 0], [1 / 3] * 3, [0, 0, 1]])
    np.testing.assert_allclose(prior_labels(candidates, np.full((3, 3), 1e300)), prior_labels(candidates))


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_wrong_weights_name_their_row(wrong):
    weights = np.ones((4, 2))
    weights[2, 1] = wrong
    with pytest.raises(CandidateError, match="row 2"):
        check_candidate_weights(weights, (4, 2), CLASSES)
    with pytest.raises(CandidateError, match=r"shape of the candidates, \(4, 2\)"):
        check_candidate_weights(weights[:3], (4, 2), CLASSES)


def test_names_of_columns_must_be_classes_in_their_order():
    """By position they would be assigned to other classes."""
    weights = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=CLASSES)
    np.testing.assert_array_equal(check_candidate_weights(weights, (2, 2), CLASSES), weights)
    for wrong in (weights[["owl", "emu"]], weights.set_axis([0, 1], axis=1)):
        with pytest.raises(CandidateError, match="columns of candidate_weights must be the classes, in their order"):
            check_candidate_weights(wrong, (2, 2), CLASSES)


def test_weights_are_copied_from_any_kind_of_matrix():
    weights = np.array([[1, 0], [3, 4]])
    for form in (weights, weights.tolist(), sparse.csr_matrix(weights), sparse.coo_array(weights)):
        found = check_candidate_weights(form, (2, 2), CLASSES)
        np.testing.assert_array_equal(found, weights)
        assert found.dtype == np.float64
        assert not np.shares_memory(found, weights)
    assert check_candidate_weights(None, (2, 2), CLASSES) is None


def test_candidate_added_by_an_answer_gets_the_largest_weight():
    weights = np.array([[3, 1, 0], [3, 1, 0], [3, 1, 0], [0, 0, 0]], dtype=float)
    now = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    after = weights_after_answers(weights, now)
    np.testing.assert_array_equal(after, [[3, 1, 0], [3, 1, 3], [3, 1, 3], [0, 0, 0]])
    np.testing.assert_allclose(prior_labels(now, after), [[0.75, 0.25, 0], [0, 0.25, 0.75], [0, 0, 1], [0.5, 0.5, 0]])


@given(seed=st.integers(0, 10**6))
def test_imported_weights_are_kept_after_answers(seed):
    """Code that uses the imported sets must not change with answers; and every candidate has a weight."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, (6, 4)).astype(float)
    weights[:, 0] += ~weights.any(axis=1)
    now = rng.random((6, 4)) < 0.5
    after = weights_after_answers(weights, now)
    np.testing.assert_array_equal(after[weights > 0], weights[weights > 0])
    assert (after[now] > 0).all()
    assert (after[~now] == weights[~now]).all()
    np.testing.assert_array_equal(prior_labels(now[now.any(axis=1)], after[now.any(axis=1)]) > 0, now[now.any(axis=1)])


def test_update_uses_the_weights_of_fit_even_if_their_array_changed():
    X, weights = np.arange(6.0)[:, None], np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])
    candidates = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [0, 1]], dtype=bool)
    given = weights.copy()
    model = PLKNeighborsClassifier(3).fit(X, candidates, sample_weight=given)
    given[:] = [9.0, 1.0, 9.0, 1.0, 9.0, 1.0]
    model.update(2, [True, False])
    candidates[2] = [True, False]
    fresh = PLKNeighborsClassifier(3).fit(X, candidates, sample_weight=weights)
    np.testing.assert_array_equal(model.label_distributions_, fresh.label_distributions_)
