"""A zip or folder with a table and the files named in its cells. Nothing in it is trusted."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote

from plcore.arrays.words import listed, quoted
from plcore.tables.problems import Problem, TableError, refusal, table_error

MAX_ZIP_MB = 200
MAX_FILES = 50_000  # files and folders together
MAX_FILE_MB = 20  # an image or other file that is not a table, unpacked
MAX_RECORDING_MB = 2000  # an hour at 96 kHz, 24 bits, two channels
MAX_UNPACKED_MB = 1000  # all files together, unpacked

MB = 1_000_000
_TABLES = (".csv", ".tsv")
_OTHER_TABLES = (
    *(".json", ".jsonl", ".ndjson", ".parquet", ".feather", ".arrow"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".npz", ".npy", ".mat", ".arff"),
)
IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif")
RECORDINGS = (".wav", ".mp3", ".ogg", ".oga", ".opus", ".flac", ".m4a")
MEDIA_ENDINGS = (*IMAGE_ENDINGS, *RECORDINGS)
_TEXT = ".txt"
"""Ending of Raven and Audacity tables; counts as a table only if it has tabs and there is no other table."""
OWN_ENDINGS = (*_TABLES, *_OTHER_TABLES, _TEXT, ".zip", ".gz")
"""Endings of files that are read without a plug-in."""
_PACKAGE = re.compile(r"(^|/)(observations|media|deployments)\.csv$", re.IGNORECASE)
_SETTINGS = re.compile(r"birdnet\w*[._]analy\w*[-_]params\.csv$", re.IGNORECASE)
NOTES = "notes.json"
"""Label Studio's list of classes, which it writes next to the tasks."""
_LONGEST_HEADER = 10_000
_FEW_TEXTS = 20
"""Maximum number of .txt files to check for tabs if there are other tables: most of them are none."""
_DRIVE = re.compile("[A-Za-z]:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*/")


class MediaError(ValueError):
    """A file that came with a table cannot be used. `args` are the message and the fix."""


class FileTree(ABC):
    """Files by path, some of which are tables; common to zips and folders.

    Attributes
    ----------
    what : "zip" or "folder"
    table_names : paths of the tables that may belong together: one; two, the CSV file first, of which one may hold the
        rows that the other is about; or several of one kind: CSV files, other formats, or texts with tabs
    more_tables : paths of further files that may be tables
    inexact : cells that `find` took for a file with another path, and the file's path
    """

    what: str
    table_names: tuple[str, ...] = ()
    more_tables: tuple[str, ...] = ()

    def __init__(self, paths: Iterable[str]) -> None:
        """paths : of all files, from the root. Raises TableError if none is a table."""
        self._paths = dict.fromkeys(paths)
        self.table_names, self.more_tables = self._tables()
        folder = str(PurePosixPath(self.table_names[0]).parent) if self.table_names else "."
        self._folder = "" if folder == "." else folder + "/"
        self._meant: dict[str, list[str]] = {}  # for each found file, the parts of the path in the cell
        self.inexact: dict[str, str] = {}

    @abstractmethod
    def open(self, name: str) -> BinaryIO:
        """Open a file by its name from `find`. Raises MediaError if it cannot be read."""

    @abstractmethod
    def close(self) -> None:
        """Release the files; they cannot be read afterwards."""

    def table(self, name: str) -> bytes:
        """Return the bytes of a table. Raises TableError if it is damaged."""
        try:
            with self.open(name) as file:
                return file.read()
        except MediaError as error:
            raise refusal(f"{quoted(name)}: {error.args[0]}", error.args[1]) from error

    def find(self, cell: str) -> str:
        """Return the file that a cell names, relative to the table or to the root; else the only file whose path ends
        like the cell, or like whose path the cell ends, in any case, or without the file's ending: `a.jpg`, `a` or
        `/home/ann/im/a.jpg` for `im/a.JPG`. An address, such as `s3://bucket/im/a.jpg`, may also name the only file
        that is called like its last part. Raises MediaError."""
        path = _path_in(cell)
        wrong, parts = path_fault(path), _parts(path)
        for name in () if wrong else (self._folder + path, path):
            if name in self._paths and name not in self.table_names:
                self._meant.setdefault(name, parts)
                return name
        alike = [one for one in self._alike.get(parts[-1], ()) if one not in self.table_names]
        fitting = [one for one in alike if _end_alike(parts, _parts(one))]
        if not fitting and _ADDRESS.match(cell.strip()):
            fitting = alike
        if not alike and (whole := self.completed(cell)) != cell:
            fitting = [whole]
        # Rows that name a/1.jpg and b/1.jpg cannot both mean 1.jpg.
        if len(fitting) == 1 and self._meant.setdefault(fitting[0], parts) == parts:
            self.inexact[cell.strip()] = fitting[0]
            return fitting[0]
        if wrong:
            raise MediaError(f"{quoted(cell)} {wrong}.", _PLAIN_PATH)
        fix = f"Put the file into the {self.what}, or leave the cell empty."
        if alike:
            known = [one.removeprefix(self._folder) for one in alike]
            fix = f"Write the path of the file that is meant: the {self.what} holds {listed(known, 3)}."
        raise MediaError(f"the {self.what} contains no file {quoted(cell)}.", fix)

    def completed(self, cell: str) -> str:
        """Return the path of the only image or recording that a cell names without its ending; the cell itself if there
        is none, or several."""
        path = _path_in(cell)
        if path_fault(path):
            return cell
        parts = _parts(path)
        fitting = [name for name in self._without_ending.get(parts[-1], ()) if _end_alike(parts, _parts(_stem(name)))]
        return fitting[0] if len(fitting) == 1 else cell

    def names(self) -> list[str]:
        """Return the paths of all files except the tables."""
        return [name for name in self._paths if name not in self.table_names]

    @cached_property
    def _without_ending(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._paths:
            if name.lower().endswith(MEDIA_ENDINGS):
                found[_parts(_stem(name))[-1]].append(name)
        return found

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._paths:
            found[_parts(name)[-1]].append(name)
        return found

    def _tables(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        plain, others = (
            tuple(name for name in self._paths if name.lower().endswith(endings) and not _SETTINGS.search(name))
            for endings in (_TABLES, _OTHER_TABLES)
        )
        side = tuple(name for name in others if base_name(name).lower() == NOTES and len(plain + others) > 1)
        others = tuple(name for name in others if name not in side)
        texts = [name for name in self._paths if name.lower().endswith(_TEXT)]
        looked_at = texts[:_FEW_TEXTS] if plain or others else texts
        tabbed = tuple(name for name in looked_at if self._is_tabbed(name))
        # Next to a CSV file, one other table may hold its candidates or features; with more, the pairing is ambiguous.
        tables = plain + others if len(plain) == len(others) == 1 else plain or others or tabbed
        package = tuple(name for name in tables if _PACKAGE.search(name))
        if len(package) > 1:  # Camtrap DP, whose other tables are unrelated
            tables = package
        if tables or any(name.lower().endswith(MEDIA_ENDINGS) for name in self._paths):
            return tables, tuple(name for name in (*plain, *others, *tabbed, *side) if name not in tables)
        fix = "Add the table, as a CSV file, say, its name ending in .csv."
        raise refusal(f"The {self.what} contains no table: no CSV file, workbook, JSON or Parquet file.", fix)

    def _is_tabbed(self, name: str) -> bool:
        """Whether the first line of a file has tabs."""
        try:
            with self.open(name) as file:
                return b"\t" in file.readline(_LONGEST_HEADER)
        except MediaError:
            return False


def is_plain_table(name: str) -> bool:
    """Whether a file of this name is CSV or TSV."""
    return name.lower().endswith(_TABLES)


def too_many_tables(names: tuple[str, ...], what: str) -> TableError:
    """Return the error for a zip or folder whose tables do not belong together."""
    fix = "Leave one in it, the one with the rows; or two, one of them with candidates or votes of the other's rows."
    return refusal(f"The {what} holds {len(names)} tables: {listed(names)}.", fix)


SMALLER = "Make the images smaller (800 pixels a side are plenty), or import the table in parts."
_PLAIN_PATH = "Write the path from the top, folders with /, such as images/wren1.png."


def most_mb(name: str) -> int:
    """Return the maximum size in megabytes of a file with this name."""
    low = name.lower()
    if low.endswith((*_TABLES, *_OTHER_TABLES)):
        return MAX_ZIP_MB
    return MAX_RECORDING_MB if low.endswith(RECORDINGS) else MAX_FILE_MB


def path_fault(path: str) -> str | None:
    """Return the reason why this is not a plain path inside a tree, as the end of a sentence; None if it is one."""
    if not path.isprintable():
        return "holds a character that cannot be printed"
    if "\\" in path:
        return "holds a backslash"
    if path.startswith("/") or _DRIVE.match(path):
        return "begins at the top of a disk"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has an empty part or one of dots alone"
    return None


def _path_in(cell: str) -> str:
    """Return the path that a cell names, with composed accents and without a leading ./ or what an address has around
    it."""
    return normal(_without_host(cell.strip())).removeprefix("./")


def _without_host(cell: str) -> str:
    """Return the path in an address, without bucket or host, query and percent signs; other cells unchanged."""
    found = _ADDRESS.match(cell)
    return cell if found is None else unquote(re.split("[?#]", cell[found.end() :], maxsplit=1)[0])


def normal(name: str) -> str:
    """Compose accents: macOS writes names in zips decomposed, spreadsheets composed."""
    return unicodedata.normalize("NFC", name)


def is_litter(name: str) -> bool:
    """Whether a file manager added this file: __MACOSX/, .DS_Store, Thumbs.db."""
    last = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or last.startswith(".") or last.lower() in ("thumbs.db", "desktop.ini")


def in_mb(size: int) -> str:
    """Format a number of bytes in megabytes."""
    return f"{size / MB:,.1f}"


def problem_with(message: str, fix: str) -> Problem:
    """Return a problem with the whole upload, without a row."""
    return Problem(None, None, None, message, fix)


ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")  # a zip with files, and an empty one
ZIP_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError),
    ValueError,  # an offset before the start of the file
)
"""Errors that zipfile raises for invalid bytes."""

_ARCHIVES = (".zip", ".jar", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst")
_PIECE = 1 << 20
_IN_MEMORY = MAX_FILE_MB * MB


class Archive(FileTree):
    """The checked contents of a zip, from its bytes or path: a table, and the files named in its cells.

    data : its bytes
    Raises TableError that lists every bad entry: not a zip; too large, packed or unpacked; too many files; paths that
    lead out of the zip; links; encrypted entries, duplicate names or unsupported compression; nested archives; or no
    table.
    """

    what = "zip"

    def __init__(self, source: bytes | Path) -> None:
        data = source if isinstance(source, bytes) else _read(source)
        if len(data) > MAX_ZIP_MB * MB:
            raise refusal(f"The zip has {in_mb(len(data))} MB; at most {MAX_ZIP_MB} are allowed.", SMALLER)
        entries = _open(data)
        problems = [problem for entry in entries if (problem := _fault(entry)) is not None]
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            # Not is_dir(): it fails on an empty name, to which zipfile shortens a name that starts with NUL.
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
        """Open an unpacked file by its name from `find`. Raises MediaError if it is damaged."""
        unpacked: BinaryIO = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # type: ignore[assignment]  # noqa: SIM115 - the caller's
        try:
            with self._zip.open(self._entries[name]) as file:
                while piece := file.read(_PIECE):  # read() alone would decompress everything at once
                    unpacked.write(piece)
        except ZIP_FAULTS as error:
            unpacked.close()
            fix = "Make the zip again, with an ordinary zip program."
            raise MediaError(f"it is damaged in the zip ({type(error).__name__}).", fix) from error
        unpacked.seek(0)
        return unpacked

    def close(self) -> None:
        """Release the bytes; nothing can be read afterwards."""
        self._zip.close()
        self.data = b""


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_ZIP_MB * MB + 1)


def _open(data: bytes) -> list[zipfile.ZipInfo]:
    """Return the entries, of limited number and size."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            entries = file.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        fix = "Make the zip again, with an ordinary zip program."
        raise refusal(f"The zip cannot be read ({error}).", fix) from error
    if len(entries) > MAX_FILES:
        message = f"The zip holds {len(entries):,} files and folders; at most {MAX_FILES:,} are allowed."
        raise refusal(message, "Import the table in parts.")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED_MB * MB:
        message = f"Unpacked, the files have {in_mb(unpacked)} MB; at most {MAX_UNPACKED_MB:,} are allowed."
        raise refusal(message, SMALLER)
    return entries


def _fault(entry: zipfile.ZipInfo) -> Problem | None:
    """Return the problem with an entry according to the directory, without reading its bytes."""
    name = entry.orig_filename  # zipfile cuts names at NUL
    shown = quoted(name)
    mode = stat.S_IFMT(entry.external_attr >> 16)
    if wrong := path_fault(name.removesuffix("/")):
        return problem_with(f"The name {shown} in the zip {wrong}.", "Make the zip again from plain files and folders.")
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return problem_with(f"{shown} in the zip is a link, not a file.", "Put the file itself into the zip.")
    if entry.flag_bits & 0x2041:  # encrypted, strongly encrypted, directory encrypted
        return problem_with(f"{shown} in the zip is encrypted.", "Make the zip again without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fix = "Make the zip again, with an ordinary zip program and no special method."
        return problem_with(f"{shown} in the zip is packed in an unusual way.", fix)
    if name.lower().endswith(_ARCHIVES):
        return problem_with(f"The zip holds another archive, {shown}.", "Unpack it and put its files into the zip.")
    if entry.file_size > (most := most_mb(name)) * MB:
        return problem_with(f"{shown} has {in_mb(entry.file_size)} MB; at most {most} are allowed.", SMALLER)
    return None


class Folder(FileTree):
    """The files in a folder `path`, without hidden files, links to folders and files added by file managers.

    Raises TableError: too many files, two names that look alike, or no table; OSError if the folder cannot be read.
    """

    what = "folder"

    def __init__(self, folder: Path) -> None:
        self.path = folder
        self._files: dict[str, Path] = {}
        for parent, folders, names in os.walk(folder, onerror=_raise):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = Path(parent, name)
                inside = normal(path.relative_to(folder).as_posix())
                if is_litter(inside):
                    continue
                if len(self._files) >= MAX_FILES:
                    message = f"The folder holds more than {MAX_FILES:,} files."
                    raise refusal(message, "Take the table and its files into a folder of their own.")
                if inside in self._files:
                    fix = "Keep one of them. (Names that look alike on your screen count as the same.)"
                    raise refusal(f"The folder holds two files named {quoted(inside)}.", fix)
                self._files[inside] = path
        super().__init__(self._files)

    def open(self, name: str) -> BinaryIO:
        """Open a file by its name from `find`. Raises MediaError if it is too large or cannot be read."""
        try:
            file = self._files[name].open("rb")
        except OSError as error:
            raise MediaError(f"it cannot be read ({error.strerror or error}).", "Make it readable.") from error
        size, most = os.fstat(file.fileno()).st_size, most_mb(name)
        if size > most * MB:
            file.close()
            raise MediaError(f"it has {in_mb(size)} MB; at most {most:,} are allowed.", SMALLER)
        return file

    def path_of(self, name: str) -> Path:
        """Return the path on disk of a file by its name from `find`."""
        return self._files[name]

    def close(self) -> None:
        """Do nothing: no file is held open."""


def _raise(error: OSError) -> None:
    raise error


_PARTS = re.compile(r"[\\/]+")


class FilesByBaseName:
    """A source of files (`plcore.tables.media.files.FileSource`) that finds them by the last part of a path.

    Of several files with one base name, it chooses the one that shares the most folders with the path, counted from the
    end. Case and the composition of accents do not matter. Only files of the source can be found.

    repeated : base names of several paths in the table (`repeated_names`), as cameras write them. For these, the folder
        has to match, too.
    inexact : paths in cells that `find` took for a file in other folders, and the file's path
    """

    def __init__(self, files: FileTree, repeated: Iterable[str] = ()) -> None:
        self.files = files
        self.repeated = frozenset(repeated)
        self.inexact: dict[str, str] = {}
        self._alike: dict[str, list[str]] = defaultdict(list)
        for name in files.names():
            self._alike[_parts(name)[-1]].append(name)

    def find(self, cell: str) -> str:
        """Return the file that a path means. Raises MediaError: none, or several that match equally well."""
        parts = _parts(_without_host(cell.strip()))
        shared = {name: _shared(parts, _parts(name)) for name in self._alike.get(parts[-1], ())}
        best = [name for name, count in shared.items() if count == max(shared.values())]
        if best and parts[-1] in self.repeated and len(parts) > max(shared.values()) == 1:
            message = (
                f"{quoted(cell)} is not in the {self.files.what}, and several rows name a file called "
                f"{quoted(base_name(cell))}. Files of that name there: {listed(best, 3)}."
            )
            raise MediaError(message, "Put the file into a folder called as in the table.")
        if len(best) == 1:
            if not _end_alike(parts, _parts(best[0])):
                self.inexact[cell.strip()] = best[0]
            return best[0]
        if best:
            named = f"the {self.files.what} holds {len(best)} files of that name"
            message = f"{quoted(cell)} may be {listed(best, 3)}: {named}."
            fix = "Put the files into folders called as in the table, or leave all but one of them out."
            raise MediaError(message, fix)
        message = f"the {self.files.what} contains no file named {quoted(base_name(cell))}."
        raise MediaError(message, f"Put the file into the {self.files.what}; folders do not matter, its name does.")

    def open(self, name: str) -> BinaryIO:
        """Open a file by its name from `find`. Raises MediaError if it is damaged."""
        return self.files.open(name)

    def close(self) -> None:
        """Release the bytes."""
        self.files.close()


def repeated_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the base names of more than one path, as `FilesByBaseName` compares them."""
    different = {tuple(_parts(path.strip())) for path in paths}
    return frozenset(name for name, count in Counter(one[-1] for one in different).items() if count > 1)


def base_name(path: str) -> str:
    """Return the last part of a path of any operating system, unchanged."""
    return _PARTS.split(path.strip().rstrip("\\/"))[-1]


def _parts(path: str) -> list[str]:
    return _PARTS.split(unicodedata.normalize("NFC", path).casefold())


def _stem(path: str) -> str:
    return path.rpartition(".")[0]


def _end_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one of two paths is the end of the other."""
    return _shared(one, other) == min(len(one), len(other))


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the common parts at the end."""
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
