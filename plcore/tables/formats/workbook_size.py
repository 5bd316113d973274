"""How large the sheets of a workbook are, found before a reader makes room for them.

The reader keeps the whole rectangle from the first cell to the last, so two cells at opposite corners of a sheet, a
file of 5 kB, would take 400 GB; and a zip may unpack to far more than it has. Here the parts are unpacked piece by
piece up to what they declare, and the places of the cells are looked at, nothing else of them.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import NamedTuple
from xml.parsers import expat

from plcore.tables.archive import ZIP_FAULTS
from plcore.tables.formats.reading import refusal
from plcore.tables.problems import TableError

MAX_CELLS = 5_000_000
"""Of the sheets together. Reader and text take about 200 bytes a cell."""
MAX_UNPACKED_MB = 500
_MB = 1_000_000
_FIX = "Save the sheet with the rows as CSV UTF-8 and import that."
_USUAL_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')  # as nearly all programs write it; found fast
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_ODS = re.compile(rb"<table:(table-row|table-cell|table)\b([^>]*)>")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["']([0-9]{1,9})""")
_ERROR = re.compile(rb"""<c\b[^>]*\bt=["']e["']""")
_NOT_CALCULATED = re.compile(rb"</f>(?:<v\s*/>|<v></v>)?</c>")


class Oddities(NamedTuple):
    """Numbers of cells that come out empty: with an error in place of a value, with a formula never calculated."""

    errors: int = 0
    not_calculated: int = 0


def look_at_parts(data: bytes) -> Oddities:
    """Raise TableError where the workbook (a zip of .xlsx, .xlsb or .ods) is damaged or too large to be read."""
    errors = formulas = cells = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if sum(entry.file_size for entry in file.infolist()) > MAX_UNPACKED_MB * _MB:
                raise refusal(f"Unpacked, the workbook has more than {MAX_UNPACKED_MB} MB.", _FIX)
            for entry in file.infolist():
                part = file.read(entry)
                if entry.filename.endswith((".xml", ".rels")):
                    expat.ParserCreate().Parse(part, True)  # over XML that is cut off calamine runs for ever
                if entry.filename == "content.xml":
                    cells += _cells_of_ods(part)
                elif "worksheets/" in entry.filename and entry.filename.endswith(".bin"):
                    cells += _cells_of_xlsb(part)
                elif "worksheets/" in entry.filename and entry.filename.endswith(".xml"):
                    cells += _cells_of_xlsx(part)
                    errors += len(_ERROR.findall(part)) if b't="e"' in part or b"t='e'" in part else 0
                    formulas += len(_NOT_CALCULATED.findall(part))
    except TableError:
        raise
    except (*ZIP_FAULTS, expat.ExpatError) as error:
        fix = "Open the workbook in its program and save it anew."
        raise refusal(f"The workbook is damaged ({error}).", fix) from error
    refuse_many(cells)
    return Oddities(errors, formulas)


def refuse_many(cells: int) -> None:
    """Raise TableError where the sheets together have more cells than are taken."""
    if cells > MAX_CELLS:
        message = (
            f"The sheets reach over {cells:,} cells, empty ones included; at most {MAX_CELLS:,} are taken."
        )
        raise refusal(message, _FIX)


def _cells_of_xlsx(part: bytes) -> int:
    n_cells, n_rows = part.count(b"<c ") + part.count(b"<c>") + part.count(b"<c/>"), part.count(b"<row")
    found = _USUAL_CELL.findall(part)
    if len(found) < n_cells:
        found = _CELL.findall(part)
    area = _area(
        {int(row) for row in {row for _, row in found}},
        {_number(name) for name in {name for name, _ in found}},
    )
    # Cells without a place lie beside the one before: few writers, small sheets, so the whole square is counted.
    return area if len(found) >= n_cells else max(area, n_cells * max(n_rows, 1))


def _number(letters: bytes) -> int:
    """Of a column: A is 1, AA 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _cells_of_xlsb(part: bytes) -> int:
    """By the records of a binary sheet ([MS-XLSB] 2.1.4: type, length, body)."""
    position, row = 0, 0
    rows: set[int] = set()
    columns: set[int] = set()
    while position < len(part):
        kind, position = _varint(part, position, 2)
        length, position = _varint(part, position, 4)
        if kind == 0:  # BrtRowHdr
            row = int.from_bytes(part[position : position + 4], "little")
        elif 1 <= kind <= 11:  # the records of cells
            rows.add(row)
            columns.add(int.from_bytes(part[position : position + 4], "little"))
        position += length
    return _area(rows, columns)


def _varint(part: bytes, position: int, at_most: int) -> tuple[int, int]:
    value = 0
    for place in range(at_most):
        byte = part[position] if position < len(part) else 0
        position += 1
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return value, position


def _cells_of_ods(part: bytes) -> int:
    """Rows and columns, repeated ones counted, up to the last with a value; of each sheet, summed."""
    total = rows = last_row = width = 0
    times = column = 0
    for found in _ODS.finditer(part):
        kind, attributes = found.groups()
        repeated = _REPEATED.search(attributes)
        number = int(repeated.group(1)) if repeated else 1
        if kind == b"table":
            total += last_row * width
            rows = last_row = width = 0
        elif kind == b"table-row":
            rows, times, column = rows + number, number, 0
        else:
            column += number
            if (
                b"office:value" in attributes
                or b"calcext:value" in attributes
                or not attributes.endswith(b"/")
            ):
                last_row, width = max(rows, times), max(width, column)
    return total + last_row * width


def _area(rows: set[int], columns: set[int]) -> int:
    """Cells of the rectangle around these rows and columns."""
    return (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1) if rows else 0
