"""Scores of two classes as two columns."""

from __future__ import annotations

import numpy as np

from plcore.kernels import softmax_rows
from plcore.labels.weights import score_columns


def test_several_classes_have_their_columns_already():
    scores = np.array([[1.0, -np.inf, 2.0]])
    assert score_columns(scores) is scores


def test_the_difference_of_two_classes_is_shared():
    columns = score_columns(np.array([3.0, -1.0, 0.0]))
    np.testing.assert_array_equal(columns, [[-1.5, 1.5], [0.5, -0.5], [0, 0]])


def test_a_class_that_cannot_be_has_no_share():
    shares = softmax_rows(score_columns(np.array([np.inf, -np.inf])), np.ones((2, 2), dtype=bool))
    np.testing.assert_array_equal(shares, [[0, 1], [1, 0]])
