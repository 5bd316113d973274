"""The contract of every partial-label classifier for the kinds of y: the same model, bit for bit, in whatever form y
is."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import plcore
from plcore import PARAMETER_GRIDS, CandidateError
from plcore.evaluation import PartialKFold, candidate_accuracy, contaminate
from plcore.sensing.base import MultiLabelClassifier

NO_GRID = {"AutoPLClassifier": "it chooses among the learners and their settings by itself"}
"""Public classifiers without an entry in PARAMETER_GRIDS, each with its reason."""

LEARNERS = {
    name: value
    for name in plcore.__all__
    if inspect.isclass(value := getattr(plcore, name))
    and issubclass(value, ClassifierMixin)
    and not issubclass(value, MultiLabelClassifier)
}
MANY_FITS = ("PLAGGDClassifier", "PLCLClassifier")
"""Learners whose grids of several parameters take seconds."""
NAMES = np.array(["emu", "robin", "wren"])

pytestmark = pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")


@pytest.fixture(scope="module")
def birds():
    """(X (45, 3), candidates (45, 3)) in which every class is a candidate somewhere and two rows of three are clear."""
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=45)
    return rng.normal(size=(45, 3)) + 2 * np.eye(3)[truth], contaminate(truth, "size", p=0.4, r=1, random_state=1)


def made(name):
    """The learner with its defaults, few steps, and a seed if it draws."""
    learner = LEARNERS[name]()
    few = {"max_iter": 2, "n_estimators": 2, "random_state": 0, "learners": ["plknn", "clpl"]}
    few["estimator"] = DecisionTreeClassifier(max_depth=3)
    return learner.set_params(**{key: few[key] for key in few.keys() & learner.get_params().keys()})


def learnt(model, X):
    """All results of a fitted model, in comparable form."""
    said = {"predict": model.predict(X), "transduction": model.transduction_, "classes": model.classes_}
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            said[name] = getattr(model, name)(X)
    if hasattr(model, "label_distributions_"):
        said["label_distributions"] = model.label_distributions_
    return said


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_learners_include_main_estimators():
    assert {"PLKNeighborsClassifier", "PLKernelRidge", "PLSVC", "PLPegasos"} <= set(LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
def test_sets_of_names_are_matrix_with_names(birds, name):
    X, candidates = birds
    frame = pd.DataFrame(candidates, columns=NAMES)
    sets = [set(NAMES[row]) for row in candidates]
    expected = made(name).fit(X, frame)
    for y in (sets, [NAMES[row].tolist() for row in candidates], pd.Series(sets)):
        model = made(name).fit(X, y)
        assert_same(learnt(model, X), learnt(expected, X))
        assert model.score(X, y) == expected.score(X, frame) == candidate_accuracy(y, expected.predict(X))
    assert set(model.predict(X)) <= set(NAMES)


@pytest.mark.parametrize("name", LEARNERS)
def test_sets_of_numbers_and_sparse_candidates_are_matrix(birds, name):
    X, candidates = birds
    expected = made(name).fit(X, candidates)
    sets = [set(np.flatnonzero(row).tolist()) for row in candidates]
    for y in (sets, sparse.csr_matrix(candidates), sparse.csr_array(candidates.astype(int)), candidates.astype(int)):
        model = made(name).fit(X, y)
        assert_same(learnt(model, X), learnt(expected, X))
        assert model.score(X, y) == expected.score(X, candidates)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", LEARNERS)
def test_new_rows_are_dense_or_sparse_and_missing_features_are_named_with_their_place_and_fix(birds, name, form):
    X, candidates = birds
    model = made(name).fit(form(X), candidates)
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), model.predict(X))
    holes = X.copy()
    holes[[7, 7, 20], [2, 1, 0]] = np.nan
    words = (
        r"^Input X contains NaN in 3 cells, the first in row 7, column 1 \(both counted from 0\)\. Fix: fill in .*"
        r"SimpleImputer.*or drop the columns that have them\.$"
    )
    with pytest.raises(ValueError, match=words):
        made(name).fit(form(holes), candidates)
    with pytest.raises(ValueError, match=words):
        model.predict(form(holes))


@pytest.mark.parametrize("name", LEARNERS)
def test_texts_are_refused_with_fix(birds, name):
    with pytest.raises(ValueError, match=r"^X must hold numbers: .*'a song'.* Fix: .*TfidfVectorizer .*OneHotEncoder"):
        made(name).fit(["a song"] * len(birds[1]), birds[1])


@pytest.mark.parametrize("name", LEARNERS)
def test_row_without_name_is_refused(birds, name):
    X, candidates = birds
    sets = [set(NAMES[row]) for row in candidates]
    sets[4] = set()
    with pytest.raises(CandidateError, match="none in row 4 "):
        made(name).fit(X, sets)
    with pytest.raises(CandidateError, match=r"Fix: write \{'wren'\}"):
        made(name).fit(X, [*sets[:4], "wren", *sets[5:]])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        made(name).fit(X, sets[:4])


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.proof) if one in MANY_FITS else one for one in LEARNERS]
)
def test_every_learner_has_grid_or_reason(birds, name):
    """A grid is what GridSearchCV takes: parameters of the learner, each with values that it can be fitted with."""
    if name in NO_GRID:
        assert name not in PARAMETER_GRIDS
        return
    grid = PARAMETER_GRIDS[name]
    assert set(grid) <= set(LEARNERS[name]().get_params())
    for parameter, values in grid.items():
        assert len(values) > 1
        if not isinstance(values[0], str):  # kernels have no order
            assert values == sorted(set(values))
            assert min(values) >= 0
        for value in values:
            LEARNERS[name](**{parameter: value})._validate_params()
    ends = {key: [values[0], values[-1]] for key, values in grid.items()}
    X, candidates = birds
    sets = [set(NAMES[row]) for row in candidates]
    search = GridSearchCV(made(name), ends, cv=PartialKFold(2, random_state=0), error_score="raise").fit(X, sets)
    assert 0 < search.best_score_ <= 1
    assert search.classes_.tolist() == NAMES.tolist()


@pytest.mark.parametrize(
    "name", [name for name in LEARNERS if "candidate_weights" in inspect.signature(LEARNERS[name].fit).parameters]
)
def test_weights_of_candidates_use_names_of_their_columns(birds, name):
    """By position, another order would give weights to the wrong classes, silently."""
    X, candidates = birds
    frame = pd.DataFrame(candidates, columns=NAMES)
    weights = pd.DataFrame(np.random.default_rng(0).random(candidates.shape), columns=NAMES)
    expected = made(name).fit(X, frame, candidate_weights=weights)
    for same in (weights.to_numpy(), sparse.csr_matrix(weights.to_numpy())):
        assert_same(learnt(made(name).fit(X, frame, candidate_weights=same), X), learnt(expected, X))
    with pytest.raises(CandidateError, match="columns of candidate_weights must be the classes"):
        made(name).fit(X, frame, candidate_weights=weights[NAMES[::-1]])


def test_no_reason_is_left_over():
    assert set(PARAMETER_GRIDS) | set(NO_GRID) == set(LEARNERS)
    assert all(NO_GRID.values())


def test_imported_candidates_use_their_names(birds):
    """As many classes, but different ones: sets name theirs, and are not taken for columns."""
    X, candidates = birds
    frame, sets = pd.DataFrame(candidates, columns=NAMES), [set(NAMES[row]) for row in candidates]
    answered = frame.copy()
    answered.iloc[:20] = np.eye(3, dtype=bool)[candidates[:20].argmax(axis=1)]
    ridge = plcore.PLKernelRidge("rbf", alpha=0.1, class_mass=1.0)
    expected = ridge.fit(X, answered, imported=candidates).label_distributions_
    np.testing.assert_array_equal(ridge.fit(X, answered, imported=sets).label_distributions_, expected)
    other = [{"owl" if name == "emu" else name for name in row} for row in sets]
    with pytest.raises(CandidateError, match="Got 'owl'"):
        ridge.fit(X, answered, imported=other)
