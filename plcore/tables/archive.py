"""A zip of one table and the files its rows name, opened with suspicion: everything is checked before it is used.

Nothing is ever unpacked to a path of the zip's choosing. Files are found by name and unpacked one at a time, in pieces,
into memory or, long recordings, into a temporary file without a name: `zipfile` hands out at most the size an entry
declares and checks its sum, so that neither a declared size (checked here, first) nor a real one beyond it can fill
memory or disk.
"""

from __future__ import annotations

import io
import stat
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

from plcore.common.words import quoted
from plcore.tables.file_tree import (
    MAX_FILE_MB,
    MAX_FILES,
    MAX_UNPACKED_MB,
    MAX_ZIP_MB,
    MB,
    SMALLER,
    FileTree,
    MediaError,
    in_mb,
    is_litter,
    most_mb,
    normal,
    path_fault,
    problem_with,
    refused,
)
from plcore.tables.problems import Problem, TableError, table_error

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # a zip with files, and one without
ZIP_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError),
    ValueError,  # an offset before the file
)
"""What zipfile raises over bad bytes."""

_MAX_DIRECTORY = (
    400 * MAX_FILES
)  # bytes of the zip's list of contents; zipfile reads all of it before it counts
_ARCHIVES = (".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst")
_PIECE = 1 << 20
_IN_MEMORY = MAX_FILE_MB * MB


class Archive(FileTree):
    """The checked contents of a zip (its bytes or its path): one table, and files found by the names in its cells.

    data : its bytes
    Raises TableError, naming every entry at fault: no zip; too large, packed or unpacked; too many files; paths
    that lead out of the zip; links; encrypted, doubly named or oddly packed entries; archives inside; not
    exactly one table, that is one CSV or, where there is none, one file of another format.
    """

    what = "zip"

    def __init__(self, source: bytes | Path) -> None:
        data = source if isinstance(source, bytes) else _read(source)
        if len(data) > MAX_ZIP_MB * MB:
            raise refused(f"The zip has {in_mb(len(data))} MB; at most {MAX_ZIP_MB} are taken.", SMALLER)
        entries = _open(data)
        problems = [problem for entry in entries if (problem := _fault(entry)) is not None]
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            # Not is_dir(): it fails on an empty name, which is what zipfile makes of one that begins with NUL.
            if entry.filename.endswith("/") or is_litter(entry.filename):
                continue
            name = normal(entry.filename)
            if name in self._entries:
                fix = "Keep one of them. (Names that look alike on your screen count as the same.)"
                problems.append(problem_with(f"The zip holds two files named {quoted(name)}.", fix))
            self._entries[name] = entry
        if problems:
            raise table_error(problems)
        self.data = data
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        super().__init__(self._entries)

    def open(self, name: str) -> BinaryIO:
        """A file that `find` has named, unpacked, from its first byte on. Raises MediaError where it is damaged."""
        unpacked: BinaryIO = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # type: ignore[assignment]  # noqa: SIM115 - the caller's
        try:
            with self._zip.open(self._entries[name]) as file:
                while piece := file.read(_PIECE):  # read() alone would inflate everything at once
                    unpacked.write(piece)
        except ZIP_FAULTS as error:
            unpacked.close()
            fix = "Make the zip anew, with an ordinary zip program."
            raise MediaError(f"it is damaged in the zip ({type(error).__name__}).", fix) from error
        unpacked.seek(0)
        return unpacked

    def close(self) -> None:
        """Let go of the bytes; nothing can be read any more."""
        self._zip.close()
        self.data = b""


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_ZIP_MB * MB + 1)


def _open(data: bytes) -> list[zipfile.ZipInfo]:
    """The entries, their number and size bounded before and after zipfile reads the list of them."""
    try:
        # zipfile reads the whole list before anybody can count it, and an entry of 50 bytes becomes an object of
        # a thousand. Where it will look for the list, and how long that is, only this function of its own says.
        end = zipfile._EndRecData(io.BytesIO(data))  # type: ignore[attr-defined]
        if end is not None and end[zipfile._ECD_SIZE] > _MAX_DIRECTORY:  # type: ignore[attr-defined]
            raise _too_many("far more")
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            entries = file.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        if isinstance(error, TableError):
            raise
        fix = "Make the zip anew, with an ordinary zip program."
        raise refused(f"The zip cannot be read ({error}).", fix) from error
    if len(entries) > MAX_FILES:
        raise _too_many(f"{len(entries):,}")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED_MB * MB:
        message = f"Unpacked, the files have {in_mb(unpacked)} MB; at most {MAX_UNPACKED_MB:,} are taken."
        raise refused(message, SMALLER)
    return entries


def _fault(entry: zipfile.ZipInfo) -> Problem | None:
    """What is wrong with an entry by what the zip says of it, its bytes unread."""
    name = entry.orig_filename  # zipfile cuts a name at a NUL character
    shown = quoted(name)
    mode = stat.S_IFMT(entry.external_attr >> 16)
    if wrong := path_fault(name.removesuffix("/")):
        return problem_with(
            f"The name {shown} in the zip {wrong}.", "Make the zip anew from plain files and folders."
        )
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return problem_with(f"{shown} in the zip is a link, not a file.", "Put the file itself into the zip.")
    if entry.flag_bits & 0x2041:  # encrypted, strongly encrypted, list of contents encrypted
        return problem_with(f"{shown} in the zip is encrypted.", "Make the zip anew without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fix = "Make the zip anew, with an ordinary zip program and no special method."
        return problem_with(f"{shown} in the zip is packed in an unusual way.", fix)
    if name.lower().endswith(_ARCHIVES):
        return problem_with(
            f"The zip holds another archive, {shown}.", "Unpack it and put its files into the zip."
        )
    if entry.file_size > (most := most_mb(name)) * MB:
        return problem_with(f"{shown} has {in_mb(entry.file_size)} MB; at most {most} are taken.", SMALLER)
    return None


def _too_many(count: str) -> TableError:
    message = f"The zip holds {count} files and folders; at most {MAX_FILES:,} are taken."
    return refused(message, "Import the table in parts.")
