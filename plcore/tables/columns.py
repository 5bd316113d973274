"""Columns of text -> ids, numbers, names of classes, candidate and true labels; what does not fit becomes a problem."""

from __future__ import annotations

import errno
import mmap
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.arrays import array_at, let_go, note_map
from plcore.arrays.types import AnyArray, BoolArray, FloatArray
from plcore.arrays.words import quoted
from plcore.tables.problems import MAX_PROBLEMS, Problem
from plcore.tables.text.arrow import chunks_of, has_empty, stripped, surely_differ


def mapped(path: Path) -> pa.Buffer:
    """The bytes of a file, which is not empty. They last as long as this does, also when the file's name is gone."""
    with path.open("rb") as file:
        return mapped_file(file)


def mapped_file(file: BinaryIO) -> pa.Buffer:
    """`mapped` of an open file, which may be closed afterwards."""
    file.flush()
    bytes_of = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    note_map(bytes_of)
    return pa.py_buffer(bytes_of)


def mapped_numbers(path: Path) -> npt.NDArray[np.float64]:
    """The doubles in a file, which is not empty, as `numpy.ndarray.tofile` writes them; read-only."""
    return np.frombuffer(mapped(path))


def mapped_array(path: Path) -> AnyArray:
    """The array in a .npy file, as it is there; read-only. Raises ValueError for another file, or one of objects."""
    return array_at(mapped(path))


def nameless_file(folder: Path) -> BinaryIO:
    """A file to write and then to map, next to others in this folder; it is gone with anyone who has it open.

    Where no one may write in the folder, it is in the system's place for such files. Raises OSError.
    """
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return tempfile.TemporaryFile()


_AT_ONCE = 200_000  # cells of columns of numbers that are looked at in one step
_ROWS_AT_ONCE = 10_000
LARGEST = 1e100  # squares and sums of such numbers still fit a double

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA_NUMBER = _NUMBER.replace(r"\.", ",")
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_BASE64 = "[A-Za-z0-9+/]"
_IMAGE = (
    f"data:image/(png|jpeg|gif|webp);base64,({_BASE64}{{4}})*{_BASE64}{{2}}({_BASE64}{{2}}|{_BASE64}=|==)"
)
_IMAGES = rf"^{_IMAGE}(\s*\|\s*{_IMAGE})*$"


class Finder:
    """Gathers problems of cells; `row` is the 0-based row of the table, `lines` the file line of each row."""

    def __init__(self, lines: Sequence[int] | None) -> None:
        self.problems: list[Problem] = []
        self._lines = lines

    def add(self, row: int | None, column: str | None, message: str, fix: str) -> None:
        if row is None:
            self.problems.append(Problem(None, None, column, message, fix))
        else:
            line = None if self._lines is None else int(self._lines[row])
            self.problems.append(Problem(row + 1, line, column, message, fix))


def first_rows(mask: BoolArray | pa.Array) -> list[int]:
    """The first rows where the mask is set: more than `MAX_PROBLEMS` are never shown."""
    return [int(row) for row in np.flatnonzero(np.asarray(mask))[:MAX_PROBLEMS]]


def check_ids(cells: pd.DataFrame, column: str | None, finder: Finder) -> None:
    """The problems that `parse_ids` finds; nothing is made of the ids if there are none, as of nearly all tables."""
    if column is None:
        return
    text = pa.array(cells[column].array, pa.large_string())
    if not surely_differ(map(pc.utf8_trim_whitespace, chunks_of(text)), len(text)):
        parse_ids(cells, column, finder)


def parse_ids(cells: pd.DataFrame, column: str | None, finder: Finder) -> npt.NDArray[np.object_]:
    """The ids, (n,) str; row numbers from 1 if there is no id column. Problems: empty or used before."""
    if column is None:
        return np.array([str(row) for row in range(1, len(cells) + 1)], dtype=object)
    text = stripped(cells, column)
    ids = np.asarray(text.to_numpy(zero_copy_only=False), dtype=object)
    for row in first_rows(pc.equal(text, "")):
        fix = "Give the row an id of its own, or choose no id column."
        finder.add(row, column, "the id is empty.", fix)
    series = pd.Series(ids)
    again = series.duplicated().to_numpy() & (ids != "")
    for row in first_rows(again)[:1]:
        before = int(np.flatnonzero(ids == ids[row])[0]) + 1
        message = f"the id {quoted(ids[row])} was already used in row {before}."
        if (several := int(again.sum())) > 1:
            message += f" The same holds for {several - 1:,} other row{'s' if several > 2 else ''}."
        fix = "Give every row an id of its own, or choose no id column. "
        fix += "If each row is one vote on an item, call the columns of item, person and vote task, worker and label."
        finder.add(row, column, message, fix)
    return ids


def parse_numbers(
    cells: pd.DataFrame, columns: Sequence[str], finder: Finder, file: Path | None = None
) -> FloatArray:
    """(n, p) float64, NaN if a cell is empty. Problems: text, infinities, decimal commas.

    A column may have decimal commas, as spreadsheets write them in many countries: it is read as most of its broken
    numbers are written, and the others are problems.

    file : where the numbers are laid, row by row, as doubles of this machine, and mapped; None: they are in memory
    """
    shape = len(cells), len(columns)
    odd: set[int] = set()
    blocks = _plain_rows(cells, columns, odd)
    if file is None or not columns:
        numbers, start = np.empty(shape), 0
        for block in blocks:
            numbers[start : start + len(block)] = block
            start += len(block)
        _look_closer(cells, columns, sorted(odd), finder, numbers)
        return numbers
    with file.open("wb") as out:
        for block in blocks:
            out.write(block.data)
    if odd:
        _look_closer(cells, columns, sorted(odd), finder, np.memmap(file, np.float64, "r+", shape=shape))
    return mapped_numbers(file).reshape(shape)


def _plain_rows(cells: pd.DataFrame, columns: Sequence[str], odd: set[int]) -> Iterator[FloatArray]:
    """The numbers (r, p) of some rows after the other, each good until the next, as far as programs have written them.
    Columns that have to be looked at more closely are put among the `odd`: what is given of these means nothing."""
    texts = [pa.array(cells[column].array, pa.large_string()) for column in columns]
    most = min(_ROWS_AT_ONCE, len(cells))
    # Memory that is used again: to take as much from the system for each block costs as much as turning it.
    by_column, by_row = np.full((len(columns), most), np.nan), np.empty((most, len(columns)))
    for start in range(0, len(cells), _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, len(cells) - start)
        block, together = by_column[:, :rows], max(1, _AT_ONCE // rows)
        for first in range(0, len(columns), together):
            places = [
                place for place in range(first, min(first + together, len(columns))) if place not in odd
            ]
            some = [texts[place].slice(start, rows) for place in places]
            found = _plain_numbers(_one_after_the_other(some))
            if found is not None:  # as most are: then many narrow columns are read as one long one
                block[places] = found.reshape(len(places), rows)
                continue
            for place, text in zip(places, some, strict=True):
                alone = _plain_numbers(_one_after_the_other([text]))
                if alone is None:
                    odd.add(place)
                else:
                    block[place] = alone
        let_go()
        by_row[:rows] = block.T
        yield by_row[:rows]


def _look_closer(
    cells: pd.DataFrame, columns: Sequence[str], places: Sequence[int], finder: Finder, numbers: FloatArray
) -> None:
    """Read these columns cell by cell, in place of what stands for them among the numbers."""
    together = max(1, _AT_ONCE // max(len(cells), 1))
    for first in range(0, len(places), together):
        some = places[first : first + together]
        texts = [stripped(cells, columns[place]) for place in some]
        values, wrong, comma = numbers_in(pa.concat_arrays(texts))
        if not comma and not wrong.any():
            numbers[:, some] = values.reshape(len(some), len(cells)).T
        for place, text in zip(some, texts, strict=True):
            if comma or wrong.any():
                numbers[:, place], ill, own_comma = numbers_in(text)
                for row in first_rows(ill):
                    message, fix = number_advice(text[row].as_py(), own_comma)
                    if text[row].as_py().lower() == columns[place].strip().lower():
                        fix = "Remove the row: it repeats the header."
                    finder.add(row, columns[place], message, fix)
            _add_large(columns[place], text, numbers[:, place], finder)
        let_go()


def _one_after_the_other(columns: Sequence[pa.LargeStringArray | pa.ChunkedArray]) -> pa.ChunkedArray:
    """The cells of these columns; none is copied."""
    return pa.chunked_array([chunk for one in columns for chunk in chunks_of(one)], pa.large_string())


def _plain_numbers(text: pa.ChunkedArray) -> FloatArray | None:
    """The numbers of columns whose cells are all numbers as programs write them, or empty (NaN). None if a cell has
    to be checked: what Arrow takes for a number is one by `_NUMBER`, infinities and NaN apart."""
    if has_empty(text):
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)
    try:
        values = pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return None
    numbers: FloatArray = values.to_numpy()
    known = np.abs(numbers) <= LARGEST
    return numbers if np.count_nonzero(known) == len(values) - values.null_count else None


def _add_large(column: str, text: pa.LargeStringArray, values: FloatArray, finder: Finder) -> None:
    """A problem for every number that is too large."""
    for row in first_rows(np.abs(values) > LARGEST):
        message = f"the number {quoted(text[row].as_py())} is too large to calculate with."
        finder.add(row, column, message, f"Write a number below {LARGEST:g}, or leave the cell empty.")


def numbers_in(text: pa.LargeStringArray) -> tuple[FloatArray, BoolArray, bool]:
    """The numbers of a column of text, NaN if there is none; where the text is neither empty nor a number; and
    whether they have decimal commas."""
    comma = _has_decimal_commas(text)
    fits = pc.match_substring_regex(text, _COMMA_NUMBER if comma else _NUMBER)
    wrong = pc.invert(pc.or_(fits, pc.equal(text, "")))
    plain = pc.replace_substring(text, ",", ".") if comma else text
    values = pc.cast(pc.if_else(fits, plain, pa.scalar(None, pa.large_string())), pa.float64())
    return values.to_numpy(zero_copy_only=False), np.asarray(wrong), comma


def _has_decimal_commas(text: pa.LargeStringArray) -> bool:
    """Whether more numbers are written with a comma than with a point.

    Not where every such number could have a comma between its thousands: 1,234 read as 1.234 would be a silent error.
    """
    commas = text.filter(pc.match_substring(text, ","))
    commas = commas.filter(pc.match_substring_regex(commas, _COMMA_NUMBER))
    if pc.all(pc.match_substring_regex(commas, _THOUSANDS), min_count=0).as_py():
        return False
    points = text.filter(pc.match_substring(text, "."))
    return len(commas) > int(pc.sum(pc.match_substring_regex(points, _NUMBER), min_count=0).as_py())


def number_advice(text: str, comma: bool) -> tuple[str, str]:
    """The message about text that is not a number, in a column with or without decimal commas: message and fix."""
    message = f"expected a number, got {quoted(text)}."
    if comma and re.fullmatch(_NUMBER, text):
        message = f"expected a number with a decimal comma, as most of this column have, got {quoted(text)}."
        return message, f"Write it with a decimal comma: {text.replace('.', ',')}."
    if re.fullmatch(_THOUSANDS, text):
        both = text.replace(",", ""), text.replace(",", ".")
        return message, f"Write {both[0]} or {both[1]}, whichever it is: a comma may be either here."
    if _DECIMAL_COMMA.fullmatch(text):
        return message, f"Write it with a decimal point, as others of this column: {text.replace(',', '.')}."
    if text.lstrip("+-").lower() in {"inf", "infinity"}:
        return message, "Infinity cannot be calculated with; write a finite number, or leave the cell empty."
    return message, "Write a number, leave the cell empty if it is unknown, or use the column as categories."


def check_images(cells: pd.DataFrame, column: str, finder: Finder, only: BoolArray | None = None) -> None:
    """Every cell (of the rows in `only`) is empty or holds images as data URLs, a `|` between two of them.

    SVG is refused: it can carry scripts.
    """
    text = stripped(cells, column)
    wrong = ~np.asarray(pc.or_(pc.equal(text, ""), pc.match_substring_regex(text, _IMAGES)))
    for row in first_rows(wrong if only is None else wrong & only):
        message = f"expected an image as a data URL, got {quoted(text[row].as_py())}."
        fix = "Write data:image/png;base64,... (png, jpeg, gif or webp), or leave the cell empty."
        if not text[row].as_py().startswith("data:"):
            fix += " If it names a file: import a zip of the CSV and its files."
        finder.add(row, column, message, fix)
