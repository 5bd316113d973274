"""Limits of a job on a file, by its size; set in the child itself, kept by the system."""

from __future__ import annotations

import math
import resource
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

MB = 1_000_000
_MOST_MB = 6_000
_MOST_SECONDS = 7_200
_FILES = 128
_FILE_MB = 4_000
_FILE_SHARE = 6
"""Bytes of one file that a job leaves, for each that it was given: of cells of one digit, which are 2 bytes as CSV, the
stored table has 5 times as many bytes, and the file of numbers 4 times."""


@dataclass(frozen=True)
class Bounds:
    """Limits of one job.

    memory_mb : beyond what the child shares with the helper      cpu : seconds      wall : seconds
    file_mb : of the largest file that the job may leave
    """

    memory_mb: int
    cpu: int
    wall: int
    file_mb: int = _FILE_MB

    @classmethod
    def of_file(cls, size: int, least_mb: int = 200) -> Bounds:
        """Limits for work on `size` bytes: a small file must be cheap, no matter what it unpacks to. least_mb : memory
        for 0 bytes"""
        mb = size / MB
        cpu = min(round(18 + 4 * mb), _MOST_SECONDS)
        return cls(min(round(least_mb + 40 * mb), _MOST_MB), cpu, 10 * cpu, max(_FILE_MB, round(_FILE_SHARE * mb)))

    def to_json(self) -> dict[str, int]:
        """Return the bounds for the child process."""
        return asdict(self)

    def file_bytes(self) -> int:
        """For the largest file that the job may leave, as anyone who started the server allows."""
        return _no_more_than(resource.RLIMIT_FSIZE, self.file_mb * MB)

    def set(self) -> None:
        """Limit this process for good. The system ends a process that exceeds a time limit, no matter what it runs."""
        # Writable private memory is what a process costs; its address space also holds what is only reserved.
        kind = resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS
        limits = {
            kind: _in_use() + self.memory_mb * MB,
            resource.RLIMIT_FSIZE: self.file_bytes(),
            resource.RLIMIT_NOFILE: _FILES,
            resource.RLIMIT_CORE: 0,
        }
        for limit, value in limits.items():
            resource.setrlimit(limit, (_no_more_than(limit, value),) * 2)
        # The soft limit sends SIGXCPU, which ends a process; the hard one, a second later, cannot be caught.
        cpu = math.ceil(time.process_time()) + self.cpu
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self.wall)


def _no_more_than(limit: int, value: int) -> int:
    """The value, or what anyone who started the server allows at most."""
    hard = resource.getrlimit(limit)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _in_use() -> int:
    """Bytes of writable memory that this process has, most of it shared with the helper."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
