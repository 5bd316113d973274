"""Part files: what a block's work leaves behind. There whole or not at all, and named by what it was made from.

A name is a hash of the job: what is done, by which code, and all values it is done with, among them the names of the
parts it reads. So a name stands for one content, no matter who wrote it, however often; a run that begins again
finds what is
there already, and one with another setting, other rows, or another version of Winnow, finds nothing of it.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from time import time
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from plcore.arrays.types import AnyArray
    from plcore.blocks.runner import Runner

# Numeric libraries of a process: its code, Python, and the packages that results depend on.

PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")
"""Whose versions have to be the same everywhere, next to those that Dask itself asks for: results depend on them."""


def code_and_versions() -> dict[str, str]:
    """Numeric libraries of a process: the source of plcore, Python and the packages it rests on."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"plcore": _sources(), "Python": python} | {name: _version(name) for name in PACKAGES}


def code_here() -> str:
    """Numeric libraries of this process, as in the names of parts."""
    return " ".join(code_and_versions().values())


def check_code(code: str) -> None:
    """Raises RuntimeError in a process that computes with something else than the caller: a worker that came when
    the others had been looked at, whose results would be under a name that is not theirs."""
    here = code_here()
    if here != code:
        raise RuntimeError(
            f"a worker has other versions than the caller: {here}, there {code} (plcore, Python, "
            f"{', '.join(PACKAGES)}). Fix: install the same; start it again."
        )


@cache
def _sources() -> str:
    """Read once, when plcore has just been loaded: what a worker has loaded does not change with the files."""
    folder = Path(__file__).parents[1]
    sources = sha256()
    for path in sorted(folder.rglob("*.py")):
        sources.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return sources.hexdigest()[:12]


@cache
def _version(name: str) -> str:
    """Read once: each job has them in its name."""
    return version(name)


HALF = ".half"
"""Ends the name of a part that is being written."""
ABANDONED = 3600.0
"""Seconds after which no one writes to such a part any more: one is written in seconds."""


class WrittenPart(NamedTuple):
    """The value that a job returns: its part, and how many rows are in it."""

    path: str
    rows: int


@dataclass(frozen=True)
class BlockJob:
    """The values that a piece of work is done with. A path says where something is; all else says what, and makes the
    part's name: numbers, words, tuples of them, names of other parts in the same folder.

    folder : of the parts
    code : what it is computed with, so that nothing of another version is taken for it; '' where the other values say
        all of the content
    """

    folder: Path
    code: str = field(default_factory=code_here, kw_only=True)

    @property
    def part(self) -> str:
        """The name of the part that the job writes."""
        told = [(one.name, getattr(self, one.name)) for one in fields(self)]
        kept = [
            (name, value.part if isinstance(value, BlockJob) else value)
            for name, value in told
            if not _is_place(value)
        ]
        said = f"{type(self).__module__}.{type(self).__qualname__} {kept!r}"
        return f"part-{sha256(said.encode()).hexdigest()[:32]}.npy"

    @property
    def path(self) -> Path:
        return self.folder / self.part

    def read(self, name: str) -> AnyArray:
        """Another part, mapped: what is not looked at is not read."""
        return map_part(self.folder / name)

    def read_each(self, names: str) -> Iterator[AnyArray]:
        """The parts whose names are in another, as `write_names` wrote it, each mapped when its turn comes: who lets
        one go before the next has never more than one of them in memory."""
        for name in self.read(names).tolist():
            yield self.read(name.decode())

    def write(self, array: AnyArray) -> WrittenPart:
        """Write the job's part. Raises OSError, and RuntimeError in a process of other code than the caller."""
        if self.code:
            check_code(self.code)
        with whole_part(self.path) as file:
            np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        return WrittenPart(str(self.path), len(array))


@dataclass(frozen=True)
class _Names(BlockJob):
    names: tuple[str, ...]


def write_names(folder: Path, names: Sequence[str]) -> str:
    """Write the names of parts into one, so that a job needs to be told of that alone; returns its name."""
    job = _Names(folder, tuple(names), code="")
    if not job.path.exists():
        job.write(np.array([name.encode() for name in names]))
    return job.part


Job = TypeVar("Job", bound=BlockJob)
BlockProgress = Callable[[str, int, int], object]
"""Called with (what is done, blocks done, blocks in all). What it raises ends the run."""


def _is_place(value: object) -> bool:
    return isinstance(value, Path) or (
        isinstance(value, tuple) and bool(value) and all(isinstance(one, Path) for one in value)
    )


def map_part(path: Path) -> AnyArray:
    """The array in a part, mapped to be read; a plain array, which compiled loops take."""
    array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)


class ReadRows:
    """The rows (n,) of a part, of which ranges are read if they are wanted.

    For who looks into many parts, here and there: mapped, all that was looked at counts as memory of the process until
    it lets go, which a cluster's workers are stopped for; and each part that is mapped keeps a file open.
    """

    def __init__(self, path: Path) -> None:
        mapped: np.memmap[tuple[int, ...], np.dtype[np.generic]] = np.load(
            path, mmap_mode="r", allow_pickle=False
        )
        self._path, self._dtype, self._offset = path, mapped.dtype, mapped.offset

    def read(self, first: int, end: int) -> AnyArray:
        """The rows first..end - 1, a new array. Raises OSError."""
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._offset + first * self._dtype.itemsize)
            return np.fromfile(file, self._dtype, end - first)


@contextmanager
def whole_part(path: Path) -> Iterator[IO[bytes]]:
    """A file to write, which is at `path` when the block has ended well: on disk first, then under its name. Raises
    OSError."""
    aside = path.with_name(f".{path.name}-{secrets.token_hex(4)}{HALF}")
    try:
        with aside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        sync_folder(path.parent)
    except BaseException:  # Ctrl-C, too
        aside.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Have the names in a folder survive a power cut: syncing a file keeps its bytes, not its name. Raises OSError."""
    if os.name != "posix":
        return  # other systems cannot open folders
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # a folder may be one to write in and not to read
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def run_parts(
    runner: Runner,
    function: Callable[[Job], WrittenPart],
    jobs: Sequence[Job],
    what: str = "",
    progress: BlockProgress | None = None,
) -> list[str]:
    """Have the parts of all jobs, those that are there already left as they are; their names, in the order of the jobs.

    Raises BlockError, RunnerError.
    """
    missing = [job for job in jobs if not job.path.exists()]
    done = len(jobs) - len(missing)
    if progress is not None:
        progress(what, done, len(jobs))
    for _ in runner.map(function, missing):
        done += 1
        if progress is not None:
            progress(what, done, len(jobs))
    return [job.part for job in jobs]


def remove_halves(folder: Path) -> None:
    """Remove what killed processes have left half written. Another command may be at work in the same folder: what
    someone has written to since ABANDONED stays."""
    for path in folder.glob(f".part-*{HALF}"):
        with suppress(FileNotFoundError):  # it is whole by now
            if time() - path.stat().st_mtime > ABANDONED:
                path.unlink()
