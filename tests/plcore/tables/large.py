"""Tables on disk in the forms that are read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

NAMES = ("crow", "jay", "magpie", "rook", "starling")


def rows_and_sets(n: int, d: int = 4, m: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    sets = rng.random((n, m)) < 0.3
    sets[np.arange(n), rng.integers(m, size=n)] = True
    return np.tanh(rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))).astype(np.float32), sets


def write_arrays(folder: Path, X: np.ndarray, sets: np.ndarray, names: Sequence[str] = ()) -> Path:
    folder.mkdir()
    np.save(folder / "X.npy", X)
    np.save(folder / "S.npy", sets)
    if names:
        np.save(folder / "classes.npy", np.array(names))
    return folder


def write_parquet(
    folder: Path, X: np.ndarray, sets: np.ndarray, names: Sequence[str], cuts: Sequence[int], vectors: bool = False
) -> Path:
    """Files of the rows between `cuts`, in row groups of 30."""
    folder.mkdir()
    columns = {
        "id": [f"row {row}" for row in range(len(X))],
        "birds": [[names[label] for label in np.flatnonzero(one)] for one in sets],
    }
    columns |= {"vector": list(X)} if vectors else {f"x{number}": X[:, number] for number in range(X.shape[1])}
    table = pa.table(columns)
    for number, (first, end) in enumerate(zip([0, *cuts], [*cuts, len(X)], strict=True)):
        pq.write_table(table.slice(first, end - first), folder / f"{number:03}.parquet", row_group_size=30)
    return folder
