"""A Dask cluster of two processes on this machine, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def two_workers(allowed_failures: int = 3) -> Iterator[Any]:
    """The `LocalCluster`, closed at the end. The `pid` of each of its `workers` is that of the process that works.

    allowed_failures : this many workers may die of a job before it is given up; Dask's default is 3. A worker that dies
    while
        it starts is not started again: a test that kills several in turn may be left without one
    """
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set(
            {
                "distributed.admin.system-monitor.disk": False,
                # Such a cluster looks once more, later, at each worker that it has lost, and closes it permanently
                # if it is gone again at that moment, as are workers that a test kills repeatedly.
                "distributed.deploy.lost-worker-timeout": "1 hour",
                "distributed.scheduler.allowed-failures": allowed_failures,
            }
        ),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1", memory_limit=0
        ) as cluster,
    ):
        yield cluster
