"""Read Excel and LibreOffice workbooks (.xlsx, .xlsm, .xlsb, .xls, .ods) by calamine."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.problems import TableError, refusal
from plcore.tables.readers.joining import SHEET, are_parts, rows_again, stacked
from plcore.tables.readers.reading import TableReading, cell_text, column_text, text_table
from plcore.tables.readers.tools.votes import vote_columns
from plcore.tables.roles.sample import SUMS, parts_of
from plcore.tables.roles.suggestion import suggest_roles

XLS_START = b"\xd0\xcf\x11\xe0"
MAX_CELLS = 5_000_000
"""Maximum number of cells in all sheets. Reader and text take about 200 bytes per cell."""
_VISIBLE = SheetVisibleEnum.Visible
_ERROR = re.compile(rb"""<c\b[^>]*\bt=["']e["']""")
_NOT_CALCULATED = re.compile(rb"</f>(?:<v\s*/>|<v></v>)?</c>")


def read_workbook(data: bytes) -> TableReading:
    """Read the first sheet that is a table, preferring sheets with labels and visible ones.

    Rows of other sheets with the same columns are added, as of months or places. The header is the first row with
    several cells, or two rows if the upper one has merged cells. Empty rows and columns, titles above and notes below
    are left out. A table has two columns and a row below their names.

    calamine allocates the whole area of a sheet before its size is known, and may end the process: files of strangers
    are read in a process with limited memory (`workflow.files.limited`), without a parser of their parts here.

    Raises TableError: damaged, encrypted, too large, no cells; header cells that are merged, empty or duplicate.
    """
    n_cells = 0
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        known = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        sheets = [sheet.name for sheet in known]
        # Hidden sheets last: users mean the table that they see.
        seen = [sheet.name for sheet in known if sheet.visible == _VISIBLE]
        found: dict[str, TableReading] = {}
        fault: TableError | None = None
        chosen: str | None = None
        legend: str | None = None
        for name in sorted(sheets, key=lambda name: name not in seen):
            sheet = book.get_sheet_by_name(name)
            n_cells += sheet.height * sheet.width
            if n_cells > MAX_CELLS:
                message = (
                    f"The sheets reach over {n_cells:,} cells, empty ones included; at most {MAX_CELLS:,} are allowed."
                )
                raise refusal(message, "Save the sheet with the rows as CSV UTF-8 and import that.")
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
                if len(known) > 1 and _is_legend(found[name]):
                    legend = legend or name
                else:
                    chosen = name
        chosen = chosen or legend
        tables = [name for name, one in found.items() if len(one.cells.columns) > 1] or list(found)
        if chosen is None and tables and not (fault is not None and len(found[tables[0]].cells.columns) == 1):
            chosen = tables[0]
        if chosen is not None:
            return _with_oddities(_of_sheets(found, chosen, sheets, seen), data)
        if fault is not None:
            raise fault if len(known) == 1 else _with_sheets(fault, sheets)
    except PasswordError:
        raise refusal("The workbook is encrypted.", "Save it without a password and import that.") from None
    except (TableError, MemoryError):
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            raise  # calamine's internal errors are PanicException, not an Exception
        fix = "Open it in its program, save it as .xlsx or CSV UTF-8, and import that."
        raise refusal(f"The workbook is damaged, or of a kind that cannot be read ({error}).", fix) from error
    raise refusal("The workbook has no cells.", "Choose a workbook with a header and data rows.")


def _is_legend(reading: TableReading) -> bool:
    """Whether each label of a table is in one row only, as in a legend or a count of labels."""
    roles = reading.suggest_roles()
    cells = None if roles.candidates is None else reading.cells[roles.candidates]
    return cells is not None and cells.is_unique and all(len(parts_of(cell, roles.separator)) < 2 for cell in cells)


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


def _with_oddities(reading: TableReading, data: bytes) -> TableReading:
    """Note the cells that are read as empty: with an error instead of a value, or a formula without a result."""
    errors = not_calculated = 0
    if not data.startswith(XLS_START):
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            for name in file.namelist():
                if "worksheets/" in name and name.endswith(".xml"):
                    part = file.read(name)
                    errors += len(_ERROR.findall(part)) if b't="e"' in part or b"t='e'" in part else 0
                    not_calculated += len(_NOT_CALCULATED.findall(part))
    notes = []
    if errors:
        notes.append(f"{_cells(errors)} with an error such as #N/A or #DIV/0!: empty here.")
    if not_calculated:
        notes.append(
            f"{_cells(not_calculated)} with a formula that was never calculated: empty here. Open the "
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
    asks = []
    below = next((after for place, after in pairwise(body) if after > place + 1), None)
    if below is not None:
        said = f"Line {first + below - 1} is empty: the lines below it are read as more rows of the same table"
        if _may_be_names([values[below][place] for place in used]) and not _comes_again(columns, body.index(below)):
            message = f"{said}, but line {first + below} may be the header of another."
            asks.append(("second-header", message, "If it is, move it to a sheet of its own."))
        else:
            notes.append(f"{said}.")
    if left_out:
        shown = listed([next(cell_text(value) for value in rows[line] if _is_filled([value])) for line in left_out], 3)
        notes.append(f"Lines around the table are left out, {len(left_out)}: {shown}.")
    return TableReading(cells, f"workbook, sheet {quoted(name)}", notes=tuple(notes), asks=tuple(asks))


def _comes_again(columns: Sequence[Sequence[object]], row: int) -> bool:
    """Whether any cell of a row is also in another row of its column."""
    return any(_is_filled([column[row]]) and column.count(column[row]) > 1 for column in columns)


MOST_NOTES = 5
"""Maximum number of lines below an empty row that may be notes."""


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
    if len(table) > 2 and not has_words and cell_text(last[0]).strip().rstrip(":").lower() in SUMS:
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
