"""Labelling runs replayed on a table of known truth, to see which strategy to ask by before anybody is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plcore.common.runners import BlockError, BlockProgress, RunnerError
from plcore.loop.one_label import StrategyRuns
from workflow import kinds
from workflow.common.blocks import open_blocks

if TYPE_CHECKING:
    from plcore import LabelTable
    from workflow.settings import Settings


class CannotSimulate(ValueError):  # noqa: N818 - what a command says, not a fault
    """Runs cannot be replayed on these rows, or nobody is there to do it."""


def replay_table(
    settings: Settings,
    table: LabelTable,
    strategies: Sequence[str],
    *,
    progress: BlockProgress | None = None,
    **options: Any,
) -> StrategyRuns:
    """What each strategy reaches on a table of no project, by whom the settings name; see
    `plcore.evaluation.replay_in_blocks` for the options. Raises CannotSimulate."""
    try:
        replays = kinds.make_table_replays(table)
        with open_blocks(settings) as blocks:
            found: StrategyRuns = replays.replay(blocks, strategies, progress=progress, **options)
    except (ValueError, BlockError, RunnerError) as error:
        raise CannotSimulate(f"The runs cannot be replayed: {error}") from error
    return found
