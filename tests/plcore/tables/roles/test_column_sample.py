"""The sample of a column does not depend on its chunks."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.roles import sample as column_sample
from plcore.tables.roles.sample import ColumnSample, sample_columns
from plcore.tables.text.arrow import frame_of

TEXT = pa.large_string()


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(1, 5))
def test_every_nth_cell_is_sampled_across_chunks(sizes: list[int], sample: int) -> None:
    cells = [f"cell {number}" for number in range(sum(sizes))]
    ends = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
    pieces = [cells[start:end] for start, end in pairwise(ends)]
    frame = frame_of([pa.chunked_array(pieces, TEXT)], ["a"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_sample, "_SAMPLE", sample)
        (column,) = sample_columns(frame)
    assert column.cells == tuple(cells[:: max(1, len(cells) // sample)])


@pytest.mark.parametrize(
    ("pieces", "unique"),
    [
        ([["a"], ["b", "c"]], True),
        ([["a", "b"], ["c", "a"]], False),
        ([["a", ""]], False),
        ([["a" * 200, "b"]], True),  # too long to be hashed
        ([["a" * 200], ["a" * 200]], False),
    ],
)
def test_uniqueness_is_checked_on_the_whole_column(pieces: list[list[str]], unique: bool) -> None:
    assert ColumnSample("a", (), pa.chunked_array(pieces, TEXT)).unique is unique


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("1", "2.5", "-3e4"), True),
        (("1", "a"), True),  # the stray word is reported
        (("1", "a", "b"), False),
        (("1", "?", "?", "?"), True),
        (("?", "-"), False),
        ((), False),
    ],
)
def test_column_is_numeric_if_half_of_its_non_empty_cells_are(cells: tuple[str, ...], numbers: bool) -> None:
    assert ColumnSample("a", cells, pa.array(cells, TEXT)).is_numbers is numbers
