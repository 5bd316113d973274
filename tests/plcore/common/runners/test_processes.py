"""Processes that are killed at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore.common.runners.parts import map_part
from plcore.common.runners.processes import ProcessPool
from plcore.common.runners.runner import DEATHS, BlockError
from tests.plcore.common.runners.tasks import die_the_first_time, jobs, square_but_die_at_seven, times


def test_blocks_of_killed_processes_are_done_by_others(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    asked = jobs(tmp_path, 7)
    found = [job.number for job, _ in pool.map(die_the_first_time, asked)]
    pool.close()
    assert sorted(found) == list(range(7)), "each comes back once, though three took their process with them"
    assert [map_part(job.path).tolist() for job in asked] == [[one, one**2] for one in range(7)]


def test_a_block_that_kills_every_process_is_named_and_no_other(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    with pytest.raises(
        BlockError, match=f"Squaring 7 cannot be done: its process was killed {DEATHS + 1} times"
    ):
        list(pool.map(square_but_die_at_seven, jobs(tmp_path, 9)))
    pool.close()
    assert set(times(tmp_path)) == set(range(9)) - {7}, "the others were done before it was blamed"
