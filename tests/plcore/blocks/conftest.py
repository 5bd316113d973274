"""The three runners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from plcore.blocks.dask_cluster import DaskCluster
from plcore.blocks.processes import Inline, ProcessPool
from plcore.blocks.runner import Runner
from tests.plcore.blocks.local_cluster import two_workers


@pytest.fixture(scope="package", autouse=True)
def two_threads_elsewhere() -> Iterator[None]:
    """Set the environment so that processes started here would use two threads by default."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            patch.setenv(name, "2")
        yield


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    with two_workers() as local:
        yield local


@pytest.fixture(scope="package")
def pool() -> Iterator[ProcessPool]:
    """Its processes import everything they need once; if a test closes it, the next test gets new ones."""
    made = ProcessPool(2)
    yield made
    made.close()


@pytest.fixture(params=["processes", pytest.param("dask", marks=pytest.mark.dask)])
def others(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Runner]:
    """All runners except the process itself."""
    yield from _made(request, tmp_path)


@pytest.fixture(params=["inline", "processes", pytest.param("dask", marks=pytest.mark.dask)])
def runner(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Runner]:
    yield from _made(request, tmp_path)


def _made(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Runner]:
    made: Runner
    if request.param == "processes":
        yield request.getfixturevalue("pool")
        return
    if request.param == "inline":
        made = Inline()
    else:
        made = DaskCluster(request.getfixturevalue("cluster").scheduler_address, tmp_path)
    yield made
    made.close()
