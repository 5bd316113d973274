"""Which servers run on a data folder, and where: each notes its address in a file that it holds locked.

The lock ends with the process, however that ends, so that a note without one is of a server that is no more.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextmanager
def noted(folder: Path, address: str) -> Iterator[None]:
    """Note the address of this server for as long as the block lasts. folder : of the notes; made where it is not"""
    folder.mkdir(mode=0o700, exist_ok=True)
    # In containers that share the folder two servers may be process 7.
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    path, new = folder / name, folder / f".{name}"
    with new.open("w") as note:
        _lock(note)  # before it has its name
        note.write(address)
        note.flush()
        new.replace(path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def running(folder: Path) -> list[str]:
    """The addresses of the servers that run, the latest first. What others left behind is removed."""
    found = []
    for path in folder.glob("[0-9]*"):
        with suppress(FileNotFoundError), path.open() as note:  # it may end meanwhile
            if _lock(note):
                path.unlink()
            else:
                found.append((os.fstat(note.fileno()).st_mtime_ns, note.read()))
    return [address for _, address in sorted(found, reverse=True)]


def _lock(note: IO[str]) -> bool:
    """Whether the lock of the file could be had, which is held from now on."""
    if sys.platform == "win32":
        return False  # there is none of this kind: a server that was killed is taken for one that runs
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
