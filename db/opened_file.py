"""The file of an SQLite database, known again by its device and inode.

A process goes on reading and writing the file it opened, whatever has become of its name. Was that file deleted, or
another one put in its place, then what the process writes is in no file that anybody will open again.
"""

from __future__ import annotations

import threading
from pathlib import Path


class DatabaseUnavailableError(RuntimeError):
    """The database takes no writes now; nothing was written."""


class DatabaseBusyError(DatabaseUnavailableError):
    """No turn to write came in time."""


class DatabaseReplacedError(DatabaseUnavailableError):
    """The path of the database does not lead to the file that this process opened, or that file was emptied.

    The message is for everybody to read, so the path is not in it, but in a note of the exception, which a log shows.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            "The database file was deleted, emptied or replaced while Winnow was running: what is stored now would be "
            "lost at the next start. Nothing was stored. Fix: stop Winnow, put the right file in its place, start it "
            "again."
        )
        self.add_note(f"The path: {path}")


class OpenedFile:
    """The file at this path as this process opened it first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._opened: tuple[int, int] | None = None

    def opened(self) -> None:
        """To be called after every new connection. The first one decides which file it is.

        Raises DatabaseReplacedError where a later one finds another file at the path.
        """
        with self._lock:
            if self._opened is None:
                found = self.path.stat()
                self._opened = found.st_dev, found.st_ino
        self.check()

    def check(self) -> None:
        """Raises DatabaseReplacedError where the path does not lead to the file that was opened. Takes microseconds."""
        if self._opened is None:
            return
        try:
            found = self.path.stat()
        except OSError as error:
            raise DatabaseReplacedError(self.path) from error
        # An open database has a header at least.
        if (found.st_dev, found.st_ino) != self._opened or not found.st_size:
            raise DatabaseReplacedError(self.path)

    def forget(self) -> None:
        """To be called once every connection is closed: the next one may open another file."""
        with self._lock:
            self._opened = None
