"""Uploaded files: each is written to the disk during the upload, within limits, and kept until it has been read.

They are under `WINNOW_HOME/uploads`, by names that no one can guess. Only the process that received them knows them,
and gives them only to their sender. Files of a killed server are removed when they are too old to be needed.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MB = 1_000_000
KEPT = 6 * 3600.0
"""Seconds that an unused file is kept."""
SPARE = 200 * MB
"""Bytes of the disk that are left to the database."""
LONGEST_NAME = 200


class NotTaken(ValueError):  # noqa: N818 - a refusal, in words for who sends the file
    """The file is refused; no part of it is stored."""


class TooLarge(NotTaken):
    """It is larger than any file may be."""


class OneAtATime(NotTaken):
    """This person is already uploading another file."""


class NoRoom(NotTaken):
    """The limit for one person or for all is exceeded, or the disk is full."""


@dataclass(frozen=True)
class Room:
    """Limits in bytes. file : of one file person : of the files of one person all : of all files"""

    file: int
    person: int
    all: int


@dataclass(frozen=True)
class Arrived:
    """A file that came whole. key : names it      name : as it was called where it came from      size : bytes"""

    key: str
    name: str
    path: Path
    size: int


@dataclass(eq=False)
class _Kept:
    person_id: int
    file: Arrived
    used_at: float


class Arriving:
    """A file during its upload: `write` the pieces, then `finish`; always `end`. One thread at a time."""

    def __init__(self, store: Arrivals, person_id: int, name: str, path: Path, room: Room) -> None:
        self.person_id, self.name, self.path = person_id, name, path
        self.size = 0
        self.room = room
        self._store = store
        self._file: BinaryIO | None = None

    def write(self, data: bytes | bytearray) -> None:
        """Add to it. Raises TooLarge and NoRoom."""
        self._store._grow(self, len(data))
        try:
            if self._file is None:
                self._file = self.path.open("xb")
            self._file.write(data)
        except OSError as error:
            raise NoRoom(_disk(error)) from error

    def finish(self) -> Arrived:
        """It came whole. Raises NoRoom where the disk is full."""
        self.write(b"")  # an empty file is one, too
        try:
            self._close()
        except OSError as error:
            raise NoRoom(_disk(error)) from error
        return self._store._finished(self)

    def end(self) -> None:
        """End the upload; unless it is finished, the partial file is removed."""
        with contextlib.suppress(OSError):  # a partial file is removed anyway
            self._close()
        self._store._ended(self)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


class Arrivals:
    """The uploads of one process. clock : seconds of any clock that continues"""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._coming: dict[int, Arriving] = {}
        self._kept: dict[str, _Kept] = {}

    def begin(self, folder: Path, person_id: int, name: str, size: int | None, room: Room) -> Arriving:
        """A file begins to come. size : bytes that were announced, None if none were

        Of the person's own files the oldest give way to it. Raises TooLarge, OneAtATime and NoRoom.
        """
        announced = size or 0
        if announced > room.file:
            raise TooLarge(_too_large(room))
        try:
            self.sweep()
            folder.mkdir(mode=0o700, exist_ok=True)
            others = _lying(folder) - sum(one.file.size for one in tuple(self._kept.values()))
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise NoRoom(_disk(error)) from error
        expected = room.file if size is None else size
        if free - expected < SPARE:
            raise NoRoom(_disk(None))
        # Hexadecimal: pages name boxes after it, and Streamlit refuses a component whose name holds "__".
        arriving = Arriving(self, person_id, plain_name(name), folder / secrets.token_hex(24), room)
        with self._lock:
            if person_id in self._coming:
                raise OneAtATime(
                    "Another file of yours is being uploaded. Fix: wait until it has arrived, or cancel it."
                )
            self._make_room(arriving, announced, max(0, others))
            self._coming[person_id] = arriving
        return arriving

    def find(self, person_id: int, key: str) -> Arrived | None:
        """Find a file of this person, which is stored for another KEPT seconds; None if there is none."""
        self.sweep()
        with self._lock:
            found = self._kept.get(key)
            if found is None or found.person_id != person_id:
                return None
            try:
                os.utime(found.file.path)  # another server at this home sees that it is wanted
            except OSError:
                self._drop(found)
                return None
            found.used_at = self._clock()
            return found.file

    def remove(self, person_id: int, key: str) -> None:
        """The file is not needed any more. Nothing happens where this person has none of that key."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None and found.person_id == person_id:
                self._drop(found)

    def sweep(self) -> None:
        """Remove what no page has asked for in KEPT seconds."""
        with self._lock:
            for one in [kept for kept in self._kept.values() if kept.used_at + KEPT <= self._clock()]:
                self._drop(one)

    def close(self) -> None:
        """Remove all of them."""
        with self._lock:
            for one in list(self._kept.values()):
                self._drop(one)

    def _grow(self, arriving: Arriving, more: int) -> None:
        if arriving.size + more > arriving.room.file:
            raise TooLarge(_too_large(arriving.room))
        with self._lock:
            coming = sum(one.size for one in self._coming.values() if one is not arriving)
            self._make_room(arriving, arriving.size + more, coming)
            arriving.size += more

    def _make_room(self, arriving: Arriving, size: int, others: int) -> None:
        """Let the oldest of the person's files go that this many bytes need, and raise NoRoom where that is not enough.
        others : bytes that are there in addition to those that are kept here"""
        room = arriving.room
        if size > room.person:
            raise NoRoom(_full(room.person, "WINNOW_UPLOAD_MB"))
        kept = sorted(self._kept.values(), key=lambda one: one.used_at)
        mine = [one for one in kept if one.person_id == arriving.person_id]
        while mine and sum(one.file.size for one in mine) + size > room.person:
            self._drop(mine.pop(0))
        if sum(one.file.size for one in self._kept.values()) + others + size > room.all:
            raise NoRoom(_full(room.all, "WINNOW_UPLOADS_MB"))

    def _finished(self, arriving: Arriving) -> Arrived:
        file = Arrived(arriving.path.name, arriving.name, arriving.path, arriving.size)
        with self._lock:
            self._kept[file.key] = _Kept(arriving.person_id, file, self._clock())
        return file

    def _ended(self, arriving: Arriving) -> None:
        with self._lock:
            if self._coming.get(arriving.person_id) is arriving:
                del self._coming[arriving.person_id]
            if arriving.path.name not in self._kept:
                arriving.path.unlink(missing_ok=True)

    def _drop(self, kept: _Kept) -> None:
        self._kept.pop(kept.file.key, None)
        kept.file.path.unlink(missing_ok=True)


def plain_name(name: str) -> str:
    """The name of a file without folders, control characters and what makes text run backwards."""
    last = re.split(r"[/\\]", name)[-1]
    plain = "".join(one for one in last if one.isprintable()).strip()
    return plain[-LONGEST_NAME:] if plain.strip(".") else "file"


def clear(folder: Path) -> None:
    """Remove what a server has left that was killed. Younger files may belong to another server at this home."""
    if folder.is_dir():
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # the other server was quicker, or nothing can be written now
                if path.lstat().st_mtime < time.time() - KEPT:
                    path.unlink()


def _lying(folder: Path) -> int:
    """Bytes of all files, including those of other servers."""
    found = 0
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += path.lstat().st_size
    return found


def _too_large(room: Room) -> str:
    return (
        f"The file is larger than {room.file // MB:,} MB. Fix: split the table, or leave out columns that nothing is "
        "learnt from."
    )


def _full(most: int, setting: str) -> str:
    whose = "of everybody" if setting == "WINNOW_UPLOADS_MB" else "of one person"
    return (
        f"Files {whose} that wait here may have {most // MB:,} MB in all. Fix: try again once they were used, or have "
        f"{setting} raised."
    )


def _disk(error: OSError | None) -> str:
    why = "is nearly full" if error is None else f"cannot be written ({error.strerror or error})"
    return f"The disk of this Winnow {why}. Fix: have room made on it, then try again."
