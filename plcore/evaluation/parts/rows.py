"""The rows that fits and replays are made on, written once as part files, so that jobs name them and carry none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from plcore.common.runners import BlockJob
from plcore.common.types import AnyArray

DENSE = "dense"
_SPARSE = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@dataclass(frozen=True)
class _Kept(BlockJob):
    """An array under the name of its content."""

    digest: str


@dataclass(frozen=True)
class KeptFeatures:
    """Where features (n, d) lie. form : DENSE, or the class of sparse ones      parts : the names of their arrays"""

    form: str
    parts: tuple[str, ...]
    shape: tuple[int, int]


def keep_array(folder: Path, array: AnyArray) -> str:
    """Write an array to the folder, unless it is there; the name of its part."""
    array = np.asarray(array)
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous  # sums go the way that rows lie
    flat = array.ravel(order="F" if by_columns else "C")
    digest = sha256(f"{array.dtype.str} {array.shape} {by_columns} ".encode())
    digest.update(flat.view(np.uint8).data)
    job = _Kept(folder, digest.hexdigest(), code="")
    if not job.path.exists():
        job.write(array)
    return job.part


def keep_features(folder: Path, X: Any) -> KeptFeatures:
    """Write features, dense or CSR. Raises ValueError for sparse ones of another form."""
    if not sparse.issparse(X):
        array = np.asarray(X)
        return KeptFeatures(DENSE, (keep_array(folder, array),), (len(array), array.shape[1]))
    form = type(X).__name__
    if form not in _SPARSE:
        raise ValueError(f"X must be dense or CSR to be shared with workers. Got {form}.")
    arrays: Sequence[AnyArray] = (X.data, X.indices, X.indptr)
    return KeptFeatures(form, tuple(keep_array(folder, one) for one in arrays), tuple(X.shape))


def kept_features(job: BlockJob, kept: KeptFeatures) -> Any:
    """The features, mapped: what a job does not look at is not read."""
    arrays = [job.read(name) for name in kept.parts]
    if kept.form == DENSE:
        return arrays[0]
    return _SPARSE[kept.form](tuple(arrays), shape=kept.shape, copy=False)
