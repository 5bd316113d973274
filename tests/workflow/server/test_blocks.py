"""Whom the settings name for long work, and where it leaves its parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore.blocks import Inline, ProcessPool, RunnerError
from tests.plcore.blocks.tasks import jobs, square
from workflow.server import jobs as blocks
from workflow.server.jobs import blocks_folder, cluster_blocks, open_blocks
from workflow.server.settings import Settings


def settings(home: Path, **told: str) -> Settings:
    return Settings.from_environment({"WINNOW_HOME": str(home), **told})


def test_without_a_setting_it_is_this_process_in_the_data_folder(tmp_path: Path) -> None:
    with open_blocks(settings(tmp_path)) as (runner, folder):
        assert isinstance(runner, Inline)
        assert folder == blocks_folder(settings(tmp_path)) == tmp_path / "blocks"
        assert len(list(runner.map(square, jobs(folder, 2)))) == 2


def test_whoever_is_named_is_let_go_at_the_end(tmp_path: Path) -> None:
    here = settings(tmp_path, WINNOW_CLUSTER="processes:1")
    with open_blocks(here, tmp_path / "own") as (runner, folder):
        assert isinstance(runner, ProcessPool)
        assert folder.is_dir()
        list(runner.map(square, jobs(folder, 1)))
        assert runner._pool is not None
    assert runner._pool is None


def test_a_cluster_is_waited_for_as_long_as_the_setting_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def none(*told: object) -> None:
        asked.append(told)
        raise RunnerError("nobody")

    monkeypatch.setattr(blocks, "make_runner", none)
    here = settings(tmp_path, WINNOW_CLUSTER="tcp://10.0.0.1:8786", WINNOW_CLUSTER_WAIT="7")
    for patience in (None, 0):
        with pytest.raises(RunnerError), open_blocks(here, patience=patience):
            pass
    assert asked == [
        ("tcp://10.0.0.1:8786", tmp_path / "blocks", 7, "WINNOW_CLUSTER_WAIT"),
        ("tcp://10.0.0.1:8786", tmp_path / "blocks", 0, ""),
    ]


def test_what_this_process_does_by_itself_needs_no_files(tmp_path: Path) -> None:
    for here in (None, settings(tmp_path)):
        with cluster_blocks(here) as found:
            assert found is None
    assert not list(tmp_path.iterdir())
    with cluster_blocks(settings(tmp_path, WINNOW_CLUSTER="processes:1")) as found:
        assert found is not None
        assert isinstance(found.runner, ProcessPool)
