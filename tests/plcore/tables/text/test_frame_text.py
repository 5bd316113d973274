"""Numbers as text: the shortest that reads back as the same, and of whole ones every digit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables import read_table
from plcore.tables.readers.reading import column_text
from plcore.tables.text.frames import frame_as_text, numbers_as_text


@pytest.mark.parametrize(
    "number", [12_345_678_901, 4_006_381_333_931, 20_240_101_123_456, -(10**10), 10**16 - 2]
)
def test_long_ids_keep_their_digits_where_a_program_made_them_floats(number: int) -> None:
    """As workbooks do with all numbers, and pandas as soon as another cell of the column is empty."""
    text = [str(number), ""]
    assert numbers_as_text(np.array([number, np.nan])).to_pylist() == text
    assert list(column_text([float(number), None]).to_pylist()) == text  # type: ignore[union-attr]
    assert frame_as_text(pd.DataFrame({"id": [number, None]}))["id"].tolist() == text
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"id": pa.array([float(number), None]), "x": ["a", "b"]}), sink)
    assert read_table(sink.getvalue().to_pybytes()).cells["id"].tolist() == text


@given(st.lists(st.floats() | st.floats(1e9, 1e17) | st.integers(-(10**17), 10**17).map(float)))
def test_every_number_reads_back_as_itself(numbers: list[float]) -> None:
    texts = numbers_as_text(np.array(numbers, dtype=np.float64)).to_pylist()
    again = [float(text) if text else np.nan for text in texts]
    np.testing.assert_array_equal(again, numbers)
