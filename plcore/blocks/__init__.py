"""Long work in blocks, by the process itself, by several, or by a Dask cluster; and the files that it leaves."""

from __future__ import annotations

from pathlib import Path

from plcore.blocks.dask_cluster import WORKER_PATIENCE, DaskCluster
from plcore.blocks.parts import (
    BlockJob,
    BlockProgress,
    WrittenPart,
    map_part,
    remove_halves,
    run_parts,
    sync_folder,
)
from plcore.blocks.processes import Inline, ProcessPool
from plcore.blocks.runner import BlockError, Blocks, Runner, RunnerError


def make_runner(
    where: str, folder: Path, patience: float = WORKER_PATIENCE, setting: str = "patience"
) -> Runner:
    """The runner that `where` names: '' this process; ``processes`` or ``processes:4`` some of this machine; else the
    address of a Dask scheduler. folder : of the parts      patience, setting : as of `DaskCluster`

    Raises RunnerError as `DaskCluster` does."""
    kind, _, number = where.partition(":")
    if not kind:
        return Inline()
    if kind == "processes":
        return ProcessPool(int(number) if number else None)
    return DaskCluster(where, folder, patience, setting)
