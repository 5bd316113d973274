"""Writing a file that is there whole, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PART = ".part"
"""Ends the name of a file that is being written."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which is put at `path` when the block has ended, in place of what was there.

    It is written beside it, in the same folder, and brought to disk first; then its name is. Where the block does not
    end well, for whatever reason, the half of it is removed and what was there stays. What is no file, such as a pipe
    or ``/dev/null``, is written as it is. Raises OSError.
    """
    path = path.resolve()  # a link stays one
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            yield device
        return
    aside = path.with_name(f".{path.name[:40]}-{secrets.token_hex(4)}{PART}")
    try:
        with aside.open("xb") as file:
            if path.exists():
                shutil.copymode(path, aside)  # who could not read what was there cannot read this
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        sync_folder(path.parent)
    except BaseException:  # Ctrl-C, too
        aside.unlink(missing_ok=True)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder for this user alone, with those above it, where they are missing: their names survive a power cut,
    or what is put into them would be gone with them. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in missing:
        sync_folder(one.parent)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder survive a power cut: syncing a file keeps its bytes, not its name. Raises OSError."""
    if os.name != "posix":
        return  # other systems cannot open folders
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # a folder may be one to write in and not to read
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_all() -> None:
    """Have the disk know all that was written: a sync for each of 50,000 files would take minutes."""
    if hasattr(os, "sync"):  # elsewhere the system alone decides when
        os.sync()
