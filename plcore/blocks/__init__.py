"""Long work in blocks, run by this process, by several processes, or by a Dask cluster; and its part files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.arrays.disk import sync_folder
    from plcore.blocks.dask_cluster import WORKER_PATIENCE, DaskCluster, make_runner
    from plcore.blocks.parts import BlockJob, BlockProgress, WrittenPart, map_part, remove_halves, run_parts
    from plcore.blocks.processes import Inline, ProcessPool
    from plcore.blocks.runner import BlockError, Blocks, Runner, RunnerError
else:
    __getattr__, __dir__ = lazy_names(__name__)
