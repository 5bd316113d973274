"""Labelling runs replayed on a table whose truth is known: what each strategy would have reached. No database."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from plcore.common.runners import BlockProgress, Blocks
from plcore.evaluation import replay_in_blocks
from plcore.loop.one_label.pool import OneLabelPool
from plcore.loop.one_label.training import standardized_features


@dataclass(frozen=True)
class StrategyPoint:
    """error : mean share of wrong predictions after so many answers, over runs

    spread : standard deviation from run to run, None of one
    """

    strategy: str
    answers: int
    error: float
    spread: float | None


@dataclass(frozen=True)
class StrategyRuns:
    """The curves of all strategies, one after the other. rows : with a true label      runs : of each strategy"""

    points: tuple[StrategyPoint, ...]
    rows: int
    runs: int

    def told(self) -> str:
        """What was done, as a sentence."""
        return f"{self.runs} runs by each strategy on {self.rows:,} rows of known truth."

    def to_csv(self) -> str:
        """strategy, answers, error, spread."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("strategy", "answers", "error", "spread"))
        for one in self.points:
            spread = "" if one.spread is None else f"{one.spread:.4f}"
            writer.writerow((one.strategy, one.answers, f"{one.error:.4f}", spread))
        return text.getvalue()

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)


class StrategyReplays:
    """Replays labelling runs on a pool before its first entry; the truth that its table hides answers and measures."""

    def __init__(self, pool: OneLabelPool[Any]) -> None:
        self.pool = pool

    def replay(
        self,
        blocks: Blocks,
        strategies: Sequence[str],
        *,
        progress: BlockProgress | None = None,
        **options: Any,
    ) -> StrategyRuns:
        """What the strategies reach; options as `plcore.evaluation.replay_in_blocks`. Raises ValueError, BlockError,
        RunnerError."""
        pool = self.pool
        rows = np.flatnonzero(pool.truth >= 0)
        if not len(rows):
            raise ValueError(
                "The table has no true labels, so that nobody can answer or measure. Fix: name their column."
            )
        found = replay_in_blocks(
            blocks,
            standardized_features(pool)[rows],
            pool.candidates[rows],
            pool.truth[rows],
            strategies,
            progress=progress,
            **options,
        )
        points = tuple(
            StrategyPoint(
                one.strategy,
                answers,
                float(errors.mean()),
                float(errors.std(ddof=1)) if len(errors) > 1 else None,
            )
            for one in found
            for answers, errors in zip(one.answers.tolist(), one.errors.T, strict=True)
        )
        return StrategyRuns(points, len(rows), len(found[0].errors))
