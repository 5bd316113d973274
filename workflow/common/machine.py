"""How much memory the machine has, and this process takes."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a Linux container finds how much memory it may use: control groups of version 2, and of version 1."""


def machine_memory(limits: tuple[Path, ...] = LIMITS) -> int | None:
    """Bytes of memory that this machine, or the container it is, has; None where the system does not tell."""
    try:
        known = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):  # of systems that are not POSIX
        return None
    for path in limits:
        try:
            text = path.read_text()
        except OSError:
            continue
        if text.strip().isdecimal():  # "max" where there is no limit
            known.append(int(text))
    return min(known)


def own_memory(path: Path = Path("/proc/self/statm")) -> int | None:
    """Bytes in memory that this process alone has, pages of files not counted; None where the system does not tell.

    path : what Linux says of it, in pages: all of it, of that in memory, of that shared
    """
    try:
        _, resident, shared, *_ = map(int, path.read_text().split())
    except OSError:
        return None
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Let the system have the memory that nothing is in any more. glibc keeps it where it is not asked."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
