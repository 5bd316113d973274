"""A tree of files with one table in it: the table found among them, and the files that its cells name."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import cached_property
from pathlib import PurePosixPath
from typing import BinaryIO

from plcore.common.words import listed, quoted
from plcore.tables.problems import Problem, TableError

MAX_ZIP_MB = 200
MAX_FILES = 50_000  # files and folders together
MAX_FILE_MB = 20  # one image, or any other file that is no table, unpacked
MAX_RECORDING_MB = 2000  # an hour at 96 kHz, 24 bits, two channels
MAX_UNPACKED_MB = 1000  # all files together, unpacked

MB = 1_000_000
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
_LONGEST_HEADER = 10_000
_DRIVE = re.compile("[A-Za-z]:")


class MediaError(ValueError):
    """A file that came with a table cannot be used. `args` are what is wrong and the fix, both in words."""


class FileTree(ABC):
    """Files by their paths, some of them tables. What there is to know of a zip and of a folder alike.

    Attributes
    ----------
    what : what holds the files, "zip" or "folder"
    table_names : paths of the tables in it: one; or two, a CSV file first, of which one may hold the rows that the
        other is about; or any number that are called as the tables of sound detectors are, one for each recording
    """

    what: str
    table_names: tuple[str, ...] = ()

    def __init__(self, paths: Iterable[str]) -> None:
        """paths : of all files, from the top. Raises TableError unless the tables among them are as above."""
        self._paths = dict.fromkeys(paths)
        self.table_names = self._tables()
        folder = str(PurePosixPath(self.table_names[0]).parent)
        self._folder = "" if folder == "." else folder + "/"

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """A file that `find` has named, from its first byte on. Raises MediaError where it cannot be read."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the files; nothing can be read any more."""

    def table(self, name: str) -> bytes:
        """The bytes of a table. Raises TableError where they are damaged."""
        try:
            with self.open(name) as file:
                return file.read()
        except MediaError as error:
            raise refused(f"{quoted(name)}: {error.args[0]}", error.args[1]) from error

    def find(self, cell: str) -> str:
        """The file a cell names: beside the table, else from the top. Raises MediaError: none, or no path."""
        path = normal(cell.strip()).removeprefix("./")
        if wrong := path_fault(path):
            raise MediaError(f"{quoted(cell)} {wrong}.", _PLAIN_PATH)
        for name in (self._folder + path, path):
            if name in self._paths and name not in self.table_names:
                return name
        known = self._alike.get(PurePosixPath(path).name.lower())
        fix = f"Put the file into the {self.what}, or leave the cell empty."
        if known is not None:
            fix = f"Write {quoted(known.removeprefix(self._folder))}, which is in the {self.what} (capitals count)."
        raise MediaError(f"the {self.what} holds no file {quoted(cell)}.", fix)

    def names(self) -> list[str]:
        """The paths of all files in it but the tables."""
        return [name for name in self._paths if name not in self.table_names]

    @cached_property
    def _alike(self) -> dict[str, str]:
        return {PurePosixPath(name).name.lower(): name for name in self._paths}

    def _tables(self) -> tuple[str, ...]:
        plain, others = (
            tuple(
                name for name in self._paths if name.lower().endswith(endings) and not _SETTINGS.search(name)
            )
            for endings in (_TABLES, _OTHER_TABLES)
        )
        # Beside one CSV file, another may hold its candidates, or describe it; of more nobody can tell.
        tables = plain + others if len(plain) == len(others) == 1 else plain or others
        tables = tables or tuple(name for name in self._paths if self._is_tabbed(name))
        if len(tables) > 2 and not all(_DETECTOR.search(name) for name in tables):
            raise too_many_tables(tables, self.what)
        if tables:
            return tables
        fix = "Add the table, as a CSV file, say, its name ending in .csv."
        raise refused(f"The {self.what} holds no table: no CSV file, workbook, JSON or Parquet file.", fix)

    def _is_tabbed(self, name: str) -> bool:
        """Whether it is a text whose first line has tabs."""
        if not name.lower().endswith(_TEXT):
            return False
        try:
            with self.open(name) as file:
                return b"\t" in file.readline(_LONGEST_HEADER)
        except MediaError:
            return False


def is_plain_table(name: str) -> bool:
    """Whether a file of this name is CSV."""
    return name.lower().endswith(_TABLES)


def too_many_tables(names: tuple[str, ...], what: str) -> TableError:
    """The error of a zip or folder whose tables do not belong together."""
    fix = "Leave one in it, the one with the rows; or two, one of them with candidates or votes of the other's rows."
    return refused(f"The {what} holds {len(names)} tables: {listed(names)}.", fix)


SMALLER = "Make the images smaller (800 pixels a side are plenty), or import the table in parts."
_PLAIN_PATH = "Write the path from the top, folders with /, such as images/wren1.png."


def most_mb(name: str) -> int:
    """The megabytes that a file of this name may have."""
    low = name.lower()
    if low.endswith((*_TABLES, *_OTHER_TABLES)):
        return MAX_ZIP_MB
    return MAX_RECORDING_MB if low.endswith(RECORDINGS) else MAX_FILE_MB


def path_fault(path: str) -> str | None:
    """Why this is no plain path inside of a tree, as the end of a sentence; None where it is one."""
    if not path.isprintable():
        return "holds a character that cannot be printed"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/") or _DRIVE.match(path):
        return "begins at the top of a disk"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has an empty part or one of dots alone"
    return None


def normal(name: str) -> str:
    """Accents in one piece: macOS writes names in zips in two, spreadsheets in one."""
    return unicodedata.normalize("NFC", name)


def is_litter(name: str) -> bool:
    """What file managers add: __MACOSX/, .DS_Store, Thumbs.db."""
    last = name.rpartition("/")[2]
    return (
        name.startswith("__MACOSX/") or last.startswith(".") or last.lower() in ("thumbs.db", "desktop.ini")
    )


def in_mb(size: int) -> str:
    """A number of bytes in megabytes."""
    return f"{size / MB:,.1f}"


def problem_with(message: str, fix: str) -> Problem:
    """A problem with the whole, at no row."""
    return Problem(None, None, None, message, fix)


def refused(message: str, fix: str) -> TableError:
    """The error of one such problem."""
    return TableError(problem_with(message, fix))
