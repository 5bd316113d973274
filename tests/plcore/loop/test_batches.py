"""Rows added later are drawn separately: earlier draws stay the same, whatever the shares."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop import ClassChange
from plcore.loop.base import row_batches
from plcore.loop.label_vectors import LabelVectorPool, LabelVectorSettings
from plcore.loop.one_label import OneLabelPool
from tests.plcore.loop.fake_vectors import FakeVectors

ROLES = Roles(candidates="birds", id="id", numbers=("n",), truth="truth")
SHARES = st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 0.9, 0.99])
SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=4)


def additions(edges: list[int]) -> list[ClassChange]:
    """The changes that added the rows. edges : number of rows after each addition"""
    return [ClassChange(seq, "rows", (str(n),)) for seq, n in enumerate(edges[:-1], start=1)]


def known_rows(n: int, every: int) -> LabelTable:
    frame = pd.DataFrame({"id": range(n), "birds": "wren|robin", "n": range(n), "truth": ""}).astype("str")
    frame.loc[::every, "truth"] = "wren"
    return LabelTable.from_cells(frame, ROLES)


@settings(max_examples=settings().max_examples * 2 // 5)
@given(SIZES, SHARES, SHARES, st.integers(1, 3), st.sampled_from(["given", "hidden"]))
@example([5, 5], 0.9, 0.9, 1, "hidden")  # more than all but one of the first rows would be held out
@example([1, 2], 0.5, 0.5, 2, "hidden")
def test_draws_of_candidate_tables_stay_after_additions(
    sizes: list[int], test: float, control: float, every: int, role: str
) -> None:
    edges = list(accumulate(sizes))
    settings = LearnerSettings(test_share=test, control_share=control, truth_role=role)
    pools = [OneLabelPool(known_rows(n, every), settings, additions(edges[: k + 1])) for k, n in enumerate(edges)]
    for before, after in pairwise(pools):
        n = len(before.test_rows)
        np.testing.assert_array_equal(after.test_rows[:n], before.test_rows)
        np.testing.assert_array_equal(after.control_rows[:n], before.control_rows)
        order = before.control_left()
        np.testing.assert_array_equal(after.control_left()[: len(order)], order)
        fresh = after.truth[n:] >= 0
        assert after.test_rows[n:].sum() == int(test * fresh.sum() + 0.5)
        free = ~after.test_rows[n:] & ~after.exact[n:]
        assert after.control_rows[n:].sum() == int(control * free.sum() + 0.5)
    assert not (pools[0].test_rows | pools[0].control_rows).all()


@given(SIZES, SHARES, SHARES, st.sampled_from(["cell", "instance"]), st.integers(0, 3))
@example([5, 5], 0.9, 0.9, "cell", 0)
def test_draws_of_label_vectors_stay_after_additions(
    sizes: list[int], test: float, control: float, question: str, seed: int
) -> None:
    edges = list(accumulate(sizes))
    cells = np.random.default_rng(seed).integers(-1, 2, size=(edges[-1], 3))
    cells[::2] = np.abs(cells[::2])
    settings = LabelVectorSettings(test_share=test, control_share=control, question=question)
    X = np.zeros((edges[-1], 1))
    pools = [
        LabelVectorPool(FakeVectors(X[:n], cells[:n]), settings, additions(edges[: k + 1])) for k, n in enumerate(edges)
    ]
    for before, after in pairwise(pools):
        n = len(before.test_rows)
        np.testing.assert_array_equal(after.test_rows[:n], before.test_rows)
        np.testing.assert_array_equal(after.control_cells[:n], before.control_cells)
        fresh = (cells[n : len(after.test_rows)] >= 0).all(axis=1)
        assert after.test_rows[n:].sum() == int(test * fresh.sum() + 0.5)
    assert not pools[0].test_rows.all()


@pytest.mark.parametrize("starts", [[0], [5], [3, 2], [0, 3], [9]])
def test_batch_beyond_the_table_is_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError, match="but the table has 4"):
        row_batches(4, starts)
    assert row_batches(4, [1, 3]) == (range(1), range(1, 3), range(3, 4))


def test_empty_addition_is_not_a_batch() -> None:
    assert row_batches(4, [4]) == (range(4),)
    assert row_batches(4, [1, 3, 3, 3]) == row_batches(4, [1, 3])
    assert row_batches(4, [1, 3, 4, 4]) == row_batches(4, [1, 3])
