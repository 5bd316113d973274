"""Candidates as sets or lists of class names, one a row: what is read as names, what as a matrix, what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score

from plcore import CandidateError, PLKNeighborsClassifier
from plcore.evaluation import PartialKFold, candidate_accuracy, contaminate, precise_folds
from plcore.labels import check_candidates, check_label_vectors, holds_sets, is_candidate_matrix
from plcore.labels.accuracy import score_of
from plcore.labels.candidates import candidates_among
from plcore.labels.training import check_update

SETS = [{"wren", "robin"}, {"wren"}, {"emu", "robin"}]
MATRIX = [[False, True, True], [False, False, True], [True, True, False]]


def objects(rows):
    array = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):
        array[number] = row
    return array


FORMS = {
    "sets": SETS,
    "frozensets": tuple(map(frozenset, SETS)),
    "lists": [sorted(names) for names in SETS],
    "tuples": [tuple(names) for names in SETS],
    "arrays": [np.array(sorted(names)) for names in SETS],
    "mixed": [SETS[0], ["wren"], ("emu", "robin")],
    "twice": [["wren", "robin", "wren"], ["wren"], ["emu", "robin"]],
    "objects": objects(SETS),
    "objects of lists": objects([sorted(names) for names in SETS]),
    "series": pd.Series(SETS, index=[7, 5, 6]),
    "series of arrays": pd.Series([np.array(sorted(names), dtype=object) for names in SETS]),
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_names_are_read_in_every_form(y):
    assert holds_sets(y)
    assert not is_candidate_matrix(y)
    candidates, classes = check_candidates(y)
    assert candidates.dtype == bool
    assert candidates.tolist() == MATRIX
    assert classes.tolist() == ["emu", "robin", "wren"]


@pytest.mark.parametrize(
    ("y", "classes", "matrix"),
    [
        ([{0, 2}, {1}], [0, 1, 2], [[1, 0, 1], [0, 1, 0]]),
        ([{0, 1}, {1}], [0, 1], [[1, 1], [0, 1]]),
        ([{np.int64(5)}, {-1, 5}], [-1, 5], [[0, 1], [1, 1]]),
        ([{2.0}, {1.0, 2.0}], [1.0, 2.0], [[0, 1], [1, 1]]),
        ([{True}, {True, False}], [False, True], [[0, 1], [1, 1]]),
        ([["a"], ["b"]], ["a", "b"], [[1, 0], [0, 1]]),
        ([["a", "b"], ["a", "c"]], ["a", "b", "c"], [[1, 1, 0], [1, 0, 1]]),
    ],
)
def test_classes_are_sorted_names(y, classes, matrix):
    candidates, found = check_candidates(y)
    assert found.tolist() == classes
    assert candidates.astype(int).tolist() == matrix


@pytest.mark.parametrize(
    "y",
    [
        [[0, 1], [1, 1]],
        [(True, False), (True, True)],
        [[1.0, 0.0]],
        objects([[0, 1], [1, 0]]),
        pd.Series([np.array([True, False]), np.array([True, True])]),
    ],
)
def test_lists_of_numbers_are_matrix(y):
    assert not holds_sets(y)
    assert is_candidate_matrix(y)
    candidates, classes = check_candidates(y)
    assert classes.tolist() == [0, 1]
    np.testing.assert_array_equal(candidates, np.array(list(y), dtype=bool))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1], [1]], r"different lengths.*as a set of class names: \{0, 2\}"),
        ([[0, 2], [3, 1]], r"Got 2 in row 0, column 1.*sets of class names: \{0, 2\}"),
        ([[0, 1], {1}], r"names in row 1, but lists of numbers in row 0 .*Fix: write names in all rows"),
        ([["a"], [0, 1], [1, 0]], r"names in row 0, but lists of numbers in rows 1, 2 .*class numbers as sets"),
        ([{"wren"}, "robin"], r"Row 0 is \{'wren'\}, so every row.*Got 'robin'.*row 1 .*Fix: write \{'robin'\}"),
        ([{"wren"}, None, {"emu"}, np.nan], r"Got None; other values are in rows 1, 3 .*set of class names"),
        ([[0, 1], 3], "Got 3; other values are in row 1"),
        ([{"a"}, set(), {"b"}, set()], r"at least one candidate; none in rows 1, 3 \(counted from 0\).*Fix"),
        ([["a"], []], "at least one candidate; none in row 1"),
        ([set()], "at least one candidate; none in row 0"),
        ([{"a"}, {"b", None}, {None}], "NaN, None or infinity in rows 1, 2"),
        ([["a", float("nan")], ["b"]], "NaN, None or infinity in row 0"),
        ([["a"], [float("nan")]], "NaN, None or infinity in row 1"),
        ([["a"], [None]], "NaN, None or infinity in row 1"),
        ([{1.0}, {float("inf")}], "NaN, None or infinity in row 1"),
        ([{1, 2}, {"a", 2}], r"all be text.*Got 1 in row 0; values that are not text are in rows 0, 1"),
        ([["wren", True], [True, "emu"]], r"all be text.*Got True in row 0.*rows 0, 1"),
        ([{True, 5}], "all be text"),
        ([{("a", 1)}, {"b"}], r"must be text.*Got \('a', 1\) in row 0"),
        ([{b"a"}], "Got b'a' in row 0"),
    ],
)  # fmt: skip
def test_invalid_sets_are_refused(y, message):
    for form in (list, tuple, objects):
        with pytest.raises(CandidateError, match=message):
            check_candidates(form(y))


def test_continuous_names_are_refused_and_many_names_do_not_warn():
    with pytest.raises(ValueError, match="continuous"):
        check_candidates([{0.5}, {1.5, 0.5}])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        candidates, _ = check_candidates([{f"{number:02}"} for number in range(50)])
    np.testing.assert_array_equal(candidates, np.eye(50))


@given(st.lists(st.sets(st.sampled_from(["a", "b", "c", "d", "é", "10", "9"]), min_size=1), min_size=1, max_size=30))
def test_sets_round_trip_through_a_matrix(sets):
    candidates, classes = check_candidates(sets)
    assert [set(classes[row].tolist()) for row in candidates] == sets
    assert candidates.any(axis=0).all()
    assert classes.tolist() == sorted(set().union(*sets))
    frame = pd.DataFrame(candidates, columns=classes)
    again, names = check_candidates(frame)
    np.testing.assert_array_equal(again, candidates)
    assert names.tolist() == classes.tolist()


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_accuracy_uses_names(y):
    assert candidate_accuracy(y, ["robin", "emu", "emu"]) == pytest.approx(2 / 3)
    assert candidate_accuracy(y, ["robin", "emu", "owl"], sample_weight=[1, 1, 2]) == 0.25
    assert candidate_accuracy(y, ["robin", "emu", "emu"], ["wren", "emu", "robin", "owl"]) == pytest.approx(2 / 3)
    with pytest.raises(CandidateError, match="Got 'wren' in rows 0, 1"):
        candidate_accuracy(y, ["robin"] * 3, ["emu", "robin"])
    with pytest.raises(CandidateError, match="y_pred holds numbers such as 0, but the classes are text"):
        candidate_accuracy(y, [0, 1, 2])


@pytest.mark.parametrize("names", [[(1, 2), (3, 4)], [("a", 2), ("b", 4)]])
@pytest.mark.parametrize("form", [pd.Series, objects])
def test_tuples_of_multiindex_are_names_not_sets(names, form):
    classes, predicted = objects(names), objects([names[0], names[1], names[1]])
    assert score_of(predicted, form([names[0], names[0], names[1]]), classes) == pytest.approx(2 / 3)
    assert score_of(predicted, np.array([[1, 0], [1, 1], [1, 0]]), classes) == pytest.approx(2 / 3)


def test_sets_are_mapped_to_known_classes():
    classes = np.array(["wren", "owl", "robin", "emu"])
    placed = candidates_among(SETS, classes)
    assert [set(classes[row]) for row in placed] == SETS
    np.testing.assert_array_equal(candidates_among(["emu", "owl"], classes), [[0, 0, 0, 1], [0, 1, 0, 0]])
    with pytest.raises(CandidateError, match=r"Got 'dodo', 'kiwi' in rows 0, 2 .*leave these rows out"):
        candidates_among([{"dodo", "emu"}, {"emu"}, {"kiwi"}], classes)
    with pytest.raises(CandidateError, match=r"for each of the 4 classes\. Got 3 columns"):
        candidates_among(np.array(MATRIX), classes)
    with pytest.raises(CandidateError, match="columns of y must be the classes, in their order"):
        candidates_among(pd.DataFrame([[1, 0, 0, 0]], columns=sorted(classes)), classes)


def test_updates_accept_sets():
    classes = np.array(["emu", "robin", "wren"])
    for one in ({"wren", "emu"}, frozenset(["emu", "wren"]), [{"emu", "wren"}]):
        rows, new = check_update(4, one, 9, classes)
        assert rows.tolist() == [4]
        assert new.tolist() == [[True, False, True]]
    rows, new = check_update([3, 1], [["emu"], ["wren", "robin"]], 9, classes)
    assert new.tolist() == [[True, False, False], [False, True, True]]
    with pytest.raises(CandidateError, match="Got 'owl' in row 0"):
        check_update(3, {"owl"}, 9, classes)
    with pytest.raises(CandidateError, match=r"shape \(2, 3\). Got \(1, 3\)"):
        check_update([3, 1], {"emu"}, 9, classes)


def test_functions_without_candidates_refuse_sets():
    with pytest.raises(CandidateError, match="MultiLabelBinarizer"):
        check_label_vectors(SETS)
    with pytest.raises(CandidateError, match=r"exact labels .*got candidates"):
        contaminate(SETS, q=0.5)


@pytest.fixture(scope="module")
def birds():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    matrix = contaminate(truth, "size", p=0.6, r=1, random_state=1)
    names = np.array(["emu", "robin", "wren"])
    X = rng.normal(size=(90, 2)) + 2 * truth[:, None]
    return X, [set(names[row]) for row in matrix], pd.DataFrame(matrix, columns=names)


@pytest.mark.parametrize("form", [list, objects, pd.Series])
@pytest.mark.parametrize("cv", [3, PartialKFold(3, random_state=0)])
def test_scikit_learn_searches_with_sets(birds, form, cv):
    X, sets, frame = birds
    grid = {"n_neighbors": [1, 5, 9]}
    found = GridSearchCV(PLKNeighborsClassifier(), grid, cv=cv, error_score="raise").fit(X, form(sets))
    expected = GridSearchCV(PLKNeighborsClassifier(), grid, cv=cv).fit(X, frame)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(found.cv_results_[name], expected.cv_results_[name])
    assert found.best_estimator_.classes_.tolist() == ["emu", "robin", "wren"]
    assert found.score(X, form(sets)) == expected.score(X, frame)


def test_lists_of_names_need_partial_folds(birds):
    """scikit-learn's default splitter for an integer cv inspects y and refuses lists of lists."""
    X, sets, frame = birds
    lists = [sorted(names) for names in sets]
    with pytest.raises(ValueError, match="legacy multi-label"):
        cross_val_score(PLKNeighborsClassifier(), X, lists, cv=3)
    folds = PartialKFold(3, random_state=0)
    np.testing.assert_array_equal(
        cross_val_score(PLKNeighborsClassifier(), X, lists, cv=folds),
        cross_val_score(PLKNeighborsClassifier(), X, frame, cv=folds),
    )


def test_folds_of_sets_match_those_of_the_matrix(birds):
    X, sets, frame = birds
    for found, expected in (
        (PartialKFold(4, random_state=1).split(X, sets), PartialKFold(4, random_state=1).split(X, frame)),
        (precise_folds(sets, random_state=1), precise_folds(frame, random_state=1)),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one[0], other[0])
            np.testing.assert_array_equal(one[1], other[1])


def test_held_out_name_unseen_in_training_counts_as_missed(birds):
    X, sets, _ = birds
    model = PLKNeighborsClassifier().fit(X, sets)
    assert model.score(X[:2], [{"owl"}, {"emu", "robin", "wren", "owl"}]) == 0.5
    with pytest.raises(CandidateError, match="classes are numbers"):
        model.score(X[:1], [{3}])
