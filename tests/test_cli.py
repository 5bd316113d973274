"""The commands of cli.py, in a process of their own beside the one that made the projects."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.workflow.vector_world import answer_truly, vector_project
from tests.workflow.world import small_project
from workflow import ranking, team, vector_ranking
from workflow.home import open_home
from workflow.settings import Settings

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`cli.py` with these words, on the home in tmp_path."""

    def started(*words: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("WINNOW_")}
        return subprocess.run(
            [sys.executable, str(ROOT / "cli.py"), *words],
            env={**kept, "WINNOW_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    return started


@pytest.mark.parametrize("question", ["cell", "instance"])
def test_rank_writes_the_queue_of_either_kind(run: Run, tmp_path: Path, question: str) -> None:
    home = open_home(Settings.from_environment({"WINNOW_HOME": str(tmp_path / "home")}))
    try:
        owner = team.ensure_owner(home).id
        candidates = small_project(home, owner)
        vectors = vector_project(home, owner, question=question)
        answer_truly(home, owner, vectors)
        expected = {
            candidates: ranking.queue_csv(home, owner, candidates).decode(),
            # By the model, as who has just begun must have it too: not in the random order before it.
            vectors: vector_ranking.queue_csv(home, owner, vectors, wait=True).decode(),
        }
    finally:
        home.close()
    for project, queue in expected.items():
        done = run("rank", str(project))
        assert (done.returncode, done.stdout) == (0, queue), done.stderr
    missing = run("rank", "77")
    assert missing.returncode == 1
    assert missing.stderr.startswith("Error: There is no project 77 here.")
