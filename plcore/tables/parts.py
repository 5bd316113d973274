"""A table too large for memory: read from disk a range of rows at a time, and written as part files."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plcore.arrays.types import AnyArray
from plcore.arrays.words import counted, listed, quoted
from plcore.blocks.parts import BlockJob, BlockProgress, WrittenPart, map_part, run_parts, whole_part, write_names
from plcore.blocks.runner import Runner
from plcore.tables.problems import TableError, refusal
from plcore.tables.text.types import is_list

FEATURES = ("X", "features", "embeddings", "vectors")
SETS = ("S", "candidates", "partial", "partial_labels")
CLASSES = ("classes", "class_names", "label_names")
_FIX = (
    "Give a folder of Parquet files with a column of lists of candidates and columns of numbers; or X (n, d) and S "
    "(n, m) of 0 and 1, in an .npz file or as X.npy and S.npy in a folder."
)


def refused(message: str, fix: str, row: int | None = None, column: str | None = None) -> TableError:
    """Return a TableError for one problem. row : from 0, over all files"""
    return refusal(message, fix, row=None if row is None else row + 1, column=column)


@dataclass(frozen=True)
class RowFiles:
    """The files with the features and candidates of n rows.

    features : columns of numbers, or one of lists of them; of arrays none
    candidates : the column of lists of names; '' of arrays
    paths, digests, starts : of Parquet files, the SHA-256 of each and its first row; of arrays X and S
    classes : names of the columns of S; empty: read from the lists
    """

    paths: tuple[Path, ...]
    digests: tuple[str, ...]
    starts: tuple[int, ...]
    n_rows: int
    n_features: int
    features: tuple[str, ...] = ()
    candidates: str = ""
    classes: tuple[str, ...] = ()

    @property
    def of_arrays(self) -> bool:
        return not self.candidates

    def overlapping(self, first: int, end: int) -> tuple[tuple[Path, ...], tuple[tuple[str, int, int], ...]]:
        """Return the Parquet files with the rows first..end - 1, each with its digest and the range within
        it."""
        bounds = (*self.starts, self.n_rows)
        paths, ranges = [], []
        for path, digest, begin, stop in zip(self.paths, self.digests, bounds[:-1], bounds[1:], strict=True):
            if max(begin, first) < min(end, stop):
                paths.append(path)
                ranges.append((digest, max(first - begin, 0), min(end, stop) - begin))
        return tuple(paths), tuple(ranges)


@dataclass(frozen=True)
class _Unpacked(BlockJob):
    """An array of an .npz file, unpacked into its own file so that it can be mapped."""

    digest: str
    name: str


def find_row_files(path: Path, folder: Path, candidates: str | None = None, numbers: Sequence[str] = ()) -> RowFiles:
    """Find the row files at `path`: a Parquet file, a folder of them, an .npz file, or a folder with X.npy
    and S.npy.

    folder : of parts, into which .npz files are unpacked      candidates, numbers : columns; guessed where not named
    All files are read once, for their SHA-256. Raises TableError for other contents, columns or shapes;
    OSError.
    """
    if path.suffix.lower() == ".npz":
        return _of_arrays(_unpack(path, folder))
    if path.is_dir():
        found = {one.stem: one for one in sorted(path.glob("*.npy"))}
        if found:
            return _of_arrays(found)
    paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not paths or paths[0].suffix.lower() != ".parquet":
        raise refused(f"{path} contains no rows that could be read in parts.", _FIX)
    return _of_parquet(paths, candidates, numbers)


def _of_parquet(paths: Sequence[Path], candidates: str | None, numbers: Sequence[str]) -> RowFiles:
    files = []
    for path in paths:
        try:
            files.append(pq.ParquetFile(path))
        except pa.ArrowInvalid as error:
            raise refused(f"{path} is not a Parquet file, or damaged: {error}", _FIX) from None
    schema = files[0].schema_arrow
    for path, file in zip(paths, files, strict=True):
        if not file.schema_arrow.equals(schema):
            raise refused(f"{path} has other columns than {paths[0]}.", "Give all files the same.")
    lists = [one.name for one in schema if is_list(one.type) and not _is_number(one.type.value_type)]
    lists += [one.name for one in schema if is_list(one.type) and pa.types.is_integer(one.type.value_type)]
    if candidates is None and len(lists) == 1:
        candidates = lists[0]
    if candidates is None or candidates not in schema.names or not is_list(schema.field(candidates).type):
        said = "no column of them is named" if candidates is None else f"{quoted(candidates)} is none"
        raise refused(
            f"Candidates are a column of lists, and {said}; such columns are {listed(lists) or 'none'}.",
            "Name it: --candidates COLUMN.",
        )
    vectors = [one.name for one in schema if is_list(one.type) and pa.types.is_floating(one.type.value_type)]
    plain = [one.name for one in schema if _is_number(one.type)]
    features = tuple(numbers) or (tuple(vectors) if len(vectors) == 1 else tuple(plain))
    wrong = [name for name in features if name not in (*vectors, *plain)]
    if wrong or not features or (len(features) > 1 and set(features) & set(vectors)):
        raise refused(
            f"Rows are compared by columns of numbers, or one of lists of them, not by {listed(wrong or features)}.",
            "Name them: --number COLUMN, as often as needed.",
        )
    counts = [file.metadata.num_rows for file in files]
    width = len(features)
    if features[0] in vectors:
        first = next(file for file, count in zip(files, counts, strict=True) if count)
        width = len(next(first.iter_batches(1, columns=list(features)))[0][0])
    starts = tuple(int(one) for one in np.cumsum([0, *counts[:-1]]))
    digests = tuple(_digest(path) for path in paths)
    return RowFiles(tuple(paths), digests, starts, sum(counts), width, features, candidates)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _of_arrays(found: dict[str, Path]) -> RowFiles:
    X, S = (next((found[name] for name in names if name in found), None) for names in (FEATURES, SETS))
    if X is None or S is None:
        raise refused(f"Features or candidates are missing; there is {listed(sorted(found)) or 'nothing'}.", _FIX)
    rows, sets = (np.load(one, mmap_mode="r", allow_pickle=False) for one in (X, S))
    if rows.ndim != 2 or sets.ndim != 2 or len(rows) != len(sets) or rows.dtype.kind not in "fiu":
        raise refused(f"X and S have the shapes {rows.shape} and {sets.shape}, types {rows.dtype}, {sets.dtype}.", _FIX)
    named = next((found[name] for name in CLASSES if name in found), None)
    classes = [str(number) for number in range(sets.shape[1])]
    if named is not None:
        classes = [str(name) for name in np.load(named, allow_pickle=False).tolist()]
    if len(set(classes)) != sets.shape[1]:
        raise refused(
            f"S has {counted(sets.shape[1], 'column')}, and {counted(len(set(classes)), 'name')} of classes.",
            "Name each once.",
        )
    digests = _digest(X), _digest(S)
    return RowFiles((X, S), digests, (0,), len(rows), rows.shape[1], classes=tuple(classes))


def _unpack(path: Path, folder: Path) -> dict[str, Path]:
    digest, found = _digest(path), {}
    try:
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                stem = name.removesuffix(".npy")
                if stem not in (*FEATURES, *SETS, *CLASSES):
                    continue
                job = _Unpacked(folder, digest, name, code="")
                if not job.path.exists():
                    with packed.open(name) as member, whole_part(job.path) as file:
                        shutil.copyfileobj(member, file)
                found[stem] = job.path
    except zipfile.BadZipFile:
        raise refused(f"{path} is not an .npz file, or damaged.", _FIX) from None
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def read_columns(paths: Sequence[Path], ranges: Sequence[tuple[str, int, int]], columns: Sequence[str]) -> pa.Table:
    """Read these columns of the row ranges (digest, first, end) of Parquet files, concatenated."""
    pieces = []
    for path, (_, first, end) in zip(paths, ranges, strict=True):
        file = pq.ParquetFile(path)
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        starts = np.cumsum([0, *sizes])
        wanted = [number for number in range(len(sizes)) if starts[number] < end and first < starts[number + 1]]
        groups = file.read_row_groups(wanted, columns=list(columns), use_threads=False)
        pieces.append(groups.slice(first - starts[wanted[0]], end - first))
    return pa.concat_tables(pieces)


def as_numbers(table: pa.Table, n_features: int, first: int) -> AnyArray:
    """Return float32 (b, d) from columns of numbers, or from one of lists. first : number of the first row,
    for messages"""
    columns = []
    for name in table.column_names:
        column = table[name].combine_chunks()
        if column.null_count:
            raise refused("There is no value.", "Fill it in.", first + _null(column), name)
        if is_list(column.type):
            values = column.flatten()
            if len(values) != len(column) * n_features or (
                not pa.types.is_fixed_size_list(column.type)
                and not (np.diff(column.offsets.to_numpy()) == n_features).all()
            ):
                raise refused(
                    f"Not all lists have {n_features} numbers as the first row's.", "Make them alike.", None, name
                )
            if values.null_count:
                raise refused("There is no value in a list.", "Fill it in.", first + _null(values) // n_features, name)
            columns.append(values.to_numpy(zero_copy_only=False).reshape(-1, n_features))
        else:
            columns.append(column.to_numpy(zero_copy_only=False)[:, None])
    return np.hstack(columns)


def _null(column: pa.Array) -> int:
    return int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])


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
    """Job that joins the candidates of all rows, one part after the other."""

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
        raise refused("A feature is not a finite number of single precision.", "Correct it.", job.first + int(wrong[0]))
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
        raise refused("A list of candidates, or a name in one, is missing.", "Fill it in.", job.first, job.columns[0])
    return column


def read_in_parts(
    runner: Runner, folder: Path, files: RowFiles, block: int, progress: BlockProgress | None = None
) -> PartedTable:
    """Write the table's rows as part files. block : rows in each

    Raises BlockError, which names the block, and the row where it can be reported; RunnerError; TableError.
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
            f"Got {counted(len(classes), 'class', 'classes')}; from 2 to {MOST_CLASSES:,} can be told apart.",
            "Check the candidates.",
        )
    sets = [CandidateRange(folder, *one, columns, first, named, len(classes)) for one, first in lists]
    parts = write_names(folder, run_parts(runner, read_candidates, sets, "candidates", progress))
    joined = run_parts(runner, join, [Joined(folder, parts)], "candidates, joined", progress)[0]
    return PartedTable(rows, joined, classes)
