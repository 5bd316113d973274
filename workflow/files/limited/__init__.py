"""Reading of user files in processes with limited memory, time and files.

A server with many threads must not fork. So a helper with one thread (`helper.py`) loads all readers and forks for each
job (`jobs.py`) on request (`asking.py`). The limits follow from the size of the file (`bounds.py`). Imports wait for
each other. Images and recordings on a page are decoded in the same way (`looking.py`) and wait for no import. Jobs
exchange JSON and files in our stored formats, never pickles.
"""

from __future__ import annotations

from workflow.files.limited.asking import NUMBERS, TABLE, Finished, LongLine, OnWait, ask, run_in_turn, start
from workflow.files.limited.bounds import Bounds
from workflow.files.limited.looking import look
