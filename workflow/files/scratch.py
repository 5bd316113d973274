"""Folders for what is made of an upload, in the system's place for such: none outlives its process for long.

A process holds the lock of its folder, which ends with the process, however that ends: a folder whose lock can be had
is of no one. The folder itself is locked, not a file in it, so there is never a folder without a lock.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "winnow-read-"


class Scratch:
    """A folder of this process, there as long as this lives. path : where      close : remove it now

    Raises OSError where none can be made.
    """

    def __init__(self) -> None:
        self.path, held = _made()
        self.close = weakref.finalize(self, _remove, self.path, held)


def clear() -> None:
    """Remove the folders of this person's processes that are no more."""
    if sys.platform == "win32":
        return  # there is no lock of this kind: leftovers of a killed process stay
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # it ends meanwhile, is another person's, or cannot be removed now
            if path.lstat().st_uid != os.geteuid():
                continue
            held = _held(path)
            if held is not None:
                _remove(path, held)


def _made() -> tuple[Path, int | None]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        if sys.platform == "win32":
            return path, None
        with suppress(FileNotFoundError):  # another process mistook it for an abandoned folder before it was locked
            held = _held(path)
            if held is not None and path.exists():
                return path, held
            if held is not None:
                os.close(held)


def _held(path: Path) -> int | None:
    """Holder of the lock of this folder; None if another process does. Raises OSError."""
    if sys.platform == "win32":
        return None
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return descriptor


def _remove(path: Path, held: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if held is not None:
        os.close(held)
