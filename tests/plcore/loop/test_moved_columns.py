"""What is said of classes, moved to others: rows, matrices and sets alike; and names in messages."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.arrays.candidate_sets import CandidateSets
from plcore.loop.classes import class_names, moved

PLACES = np.array([2, -1, 0, 2, 1])


@pytest.mark.parametrize("dtype", [bool, float, np.int64])
def test_classes_that_go_to_one_place_are_summed(dtype):
    rng = np.random.default_rng(0)
    values = (rng.random((20, 5)) < 0.4).astype(dtype)
    of_others = np.zeros((5, 4))
    of_others[np.arange(5)[PLACES >= 0], PLACES[PLACES >= 0]] = 1
    expected = (values.astype(float) @ of_others).astype(dtype)
    found = moved(values, PLACES, 4)
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, expected)
    for row, whole in zip(values, expected, strict=True):
        np.testing.assert_array_equal(moved(row, PLACES, 4), whole)
    if dtype is bool:
        sets = moved(CandidateSets.of_mask(values), PLACES, 4)
        assert isinstance(sets, CandidateSets)
        np.testing.assert_array_equal(sets, expected)


def test_a_message_names_some_classes_and_counts_the_others():
    assert class_names(("a", "b")) == "a, b"
    many = [f"c{number}" for number in range(100_000)]
    assert class_names(many) == ", ".join(many[:20]) + " and 99,980 more"
