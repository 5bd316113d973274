"""Which servers run on a data folder, and where: each notes its address in a file that it holds locked.

The lock ends with the process, however that ends, so that a note without one is of a server that is no more.
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
    """Note the address of this server for as long as the block lasts. folder : of the notes; made if it is not"""
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
        return False  # not available on this system: a killed server counts as running
    try:
        fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Lock of a data folder: all processes of Winnow share a lock on a file in it, and a restore needs it alone.
#
# The system gives the lock back when a process ends, however it ends.

if sys.platform != "win32":
    import fcntl

NAME = "in-use"
RESTORING = "restore-lock"
"""The file that a start holds while it puts a backup back, before and after it has the folder alone."""


class InUseError(RuntimeError):
    """Others have the folder open, or someone has it alone; in words."""


def share(home: Path) -> IO[bytes]:
    """The lock that every process holds while it has the folder open; closing the file gives it back.

    Raises InUseError while the folder is being restored, OSError.
    """
    file = (home / NAME).open("ab")
    if not _in_use_lock(file, alone=False):
        file.close()
        raise InUseError(
            f"The data folder {home} is being restored from a backup. Fix: wait until that is done."
        )
    return file


@contextmanager
def alone(home: Path) -> Iterator[None]:
    """No one else opens the folder during the block. Raises InUseError where someone has, OSError."""
    with (home / NAME).open("ab") as file:
        if not _in_use_lock(file, alone=True):
            raise InUseError(
                f"The data folder {home} is open in a running Winnow (a server, a worker or a command). Nothing was "
                "changed. Fix: stop it, then try again."
            )
        yield


@contextmanager
def only_restore(home: Path) -> Iterator[bool]:
    """Whether no other start puts a backup back, nor can during the block. Raises OSError."""
    with (home / RESTORING).open("ab") as file:
        yield _in_use_lock(file, alone=True)


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Anyone who asks the same of this folder waits until the block has ended. Raises OSError."""
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
    """Whether the lock could be had at once."""
    if sys.platform == "win32":
        return True  # not available on this system; an open file cannot be replaced there
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# Terminal messages of the server until it is ready: words, or for programs one document on standard output.


COMPILING = "Compiling the numeric kernels (once)"
BAR = 10


class Terminal:
    """as_json : whether standard output has a document, and words go to standard error
    failed : whether it was said that the server cannot start"""

    def __init__(self) -> None:
        self.as_json = False
        self.failed = False
        self._compiles = False

    def say(self, text: str) -> None:
        """A line for anyone who waits."""
        self._words(f"  {text}")

    def compiling(self, share: float, left: float | None) -> None:
        """How far the kernels are: one line with a bar, drawn again and again; in a log one line without.
        share : in [0, 1]      left : seconds, None if not known yet"""
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
        """The server is ready. address : at which people reach it      link : by which the owner signs in, once"""
        if not self.as_json:
            self._words(f"\n  Winnow is ready. Sign in (once, within an hour):\n\n  {link}\n")
        else:  # a secret is in one place: what is said next to the document is often kept
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
"""For this process."""


# How many files this process may have open: a socket is one, and so is every connection to SQLite three times.

FILES_A_PAGE = 5
"""File descriptors per open page: its websocket, a request, and a connection to SQLite."""
FILES_BESIDE = 300
"""For all else: tables that are mapped, the database, libraries."""
PAGES = 1_000
"""Open pages of a server, where its files suffice."""
_ENOUGH = 65_536


def raise_most_files() -> None:
    """Let this process open as many files as it may allow itself: systemd and shells begin with 1,024."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # a system that allows fewer than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def most_files(*, raised: bool = False) -> int:
    """Files that this process may have open. raised : once `raise_most_files` was called"""
    if sys.platform == "win32":
        return _ENOUGH
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1 if raised else 0]
    return _ENOUGH if most == resource.RLIM_INFINITY else most


def most_pages(*, raised: bool = False) -> int:
    """Return how many pages people may have open at this process at once. raised : as in `most_files`"""
    return max(1, min(PAGES, (most_files(raised=raised) // 2 - FILES_BESIDE) // FILES_A_PAGE))
