"""Resource use of processes: memory of this one, CPU and memory of one with all its descendants."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import ROOT

TICK = os.sysconf("SC_CLK_TCK")


def memory(pid: int | str = "self") -> dict[str, float]:
    """Return MB of a process by the system's names, such as Rss and Anonymous; nothing if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(value.split()[0]) * 1.024e-3 for name, value in (line.split(":") for line in lines)}


def resident() -> float:
    """Return the current MB of this process."""
    return memory()["Rss"]


def own_memory() -> float:
    """Return the MB of this process that are not backed by a file."""
    return memory()["Anonymous"]


def peak() -> float:
    """Return the peak MB of this process; `getrusage` would count its parent's if that was larger."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1.024e-3 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    """Reset `peak`."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def family(root: int) -> list[int]:
    """Return the ids of a process and of all its descendants."""
    found = [root]
    for one in found:
        for tasks in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, tasks.read_text().split())
    return found


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far. Raises OSError if it has ended."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICK


@dataclass
class Watch:
    """CPU and memory of a process and all its descendants, sampled at a fixed interval; the sampling itself is not
    counted.

    cpu, wall : seconds      own : peak MB not backed by a file, of all together, shared pages counted once;
    by stage
    mapped : the same with pages of mapped files, which the system can reclaim
    largest, largest_mapped : of the single process with most      worker : of any but the first
    """

    root: int = field(default_factory=os.getpid)
    every: float = 0.1
    stage: str = ""
    cpu: float = 0.0
    wall: float = 0.0
    own: dict[str, float] = field(default_factory=dict)
    mapped: float = 0.0
    largest: float = 0.0
    largest_mapped: float = 0.0
    worker: float = 0.0

    def __enter__(self) -> Watch:
        self._seconds: dict[int, float] = {}
        self._looking = 0.0
        self._over = threading.Event()
        self._look()
        self._before = sum(self._seconds.values())
        self.own, self._begun = {}, time.perf_counter()
        self._thread = threading.Thread(target=self._look_on)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._look()

    @property
    def peak(self) -> float:
        return max(self.own.values(), default=0.0)

    def _look_on(self) -> None:
        while not self._over.wait(self.every):
            self._look()
            if self.root == os.getpid():
                self._looking = time.thread_time()

    def _look(self) -> None:
        seen = {pid: found for pid in family(self.root) if (found := memory(pid))}
        for pid in seen:
            with suppress(OSError):
                self._seconds[pid] = cpu_of(pid)
        self.own[self.stage] = max(self.own.get(self.stage, 0.0), _sum(seen.values(), "Pss_Anon"))
        self.mapped = max(self.mapped, _sum(seen.values(), "Pss"))
        for pid, one in seen.items():
            self.largest = max(self.largest, one["Anonymous"])
            self.largest_mapped = max(self.largest_mapped, one["Rss"] - one["Anonymous"])
            self.worker = max(self.worker, one["Anonymous"] if pid != self.root else 0.0)
        if hasattr(self, "_begun"):
            self.cpu = sum(self._seconds.values()) - self._before - self._looking
            self.wall = time.perf_counter() - self._begun


def watched(
    command: Sequence[str], stages: Sequence[str] = ("",), every: float = 0.1, **environment: str
) -> tuple[str, Watch]:
    """Return a command's output, and what it costs with all its children.

    stages : names of memory stages; each line printed begins the next
    """
    how = {"stdout": subprocess.PIPE, "text": True, "cwd": ROOT, "env": {**os.environ, **environment}}
    with subprocess.Popen(command, **how) as process, Watch(process.pid, every, stages[0]) as watch:
        said, left = "", list(stages[1:])
        for line in process.stdout:
            said, watch.stage = said + line, left.pop(0) if left else watch.stage
        process.wait()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return said, watch


def _sum(found: Iterable[dict[str, float]], name: str) -> float:
    return sum(one.get(name, 0.0) for one in found)
