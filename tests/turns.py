"""Workers take the time that is left over, which on a busy machine may be none for minutes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def give_turn(process: int) -> None:
    """Let this process, a worker, run as others do."""
    with suppress(OSError):  # it has just ended
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setscheduler(int(thread.name), os.SCHED_OTHER, os.sched_param(0))
