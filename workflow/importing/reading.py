"""Reading of an uploaded file: its contents, and the likely role of each column. Only a limited process of its own
(`workflow.files.limited`) ever opens it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from plcore import LabelTable, Problem, Roles, TableError
from plcore.arrays import listed, no_room
from plcore.tables import MAX_FILES, MAX_ZIP_MB, Doubt, KeptFiles, TableReading, Way, mapped_numbers, read_stored
from workflow.answering.room_settings import MOST_GROUPED, Groups
from workflow.files import limited
from workflow.files.scratch import Scratch, clear

_MB = 1_000_000
_CHECKING_MB = 500
"""Input, in MB, allowed for checking a small table: one of a thousand classes has a thousand numbers per row."""


@dataclass(frozen=True)
class Upload:
    """A file as it was read (see `plcore.tables.readers`), with other ways to read it.

    guess : the role of each column by the format, or a guess
    shape : what a row of the file is, in words, if it seems to be a vote or a score instead of an item; the reading
        then has one row per item, unless the user declined that
    source_hash : SHA-256 of the bytes of the file, and of the files next to it if there are any
    needs_rows : whether nothing in it describes the rows, so that it needs a table of them
    bounds : limits for checking it
    ways : choices about the file as a whole
    scratch : folder of the reading, as long as this object lives
    """

    reading: TableReading
    guess: Roles
    shape: str | None
    source_hash: str
    needs_rows: bool
    bounds: limited.Bounds
    scratch: Scratch
    ways: tuple[Way, ...] = ()

    @property
    def folder(self) -> Path:
        """Folder of the reading."""
        return self.scratch.path

    @property
    def cells(self) -> pd.DataFrame:
        return self.reading.cells

    @cached_property
    def groups(self) -> Groups:
        """The groups of the file's taxonomy; none if there are too many."""
        fit = sum(map(len, self.reading.groups.values())) <= MOST_GROUPED
        return self.reading.groups if fit else {}

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.reading.groups:
            return self.reading.notes
        names = listed(list(self.reading.groups), 3)
        said = f"Groups of the taxonomy can be answers, too: {names}."
        if not self.groups:
            said = f"The groups of the taxonomy are left out: of their classes, at most {MOST_GROUPED:,} are allowed."
        return (*self.reading.notes, said)

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """Doubts about the file as a whole, which stop its import."""
        return tuple(Doubt(*one, stops=True) for one in self.reading.asks)

    def suggest_roles(self) -> Roles:
        """Return the role of each column by the format, or a guess."""
        return self.guess


NO_WAYS: Mapping[str, str] = MappingProxyType({})
Source = tuple[bytes | Path, str | None]
"""Bytes or path of a file, and its name if only its bytes are given."""


def read_upload(
    source: bytes | Path,
    name: str | None = None,
    *,
    rows: Source | None = None,
    vectors: Source | None = None,
    as_it_is: bool = False,
    ways: Mapping[str, str] = NO_WAYS,
    on_wait: limited.OnWait | None = None,
) -> Upload:
    """Read these bytes, or the file or folder at this path.

    name : of the file, if only its bytes are given
    rows : bytes or path, and name, of the table of the rows that the candidates or votes of the file are about
    vectors : bytes or path, and name, of a file of embeddings of the rows
    as_it_is : treat every row of the file as an item, whatever its columns are called
    ways : choices about the file, {name of the choice: value} (`Upload.ways`)
    on_wait : called now and then with the number of files ahead in the queue; if it raises, reading stops
    Raises TableError if it cannot be read, not within the limits for its size, or the disk is full; LongLine if too
    many files are ahead of it; OSError.
    """
    with room_wanted():
        return _read_upload(source, name, rows, vectors, as_it_is, ways, on_wait)


@contextmanager
def room_wanted() -> Iterator[None]:
    """Raise TableError in words, in place of OSError, if the disk is full while a file is read."""
    try:
        yield
    except OSError as error:
        if not no_room(error):
            raise
        message = f"There is no room left on the disk to read the file: it is unpacked into {tempfile.gettempdir()}."
        fix = "Make room there, or ask the operator to start Winnow with TMPDIR set to another folder; then try again."
        raise TableError(Problem(None, None, None, message, fix)) from error


def _read_upload(
    source: bytes | Path,
    name: str | None,
    rows: Source | None,
    vectors: Source | None,
    as_it_is: bool,
    ways: Mapping[str, str],
    on_wait: limited.OnWait | None,
) -> Upload:
    scratch = Scratch()
    folder = scratch.path
    try:
        aside = {"file": (source, name), "rows": rows, "vectors": vectors}
        given = {key: None if one is None else _lay_out(*one, folder / key) for key, one in aside.items()}
        size = sum(_size(Path(one[0])) for one in given.values() if one is not None)
        bounds = limited.Bounds.of_file(size)
        found = limited.run_in_turn(
            "read", {**given, "as_it_is": as_it_is, "ways": dict(ways)}, folder, bounds, on_wait=on_wait
        ).result
        for key in aside:
            (folder / key).unlink(missing_ok=True)
        size += sum(one.stat().st_size for one in folder.iterdir())
        return Upload(
            read_stored(folder, with_files=False),
            Roles.from_json(found["guess"]),
            found["shape"],
            found["source_hash"],
            found["needs_rows"],
            limited.Bounds.of_file(size, _CHECKING_MB),
            scratch,
            tuple(Way(**one) for one in found["ways"]),
        )
    except BaseException:
        scratch.close()
        raise


def _lay_out(source: bytes | Path, name: str | None, path: Path) -> tuple[str, str | None]:
    """Return path and name for the process that reads; bytes are written to this path."""
    if isinstance(source, bytes):
        path.write_bytes(source)
        return str(path), name or ""
    return str(source.absolute()), name if source.is_dir() else name or source.name


class Out:
    """A folder for the output of a job on an upload, as long as this object lives.

    Each job has its own: when a page is redrawn, its new job starts while the previous one still writes.
    """

    def __init__(self, upload: Upload) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="out-", dir=upload.folder))
        self._of = upload  # keeps the parent folder
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


def checked_table(upload: Upload, roles: Roles, out: Out, found: Mapping[str, Any]) -> LabelTable:
    """Return the table that the job `check` made of an upload's cells, without reading cells, numbers or vectors again.

    found : the job's result
    """
    n_rows, n_numbers = len(upload.cells), len(roles.numbers)
    if found["n_rows"] != n_rows:  # rows without labels were left out
        return table_of(out, found["files"], found["inexact"])
    flat = mapped_numbers(out.folder / limited.NUMBERS) if n_numbers else np.empty(0)
    numbers = flat.reshape(n_rows, n_numbers)
    vectors = upload.reading.arrays.get(roles.embedding or "")
    if vectors is not None and (sp.issparse(vectors) or vectors.dtype != np.float32):
        vectors = None  # stored in another form than it was sent
    made = out.folder / limited.TABLE
    table = LabelTable.read_beside(made, found["digest"], upload.cells, numbers, out, vectors)
    return _with_files(table, out, found["files"], found["inexact"])


def table_of(out: Out, files: Mapping[str, str] | None, inexact: Mapping[str, str]) -> LabelTable:
    """Return the table that a job has written. files : paths by the names they are stored under      inexact : as of
    `MediaFiles`"""
    return _with_files(LabelTable.read(out.folder / limited.TABLE), out, files, inexact)


def _with_files(table: LabelTable, out: Out, files: Mapping[str, str] | None, inexact: Mapping[str, str]) -> LabelTable:
    if files is None:
        return table
    kept = KeptFiles({name: Path(path) for name, path in files.items()}, out, inexact)
    return replace(table, media=replace(table.media, files=kept))


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder, which may hold a table of any size."""
    if not path.is_dir():
        return path.stat().st_size
    return MAX_ZIP_MB * _MB + sum(one.stat().st_size for one in islice(path.rglob("*"), MAX_FILES))


def read_paths(
    file: Path,
    *,
    rows: Path | None = None,
    vectors: Path | None = None,
    as_it_is: bool = False,
    ways: Mapping[str, str] = NO_WAYS,
) -> Upload:
    """Read files at these paths like `read_upload`. For commands, which may run without a server that removes
    leftovers.
    """
    clear()
    beside = [None if one is None else (one, None) for one in (rows, vectors)]
    return read_upload(file, rows=beside[0], vectors=beside[1], as_it_is=as_it_is, ways=ways)
