"""A zip of one table and the files its rows name, opened with suspicion: everything is checked before it is used.

Nothing is ever unpacked to a path of the zip's choosing. Files are found by name and unpacked one at a time, in pieces,
into memory or, long recordings, into a temporary file without a name: `zipfile` hands out at most the size an entry
declares and checks its sum, so that neither a declared size (checked here, first) nor a real one beyond it can fill
memory or disk.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from plcore.common.words import listed, quoted
from plcore.tables.problems import Problem, TableError, table_error

MAX_ZIP_MB = 200
MAX_FILES = 50_000  # files and folders together
MAX_FILE_MB = 20  # one image, or any other file that is no table, unpacked
MAX_RECORDING_MB = 1000
MAX_UNPACKED_MB = 1000  # all files together, unpacked

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # a zip with files, and one without
ZIP_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError),
    ValueError,  # an offset before the file
)
"""What zipfile raises over bad bytes."""

_MB = 1_000_000
_MAX_DIRECTORY = (
    400 * MAX_FILES
)  # bytes of the zip's list of contents; zipfile reads all of it before it counts
_TABLES = (".csv", ".tsv")
_OTHER_TABLES = (
    *(".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".npz", ".mat", ".arff"),
)
RECORDINGS = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a")
_TEXT = ".txt"
"""The ending of the tables of Raven and Audacity; a table only where it has tabs and there is no other."""
_DETECTOR = re.compile(r"(birdnet|selections?|table)\b.*\.(csv|txt|tsv)$|\.txt$", re.IGNORECASE)
_SETTINGS = re.compile(r"birdnet\w*[._]analy\w*[-_]params\.csv$", re.IGNORECASE)
_ARCHIVES = (".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst")
_PIECE = 1 << 20
_LONGEST_HEADER = 10_000
_IN_MEMORY = MAX_FILE_MB * _MB
_DRIVE = re.compile("[A-Za-z]:")


class MediaError(ValueError):
    """A file of the zip cannot be used. `args` are what is wrong and the fix, both in words."""


class Archive:
    """The checked contents of a zip (its bytes or its path): one table, and files found by the names in its cells.

    Raises TableError, naming every entry at fault: no zip; too large, packed or unpacked; too many files; paths
    that lead out of the zip; links; encrypted, doubly named or oddly packed entries; archives inside; not
    exactly one table, that is one CSV or, where there is none, one file of another format.

    Attributes
    ----------
    table_names : paths of the tables in the zip: one; or two, a CSV file first, of which one may hold the rows that the
        other is about; or any number that are called as the tables of sound detectors are, one for each recording
    """

    def __init__(self, source: bytes | Path) -> None:
        data = source if isinstance(source, bytes) else _read(source)
        if len(data) > MAX_ZIP_MB * _MB:
            raise _refusal(f"The zip has {_in_mb(len(data))} MB; at most {MAX_ZIP_MB} are taken.", _SMALLER)
        entries = _open(data)
        problems = [problem for entry in entries if (problem := _fault(entry)) is not None]
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            # Not is_dir(): it fails on an empty name, which is what zipfile makes of one that begins with NUL.
            if entry.filename.endswith("/") or _is_litter(entry.filename):
                continue
            name = _normal(entry.filename)
            if name in self._entries:
                fix = "Keep one of them. (Names that look alike on your screen count as the same.)"
                problems.append(_problem(f"The zip holds two files named {quoted(name)}.", fix))
            self._entries[name] = entry
        if problems:
            raise table_error(problems)
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self.table_names = self._tables()
        folder = str(PurePosixPath(self.table_names[0]).parent)
        self._folder = "" if folder == "." else folder + "/"

    def table(self, name: str) -> bytes:
        """The bytes of a table. Raises TableError where they are damaged."""
        try:
            with self.open(name) as file:
                return file.read()
        except MediaError as error:
            raise _refusal(f"{quoted(name)}: {error.args[0]}", error.args[1]) from error

    def find(self, cell: str) -> str:
        """The file a cell names: beside the CSV, else from the top of the zip. Raises MediaError: none, or no path."""
        path = _normal(cell.strip()).removeprefix("./")
        if wrong := _path_fault(path):
            raise MediaError(f"{quoted(cell)} {wrong}.", _PLAIN_PATH)
        for name in (self._folder + path, path):
            if name in self._entries and name not in self.table_names:
                return name
        known = self._alike.get(PurePosixPath(path).name.lower())
        fix = "Put the file into the zip, or leave the cell empty."
        if known is not None:
            fix = f"Write {quoted(known.removeprefix(self._folder))}, which is in the zip (capitals count)."
        raise MediaError(f"the zip holds no file {quoted(cell)}.", fix)

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

    def names(self) -> list[str]:
        """The paths of all files in the zip but the tables."""
        return [name for name in self._entries if name not in self.table_names]

    def close(self) -> None:
        """Let go of the bytes; nothing can be read any more."""
        self._zip.close()

    @cached_property
    def _alike(self) -> dict[str, str]:
        return {PurePosixPath(name).name.lower(): name for name in self._entries}

    def _tables(self) -> tuple[str, ...]:
        plain, others = (
            tuple(
                name
                for name in self._entries
                if name.lower().endswith(endings) and not _SETTINGS.search(name)
            )
            for endings in (_TABLES, _OTHER_TABLES)
        )
        # Beside one CSV file, another may hold its candidates, or describe it; of more nobody can tell.
        tables = plain + others if len(plain) == len(others) == 1 else plain or others
        tables = tables or tuple(name for name in self._entries if self._is_tabbed(name))
        if len(tables) > 2 and not all(_DETECTOR.search(name) for name in tables):
            raise too_many_tables(tables)
        if tables:
            return tables
        fix = "Add the table, as a CSV file, say, its name ending in .csv."
        raise _refusal("The zip holds no table: no CSV file, workbook, JSON or Parquet file.", fix)

    def _is_tabbed(self, name: str) -> bool:
        """Whether it is a text whose first line has tabs."""
        if not name.lower().endswith(_TEXT):
            return False
        try:
            with self._zip.open(self._entries[name]) as file:
                return b"\t" in file.readline(_LONGEST_HEADER)
        except ZIP_FAULTS:
            return False


def is_plain_table(name: str) -> bool:
    """Whether a file of this name is CSV."""
    return name.lower().endswith(_TABLES)


def too_many_tables(names: tuple[str, ...]) -> TableError:
    """The error of a zip whose tables do not belong together."""
    fix = "Leave one in it, the one with the rows; or two, one of them with candidates or votes of the other's rows."
    return _refusal(f"The zip holds {len(names)} tables: {listed(names)}.", fix)


_SMALLER = "Make the images smaller (800 pixels a side are plenty), or import the table in parts."
_PLAIN_PATH = "Write the path inside the zip, folders with /, such as images/wren1.png."


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_ZIP_MB * _MB + 1)


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
        raise _refusal(f"The zip cannot be read ({error}).", fix) from error
    if len(entries) > MAX_FILES:
        raise _too_many(f"{len(entries):,}")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED_MB * _MB:
        message = f"Unpacked, the files have {_in_mb(unpacked)} MB; at most {MAX_UNPACKED_MB:,} are taken."
        raise _refusal(message, _SMALLER)
    return entries


def _fault(entry: zipfile.ZipInfo) -> Problem | None:
    """What is wrong with an entry by what the zip says of it, its bytes unread."""
    name = entry.orig_filename  # zipfile cuts a name at a NUL character
    shown = quoted(name)
    mode = stat.S_IFMT(entry.external_attr >> 16)
    most = MAX_RECORDING_MB if name.lower().endswith(RECORDINGS) else MAX_FILE_MB
    most = MAX_ZIP_MB if name.lower().endswith((*_TABLES, *_OTHER_TABLES)) else most
    if wrong := _path_fault(name.removesuffix("/")):
        return _problem(
            f"The name {shown} in the zip {wrong}.", "Make the zip anew from plain files and folders."
        )
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return _problem(f"{shown} in the zip is a link, not a file.", "Put the file itself into the zip.")
    if entry.flag_bits & 0x2041:  # encrypted, strongly encrypted, list of contents encrypted
        return _problem(f"{shown} in the zip is encrypted.", "Make the zip anew without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fix = "Make the zip anew, with an ordinary zip program and no special method."
        return _problem(f"{shown} in the zip is packed in an unusual way.", fix)
    if name.lower().endswith(_ARCHIVES):
        return _problem(
            f"The zip holds another archive, {shown}.", "Unpack it and put its files into the zip."
        )
    if entry.file_size > most * _MB:
        return _problem(f"{shown} has {_in_mb(entry.file_size)} MB; at most {most} are taken.", _SMALLER)
    return None


def _path_fault(path: str) -> str | None:
    """Why this is no plain path inside the zip, as the end of a sentence; None where it is one."""
    if not path.isprintable():
        return "holds a character that cannot be printed"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/") or _DRIVE.match(path):
        return "begins at the top of a disk"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has an empty part or one of dots alone"
    return None


def _normal(name: str) -> str:
    """Accents in one piece: macOS writes names in zips in two, spreadsheets in one."""
    return unicodedata.normalize("NFC", name)


def _is_litter(name: str) -> bool:
    """What file managers add: __MACOSX/, .DS_Store, Thumbs.db."""
    last = name.rpartition("/")[2]
    return (
        name.startswith("__MACOSX/") or last.startswith(".") or last.lower() in ("thumbs.db", "desktop.ini")
    )


def _too_many(count: str) -> TableError:
    message = f"The zip holds {count} files and folders; at most {MAX_FILES:,} are taken."
    return _refusal(message, "Import the table in parts.")


def _in_mb(size: int) -> str:
    return f"{size / _MB:,.1f}"


def _problem(message: str, fix: str) -> Problem:
    return Problem(None, None, None, message, fix)


def _refusal(message: str, fix: str) -> TableError:
    return TableError(_problem(message, fix))
