"""Who has a data folder open: all processes of Winnow share a lock on a file in it, and a restore needs it alone.

The system gives the lock back when a process ends, however it ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

NAME = "in-use"
RESTORING = "restore-lock"
"""The file that a start holds while it puts a backup back, before and after it has the folder alone."""


class InUseError(RuntimeError):
    """Others have the folder open, or somebody has it alone; in words."""


def share(home: Path) -> IO[bytes]:
    """The lock that every process holds while it has the folder open; closing the file gives it back.

    Raises InUseError while the folder is being restored, OSError.
    """
    file = (home / NAME).open("ab")
    if not _lock(file, alone=False):
        file.close()
        raise InUseError(
            f"The data folder {home} is being restored from a backup. Fix: wait until that is done."
        )
    return file


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Nobody else opens the folder during the block. Raises InUseError where somebody has, OSError."""
    with (home / NAME).open("ab") as file:
        if not _lock(file, alone=True):
            raise InUseError(
                f"The data folder {home} is open in a running Winnow (a server, a worker or a command). Nothing was "
                "changed. Fix: stop it, then try again."
            )
        yield


@contextmanager
def only_restore(home: Path) -> Iterator[bool]:
    """Whether no other start puts a backup back, nor can during the block. Raises OSError."""
    with (home / RESTORING).open("ab") as file:
        yield _lock(file, alone=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Whoever asks the same of this folder waits until the block has ended. Raises OSError."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(file: IO[bytes], *, alone: bool) -> bool:
    """Whether the lock could be had at once."""
    if sys.platform == "win32":
        return True  # there is none of this kind; a file that is open cannot be replaced there
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
