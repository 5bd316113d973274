"""The disk, which needs no NumPy: whether it is full, and names of files that survive a power cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def no_room(error: BaseException) -> bool:
    """Return whether the error means that a disk, or a user's quota on it, is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its file names survive a power cut: syncing a file saves its bytes, not its name. Raises
    OSError."""
    if os.name != "posix":
        return  # other systems cannot open folders
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # a folder may be writable but not readable
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
