"""Which servers run on a data folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from workflow.server.running import noted, running

ANOTHER = (
    "import sys; from pathlib import Path; from workflow.server.running import noted\n"
    "with noted(Path(sys.argv[1]), 'http://b'): print('noted', flush=True); sys.stdin.read()"
)


def another(folder: Path) -> subprocess.Popen[str]:
    """A server of another process, which runs until its input ends."""
    begun = subprocess.Popen(
        [sys.executable, "-c", ANOTHER, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert begun.stdout is not None
    assert begun.stdout.readline() == "noted\n"
    return begun


def test_each_is_found_while_it_runs(tmp_path: Path) -> None:
    folder = tmp_path / "servers"
    assert running(folder) == []
    with noted(folder, "http://a"):
        assert running(folder) == ["http://a"]
        second = another(folder)
        assert running(folder) == ["http://b", "http://a"], "the latest first"
        second.communicate()
        assert running(folder) == ["http://a"], "the first runs on"
        assert folder.stat().st_mode & 0o777 == 0o700
    assert running(folder) == []
    assert list(folder.iterdir()) == []


def test_two_of_one_number_are_both_found(tmp_path: Path) -> None:
    """As in two containers with one data folder: each has its processes numbered from 1."""
    with noted(tmp_path, "http://a"):
        with noted(tmp_path, "http://b"):
            assert sorted(running(tmp_path)) == ["http://a", "http://b"]
        assert running(tmp_path) == ["http://a"]
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_killed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    begun = another(tmp_path)
    begun.kill()
    begun.communicate()
    assert len(list(tmp_path.iterdir())) == 1
    assert running(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
