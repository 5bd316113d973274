"""A table too large for memory, brought into parts: features as float32, candidates packed into bits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common.runners.parts import BlockJob, BlockProgress, WrittenPart, map_part, run_parts, write_names
from plcore.common.runners.runner import Runner
from plcore.common.types import AnyArray
from plcore.tables.row_files import RowFiles, as_numbers, read_columns, refused

MOST_CLASSES = 100_000


@dataclass(frozen=True)
class PartedTable:
    """Features (n, d) float32 in parts of `block` rows each; the candidates of all rows in one part, uint8 (n, bytes):
    bit l % 8 of byte l // 8 of a row is label l, one of `classes`."""

    rows: tuple[str, ...]
    candidates: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class _Range(BlockJob):
    """Rows first..first + sum of ranges - 1. paths, ranges : of Parquet files, or one of an array"""

    paths: tuple[Path, ...]
    ranges: tuple[tuple[str, int, int], ...]
    columns: tuple[str, ...]
    first: int

    def __str__(self) -> str:
        return f"Reading the rows from {self.first:,} of {', '.join(one.name for one in self.paths)}"


@dataclass(frozen=True)
class FeatureRange(_Range):
    n_features: int


@dataclass(frozen=True)
class ClassRange(_Range):
    """The names in lists of candidates, as UTF-8, ascending."""


@dataclass(frozen=True)
class CandidateRange(_Range):
    """classes : the part with their names; '' of arrays      n_classes : how many"""

    classes: str
    n_classes: int


@dataclass(frozen=True)
class _Classes(BlockJob):
    found: str


@dataclass(frozen=True)
class Joined(BlockJob):
    """The candidates of all rows, one part after the other."""

    parts: str

    def __str__(self) -> str:
        return "Joining the candidates of all rows"


def read_features(job: FeatureRange) -> WrittenPart:
    if job.columns:
        rows = as_numbers(read_columns(job.paths, job.ranges, job.columns), job.n_features, job.first)
    else:
        rows = _of_array(job)
    with np.errstate(over="ignore"):
        single = np.asarray(rows).astype(np.float32)
    wrong = np.flatnonzero(~np.isfinite(single).all(axis=1))
    if len(wrong):
        raise refused(
            "A feature is not a finite number of single precision.", "Correct it.", job.first + int(wrong[0])
        )
    return job.write(single)


def read_classes(job: ClassRange) -> WrittenPart:
    names = pc.unique(_lists(job).flatten())
    return job.write(np.array(sorted(str(name).encode() for name in names.to_pylist())))


def read_candidates(job: CandidateRange) -> WrittenPart:
    if job.columns:
        lists = _lists(job)
        names = [name.decode() for name in job.read(job.classes).tolist()]
        values = lists.flatten().cast(pa.string())
        label = pc.index_in(values, value_set=pa.array(names)).to_numpy(zero_copy_only=False)
        row = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
        sets = np.zeros((len(lists), job.n_classes), dtype=bool)
        sets[row, label] = True
    else:
        given = np.asarray(_of_array(job))
        if given.dtype != bool and not ((given == 0) | (given == 1)).all():
            raise refused("S holds other values than 0 and 1.", "Give 1 for a candidate.", job.first)
        sets = given.astype(bool)
    empty = np.flatnonzero(~sets.any(axis=1))
    if len(empty):
        raise refused("There is no candidate.", "Give one at least.", job.first + int(empty[0]))
    return job.write(np.packbits(sets, axis=1, bitorder="little"))


def join(job: Joined) -> WrittenPart:
    return job.write(np.concatenate(list(job.read_each(job.parts))))


def _of_array(job: _Range) -> AnyArray:
    _, first, end = job.ranges[0]
    return map_part(job.paths[0])[first:end]


def _lists(job: _Range) -> pa.Array:
    column = read_columns(job.paths, job.ranges, job.columns)[job.columns[0]].combine_chunks()
    if column.null_count or column.flatten().null_count:
        raise refused(
            "A list of candidates, or a name in one, is missing.", "Fill it in.", job.first, job.columns[0]
        )
    return column


def read_in_parts(
    runner: Runner, folder: Path, files: RowFiles, block: int, progress: BlockProgress | None = None
) -> PartedTable:
    """Bring the table's rows into parts. block : rows in each

    Raises BlockError, which names the block, and the row where it can be told; RunnerError; TableError.
    """
    firsts = range(0, files.n_rows, block)

    def places(column: str, array: int) -> list[tuple[tuple[Path, ...], tuple[tuple[str, int, int], ...]]]:
        ends = [(first, min(first + block, files.n_rows)) for first in firsts]
        if column:
            return [files.overlapping(*one) for one in ends]
        return [((files.paths[array],), ((files.digests[array], *one),)) for one in ends]

    features = [
        FeatureRange(folder, *one, files.features, first, files.n_features)
        for one, first in zip(places(files.candidates, 0), firsts, strict=True)
    ]
    rows = tuple(run_parts(runner, read_features, features, "features", progress))
    classes, named = files.classes, ""
    columns = () if files.of_arrays else (files.candidates,)
    lists = list(zip(places(files.candidates, 1), firsts, strict=True))
    if not files.of_arrays:
        naming = [ClassRange(folder, *one, columns, first) for one, first in lists]
        found = run_parts(runner, read_classes, naming, "names of classes", progress)
        merged = _Classes(folder, write_names(folder, found))
        if not merged.path.exists():
            merged.write(np.unique(np.concatenate([map_part(folder / name) for name in found])))
        classes, named = tuple(name.decode() for name in map_part(merged.path).tolist()), merged.part
    if not 2 <= len(classes) <= MOST_CLASSES:
        raise refused(
            f"There are {len(classes):,} classes; from 2 to {MOST_CLASSES:,} can be told apart.",
            "Check the candidates.",
        )
    sets = [CandidateRange(folder, *one, columns, first, named, len(classes)) for one, first in lists]
    parts = write_names(folder, run_parts(runner, read_candidates, sets, "candidates", progress))
    joined = run_parts(runner, join, [Joined(folder, parts)], "candidates, joined", progress)[0]
    return PartedTable(rows, joined, classes)
