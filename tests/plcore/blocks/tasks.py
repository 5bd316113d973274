"""Small jobs, whose functions other processes can import."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

from plcore.blocks.parts import BlockJob, WrittenPart


@dataclass(frozen=True)
class Number(BlockJob):
    """Writes a number and its square. marks : a folder in which each run leaves a file"""

    number: int
    marks: Path

    def __str__(self) -> str:
        return f"Squaring {self.number}"


def square(job: Number) -> WrittenPart:
    (job.marks / f"{job.number}-{os.getpid()}-{os.urandom(4).hex()}").touch()
    return job.write(np.array([job.number, job.number**2]))


def square_but_seven(job: Number) -> WrittenPart:
    if job.number == 7:
        raise ValueError("seven\nis not a number for this")
    return square(job)


def square_but_die_at_seven(job: Number) -> WrittenPart:
    if job.number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(job)


def die_the_first_time(job: Number) -> WrittenPart:
    """Every third job kills its process the first time it runs."""
    begun = job.marks / f"begun-{job.number}"
    if job.number % 3 == 0 and not begun.exists():
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(job)


def square_when_told(job: Number) -> WrittenPart:
    """Wait for a file `go` before ending."""
    (job.marks / f"pid-{os.getpid()}").touch()
    while not (job.marks / "go").exists():
        time.sleep(0.01)
    return square(job)


def threads(_: int) -> int:
    """The most threads that a library would use."""
    np.ones((2, 2)) @ np.ones((2, 2))
    return max((one["num_threads"] for one in threadpool_info()), default=1)


def jobs(folder: Path, count: int) -> list[Number]:
    marks = folder / "marks"
    marks.mkdir(exist_ok=True)
    return [Number(folder, number, marks) for number in range(count)]


def times(folder: Path) -> dict[int, int]:
    """How often each number was squared."""
    found: dict[int, int] = {}
    for path in (folder / "marks").glob("[0-9]*"):
        number = int(path.name.partition("-")[0])
        found[number] = found.get(number, 0) + 1
    return found
