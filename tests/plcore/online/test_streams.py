"""Progressive validation for any estimator, and streams of chunks in constant memory."""

from __future__ import annotations

import tracemalloc
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from plcore import CandidateError, PLPegasos, PLPerceptron, learn_stream
from plcore.evaluation import contaminate, progressive_validation


class Shown:
    """A learner without its short cut, so that progressive validation takes it row by row."""

    def __init__(self, learner):
        self.learner = learner
        self.predict, self.partial_fit = learner.predict, learner.partial_fit

    def __sklearn_clone__(self):
        return self


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=150)
    X = rng.normal(size=(150, 6)) + rng.normal(size=(4, 6))[y] * 2
    return X, contaminate(y, "size", r=1, random_state=0), y


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_fast_path_matches_row_by_row_validation(average, kind, data):
    X, candidates, y = data
    learner = PLPegasos("max", alpha=0.1, average=average)
    names = list("abcd")
    frame = pd.DataFrame(candidates, columns=names)
    truth = np.array(names)[y]
    short = progressive_validation(learner, kind(X), frame, truth)
    slow = progressive_validation(Shown(PLPegasos("max", alpha=0.1, average=average)), kind(X), frame, truth)
    np.testing.assert_array_equal(short.predictions, slow.predictions)
    np.testing.assert_array_equal(short.truth_error, slow.truth_error)
    np.testing.assert_array_equal(short.ambiguous_error, slow.ambiguous_error)
    assert short.predictions[0] == "a"
    assert not hasattr(learner, "classes_")  # a clone learnt
    for n in (1, 40, 150):
        wrong = short.predictions[:n] != truth[:n]
        assert short.truth_error[n - 1] == wrong.mean()
        columns = np.array([names.index(label) for label in short.predictions[:n]])
        assert short.ambiguous_error[n - 1] == (~candidates[np.arange(n), columns]).mean()
    assert 0 < short.ambiguous_error[-1] < short.truth_error[-1] < 0.4


def test_other_estimators_are_validated_on_labels(data):
    X, _, y = data
    found = progressive_validation(SGDClassifier(random_state=0), X, y, y)
    model, expected = SGDClassifier(random_state=0), [0]
    model.partial_fit(X[:1], y[:1], classes=np.arange(4))
    for row in range(1, 150):
        expected.append(model.predict(X[[row]])[0])
        model.partial_fit(X[[row]], y[[row]])
    assert found.predictions.tolist() == expected
    np.testing.assert_array_equal(found.truth_error, found.ambiguous_error)
    assert progressive_validation(SGDClassifier(random_state=0), X, y).truth_error is None


def test_validation_can_continue_with_the_estimator_itself(data):
    X, candidates, _ = data
    model = PLPerceptron().partial_fit(X[:100], candidates[:100])
    other = PLPerceptron().partial_fit(X[:100], candidates[:100])
    found = progressive_validation(model, X[100:], candidates[100:], copy=False)
    np.testing.assert_array_equal(found.predictions, other.predict_then_learn(X[100:], candidates[100:]))
    assert model.rounds_ == 150
    assert found.ambiguous_error[-1] < 0.3
    again = progressive_validation(model, X[:3], [3, 3, 3], copy=False)  # all its classes, not only these three
    assert again.predictions.shape == (3,)
    fresh = PLPerceptron()
    assert progressive_validation(fresh, X, candidates, copy=False).predictions[0] == 0
    assert fresh.rounds_ == 150


def test_mistakes_match_the_ambiguous_error(data):
    X, _, y = data
    found = progressive_validation(model := PLPerceptron("max"), X, y, copy=False)
    # The two can differ only until every class was a candidate once: predictions use known classes.
    assert abs(model.mistakes_ - 150 * found.ambiguous_error[-1]) <= 4


def test_invalid_arguments_are_refused(data):
    X, candidates, y = data
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        progressive_validation(PLPerceptron(), X, candidates[:9])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        progressive_validation(PLPerceptron(), X, candidates, y[:9])
    with pytest.raises(CandidateError, match="3 classes"):
        progressive_validation(PLPerceptron(), X, candidates, classes=[1, 2, 3])


class TestStream:
    def test_stream_equals_its_rows(self, data):
        X, candidates, _ = data
        told = []
        chunks = ((X[begin : begin + 40], candidates[begin : begin + 40]) for begin in range(0, 150, 40))
        model = PLPegasos(alpha=0.01)  # "auto" uses the first chunk, which is another one here
        assert learn_stream(model, chunks, progress=lambda *numbers: told.append(numbers)) == 150
        assert told == [(40, 1), (80, 2), (120, 3), (150, 4)]
        np.testing.assert_array_equal(model.coef_, PLPegasos(alpha=0.01).partial_fit(X, candidates).coef_)

    def test_streams_accept_lists_and_labels(self, data):
        X, _, y = data
        model = PLPegasos(alpha=0.01)
        assert learn_stream(model, [(X[:9].tolist(), y[:9]), (X[9:], y[9:])], classes=range(4)) == 150
        np.testing.assert_array_equal(model.coef_, PLPegasos(alpha=0.01).partial_fit(X, y, classes=range(4)).coef_)
        assert learn_stream(model, []) == 0

    def test_error_names_the_chunk(self, data):
        X, candidates, _ = data
        model = PLPerceptron()
        bad = np.where(np.arange(6) == 2, np.nan, X[50:100])
        with pytest.raises(ValueError, match="contains NaN") as caught:
            learn_stream(model, [(X[:50], candidates[:50]), (bad, candidates[50:100])])
        assert caught.value.__notes__ == ["In chunk 2 of the stream, which begins with its row 50 (counted from 0)."]
        assert model.rounds_ == 50

        def stop(rows, chunks):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            learn_stream(model, [(X[:50], candidates[:50])] * 9, progress=stop)
        assert model.rounds_ == 100

    @pytest.mark.parametrize("average", [False, True])
    def test_memory_does_not_grow_with_stream(self, average):
        """One chunk of a megabyte at a time; the stream has two hundred."""
        rng = np.random.default_rng(0)
        candidates = np.eye(8, dtype=bool)[rng.integers(8, size=4096)]

        def chunks(count):
            for _ in range(count):
                yield rng.random((4096, 32)), candidates

        model = PLPerceptron("max", average=average)
        learn_stream(model, chunks(2))
        tracemalloc.start()
        assert learn_stream(model, chunks(200)) == 200 * 4096
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2.5e6


def test_only_one_chunk_is_held_at_a_time():
    made = []

    def chunks():
        for _ in range(4):
            assert not any(one() is not None for one in made), "the chunk before is still held"
            pair = np.random.default_rng(0).random((5, 2)), np.eye(5, 3, dtype=bool) | (np.arange(3) == 0)
            made.append(weakref.ref(pair[0]))
            yield pair
            del pair

    assert learn_stream(PLPerceptron(), chunks()) == 20
