"""Labelling runs replayed on a table of no project: curves of strategies, from rows whose truth is known."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from plcore import LearnerSettings
from plcore.blocks import Blocks, Inline
from plcore.evaluation import replay_in_blocks
from plcore.loop.one_label import OneLabelPool, StrategyReplays
from plcore.loop.one_label.training import standardized_features
from tests.plcore.loop.fake_table import FakeTable, blobs


def pool(known: int) -> OneLabelPool[FakeTable]:
    """120 rows, of which the first have a true label."""
    table, truth = blobs(120)
    table.truth = np.where(np.arange(120) < known, truth, -1)
    return OneLabelPool(table, LearnerSettings(test_share=0.0))


def test_curves_are_the_means_of_runs_on_rows_of_known_truth(tmp_path: Path) -> None:
    rows = pool(80)
    found = StrategyReplays(rows).replay(
        Blocks(Inline(), tmp_path), ["apl", "random"], runs=3, budget=10, seed=2
    )
    assert found.told() == "3 runs by each strategy on 80 rows of known truth."
    own = replay_in_blocks(
        Blocks(Inline(), tmp_path),
        standardized_features(rows)[:80],
        rows.candidates[:80],
        rows.truth[:80],
        ["apl", "random"],
        runs=3,
        budget=10,
        seed=2,
    )
    assert [one.strategy for one in found.points] == ["apl"] * 11 + ["random"] * 11
    assert [one.answers for one in found.points] == [*range(11), *range(11)]
    assert [one.error for one in found.points[11:]] == pytest.approx(own[1].errors.mean(axis=0))
    assert [one.spread for one in found.points[:11]] == pytest.approx(own[0].errors.std(axis=0, ddof=1))
    lines = list(csv.reader(io.StringIO(found.to_csv())))
    assert lines[0] == ["strategy", "answers", "error", "spread"]
    assert lines[12] == ["random", "0", f"{found.points[11].error:.4f}", f"{found.points[11].spread:.4f}"]
    assert json.loads(json.dumps(found.to_json()))["points"][0]["strategy"] == "apl"


def test_one_run_has_no_spread(tmp_path: Path) -> None:
    found = StrategyReplays(pool(40)).replay(Blocks(Inline(), tmp_path), ["random"], runs=1, budget=2)
    assert [one.spread for one in found.points] == [None] * 3
    assert found.to_csv().splitlines()[1].endswith(",")


def test_without_a_true_label_nobody_can_answer(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="The table has no true labels"):
        StrategyReplays(pool(0)).replay(Blocks(Inline(), tmp_path), ["random"])
