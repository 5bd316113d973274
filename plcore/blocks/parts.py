"""Part files: the results of blocks. Each is complete or missing, and named by its inputs.

A name is a hash of the job: the work, its code, and all its inputs, including the names of the parts it reads. So a
name stands for one content, no matter which process wrote it, or how often. A restarted run finds the existing parts; a
run with other settings, other rows or another version of Winnow does not.
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

from plcore.arrays.disk import sync_folder

if TYPE_CHECKING:
    from plcore.arrays.types import AnyArray
    from plcore.blocks.runner import Runner

# Code and versions that results depend on: plcore, Python and numeric packages.

PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")
"""Packages whose versions must be the same everywhere, in addition to those that Dask checks: results depend on
them."""


def code_and_versions() -> dict[str, str]:
    """Return the versions that results depend on: the source of plcore, Python and the numeric packages."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"plcore": _sources(), "Python": python} | {name: _version(name) for name in PACKAGES}


def code_here() -> str:
    """Return a hash of the code and versions of this process, as used in the names of parts."""
    return " ".join(code_and_versions().values())


def check_code(code: str) -> None:
    """Raise RuntimeError in a process with other code or versions than the caller: a worker that joined after the
    check, whose results would have a wrong name."""
    here = code_here()
    if here != code:
        raise RuntimeError(
            f"a worker has other versions than the caller: {here}, there {code} (plcore, Python, "
            f"{', '.join(PACKAGES)}). Fix: install the same; start it again."
        )


@cache
def _sources() -> str:
    """Hash the source, read once when plcore has just been loaded: a worker's loaded code does not change with the
    files."""
    folder = Path(__file__).parents[1]
    sources = sha256()
    for path in sorted(folder.rglob("*.py")):
        sources.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    return sources.hexdigest()[:12]


@cache
def _version(name: str) -> str:
    """Return a package's version, read once because each job has it in its name."""
    return version(name)


HALF = ".half"
"""Suffix of a part that is being written."""
ABANDONED = 3600.0
"""Seconds after which such a part counts as abandoned: writing one takes seconds."""


class WrittenPart(NamedTuple):
    """The result of a job: its part, and the number of rows in it."""

    path: str
    rows: int


@dataclass(frozen=True)
class BlockJob:
    """The inputs of a piece of work. Paths only say where something is. All other values make the part's name: numbers,
    words, tuples of them, names of other parts in the same folder.

    folder : of the parts
    code : hash of the code, so that no part of another version is taken for it; '' if the other values determine the
        content
    """

    folder: Path
    code: str = field(default_factory=code_here, kw_only=True)

    @property
    def part(self) -> str:
        """The name of the part that the job writes."""
        told = [(one.name, getattr(self, one.name)) for one in fields(self)]
        kept = [
            (name, value.part if isinstance(value, BlockJob) else value) for name, value in told if not _is_place(value)
        ]
        said = f"{type(self).__module__}.{type(self).__qualname__} {kept!r}"
        return f"part-{sha256(said.encode()).hexdigest()[:32]}.npy"

    @property
    def path(self) -> Path:
        return self.folder / self.part

    def read(self, name: str) -> AnyArray:
        """Return another part, mapped: only what is accessed is read."""
        return map_part(self.folder / name)

    def read_each(self, names: str) -> Iterator[AnyArray]:
        """Yield the parts whose names are in another part, from `write_names`, each mapped in turn: a caller that
        releases each before the next holds only one in memory."""
        for name in self.read(names).tolist():
            yield self.read(name.decode())

    def write(self, array: AnyArray) -> WrittenPart:
        """Write the job's part. Raises OSError, and RuntimeError if this process has other code than the caller."""
        if self.code:
            check_code(self.code)
        with whole_part(self.path) as file:
            np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        return WrittenPart(str(self.path), len(array))


@dataclass(frozen=True)
class _Names(BlockJob):
    names: tuple[str, ...]


def write_names(folder: Path, names: Sequence[str]) -> str:
    """Write the names of parts into one part, so that a job needs only its name, which is returned."""
    job = _Names(folder, tuple(names), code="")
    if not job.path.exists():
        job.write(np.array([name.encode() for name in names]))
    return job.part


Job = TypeVar("Job", bound=BlockJob)
BlockProgress = Callable[[str, int, int], object]
"""Called with (work, blocks done, blocks in total). An exception in it ends the run."""


def _is_place(value: object) -> bool:
    return isinstance(value, Path) or (
        isinstance(value, tuple) and bool(value) and all(isinstance(one, Path) for one in value)
    )


def map_part(path: Path) -> AnyArray:
    """Return the array in a part, memory-mapped for reading; a plain array, which compiled loops accept."""
    array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)


class ReadRows:
    """The rows (n,) of a part, read by ranges on demand.

    For sparse access to many parts. If they were mapped, everything accessed would count as memory of the process until
    released, and a cluster stops workers for that; and each mapped part keeps a file open.
    """

    def __init__(self, path: Path) -> None:
        mapped: np.memmap[tuple[int, ...], np.dtype[np.generic]] = np.load(path, mmap_mode="r", allow_pickle=False)
        self._path, self._dtype, self._offset = path, mapped.dtype, mapped.offset

    def read(self, first: int, end: int) -> AnyArray:
        """The rows first..end - 1, a new array. Raises OSError."""
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._offset + first * self._dtype.itemsize)
            return np.fromfile(file, self._dtype, end - first)


@contextmanager
def whole_part(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which is at `path` after the block succeeds: synced to disk first, then renamed. Raises
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


def run_parts(
    runner: Runner,
    function: Callable[[Job], WrittenPart],
    jobs: Sequence[Job],
    what: str = "",
    progress: BlockProgress | None = None,
) -> list[str]:
    """Make the parts of all jobs, except existing ones; returns their names, in the order of the jobs.

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
    """Remove half-written parts of killed processes. Another command may be working in the same folder, so parts
    written to within ABANDONED stay."""
    for path in folder.glob(f".part-*{HALF}"):
        with suppress(FileNotFoundError):  # it is complete by now
            if time() - path.stat().st_mtime > ABANDONED:
                path.unlink()
