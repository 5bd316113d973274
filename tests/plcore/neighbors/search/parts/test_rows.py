"""Rows in parts: scaled as in one piece, drawn by a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from plcore.blocks.parts import map_part
from plcore.blocks.processes import Inline
from plcore.neighbors.search.parts.exact import Sample, draw, numbered, scale_rows, take_rows
from tests.plcore.neighbors.search.parts.staged import stage, surface, together


def test_rows_in_parts_are_scaled_as_in_one_piece(tmp_path: Path) -> None:
    X = surface(250) * 7 - 3
    scaled = scale_rows(Inline(), stage(tmp_path, X, 60))
    assert [len(map_part(tmp_path / name)) for name in scaled.names] == [60, 60, 60, 60, 10]
    expected = MinMaxScaler().fit_transform(X.astype(np.float32).astype(np.float64)).astype(np.float32)
    np.testing.assert_array_equal(together(tmp_path, scaled.names), expected)
    assert list(scaled.starts()) == [0, 60, 120, 180, 240]


def test_a_sample_is_drawn_by_its_seed_from_all_parts(tmp_path: Path) -> None:
    X = surface(250)
    rows = stage(tmp_path, X, 60)
    samples = []
    for seed in (0, 0, 1):
        job = Sample(tmp_path, rows.listed(), 60, 250, 200, seed)
        draw(job)
        samples.append(map_part(job.path))
    one, again, other = samples
    assert len(np.unique(one["row"])) == 200
    assert (np.diff(one["row"]) > 0).all()
    np.testing.assert_array_equal(one["x"], X[one["row"]])
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one["row"], other["row"])
    assert one["searched"].all()


def test_rows_of_parts_have_their_numbers(tmp_path: Path) -> None:
    X = surface(100)
    numbers, rows = numbered(X[40:60], 40)
    assert numbers.tolist() == list(range(40, 60))
    assert rows.dtype == np.float64
    listed = take_rows(X[60:], 60, np.array([60, 63, 99]))
    numbers, rows = numbered(listed, 0)
    assert numbers.tolist() == [60, 63, 99]
    np.testing.assert_array_equal(rows, X[numbers])
