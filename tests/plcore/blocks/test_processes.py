"""Worker processes that are killed while they work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from plcore.blocks import processes
from plcore.blocks.parts import map_part
from plcore.blocks.processes import ProcessPool
from plcore.blocks.runner import DEATHS, BlockError
from tests.conftest import ROOT
from tests.plcore.blocks.tasks import die_the_first_time, jobs, square_but_die_at_seven, square_when_told, times

pytestmark = pytest.mark.slow


def test_blocks_of_killed_processes_are_computed_by_others(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    asked = jobs(tmp_path, 7)
    found = [job.number for job, _ in pool.map(die_the_first_time, asked)]
    pool.close()
    assert sorted(found) == list(range(7)), "each comes back once, though three took their process with them"
    assert [map_part(job.path).tolist() for job in asked] == [[one, one**2] for one in range(7)]


def test_one_killed_process_replaces_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the jobs that the processes were running are reported lost one after the other."""
    made: list[Executor] = []

    class Executor:
        """The first dies on its second job while the first is running; the others run jobs immediately."""

        def __init__(self, *_: Any) -> None:
            made.append(self)
            self.under_way: list[Future[Any]] = []

        def submit(self, _alone: Any, function: Any, job: Any) -> Future[Any]:
            future: Future[Any] = Future()
            self.under_way.append(future)
            if self is not made[0]:
                future.set_result(function(job))
            elif len(self.under_way) == 2:
                for one in self.under_way:
                    one.set_exception(BrokenProcessPool())
            return future

        def shutdown(self, **_: Any) -> None:
            pass

    def one_by_one(running: Any, **told: Any) -> Any:
        found = wait(running, **told)
        return found._replace(done=set(list(found.done)[:1]))

    monkeypatch.setattr(processes, "ProcessPoolExecutor", Executor)
    monkeypatch.setattr(processes, "wait", one_by_one)
    pool = ProcessPool(2)
    assert sorted(pool.map(abs, [-1, -2, -3])) == [(-3, 3), (-2, 2), (-1, 1)]
    pool.close()
    assert len(made) == 2


def test_closing_a_pool_does_not_wait_for_running_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
from plcore.blocks.processes import ProcessPool
from tests.plcore.blocks.tasks import jobs, square_when_told
if __name__ == "__main__":
    list(ProcessPool(1).map(square_when_told, jobs(Path(sys.argv[1]), 1)))
"""


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    driver = subprocess.Popen([sys.executable, script, tmp_path], cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
    while not (begun := list((tmp_path / "marks").glob("pid-*"))):
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    pid = int(begun[0].name.removeprefix("pid-"))
    for _ in range(30_000):  # five minutes, if others have the machine
        if not exists(pid):
            break
        time.sleep(0.01)
    gone = not exists(pid)
    (tmp_path / "marks" / "go").touch()
    assert gone


def exists(pid: int) -> bool:
    """Whether this process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_only_the_block_that_kills_its_process_is_named(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    with pytest.raises(BlockError, match=f"Squaring 7 cannot be done: its process was killed {DEATHS + 1} times"):
        list(pool.map(square_but_die_at_seven, jobs(tmp_path, 9)))
    pool.close()
    assert set(times(tmp_path)) == set(range(9)) - {7}, "the others were done before it was blamed"
