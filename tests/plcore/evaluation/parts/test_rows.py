"""Rows as part files: read as they were written, under the name of their content."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from plcore.blocks import BlockJob
from plcore.evaluation.comparison import keep_array, keep_features, kept_features


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.bool_])
def test_an_array_is_read_as_it_was_written(tmp_path: Path, order: str, dtype: type) -> None:
    array = np.asarray(np.random.default_rng(0).normal(size=(7, 3)) > 0, dtype=dtype, order=order)  # type: ignore[call-overload]
    found = BlockJob(tmp_path).read(keep_array(tmp_path, array))
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.flags.f_contiguous == array.flags.f_contiguous, "sums go the way that rows lie"


def test_one_content_has_one_name_and_is_written_once(tmp_path: Path) -> None:
    array = np.arange(12.0).reshape(4, 3)
    name = keep_array(tmp_path, array)
    written = (tmp_path / name).stat().st_mtime_ns
    assert keep_array(tmp_path, np.ascontiguousarray(array[::-1])[::-1]) == name
    assert (tmp_path / name).stat().st_mtime_ns == written
    others = [array + 1, array.astype(np.float32), array.reshape(3, 4), np.asfortranarray(array), array[:2]]
    assert len({name, *(keep_array(tmp_path, other) for other in others)}) == 6


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_features_keep_their_form(tmp_path: Path, form: object) -> None:
    X = form(np.random.default_rng(0).poisson(0.4, size=(9, 5)).astype(float))  # type: ignore[operator]
    found = kept_features(BlockJob(tmp_path), keep_features(tmp_path, X))
    assert type(found) is type(X)
    assert found.shape == X.shape
    assert abs(found - X).sum() == 0
    assert abs(found[np.array([3, 1])] - X[np.array([3, 1])]).sum() == 0


def test_other_sparse_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"X must be dense or CSR .* Got coo_array\."):
        keep_features(tmp_path, sparse.coo_array(np.eye(3)))
