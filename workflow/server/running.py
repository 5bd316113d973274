"""Addresses of the servers that run on a data folder: each writes its address to a file and holds a lock on it.

The lock ends with the process, so a note without a lock belongs to a server that has ended.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TextIO

from plcore.arrays import escaped as escaped

if sys.platform != "win32":
    import fcntl
    import resource


@contextmanager
def noted(folder: Path, address: str) -> Iterator[None]:
    """Note the address of this server for the duration of the block. folder : folder of the notes; created if
    missing"""
    folder.mkdir(mode=0o700, exist_ok=True)
    # In containers that share the folder, two servers may both be process 7.
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
    """Return the addresses of the running servers, the latest first. Old notes are removed."""
    found = []
    for path in folder.glob("[0-9]*"):
        with suppress(FileNotFoundError), path.open() as note:  # it may end meanwhile
            if _lock(note):
                path.unlink()
            else:
                found.append((os.fstat(note.fileno()).st_mtime_ns, note.read()))
    return [address for _, address in sorted(found, reverse=True)]


def _lock(note: IO[str]) -> bool:
    """Return whether the file's lock was free; it is held from now on."""
    if sys.platform == "win32":
        return False  # not available on this system: a killed server counts as running
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Lock of a data folder: all processes of Winnow share a lock on a file in it; a restore needs an exclusive lock.
#
# The system releases the lock when a process ends, in whatever way.

NAME = "in-use"
RESTORING = "restore-lock"
"""File that a start locks while it restores a backup, and before and after it has the folder exclusively."""


class InUseError(RuntimeError):
    """Others have the folder open, or someone has it alone; in words."""


def share(home: Path) -> IO[bytes]:
    """Return the lock that every process holds while it has the folder open; closing the file releases it.

    Raises InUseError while the folder is being restored, OSError.
    """
    file = (home / NAME).open("ab")
    if not _in_use_lock(file, alone=False):
        file.close()
        raise InUseError(f"The data folder {home} is being restored from a backup. Fix: wait until that is done.")
    return file


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """Hold the folder exclusively during the block. Raises InUseError if another process has it open, OSError."""
    with (home / NAME).open("ab") as file:
        if not _in_use_lock(file, alone=True):
            raise InUseError(
                f"The data folder {home} is open in a running Winnow (a server, a worker or a command). Nothing was "
                "changed. Fix: stop it, then try again."
            )
        yield


@contextmanager
def only_restore(home: Path) -> Iterator[bool]:
    """Yield whether no other start is restoring a backup; none can begin during the block. Raises OSError."""
    with (home / RESTORING).open("ab") as file:
        yield _in_use_lock(file, alone=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Let one process at a time run the block for this folder; others wait. Raises OSError."""
    if sys.platform == "win32":
        yield
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _in_use_lock(file: IO[bytes], *, alone: bool) -> bool:
    """Return whether the lock was free."""
    if sys.platform == "win32":
        return True  # not available on this system; an open file cannot be replaced there
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Terminal messages of the server until it is ready: text, or for programs one document on standard output.


COMPILING = "Compiling the numeric kernels (once)"
BAR = 10


class Terminal:
    """The terminal of a server. as_json : whether standard output gets a document, and text goes to standard error
    failed : whether a failed start was reported"""

    def __init__(self) -> None:
        self.as_json = False
        self.failed = False
        self._compiles = False

    def say(self, text: str) -> None:
        """Print a line for the waiting user."""
        self._words(f"  {text}")

    def compiling(self, share: float, left: float | None) -> None:
        """Show the progress of compiling the kernels: a bar on one line that is redrawn; in a log, one line without a
        bar.

        share : in [0, 1]      left : seconds, None if unknown"""
        out = self._out()
        if not out.isatty():
            if not self._compiles:
                self.say(f"{COMPILING} ...")
        else:
            done = round(BAR * share)
            words = "" if share >= 1 or left is None else f", about {max(1, round(left))} s left"
            line = f"  {COMPILING} [{'#' * done}{'-' * (BAR - done)}] {share:.0%}{words}"
            print(f"\r{line:<79}", end="\n" if share >= 1 else "", file=out, flush=True)
        self._compiles = share < 1

    def ready(self, address: str, link: str) -> None:
        """Report that the server is ready. address : address for browsers      link : one-time sign-in link of the
        owner"""
        if not self.as_json:
            self._words(f"\n  Winnow is ready. Sign in (once, within an hour):\n\n  {link}\n")
        else:  # show a secret only once: text next to the document is often stored
            self._words("\n  Winnow is ready.\n")
            print(json.dumps({"address": address, "link": link}), flush=True)  # noqa: T201 - for the program that waits

    def cannot_start(self, why: str) -> None:
        """Say on standard error why the server does not start."""
        self.failed = True
        print(f"Winnow cannot start. {why}", file=sys.stderr, flush=True)  # noqa: T201 - for the person at the terminal

    def _words(self, text: str) -> None:
        print(text, file=self._out(), flush=True)

    def _out(self) -> TextIO:
        return sys.stderr if self.as_json else sys.stdout


terminal = Terminal()
"""Terminal of this process."""


# Number of files this process may have open: each socket is one, each connection to SQLite three.

FILES_A_PAGE = 5
"""File descriptors per open page: its websocket, a request, and a connection to SQLite."""
FILES_BESIDE = 300
"""File descriptors for everything else: mapped tables, the database, libraries."""
PAGES = 1_000
"""Maximum number of open pages of a server, if its file limit is high enough."""
_ENOUGH = 65_536


def raise_most_files() -> None:
    """Raise the limit of open files as far as this process may: systemd and shells start with 1,024."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # a system that allows fewer than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_files(*, raised: bool = False) -> int:
    """Return the number of files that this process may have open. raised : as after `raise_most_files`"""
    if sys.platform == "win32":
        return _ENOUGH
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1 if raised else 0]
    return _ENOUGH if most == resource.RLIM_INFINITY else most


def most_pages(*, raised: bool = False) -> int:
    """Return the number of pages that people may have open at this process at once. raised : as in `most_files`"""
    return max(1, min(PAGES, (most_files(raised=raised) // 2 - FILES_BESIDE) // FILES_A_PAGE))
