"""Part files: their names, atomic writes, and that each is made only once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from plcore.blocks import parts
from plcore.blocks.parts import (
    ABANDONED,
    BlockJob,
    ReadRows,
    map_part,
    remove_halves,
    run_parts,
    whole_part,
    write_names,
)
from plcore.blocks.processes import Inline
from tests.conftest import ROOT
from tests.plcore.blocks.tasks import Number, jobs, square, square_but_seven, times


@dataclass(frozen=True)
class Of(BlockJob):
    value: object
    places: tuple[Path, ...] = ()


@dataclass(frozen=True)
class OfOther(BlockJob):
    value: object
    places: tuple[Path, ...] = ()


def test_part_name_depends_on_job_and_data_but_not_on_the_folder(tmp_path: Path) -> None:
    one = Of(tmp_path, 3)
    assert one.part == Of(tmp_path / "elsewhere", 3).part
    assert Of(tmp_path, 3, (tmp_path,)).part == Of(tmp_path, 3, (tmp_path / "elsewhere", tmp_path)).part
    assert one.path == tmp_path / one.part
    others = [OfOther(tmp_path, 3), Of(tmp_path, 4), Of(tmp_path, 3.0), Of(tmp_path, "3"), Of(tmp_path, (3,))]
    assert len({one.part, *(other.part for other in others)}) == 6


def test_part_name_depends_on_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, content = Of(tmp_path, 3), Of(tmp_path, 3, code="")
    monkeypatch.setattr(parts, "code_and_versions", lambda: {"plcore": "later"})
    assert Of(tmp_path, 3).part != one.part
    assert Of(tmp_path, 3, code="").part == content.part, "that stands for its content"
    content.write(np.arange(3))
    with pytest.raises(RuntimeError, match="a worker has other versions than the caller"):
        one.write(np.arange(3))
    assert not one.path.exists()


def test_part_name_depends_on_nested_jobs(tmp_path: Path) -> None:
    inner = Of(tmp_path, 1)
    assert Of(tmp_path, inner).part == Of(tmp_path, Of(tmp_path / "elsewhere", 1)).part
    assert Of(tmp_path, inner).part != Of(tmp_path, Of(tmp_path, 2)).part


def test_part_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "part-1.npy"

    def interrupted() -> None:
        with whole_part(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())
    with whole_part(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"
    assert [one.name for one in tmp_path.iterdir()] == ["part-1.npy"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    writing = whole_part(tmp_path / "part-1.npy")
    writing.__enter__()  # and killed here
    (half,) = tmp_path.iterdir()
    (tmp_path / "part-2.npy").touch()
    os.utime(half, (half.stat().st_atime, half.stat().st_mtime - ABANDONED - 1))
    remove_halves(tmp_path)
    assert not half.exists()
    assert (tmp_path / "part-2.npy").exists()
    with pytest.raises(FileNotFoundError):
        writing.__exit__(None, None, None)


def test_unfinished_files_of_a_running_command_are_kept(tmp_path: Path) -> None:
    with whole_part(tmp_path / "part-1.npy") as file:
        remove_halves(tmp_path)
        file.write(b"all")
    assert (tmp_path / "part-1.npy").read_bytes() == b"all"


def test_part_round_trips(tmp_path: Path) -> None:
    job = Of(tmp_path, 1)
    array = np.array([(1, [1.5, 2.5])], dtype=[("row", "<i4"), ("x", "<f4", (2,))])
    assert job.write(array) == (str(job.path), 1)
    found = job.read(job.part)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, array)
    assert not found.flags.writeable


def test_ranges_of_a_part_round_trip(tmp_path: Path) -> None:
    job = Of(tmp_path, 1)
    array = np.array([(row, [row / 2, row / 4]) for row in range(40)], dtype=[("row", "<i4"), ("x", "<f4", (2,))])
    job.write(array)
    rows = ReadRows(job.path)
    for first, end in ((0, 40), (0, 1), (17, 23), (39, 40), (5, 5)):
        found = rows.read(first, end)
        np.testing.assert_array_equal(found, array[first:end])
        assert found.flags.owndata
    job.path.unlink()
    with pytest.raises(FileNotFoundError):
        rows.read(0, 1)


def test_part_is_found_by_name(tmp_path: Path) -> None:
    ones = [Of(tmp_path, number) for number in range(3)]
    for number, one in enumerate(ones):
        one.write(np.array([number]))
    names = write_names(tmp_path, [one.part for one in ones])
    each = ones[0].read_each(names)
    assert next(each).tolist() == [0]
    assert [part.tolist() for part in each] == [[1], [2]]
    (tmp_path / ones[2].part).unlink()
    each = ones[0].read_each(names)
    assert [next(each).tolist(), next(each).tolist()] == [[0], [1]], "a part is read when its turn comes"
    assert write_names(tmp_path, [one.part for one in ones]) == names
    assert write_names(tmp_path, [one.part for one in ones[:2]]) != names


def test_existing_parts_are_not_rebuilt(tmp_path: Path) -> None:
    asked = jobs(tmp_path, 6)
    assert run_parts(Inline(), square, asked[:4]) == [job.part for job in asked[:4]]
    told: list[tuple[str, int, int]] = []
    assert run_parts(Inline(), square, asked, "squares", lambda *one: told.append(one)) == [job.part for job in asked]
    assert times(tmp_path) == dict.fromkeys(range(6), 1)
    assert told == [("squares", 4, 6), ("squares", 5, 6), ("squares", 6, 6)]


def test_parts_finished_before_a_failure_are_kept(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Squaring 7"):
        run_parts(Inline(), square_but_seven, jobs(tmp_path, 9))
    run_parts(Inline(), square, jobs(tmp_path, 9))
    assert times(tmp_path) == dict.fromkeys(range(9), 1)


def test_job_with_another_value_makes_another_part(tmp_path: Path) -> None:
    job = jobs(tmp_path, 1)[0]
    run_parts(Inline(), square, [job, replace(job, number=5)])
    assert map_part(Number(tmp_path, 5, tmp_path).path).tolist() == [5, 25]


DRIVER = """
import os, signal, sys
from pathlib import Path
from plcore.blocks.processes import Inline
from plcore.blocks.parts import run_parts
from tests.plcore.blocks.tasks import jobs, square
def progress(what, done, total):
    if done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
run_parts(Inline(), square, jobs(Path(sys.argv[1]), 9), "", progress)
"""


def test_killed_driver_continues_where_it_stopped(tmp_path: Path) -> None:
    for done in (3, 7, 9):
        ended = subprocess.run(
            [sys.executable, "-c", DRIVER, tmp_path, str(done)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
            check=False,
        )
        assert ended.returncode == -signal.SIGKILL
        assert len(times(tmp_path)) == done
    assert times(tmp_path) == dict.fromkeys(range(9), 1), "no part was made twice"
