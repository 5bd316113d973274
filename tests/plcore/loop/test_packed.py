"""What checkpoints are made of: arrays, and texts among them, under names."""

from __future__ import annotations

import numpy as np
import pytest

from plcore.loop.packed import joined, packed, part, unpacked


def test_texts_and_lists_come_back_from_bytes() -> None:
    said = {"ann": [[3, None], [4, "größer"]], "": []}
    array = packed(said)
    assert (array.dtype, array.ndim) == (np.uint8, 1)
    assert unpacked(array) == said
    with pytest.raises(ValueError, match="char 0"):
        unpacked(np.frombuffer(b"{", dtype=np.uint8)[1:])


def test_parts_are_named_after_what_they_are_of() -> None:
    parts = {"a": {"x": np.zeros(1)}, "a.b": {"x": np.ones(1)}}
    arrays = joined(parts)
    assert sorted(arrays) == ["a.b.x", "a.x"]
    assert list(part(arrays, "a.b")) == ["x"]
