"""A table on disk ranked in blocks equals the ranking in one process, whatever the runner and even if processes die."""

from __future__ import annotations

import csv
import io
import os
import random
import signal
from collections.abc import Callable
from contextlib import nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore.blocks import Inline, make_runner
from plcore.blocks import parts as versions
from plcore.query import EffectRanker
from tests.plcore.blocks.local_cluster import two_workers
from tests.plcore.tables.large import NAMES, rows_and_sets, write_arrays, write_parquet
from workflow.models.large_tables import RankingError, rank_files, rank_on
from workflow.server.jobs import blocks_folder
from workflow.server.settings import Settings

pytestmark = pytest.mark.slow


def parts_of(folder: Path) -> dict[str, bytes]:
    return {path.name: sha256(path.read_bytes()).digest() for path in folder.glob("part-*")}


def folder_of(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder


def test_ranked_rows_match_ranker(tmp_path: Path) -> None:
    X, sets = rows_and_sets(400)
    path = write_parquet(tmp_path / "t", X, sets, NAMES, [150, 300])
    ranking = rank_files(Inline(), path, folder_of(tmp_path, "parts"), most=50, n_neighbors=6, block=90, search="exact")
    # Features that are not scaled to float32 would differ only in the last bits.
    ranker = EffectRanker("apl", 6).fit(X, sets)
    assert ranking.scores == pytest.approx(ranker.scores_[ranker.top(50)], abs=1e-4)
    assert len(set(ranking.rows) & set(ranker.top(50).tolist())) >= 48
    for row, names in zip(ranking.rows, ranking.candidates, strict=True):
        assert names == tuple(np.array(NAMES)[sets[row]])
    assert ranking.told() == "400 rows; exact neighbours."
    lines = list(csv.reader(io.StringIO(ranking.to_csv().decode())))
    assert lines[0] == ["place", "row", "score", "candidates"]
    assert lines[1] == ["1", str(ranking.rows[0] + 1), str(ranking.scores[0]), "|".join(ranking.candidates[0])]
    assert len(lines) == 51


def test_parts_of_another_version_are_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = write_arrays(tmp_path / "t", *rows_and_sets(300)), folder_of(tmp_path, "parts")

    def rank() -> set[str]:
        before = set(parts_of(folder))
        rank_files(Inline(), path, folder, n_neighbors=5, block=100, search="approximate", recall=0.5)
        return set(parts_of(folder)) - before

    made = rank()
    assert not rank()
    monkeypatch.setattr(versions, "_sources", lambda: "later")
    assert len(rank()) == len(made)
    assert not rank()


def test_rank_uses_configured_runner_and_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, sets = rows_and_sets(300)
    path = write_arrays(tmp_path / "t", X, sets, NAMES)
    settings = Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")})
    ranking = rank_on(settings, path, block=100, n_neighbors=5, search="approximate", recall=0.5, reverse=True)
    assert "cells" in ranking.told()
    assert len(ranking.reverse) == 3
    assert all((blocks_folder(settings) / name).exists() for name in ranking.reverse)
    assert not list(blocks_folder(settings).glob(".*"))
    elsewhere = Settings.from_environment(
        {"WINNOW_HOME": str(tmp_path / "home"), "WINNOW_CLUSTER": "tcp://127.0.0.1:1"}
    )
    monkeypatch.setattr("plcore.blocks.dask_cluster.PATIENCE", 1)
    with pytest.raises(RankingError, match=r"tcp://127\.0\.0\.1:1"):
        rank_on(elsewhere, path)
    with pytest.raises(RankingError, match=r"n_neighbors must be from 2 to the number of rows, 300\. Got 301"):
        rank_on(settings, path, n_neighbors=301)


def test_restarted_run_reuses_finished_parts(tmp_path: Path) -> None:
    X, sets = rows_and_sets(300)
    path, folder = write_arrays(tmp_path / "t", X, sets), folder_of(tmp_path, "parts")

    class StopError(Exception):
        pass

    seen: dict[str, int] = {}

    def stop_after(count: int) -> Callable[[str, int, int], None]:
        def progress(*_: object) -> None:
            parts = {one.name: one.stat().st_mtime_ns for one in folder.glob("part-*")}
            assert seen.items() <= parts.items(), "what was there is the same file"
            seen.update(parts)
            if len(parts) >= count:
                raise StopError

        return progress

    told = {"block": 60, "n_neighbors": 5, "search": "approximate", "recall": 0.5}
    for count in (5, 15, 30):
        with pytest.raises(StopError):
            rank_files(Inline(), path, folder, progress=stop_after(count), **told)  # type: ignore[arg-type]
    rank_files(Inline(), path, folder, progress=stop_after(10_000), **told)  # type: ignore[arg-type]
    whole = folder_of(tmp_path, "whole")
    rank_files(Inline(), path, whole, **told)  # type: ignore[arg-type]
    assert parts_of(folder) == parts_of(whole)


@pytest.mark.parametrize("cluster", [False, pytest.param(True, marks=[pytest.mark.proof, pytest.mark.dask])])
def test_inline_pool_and_cluster_rank_identically(tmp_path: Path, cluster: bool) -> None:
    X, sets = rows_and_sets(2_000, d=16, m=12)
    path = write_arrays(tmp_path / "t", X, sets)
    found = {}
    with two_workers() if cluster else nullcontext() as workers:
        for number, where in enumerate(("", "processes:2", *([workers.scheduler_address] if workers else []))):
            folder = folder_of(tmp_path, f"parts {number}")
            runner = make_runner(where, folder)
            ranking = rank_files(runner, path, folder, block=500, search="approximate")
            runner.close()
            found[where] = parts_of(folder), ranking.rows, ranking.scores
    one, *others = found.values()
    assert all(other == one for other in others)
    assert len(one[0]) > 40


def kill_at_random(pids: Callable[[], list[int]], kills: int, moments: int) -> Callable[[str, int, int], None]:
    """Progress that kills one of the processes at `kills` of the first `moments` calls."""
    dice = random.Random(0)
    chosen, count = set(dice.sample(range(moments), kills)), iter(range(10**9))

    def progress(*_: object) -> None:
        killed = next(count) not in chosen
        while not killed:
            with suppress(ProcessLookupError):  # one that has just gone, and has no successor yet
                os.kill(dice.choice(pids()), signal.SIGKILL)
                killed = True

    return progress


@pytest.mark.proof
@pytest.mark.dask
def test_killed_workers_leave_same_files(tmp_path: Path) -> None:
    """20 kills of two workers. tests/plcore/blocks/test_dask_cluster.py kills a few."""
    from distributed.core import Status

    X, sets = rows_and_sets(600)
    path = write_arrays(tmp_path / "t", X, sets)
    told: Any = {"block": 20, "n_neighbors": 5, "search": "approximate", "recall": 0.5}
    calm = folder_of(tmp_path, "calm")
    calls: list[object] = []
    expected = rank_files(Inline(), path, calm, progress=lambda *one: calls.append(one), **told)
    folder = folder_of(tmp_path, "parts")
    with two_workers() as cluster:

        def pids() -> list[int]:
            found: list[int] = []
            while not found:  # the others are just starting: Dask does not restart one that dies in that time
                nannies = [one.process for one in cluster.workers.values()]
                found = [one.pid for one in nannies if one is not None and one.status == Status.running]
            return found

        runner = make_runner(cluster.scheduler_address, folder)
        found = rank_files(runner, path, folder, progress=kill_at_random(pids, 20, len(calls) * 4 // 5), **told)
        runner.close()
    assert (found.rows, found.scores, found.n_rows) == (expected.rows, expected.scores, expected.n_rows)
    assert parts_of(folder) == parts_of(calm)
