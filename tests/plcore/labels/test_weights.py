"""Prior weights of candidates: scaled inside their sets, and refused where they are no weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from plcore import CandidateError
from plcore.labels.weights import check_candidate_weights, prior_labels, weights_after_answers
from plcore.neighbors import PLKNeighborsClassifier

CLASSES = np.array(["emu", "owl"])


def test_rows_are_scaled_to_one_inside_their_sets():
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


def test_names_of_columns_must_be_the_classes_in_their_order():
    """By position they would be other classes' weights."""
    weights = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=CLASSES)
    np.testing.assert_array_equal(check_candidate_weights(weights, (2, 2), CLASSES), weights)
    for wrong in (weights[["owl", "emu"]], weights.set_axis([0, 1], axis=1)):
        with pytest.raises(
            CandidateError, match="columns of candidate_weights must be the classes, in their order"
        ):
            check_candidate_weights(wrong, (2, 2), CLASSES)


def test_weights_are_read_as_new_numbers_from_any_kind_of_matrix():
    weights = np.array([[1, 0], [3, 4]])
    for form in (weights, weights.tolist(), sparse.csr_matrix(weights), sparse.coo_array(weights)):
        found = check_candidate_weights(form, (2, 2), CLASSES)
        np.testing.assert_array_equal(found, weights)
        assert found.dtype == np.float64
        assert not np.shares_memory(found, weights)
    assert check_candidate_weights(None, (2, 2), CLASSES) is None


def test_a_candidate_that_came_by_an_answer_counts_as_much_as_the_likeliest():
    weights = np.array([[3, 1, 0], [3, 1, 0], [3, 1, 0], [0, 0, 0]], dtype=float)
    now = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 0]], dtype=bool)
    after = weights_after_answers(weights, now)
    np.testing.assert_array_equal(after, [[3, 1, 0], [3, 1, 3], [3, 1, 3], [0, 0, 0]])
    np.testing.assert_allclose(
        prior_labels(now, after), [[0.75, 0.25, 0], [0, 0.25, 0.75], [0, 0, 1], [0.5, 0.5, 0]]
    )


@given(seed=st.integers(0, 10**6))
def test_weights_as_they_came_are_kept_whatever_is_answered(seed):
    """So that what goes by the sets as imported does not move with answers; and no candidate is without weight."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, (6, 4)).astype(float)
    weights[:, 0] += ~weights.any(axis=1)
    now = rng.random((6, 4)) < 0.5
    after = weights_after_answers(weights, now)
    np.testing.assert_array_equal(after[weights > 0], weights[weights > 0])
    assert (after[now] > 0).all()
    assert (after[~now] == weights[~now]).all()
    np.testing.assert_array_equal(
        prior_labels(now[now.any(axis=1)], after[now.any(axis=1)]) > 0, now[now.any(axis=1)]
    )


def test_an_update_goes_by_the_weights_of_the_fit_whatever_became_of_their_array():
    X, weights = np.arange(6.0)[:, None], np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])
    candidates = np.array([[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [0, 1]], dtype=bool)
    given = weights.copy()
    model = PLKNeighborsClassifier(3).fit(X, candidates, sample_weight=given)
    given[:] = [9.0, 1.0, 9.0, 1.0, 9.0, 1.0]
    model.update(2, [True, False])
    candidates[2] = [True, False]
    fresh = PLKNeighborsClassifier(3).fit(X, candidates, sample_weight=weights)
    np.testing.assert_array_equal(model.label_distributions_, fresh.label_distributions_)
