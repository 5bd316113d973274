"""Runs replayed on a table of no project, by whom the settings name."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore import LabelTable
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import ROLES, small_frame
from workflow.models.choosing import CannotSimulate, replay_table
from workflow.server.settings import Settings


def settings(home: Path, cluster: str = "") -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(home), "WINNOW_CLUSTER": cluster})


def test_runs_lie_in_the_data_folder(tmp_path: Path) -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    seen: list[tuple[str, int, int]] = []
    found = replay_table(
        settings(tmp_path), table, ["random"], runs=2, budget=4, progress=lambda *one: seen.append(one)
    )
    assert seen[-1] == ("runs", 2, 2)
    assert [one.answers for one in found.points] == [0, 1, 2, 3, 4]
    assert list((tmp_path / "blocks").glob("part-*.npy"))


def test_what_cannot_be_replayed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    vectors = LabelTable.from_cells(vector_frame(), VECTOR_ROLES)
    monkeypatch.setattr("plcore.blocks.dask_cluster.PATIENCE", 1)
    for told, words in (
        ((settings(tmp_path), vectors, ["random"]), "Labelling runs of label vectors are not replayed"),
        ((settings(tmp_path), table, ["best"]), "There is no strategy 'best'"),
        ((settings(tmp_path), table, ["moves"]), "Run 1 by moves cannot be done"),
        (
            (settings(tmp_path, "tcp://127.0.0.1:1"), table, ["random"]),
            "No Dask scheduler answers at tcp://127",
        ),
    ):
        with pytest.raises(CannotSimulate, match=f"The runs cannot be replayed: {words}"):
            replay_table(*told)
