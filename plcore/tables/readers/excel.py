"""Read Excel and LibreOffice workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) by calamine, after checking their size."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from xml.parsers import expat

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.media.file_tree import MB, ZIP_FAULTS
from plcore.tables.problems import TableError, refusal
from plcore.tables.readers.joining import SHEET, are_parts, rows_again, stacked
from plcore.tables.readers.reading import TableReading, cell_text, column_text, text_table
from plcore.tables.readers.tools.votes import vote_columns
from plcore.tables.roles.suggestion import suggest_roles

MAX_CELLS = 5_000_000
"""Maximum number of cells in all sheets. Reader and text take about 200 bytes per cell."""
MAX_UNPACKED_MB = 500
_FIX = "Save the sheet with the rows as CSV UTF-8 and import that."
_USUAL_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')  # usual form, fast to find
_CELL = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})([0-9]{1,7})["']""")
_ODS = re.compile(rb"<table:(table-row|table-cell|table)\b([^>]*)>")
_REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["']([0-9]{1,9})""")
_ERROR = re.compile(rb"""<c\b[^>]*\bt=["']e["']""")
_NOT_CALCULATED = re.compile(rb"</f>(?:<v\s*/>|<v></v>)?</c>")


class Oddities(NamedTuple):
    """Numbers of cells that are read as empty: with an error instead of a value, or a formula without a result."""

    errors: int = 0
    not_calculated: int = 0


def look_at_parts(data: bytes) -> Oddities:
    """Check a workbook (zip of .xlsx, .xlsb or .ods) and count oddities. Raises TableError: damaged or too large."""
    errors = formulas = cells = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            if sum(entry.file_size for entry in file.infolist()) > MAX_UNPACKED_MB * MB:
                raise refusal(f"Unpacked, the workbook has more than {MAX_UNPACKED_MB} MB.", _FIX)
            for entry in file.infolist():
                part = file.read(entry)
                if entry.filename.endswith((".xml", ".rels")):
                    expat.ParserCreate().Parse(part, True)  # calamine never ends on truncated XML
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
        fix = "Open the workbook in its program and save it again."
        raise refusal(f"The workbook is damaged ({error}).", fix) from error
    refuse_many(cells)
    return Oddities(errors, formulas)


def refuse_many(cells: int) -> None:
    """Raise TableError if the sheets together have too many cells."""
    if cells > MAX_CELLS:
        message = f"The sheets reach over {cells:,} cells, empty ones included; at most {MAX_CELLS:,} are taken."
        raise refusal(message, _FIX)


def _cells_of_xlsx(part: bytes) -> int:
    n_cells, n_rows = part.count(b"<c ") + part.count(b"<c>") + part.count(b"<c/>"), part.count(b"<row")
    found = _USUAL_CELL.findall(part)
    if len(found) < n_cells:
        found = _CELL.findall(part)
    area = _area(
        {int(row) for row in {row for _, row in found}}, {_number(name) for name in {name for name, _ in found}}
    )
    # Cells without a position follow the previous one. Few programs write this, for small sheets: count the whole
    # square.
    return area if len(found) >= n_cells else max(area, n_cells * max(n_rows, 1))


def _number(letters: bytes) -> int:
    """Return the number of a column: A is 1, AA 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _cells_of_xlsb(part: bytes) -> int:
    """Count the cells from the records of a binary sheet ([MS-XLSB] 2.1.4: type, length, body)."""
    position, row = 0, 0
    rows: set[int] = set()
    columns: set[int] = set()
    while position < len(part):
        kind, position = _varint(part, position, 2)
        length, position = _varint(part, position, 4)
        if kind == 0:  # BrtRowHdr
            row = int.from_bytes(part[position : position + 4], "little")
        elif 1 <= kind <= 11:  # cell records
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
    """Count rows and columns, including repeated ones, up to the last value, and sum the areas of all sheets."""
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
            if b"office:value" in attributes or b"calcext:value" in attributes or not attributes.endswith(b"/"):
                last_row, width = max(rows, times), max(width, column)
    return total + last_row * width


def _area(rows: set[int], columns: set[int]) -> int:
    """Return the number of cells in the rectangle around these rows and columns."""
    return (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1) if rows else 0


_END = 0xFFFFFFFA  # larger sector numbers have special meanings
_ENTRY = 128  # bytes per directory entry
_NAMES = ("Workbook", "Book")
_SAVE_AS = "Open it in its program, save it as .xlsx or CSV UTF-8, and import that."
_BOF = (0x0009, 0x0209, 0x0409, 0x0809)
_CELLS = frozenset((0x0006, 0x00BD, 0x00D6, 0x00FD, 0x0203, 0x0204, 0x0205, 0x027E, 0x0002, 0x0003, 0x0004))
"""Record types: formulas, multiple numbers, text and numbers of all versions, booleans, errors."""
_SEVERAL = 0x00BD  # numbers in consecutive columns; the record ends with the last column


def cells_of_xls(data: bytes) -> int:
    """Sum the areas around the cells of each sheet. Raises TableError if the workbook is damaged."""
    try:
        return sum(_areas(_workbook(data)))
    except (struct.error, IndexError, MemoryError) as error:
        raise refusal("The workbook is damaged: a part of it is cut off.", _SAVE_AS) from error


class _Sectors(NamedTuple):
    """The sectors of streams that are scattered in `data`: sector k starts at byte (k + first) * size, and is followed
    by sector `next_of[k]`."""

    data: bytes
    size: int
    first: int
    next_of: tuple[int, ...]

    def stream(self, start: int, most: int | None = None) -> bytes:
        """Return the stream that starts in this sector, at most this many bytes."""
        parts, left = [], len(self.next_of)
        while start < _END:
            if left == 0:
                raise refusal("The workbook is damaged: its parts follow one another in a circle.", _SAVE_AS)
            begin = (start + self.first) * self.size
            parts.append(self.data[begin : begin + self.size])
            start, left = self.next_of[start], left - 1
        return b"".join(parts)[:most]


def _workbook(data: bytes) -> bytes:
    """Return the stream with the sheets."""
    shifts = struct.unpack_from("<HH", data, 30)
    if shifts not in ((9, 6), (12, 6)):
        raise refusal("The workbook is damaged: its parts have no size that there is.", _SAVE_AS)
    size, small = (1 << shift for shift in shifts)
    (directory,) = struct.unpack_from("<I", data, 48)
    least, small_table, _, more, n_more = struct.unpack_from("<5I", data, 56)
    places = list(struct.unpack_from("<109I", data, 76))
    for _ in range(min(n_more, len(data) // size)):
        if more >= _END:
            break
        *found, more = struct.unpack_from(f"<{size // 4}I", data, (more + 1) * size)
        places += found
    table = b"".join(data[(k + 1) * size : (k + 2) * size] for k in places if k < _END)
    sectors = _Sectors(data, size, 1, _numbers(table))
    entries = sectors.stream(directory)
    root = entries[:_ENTRY]
    for place in range(0, len(entries) - _ENTRY + 1, _ENTRY):
        entry = entries[place : place + _ENTRY]
        length = min(max(int.from_bytes(entry[64:66], "little") - 2, 0), 64)
        if entry[:length].decode("utf-16-le", errors="replace") in _NAMES:
            start, n_bytes = struct.unpack_from("<II", entry, 116)
            if n_bytes >= least:
                return sectors.stream(start, n_bytes)
            (inner,) = struct.unpack_from("<I", root, 116)
            smalls = _Sectors(sectors.stream(inner), small, 0, _numbers(sectors.stream(small_table)))
            return smalls.stream(start, n_bytes)
    raise refusal("This is no workbook, though it begins like one of old Excel.", _SAVE_AS)


def _numbers(table: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(table) // 4}I", table[: len(table) // 4 * 4])


def _areas(stream: bytes) -> Iterator[int]:
    """Yield the area of each sheet, including one without an end record."""
    position = 0
    rows: tuple[int, int] | None = None
    columns = (0, 0)
    while position + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, position)
        position += 4
        if kind in _BOF:
            yield _area_of_bounds(rows, columns)
            rows = None
        elif kind in _CELLS and length >= 4 and position + length <= len(stream):
            row, column = struct.unpack_from("<HH", stream, position)
            last = column
            if kind == _SEVERAL and length >= 6:
                (last,) = struct.unpack_from("<H", stream, position + length - 2)
            if rows is None:
                rows, columns = (row, row), (column, max(column, last))
            rows = min(rows[0], row), max(rows[1], row)
            columns = min(columns[0], column), max(columns[1], column, last)
        position += length
    yield _area_of_bounds(rows, columns)


def _area_of_bounds(rows: tuple[int, int] | None, columns: tuple[int, int]) -> int:
    return 0 if rows is None else (rows[1] - rows[0] + 1) * (columns[1] - columns[0] + 1)


XLS_START = b"\xd0\xcf\x11\xe0"
_VISIBLE = SheetVisibleEnum.Visible


def read_workbook(data: bytes) -> TableReading:
    """Read the first sheet that is a table, preferring sheets with labels and visible ones.

    Rows of other sheets with the same columns are added, as of months or places. The header is the first row with
    several cells, or two rows if the upper one has merged cells. Empty rows and columns, titles above and notes below
    are left out. A table has two columns and a row below their names.

    Raises TableError: damaged, encrypted, too large, no cells; header cells that are merged, empty or duplicate.
    """
    oddities = Oddities()
    if data.startswith(XLS_START):
        refuse_many(cells_of_xls(data))
    else:
        oddities = look_at_parts(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        known = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        sheets = [sheet.name for sheet in known]
        # Hidden sheets last: users mean the table that they see.
        seen = [sheet.name for sheet in known if sheet.visible == _VISIBLE]
        found: dict[str, TableReading] = {}
        fault: TableError | None = None
        chosen: str | None = None
        for name in sorted(sheets, key=lambda name: name not in seen):
            sheet = book.get_sheet_by_name(name)
            rows = [] if sheet.start is None else sheet.to_python()
            if not any(_is_filled(row) for row in rows):
                continue
            try:
                found[name] = _read(name, sheet, rows)
            except TableError as error:
                fault = fault or error
                if _is_table(rows) and chosen is None:
                    break  # this is the table, but it is invalid
                continue
            if chosen is None and (len(known) == 1 or found[name].suggest_roles().has_candidates):
                chosen = name
        tables = [name for name, one in found.items() if len(one.cells.columns) > 1] or list(found)
        if chosen is None and tables and not (fault is not None and len(found[tables[0]].cells.columns) == 1):
            chosen = tables[0]
        if chosen is not None:
            return _with_oddities(_of_sheets(found, chosen, sheets, seen), oddities)
        if fault is not None:
            raise fault if len(known) == 1 else _with_sheets(fault, sheets)
    except PasswordError:
        raise refusal("The workbook is encrypted.", "Save it without a password and import that.") from None
    except (TableError, MemoryError):
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise  # calamine's internal errors are PanicException, not an Exception
        raise refusal(f"The workbook cannot be read ({error}).", _SAVE_AS) from error
    raise refusal("The workbook has no cells.", "Choose a workbook with a header and data rows.")


def _of_sheets(
    found: Mapping[str, TableReading], chosen: str, sheets: Sequence[str], seen: Sequence[str]
) -> TableReading:
    """Combine a sheet with all sheets that have its columns, or add a doubt if these have rows of the same items.

    found : the tables by sheet      seen : the visible sheets
    """
    same = {name: one for name, one in found.items() if name in seen and are_parts([found[chosen], one])}
    several = len(same) > 1 and chosen in same
    votes = several and vote_columns(found[chosen].cells) is not None
    again = rows_again(same, votes=votes) if several else ""
    people = _people(same) if again and not found[chosen].suggest_roles().has_candidates else None
    together = several and not again
    reading = stacked(same, SHEET, "sheets", votes=votes) if together else people or found[chosen]
    read = list(same) if together or people else [chosen]
    if others := [name for name in sheets if name not in read]:
        with_rows = [
            f"{quoted(name)} ({counted(len(found[name].cells), 'row')})" if name in found else quoted(name)
            for name in others
        ]
        sheet = "the sheet" if len(read) == 1 else "the sheets"
        said = f"Only {sheet} {listed(read)} {'was' if len(read) == 1 else 'were'} read, not {', '.join(with_rows)}."
        reading = replace(reading, notes=(said, *reading.notes))
    if again and people is None:
        left = [name for name in same if name != chosen]
        count = sum(len(same[name].cells) for name in left)
        message = (
            f"Sheets {listed(list(same))} have the same columns and share {again}: read here are the "
            f"{counted(len(reading.cells), 'row')} of {quoted(chosen)} alone, but the {counted(count, 'row')} of "
            f"{listed(left)} may be labels of the same items by others, or at another time."
        )
        fix = "If so, write one sheet with a column for each person, or with the columns task, worker and label."
        reading = replace(reading, asks=(("more-sheets", message, fix),))
    what = f"workbook, {'sheet' if len(read) == 1 else 'sheets'} {listed(read, 3)}"
    return replace(reading, format=what)


def _people(same: Mapping[str, TableReading]) -> TableReading | None:
    """Combine sheets that differ in only one column, with a vote from each; None for other sheets."""
    first = next(iter(same.values())).cells
    others = [one.cells for one in same.values()]
    key = suggest_roles(first).id
    if key is not None and all(one[key].is_unique and set(one[key]) == set(first[key]) for one in others):
        others = [one.set_index(key, drop=False).loc[first[key].to_list()] for one in others]
    if any(len(one) != len(first) for one in others):
        return None
    differ = [
        name for name in first.columns if any((one[name].to_numpy() != first[name].to_numpy()).any() for one in others)
    ]
    kept = first.drop(columns=differ)
    if len(differ) != 1 or not {*kept.columns}.isdisjoint(same):
        return None
    cells = kept.assign(**{name: one[differ[0]].to_numpy() for name, one in zip(same, others, strict=True)})
    message = (
        f"Sheets {listed(list(same))} have the same rows and differ in column {quoted(differ[0])} alone: read here as "
        "the votes of one person each, but they may be one person's at other times."
    )
    roles = replace(suggest_roles(kept), annotators=tuple(same))
    asks = (("more-sheets", message, "If they are, import the last of the sheets alone."),)
    return TableReading(cells.astype("str"), "workbook", roles, asks=asks)


def _with_oddities(reading: TableReading, oddities: Oddities) -> TableReading:
    notes = []
    if oddities.errors:
        notes.append(f"{_cells(oddities.errors)} with an error such as #N/A or #DIV/0!: empty here.")
    if oddities.not_calculated:
        notes.append(
            f"{_cells(oddities.not_calculated)} with a formula that was never calculated: empty here. Open the "
            "workbook in its program and save it, to have the values."
        )
    return replace(reading, notes=(*reading.notes, *notes))


def _read(name: str, sheet: CalamineSheet, rows: Sequence[Sequence[object]]) -> TableReading:
    first = sheet.start[0] + 1 if sheet.start else 1
    filled, left_out = _lines_of_table(rows)
    values = _filled_down(sheet, rows, filled)
    names_at = _header_lines(sheet, rows, filled, first)
    body = filled[filled.index(names_at[-1]) + 1 :]
    used = [
        place
        for place, column in enumerate(zip(*(values[line] for line in (*names_at, *body)), strict=True))
        if _is_filled(column)
    ]
    names = _names([[cell_text(values[line][place]) for place in used] for line in names_at])
    columns = [[values[line][place] for line in body] for place in used]
    lines = [first + place for place in body]
    cells = text_table(names, [column_text(column) for column in columns], lines)
    notes = []
    if left_out:
        shown = listed([next(cell_text(value) for value in rows[line] if _is_filled([value])) for line in left_out], 3)
        notes.append(f"Lines around the table are left out, {len(left_out)}: {shown}.")
    return TableReading(cells, f"workbook, sheet {quoted(name)}", notes=tuple(notes))


MOST_NOTES = 5
"""Maximum number of lines below an empty row that may be notes."""
_TOTALS = ("total", "totals", "sum", "sums", "grand total")


def _lines_of_table(rows: Sequence[Sequence[object]]) -> tuple[list[int], list[int]]:
    """Return the rows of the table, from its header on, and the filled rows that are left out: titles above it, notes
    below an empty row, and a final row of totals."""
    filled = [place for place, row in enumerate(rows) if _is_filled(row)]
    width = max(_width(rows[place]) for place in filled)
    table = list(filled)
    titles = next((k for k, place in enumerate(table) if _width(rows[place]) > 1), 0)
    if len(table) > titles + 1 and width > 1 and _may_be_names(rows[table[titles]]):
        del table[:titles]
    end = next((k for k in range(2, len(table)) if table[k] > table[k - 1] + 1), len(table))
    below = table[end:]  # a few lines of text; more are rows without labels
    if len(below) <= MOST_NOTES and all(2 * _width(rows[place]) < width for place in below):
        del table[end:]
    last = [value for value in rows[table[-1]] if _is_filled([value])]
    has_words = any(isinstance(value, str) for value in last[1:])  # as in an item that is named total
    if len(table) > 2 and not has_words and cell_text(last[0]).strip().rstrip(":").lower() in _TOTALS:
        del table[-1]
    kept = set(table)
    return table, [place for place in filled if place not in kept]


def _may_be_names(row: Sequence[object]) -> bool:
    """Whether the filled cells of a row are distinct texts, like column names."""
    cells = [value for value in row if _is_filled([value])]
    return all(isinstance(value, str) for value in cells) and len(set(cells)) == len(cells)


def _width(row: Sequence[object]) -> int:
    return sum(_is_filled([value]) for value in row)


def _filled_down(
    sheet: CalamineSheet, rows: Sequence[Sequence[object]], table: Sequence[int]
) -> Sequence[Sequence[object]]:
    """Copy the value of each merged cell to all rows that it spans, in its first column only."""
    found, lines = [list(row) for row in rows], set(table)
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        above, beside = sheet.start or (0, 0)
        if bottom > top and 0 <= left - beside < len(found[0]):
            for row in range(max(top - above, 0), min(bottom - above + 1, len(found))):
                if row in lines and top - above >= 0:
                    found[row][left - beside] = rows[top - above][left - beside]
    return found


def _header_lines(
    sheet: CalamineSheet, rows: Sequence[Sequence[object]], table: Sequence[int], first: int
) -> Sequence[int]:
    """Return the row with the column names, or two rows if the upper one has merged cells.

    Raises TableError for merged cells that have no names below them.
    """
    top, beside = table[0], sheet.start[1] if sheet.start else 0
    merged = [
        (left - beside, right - beside)
        for (upper, left), (_, right) in sheet.merged_cell_ranges or ()
        if upper + 1 == first + top and right > left
    ]
    if not merged:
        return [top]
    below = rows[table[1]] if len(table) > 2 and table[1] == top + 1 else []
    under = [[cell_text(value) for value in below[left : right + 1]] for left, right in merged]
    # Names are only below merged cells; a row of the table also fills other columns.
    others = [value for place, value in enumerate(below) if not any(a <= place <= b for a, b in merged)]
    named = all(
        names and all(name[:1].isalpha() for name in names) and len(set(names)) == len(names) for names in under
    )
    if not named or _is_filled(others) or not all(isinstance(value, str) for value in below):
        _refuse_merged_header(sheet, rows[top], first + top)
    return [top, table[1]]


def _names(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the name of each column: the lower cell, if filled, after the upper one if several columns share it."""
    upper, lower = lines[0], lines[-1]
    plain = [low or up for up, low in zip(upper, lower, strict=True)]
    found, reach = [], ""
    for up, name in zip(upper, plain, strict=True):
        reach = up or reach
        found.append(f"{reach} {name}" if len(lines) > 1 and plain.count(name) > 1 and reach != name else name)
    return found


def _is_table(rows: Sequence[Sequence[object]]) -> bool:
    """Whether a sheet has at least two columns and a row below their names."""
    filled = [row for row in rows if _is_filled(row)]
    columns = sum(1 for column in zip(*filled, strict=True) if _is_filled(column))
    return len(filled) > 1 and columns > 1


def _with_sheets(error: TableError, sheets: Sequence[str]) -> TableError:
    said = f" The sheets are {listed(sheets)}."
    return TableError(*(replace(problem, fix=problem.fix + said) for problem in error.problems))


def _cells(count: int) -> str:
    return "The workbook has one cell" if count == 1 else f"The workbook has {count:,} cells"


def _is_filled(row: Sequence[object]) -> bool:
    return any(not isinstance(value, str) or value.strip() for value in row)


def _refuse_merged_header(sheet: CalamineSheet, header: Sequence[object], line: int) -> None:
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if top < line <= bottom + 1 and sheet.start is not None:
            place = left - sheet.start[1]
            shown = cell_text(header[place]) if 0 <= place < len(header) else ""
            reach = f"{right - left + 1} columns" if right > left else f"{bottom - top + 1} rows"
            message = f"the header cell {quoted(shown)} reaches over {reach}: cells are merged."
            fix = "Unmerge the cells of the header, and give every column one row with a name of its own."
            raise refusal(message, fix, line=line)
