"""Rows to confirm together: the plain definition, known answers, and what is refused."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from plcore.query import KNOWN, RIGHT, SURE, nearest_rows, sure_from, sure_rows
from plcore.query.alike import AT_LEAST, DOUBT


def plainly(shares: np.ndarray, at_least: float, fewest: int) -> list[int]:
    """The same in words: every label's sure rows, then that of the surest row of those labels that have enough."""
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
def test_the_rows_are_those_of_the_definition(
    seed: int, n: int, m: int, at_least: float, fewest: int
) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(m, 0.2), size=n).round(1)  # rounded: ties are common
    found = sure_rows(shares, at_least=at_least, fewest=fewest)
    assert found.tolist() == plainly(shares, at_least, fewest)


def test_a_label_with_too_few_rows_is_passed_over() -> None:
    shares = np.array([[0.0, 1.0], [0.95, 0.05], [0.92, 0.08], [0.97, 0.03], [0.89, 0.11]])
    assert sure_rows(shares, at_least=0.9).tolist() == [3, 1, 2]
    assert sure_rows(shares, at_least=0.9, fewest=1).tolist() == [0]
    assert sure_rows(shares, at_least=0.9, fewest=4).tolist() == []


@pytest.mark.parametrize("at_least", [0.5, 0.0, 1.1])
def test_a_share_that_two_labels_could_have_is_refused(at_least: float) -> None:
    with pytest.raises(ValueError, match="must be above"):
        sure_rows(np.ones((3, 1)), at_least=at_least)


@given(st.integers(0, 10_000), st.integers(0, 120), st.floats(0, 1))
def test_how_sure_is_sure_enough_is_told_by_known_rows(seed: int, k: int, ability: float) -> None:
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
def test_what_is_sure_is_seldom_right_less_often_than_it_must_be(k: int, told_by_shares: bool) -> None:
    """Where shares say nothing of how right a model is, and where they say it exactly."""
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


def test_as_few_as_can_tell_do_where_all_are_right() -> None:
    assert sure_from(np.full(KNOWN, 0.8), np.ones(KNOWN, dtype=bool)) == 0.8
    assert AT_LEAST**KNOWN <= DOUBT < AT_LEAST ** (KNOWN - 1)


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(0, 25))
def test_the_nearest_are_those_by_distance_then_place(seed: int, n: int, most: int) -> None:
    X = np.random.default_rng(seed).integers(0, 3, size=(n, 2)).astype(float)  # equal distances are common
    far = [round(float(np.sqrt(((row - X[0]) ** 2).sum())), 9) for row in X]
    wanted = sorted(range(n), key=lambda place: (far[place], place))[:most]
    assert nearest_rows(X, X[:1], most).tolist() == wanted
    assert nearest_rows(sparse.csr_matrix(X), sparse.csr_matrix(X[:1]), most).tolist() == wanted
