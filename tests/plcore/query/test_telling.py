"""Which features tell two labels apart: known answers, missing values, and the plain formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.query.explanation import label_moments, most_telling, telling_scores


def exact(labels: list[int], m: int) -> np.ndarray:
    return np.eye(m)[labels]


def test_the_feature_that_differs_is_found() -> None:
    X = np.array([[0.0, 5.0, 1.0], [0.2, 5.1, 1.0], [0.1, 9.0, 1.0], [0.0, 9.2, 1.0]])
    moments = label_moments(X, exact([0, 0, 1, 1], 2))
    assert most_telling(moments, 0, 1, 3).tolist() == [1, 0], "a constant feature tells nothing"
    assert telling_scores(moments, 0, 1)[2] == 0


def test_it_depends_on_the_two_labels() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.1], [9.0, 0.0], [9.1, 0.1], [0.0, 9.0], [0.1, 9.1]])
    moments = label_moments(X, exact([0, 0, 1, 1, 2, 2], 3))
    assert most_telling(moments, 0, 1, 1).tolist() == [0]
    assert most_telling(moments, 0, 2, 1).tolist() == [1]


def test_a_feature_that_alone_decides_comes_first() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 2.0], [6.0, 2.0]])
    scores = telling_scores(label_moments(X, exact([0, 0, 1, 1], 2)), 0, 1)
    assert np.isinf(scores[1])
    assert np.isfinite(scores[0])


def test_a_label_nobody_can_have_tells_nothing() -> None:
    moments = label_moments(np.array([[1.0, 2.0], [3.0, 5.0]]), exact([0, 1], 3))
    assert len(most_telling(moments, 0, 2, 2)) == 0


def test_a_large_offset_is_no_spread() -> None:
    X = np.full((6, 1), 1e9) + np.array([[0.0], [0.5], [1.0], [4.0], [4.5], [5.0]])
    plain = np.abs(X[:3].mean() - X[3:].mean()) / np.sqrt((X[:3].var() + X[3:].var()) / 2)
    assert telling_scores(label_moments(X, exact([0] * 3 + [1] * 3, 2)), 0, 1)[0] == pytest.approx(plain)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="same n"):
        label_moments(np.zeros((3, 2)), np.zeros((4, 2)))


@given(seed=st.integers(0, 10_000), share_missing=st.sampled_from([0.0, 0.2]), scale=st.floats(1e-3, 1e3))
def test_it_is_the_formula_whatever_the_scale(seed: int, share_missing: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    X[rng.random(X.shape) < share_missing] = np.nan
    weights = rng.dirichlet(np.ones(3), size=30)
    scores = telling_scores(label_moments(X * scale + 3 * scale, weights), 0, 1)
    for column in range(4):
        known = ~np.isnan(X[:, column])
        means, variances = [], []
        for label in (0, 1):
            share = weights[known, label] / weights[known, label].sum()
            means.append((share * X[known, column]).sum())
            variances.append((share * (X[known, column] - means[-1]) ** 2).sum())
        plain = abs(means[0] - means[1]) / np.sqrt(sum(variances) / 2)
        assert scores[column] == pytest.approx(plain, rel=1e-6, abs=1e-9)
