"""Parse text columns into ids and numbers, and check images; invalid cells become problems."""

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
from plcore.tables.problems import MAX_PROBLEMS, Problem, table_error
from plcore.tables.text.arrow import chunks_of, has_empty, stripped, surely_differ
from plcore.tables.text.csv import LINE_INDEX


def mapped(path: Path) -> pa.Buffer:
    """Map the bytes of a non-empty file. They stay valid while the map lives, even after the file is
    deleted."""
    with path.open("rb") as file:
        return mapped_file(file)


def mapped_file(file: BinaryIO) -> pa.Buffer:
    """Like `mapped`, for an open file, which may be closed afterwards."""
    file.flush()
    bytes_of = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    note_map(bytes_of)
    return pa.py_buffer(bytes_of)


def mapped_numbers(path: Path) -> npt.NDArray[np.float64]:
    """Map the doubles in a non-empty file written by `numpy.ndarray.tofile`; read-only."""
    return np.frombuffer(mapped(path))


def mapped_array(path: Path) -> AnyArray:
    """Map the array in a .npy file, read-only. Raises ValueError for other files and object arrays."""
    return array_at(mapped(path))


def nameless_file(folder: Path) -> BinaryIO:
    """Create an unnamed file to write and then map, in this folder; it is deleted when it is closed and
    unmapped.

    If the folder is not writable, the file is in the system's temporary folder. Raises OSError.
    """
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return tempfile.TemporaryFile()


_AT_ONCE = 200_000  # cells of number columns processed in one step
_ROWS_AT_ONCE = 10_000
LARGEST = 1e100  # squares and sums of smaller numbers still fit a double

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_COMMA_NUMBER = _NUMBER.replace(r"\.", ",")
_THOUSANDS = r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$"
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_BASE64 = "[A-Za-z0-9+/]"
_IMAGE = f"data:image/(png|jpeg|gif|webp);base64,({_BASE64}{{4}})*{_BASE64}{{2}}({_BASE64}{{2}}|{_BASE64}=|==)"
_IMAGES = rf"^{_IMAGE}(\s*\|\s*{_IMAGE})*$"


class Finder:
    """Collects problems of cells. `row` is the 0-based row of the table, `lines` the file line of each
    row."""

    def __init__(self, lines: Sequence[int] | pd.Index[int] | None) -> None:
        self.problems: list[Problem] = []
        self._lines = lines

    @classmethod
    def of(cls, cells: pd.DataFrame) -> Finder:
        """Return a finder for these cells; it tells the lines of the file if their index holds them."""
        return cls(cells.index if cells.index.name == LINE_INDEX else None)

    def refuse(self) -> None:
        """Raise TableError with the problems found; do nothing if there are none."""
        if self.problems:
            raise table_error(self.problems)

    def add(self, row: int | None, column: str | None, message: str, fix: str) -> None:
        if row is None:
            self.problems.append(Problem(None, None, column, message, fix))
        else:
            line = None if self._lines is None else int(self._lines[row])
            self.problems.append(Problem(row + 1, line, column, message, fix))


def first_rows(mask: BoolArray | pa.Array) -> list[int]:
    """Return the first rows where the mask is set: more than `MAX_PROBLEMS` are never shown."""
    return [int(row) for row in np.flatnonzero(np.asarray(mask))[:MAX_PROBLEMS]]


def check_ids(cells: pd.DataFrame, column: str | None, finder: Finder) -> None:
    """Report the problems that `parse_ids` finds, without building the ids if there are none, the usual
    case."""
    if column is None:
        return
    text = pa.array(cells[column].array, pa.large_string())
    if not surely_differ(map(pc.utf8_trim_whitespace, chunks_of(text)), len(text)):
        parse_ids(cells, column, finder)


def parse_ids(cells: pd.DataFrame, column: str | None, finder: Finder) -> npt.NDArray[np.object_]:
    """Parse the ids, (n,) str; row numbers from 1 if there is no id column. Problems: empty or duplicate
    ids."""
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


def parse_numbers(cells: pd.DataFrame, columns: Sequence[str], finder: Finder, file: Path | None = None) -> FloatArray:
    """Parse numbers (n, p) float64, NaN for empty cells. Problems: text, infinities, decimal commas.

    A column may use decimal commas, as spreadsheets do in many countries: the more frequent form in a column
    is accepted, and numbers in the other form are problems.

    file : where the numbers are written, row by row, as native doubles, and mapped; None: they stay in memory
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
    # Reused memory: allocating it again for each block costs as much as transposing the block.
    by_column, by_row = np.full((len(columns), most), np.nan), np.empty((most, len(columns)))
    for start in range(0, len(cells), _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, len(cells) - start)
        block, together = by_column[:, :rows], max(1, _AT_ONCE // rows)
        for first in range(0, len(columns), together):
            places = [place for place in range(first, min(first + together, len(columns))) if place not in odd]
            some = [texts[place].slice(start, rows) for place in places]
            found = _plain_numbers(_one_after_the_other(some))
            if found is not None:  # the usual case: many narrow columns are read as one long one
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
            for row in first_rows(np.abs(numbers[:, place]) > LARGEST):
                message = f"the number {quoted(text[row].as_py())} is too large to calculate with."
                finder.add(row, columns[place], message, f"Write a number below {LARGEST:g}, or leave the cell empty.")
        let_go()


def _one_after_the_other(columns: Sequence[pa.LargeStringArray | pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the cells of these columns as one, without a copy."""
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


def numbers_in(text: pa.LargeStringArray) -> tuple[FloatArray, BoolArray, bool]:
    """Return the numbers of a text column, NaN if there is none; where the text is neither empty nor a
    number; and whether it uses decimal commas. If all cells are percentages, they are shares: 62% is 0.62."""
    empty = pc.equal(text, "")
    percent = pc.all(pc.or_(empty, pc.ends_with(text, "%"))).as_py() and not pc.all(empty).as_py()
    if percent:
        text = pc.replace_substring_regex(text, r"\s*%$", "")
    comma = _has_decimal_commas(text)
    fits = pc.match_substring_regex(text, _COMMA_NUMBER if comma else _NUMBER)
    wrong = pc.invert(pc.or_(fits, empty))
    plain = pc.replace_substring(text, ",", ".") if comma else text
    values = pc.cast(pc.if_else(fits, plain, pa.scalar(None, pa.large_string())), pa.float64())
    numbers = values.to_numpy(zero_copy_only=False)
    return numbers / 100 if percent else numbers, np.asarray(wrong), comma


def _has_decimal_commas(text: pa.LargeStringArray) -> bool:
    """Return whether more numbers have a decimal comma than a decimal point.

    False if every comma could separate thousands: 1,234 read as 1.234 would be a silent error.
    """
    commas = text.filter(pc.match_substring(text, ","))
    commas = commas.filter(pc.match_substring_regex(commas, _COMMA_NUMBER))
    if pc.all(pc.match_substring_regex(commas, _THOUSANDS), min_count=0).as_py():
        return False
    points = text.filter(pc.match_substring(text, "."))
    return len(commas) > int(pc.sum(pc.match_substring_regex(points, _NUMBER), min_count=0).as_py())


def number_advice(text: str, comma: bool) -> tuple[str, str]:
    """Return message and fix for text that is not a number, in a column with or without decimal commas."""
    message = f"expected a number, got {quoted(text)}."
    if comma and re.fullmatch(_NUMBER, text):
        message = f"expected a number with a decimal comma, as most of this column have, got {quoted(text)}."
        return message, f"Write it with a decimal comma: {text.replace('.', ',')}."
    if re.fullmatch(_THOUSANDS, text):
        both = text.replace(",", ""), text.replace(",", ".")
        return message, f"Write {both[0]} or {both[1]}, whichever it is: a comma may be either here."
    if _DECIMAL_COMMA.fullmatch(text):
        return message, f"Write it with a decimal point, as others of this column: {text.replace(',', '.')}."
    if text.endswith("%"):
        return message, "Write the sign in every cell of the column, or in none."
    if text.lstrip("+-").lower() in {"inf", "infinity"}:
        return message, "Infinity cannot be calculated with; write a finite number, or leave the cell empty."
    return message, "Write a number, leave the cell empty if it is unknown, or use the column as categories."


def check_images(cells: pd.DataFrame, column: str, finder: Finder, only: BoolArray | None = None) -> None:
    """Check that every cell (of the rows in `only`) is empty or holds images as data URLs, separated by `|`.

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
