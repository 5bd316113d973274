"""CSV that older versions of BirdNET-Analyzer wrote without quotes: commas inside names and paths put in their cells.

A comma in `Great tit, female` or `C:\\rec, 2024\\a.wav` shifts the cells after it. The columns of numbers tell where
the others begin and end, counted from the right; a row whose numbers could be read in two ways is left to be refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement

_NUMBER = re.compile(r"\s*[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\s*")
_NUMBERS = frozenset(("start (s)", "end (s)", "confidence", "start", "end", "offset", "duration"))
_MAYBE_NUMBERS = frozenset(("lat", "lon", "week", "overlap", "sensitivity", "min_conf"))
_TEXTS = frozenset(
    ("common name", "common_name", "file", "filepath", "species_list", "model", "indir", "folder", "in file")
)
_HEADERS = (
    "start (s),end (s),scientific name,common name,confidence",
    "indir,folder,in file,offset,duration,scientific_name,common_name,confidence",
    "filepath,start,end,scientific_name,common_name,confidence",
)
_MOST_EXTRA = 8
_MOST_TRIED = 20_000
"""Rows; each may be read in a hundred ways. Those after them are left to be refused."""


def quote_commas(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """The text with the cells of shifted rows in quotes, and a note of it; as it is where it is no such table.

    data : of a file, in UTF-8. Lines keep their numbers.
    """
    if not may_lack_quotes(data):
        return data, ()
    text = data.decode()
    lines = text.split("\n")
    names = _header(data).split(",")
    tried, repaired, first = 0, 0, 0
    for place, line in enumerate(lines[1:], start=1):
        cells = line.rstrip("\r").split(",")
        if len(cells) <= len(names) or '"' in line:
            continue
        tried += 1
        if tried > _MOST_TRIED:
            break
        ways = list(_ways(cells, names))
        # Which of two neighbouring texts has the comma does not matter much: the first. Where a number stands does.
        if len({_numbers_of(way, names) for way in ways}) == 1:
            repaired, first = repaired + 1, first or place + 1
            lines[place] = ",".join(f'"{cell}"' if "," in cell else cell for cell in ways[0])
    if not repaired:
        return data, ()
    note = (
        f"{repaired} row{'s have' if repaired > 1 else ' has'} a comma inside a name or path without quotes around it, "
        f"the first in line {first}: the numbers beside it tell which cell it belongs to."
    )
    return "\n".join(lines).encode(), (note,)


def may_lack_quotes(data: bytes) -> bool:
    """Whether a text in UTF-8 begins as those tables do."""
    return _header(data).startswith(_HEADERS)


def _header(data: bytes) -> str:
    return data.partition(b"\n")[0].decode().strip().lower()


def _ways(cells: Sequence[str], names: Sequence[str]) -> Iterator[list[str]]:
    """Every way to join neighbouring cells so that there is one for each name, and numbers stand where they belong."""
    extra = len(cells) - len(names)
    wide = [place for place, name in enumerate(names) if name in _TEXTS]
    if extra > _MOST_EXTRA:
        return
    for chosen in combinations_with_replacement(wide, extra):
        joined, at = [], 0
        for place in range(len(names)):
            width = 1 + chosen.count(place)
            joined.append(",".join(cells[at : at + width]))
            at += width
        if all(_fits(cell, name) for cell, name in zip(joined, names, strict=True)):
            yield joined


def _numbers_of(cells: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The cells of the columns of numbers."""
    return tuple(
        cell for cell, name in zip(cells, names, strict=True) if name in _NUMBERS or name in _MAYBE_NUMBERS
    )


def _fits(cell: str, name: str) -> bool:
    if name in _NUMBERS:
        return _NUMBER.fullmatch(cell) is not None
    if name in _MAYBE_NUMBERS:
        return not cell.strip() or _NUMBER.fullmatch(cell.replace("-", "", 1)) is not None
    return True
