"""Evidence in a row for a label: plain sums, and rows do not count for themselves."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from plcore.query import KNOWN, RIGHT, SURE, cosine_similarities, nearest_rows, speaks_for, sure_from, sure_rows
from plcore.query.alike import AT_LEAST, DOUBT
from plcore.query.explanation import distinguishing_scores, label_moments, most_telling


def plain(X: np.ndarray, shares: np.ndarray, x: np.ndarray, own: int | None) -> np.ndarray:
    """By loops over labels and columns."""
    k = shares.shape[1]
    means = np.zeros((X.shape[1], k))
    for label in range(k):
        rows = [row for row in range(len(X)) if row != own]
        weight = sum(shares[row, label] for row in rows)
        for column in range(X.shape[1]):
            total = sum(shares[row, label] * X[row, column] for row in rows)
            means[column, label] = total / weight if weight else 0.0
    found = np.zeros_like(means)
    for label in range(k):
        others = [means[:, other] for other in range(k) if other != label]
        found[:, label] = x * (means[:, label] - np.mean(others, axis=0))
    return found


@given(seed=st.integers(0, 10_000), own=st.none() | st.integers(0, 11))
def test_evidence_matches_its_formula(seed: int, own: int | None) -> None:
    rng = np.random.default_rng(seed)
    X = rng.random((12, 6)) * (rng.random((12, 6)) < 0.5)
    shares = rng.dirichlet(np.ones(3), size=12) * (rng.random((12, 1)) < 0.9)
    x = X[own or 0]
    columns = np.flatnonzero(x)
    found = speaks_for(sparse.csc_matrix(X), shares, columns, x[columns], own)
    np.testing.assert_allclose(found, plain(X, shares, x, own)[columns], atol=1e-12)


def test_evidence_adds_up_to_the_score_difference() -> None:
    X = np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 2]])
    shares = np.array([[1.0, 0], [1, 0], [0, 1]])
    x = np.array([1.0, 1, 1])
    found = speaks_for(sparse.csc_matrix(X), shares, np.arange(3), x)
    scores = x @ np.array([[1, 0], [0.5, 0], [0, 2]])
    np.testing.assert_allclose(found.sum(axis=0), [scores[0] - scores[1], scores[1] - scores[0]])
    np.testing.assert_allclose(found, [[1, -1], [0.5, -0.5], [-2, 2]])


def test_row_does_not_count_for_itself_and_inputs_are_unchanged() -> None:
    X, shares = sparse.csc_matrix(np.array([[1.0], [0.0]])), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = speaks_for(X, shares, np.array([0]), np.array([1.0]), own=0)
    np.testing.assert_array_equal(found, [[0, 0]])
    np.testing.assert_array_equal(shares, np.eye(2))


@pytest.mark.parametrize("shape", [(3, 2), (2, 1), (2,)])
def test_wrong_shapes_of_evidence_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two labels or more"):
        speaks_for(sparse.csc_matrix((2, 4)), np.zeros(shape), np.array([0]), np.array([1.0]))


# Features that distinguish two labels: known answers, missing values, and the plain formula.


def exact(labels: list[int], m: int) -> np.ndarray:
    return np.eye(m)[labels]


def test_feature_that_differs_is_found() -> None:
    X = np.array([[0.0, 5.0, 1.0], [0.2, 5.1, 1.0], [0.1, 9.0, 1.0], [0.0, 9.2, 1.0]])
    moments = label_moments(X, exact([0, 0, 1, 1], 2))
    assert most_telling(moments, 0, 1, 3).tolist() == [1, 0], "a constant feature tells nothing"
    assert distinguishing_scores(moments, 0, 1)[2] == 0


def test_distinguishing_feature_depends_on_the_two_labels() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.1], [9.0, 0.0], [9.1, 0.1], [0.0, 9.0], [0.1, 9.1]])
    moments = label_moments(X, exact([0, 0, 1, 1, 2, 2], 3))
    assert most_telling(moments, 0, 1, 1).tolist() == [0]
    assert most_telling(moments, 0, 2, 1).tolist() == [1]


def test_perfectly_separating_feature_comes_first() -> None:
    X = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 2.0], [6.0, 2.0]])
    scores = distinguishing_scores(label_moments(X, exact([0, 0, 1, 1], 2)), 0, 1)
    assert np.isinf(scores[1])
    assert np.isfinite(scores[0])


def test_label_without_rows_gives_no_features() -> None:
    moments = label_moments(np.array([[1.0, 2.0], [3.0, 5.0]]), exact([0, 1], 3))
    assert len(most_telling(moments, 0, 2, 2)) == 0


def test_large_offset_does_not_affect_the_spread() -> None:
    X = np.full((6, 1), 1e9) + np.array([[0.0], [0.5], [1.0], [4.0], [4.5], [5.0]])
    plain = np.abs(X[:3].mean() - X[3:].mean()) / np.sqrt((X[:3].var() + X[3:].var()) / 2)
    assert distinguishing_scores(label_moments(X, exact([0] * 3 + [1] * 3, 2)), 0, 1)[0] == pytest.approx(plain)


def test_wrong_shapes_of_moments_are_refused() -> None:
    with pytest.raises(ValueError, match="same n"):
        label_moments(np.zeros((3, 2)), np.zeros((4, 2)))


@given(seed=st.integers(0, 10_000), share_missing=st.sampled_from([0.0, 0.2]), scale=st.floats(1e-3, 1e3))
def test_scores_match_the_formula_at_any_scale(seed: int, share_missing: float, scale: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4))
    X[rng.random(X.shape) < share_missing] = np.nan
    weights = rng.dirichlet(np.ones(3), size=30)
    scores = distinguishing_scores(label_moments(X * scale + 3 * scale, weights), 0, 1)
    for column in range(4):
        known = ~np.isnan(X[:, column])
        means, variances = [], []
        for label in (0, 1):
            share = weights[known, label] / weights[known, label].sum()
            means.append((share * X[known, column]).sum())
            variances.append((share * (X[known, column] - means[-1]) ** 2).sum())
        plain = abs(means[0] - means[1]) / np.sqrt(sum(variances) / 2)
        assert scores[column] == pytest.approx(plain, rel=1e-6, abs=1e-9)


# Rows to confirm together: the plain definition, known answers, and refusals.


def plainly(shares: np.ndarray, at_least: float, fewest: int) -> list[int]:
    """A plain version: the sure rows of every label, then the label with the surest row among those with enough."""
    groups: dict[int, list[int]] = {}
    for row in range(len(shares)):
        label = max(range(shares.shape[1]), key=lambda k: (shares[row, k], -k))
        if shares[row, label] >= at_least:
            groups.setdefault(label, []).append(row)
    enough = [rows for rows in groups.values() if len(rows) >= fewest]
    if not enough:
        return []
    chosen = min(enough, key=lambda rows: min((-shares[row].max(), row) for row in rows))
    return sorted(chosen, key=lambda row: (-shares[row].max(), row))


@given(
    st.integers(0, 10_000),
    st.integers(0, 30),
    st.integers(1, 4),
    st.sampled_from([0.6, 0.75, 0.9, 1.0]),
    st.integers(1, 4),
)
def test_confirmed_rows_match_the_definition(seed: int, n: int, m: int, at_least: float, fewest: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(m, 0.2), size=n).round(1)  # rounded: ties are common
    found = sure_rows(shares, at_least=at_least, fewest=fewest)
    assert found.tolist() == plainly(shares, at_least, fewest)


def test_label_with_too_few_rows_is_skipped() -> None:
    shares = np.array([[0.0, 1.0], [0.95, 0.05], [0.92, 0.08], [0.97, 0.03], [0.89, 0.11]])
    assert sure_rows(shares, at_least=0.9).tolist() == [3, 1, 2]
    assert sure_rows(shares, at_least=0.9, fewest=1).tolist() == [0]
    assert sure_rows(shares, at_least=0.9, fewest=4).tolist() == []


@pytest.mark.parametrize("at_least", [0.5, 0.0, 1.1])
def test_threshold_that_two_labels_could_reach_is_refused(at_least: float) -> None:
    with pytest.raises(ValueError, match="must be above"):
        sure_rows(np.ones((3, 1)), at_least=at_least)


@given(st.integers(0, 10_000), st.integers(0, 120), st.floats(0, 1))
def test_known_rows_set_the_threshold(seed: int, k: int, ability: float) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.3, 1.0, size=k).round(2)  # rounded: ties are common
    right = rng.random(k) < ability * shares
    found = sure_from(shares, right)
    if k < KNOWN:
        assert found == SURE
        return
    least_yet = None
    for least in sorted({share for share in shares.tolist() if share > 0.5}, reverse=True):
        those = right[shares >= least]
        n, good = len(those), int(those.sum())
        if n < KNOWN:
            continue
        chance = sum(comb(n, k) * AT_LEAST**k * (1 - AT_LEAST) ** (n - k) for k in range(good, n + 1))
        if good < RIGHT * n or chance > DOUBT:
            break
        least_yet = least
    assert found == least_yet


@pytest.mark.parametrize("k", [40, 80, 200])
@pytest.mark.parametrize("told_by_shares", [False, True])
def test_sure_rows_are_rarely_less_accurate_than_required(k: int, told_by_shares: bool) -> None:
    """Both for uninformative shares and for perfectly calibrated ones."""
    rng = np.random.default_rng(k)

    def really(shares: np.ndarray) -> np.ndarray:
        return shares if told_by_shares else np.full(len(shares), 0.88)

    everywhere = rng.uniform(0.6, 1.0, size=20_000)
    runs, too_few = 500, 0
    for _ in range(runs):
        shares = rng.uniform(0.6, 1.0, size=k)
        least = sure_from(shares, rng.random(k) < really(shares))
        too_few += least is not None and really(everywhere[everywhere >= least]).mean() < AT_LEAST
    assert too_few <= DOUBT * runs


def test_fewest_possible_checks_suffice_if_all_are_correct() -> None:
    assert sure_from(np.full(KNOWN, 0.8), np.ones(KNOWN, dtype=bool)) == 0.8
    assert AT_LEAST**KNOWN <= DOUBT < AT_LEAST ** (KNOWN - 1)


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(0, 25))
def test_nearest_rows_are_ordered_by_distance_then_position(seed: int, n: int, most: int) -> None:
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)  # equal distances are common
    far = [round(float(np.sqrt(((row - X[0]) ** 2).sum())), 9) for row in X]
    wanted = sorted(range(n), key=lambda place: (far[place], place))[:most]
    assert nearest_rows(X, X[:1], most).tolist() == wanted
    assert nearest_rows(sparse.csr_matrix(X), sparse.csr_matrix(X[:1]), most).tolist() == wanted


def test_cosine_similarities_match_a_row_by_row_computation() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_200, 3)).astype(np.float32)
    X[5] = 0
    X[8_195] = np.nan
    wanted = rng.normal(size=3)
    found = cosine_similarities(X, wanted)
    assert np.flatnonzero(np.isnan(found)).tolist() == [5, 8_195]
    for row in (0, 4, 6, 8_191, 8_192, 8_199):
        length = np.linalg.norm(X[row]) * np.linalg.norm(wanted)
        assert found[row] == pytest.approx(float(X[row] @ wanted) / length, abs=1e-6)
    known = np.delete(X, 8_195, axis=0)
    np.testing.assert_array_equal(
        cosine_similarities(sparse.csr_matrix(known), wanted), cosine_similarities(known, wanted)
    )
    assert cosine_similarities(X[:1], 7 * X[0])[0] == pytest.approx(1.0)
    assert np.isnan(cosine_similarities(X, np.zeros(3))).all()
    with pytest.raises(ValueError, match=r"must have shape \(3,\)"):
        cosine_similarities(X, np.ones(4))
