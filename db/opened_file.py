"""The file of an SQLite database while it is open: the same one, whole, at its path, with its log next to it.

A process continues reading and writing the files it opened, even if they were renamed or deleted. If the database or
its log (`-wal`) was deleted or replaced, then what the process writes is in no file that anyone will open again. If
the file was overwritten in place, the process reads a mixture of two databases.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

# First bytes of an SQLite file, read without SQLite: sqlite.org/fileformat.html, part 1.3.

MAGIC = b"SQLite format 3\0"
"""The start of every file of SQLite."""
_FIELDS = struct.Struct(">16xH10xI8xI16xI4xI")  # offsets 16, 28, 40, 60, 68
_LARGEST_PAGE = 65_536


@dataclass(frozen=True)
class FileHeader:
    """The header as of the last time that SQLite wrote its log (`-wal`) into the file.

    mark : 31 bits of the database's id; 0 before it has one      height : as `db.identity.Identity` has it
    cookie : changes with every change of the tables; that of a copy by VACUUM is another one
    size : of the whole file in bytes, or more
    """

    mark: int
    height: int
    cookie: int
    size: int


def read_header(descriptor: int) -> FileHeader | None:
    """The header of this open file; None if it is not a file of SQLite. Takes microseconds."""
    found = os.pread(descriptor, 100, 0)
    if len(found) < _FIELDS.size or not found.startswith(MAGIC):
        return None
    page, pages, cookie, height, mark = _FIELDS.unpack_from(found)
    return FileHeader(mark, height, cookie, pages * (_LARGEST_PAGE if page == 1 else page))


def is_empty(path: Path) -> bool:
    """Whether there is a file of 0 bytes. A database that SQLite has opened for writing has a header."""
    return path.is_file() and not path.stat().st_size


def is_no_sqlite(path: Path) -> bool:
    """Whether there is a file that does not begin like an SQLite file. Call it before SQLite opens the file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) != MAGIC


LOG, INDEX = "-wal", "-shm"


class DatabaseUnavailableError(RuntimeError):
    """The database takes no writes now; nothing was written. The message is for everyone to read."""


class DatabaseBusyError(DatabaseUnavailableError):
    """Another writer held the database for too long."""


class Loss(StrEnum):
    """Damage to the file, or its replacement, as a message."""

    GONE = "deleted or moved away"
    OTHER = "replaced by another one, or by an older copy"
    EMPTY = "emptied"
    OVERWRITTEN = "overwritten"
    SHORT = "cut short"
    LOG = "separated from its log (the file that ends with -wal)"


class DamagedPagesError(DatabaseUnavailableError):
    """A page of SQLite's file is damaged. The message is for everyone to read."""

    def __init__(self) -> None:
        super().__init__(
            "The database is damaged: a part of its file was overwritten or cut off. Fix: stop Winnow, put a backup in "
            "its place (winnow restore FILE --replace; winnow doctor says more), start it again."
        )


class DatabaseReplacedError(DatabaseUnavailableError):
    """The path of the database does not lead to the whole file that this process opened.

    The message is for everyone to read, so the path is not in it, but in a note of the exception, which a log shows.
    """

    def __init__(self, path: Path, loss: Loss, rescued: Path | None = None) -> None:
        kept = f" All that it held is in the file {rescued.name} next to it." if rescued else ""
        super().__init__(
            f"The database file was {loss} while Winnow was running: what is stored now would be lost at the next "
            f"start. Nothing was stored.{kept} Fix: put the right file in its place, under its name; Winnow then "
            "continues by itself."
        )
        self.add_note(f"The path: {path}")


@dataclass
class _Opened:
    """place : device and inode      beside : {path: device and inode} of log and index      anchor : a connection
    that keeps these files      largest : the file's largest size so far, in bytes"""

    descriptor: int
    place: tuple[int, int]
    anchor: sqlite3.Connection
    log: Path
    beside: dict[Path, tuple[int, int]]
    header: FileHeader
    largest: int


class OpenedFile:
    """The file at this path that this process opened first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.height = 0
        """The height of the last commit that this process has acknowledged."""
        self.mark = 0
        """The mark of the database, as `FileHeader` has it; 0 if it is not known."""
        self.times = 0
        """How often another file was opened instead of the previous one."""
        self.damaged = False
        """Whether a page of it was found damaged: from then on nothing in it can be trusted."""
        self._lock = threading.RLock()
        self._opened: _Opened | None = None
        self._rescued: Path | None = None

    def opened(self) -> None:
        """Note the opened file; call it after every new connection. The first one decides which file it is.

        Raises DatabaseReplacedError if a later one finds another file at the path; OSError, sqlite3.Error.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._hold()
        self.check()

    def _hold(self) -> _Opened:
        # The descriptor stays open as long as any connection: closing it would return the locks of all of them.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        anchor = sqlite3.connect(self.path, check_same_thread=False)
        try:
            anchor.execute("PRAGMA journal_mode=WAL").fetchall()
            anchor.execute("SELECT count(*) FROM sqlite_master").fetchall()  # log and index are there then
            found, header = os.fstat(descriptor), read_header(descriptor)
            if header is None:
                raise DatabaseReplacedError(self.path, Loss.OVERWRITTEN)
            real = self.path.resolve()
            log, index = (real.with_name(f"{real.name}{ending}") for ending in (LOG, INDEX))
            beside = {one: _place(one.stat()) for one in (log, index)}
        except BaseException:
            anchor.close()
            os.close(descriptor)
            raise
        return _Opened(descriptor, _place(found), anchor, log, beside, header, found.st_size)

    def check(self) -> None:
        """Raises DatabaseReplacedError where the path does not lead to the file that was opened. Takes microseconds."""
        loss = self.loss()
        if loss is not None:
            raise DatabaseReplacedError(self.path, loss, self._rescued)

    def check_pages(self) -> None:
        """Raises DamagedPagesError once a page was found damaged."""
        if self.damaged:
            raise DamagedPagesError

    def loss(self) -> Loss | None:
        """Damage to the file, or its replacement; None if there is none."""
        with self._lock:  # one thread at a time: each call compares with what the previous one saw
            return self._loss()

    def _loss(self) -> Loss | None:
        mine = self._opened
        if mine is None:
            return None
        try:
            found = self.path.stat()
        except OSError:
            return Loss.GONE
        if _place(found) != mine.place:
            return Loss.OTHER
        if not found.st_size:
            return Loss.EMPTY
        header = read_header(mine.descriptor)
        if header is None or (header != mine.header and not self._may_become(mine, header)):
            return Loss.OVERWRITTEN
        if found.st_size < min(mine.largest, header.size):
            return Loss.SHORT
        mine.header, mine.largest = header, found.st_size
        for beside, place in mine.beside.items():
            try:
                if _place(beside.stat()) != place:
                    return Loss.LOG
            except OSError:
                return Loss.LOG
        return None

    def _may_become(self, mine: _Opened, header: FileHeader) -> bool:
        """Whether SQLite itself can have written this header since."""
        if mine.header.mark not in (0, header.mark) or header.height < mine.header.height:
            return False
        if header.cookie == mine.header.cookie:
            return True
        with suppress(sqlite3.Error), self._lock:  # tables were changed, perhaps by a migration
            # The header is that of the last checkpoint: the log may contain further changes of the tables.
            now = int(mine.anchor.execute("PRAGMA schema_version").fetchone()[0])
            return mine.header.cookie < header.cookie <= now
        return False

    def go_on(self, drop: Callable[[], None]) -> None:
        """Switch to the file now at the path, if it is the same database and no acknowledged commit is missing.

        drop : closes all other connections; none of them may be in use
        Raises DatabaseReplacedError if it is not; the content of a deleted file is then saved next to it, once.
        """
        mine, loss = self._opened, self.loss()
        if mine is None or loss is None:
            return
        if loss is Loss.LOG and (not mine.log.exists() or _is_ours(mine)):
            _bring_in(mine)  # what was in the log is in the file then
        found = self._header_there(mine)
        if found is None or found.mark not in (self.mark, mine.header.mark) or found.height < self._told(mine):
            if loss in (Loss.GONE, Loss.OTHER):
                self._leave(mine, loss)  # now: the next file may be opened by someone
            self._rescue(mine)
            raise DatabaseReplacedError(self.path, loss, self._rescued)
        self._leave(mine, loss)
        self.damaged = False
        drop()
        self.forget()
        self.times += loss is not Loss.LOG

    def _told(self, mine: _Opened) -> int:
        """The height of the file that was opened, whichever process wrote to it last."""
        with suppress(sqlite3.Error), self._lock:
            return max(self.height, int(mine.anchor.execute("PRAGMA user_version").fetchone()[0]))
        return max(self.height, mine.header.height)

    def _header_there(self, mine: _Opened) -> FileHeader | None:
        """The header of the whole file at the path; None if there is none."""
        try:
            found = self.path.stat()
            if _place(found) == mine.place:
                header = read_header(mine.descriptor)
            else:
                other = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    header = read_header(other)
                finally:
                    os.close(other)
        except OSError:
            return None
        return header if header is not None and found.st_size >= header.size else None

    def leave(self) -> None:
        """Prepare closing the connections, so that the log is not mixed with another file that is at the path now."""
        mine, loss = self._opened, self.loss()
        if mine is not None and loss is not None:
            self._leave(mine, loss)

    def _leave(self, mine: _Opened, loss: Loss) -> None:
        """Prevent two ways of mixing databases: SQLite leaves behind the log of a file that is not at its path, and
        the next file there would be opened with it; and it writes the log into a file that was overwritten."""
        if loss in (Loss.GONE, Loss.OTHER):
            _bring_in(mine)
        elif loss is not Loss.LOG and self.loss() is loss:  # a header read while it is written looks overwritten, once
            with suppress(OSError):
                if _is_ours(mine):
                    os.truncate(mine.log, 0)

    def _rescue(self, mine: _Opened) -> None:
        """Save the content of a file that has no name any more and would be lost when this process ends."""
        if self._rescued is not None or os.fstat(mine.descriptor).st_nlink:
            return
        # The name includes the height: a later file may get the inode number of one that is gone.
        path = self.path.with_name(f"{self.path.name}.rescued-{mine.place[1]}-{self._told(mine)}")
        making = path.with_name(f".{path.name}.{os.getpid()}")
        with suppress(OSError, sqlite3.Error), self._lock:
            mine.anchor.execute("VACUUM INTO ?", (str(making),))
            making.chmod(0o600)
            making.replace(path)
            self._rescued = path
        with suppress(OSError):
            making.unlink(missing_ok=True)

    def forget(self) -> None:
        """Forget the file; call it once every connection is closed. The next connection may open another file."""
        with self._lock:
            mine, self._opened, self._rescued = self._opened, None, None
            self.damaged = False
            if mine is not None:
                with suppress(sqlite3.Error):
                    mine.anchor.close()
                os.close(mine.descriptor)


def _place(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _is_ours(mine: _Opened) -> bool:
    """Whether the log at its path is the one that was opened. Raises OSError if there is none."""
    return _place(mine.log.stat()) == mine.beside[mine.log]


def _bring_in(mine: _Opened) -> None:
    """Write all commits from the log into the file, and empty the log."""
    with suppress(sqlite3.Error), closing(mine.anchor.cursor()) as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
