"""Reverse lists against a plain count."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plcore.blocks.parts import map_part
from plcore.blocks.processes import Inline
from plcore.neighbors.search.parts import find_parts, reverse_parts, scale_rows
from plcore.neighbors.search.parts.exact import within
from tests.plcore.neighbors.search.parts.staged import by_row, stage, surface


def test_everybody_is_told_whose_neighbour_they_are(tmp_path: Path) -> None:
    rows = scale_rows(Inline(), stage(tmp_path, surface(500), 120))
    found = find_parts(Inline(), rows, 5, search="exact")
    lists = reverse_parts(Inline(), tmp_path, found.names, 500, 200)
    assert len(lists) == 3
    mine = by_row(tmp_path, found.names)
    expected = sorted((neighbor, row) for row in range(500) for neighbor in mine["neighbors"][row].tolist())
    told = np.concatenate([map_part(tmp_path / name) for name in lists], axis=1)
    assert list(zip(*told.tolist(), strict=True)) == expected
    second = map_part(tmp_path / lists[1])[0]
    assert second.min() >= 200
    assert second.max() < 400


def test_a_range_of_keys_is_cut_out() -> None:
    keyed = np.array([[1, 1, 3, 4, 4, 9], [7, 8, 9, 10, 11, 12]], dtype=np.int32)
    assert within(keyed, 1, 4).tolist() == [[1, 1, 3], [7, 8, 9]]
    assert within(keyed, 4, 5).tolist() == [[4, 4], [10, 11]]
    assert within(keyed, 10, 20).shape == (2, 0)
