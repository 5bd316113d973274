"""How much memory the machine has."""

from __future__ import annotations

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
