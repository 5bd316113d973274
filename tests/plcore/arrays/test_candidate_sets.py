"""Candidate sets behave like the bool matrix that they replace."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.arrays import candidate_sets
from plcore.arrays.candidate_sets import (
    CandidateSets,
    is_wide,
    lowest_of,
    pairs_of,
    place_candidates,
    put_sets,
    read_only,
    rows_that_differ,
    rows_with_any,
    set_exact,
)


def matrix(rng, n, m):
    """Rows of a few candidates, of half of the classes, of all, and of none: lists and bits."""
    return rng.random((n, m)) < rng.choice([0.0, 1.5 / m, 0.5, 1.0], size=(n, 1))


@given(st.integers(0, 2**32), st.integers(0, 12), st.sampled_from([1, 5, 31, 32, 33, 64, 70, 200]))
def test_sets_match_the_matrix(seed, n, m):
    rng = np.random.default_rng(seed)
    dense = matrix(rng, n, m)
    sets = CandidateSets.of_mask(dense)
    assert (sets.shape, sets.size, len(sets), sets.ndim) == (dense.shape, dense.size, n, 2)
    np.testing.assert_array_equal(np.asarray(sets), dense)
    np.testing.assert_array_equal(np.asarray(sets, dtype=float), dense.astype(float))
    np.testing.assert_array_equal(pairs_of(sets), np.nonzero(dense))
    for axis in (0, 1):
        np.testing.assert_array_equal(sets.sum(axis=axis), dense.sum(axis=axis))
        np.testing.assert_array_equal(sets.any(axis=axis), dense.any(axis=axis))
    assert sets.any() == dense.any()
    rows, labels = rng.integers(n, size=2 * n) if n else np.zeros(0, int), rng.integers(m, size=2 * n)
    np.testing.assert_array_equal(sets[rows], dense[rows])
    np.testing.assert_array_equal(sets.take(rows, axis=0), dense.take(rows, axis=0))
    np.testing.assert_array_equal(sets[rows, labels], dense[rows, labels])
    np.testing.assert_array_equal(sets[:, m - 1], dense[:, m - 1])
    np.testing.assert_array_equal(sets[n // 2 :], dense[n // 2 :])
    np.testing.assert_array_equal(lowest_of(sets, rows), lowest_of(dense, rows))
    chosen = rng.random(n) < 0.5
    np.testing.assert_array_equal(sets[chosen], dense[chosen])
    for place, row in enumerate(sets):
        np.testing.assert_array_equal(row, dense[place])
    columns = rng.integers(-1, 4, size=m)
    expected = np.zeros((n, 4), dtype=bool)
    for label, column in enumerate(columns):
        if column >= 0:
            expected[:, column] |= dense[:, label]
    np.testing.assert_array_equal(sets.mapped(columns, 4), expected)


@given(st.integers(0, 2**32), st.integers(1, 6), st.sampled_from([3, 40, 70, 200]))
def test_writing_to_one_copy_leaves_the_others_unchanged(seed, n, m):
    """Sets grow, shrink and change their form; gaps in the storage are compacted now and then."""
    rng = np.random.default_rng(seed)
    sets = [CandidateSets.of_mask(matrix(rng, n, m))]
    dense = [np.asarray(sets[0]).copy()]
    for _ in range(60):
        which = int(rng.integers(len(sets)))
        match int(rng.integers(4)):
            case 0 if len(sets) < 4:
                sets.append(sets[which].copy())
                dense.append(dense[which].copy())
            case 1:
                rows = np.flatnonzero(dense[which].any(axis=1) & (rng.random(n) < 0.5))
                labels = rng.integers(m, size=len(rows))
                set_exact(sets[which], rows, labels)
                set_exact(dense[which], rows, labels)
            case _:
                row = int(rng.integers(n))
                sets[which][row] = dense[which][row] = matrix(rng, 1, m)[0]
        for one, twin in zip(sets, dense, strict=True):
            np.testing.assert_array_equal(one, twin)


def test_memory_grows_with_candidates_up_to_the_size_of_bit_masks():
    rows = np.repeat(np.arange(1000), 5)
    few = CandidateSets.of_pairs(1000, 100_000, rows, np.tile(np.arange(5) * 20_000, 1000))
    assert few.nbytes == 1000 * (5 * 4 + 16)
    every = CandidateSets.of_mask(np.ones((100, 3200), dtype=bool))
    assert every.nbytes == 100 * (3200 // 8 + 16)


def test_sets_that_move_in_storage_do_not_fill_memory():
    sets = CandidateSets.of_mask(np.eye(50, 640, dtype=bool))
    wide, narrow = np.arange(640) < 19, np.arange(640) < 1
    for turn in range(20_000):
        sets[turn % 50] = narrow if turn // 50 % 2 else wide
    assert len(sets.words) < 5 * 50 * 19


def test_repeated_pairs_count_once_in_any_order():
    sets = CandidateSets.of_pairs(2, 70, np.array([1, 0, 1, 1]), np.array([69, 3, 0, 69]))
    np.testing.assert_array_equal(sets.pairs(), [[0, 1, 1], [3, 0, 69]])


def test_read_only_sets_refuse_writes_but_their_copies_accept_them():
    for candidates in (np.ones((2, 3), dtype=bool), CandidateSets.of_mask(np.ones((2, 3), dtype=bool))):
        read_only(candidates)
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            candidates[0] = np.array([True, False, False])
        copy = candidates.copy()
        copy[0] = np.array([True, False, False])
        assert np.asarray(candidates).all()
        assert not np.asarray(copy).all()


def test_matrix_with_too_many_cells_is_refused(monkeypatch):
    sets = CandidateSets.of_mask(np.ones((10, 10), dtype=bool))
    monkeypatch.setattr(candidate_sets, "MOST_CELLS", 99)
    with pytest.raises(ValueError, match=r"10 rows times 10 classes are too many for a matrix; at most 99"):
        np.asarray(sets)
    assert sets[:9].all()
    with pytest.raises(ValueError, match="by a copy only"):
        np.asarray(sets, copy=False)


def test_wide_tables_use_sets_and_others_a_matrix():
    assert not is_wide(10**9, 64)
    assert not is_wide(2**24 // 128, 128)
    assert is_wide(2**24 // 128 + 1, 128)
    assert isinstance(place_candidates(3, 5, (np.array([0, 2]), np.array([1, 4]))), np.ndarray)
    wide = place_candidates(200_000, 100, *((np.array([row]), np.array([label])) for row, label in ((0, 1), (2, 4))))
    assert isinstance(wide, CandidateSets)
    assert wide.sum(axis=1)[:3].tolist() == [1, 0, 1]


def test_sets_are_processed_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    before, after = matrix(rng, 300, 70), matrix(rng, 300, 70)
    after[::2] = before[::2]
    one, other = CandidateSets.of_mask(before), CandidateSets.of_mask(after)
    monkeypatch.setattr(candidate_sets, "FEW_PAIRS", 100)
    assert len(one._blocks()) > 20
    np.testing.assert_array_equal(rows_that_differ(one, other), np.flatnonzero((before != after).any(axis=1)))
    np.testing.assert_array_equal(one.sum(axis=0), before.sum(axis=0))
    np.testing.assert_array_equal(rows_with_any(one, np.array([3, 68])), before[:, [3, 68]].any(axis=1))


@given(st.integers(0, 2**32), st.integers(0, 12), st.sampled_from([1, 5, 33, 70, 200]))
def test_sets_match_the_matrix_in_comparison_and_assignment(seed, n, m):
    rng = np.random.default_rng(seed)
    before, after = matrix(rng, n, m), matrix(rng, n, m)
    kept = rng.random(n) < 0.5
    after[kept] = before[kept]
    changed = np.flatnonzero((before != after).any(axis=1))
    for form in (np.array, CandidateSets.of_mask):
        one, other = form(before), form(after)
        named = rng.random(m) < 0.1
        np.testing.assert_array_equal(rows_with_any(one, named), before[:, named].any(axis=1))
        np.testing.assert_array_equal(rows_that_differ(one, other), changed)
        rows = rng.permutation(n)[: n // 2 + 1]
        put_sets(one, rows, *pairs_of(other.take(rows, axis=0)))
        expected = before.copy()
        expected[rows] = after[rows]
        np.testing.assert_array_equal(np.asarray(one), expected)
