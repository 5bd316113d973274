"""Two processes and a Dask cluster for the tests of this folder, and rows to be tried on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from plcore.blocks import Blocks, ProcessPool, make_runner
from plcore.evaluation import contaminate
from tests.plcore.blocks.local_cluster import two_workers


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    with two_workers() as local:
        yield local


@pytest.fixture(scope="package")
def pool() -> Iterator[ProcessPool]:
    with closing(ProcessPool(2)) as made:
        yield made


@pytest.fixture
def each_runner(cluster: Any, pool: ProcessPool, tmp_path: Path) -> Iterator[list[Blocks]]:
    """Blocks that are worked on in this process, in a pool and in a cluster, in a folder each."""
    folders = [tmp_path / name for name in ("here", "pool", "cluster")]
    with closing(make_runner(cluster.scheduler_address, folders[2])) as there:
        runners = make_runner("", folders[0]), pool, there
        yield [Blocks(runner, folder) for runner, folder in zip(runners, folders, strict=True)]


@pytest.fixture(scope="session")
def some_rows() -> tuple[Any, Any, Any]:
    """Features, candidates and truth of 90 rows of 4 overlapping classes."""
    X, y = make_blobs(90, 4, centers=4, cluster_std=4.0, random_state=0)
    return X, contaminate(y, "random", p=0.8, q=0.4, random_state=1, classes=np.arange(4)), y
