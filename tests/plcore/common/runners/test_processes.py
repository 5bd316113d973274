"""Processes that are killed at work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plcore.common.runners import processes
from plcore.common.runners.parts import map_part
from plcore.common.runners.processes import ProcessPool
from plcore.common.runners.runner import DEATHS, BlockError
from tests.conftest import ROOT
from tests.plcore.common.runners.tasks import (
    die_the_first_time,
    jobs,
    square_but_die_at_seven,
    square_when_told,
    times,
)


def test_blocks_of_killed_processes_are_done_by_others(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    asked = jobs(tmp_path, 7)
    found = [job.number for job, _ in pool.map(die_the_first_time, asked)]
    pool.close()
    assert sorted(found) == list(range(7)), "each comes back once, though three took their process with them"
    assert [map_part(job.path).tolist() for job in asked] == [[one, one**2] for one in range(7)]


def test_a_pool_that_is_closed_waits_for_nothing_that_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "LOOK", 0.01)
    pool = ProcessPool(1)
    asked = jobs(tmp_path, 1)

    def begun() -> None:
        if list(asked[0].marks.glob("pid-*")):
            raise KeyError("begun")

    with pytest.raises(KeyError, match="begun"):
        list(pool.map(square_when_told, asked, begun))
    pool.close()
    (process,) = asked[0].marks.glob("pid-*")
    assert not exists(int(process.name.removeprefix("pid-")))


DRIVER = """
import sys
from pathlib import Path
from plcore.common.runners.processes import ProcessPool
from tests.plcore.common.runners.tasks import jobs, square_when_told
if __name__ == "__main__":
    list(ProcessPool(1).map(square_when_told, jobs(Path(sys.argv[1]), 1)))
"""


def test_processes_end_with_the_one_that_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    driver = subprocess.Popen(
        [sys.executable, script, tmp_path], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}
    )
    while not (begun := list((tmp_path / "marks").glob("pid-*"))):
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    pid = int(begun[0].name.removeprefix("pid-"))
    for _ in range(3000):
        if not exists(pid):
            break
        time.sleep(0.01)
    gone = not exists(pid)
    (tmp_path / "marks" / "go").touch()
    assert gone


def exists(pid: int) -> bool:
    """Whether this process runs; one that has ended and that nobody has asked for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_block_that_kills_every_process_is_named_and_no_other(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    with pytest.raises(
        BlockError, match=f"Squaring 7 cannot be done: its process was killed {DEATHS + 1} times"
    ):
        list(pool.map(square_but_die_at_seven, jobs(tmp_path, 9)))
    pool.close()
    assert set(times(tmp_path)) == set(range(9)) - {7}, "the others were done before it was blamed"
