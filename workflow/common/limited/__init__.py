"""Files of users are read in a process of their own, whose memory, time and files are limited.

A server of many threads must not fork. So a helper of one thread (`helper.py`) has all readers loaded and forks for
each job (`jobs.py`), as `asking.py` asks it to; what a job may cost follows from the size of the file (`bounds.py`).
Those of imports wait for each other (`line.py`). Pictures and recordings that somebody looks at are decoded so, too
(`looking.py`, `look_jobs.py`), and wait for no import. A job gets and gives JSON and files in the stored forms of the
house, never pickles.
"""

from __future__ import annotations

from workflow.common.limited.asking import NUMBERS, TABLE, Finished, ask, ask_in_turn, start
from workflow.common.limited.bounds import Bounds
from workflow.common.limited.line import LongLine, OnWait
from workflow.common.limited.looking import look

__all__ = [
    "NUMBERS",
    "TABLE",
    "Bounds",
    "Finished",
    "LongLine",
    "OnWait",
    "ask",
    "ask_in_turn",
    "look",
    "start",
]
