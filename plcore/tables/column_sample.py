"""A column of a table that has just come in, seen by a sample of its cells: numbers, words, lists, files' names?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from plcore.common import let_go
from plcore.tables.media_files import IMAGE_ENDINGS
from plcore.tables.text_columns import chunks_of, surely_differ

_NUMBER = re.compile(r"[+-]?(\d+(?:[.,]\d*)?|[.,]\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_NO_VALUE = re.compile(r"[+-]?inf(inity)?|nan|n/?a|null|none|\?|-", re.IGNORECASE)
_BITS = {"0", "1", "0.0", "1.0", "true", "false"}
_SEPARATORS = ("|", ";", ",")
SELDOM = (" or ", "/", "&", "+", "\n")
"""Separators taken only where none of the others splits a cell, and where the parts show that they are labels."""
_WEIGHT_COMMA = re.compile(r"[:=(]\s*\d*,(?=\d+\s*(?:[|;)%]|$))")  # that of wren:0,6
_SAMPLE = 2000
DEFAULT_SEPARATOR = _SEPARATORS[0]


@dataclass(frozen=True)
class ColumnSample:
    """A column as it is looked at when its role is guessed: its name, and cells of some rows."""

    name: str
    cells: tuple[str, ...]  # stripped, non-empty, from a sample of rows
    whole: pa.LargeStringArray | pa.ChunkedArray = field(
        repr=False, compare=False
    )  # all of them, as they are

    @cached_property
    def unique(self) -> bool:
        """Whether no two rows of the whole table are the same, and none is empty."""
        if surely_differ(chunks_of(self.whole), len(self.whole)):
            return True
        differ = pc.count_distinct(self.whole).as_py() == len(self.whole)
        return bool(differ and not pc.any(pc.equal(self.whole, "")).as_py())

    @cached_property
    def key(self) -> str:
        return re.sub(r"\W+", "_", self.name.strip().lower()).strip("_")

    def share(self, pattern: re.Pattern[str]) -> float:
        return mean_of(pattern.fullmatch(cell) is not None for cell in self.cells)

    @cached_property
    def is_bits(self) -> bool:
        return mean_of(cell.lower() in _BITS for cell in self.cells) >= 0.9

    @cached_property
    def is_numbers(self) -> bool:
        # Whether the cells *are* good numbers is not judged here: a decimal comma or an NA gets its own
        # advice.
        numbers = self.share(_NUMBER)
        return numbers >= 0.5 or 0 < numbers >= 0.5 * (1 - self.share(_NO_VALUE))

    def is_image(self, files: bool) -> bool:
        if not files:
            return self.cells_like(lambda cell: cell.startswith("data:image"))
        return self.cells_like(
            lambda cell: cell.startswith("data:image") or cell.lower().endswith(IMAGE_ENDINGS)
        )

    def cells_like(self, fits: Callable[[str], bool]) -> bool:
        """Whether most cells fit; not all, so that a stray one is reported."""
        return mean_of(map(fits, self.cells)) >= 0.5

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The numbers among its cells."""
        return tuple(float(c.replace(",", ".")) for c in self.cells if _NUMBER.fullmatch(c))

    @cached_property
    def words(self) -> float:
        """Mean number of words in a cell."""
        return mean_of(len(cell.split()) for cell in self.cells)

    @cached_property
    def repeats(self) -> bool:
        """Whether its values come again and again, as categories do."""
        return bool(self.cells) and len(set(self.cells)) <= max(2, len(self.cells) // 2)

    def separator(self) -> str | None:
        """The separator that splits most of its cells; None where none splits any.

        A seldom one has to split several, into parts of which half are known from elsewhere: `AC/DC` and `R&B` are
        names, where nobody writes of `AC` or `B`.
        """
        cells = [_WEIGHT_COMMA.sub(":", cell) for cell in self.cells if not _NO_VALUE.fullmatch(cell)]
        counts = [sum(mark in cell for cell in cells) for mark in _SEPARATORS]
        if any(counts):
            # The first that splits a tenth of them: a comma may as well stand in names, as in Smith, John.
            found = (
                mark for mark, count in zip(_SEPARATORS, counts, strict=True) if 10 * count >= len(cells)
            )
            return next(found, _SEPARATORS[counts.index(max(counts))])
        counts = [_evidence(cells, mark) for mark in SELDOM]
        return SELDOM[counts.index(max(counts))] if any(counts) else None

    def pieces(self, separator: str) -> list[str]:
        return [piece for cell in self.cells for piece in parts_of(cell, separator)]


def _evidence(cells: Sequence[str], mark: str) -> int:
    """How many cells this mark splits into labels; 0 where that is not plain."""
    split = [cell for cell in cells if len(parts_of(cell, mark)) > 1]
    parts = {part for cell in split for part in parts_of(cell, mark)}
    known = parts & parts_known(cells, mark)
    if all(part.isdecimal() for part in parts):  # 12/05 is a date, 3/8 a fraction
        known &= set(cells)
    return len(split) if len(split) > 1 and 2 * len(known) >= len(parts) else 0


def parts_of(cell: str, mark: str) -> list[str]:
    """What stands between these marks and is not empty."""
    return [part.strip() for part in cell.split(mark) if part.strip()]


def parts_known(cells: Iterable[str], mark: str) -> set[str]:
    """The parts that stand alone in a cell, or in two that differ."""
    seen = Counter(part for cell in set(cells) for part in set(parts_of(cell, mark)))
    alone = {cell for cell in cells if mark not in cell}
    return {part for part, count in seen.items() if count > 1 or part in alone}


def sample_columns(cells: pd.DataFrame) -> list[ColumnSample]:
    """All columns of a DataFrame of str, each by about _SAMPLE of its rows."""
    step = max(1, len(cells) // _SAMPLE)
    columns = []
    for name, series in cells.items():
        whole = pa.array(series.array, pa.large_string())
        sample = tuple(cell for cell in map(str.strip, _every(step, whole)) if cell)
        columns.append(ColumnSample(str(name), sample, whole))
        let_go()
    return columns


def _every(step: int, whole: pa.LargeStringArray | pa.ChunkedArray) -> Iterator[str]:
    """Every so many cells, from the first on. Each chunk is asked by itself: Arrow would put all of them together."""
    if step == 1:
        yield from whole.to_pylist()
        return
    start = 0
    for chunk in chunks_of(whole):
        yield from chunk.take(pa.array(range(-start % step, len(chunk), step), pa.int64())).to_pylist()
        start += len(chunk)


def mean_of(values: Iterable[float]) -> float:
    """Their mean; 0 where there are none."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0
