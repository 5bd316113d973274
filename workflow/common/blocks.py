"""Who does long work in blocks: this process, processes of this machine, or the cluster that the settings name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plcore.common.runners import Blocks, make_runner

if TYPE_CHECKING:
    from workflow.settings import Settings


def blocks_folder(settings: Settings) -> Path:
    """Where the parts lie; made when the first of them is."""
    return settings.home / "blocks"


@contextmanager
def open_blocks(
    settings: Settings, folder: Path | None = None, patience: float | None = None
) -> Iterator[Blocks]:
    """Whoever the settings name, at work in a folder, by default `blocks_folder`, while the block lasts.

    patience : seconds for which workers are waited for, if not those of the settings
    Raises RunnerError where nobody is there to do it.
    """
    folder = blocks_folder(settings) if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    waited = (settings.cluster_wait, "WINNOW_CLUSTER_WAIT") if patience is None else (patience, "")
    runner = make_runner(settings.cluster, folder, *waited)
    try:
        yield Blocks(runner, folder)
    finally:
        runner.close()


@contextmanager
def cluster_blocks(
    settings: Settings | None, folder: Path | None = None, patience: float | None = None
) -> Iterator[Blocks | None]:
    """As `open_blocks` where the settings name somebody; None where this process does the work, without files."""
    if settings is None or not settings.cluster:
        yield None
        return
    with open_blocks(settings, folder, patience) as blocks:
        yield blocks
